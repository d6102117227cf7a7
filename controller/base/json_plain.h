/* Reads the JSON that machines write: nearly everything that an API server sends. A fifth of the time of jansson's own parser, whose lexer takes the
 * text byte by byte; a start in a large cluster is mostly parsing. What is rare or wrong it leaves to jansson, which judges it and finds the
 * words, so what is accepted, and as what, stays jansson's. */
#ifndef OSTLER_BASE_JSON_PLAIN_H
#define OSTLER_BASE_JSON_PLAIN_H

#include <jansson.h>
#include <stddef.h>

/* The value, or NULL: there is something in the text that is not plain, which may be good JSON. Plain are objects without a key twice, arrays,
 * literals, whole numbers of at most 18 digits, strings (not with escapes beyond ASCII), nested no deeper than 64. */
json_t *json_plain(const char *text, size_t len);

#endif
