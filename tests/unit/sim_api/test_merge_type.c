#include "sim/api/merge_type.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "sim/api/custom_rules.h"
#include "tests/unit/support/story.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* ---- the table in the words of tests/sim/record_merge_types.py */

static char *text_of(const struct merge_type *t)
{
    static const char *const names[] = {
        [MERGE_FIELDS] = "fields", [MERGE_MAP] = "map",
        [MERGE_ATOMIC] = "atomic", [MERGE_SET] = "set",
        [MERGE_LIST] = "list by",  [MERGE_FREE] = "free below",
        [MERGE_SCALAR] = "scalar", [MERGE_UNOWNED] = "never owned",
    };
    struct buf b = BUF_INIT(1000);
    buf_str(&b, names[t->how]);
    for (const struct merge_key *k = t->keys; k->name; k++)
        buf_printf(&b, " %s%s%s", k->name, k->fallback ? "=" : "", str_or_empty(k->fallback));
    if (t->whole_items)
        buf_str(&b, " whole");
    if (t->patch_key)
        buf_printf(&b, " patch by %s", *t->patch_key ? t->patch_key : "value");
    if (t->always)
        buf_str(&b, " always");
    return buf_take(&b);
}

static void tell(const struct merge_type *t, const char *path, json_t *texts)
{
    for (const struct merge_type *f = t->fields; f && f->name; f++) {
        CLEANUP_FREE char *place = xasprintf("%s%s%s", path, *path ? "." : "", f->name);
        CLEANUP_FREE char *text = text_of(f);
        /* schemas do not tell which scalars are always there */
        if (f->how == MERGE_UNOWNED || f->how == MERGE_SCALAR)
            continue;
        if (strcmp(text, "fields") != 0)
            json_object_set_new(texts, place, json_string(text));
        tell(f, place, texts);
    }
}

/* ---- Kubernetes' own kinds, as a real server's schemas were recorded */

static void table_is_that_of_the_real_server(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *kinds = json_load_file("tests/cases/sim_merge_types.json", 0, NULL);
    size_t own = 0;
    for (size_t i = 0; i < kind_count(); i++)
        own += !(kind_at(i)->flags & KIND_CUSTOM);
    assert_int_equal(json_object_size(kinds), own);
    const char *name;
    json_t *want;
    json_object_foreach (kinds, name, want) {
        size_t version = strcspn(name, " ");
        CLEANUP_FREE char *api_version = xstrndup(name, version);
        const struct kind *k = kind_of(api_version, name + version + 1);
        CLEANUP_JSON json_t *got = json_object();
        assert_non_null(k);
        tell(&merge_root_of(k)->type, "", got);
        story_assert_same(got, want);
    }
}

/* ---- custom kinds, as their definitions say */

static void add_keys(struct buf *text, const json_t *schema)
{
    size_t i;
    json_t *key;
    json_array_foreach (json_object_get(schema, "x-kubernetes-list-map-keys"), i, key)
        buf_printf(text, " %s", json_string_value(key));
}

static void tell_schema(const json_t *schema, const char *path, json_t *texts)
{
    const char *name;
    json_t *field;
    json_object_foreach (json_object_get(schema, "properties"), name, field) {
        CLEANUP_FREE char *place = xasprintf("%s%s%s", path, *path ? "." : "", name);
        CLEANUP_BUF struct buf text = BUF_INIT(1000);
        const char *list = json_key(field, "x-kubernetes-list-type");
        if (str_eq(list, "map"))
            buf_str(&text, "list by");
        else if (str_eq(list, "set"))
            buf_str(&text, "set");
        else if (json_object_get(field, "additionalProperties"))
            buf_str(&text, "map");
        else if (str_eq(json_key(field, "x-kubernetes-map-type"), "atomic"))
            buf_str(&text, "atomic");
        add_keys(&text, field);
        if (text.len > 0)
            json_object_set_new(texts, place, json_string(buf_text(&text)));
        tell_schema(str_eq(list, "map") ? json_object_get(field, "items") : field, place, texts);
    }
}

static const struct definition {
    const char *name, *path, *plural;
    size_t at_least; /* so many places are special */
} definitions[] = {
    { "the policy merges as its definition says", "crds/ostler.dev_gpuclusterpolicies.yaml",
      "gpuclusterpolicies", 10 },
    { "a node's report merges as its definition says", "crds/ostler.dev_gpunodes.yaml", "gpunodes",
      0 },
    { "a ServiceMonitor merges as its definition says", "sim/api/servicemonitors.yaml",
      "servicemonitors", 1 },
};

static void table_is_that_of_the_definition(void **state)
{
    const struct definition *d = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(d->path, NULL, &e);
    const json_t *crd = json_array_get(documents, 0);
    assert_non_null(crd);
    const json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
    struct custom_schemas *schemas = custom_schemas_new();
    CLEANUP_JSON json_t *want = json_object();
    CLEANUP_JSON json_t *got = json_object();
    tell_schema(json_at(version, "schema.openAPIV3Schema"), "", want);
    tell(&custom_merge(schemas, kind_named(d->plural))->type, "", got);
    custom_schemas_free(schemas);
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe (got, next, name, value)
        if (str_has_prefix(name, "metadata"))
            json_object_del(got, name);
    assert_true(json_object_size(want) >= d->at_least);
    story_assert_same(got, want);
}

/* ---- what has no schema */

static void unknown_fields_merge_without_a_schema(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *version = tree(
        "{'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object',"
        "'x-kubernetes-preserve-unknown-fields':true}}}}}");
    CLEANUP_JSON json_t *object = tree("{'a':[1],'m':{}}");
    struct merge_root *root = merge_schema_new(version);
    const struct merge_type *spec = merge_type_field(&root->type, "spec");
    const struct merge_type *below = merge_type_field(merge_type_field(spec, "a"), "b");
    assert_int_equal(below->how, MERGE_FREE);
    assert_true(merge_type_is_leaf(below, json_object_get(object, "a")));
    assert_false(merge_type_is_leaf(below, json_object_get(object, "m")));
    merge_schema_free(root);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "Kubernetes' own kinds merge as its schemas say",
              table_is_that_of_the_real_server, NULL);
    SUITE_ROWS(&s, table_is_that_of_the_definition, definitions);
    suite_add(&s, "what has no schema merges without one", unknown_fields_merge_without_a_schema,
              NULL);
    return suite_run(&s, "merge_type");
}
