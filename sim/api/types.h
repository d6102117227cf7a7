/* The types of Kubernetes' own kinds: the fields that they have, and what stands in one of which nothing was said, as the schemas
 * of kube-apiserver 1.36 say it. Reading an object (sim/api/typed.h) goes by these tables. Sources of volumes of single vendors
 * and some other fields that nobody here looks at are kept as they are. */
#ifndef OSTLER_SIM_API_TYPES_H
#define OSTLER_SIM_API_TYPES_H

#include <stddef.h>

struct draft;
struct kind;
struct type;

/* What a value is. */
enum field_what { STRING, BYTES, BOOL, INT32, INT64, TIME, MICRO_TIME, QUANTITY, INT_OR_STRING, STRUCT, FREE, FIELD_WHAT = 15 };
/* Bits beside it. */
enum field_bit {
    LIST_OF = 16,   /* a list of such values */
    MAP_OF = 32,    /* a map from any key to such values */
    KEEP_ZERO = 64, /* "", 0 and false are values; elsewhere they are the same as nothing */
};

struct field {
    const char *name;      /* NULL ends an array of fields */
    unsigned what;         /* enum field_what and enum field_bit */
    const struct type *of; /* of STRUCT */
    const char
        *fallback; /* what stands there when nothing was said: a word, a number, "{}", "null", "true", "false"; NULL: nothing */
};

#define FIELD(field, is, ...)                                                                                                    \
    {                                                                                                                            \
        .name = (field), .what = (is), ##__VA_ARGS__                                                                             \
    }

struct type {
    const char *name; /* as the server's messages call it */
    const struct field *fields;
    void (*complete)(struct draft *d); /* fills in what depends on other fields; NULL: nothing */
};

/* Of the kinds; NULL for a custom one. */
const struct type *type_of_kind(const struct kind *k);
/* NULL when there is none. */
const struct field *type_field(const struct type *t, const char *name);

/* More than one file needs these. */
extern const struct type type_label_selector;
extern const struct type type_object_meta;
extern const struct type type_delete_options;
extern const struct type type_condition;
extern const struct type type_object_reference;
extern const struct type type_local_object_reference;
extern const struct type type_container;
extern const struct type type_ephemeral_container;
extern const struct type type_resource_requirements;
extern const struct type type_volume;
extern const struct type type_toleration;
extern const struct type type_pod_template_spec;
extern const struct type type_object_field_selector;
extern const struct type type_resource_field_selector;
extern const struct type type_namespace;
extern const struct type type_node;
extern const struct type type_pod;
extern const struct type type_config_map;
extern const struct type type_service;
extern const struct type type_service_account;
extern const struct type type_event;
extern const struct type type_events_event;
extern const struct type type_controller_revision;
extern const struct type type_daemon_set;
extern const struct type type_deployment;
extern const struct type type_replica_set;
extern const struct type type_job;
extern const struct type type_lease;
extern const struct type type_runtime_class;
extern const struct type type_pod_disruption_budget;
extern const struct type type_priority_class;
extern const struct type type_resource_slice;
extern const struct type type_custom_resource_definition;

#endif
