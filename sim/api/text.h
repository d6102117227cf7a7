/* Objects as bytes. */
#ifndef OSTLER_SIM_API_TEXT_H
#define OSTLER_SIM_API_TEXT_H

#include <jansson.h>

#include "base/buf.h"
#include "sim/api/kind.h"

struct api;

/* About as many bytes as compact JSON has; much faster than writing it. */
size_t text_size(const json_t *value);
/* Appends compact JSON. jansson's own writer asks for many small pieces; objects are written often,
 * so this one is several times as fast. */
void text_add(struct buf *out, const json_t *value);
/* Appends an object of the store. Its bytes are kept for a while, since others will want the same,
 * and those of its parts, since the next version of it has most of them too. */
void text_add_stored(struct api *api, struct buf *out, json_t *object);
/* Appends an object of the store as an item of a list: without apiVersion and kind, which only
 * custom kinds repeat there. */
void text_add_item(struct api *api, struct buf *out, const struct kind *k, json_t *object);

#endif
