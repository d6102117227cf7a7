/* Reading structs out of JSON by tables: each row says a key, what stands there, and where it goes. What is unknown, of the wrong
 * type or out of range is an error that names the place. */
#ifndef OSTLER_SIM_SCENARIO_FIELDS_H
#define OSTLER_SIM_SCENARIO_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* What stands at a key, and the member's C type. */
enum field_type {
    FIELD_TEXT,     /* const char *, borrowed from the JSON; not empty */
    FIELD_BOOL,     /* bool */
    FIELD_INT,      /* int, from 0 on */
    FIELD_INT64,    /* int64_t, from 0 on */
    FIELD_DURATION, /* int64_t in ms: "10s" */
    FIELD_TIME,     /* int64_t in us of the epoch: "2026-11-20T10:00:00Z" */
    FIELD_DELAY,    /* struct spec_delay: "10s", or "10s..20s" */
    FIELD_OBJECT,   /* const json_t *, an object, borrowed */
    FIELD_LIST,     /* const json_t *, a list, borrowed */
    FIELD_CHOICE,   /* int (an enum): the place of the text in `choices` */
    FIELD_SHAPE,    /* const struct spec_shape *: the name of one of the shapes */
    FIELD_IGNORED,  /* read elsewhere */
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset;
    bool required;
    const char *const *choices; /* of FIELD_CHOICE, NULL-terminated */
};

struct spec_shape;

/* What fields can refer to. */
struct field_context {
    const struct spec_shape *shapes;
    size_t shape_count;
};

/* Fills the struct at `into` from an object. `path` is its place, for errors. The table ends with a row without a key. */
int fields_read(const struct field *fields, const struct field_context *c, const json_t *object, const char *path, void *into,
                struct err *e);
/* A list of such structs, as an owned array; an absent list is an empty one. */
int fields_read_list(const struct field *fields, const struct field_context *c, const json_t *list, const char *path, size_t size,
                     void **ret, size_t *ret_len, struct err *e);

#endif
