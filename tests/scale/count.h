/* Counts instructions under callgrind; without it these functions do nothing. Start it with
 * --instr-atstart=no --collect-atstart=no. */
#ifndef OSTLER_TESTS_SCALE_COUNT_H
#define OSTLER_TESTS_SCALE_COUNT_H

/* From here on instructions may be counted. */
void count_start(void);
/* Counts from here on, or no longer. */
void count_toggle(void);

#endif
