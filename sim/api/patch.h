/* The patch formats of the Kubernetes API, as pure functions over JSON. The result is a new tree
 * that shares what did not change; objects that are given are never changed. */
#ifndef OSTLER_SIM_API_PATCH_H
#define OSTLER_SIM_API_PATCH_H

#include <jansson.h>

#include "sim/api/merge_type.h"
#include "sim/api/refusal.h"

/* RFC 7386. New reference. */
json_t *patch_merge(const json_t *object, const json_t *patch);
/* RFC 6902 in the way of evanphx/json-patch v4, that kube-apiserver uses (a test for null holds
 * where nothing is). NULL and a refusal (422 where an operation fails, or makes what is too deep or
 * copies too much; 400 where the patch is none) when it cannot be done. New reference. */
json_t *patch_json(const json_t *object, const json_t *operations, struct refusal *r);
/* Strategic merge with its directives ($patch, $retainKeys, $setElementOrder,
 * $deleteFromPrimitiveList); lists merge as their type says. NULL and a refusal when it cannot be
 * done. New reference. */
json_t *patch_strategic(const struct merge_type *t, const json_t *object, const json_t *patch,
                        struct refusal *r);

#endif
