/* The patch formats of the Kubernetes API, as pure functions over JSON. The result is a new tree
 * that shares unchanged parts; arguments never change. */
#ifndef OSTLER_SIM_API_PATCH_H
#define OSTLER_SIM_API_PATCH_H

#include <jansson.h>

#include "sim/api/merge_type.h"
#include "sim/api/refusal.h"

/* RFC 7386. New reference. */
json_t *patch_merge(const json_t *object, const json_t *patch);
/* RFC 6902 as in evanphx/json-patch v4, which kube-apiserver uses: a test for null holds for an
 * absent value. NULL and a refusal: 400 for an invalid patch, 422 if an operation fails, nests too
 * deep or copies too much. New reference. */
json_t *patch_json(const json_t *object, const json_t *operations, struct refusal *r);
/* Strategic merge with its directives ($patch, $retainKeys, $setElementOrder,
 * $deleteFromPrimitiveList); lists merge by their type. NULL and a refusal if the patch is invalid.
 * New reference. */
json_t *patch_strategic(const struct merge_type *t, const json_t *object, const json_t *patch,
                        struct refusal *r);

#endif
