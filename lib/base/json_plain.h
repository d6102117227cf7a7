/* Reads JSON as API servers write it, several times as fast as jansson: no spaces, no escapes but
 * the short ones, ASCII, whole numbers. It gives up at anything else, and jansson reads that. So it
 * rejects nothing, and its trees are those that jansson would make. */
#ifndef OSTLER_BASE_JSON_PLAIN_H
#define OSTLER_BASE_JSON_PLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Containers within each other beyond which it gives up. */
enum { JSON_PLAIN_DEPTH_MAX = 64 };

/* The tree of one document without duplicate keys; NULL: given up. New reference. */
json_t *json_plain(const char *text, size_t len);
/* Whether a text has no escapes and only printable ASCII. */
bool json_is_plain_text(const char *text, size_t len);

#endif
