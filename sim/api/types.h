/* The types of Kubernetes' own kinds: their fields and defaults, for sim/api/typed.h.
 * scripts/embed-types generates them from sim/api/kubernetes.json, the record of a real API server;
 * sim/api/complete.h has the defaults that depend on other fields. */
#ifndef OSTLER_SIM_API_TYPES_H
#define OSTLER_SIM_API_TYPES_H

#include <stddef.h>
#include <stdint.h>

struct draft;
struct kind;
struct type;

/* What a value is. */
enum field_what {
    STRING,
    BYTES,
    BOOL,
    INT32,
    INT64,
    TIME,
    MICRO_TIME,
    QUANTITY,
    INT_OR_STRING,
    STRUCT,
    FREE,
    FIELD_WHAT = 15
};
/* Bits beside it. */
enum field_bit {
    LIST_OF = 16,   /* a list of such values */
    MAP_OF = 32,    /* a map from any key to such values */
    KEEP_ZERO = 64, /* "", 0 and false are values; elsewhere they are the same as nothing */
};

/* Without pointers: the loader writes no address here, so the processes of the program share it. */
struct field {
    uint16_t name;     /* its place in type_texts; 0 ends an array of fields */
    uint16_t fallback; /* the same of its default: a word, a number, "{}", "null"; 0: none */
    uint16_t of;       /* of STRUCT: the place of its type in all_types */
    uint8_t what;      /* enum field_what and enum field_bit */
};

struct type {
    const char *name; /* as the server's messages call it */
    const struct field *fields;
    void (*complete)(struct draft *d); /* fills in what depends on other fields; NULL: nothing */
};

/* Of the kinds; NULL for a custom one. */
const struct type *type_of_kind(const struct kind *k);
/* NULL if there is none. */
const struct field *type_field(const struct type *t, const char *name);
/* The type of a field that is a STRUCT. */
const struct type *field_type(const struct field *f);

/* The type of a kind, one row each. */
struct kind_type {
    const char *group; /* "": core */
    const struct type *type;
};

/* The generated tables, and the types that code asks for by name. */
extern const char type_texts[];
extern const struct type all_types[];
extern const struct kind_type kind_types[];
extern const size_t kind_types_len;
extern const struct type *const type_object_meta;
extern const struct type *const type_delete_options;

#endif
