/* Reads and writes JSON as API servers write it, several times as fast as jansson: no spaces, no
 * escapes but the short ones, ASCII, whole numbers. It gives up at anything else, and jansson does
 * that. So it rejects nothing, and its trees and texts are those that jansson would make. */
#ifndef OSTLER_BASE_JSON_PLAIN_H
#define OSTLER_BASE_JSON_PLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Containers within each other beyond which it gives up. */
enum { JSON_PLAIN_DEPTH_MAX = 64 };

/* The tree of one document without duplicate keys; NULL: given up. New reference. */
json_t *json_plain(const char *text, size_t len);
/* The text of a tree as jansson writes it, compact and in insertion order; NULL: given up, at a
 * real number, a byte beyond ASCII or a control character without a short escape. Owned by the
 * caller. */
char *json_plain_write(const json_t *root);
/* Whether a text has no escapes and only printable ASCII. */
bool json_is_plain_text(const char *text, size_t len);

#endif
