/* Builds JSON patches (RFC 6902). The API server applies a patch to the current object,
 * completely or not at all: a failed "test" operation rejects the whole patch. A test for null
 * holds if the member is absent; a test below an absent object never holds. */
#ifndef OSTLER_KUBE_JSON_PATCH_H
#define OSTLER_KUBE_JSON_PATCH_H

#include <jansson.h>

/* Appends an operation; `value_steal` is NULL for one without a value ("remove"). */
void json_patch_add(json_t *operations, const char *op, const char *path, json_t *value_steal);
/* The path of an object's member; the key may contain any character. Owned by the caller. */
char *json_patch_path(const char *object, const char *key);

#endif
