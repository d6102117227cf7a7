/* Counts instructions under callgrind; without it these functions do nothing. Start it with
 * --instr-atstart=no --collect-atstart=no. */
#ifndef OSTLER_TESTS_SCALE_COUNT_H
#define OSTLER_TESTS_SCALE_COUNT_H

/* From here on instructions may be counted. */
void count_start(void);
/* No longer; what is not counted is faster. */
void count_stop(void);
/* Counts from here on, or no longer. */
void count_toggle(void);

#endif
