/* Regular expressions of definitions; a text may contain a NUL. */
#ifndef OSTLER_SIM_API_PATTERN_H
#define OSTLER_SIM_API_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* Compiles a pattern; NULL if it is invalid. Owned by the caller. */
regex_t *pattern_new(const char *text);
/* NULL has no effect. */
void pattern_free(regex_t *pattern);
/* Whether the pattern is somewhere in `len` bytes. */
bool pattern_matches(const regex_t *pattern, const char *text, size_t len);

#endif
