/* Reads structs from JSON by tables: each row has a key, its type, and the member that receives it.
 * A key that is unknown, of the wrong type or out of range is an error that names the place. */
#ifndef OSTLER_SIM_SCENARIO_FIELDS_H
#define OSTLER_SIM_SCENARIO_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The type of a value in JSON and in C. */
enum field_type {
    FIELD_TEXT,     /* const char *, borrowed from the JSON; not empty */
    FIELD_BOOL,     /* bool */
    FIELD_INT,      /* int, at least 0 */
    FIELD_INT64,    /* int64_t, at least 0 */
    FIELD_DURATION, /* int64_t in ms: "10s" */
    FIELD_TIME,     /* int64_t in us of the epoch: "2026-11-20T10:00:00Z" */
    FIELD_DELAY,    /* struct spec_delay: "10s", or "10s..20s" */
    FIELD_OBJECT,   /* const json_t *, an object, borrowed */
    FIELD_LIST,     /* const json_t *, a list, borrowed */
    FIELD_CHOICE,   /* int (an enum): the index of the text in `choices` */
    FIELD_SHAPE,    /* const struct spec_shape *: the name of one of the shapes */
    FIELD_PART,     /* a struct: an object with `fields` */
    FIELD_ROWS,     /* a pointer to structs: a list of objects with `fields` */
    FIELD_IGNORED,  /* read elsewhere */
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset;
    bool required;
    const char *const *choices; /* for FIELD_CHOICE, NULL-terminated */
    const struct field *fields; /* for FIELD_PART and FIELD_ROWS */
    size_t size, count;         /* for FIELD_ROWS: of a struct, and offset of their number */
};

struct spec_shape;

/* What fields can refer to, and the owner of lists. */
struct field_context {
    struct arena *arena;
    const struct spec_shape *shapes;
    size_t shape_count;
};

/* Fills the struct at `into` from an object. `path` is the object's place, for errors. The table
 * ends with a row without a key. */
int fields_read(const struct field *fields, const struct field_context *c, const json_t *object,
                const char *path, void *into, struct err *e);
/* Reads a list of such structs, which the arena owns; a missing list is empty. */
int fields_read_list(const struct field *fields, const struct field_context *c, const json_t *list,
                     const char *path, size_t size, const void **ret, size_t *ret_len,
                     struct err *e);

#endif
