/* The columns of tables, kind by kind. A cell is what a function makes of an object, most of them of one path in it. */
#ifndef OSTLER_SIM_API_TABLE_H
#define OSTLER_SIM_API_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/api/kind.h"

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
    const char *type;  /* "string", "integer", "boolean", "date" */
    int priority;      /* 0: always shown; 1: when the client shows wide tables */
    cell_fn *cell;
    const char *path;
    const char *empty; /* NULL: "" */
};

/* The columns of one kind each. */
extern const struct column table_pod_columns[], table_node_columns[], table_service_columns[], table_event_columns[], table_daemonset_columns[],
    table_deployment_columns[], table_replicaset_columns[], table_job_columns[], table_revision_columns[];
extern const size_t table_pod_count, table_node_count, table_service_count, table_event_count, table_daemonset_count, table_deployment_count,
    table_replicaset_count, table_job_count, table_revision_count;

#define COLUMN_NAME { "Name", "string", 0, cell_text, "metadata.name", NULL }
#define COLUMN_AGE { "Age", "string", 0, cell_age, "metadata.creationTimestamp", NULL }

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
/* The same of the time since an RFC 3339 text; "<unknown>" where it is none. Owned by the caller. */
char *table_age(const char *time, int64_t now_us);
/* In small letters. Owned by the caller. */
char *table_lower(const char *text);

/* The columns of a custom kind, as its definition has them: additionalPrinterColumns, or, where it names none, the object's age. New reference. */
json_t *table_custom_columns(const json_t *definition, const char *version);
/* What such a column says of an object; null where it says nothing. New reference. */
json_t *table_custom_cell(const json_t *column, const json_t *object, int64_t now_us);

#endif
