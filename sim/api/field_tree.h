/* Between an object and a set of its fields. */
#ifndef OSTLER_SIM_API_FIELD_TREE_H
#define OSTLER_SIM_API_FIELD_TREE_H

#include <jansson.h>

#include "sim/api/merge_type.h"

/* The fields that an intent names: every leaf, and every item of a list. Owned by the caller,
 * shared with nobody. */
json_t *field_tree_set(const struct merge_type *t, const json_t *object);
/* The set with, besides its members, the named fields on the way to them. New reference. */
json_t *field_tree_named(const struct merge_type *t, const json_t *set);
/* The object without these fields and items; NULL when nothing is left. New reference, shares what
 * stays as it is. */
json_t *field_tree_remove(const struct merge_type *t, const json_t *object, const json_t *set);

#endif
