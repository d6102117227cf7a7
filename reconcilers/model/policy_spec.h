#ifndef OSTLER_MODEL_POLICY_SPEC_H
#define OSTLER_MODEL_POLICY_SPEC_H

#include <jansson.h>

struct policy_problems;

/*
 * Reads a spec by the field table: types, formats, ranges, rules, unknown fields.
 */

/* The effective spec of `given` (NULL and null: an empty one), a new reference. Where problems were
 * added, it lacks what is wrong and is of no use. Nothing in it is shared with `given` that can
 * change. */
json_t *policy_spec_read(const json_t *given, struct policy_problems *problems);

#endif
