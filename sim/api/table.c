#include "sim/api/table.h"

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/custom.h"
#include "sim/api/event_view.h"
#include "sim/api/extras.h"
#include "sim/api/prepare.h"
#include "sim/api/state.h"

/* ---- kinds with few columns of their own */

static const struct column namespace_columns[] = {
    COLUMN_NAME,
    { "Status", "string", 0, cell_text, "status.phase", NULL },
    COLUMN_AGE,
};

/* A ConfigMap's number of keys. */
static json_t *cell_keys(const struct cell *c)
{
    const json_t *data = json_at(c->object, "data"), *binary = json_at(c->object, "binaryData");
    return json_integer((json_int_t) json_object_size(data) +
                        (json_int_t) json_object_size(binary));
}

static const struct column configmap_columns[] = {
    COLUMN_NAME,
    { "Data", "string", 0, cell_keys, "", NULL },
    COLUMN_AGE,
};

static const struct column plain_columns[] = { COLUMN_NAME, COLUMN_AGE };

static const struct column lease_columns[] = {
    COLUMN_NAME,
    { "Holder", "string", 0, cell_text, "spec.holderIdentity", NULL },
    COLUMN_AGE,
};

static const struct column runtimeclass_columns[] = {
    COLUMN_NAME,
    { "Handler", "string", 0, cell_text, "handler", NULL },
    COLUMN_AGE,
};

static const struct column priorityclass_columns[] = {
    COLUMN_NAME,
    { "Value", "integer", 0, cell_integer, "value", NULL },
    { "Global-Default", "boolean", 0, cell_boolean, "globalDefault", NULL },
    COLUMN_AGE,
    { "PreemptionPolicy", "string", 0, cell_text, "preemptionPolicy", NULL },
};

/* A number of pods or a part of them. */
static json_t *cell_amount(const struct cell *c)
{
    const json_t *amount = json_at(c->object, c->path);
    return json_is_integer(amount) ? json_textf("%" JSON_INTEGER_FORMAT, json_integer_value(amount))
                                   : cell_text(c);
}

static const struct column budget_columns[] = {
    COLUMN_NAME,
    { "Min Available", "string", 0, cell_amount, "spec.minAvailable", "N/A" },
    { "Max Unavailable", "string", 0, cell_amount, "spec.maxUnavailable", "N/A" },
    { "Allowed Disruptions", "integer", 0, cell_integer, "status.disruptionsAllowed", NULL },
    COLUMN_AGE,
};

/* A kind without columns of its own. */
static const struct column bare_columns[] = {
    COLUMN_NAME,
    { "Created At", "date", 0, cell_text, "metadata.creationTimestamp", NULL },
};

/* ---- kinds to columns */

#define LISTED(array) &(const struct columns) COLUMNS(array)

static const struct table_kind {
    const char *plural;
    const struct columns *columns;
} table_kinds[] = {
    { "pods", &columns_of_pod },
    { "nodes", &columns_of_node },
    { "services", &columns_of_service },
    { "events", &columns_of_event },
    { "daemonsets", &columns_of_daemonset },
    { "deployments", &columns_of_deployment },
    { "replicasets", &columns_of_replicaset },
    { "jobs", &columns_of_job },
    { "controllerrevisions", &columns_of_revision },
    { "namespaces", LISTED(namespace_columns) },
    { "configmaps", LISTED(configmap_columns) },
    { "serviceaccounts", LISTED(plain_columns) },
    { "leases", LISTED(lease_columns) },
    { "runtimeclasses", LISTED(runtimeclass_columns) },
    { "priorityclasses", LISTED(priorityclass_columns) },
    { "poddisruptionbudgets", LISTED(budget_columns) },
};

static const struct columns *columns_for(const struct kind *k)
{
    static const struct columns bare = COLUMNS(bare_columns);
    for (size_t i = 0; i < ARRAY_LEN(table_kinds); i++)
        if (str_eq(table_kinds[i].plural, k->plural))
            return table_kinds[i].columns;
    return &bare;
}

/* ---- one table */

/* What is the same for all rows. */
struct drawing {
    const struct kind *kind;
    enum table_form form;
    int64_t now_us;
    const struct columns *columns; /* NULL: a custom kind */
    json_t *custom;                /* owned; columns of a custom kind */
};

static json_t *definition_json(const struct column *column, const char *description)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", column->name, "type", column->type,
                     "format", str_eq(column->name, "Name") ? "name" : "", "description",
                     description, "priority", column->priority);
}

/* Adds a column, or its cell for an object (NULL: the column itself). */
static void add_column(const struct drawing *d, const struct column *column,
                       const char *description, const json_t *object, json_t *list)
{
    struct cell c = { .object = object,
                      .path = column->path,
                      .empty = column->empty,
                      .type = column->type,
                      .now_us = d->now_us };
    json_array_append_new(list, object ? column->cell(&c) : definition_json(column, description));
}

