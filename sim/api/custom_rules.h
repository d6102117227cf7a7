/* Objects of custom kinds. Their schemas come from the built-in CustomResourceDefinitions
 * (sim/api/builtin.h) or from custom_schemas_use(). A definition in the store only makes the kind
 * exist. */
#ifndef OSTLER_SIM_API_CUSTOM_RULES_H
#define OSTLER_SIM_API_CUSTOM_RULES_H

#include <jansson.h>

#include "sim/api/kind.h"
#include "sim/api/merge_type.h"
#include "sim/api/refusal.h"
#include "sim/api/typed.h"

/* The schemas of all custom kinds. Each is compiled at its first use, which takes milliseconds, so
 * servers may share them. */
struct custom_schemas;

/* None compiled yet. Owned by the caller. */
struct custom_schemas *custom_schemas_new(void);
/* Uses this CustomResourceDefinition for its kind instead of the built-in one. Call it before the
 * first use of the kind. The program aborts if it does not compile or its kind is unknown. */
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
