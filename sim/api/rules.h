/* What the API server does with an object of a kind besides keeping it: reading and defaults, what
 * may not change, what is invalid. Pure; one table of kinds to functions. Of custom kinds their
 * schemas say it. */
#ifndef OSTLER_SIM_API_RULES_H
#define OSTLER_SIM_API_RULES_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/kind.h"
#include "sim/api/refusal.h"

struct custom_schemas;
struct merge_root;

/* The object as the server reads it: nulls, empty lists and fields that its type does not know are
 * left out, and defaults filled in. New reference, whose top level and metadata are its own; the
 * rest is shared with `object` where nothing changes. What is the same tree as in `before` (NULL: a
 * new object) is known to be in order. With `strict`, an unknown field is an error. NULL and why,
 * owned by the caller: "json: cannot unmarshal string into Go struct field …", "strict decoding
 * error: unknown field …". */
json_t *rules_read(struct custom_schemas *schemas, const struct kind *k, const json_t *before,
                   const json_t *object, bool strict, char **ret_why);
/* The same; `ret_unknown` (may be NULL) becomes the paths of the fields that the kind does not
 * have: a new reference, or NULL. */
json_t *rules_read_telling(struct custom_schemas *schemas, const struct kind *k,
                           const json_t *before, const json_t *object, bool strict,
                           json_t **ret_unknown, char **ret_why);
/* Paths of the fields that its kind does not have, "spec.containers[0].x"; NULL when there are
 * none. New reference. */
json_t *rules_unknown(struct custom_schemas *schemas, const struct kind *k, const json_t *object);
/* What is done to a new object before it is checked: drops the status of kinds with that
 * subresource, and does what admission does to pods (tolerations, priority, service account),
 * nodes, namespaces, jobs and services (clusterIP). Its name and uid are set. Changes `object` and
 * its metadata. */
void rules_prepare_create(struct custom_schemas *schemas, const struct kind *k, json_t *object);
/* The same for an update: keeps the old status where the spec is written, the old spec where the
 * status is. Changes `object` and its metadata. */
void rules_prepare_update(struct custom_schemas *schemas, const struct kind *k,
                          const char *subresource, const json_t *before, json_t *object);
/* How objects of a kind merge. As long as the schemas live; never NULL. */
const struct merge_root *rules_merge(struct custom_schemas *schemas, const struct kind *k);
/* Whether the change counts in metadata.generation. */
bool rules_generation_changes(const struct kind *k, const json_t *before, const json_t *after);
/* 0, or -1 and 422 with all causes: names, labels, taints, immutable fields (DaemonSet's selector,
 * ControllerRevision's data, …), schema and CEL rules of custom kinds, size limits. `before` NULL:
 * a create. An Event is given as it is stored, with the kind that it was written as. */
int rules_validate(struct custom_schemas *schemas, const struct kind *k, const char *subresource,
                   const json_t *before, const json_t *after, struct refusal *r);

#endif
