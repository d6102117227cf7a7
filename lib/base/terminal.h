/* Sanitises foreign text for a terminal. */
#ifndef OSTLER_BASE_TERMINAL_H
#define OSTLER_BASE_TERMINAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Whether a terminal interprets a character instead of showing it, or whether the character
 * misleads the reader. */
bool terminal_obeys(uint32_t c);
/* A copy that is safe for a terminal. Control characters and marks that change the direction of
 * text become spaces; bytes that are not UTF-8 become "?". NULL gives "". Owned by the caller. */
char *terminal_clean(const char *s);
/* The same, but keeps line ends. */
char *terminal_clean_lines(const char *s);
/* A copy of a tree with safe texts that keep their line ends. New reference. */
json_t *terminal_clean_tree(const json_t *value);
/* A value as JSON in one line or several, without a final line end. Characters that a terminal
 * interprets are escaped. Owned by the caller. */
char *terminal_json(const json_t *value, bool one_line);

#endif
