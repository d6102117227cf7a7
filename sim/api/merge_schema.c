/* How the values of a custom kind merge, by the schema of its CustomResourceDefinition. */
#include "sim/api/merge_type.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"

static struct merge_type *rows_of(const json_t *schema);

/* Whether nothing is known of an object's fields. */
static bool is_free(const json_t *schema)
{
    return json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields")) &&
           !json_object_get(schema, "properties");
}

/* A definition with more keys than the table has room for is a mistake of the program. */
static void read_keys(const json_t *schema, struct merge_type *ret)
{
    JSON_EACH_AT (i, key, json_object_get(schema, "x-kubernetes-list-map-keys")) {
        if (i == MERGE_KEYS_MAX)
            abort();
        const char *name = json_string_value(key);
        const json_t *property = json_object_get(json_at(schema, "items.properties"), name);
        ret->keys[i] = (struct merge_key){ name, json_string_value(
                                                     json_object_get(property, "default")) };
    }
}

/* How a list merges; without a type it is replaced as a whole, and needs no row. */
static struct merge_type list_of(const json_t *schema)
{
    const char *type = json_key(schema, "x-kubernetes-list-type");
    struct merge_type t = { .how = str_eq(type, "set")   ? MERGE_SET
                                   : str_eq(type, "map") ? MERGE_LIST
                                                         : MERGE_ATOMIC };
    if (t.how != MERGE_LIST)
        return t;
    read_keys(schema, &t);
    t.fields = rows_of(json_object_get(schema, "items"));
    return t;
}

static struct merge_type merge_schema_type_of(const json_t *schema)
{
    if (str_eq(json_key(schema, "type"), "array"))
        return list_of(schema);
    if (str_eq(json_key(schema, "x-kubernetes-map-type"), "atomic"))
        return (struct merge_type){ .how = MERGE_ATOMIC };
    if (json_object_get(schema, "additionalProperties"))
        return (struct merge_type){ .how = MERGE_MAP };
    if (is_free(schema))
        return (struct merge_type){ .how = MERGE_FREE };
    return (struct merge_type){ .how = MERGE_FIELDS, .fields = rows_of(schema) };
}

/* Whether a type equals that of a field without a row. */
static bool merge_schema_is_plain(const struct merge_type *t, const json_t *schema)
{
    return t->how == MERGE_FIELDS
               ? !t->fields
               : t->how == MERGE_ATOMIC && str_eq(json_key(schema, "type"), "array");
}

/* What is special about the fields of an object, after rows that are given; NULL: nothing. Owned by
 * the caller. */
static struct merge_type *rows_after(const struct merge_type *first, size_t count,
                                     const json_t *schema)
{
    const json_t *properties = json_object_get(schema, "properties");
    struct merge_type *rows = xcalloc(count + json_object_size(properties) + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = first[i];
    JSON_EACH_MEMBER (name, property, properties) {
        struct merge_type t = merge_schema_type_of(property);
        t.name = name;
        if (!merge_schema_is_plain(&t, property))
            rows[count++] = t;
    }
    if (count > 0)
        return rows;
    free(rows);
    return NULL;
}

static struct merge_type *rows_of(const json_t *schema)
{
    return rows_after(NULL, 0, schema);
}

struct merge_root *merge_schema_new(const json_t *version)
{
    static const struct merge_type common[] = {
        { "apiVersion", .how = MERGE_UNOWNED },
        { "kind", .how = MERGE_UNOWNED },
        { "metadata", .how = MERGE_FIELDS, .always = true, .fields = merge_root_metadata },
    };
    struct merge_root *root = xcalloc(1, sizeof *root);
    const json_t *schema = json_at(version, "schema.openAPIV3Schema");
    root->type = (struct merge_type){ .how = MERGE_FIELDS,
                                      .fields = rows_after(common, ARRAY_LEN(common), schema) };
    if (json_at(version, "subresources.status")) {
        root->reset[0] = "status";
        root->status_reset[0] = "spec";
        root->status_reset[1] = "metadata";
    }
    return root;
}

static void free_rows(const struct merge_type *rows)
{
    for (const struct merge_type *row = rows; row && row->name; row++)
        if (row->fields != merge_root_metadata)
            free_rows(row->fields);
    free((struct merge_type *) rows);
}

void merge_schema_free(struct merge_root *root)
{
    if (root)
        free_rows(root->type.fields);
    free(root);
}
