/* Copy on write for JSON: the first change copies the object, one level deep. Unchanged parts stay
 * shared. */
#ifndef OSTLER_SIM_API_DRAFT_H
#define OSTLER_SIM_API_DRAFT_H

#include <jansson.h>
#include <stdbool.h>

struct draft {
    json_t *value; /* an object or an array, a reference of its own */
    bool own;      /* it is already a copy */
};

/* Starts a draft; borrows `value`. */
struct draft draft_of(const json_t *value);
/* Starts a draft of the object at a key of another draft, or of a new object. Put it back with
 * draft_put(). */
struct draft draft_at(const struct draft *d, const char *key);
/* Puts it back if it was changed, and ends it. */
void draft_put(struct draft *d, const char *key, struct draft *child);
/* The member of an object, or NULL. Borrowed. */
json_t *draft_get(const struct draft *d, const char *key);
/* Sets a member of an object; nothing changes if that is the value already. */
void draft_set(struct draft *d, const char *key, json_t *value_steal);
/* The same for an item of an array; the place must exist. */
void draft_set_item(struct draft *d, size_t i, json_t *value_steal);
typedef void draft_item_fn(struct draft *item, size_t i, const void *arg);
/* Calls a function with a draft of each item of the list at a key, and puts back what it changes;
 * whether it changed any. */
bool draft_each(struct draft *d, const char *key, draft_item_fn *change, const void *arg);
/* Removes a member if it exists. */
void draft_drop(struct draft *d, const char *key);
/* Sets a member that is absent. */
void draft_default_value(struct draft *d, const char *key, json_t *value_steal);
/* The same with a text. */
void draft_default(struct draft *d, const char *key, const char *text);
/* A copy of an object whose top level and metadata are its own; it has metadata in any case. New
 * reference. */
json_t *draft_own_top(const json_t *object);
/* The result, a new reference; ends the draft. */
json_t *draft_end(struct draft *d);

#endif
