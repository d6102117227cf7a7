#include "sim/api/custom_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/builtin.h"
#include "sim/api/draft.h"
#include "sim/api/schema.h"
#include "sim/api/text.h"

enum { CUSTOM_KINDS = 4 };

struct custom_schemas {
    struct {
        const struct kind *kind; /* NULL: from here on there are none yet */
        json_t *definition;      /* owned */
        struct schema *schema;
        struct merge_root *merge; /* borrows texts of the definition */
    } rows[CUSTOM_KINDS];
};

struct custom_schemas *custom_schemas_new(void)
{
    return xcalloc(1, sizeof(struct custom_schemas));
}

void custom_schemas_free(struct custom_schemas *s)
{
    for (size_t i = 0; i < CUSTOM_KINDS; i++) {
        schema_free(s->rows[i].schema);
        merge_schema_free(s->rows[i].merge);
        json_decref(s->rows[i].definition);
    }
    free(s);
}

/* A definition that was built in and does not compile is a mistake of the program. */
static struct schema *compile(const json_t *definition, const json_t *version)
{
    CLEANUP_ERR struct err e = { 0 };
    struct schema *s = schema_new(json_at(version, "schema.openAPIV3Schema"), &e);
    if (s)
        return s;
    fprintf(stderr, "sim: schema of %s: %s\n", json_str_or_empty(definition, "metadata.name"),
            err_msg(&e));
    abort();
}

/* The row of a kind, or the first that is free. */
static size_t custom_rules_row_of(const struct custom_schemas *s, const struct kind *k)
{
    size_t i = 0;
    while (i < CUSTOM_KINDS && s->rows[i].kind && s->rows[i].kind != k)
        i++;
    if (!k || i == CUSTOM_KINDS)
        abort();
    return i;
}

static void fill_row(struct custom_schemas *s, size_t i, const struct kind *k,
                     const json_t *definition)
{
    const json_t *version = json_array_get(json_at(definition, "spec.versions"), 0);
    s->rows[i].kind = k;
    s->rows[i].definition = json_incref((json_t *) definition);
    s->rows[i].schema = compile(definition, version);
    s->rows[i].merge = merge_schema_new(version);
}

void custom_schemas_use(struct custom_schemas *s, const json_t *definition)
{
    const struct kind *k = kind_named(json_str_or_empty(definition, "spec.names.plural"));
    size_t i = custom_rules_row_of(s, k);
    if (s->rows[i].kind)
        abort();
    fill_row(s, i, k, definition);
}

/* The row of a kind, made when it is first asked for. */
static size_t filled_row_of(struct custom_schemas *s, const struct kind *k)
{
    size_t i = custom_rules_row_of(s, k);
    if (!s->rows[i].kind) {
        CLEANUP_JSON json_t *definition = builtin_crd_of(k->plural);
        fill_row(s, i, k, definition);
    }
    return i;
}

static const struct schema *schema_of(struct custom_schemas *s, const struct kind *k)
{
    return s->rows[filled_row_of(s, k)].schema;
}

const struct merge_root *custom_merge(struct custom_schemas *s, const struct kind *k)
{
    return s->rows[filled_row_of(s, k)].merge;
}

/* Members of every object, whatever its schema. */
static const char *const common[] = { "apiVersion", "kind", "metadata", NULL };

/* The object without the members that every object has. New reference. */
static json_t *own_members(const json_t *object)
{
    json_t *own = object ? json_object() : NULL;
    JSON_EACH_MEMBER (key, value, object)
        if (!str_is_any_of(key, common))
            json_object_set(own, key, value);
    return own;
}

/* Adds paths, in order, to those that were found. */
static void add_unknown(const json_t *paths, const char *prefix, struct typed_problems *problems)
{
    size_t n = json_array_size(paths);
    if (n == 0)
        return;
    CLEANUP_FREE const char **texts = xcalloc(n, sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = json_string_value(json_array_get(paths, i));
    text_sort(texts, n);
    problems->unknown = problems->unknown ? problems->unknown : json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(problems->unknown, json_textf("%s%s", prefix, texts[i]));
}

/* Metadata have a type that the server knows. */
static int read_metadata(const json_t *before, const json_t *object, json_t *read,
                         struct typed_problems *problems)
{
    json_t *metadata = json_object_get(object, "metadata");
    struct typed_problems own = { 0 };
    json_t *understood = metadata ? typed_read(type_object_meta,
                                               json_object_get(before, "metadata"), metadata, &own)
                                  : NULL;
    if (understood)
        json_object_set_new(read, "metadata", understood);
    add_unknown(own.unknown, "metadata.", problems);
    problems->wrong_type = TAKE(own.wrong_type);
    typed_problems_clear(&own);
    return problems->wrong_type ? -1 : 0;
}

json_t *custom_read(struct custom_schemas *schemas, const struct kind *k, const json_t *before,
                    const json_t *object, struct typed_problems *problems)
{
    CLEANUP_JSON json_t *mine = own_members(object);
    CLEANUP_JSON json_t *was = own_members(before);
    CLEANUP_JSON json_t *unknown = json_array();
    CLEANUP_JSON json_t *members = schema_read(schema_of(schemas, k), NULL, was, mine, unknown);
    CLEANUP_JSON json_t *read = json_object();
    for (const char *const *key = common; *key; key++)
        json_object_set(read, *key, json_object_get(object, *key));
    if (read_metadata(before, object, read, problems) < 0)
        return NULL;
    add_unknown(unknown, "", problems);
    json_object_update(read, members);
    return TAKE(read);
}

void custom_validate(struct custom_schemas *schemas, const struct kind *k, const char *subresource,
                     const json_t *before, const json_t *after, struct refusal *r)
{
    const struct schema *s = schema_of(schemas, k);
    if (schema_check(s, str_eq(subresource, "status"), before, after, r))
        schema_check_rules(s, NULL, before, after, r);
    else
        refuse_cause(r, "FieldValueInvalid", "<nil>",
                     "Invalid value: null: some validation rules were not checked because the "
                     "object was invalid; correct the "
                     "existing errors to complete validation");
}
