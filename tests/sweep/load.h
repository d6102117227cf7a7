/* How JSON is read in a sweep: see load.c. */
#ifndef OSTLER_TESTS_SWEEP_LOAD_H
#define OSTLER_TESTS_SWEEP_LOAD_H

#include <stdbool.h>

/* Whether jansson reads everything, as in the program. */
void load_by_jansson(bool all);

#endif
