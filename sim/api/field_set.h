/* Sets of fields in the form that managedFields have (FieldsV1):
 * {"f:metadata":{"f:labels":{".":{},"f:a":{}}}}. A path element is a key; one without anything
 * below it is a member of the set, one with something below it is a member when it has ".". NULL is
 * the empty set. Sets never change once they are made, and share what they have in common. */
#ifndef OSTLER_SIM_API_FIELD_SET_H
#define OSTLER_SIM_API_FIELD_SET_H

#include <jansson.h>
#include <stdbool.h>

/* Whether the path that ends at this node is a member. */
bool field_set_is_member(const json_t *node);
/* The algebra, each with a new reference. What is left or taken is each path by itself: a parent
 * stays when its child goes. */
json_t *field_set_union(const json_t *a, const json_t *b);
json_t *field_set_intersection(const json_t *a, const json_t *b);
json_t *field_set_difference(const json_t *a, const json_t *b);

/* For building: makes what *node stands for a member. A set that is being built is shared with
 * nobody. */
void field_set_mark(json_t **node);
/* Puts a node below *node, under a path element; does nothing with NULL. Steals `child`. */
void field_set_put(json_t **node, const char *element, json_t *child_steal);
/* Removes a path of field names ("metadata.labels") and all below it, from a set that is shared
 * with nobody. */
void field_set_drop(json_t **set, const char *path);

/* Calls fn for each member with its path as people read it: `.spec.containers[name="a"].image`. In
 * the order of the API server: members of a node before what is below it, each in order of their
 * path elements. */
typedef void field_set_fn(void *arg, const char *path);
void field_set_each(const json_t *set, field_set_fn *fn, void *arg);

#endif
