#ifndef OSTLER_MODEL_POLICY_SPEC_H
#define OSTLER_MODEL_POLICY_SPEC_H

#include <jansson.h>

struct policy_problems;

/* Reads a policy's spec by the field table: types, formats, ranges, rules, unknown fields. */

/* The effective spec of `given` (NULL and null: an empty spec), a new reference. If problems
 * were added, it lacks the invalid parts and must not be used. It shares no mutable value with
 * `given`. */
json_t *policy_spec_read(const json_t *given, struct policy_problems *problems);

#endif