/* The columns, or the cells of an object. */
static json_t *columns_json(const struct drawing *d, const json_t *object)
{
    static const struct column name = COLUMN_NAME;
    json_t *list = json_array();
    for (size_t i = 0; d->columns && i < d->columns->count; i++)
        add_column(d, &d->columns->first[i], "", object, list);
    if (d->custom)
        add_column(d, &name, "", object, list);
    JSON_EACH_AT (i, custom, d->custom) {
        const struct column column = { .name = json_str_or_empty(custom, "name"),
                                       .type = json_str_or_empty(custom, "type"),
                                       .priority = (int) json_int(custom, "priority", 0),
                                       .cell = cell_custom,
                                       .path = json_str_or_empty(custom, "jsonPath") };
        add_column(d, &column, json_str_or_empty(custom, "description"), object, list);
    }
    return list;
}

/* Marks the row of an ended pod: some clients show it differently. */
static void add_conditions(const struct kind *k, const json_t *object, json_t *row)
{
    const char *phase = json_str_or_empty(object, "status.phase");
    bool failed = str_eq(phase, "Failed");
    if (!str_eq(k->plural, "pods") || (!failed && !str_eq(phase, "Succeeded")))
        return;
    const char *message = failed ? "The pod failed." : "The pod has completed successfully.";
    json_object_set_new(row, "conditions",
                        json_pack("[{s:s, s:s, s:s, s:s}]", "type", "Completed", "status", "True",
                                  "reason", phase, "message", message));
}

/* The metadata of a row's object: the annotation that counts a DaemonSet's templates is not among
 * them. */
static json_t *row_metadata(const struct drawing *d, json_t *stored)
{
    json_t *metadata = json_object_get(stored, "metadata");
    if (!str_eq(d->kind->plural, "daemonsets") || !object_annotation(stored, TEMPLATE_GENERATION))
        return json_incref(metadata);
    json_t *own = json_copy(metadata);
    json_t *annotations = json_copy(json_object_get(metadata, "annotations"));
    json_object_del(annotations, TEMPLATE_GENERATION);
    json_object_set_new(own, "annotations", annotations);
    if (json_object_size(annotations) == 0)
        json_object_del(own, "annotations");
    return own;
}

/* As much of an object as the client asked to have with its row. */
static json_t *row_object(const struct drawing *d, json_t *stored)
{
    switch (d->form) {
    case TABLE_NOT:
    case TABLE_ALONE:
        return NULL;
    case TABLE_WITH_METADATA:
        return json_pack("{s:s, s:s, s:o}", "kind", "PartialObjectMetadata", "apiVersion",
                         "meta.k8s.io/v1", "metadata", row_metadata(d, stored));
    case TABLE_WITH_OBJECTS:
        return event_view(d->kind, stored);
    }
    return NULL;
}

static void add_row(const struct drawing *d, json_t *rows, json_t *object)
{
    CLEANUP_JSON json_t *stored = event_stored(d->kind, object);
    json_t *row = json_pack("{s:o}", "cells", columns_json(d, stored));
    add_conditions(d->kind, stored, row);
    json_t *with = row_object(d, stored);
    json_object_set_new(row, "object", with ? with : json_null());
    json_array_append_new(rows, row);
}

json_t *table_of(const struct api *api, const struct kind *k, enum table_form form, json_t *objects,
                 bool is_list)
{
    struct drawing d = { .kind = k, .form = form, .now_us = clock_wall_us(&api->clock) };
    if (k->flags & KIND_CUSTOM)
        d.custom = table_custom_columns(custom_version(api, k));
    else
        d.columns = columns_for(k);
    json_t *rows = json_array(), *metadata = json_object();
    if (is_list) {
        JSON_EACH_AT (i, object, objects)
            add_row(&d, rows, object);
    } else {
        add_row(&d, rows, objects);
        json_object_set_new(metadata, "resourceVersion",
                            json_string(json_str_or_empty(objects, "metadata.resourceVersion")));
    }
    json_t *table = json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "Table", "apiVersion",
                              "meta.k8s.io/v1", "metadata", metadata, "columnDefinitions",
                              columns_json(&d, NULL), "rows", rows);
    json_decref(d.custom);
    return table;
}

static const struct form_name {
    const char *name;
    enum table_form form;
} form_names[] = {
    { "", TABLE_WITH_METADATA },
    { "Metadata", TABLE_WITH_METADATA },
    { "None", TABLE_ALONE },
    { "Object", TABLE_WITH_OBJECTS },
};

int table_form_parse(const char *include, enum table_form *ret, struct refusal *r)
{
    for (size_t i = 0; i < ARRAY_LEN(form_names); i++) {
        if (!str_eq(form_names[i].name, include))
            continue;
        *ret = form_names[i].form;
        return 0;
    }
    return refuse(
        r, 400,
        "Unable to convert to Table as requested: includeObject: Invalid value: \"%s\": must be "
        "'Metadata', 'Object', 'None', or empty",
        include);
}
