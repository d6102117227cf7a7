/* The rules of a kind: reading, defaults, immutable fields, validation. Pure; one table of
 * functions by kind. Custom kinds have their schemas. */
#ifndef OSTLER_SIM_API_RULES_H
#define OSTLER_SIM_API_RULES_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/api/kind.h"
#include "sim/api/refusal.h"

struct custom_schemas;
struct merge_root;

/* The object as the server reads it: without nulls, empty lists and fields that its type does not
 * know, and with defaults. New reference; its top level and metadata are its own, it shares the
 * rest with `object` if nothing changes there. Trees that `before` (NULL: a new object) has, too,
 * are valid. `ret_unknown` (may be NULL) becomes the paths of unknown fields: a new reference, or
 * NULL. With `strict` they are an error. On an error NULL, and why, owned by the caller: "json:
 * cannot unmarshal string into Go struct field …", "strict decoding error: unknown field …". */
json_t *rules_read(struct custom_schemas *schemas, const struct kind *k, const json_t *before,
                   const json_t *object, bool strict, json_t **ret_unknown, char **ret_why);
/* Prepares a new object, whose name and uid are set, for validation: resets the status of kinds
 * with that subresource, and does what admission does to pods (tolerations, priority, service
 * account), nodes, namespaces, jobs and services (clusterIP). Changes `object` and its metadata. */
void rules_prepare_create(struct custom_schemas *schemas, const struct kind *k, json_t *object);
/* The same for an update: a write of the spec keeps the old status, and a write of the status the
 * old spec. Changes `object` and its metadata. */
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
