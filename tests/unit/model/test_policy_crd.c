/* The CRD and the field table side by side: every field is in both and means the same. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/policy_fields.h"
#include "reconcilers/model/operand.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define CRD "crds/ostler.dev_gpuclusterpolicies.yaml"

/* Messages have room for a path. */
#define FAIL(path, ...)                                                                            \
    do {                                                                                           \
        CLEANUP_FREE char *why_ = xasprintf(__VA_ARGS__);                                          \
        fail_msg("%s: %s", path, why_);                                                            \
    } while (0)

static json_t *read_crd(void)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(CRD, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    assert_int_equal(json_array_size(documents), 1);
    return json_incref(json_array_get(documents, 0));
}

static const json_t *root_schema(const json_t *crd)
{
    const json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
    return json_at(version, "schema.openAPIV3Schema");
}

static void want_type(const char *path, const json_t *schema, const char *type)
{
    if (!str_eq(json_str(schema, "type"), type))
        FAIL(path, "type is %s, not %s", json_str_or_empty(schema, "type"), type);
}

static void want_int(const char *path, const json_t *schema, const char *key, int64_t value)
{
    if (json_int(schema, key, -1) != value)
        FAIL(path, "%s is %lld, not %lld", key, (long long) json_int(schema, key, -1),
             (long long) value);
}

/* A limit that is left out where it is 0. */
static void want_least(const char *path, const json_t *schema, const char *key, int64_t value)
{
    if (json_int(schema, key, 0) != value)
        FAIL(path, "%s is %lld, not %lld", key, (long long) json_int(schema, key, 0),
             (long long) value);
}

static void want_lengths(const char *path, const json_t *schema, enum policy_format format)
{
    const struct policy_format_info *f = policy_format(format);
    want_least(path, schema, "minLength", (int64_t) f->min_length);
    want_int(path, schema, "maxLength", (int64_t) f->max_length);
}

/* A format that the schema itself checks: where the API server's own message is good enough, or a
 * rule cannot look. */
static void want_pattern(const char *path, const json_t *schema, enum policy_format format)
{
    const struct policy_format_info *f = policy_format(format);
    if (!str_eq(json_str(schema, "pattern"), f->pattern))
        FAIL(path, "pattern is\n%s, not\n%s", json_str_or_empty(schema, "pattern"),
             str_or_empty(f->pattern));
    want_lengths(path, schema, format);
}

static void want_rule(const char *path, const json_t *schema, size_t n, const char *rule,
                      const char *message)
{
    const json_t *got = json_array_get(json_object_get(schema, "x-kubernetes-validations"), n);
    if ((rule && !str_eq(json_str(got, "rule"), rule)) ||
        (message && !str_eq(json_str(got, "message"), message)))
        FAIL(path, "rule %zu is \"%s\" with \"%s\", not \"%s\" with \"%s\"", n,
             json_str_or_empty(got, "rule"), json_str_or_empty(got, "message"), str_or_empty(rule),
             str_or_empty(message));
}

/* A format that a rule checks, with a sentence that a person understands. Returns the number of
 * rules that it takes. */
static size_t want_sentence(const char *path, const json_t *schema, enum policy_format format)
{
    const struct policy_format_info *f = policy_format(format);
    want_lengths(path, schema, format);
    if (!f->pattern)
        return 0;
    CLEANUP_FREE char *rule = xasprintf("self.matches('%s')", f->pattern);
    want_rule(path, schema, 0, rule, f->sentence);
    return 1;
}

static size_t want_range(const char *path, const json_t *schema, const struct policy_field *f)
{
    CLEANUP_FREE char *rule = xasprintf(
        "duration(self) >= duration('%llds') && duration(self) <= duration('%llds')",
        (long long) f->min, (long long) f->max);
    want_rule(path, schema, 0, rule, NULL);
    const json_t *got = json_array_get(json_object_get(schema, "x-kubernetes-validations"), 0);
    if (!str_has_prefix(json_str_or_empty(got, "message"), "must be a duration from "))
        FAIL(path, "the rule has no message");
    return 1;
}

static void want_values(const char *path, const json_t *schema, const char *const *values)
{
    const json_t *list = json_object_get(schema, "enum");
    size_t n = 0;
    for (; values[n]; n++)
        if (!str_eq(json_string_value(json_array_get(list, n)), values[n]))
            FAIL(path, "enum lacks %s at %zu", values[n], n);
    assert_int_equal(json_array_size(list), n);
}

/* The rules of a node: those of its type, then those of the table. */
static void want_rules(const char *path, const json_t *schema, const struct policy_field *f)
{
    size_t n = 0;
    if (f->type == FIELD_STRING)
        n = want_sentence(path, schema, f->format);
    if (f->type == FIELD_DURATION)
        n = want_range(path, schema, f);
    for (const struct policy_rule *r = f->rules; r && r->message; r++)
        want_rule(path, schema, n++, NULL, r->message);
    if (json_array_size(json_object_get(schema, "x-kubernetes-validations")) != n)
        FAIL(path, "has rules that the table lacks");
}

