/* A compiled schema; for schema.c, which makes it, and for schema_read.c and schema_check.c, which
 * use it. */
#ifndef OSTLER_SIM_API_SCHEMA_TREE_H
#define OSTLER_SIM_API_SCHEMA_TREE_H

#include <jansson.h>
#include <regex.h>
#include <stdbool.h>

#include "base/map.h"

struct cel;

enum schema_type {
    SCHEMA_ANY,
    SCHEMA_OBJECT,
    SCHEMA_ARRAY,
    SCHEMA_STRING,
    SCHEMA_INTEGER,
    SCHEMA_NUMBER,
    SCHEMA_BOOLEAN,
    SCHEMA_INT_OR_STRING
};

struct schema_rule {
    struct cel *rule;
    const char *message;
};

/* Texts and values are borrowed from `source`. */
struct schema {
    json_t *source;
    enum schema_type type;
    bool nullable;
    bool preserves;        /* x-kubernetes-preserve-unknown-fields */
    struct map properties; /* of struct schema */
    /* properties that have one, by their names in `default_names` */
    const struct schema **with_default;
    const char **default_names;
    size_t default_count;
    struct schema *additional; /* values of a map; NULL: none */
    struct schema *items;
    regex_t *pattern;
    struct schema_rule *rules;
    size_t rule_count;
};

/* Whether a value may stand where an integer belongs: one with a point may, when nothing is behind
 * the point and a float64 can tell it from its neighbours. */
bool schema_is_integer(const json_t *value);

#endif
