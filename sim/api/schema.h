/* Structural schemas of custom kinds, compiled from a CustomResourceDefinition: reading by them and
 * checking. */
#ifndef OSTLER_SIM_API_SCHEMA_H
#define OSTLER_SIM_API_SCHEMA_H

#include <jansson.h>

#include "base/err.h"
#include "sim/api/refusal.h"
#include "sim/api/spot.h"

struct schema;

/* NULL and ERR_INVALID, with the place, when a pattern or a rule of it cannot be compiled. */
struct schema *schema_new(const json_t *open_api, struct err *e);
/* Frees it. NULL is none. */
void schema_free(struct schema *s);

/* The value without fields that the schema does not know and without nulls where it has none, with
 * its defaults; shares what does not change. Paths of unknown fields are added to `unknown`, an
 * array. What is the same tree as `before` is not looked at. New reference. */
json_t *schema_read(const struct schema *s, const struct spot *at, const json_t *before,
                    const json_t *value, json_t *unknown);

/* Adds the causes, in the words of the API server, which differ where the status alone was written.
 * What is the same tree as `before` is not looked at. False when something is wrong in a way that
 * keeps rules from being checked. */
bool schema_check(const struct schema *s, bool of_status, const json_t *before,
                  const json_t *object, struct refusal *r);
/* Adds the causes of the CEL rules that do not hold. */
void schema_check_rules(const struct schema *s, const struct spot *at, const json_t *before,
                        const json_t *value, struct refusal *r);

#endif
