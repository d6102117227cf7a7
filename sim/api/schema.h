/* Structural schemas of custom kinds, compiled from a CustomResourceDefinition, for reading and
 * validation. */
#ifndef OSTLER_SIM_API_SCHEMA_H
#define OSTLER_SIM_API_SCHEMA_H

#include <jansson.h>

#include "base/err.h"
#include "sim/api/refusal.h"
#include "sim/api/spot.h"

struct schema;

/* Compiles a schema. NULL and ERR_INVALID, with the place, if a pattern or a rule is invalid. */
struct schema *schema_new(const json_t *open_api, struct err *e);
/* Frees it. NULL has no effect. */
void schema_free(struct schema *s);

/* The value without unknown fields and without nulls that are not allowed, with defaults; shares
 * unchanged parts and skips trees that `before` has, too. Adds the paths of unknown fields to
 * `unknown`, an array. New reference. */
json_t *schema_read(const struct schema *s, const struct spot *at, const json_t *before,
                    const json_t *value, json_t *unknown);

/* Adds causes in the words of the API server, which differ for a write of the status. Skips trees
 * that `before` has, too. False if an error prevents the check of the rules. */
bool schema_check(const struct schema *s, bool of_status, const json_t *before,
                  const json_t *object, struct refusal *r);
/* Adds the causes of CEL rules that do not hold. */
void schema_check_rules(const struct schema *s, const struct spot *at, const json_t *before,
                        const json_t *value, struct refusal *r);

#endif
