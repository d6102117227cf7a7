#ifndef OSTLER_MODEL_POLICY_FIELDS_H
#define OSTLER_MODEL_POLICY_FIELDS_H

#include <stdint.h>

#include "reconcilers/model/policy_formats.h"
#include "reconcilers/model/policy_rules.h"

/* The fields of a policy's spec as a table: type, limits and default of each. Tests compare the CRD
 * and docs/policy.md with this table. */
enum policy_field_type {
    FIELD_OBJECT,  /* has children */
    FIELD_LIST,    /* list of objects: children; max items */
    FIELD_STRINGS, /* list of strings: format of each; max items */
    FIELD_MAP,     /* keys to values with a format, or of `values`; min, max entries */
    FIELD_STRING,  /* has a format */
    FIELD_ENUM,    /* values */
    FIELD_BOOL,
    FIELD_INT,      /* min, max */
    FIELD_COUNT,    /* a number from min to max, or a percentage */
    FIELD_DURATION, /* min, max in seconds */
    FIELD_QUANTITY, /* a string, or a number that is not negative */
};

enum policy_field_flag {
    FIELD_REQUIRED = 1,
    FIELD_UNIQUE = 2,    /* list items have different names; strings differ */
    FIELD_OVERRIDES = 4, /* children have no defaults: another object supplies what is left out */
};

struct policy_field {
    const char *name; /* NULL ends a table */
    enum policy_field_type type;
    const char *fallback; /* the default, as a user would write it; NULL: none */
    int64_t min;
    int64_t max;
    enum policy_format format;
    const char *const *values;           /* ends with NULL */
    const struct policy_field *children; /* ends with a NULL name */
    const struct policy_rule *rules;     /* NULL: none */
    unsigned flags;                      /* bits of enum policy_field_flag */
};

/* The fields of spec. */
extern const struct policy_field policy_fields[];

#endif
