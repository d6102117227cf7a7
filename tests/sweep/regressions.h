/* Cases that failed once stay in tests/sweep/regressions.txt, lines of "SWEEP CASE what it was",
 * and are lived first in every run. */
#ifndef OSTLER_TESTS_SWEEP_REGRESSIONS_H
#define OSTLER_TESTS_SWEEP_REGRESSIONS_H

#include <stdbool.h>
#include <stddef.h>

#define REGRESSIONS "tests/sweep/regressions.txt"

/* Puts those of a sweep that has `all` cases into an array, which grows; returns how many. */
size_t regressions_read(const char *sweep, size_t all, size_t **cases);
/* Adds one with the first thing that was found; false when it is there already or the file cannot
 * be written. */
bool regressions_add(const char *sweep, size_t index, const char *findings);

#endif
