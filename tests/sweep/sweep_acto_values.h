/* The values that a field is changed to: what its schema says, its boundaries and what lies beyond,
 * and what no user should write. */
#ifndef OSTLER_TESTS_SWEEP_SWEEP_ACTO_VALUES_H
#define OSTLER_TESTS_SWEEP_SWEEP_ACTO_VALUES_H

#include "tests/sweep/sweep_acto_fields.h"

/* A member that no schema has. */
#define ACTO_UNKNOWN "acto"

/* What the API server must say. */
enum acto_want { ACTO_EITHER, ACTO_ACCEPTED, ACTO_REFUSED };

struct acto_value {
    json_t *value;
    enum acto_want want;
};

struct acto_values {
    struct acto_value *items;
    size_t len;
};

/* All values of a field; always the same ones in the same order. */
void acto_values_make(const struct acto_field *f, struct acto_values *ret);
void acto_values_clear(struct acto_values *v);

#endif
