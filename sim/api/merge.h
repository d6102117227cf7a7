/* Merges an intent into a live object, the first step of server-side apply. */
#ifndef OSTLER_SIM_API_MERGE_H
#define OSTLER_SIM_API_MERGE_H

#include <jansson.h>

#include "sim/api/merge_type.h"
#include "sim/api/refusal.h"

/* 0, or -1 and a refusal (500, as in the API server) if the intent has an item of a list twice, or
 * a value of a wrong type. */
int merge_check(const struct merge_root *root, const json_t *intent, struct refusal *r);
/* -1 and a refusal for fields of an intent that its kind does not have, at the places that
 * rules_read() reports. */
int merge_refuse_unknown(const struct merge_root *root, const json_t *intent, const json_t *places,
                         struct refusal *r);
/* The live object with the values of the intent. Either may be NULL, not both. New reference; the
 * live object itself if the intent changes nothing. */
json_t *merge_objects(const struct merge_type *t, const json_t *live, const json_t *intent);

#endif
