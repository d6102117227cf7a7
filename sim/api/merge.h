/* Laying an intent over a live object, as server-side apply does before it looks at who owns what.
 */
#ifndef OSTLER_SIM_API_MERGE_H
#define OSTLER_SIM_API_MERGE_H

#include <jansson.h>

#include "sim/api/merge_type.h"
#include "sim/api/refusal.h"

/* 0, or -1 and a refusal (500, as the API server has it) where the intent says an item of a list
 * twice, or has an object for a list. */
int merge_check(const struct merge_root *root, const json_t *intent, struct refusal *r);
/* -1 and a refusal for fields of an intent that its kind does not have, at the places that
 * rules_unknown() names. */
int merge_refuse_unknown(const struct merge_root *root, const json_t *intent, const json_t *places,
                         struct refusal *r);
/* All that the live object has and all that the intent says. Either may be NULL, not both. New
 * reference; the live object itself where the intent says nothing new. */
json_t *merge_objects(const struct merge_type *t, const json_t *live, const json_t *intent);

#endif
