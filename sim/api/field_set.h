/* Sets of fields in the form of managedFields (FieldsV1):
 * {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}. Each key is a path element. A node without
 * children is a member of the set; a node with children is one if it has ".". NULL is the empty
 * set. Finished sets never change and share parts. */
#ifndef OSTLER_SIM_API_FIELD_SET_H
#define OSTLER_SIM_API_FIELD_SET_H

#include <jansson.h>
#include <stdbool.h>

/* Whether the path that ends at this node is a member. */
bool field_set_is_member(const json_t *node);
/* Set operations, each with a new reference. Each path counts by itself: a parent stays if its
 * child goes. */
json_t *field_set_union(const json_t *a, const json_t *b);
json_t *field_set_intersection(const json_t *a, const json_t *b);
json_t *field_set_difference(const json_t *a, const json_t *b);

/* Makes *node a member. A set under construction must not be shared. */
void field_set_mark(json_t **node);
/* Puts a node below *node, under a path element; NULL has no effect. */
void field_set_put(json_t **node, const char *element, json_t *child_steal);
/* Removes a path of field names ("metadata.labels") and all below it from a set that is not shared.
 */
void field_set_drop(json_t **set, const char *path);

/* Calls fn for each member with its readable path: `.spec.containers[name="a"].image`. In the order
 * of the API server: the members among a node's children before anything below them, both by path
 * element. */
typedef void field_set_fn(void *arg, const char *path);
void field_set_each(const json_t *set, field_set_fn *fn, void *arg);

struct merge_type;

/* ---- between an object and a set of its fields */

/* The fields that an intent names: every leaf, and every item of a list. Owned by the caller,
 * not shared. */
json_t *field_tree_set(const struct merge_type *t, const json_t *object);
/* The set with the named parent fields of its members. New reference. */
json_t *field_tree_named(const struct merge_type *t, const json_t *set);
/* The object without these fields and items; NULL if nothing is left. New reference, shares
 * unchanged parts. */
json_t *field_tree_remove(const struct merge_type *t, const json_t *object, const json_t *set);

#endif
