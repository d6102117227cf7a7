/* Building JSON patches (RFC 6902). kube-apiserver carries one out on the object as it is at that moment, whole or not at all: an
 * operation "test" that does not hold refuses the rest. A test for null holds where nothing is; one below an object that is not
 * there never holds. */
#ifndef OSTLER_KUBE_JSON_PATCH_H
#define OSTLER_KUBE_JSON_PATCH_H

#include <jansson.h>

/* Appends an operation; without a value ("remove") `value_steal` is NULL. */
void json_patch_add(json_t *operations, const char *op, const char *path, json_t *value_steal);
/* The path of a member of an object, whose key may hold anything. Owned by the caller. */
char *json_patch_path(const char *object, const char *key);

#endif
