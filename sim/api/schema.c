#include "sim/api/schema.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/cel.h"
#include "sim/api/pattern.h"
#include "sim/api/schema_tree.h"

static const struct type_name {
    const char *name;
    enum schema_type type;
} type_names[] = {
    { "object", SCHEMA_OBJECT },   { "array", SCHEMA_ARRAY },   { "string", SCHEMA_STRING },
    { "integer", SCHEMA_INTEGER }, { "number", SCHEMA_NUMBER }, { "boolean", SCHEMA_BOOLEAN },
};

static enum schema_type schema_type_of(const json_t *source)
{
    if (json_is_true(json_object_get(source, "x-kubernetes-int-or-string")))
        return SCHEMA_INT_OR_STRING;
    for (size_t i = 0; i < ARRAY_LEN(type_names); i++)
        if (str_eq(type_names[i].name, json_key(source, "type")))
            return type_names[i].type;
    return SCHEMA_ANY;
}

static int add_pattern(struct schema *s, struct err *e)
{
    const char *text = json_key(s->source, "pattern");
    if (!text)
        return 0;
    s->pattern = pattern_new(text);
    return s->pattern ? 0 : err_set(e, ERR_INVALID, "pattern %s is not known", text);
}

static int add_rules(struct schema *s, struct err *e)
{
    const json_t *rules = json_object_get(s->source, "x-kubernetes-validations");
    s->rules = xcalloc(json_array_size(rules), sizeof *s->rules);
    JSON_EACH_AT (i, rule, rules) {
        struct cel *compiled = cel_compile(json_str_or_empty(rule, "rule"), e);
        if (!compiled)
            return err_wrap(e, "rule %s", json_str_or_empty(rule, "rule"));
        s->rules[s->rule_count++] = (struct schema_rule){ compiled,
                                                          json_str_or_empty(rule, "message") };
    }
    return 0;
}

static void note_default(struct schema *s, const char *name, const struct schema *property)
{
    if (!json_object_get(property->source, "default"))
        return;
    s->with_default = xreallocarray(s->with_default, s->default_count + 1,
                                    sizeof(const struct schema *));
    s->default_names = xreallocarray(s->default_names, s->default_count + 1, sizeof(const char *));
    s->with_default[s->default_count] = property;
    s->default_names[s->default_count++] = name;
}

static int add_properties(struct schema *s, struct err *e)
{
    JSON_EACH_MEMBER (name, source, json_object_get(s->source, "properties")) {
        struct schema *property = schema_new(source, e);
        if (!property)
            return err_wrap(e, "%s", name);
        map_put(&s->properties, name, property);
        note_default(s, name, property);
    }
    return 0;
}

/* The schema of items or of the values of a map. */
static int add_inner(const json_t *source, struct schema **ret, struct err *e)
{
    if (!json_is_object(source))
        return 0;
    *ret = schema_new(source, e);
    return *ret ? 0 : -1;
}

bool schema_is_integer(const json_t *value)
{
    static const double limit = 1LL << 53;
    double number = json_number_value(value);
    return json_is_integer(value) ||
           (json_is_real(value) && trunc(number) == number && fabs(number) < limit);
}

struct schema *schema_new(const json_t *open_api, struct err *e)
{
    struct schema *s = xcalloc(1, sizeof *s);
    s->source = json_incref((json_t *) open_api);
    s->type = schema_type_of(open_api);
    s->nullable = json_bool(open_api, "nullable", false);
    s->preserves = json_is_true(json_object_get(open_api, "x-kubernetes-preserve-unknown-fields"));
    if (add_pattern(s, e) < 0 || add_rules(s, e) < 0 || add_properties(s, e) < 0 ||
        add_inner(json_object_get(open_api, "additionalProperties"), &s->additional, e) < 0 ||
        add_inner(json_object_get(open_api, "items"), &s->items, e) < 0) {
        schema_free(s);
        return NULL;
    }
    return s;
}

void schema_free(struct schema *s)
{
    if (!s)
        return;
    MAP_EACH (entry, &s->properties)
        schema_free(entry->value);
    map_clear(&s->properties);
    for (size_t i = 0; i < s->rule_count; i++)
        cel_free(s->rules[i].rule);
    free(s->rules);
    pattern_free(s->pattern);
    schema_free(s->additional);
    schema_free(s->items);
    free(s->with_default);
    free(s->default_names);
    json_decref(s->source);
    free(s);
}
