/* Text that came from elsewhere, made harmless for a terminal. */
#ifndef OSTLER_BASE_TERMINAL_H
#define OSTLER_BASE_TERMINAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Whether a terminal obeys a character instead of showing it, or shows it so that something else seems to be there. */
bool terminal_obeys(uint32_t c);
/* A text without anything that a terminal would obey: control characters and marks that turn the direction of text become spaces,
 * bytes that are no UTF-8 "?". NULL as "". Owned by the caller. */
char *terminal_clean(const char *s);
/* The same, but its ends of lines stay. */
char *terminal_clean_lines(const char *s);
/* A copy of a tree, all texts in it clean but for their ends of lines. New reference. */
json_t *terminal_clean_tree(const json_t *value);
/* A value as JSON in one line or several, without an end of line. What a terminal obeys stands in it as an escape. Owned by the
 * caller. */
char *terminal_json(const json_t *value, bool one_line);

#endif
