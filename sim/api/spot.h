/* A place in an object, for messages: a chain on the stack that becomes text only in a message. */
#ifndef OSTLER_SIM_API_SPOT_H
#define OSTLER_SIM_API_SPOT_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/refusal.h"

struct spot {
    const struct spot *up; /* NULL: the object itself */
    const char *key;       /* NULL: an item of a list */
    size_t index;          /* of an item */
    bool is_map;           /* `key` is a map key: [key] */
};

/* "spec.containers[0].ports[1].name". Owned by the caller. */
char *spot_text(const struct spot *s);

#define SPOT(above, name) (&(const struct spot){ .up = (above), .key = (name) })
#define SPOT_ITEM(above, i) (&(const struct spot){ .up = (above), .index = (i) })
#define SPOT_KEY(above, name) (&(const struct spot){ .up = (above), .key = (name), .is_map = true })

/* Causes, as the server words them. `value` NULL is null. */
void spot_invalid(struct refusal *r, const struct spot *s, const json_t *value, const char *fmt,
                  ...) PRINTF(4, 5);
void spot_invalid_text(struct refusal *r, const struct spot *s, const char *value, const char *fmt,
                       ...) PRINTF(4, 5);
void spot_required(struct refusal *r, const struct spot *s, const char *why);
void spot_forbidden(struct refusal *r, const struct spot *s, const char *why);
void spot_duplicate(struct refusal *r, const struct spot *s, const json_t *value, const char *why);
void spot_not_found(struct refusal *r, const struct spot *s, const char *name);
/* `supported` is NULL-terminated. */
void spot_not_supported(struct refusal *r, const struct spot *s, const json_t *value,
                        const char *const *supported);
/* A text of more than `max` bytes. */
void spot_too_long(struct refusal *r, const struct spot *s, size_t max);

#endif
