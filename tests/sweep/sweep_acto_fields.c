#include "tests/sweep/sweep_acto_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/sweep/sweep_acto_formats.h"

/* What a value needs beside it, since rules look at several fields at once. The path's end decides.
 */
static const struct {
    const char *path;
    const char *beside; /* members of the object that it stands in, or of the object itself */
} companions[] = {
    { "matchExpressions[].values", "{\"operator\": \"In\"}" },
    { "tolerations[]", "{\"key\": \"example.com/acto\"}" },
    { "tolerations[].value", "{\"key\": \"example.com/acto\"}" },
    { "tolerations[].effect", "{\"key\": \"example.com/acto\"}" },
    { "tolerations[].operator", "{\"key\": \"example.com/acto\"}" },
    { "tolerations[].tolerationSeconds",
      "{\"key\": \"example.com/acto\", \"effect\": \"NoExecute\"}" },
    { "serviceMonitor.interval", "{\"enabled\": true}" },
    { "serviceMonitor.labels", "{\"enabled\": true}" },
    { "config.default", "{\"name\": \"acto\"}" },
};

/* ---- reading */

static struct acto_field *add(struct acto_fields *f, const struct acto_field *above,
                              enum acto_step step, const char *name, const json_t *schema)
{
    static const char *const links[] = {
        [ACTO_ROOT] = "", [ACTO_MEMBER] = ".", [ACTO_ITEM] = "[]", [ACTO_ENTRY] = "{}"
    };
    struct acto_field *field = xcalloc(1, sizeof *field);
    *field = (struct acto_field){ .schema = schema, .above = above, .step = step, .name = name };
    field->path = xasprintf("%s%s%s", above ? above->path : "", links[step], str_or_empty(name));
    f->items = xreallocarray(f->items, f->len + 1, sizeof *f->items);
    f->items[f->len++] = field;
    return field;
}

static void add_below(struct acto_fields *f, const struct acto_field *above)
{
    const char *name;
    json_t *schema;
    json_object_foreach (json_object_get(above->schema, "properties"), name, schema)
        add_below(f, add(f, above, ACTO_MEMBER, name, schema));
    const json_t *items = json_object_get(above->schema, "items"),
                 *entries = json_object_get(above->schema, "additionalPropertie"
                                                           "s");
    if (items)
        add_below(f, add(f, above, ACTO_ITEM, NULL, items));
    if (json_is_object(entries))
        add_below(f, add(f, above, ACTO_ENTRY, NULL, entries));
}

void acto_fields_read(const json_t *crds, struct acto_fields *ret)
{
    *ret = (struct acto_fields){ 0 };
    size_t i;
    json_t *crd;
    json_array_foreach ((json_t *) crds, i, crd)
        if (str_eq(json_str(crd, "spec.names.plural"), "gpuclusterpolicies")) {
            const json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
            add_below(ret, add(ret, NULL, ACTO_ROOT, "spec",
                               json_at(version, "schema.openAPIV3Schema.properties.spec")));
        }
}

void acto_fields_clear(struct acto_fields *f)
{
    for (size_t i = 0; i < f->len; i++) {
        free(f->items[i]->path);
        free(f->items[i]);
    }
    free(f->items);
    *f = (struct acto_fields){ 0 };
}

/* ---- samples */

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

/* Adds what stands beside the field. */
static void add_companions(const char *path, json_t *object)
{
    for (size_t i = 0; i < ARRAY_LEN(companions); i++) {
        if (!ends_with(path, companions[i].path))
            continue;
        CLEANUP_JSON json_t *beside = json_parse(companions[i].beside, strlen(companions[i].beside),
                                                 NULL);
        json_object_update(object, beside);
    }
}

static json_t *sample_object(const struct acto_field *f, size_t n)
{
    json_t *object = json_object();
    size_t i;
    json_t *name;
    json_array_foreach (json_object_get(f->schema, "required"), i, name) {
        const char *member = json_string_value(name);
        CLEANUP_FREE char *path = xasprintf("%s.%s", f->path, member);
        struct acto_field below = { .path = path,
                                    .schema = json_object_get(
                                        json_object_get(f->schema, "properties"), member),
                                    .above = f };
        json_object_set_new(object, member, acto_sample(&below, n));
    }
    if (json_int(f->schema, "minProperties", 0))
        json_object_set_new(object, "example.com/acto", json_textf("v%zu", n));
    add_companions(f->path, object);
    return object;
}

json_t *acto_sample(const struct acto_field *f, size_t n)
{
    const json_t *alternatives = json_object_get(f->schema, "enum");
    const char *type = json_str_or_empty(f->schema, "type");
    if (alternatives) /* the last one: among the operators it is the one that stands alone */
        return json_incref(json_array_get(alternatives, json_array_size(alternatives) - 1));
    if (str_eq(type, "object"))
        return sample_object(f, n);
    if (str_eq(type, "array"))
        return json_array();
    if (str_eq(type, "boolean"))
        return json_boolean(n % 2 == 0);
    if (!str_eq(type, "string"))
        return json_integer(json_int(f->schema, "minimum", 0) + (json_int_t) n);
    CLEANUP_FREE char *text = acto_format_sample(f->schema, n);
    return json_text(text);
}

/* ---- a value in its place */

/* The key of an entry. Pools take nodes by one of their labels, so they give them another. */
static const char *entry_key(const struct acto_field *f)
{
    return ends_with(f->path, "nodeLabels{}") ? "example.com/given" : "example.com/acto";
}

/* What the base has at an object that is reached by members alone; NULL: nothing. */
static json_t *base_at(const struct acto_field *f, json_t *base)
{
    if (f->step == ACTO_ROOT)
        return base;
    json_t *above = f->step == ACTO_MEMBER ? base_at(f->above, base) : NULL;
    return json_object_get(above, f->name);
}

json_t *acto_spec(const struct acto_field *f, const json_t *base, const json_t *value)
{
    json_t *tree = json_incref((json_t *) value);
    for (; f->above; f = f->above) {
        json_t *holder;
        if (f->step == ACTO_ITEM) {
            holder = json_pack("[o]", tree);
        } else if (f->step == ACTO_ENTRY) {
            holder = json_pack("{s:o}", entry_key(f), tree);
        } else {
            const json_t *was = base_at(f->above, (json_t *) base);
            holder = was ? json_copy((json_t *) was) : acto_sample(f->above, 0);
            add_companions(f->path, holder);
            json_object_set_new(holder, f->name, tree);
        }
        tree = holder;
    }
    return tree;
}
