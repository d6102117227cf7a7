#ifndef OSTLER_MODEL_POLICY_FIELDS_H
#define OSTLER_MODEL_POLICY_FIELDS_H

#include <stdint.h>

#include "reconcilers/model/policy_formats.h"
#include "reconcilers/model/policy_rules.h"

/*
 * The fields of a policy's spec as a table: what each may be, and what it is when nobody sets it.
 * The CRD and docs/policy.md are held against this table by tests.
 */
enum policy_field_type {
    FIELD_OBJECT,   /* children */
    FIELD_LIST,     /* of objects: children; max items */
    FIELD_STRINGS,  /* a list of strings: format of each; max items */
    FIELD_MAP,      /* from keys to label values; min, max entries */
    FIELD_STRING,   /* format */
    FIELD_ENUM,     /* values */
    FIELD_BOOL,     /**/
    FIELD_INT,      /* min, max */
    FIELD_COUNT,    /* a number from min to max, or a percentage */
    FIELD_DURATION, /* min, max in seconds */
    FIELD_QUANTITY, /* a string, or a number that is not negative */
};

enum policy_field_flag {
    FIELD_REQUIRED = 1,
    FIELD_UNIQUE = 2,    /* no two items of a list have the same name; no two strings are equal */
    FIELD_OVERRIDES = 4, /* children without defaults: what is left out is taken from elsewhere */
};

struct policy_field {
    const char *name; /* NULL ends a table */
    enum policy_field_type type;
    const char *fallback; /* the default, as one would write it; NULL: none */
    int64_t min;
    int64_t max;
    enum policy_format format;
    const char *const *values;           /* ends with NULL */
    const struct policy_field *children; /* ends with a NULL name */
    const struct policy_rule *rules;     /* NULL: none */
    unsigned flags;                      /* of enum policy_field_flag */
};

/* The fields of spec. */
extern const struct policy_field policy_fields[];

/* The default of a field as JSON, a new reference; NULL when it has none. */
json_t *policy_field_default(const struct policy_field *field);

#endif
