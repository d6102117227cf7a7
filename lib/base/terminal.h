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
/* Longest escape of one character, with its NUL. */
enum { TERMINAL_ESCAPE_MAX = 12 };
/* The visible form of a character that terminal_obeys(), of `n` bytes at `s`: a byte as \xNN, a
 * longer character as \uNNNN. */
void terminal_escape(const char *s, size_t n, char ret[static TERMINAL_ESCAPE_MAX]);
/* A copy that is safe for a terminal. Control characters and marks that change the direction of
 * text become spaces; bytes that are not UTF-8 become "?". NULL gives "". Owned by the caller. */
char *terminal_clean(const char *s);
/* The same, but keeps line ends. */
char *terminal_clean_lines(const char *s);
/* A copy of a tree with safe texts that keep their line ends. New reference. */
json_t *terminal_clean_tree(const json_t *value);
/* A copy of a tree in whose texts such characters are escaped visibly, and so are bytes that are
 * not UTF-8; line ends stay. New reference. */
json_t *terminal_shown_tree(const json_t *value);
/* Appends such a copy of a text as a string of JSON. False: it would exceed the buffer's limit. */
bool terminal_add_json(struct buf *out, const char *s) __attribute__((warn_unused_result));
/* A value as JSON in one line or several, without a final line end. Characters that a terminal
 * interprets are escaped. Owned by the caller. */
char *terminal_json(const json_t *value, bool one_line);

#endif
