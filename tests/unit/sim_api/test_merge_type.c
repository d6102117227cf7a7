#include "sim/api/merge_type.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "tests/unit/support/story.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* ---- the table in the words of tests/sim/record_merge_types.py */

static char *text_of(const struct merge_type *t)
{
    static const char *const names[] = {
        [MERGE_FIELDS] = "fields", [MERGE_MAP] = "map",         [MERGE_ATOMIC] = "atomic",     [MERGE_SET] = "set",
        [MERGE_LIST] = "list by",  [MERGE_FREE] = "free below", [MERGE_SCALAR] = "scalar",     [MERGE_UNOWNED] = "never owned",
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
        if (f->how == MERGE_UNOWNED || f->how == MERGE_SCALAR) /* schemas do not tell which scalars are always there */
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
    assert_true(json_object_size(kinds) > 20);
    const char *name;
    json_t *want;
    json_object_foreach (kinds, name, want) {
        size_t version = strcspn(name, " ");
        CLEANUP_JSON json_t *object = json_pack("{s:s%, s:s}", "apiVersion", name, version, "kind", name + version + 1);
        CLEANUP_JSON json_t *got = json_object();
        tell(&merge_root_of(object)->type, "", got);
        story_assert_same(got, want);
    }
}

/* ---- the project's own kind, as its definition says */

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
        add_keys(&text, field);
        if (text.len > 0)
            json_object_set_new(texts, place, json_string(buf_text(&text)));
        tell_schema(str_eq(list, "map") ? json_object_get(field, "items") : field, place, texts);
    }
}

static void table_is_that_of_the_definition(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file("crds/ostler.dev_gpuclusterpolicies.yaml", NULL, &e);
    const json_t *crd = json_array_get(documents, 0);
    assert_non_null(crd);
    const json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
    CLEANUP_JSON json_t *want = json_object();
    CLEANUP_JSON json_t *got = json_object();
    CLEANUP_JSON json_t *policy = tree("{'apiVersion':'ostler.dev/v1alpha1','kind':'GpuClusterPolicy'}");
    tell_schema(json_at(version, "schema.openAPIV3Schema"), "", want);
    tell(&merge_root_of(policy)->type, "", got);
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe (got, next, name, value)
        if (str_has_prefix(name, "metadata"))
            json_object_del(got, name);
    assert_true(json_object_size(want) > 10);
    story_assert_same(got, want);
}

/* ---- kinds of definitions that are in no table */

static void unknown_kinds_merge_without_a_schema(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree("{'apiVersion':'x.io/v1','kind':'X','a':[1],'m':{}}");
    const struct merge_type *spec = merge_type_field(&merge_root_of(object)->type, "spec");
    const struct merge_type *below = merge_type_field(merge_type_field(spec, "a"), "b");
    assert_int_equal(below->how, MERGE_FREE);
    assert_true(merge_type_is_leaf(below, json_object_get(object, "a")));
    assert_false(merge_type_is_leaf(below, json_object_get(object, "m")));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "Kubernetes' own kinds merge as its schemas say", table_is_that_of_the_real_server, NULL);
    suite_add(&s, "the policy merges as its definition says", table_is_that_of_the_definition, NULL);
    suite_add(&s, "unknown kinds merge without a schema", unknown_kinds_merge_without_a_schema, NULL);
    return suite_run(&s, "merge_type");
}
