/* The columns of tables, by kind. A function makes each cell from an object, mostly from one path
 * in it. */
#ifndef OSTLER_SIM_API_TABLE_H
#define OSTLER_SIM_API_TABLE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* What a cell is made of. */
struct cell {
    const json_t *object;
    const char *path;  /* of the column */
    const char *empty; /* text of an empty cell */
    const char *type;
    int64_t now_us;
};

/* New reference. */
typedef json_t *cell_fn(const struct cell *c);

struct column {
    const char *name;
    const char *type; /* "string", "integer", "boolean", "date" */
    int priority;     /* 0: always shown; 1: when the client shows wide tables */
    cell_fn *cell;
    const char *path;
    const char *empty; /* NULL: "" */
};

/* The columns of one kind. */
struct columns {
    const struct column *first;
    size_t count;
};

#define COLUMNS(array)                                                                             \
    {                                                                                              \
        array, ARRAY_LEN(array)                                                                    \
    }

extern const struct columns columns_of_pod, columns_of_node, columns_of_service, columns_of_event,
    columns_of_daemonset, columns_of_deployment, columns_of_replicaset, columns_of_job,
    columns_of_revision;

#define COLUMN_NAME                                                                                \
    {                                                                                              \
        "Name", "string", 0, cell_text, "metadata.name", NULL                                      \
    }
#define COLUMN_AGE                                                                                 \
    {                                                                                              \
        "Age", "string", 0, cell_age, "metadata.creationTimestamp", NULL                           \
    }

/* Text at the path. */
cell_fn cell_text;
/* An integer at the path; 0 if it is absent. */
cell_fn cell_integer;
cell_fn cell_boolean;
/* How long ago the time at the path was. */
cell_fn cell_age;
/* A map of labels at the path, as text. */
cell_fn cell_labels;
/* A label selector at the path, as text. */
cell_fn cell_selector;
/* Names, and images, of the containers in the list at the path. */
cell_fn cell_containers, cell_images;

/* A duration for readers, in at most two units. Owned by the caller. */
char *table_duration(int64_t us);
/* The time since an RFC 3339 text; "<unknown>" if it is invalid. Owned by the caller. */
char *table_age(const char *time, int64_t now_us);

/* The columns of a custom kind: additionalPrinterColumns of a version of its definition, by default
 * the object's age. New reference. */
json_t *table_custom_columns(const json_t *version);
/* A cell of such a column, whose path is a JSONPath: null without a value of its type. */
cell_fn cell_custom;

/* The first value at a path of JSONPath, as printer columns use it: `.status.nodes`,
 * `.spec.pools[0]['a.b']` or `.status.conditions[?(@.type=="Ready")].status`. NULL if there is
 * none, or if the path has another form. Borrowed. */
const json_t *pick(const json_t *root, const char *path);

#endif
