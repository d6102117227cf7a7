/* An object that may turn out to need a change: it is copied, one level deep, when the first change
 * comes, so that what stays the same stays shared. */
#ifndef OSTLER_SIM_API_DRAFT_H
#define OSTLER_SIM_API_DRAFT_H

#include <jansson.h>
#include <stdbool.h>

struct draft {
    json_t *value; /* an object or an array, a reference of its own */
    bool own;      /* it is a copy already */
};

/* Starts one; borrows `value`. */
struct draft draft_of(const json_t *value);
/* Starts one on the object at a key of another draft, or on a new object where there is none. Put
 * it back with draft_put(). */
struct draft draft_at(const struct draft *d, const char *key);
/* Puts it back if it was changed; it is gone afterwards. */
void draft_put(struct draft *d, const char *key, struct draft *child);
/* The member of an object, or NULL. Borrowed. */
json_t *draft_get(const struct draft *d, const char *key);
/* Sets a member of an object. */
void draft_set(struct draft *d, const char *key, json_t *value_steal);
/* Sets an item of an array; the place must be there. */
void draft_set_item(struct draft *d, size_t i, json_t *value_steal);
/* Takes a member out; nothing happens where there is none. */
void draft_drop(struct draft *d, const char *key);
/* Sets a string where nothing is. */
void draft_default(struct draft *d, const char *key, const char *text);
/* The result, a new reference; the draft is over. */
json_t *draft_end(struct draft *d);

#endif
