/* Regular expressions of definitions, in texts that may have a NUL in them. */
#ifndef OSTLER_SIM_API_PATTERN_H
#define OSTLER_SIM_API_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether the pattern is somewhere in `len` bytes. */
bool pattern_matches(const regex_t *pattern, const char *text, size_t len);

#endif
