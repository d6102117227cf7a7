/* Objects of custom kinds. Their schemas are those of the CustomResourceDefinitions that the
 * program carries (sim/api/builtin.h), or that custom_schemas_use() names; one that somebody
 * changes in the store says no more than that the kind is there. */
#ifndef OSTLER_SIM_API_CUSTOM_RULES_H
#define OSTLER_SIM_API_CUSTOM_RULES_H

#include <jansson.h>

#include "sim/api/kind.h"
#include "sim/api/merge_type.h"
#include "sim/api/refusal.h"
#include "sim/api/typed.h"

/* The schemas of all custom kinds, each compiled when it is first asked for, which takes
 * milliseconds: servers may share them. */
struct custom_schemas;

/* None compiled yet. Owned by the caller. */
struct custom_schemas *custom_schemas_new(void);
/* From now on this CustomResourceDefinition is that of its kind, in place of the one of the
 * program; before any of the kind is asked for. A definition that does not compile, or is of no
 * kind that is served, ends the program. */
void custom_schemas_use(struct custom_schemas *s, const json_t *definition);
/* Frees them, after all servers that share them. */
void custom_schemas_free(struct custom_schemas *s);

/* How objects of a custom kind merge. As long as the schemas live. */
const struct merge_root *custom_merge(struct custom_schemas *schemas, const struct kind *k);

/* As typed_read(): fields that the schema does not know are left out, defaults filled in. New
 * reference; wrong types are found by custom_validate(). */
json_t *custom_read(struct custom_schemas *schemas, const struct kind *k, const json_t *before,
                    const json_t *object, struct typed_problems *problems);
/* Adds the causes: the schema, then the CEL rules where the schema holds. */
void custom_validate(struct custom_schemas *schemas, const struct kind *k, const char *subresource,
                     const json_t *before, const json_t *after, struct refusal *r);

#endif
