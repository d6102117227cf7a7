#include "reconcilers/model/policy_spec.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/policy_fields.h"
#include "reconcilers/model/policy_problems.h"

/* Longest part of a wrong value that is shown. */
#define VALUE_LENGTH_MAX 64

static json_t *read_fields(const struct policy_field *fields, const json_t *given, bool fill,
                           const struct policy_place *at);

/* By type of JSON. */
static const char *const type_names[] = {
    [JSON_OBJECT] = "a map",        [JSON_ARRAY] = "a list",  [JSON_STRING] = "a string",
    [JSON_INTEGER] = "a number",    [JSON_REAL] = "a number", [JSON_TRUE] = "true or false",
    [JSON_FALSE] = "true or false", [JSON_NULL] = "null",
};

/* A given string, quoted and shortened; the caller frees it. */
static char *policy_spec_shown(const json_t *string)
{
    CLEANUP_FREE char *s = str_shortened(json_string_value(string), VALUE_LENGTH_MAX);
    return xasprintf("\"%s\"", s);
}

static json_t *policy_spec_wrong_type(const char *wanted, const json_t *value,
                                      const struct policy_place *at)
{
    bool unquoted = str_eq(wanted, "a string") && (json_is_number(value) || json_is_boolean(value));
    policy_problem_add(at, "must be %s, not %s%s", wanted, type_names[json_typeof(value)],
                       unquoted ? "; put it in quotes" : "");
    return NULL;
}

/* Whether a value is a string that is used unchanged or not at all. */
static bool is_text(const json_t *value, const struct policy_place *at)
{
    if (!json_is_string(value)) {
        policy_spec_wrong_type("a string", value, at);
        return false;
    }
    if (!json_is_whole(value))
        policy_problem_add(at, "must not contain a NUL character");
    return json_is_whole(value);
}

static json_t *read_string(const struct policy_field *field, const json_t *value,
                           const struct policy_place *at)
{
    if (!is_text(value, at))
        return NULL;
    if (!policy_format_matches(field->format, json_string_value(value))) {
        CLEANUP_FREE char *text = policy_spec_shown(value);
        policy_problem_add(at, "%s, not %s", policy_format(field->format)->sentence, text);
        return NULL;
    }
    return json_incref((json_t *) value);
}

static json_t *read_enum(const struct policy_field *field, const json_t *value,
                         const struct policy_place *at)
{
    if (!is_text(value, at))
        return NULL;
    CLEANUP_BUF struct buf choices = BUF_INIT(1024);
    for (const char *const *v = field->values; *v; v++) {
        if (str_eq(*v, json_string_value(value)))
            return json_incref((json_t *) value);
        buf_printf(&choices, "%s%s", v == field->values ? "" : v[1] ? ", " : " or ", *v);
    }
    CLEANUP_FREE char *text = policy_spec_shown(value);
    policy_problem_add(at, "must be %s, not %s", buf_text(&choices), text);
    return NULL;
}

static json_t *read_bool(const struct policy_field *field, const json_t *value,
                         const struct policy_place *at)
{
    (void) field;
    if (!json_is_boolean(value))
        return policy_spec_wrong_type("true or false", value, at);
    return json_incref((json_t *) value);
}

static json_t *read_int(const struct policy_field *field, const json_t *value,
                        const struct policy_place *at)
{
    if (!json_is_integer(value))
        return policy_spec_wrong_type("a whole number", value, at);
    json_int_t n = json_integer_value(value);
    if (n < field->min || n > field->max) {
        policy_problem_add(at, "must be from %lld to %lld, not %lld", (long long) field->min,
                           (long long) field->max, n);
        return NULL;
    }
    return json_incref((json_t *) value);
}

static json_t *read_count(const struct policy_field *field, const json_t *value,
                          const struct policy_place *at)
{
    if (json_is_string(value))
        return read_string(field, value, at);
    if (!json_is_integer(value))
        return policy_spec_wrong_type("a whole number or a percentage", value, at);
    return read_int(field, value, at);
}

/* Seconds in the usual notation. */
static char *duration_text(int64_t seconds)
{
    bool hours = seconds > 0 && seconds % 3600 == 0, minutes = seconds > 0 && seconds % 60 == 0;
    int unit = hours ? 3600 : minutes ? 60 : 1;
    return xasprintf("%lld%c", (long long) seconds / unit, hours ? 'h' : minutes ? 'm' : 's');
}

