/* The columns of tables, kind by kind. A cell is what a function makes of an object, most of them
 * of one path in it. */
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
    const char *empty; /* text where there is nothing */
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
/* A whole number at the path; 0 where there is none. */
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

/* How long, in at most two units, as people read it. Owned by the caller. */
char *table_duration(int64_t us);
/* The same of the time since an RFC 3339 text; "<unknown>" where it is none. Owned by the caller.
 */
char *table_age(const char *time, int64_t now_us);
/* In small letters. Owned by the caller. */
char *table_lower(const char *text);

/* The columns of a custom kind, as a version of its definition has them: additionalPrinterColumns,
 * or, where it names none, the object's age. New reference. */
json_t *table_custom_columns(const json_t *version);
/* What such a column says of an object; null where it says nothing. New reference. */
json_t *table_custom_cell(const json_t *column, const json_t *object, int64_t now_us);

#endif
