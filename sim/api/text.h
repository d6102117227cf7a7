/* Objects as bytes. */
#ifndef OSTLER_SIM_API_TEXT_H
#define OSTLER_SIM_API_TEXT_H

#include <jansson.h>

#include "base/buf.h"
#include "sim/api/kind.h"

struct api;

/* About as many bytes as compact JSON has; much faster than writing it. */
size_t text_size(const json_t *value);
/* Appends compact JSON. */
void text_add(struct buf *out, const json_t *value);
/* Appends an object of the store; its bytes are kept for a while, since others will want the same. */
void text_add_stored(struct api *api, struct buf *out, json_t *object);
/* Appends an object as an item of a list: without apiVersion and kind, which only custom kinds repeat there. */
void text_add_item(struct buf *out, const struct kind *k, const json_t *object);

#endif
