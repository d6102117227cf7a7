/* Objects as bytes. */
#ifndef OSTLER_SIM_API_TEXT_H
#define OSTLER_SIM_API_TEXT_H

#include <jansson.h>

#include "base/buf.h"
#include "sim/api/kind.h"

struct api;

/* The approximate size as compact JSON; much faster than writing it. */
size_t text_size(const json_t *value);
/* Appends compact JSON, several times as fast as jansson's own writer. */
void text_add(struct buf *out, const json_t *value);
/* Appends an object of the store. Its bytes are cached, since other clients want the same, and
 * those of its parts, since its next version shares most of them. */
void text_add_stored(struct api *api, struct buf *out, json_t *object);
/* Appends an object of the store as an item of a list: without apiVersion and kind, which only
 * custom kinds repeat there. */
void text_add_item(struct api *api, struct buf *out, const struct kind *k, json_t *object);

/* The text with ASCII letters in lower case. Owned by the caller. */
char *text_lower(const char *text);
/* Sorts texts by their bytes. */
void text_sort(const char **texts, size_t n);
/* A value as Go prints it (%v), for sentences of the API server: map[a:1 b:[x y] c:<nil>]. Owned by
 * the caller. */
char *go_text(const json_t *value);

#endif