static json_t *read_duration(const struct policy_field *field, const json_t *value,
                             const struct policy_place *at)
{
    int64_t ms;
    CLEANUP_JSON json_t *string = read_string(field, value, at);
    if (!string)
        return NULL;
    if (!str_parse_duration(json_string_value(string), &ms) || ms < field->min * 1000 ||
        ms > field->max * 1000) {
        CLEANUP_FREE char *min = duration_text(field->min);
        CLEANUP_FREE char *max = duration_text(field->max);
        CLEANUP_FREE char *text = policy_spec_shown(string);
        policy_problem_add(at, "must be a duration from %s to %s, not %s", min, max, text);
        return NULL;
    }
    return TAKE(string);
}

static json_t *read_quantity(const struct policy_field *field, const json_t *value,
                             const struct policy_place *at)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return json_incref((json_t *) value);
    if (!json_is_string(value)) {
        policy_problem_add(at, "%s", policy_format(field->format)->sentence);
        return NULL;
    }
    return read_string(field, value, at);
}

static json_t *read_map(const struct policy_field *field, const json_t *value,
                        const struct policy_place *at)
{
    if (!json_is_object(value))
        return policy_spec_wrong_type(field->values ? "a map" : "a map of labels", value, at);
    size_t n = json_object_size(value);
    if (n < (size_t) field->min || n > (size_t) field->max) {
        policy_problem_add(at, "must have from %d to %d entries, not %zu", (int) field->min,
                           (int) field->max, n);
        return NULL;
    }
    json_t *map = json_object();
    JSON_EACH_MEMBER (key, entry, value) {
        const struct policy_place *here = POLICY_KEY(at, key);
        json_t *text = field->values ? read_enum(field, entry, here)
                                     : read_string(field, entry, here);
        if (text)
            json_object_set_new(map, key, text);
    }
    return map;
}

static void check_rules(const struct policy_field *field, const json_t *value,
                        const struct policy_place *at)
{
    for (const struct policy_rule *r = field->rules; r && r->message; r++)
        if (!policy_rule_holds(r, value))
            policy_problem_add(at, "%s", r->message);
}

/* The unique part of a list item: the string, or the object's name. */
static const char *identity(const json_t *item)
{
    return json_is_string(item) ? json_string_value(item) : json_str(item, "name");
}

/* Whether an item equals an earlier one. */
static bool is_repeated(const json_t *list, const json_t *item)
{
    JSON_EACH (other, list) {
        if (identity(item) && str_eq(identity(other), identity(item)))
            return true;
    }
    return false;
}

/* One item of a list, with its rules, which apply to items and not to the list. */
static json_t *policy_spec_read_item(const struct policy_field *field, const json_t *value,
                                     const struct policy_place *at)
{
    if (field->type == FIELD_STRINGS)
        return read_string(field, value, at);
    if (!json_is_object(value))
        return policy_spec_wrong_type("a map", value, at);
    size_t before = policy_problems_count(at->problems);
    json_t *item = read_fields(field->children, value, true, at);
    if (policy_problems_count(at->problems) == before)
        check_rules(field, item, at);
    return item;
}

static json_t *policy_spec_read_list(const struct policy_field *field, const json_t *value,
                                     const struct policy_place *at)
{
    if (!json_is_array(value))
        return policy_spec_wrong_type("a list", value, at);
    if (json_array_size(value) > (size_t) field->max) {
        policy_problem_add(at, "must have at most %d items, not %zu", (int) field->max,
                           json_array_size(value));
        return NULL;
    }
    json_t *list = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach ((json_t *) value, i, entry) {
        const struct policy_place *here = POLICY_ITEM(at, i);
        json_t *item = policy_spec_read_item(field, entry, here);
        if ((field->flags & FIELD_UNIQUE) && is_repeated(list, item))
            policy_problem_add(here, "\"%s\" is a duplicate", identity(item));
        /* A wrong item keeps its place, so that the others keep their index. */
        json_array_append_new(list, item ? item : json_null());
    }
    return list;
}