static void want_list_type(const char *path, const json_t *schema, const struct policy_field *f)
{
    const char *unique = f->type == FIELD_LIST ? "map" : "set";
    const char *want = f->flags & FIELD_UNIQUE ? unique : "atomic";
    if (!str_eq(json_str(schema, "x-kubernetes-list-type"), want))
        FAIL(path, "the list's type is not %s", want);
    want_int(path, schema, "maxItems", f->max);
}

static void check_object(const char *path, const json_t *schema, const struct policy_field *fields);

static void check_list(const char *path, const json_t *schema, const struct policy_field *f)
{
    const json_t *items = json_object_get(schema, "items");
    CLEANUP_FREE char *item_path = xasprintf("%s[]", path);
    want_type(path, schema, "array");
    want_list_type(path, schema, f);
    if (f->type == FIELD_STRINGS) {
        want_type(item_path, items, "string");
        want_sentence(item_path, items, f->format);
    } else {
        check_object(item_path, items, f->children);
        want_rules(item_path, items, f);
    }
}

static void check_map(const char *path, const json_t *schema, const struct policy_field *f)
{
    want_type(path, schema, "object");
    want_least(path, schema, "minProperties", f->min);
    want_int(path, schema, "maxProperties", f->max);
    const json_t *value = json_object_get(schema, "additionalProperties");
    want_type(path, value, "string");
    if (f->values)
        want_values(path, value, f->values);
    else
        want_pattern(path, value, FORMAT_LABEL_VALUE);
}

static void check_number(const char *path, const json_t *schema, const struct policy_field *f)
{
    if (f->type == FIELD_INT) {
        want_type(path, schema, "integer");
    } else {
        assert_true(json_bool(schema, "x-kubernetes-int-or-string", false));
        want_pattern(path, schema, f->format);
    }
    want_int(path, schema, "minimum", f->min);
    if (f->type != FIELD_QUANTITY)
        want_int(path, schema, "maximum", f->max);
}

static void check_shape(const char *path, const json_t *schema, const struct policy_field *f)
{
    switch (f->type) {
    case FIELD_OBJECT:
        check_object(path, schema, f->children);
        return;
    case FIELD_LIST:
    case FIELD_STRINGS:
        check_list(path, schema, f);
        return;
    case FIELD_MAP:
        check_map(path, schema, f);
        return;
    case FIELD_STRING:
        want_type(path, schema, "string");
        return;
    case FIELD_DURATION:
        want_type(path, schema, "string");
        want_pattern(path, schema, f->format);
        return;
    case FIELD_ENUM:
        want_type(path, schema, "string");
        want_values(path, schema, f->values);
        return;
    case FIELD_BOOL:
        want_type(path, schema, "boolean");
        return;
    case FIELD_INT:
    case FIELD_COUNT:
    case FIELD_QUANTITY:
        check_number(path, schema, f);
        return;
    }
}

/* What of the policy a section of a pool stands over; NULL: the path is not below one. */
static const char *section_of_pool(const char *path)
{
    if (!str_has_prefix(path, "spec.pools[]."))
        return NULL;
    const char *below = path + strlen("spec.pools[].");
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (str_has_prefix(below, o->section) && below[strlen(o->section)] == '.')
            return o->section;
    return str_has_prefix(below, "taint.") ? "nodes.taint" : NULL;
}

/* What kubectl explain shows: the default in words. */
static void check_description(const char *path, const json_t *schema, const struct policy_field *f)
{
    const char *text = json_str_or_empty(schema, "description");
    if (!*text)
        FAIL(path, "has no description");
    /* In a pool, an unset field is as in the policy. */
    const char *section = section_of_pool(path);
    bool in_pool = section && f->type != FIELD_OBJECT;
    CLEANUP_FREE char *want = in_pool ? xasprintf("If unset: as in spec.%s.", section)
                                      : xasprintf("Default: %s.", str_or_empty(f->fallback));
    if ((in_pool || f->fallback) && !strstr(path, ".env[]") && !strstr(text, want))
        FAIL(path, "the description does not say \"%s\"", want);
    if (f->flags & FIELD_REQUIRED && strstr(text, "Default:"))
        FAIL(path, "is required, and its description speaks of a default");
}

static void check_field(const char *path, const json_t *schema, const struct policy_field *f)
{
    if (!schema)
        FAIL(path, "is not in the CRD");
    check_shape(path, schema, f);
    check_description(path, schema, f);
    if (f->type != FIELD_LIST)
        want_rules(path, schema, f);
    if (json_object_get(schema, "default"))
        FAIL(path, "the CRD would write a default into what the user owns");
}

static const struct policy_field *find(const struct policy_field *fields, const char *name)
{
    for (; fields->name; fields++)
        if (str_eq(fields->name, name))
            return fields;
    return NULL;
}

static bool is_listed(const json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach ((json_t *) list, i, item) {
        if (str_eq(json_string_value(item), name))
            return true;
    }
    return false;
}

static void check_object(const char *path, const json_t *schema, const struct policy_field *fields)
{
    const json_t *properties = json_object_get(schema, "properties");
    const char *name;
    json_t *property;
    want_type(path, schema, "object");
    for (const struct policy_field *f = fields; f->name; f++) {
        CLEANUP_FREE char *here = xasprintf("%s.%s", path, f->name);
        check_field(here, json_object_get(properties, f->name), f);
        if (is_listed(json_object_get(schema, "required"), f->name) !=
            !!(f->flags & FIELD_REQUIRED))
            FAIL(here, "required in only one of CRD and table");
    }
    json_object_foreach ((json_t *) properties, name, property) {
        if (!find(fields, name))
            FAIL(path, "%s is not in the table", name);
    }
}

static void check_spec(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *crd = read_crd();
    check_object("spec", json_at(root_schema(crd), "properties.spec"), policy_fields);
}

/* The schema of spec.<operand>.env[].name. */
static void check_variables(const char *path, const json_t *operand, enum operand which)
{
    const json_t *name = json_at(operand, "properties.env.items.properties.name");
    CLEANUP_BUF struct buf rule = BUF_INIT(4096);
    buf_printf(&rule, "!(self in [");
    for (const char *const *v = operand_get(which)->variables; *v; v++)
        buf_printf(&rule, "'%s'%s", *v, v[1] ? ", " : "])");
    want_rule(path, name, 2, buf_text(&rule), NULL);
}

static void check_all_variables(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *crd = read_crd();
    const json_t *spec = json_at(root_schema(crd), "properties.spec.properties");
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->variables)
            check_variables(o->section, json_object_get(spec, o->section), o->id);
    const json_t *pool = json_at(spec, "pools.items.properties");
    static const enum operand of_pool[] = { OPERAND_DRIVER, OPERAND_TOOLKIT,
                                            OPERAND_DEVICE_PLUGIN };
    for (size_t i = 0; i < ARRAY_LEN(of_pool); i++) {
        CLEANUP_FREE char *path = xasprintf("pools[].%s", operand_get(of_pool[i])->section);
        check_variables(path, json_object_get(pool, operand_get(of_pool[i])->section), of_pool[i]);
    }
}

/* Bounds everywhere: without them the API server takes the worst case for the cost of a rule. */
static void check_bounds(const char *path, const json_t *schema)
{
    const char *type = json_str_or_empty(schema, "type");
    const char *name;
    json_t *property;
    bool fixed = json_object_get(schema, "enum") || json_object_get(schema, "format");
    if (str_eq(type, "string") && !fixed && !json_object_get(schema, "maxLength"))
        FAIL(path, "has no maxLength");
    if (str_eq(type, "array")) {
        if (!json_object_get(schema, "maxItems") || !json_str(schema, "x-kubernetes-list-type"))
            FAIL(path, "has no maxItems or no list type");
        check_bounds(path, json_object_get(schema, "items"));
    }
    if (json_object_get(schema, "additionalProperties") &&
        !json_object_get(schema, "maxProperties"))
        FAIL(path, "has no maxProperties");
    json_object_foreach (json_object_get(schema, "properties"), name, property) {
        CLEANUP_FREE char *here = xasprintf("%s.%s", path, name);
        if (!*json_str_or_empty(property, "description"))
            FAIL(here, "has no description");
        check_bounds(here, property);
    }
}

static void check_all_bounds(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *crd = read_crd();
    check_bounds("spec", json_at(root_schema(crd), "properties.spec"));
    check_bounds("status", json_at(root_schema(crd), "properties.status"));
}

/* The one default that is stored: a policy that Ostler has not seen yet does not count as done. */
static void check_status_default(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *crd = read_crd();
    assert_tree(json_at(root_schema(crd), "properties.status.default"),
                "{'observedGeneration':-1}");
    assert_null(json_at(root_schema(crd), "properties.spec.default"));
}

static void check_names(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *crd = read_crd();
    const json_t *version = json_array_get(json_at(crd, "spec.versions"), 0);
    CLEANUP_FREE char *api = xasprintf("%s/%s", json_str_or_empty(crd, "spec.group"),
                                       json_str_or_empty(version, "name"));
    assert_string_equal(api, POLICY_API_VERSION);
    assert_string_equal(json_str(crd, "spec.names.kind"), POLICY_KIND);
    assert_string_equal(json_str(crd, "spec.scope"), "Cluster");
    assert_tree(json_at(crd, "spec.names.shortNames"), "['gpupolicy']");
    assert_tree(json_at(crd, "spec.names.categories"), "['gpu']");
    assert_tree(json_at(version, "subresources.status"), "{}");
}

/* kubectl apply keeps the whole object in an annotation, which holds 256 KiB. */
static void check_size(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *crd = read_crd();
    CLEANUP_FREE char *text = json_compact(crd);
    assert_in_range(strlen(text), 1, 128 * 1024);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "spec: every field is in CRD and table, with the same type and limits",
              check_spec, NULL);
    suite_add(&s, "spec: the variables that Ostler sets are refused", check_all_variables, NULL);
    suite_add(&s, "every list, map and string is bounded and described", check_all_bounds, NULL);
    suite_add(&s, "status.observedGeneration is the only default", check_status_default, NULL);
    suite_add(&s, "names", check_names, NULL);
    suite_add(&s, "size", check_size, NULL);
    return suite_run(&s, "policy CRD");
}