static json_t *policy_spec_read_object(const struct policy_field *field, const json_t *value,
                                       bool fill, const struct policy_place *at)
{
    if (!json_is_object(value))
        return policy_spec_wrong_type("a map", value, at);
    return read_fields(field->children, value, fill && !(field->flags & FIELD_OVERRIDES), at);
}

/* A given value, or NULL if a problem was added. */
static json_t *read_value(const struct policy_field *field, const json_t *value, bool fill,
                          const struct policy_place *at)
{
    static json_t *(*const readers[])(const struct policy_field *field, const json_t *value,
                                      const struct policy_place *at) = {
        [FIELD_LIST] = policy_spec_read_list,
        [FIELD_STRINGS] = policy_spec_read_list,
        [FIELD_MAP] = read_map,
        [FIELD_STRING] = read_string,
        [FIELD_ENUM] = read_enum,
        [FIELD_BOOL] = read_bool,
        [FIELD_INT] = read_int,
        [FIELD_COUNT] = read_count,
        [FIELD_DURATION] = read_duration,
        [FIELD_QUANTITY] = read_quantity,
    };
    if (field->type == FIELD_OBJECT)
        return policy_spec_read_object(field, value, fill, at);
    return readers[field->type](field, value, at);
}

/* The default of a field; NULL: it has none. */
static json_t *default_of(const struct policy_field *field)
{
    int64_t number;
    if (!field->fallback)
        return NULL;
    if (field->type == FIELD_BOOL)
        return json_boolean(str_eq(field->fallback, "true"));
    if ((field->type == FIELD_INT || field->type == FIELD_COUNT) &&
        str_parse_int(field->fallback, INT64_MIN, INT64_MAX, &number))
        return json_integer(number);
    return json_string(field->fallback);
}

/* The value of an absent field: its default, its children's defaults, or NULL. */
static json_t *absent_value(const struct policy_field *field, bool fill,
                            const struct policy_place *at)
{
    if (field->flags & FIELD_REQUIRED)
        policy_problem_add(at, "is missing");
    if (!fill || (field->flags & FIELD_OVERRIDES))
        return NULL;
    if (field->type == FIELD_OBJECT)
        return read_fields(field->children, NULL, true, at);
    return default_of(field);
}

static json_t *read_field(const struct policy_field *field, const json_t *value, bool fill,
                          const struct policy_place *at)
{
    if (!value || json_is_null(value))
        return absent_value(field, fill, at);
    size_t before = policy_problems_count(at->problems);
    json_t *result = read_value(field, value, fill, at);
    if (field->type != FIELD_LIST && policy_problems_count(at->problems) == before)
        check_rules(field, result, at);
    return result;
}

static const struct policy_field *field_named(const struct policy_field *fields, const char *name)
{
    for (; fields->name; fields++)
        if (str_eq(fields->name, name))
            return fields;
    return NULL;
}

static void report_unknown(const struct policy_field *fields, const json_t *given,
                           const struct policy_place *at)
{
    JSON_EACH_MEMBER (key, value, given) {
        if (!field_named(fields, key))
            policy_problem_add(POLICY_FIELD(at, key),
                               "is not a field that this version of Ostler knows");
    }
}

/* Reads an object by its table. Empty objects are left out, because they mean the same as absent
 * ones. */
static json_t *read_fields(const struct policy_field *fields, const json_t *given, bool fill,
                           const struct policy_place *at)
{
    json_t *object = json_object();
    for (const struct policy_field *f = fields; f->name; f++) {
        json_t *value = read_field(f, json_object_get(given, f->name), fill,
                                   POLICY_FIELD(at, f->name));
        if (f->type == FIELD_OBJECT && json_object_size(value) == 0) {
            json_decref(value);
            value = NULL;
        }
        if (value)
            json_object_set_new(object, f->name, value);
    }
    report_unknown(fields, given, at);
    return object;
}

json_t *policy_spec_read(const json_t *given, struct policy_problems *problems)
{
    static const struct policy_field root = {
        .name = "spec",
        .type = FIELD_OBJECT,
        .children = policy_fields,
    };
    json_t *spec = read_field(&root, given, true, POLICY_ROOT(problems, root.name));
    return spec ? spec : json_object();
}
