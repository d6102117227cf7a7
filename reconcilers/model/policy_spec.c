#include "reconcilers/model/policy_spec.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/policy_fields.h"
#include "reconcilers/model/policy_problems.h"

/* Longest part of a wrong value that is shown. */
#define VALUE_LENGTH_MAX 64

static json_t *read_fields(const struct policy_field *fields, const json_t *given, bool fill,
                           const struct policy_place *at, struct policy_problems *problems);

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "a map";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

/* A given string, quoted and shortened; the caller frees it. */
static char *policy_spec_shown(const json_t *string)
{
    CLEANUP_FREE char *s = str_shortened(json_string_value(string), VALUE_LENGTH_MAX);
    return xasprintf("\"%s\"", s);
}

static json_t *policy_spec_wrong_type(const char *wanted, const json_t *value,
                                      const struct policy_place *at,
                                      struct policy_problems *problems)
{
    bool unquoted = str_eq(wanted, "a string") && (json_is_number(value) || json_is_boolean(value));
    policy_problem_add(problems, at, "must be %s, not %s%s", wanted, type_name(value),
                       unquoted ? "; put it in quotes" : "");
    return NULL;
}

/* Whether a value is a string that is used unchanged or not at all. */
static bool is_text(const json_t *value, const struct policy_place *at,
                    struct policy_problems *problems)
{
    if (!json_is_string(value)) {
        policy_spec_wrong_type("a string", value, at, problems);
        return false;
    }
    if (!json_is_whole(value))
        policy_problem_add(problems, at, "must not contain a NUL character");
    return json_is_whole(value);
}

static json_t *read_string(enum policy_format format, const json_t *value,
                           const struct policy_place *at, struct policy_problems *problems)
{
    if (!is_text(value, at, problems))
        return NULL;
    if (!policy_format_matches(format, json_string_value(value))) {
        CLEANUP_FREE char *text = policy_spec_shown(value);
        policy_problem_add(problems, at, "%s, not %s", policy_format(format)->sentence, text);
        return NULL;
    }
    return json_incref((json_t *) value);
}

static json_t *read_enum(const struct policy_field *field, const json_t *value,
                         const struct policy_place *at, struct policy_problems *problems)
{
    if (!is_text(value, at, problems))
        return NULL;
    CLEANUP_BUF struct buf choices = BUF_INIT(1024);
    for (const char *const *v = field->values; *v; v++) {
        if (str_eq(*v, json_string_value(value)))
            return json_incref((json_t *) value);
        buf_printf(&choices, "%s%s", v == field->values ? "" : v[1] ? ", " : " or ", *v);
    }
    CLEANUP_FREE char *text = policy_spec_shown(value);
    policy_problem_add(problems, at, "must be %s, not %s", buf_text(&choices), text);
    return NULL;
}

static json_t *read_bool(const json_t *value, const struct policy_place *at,
                         struct policy_problems *problems)
{
    if (!json_is_boolean(value))
        return policy_spec_wrong_type("true or false", value, at, problems);
    return json_incref((json_t *) value);
}

static json_t *read_int(const struct policy_field *field, const json_t *value,
                        const struct policy_place *at, struct policy_problems *problems)
{
    if (!json_is_integer(value))
        return policy_spec_wrong_type("a whole number", value, at, problems);
    json_int_t n = json_integer_value(value);
    if (n < field->min || n > field->max) {
        policy_problem_add(problems, at,
                           "must be from %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT
                           ", not %" JSON_INTEGER_FORMAT,
                           (json_int_t) field->min, (json_int_t) field->max, n);
        return NULL;
    }
    return json_incref((json_t *) value);
}

static json_t *read_count(const struct policy_field *field, const json_t *value,
                          const struct policy_place *at, struct policy_problems *problems)
{
    if (json_is_string(value))
        return read_string(field->format, value, at, problems);
    if (!json_is_integer(value))
        return policy_spec_wrong_type("a whole number or a percentage", value, at, problems);
    return read_int(field, value, at, problems);
}

/* Seconds in the usual notation. */
static char *duration_text(int64_t seconds)
{
    if (seconds > 0 && seconds % 3600 == 0)
        return xasprintf("%" JSON_INTEGER_FORMAT "h", (json_int_t) (seconds / 3600));
    if (seconds > 0 && seconds % 60 == 0)
        return xasprintf("%" JSON_INTEGER_FORMAT "m", (json_int_t) (seconds / 60));
    return xasprintf("%" JSON_INTEGER_FORMAT "s", (json_int_t) seconds);
}

static json_t *read_duration(const struct policy_field *field, const json_t *value,
                             const struct policy_place *at, struct policy_problems *problems)
{
    int64_t ms;
    CLEANUP_JSON json_t *string = read_string(field->format, value, at, problems);
    if (!string)
        return NULL;
    if (!str_parse_duration(json_string_value(string), &ms) || ms < field->min * 1000 ||
        ms > field->max * 1000) {
        CLEANUP_FREE char *min = duration_text(field->min);
        CLEANUP_FREE char *max = duration_text(field->max);
        CLEANUP_FREE char *text = policy_spec_shown(string);
        policy_problem_add(problems, at, "must be a duration from %s to %s, not %s", min, max,
                           text);
        return NULL;
    }
    return TAKE(string);
}

static json_t *read_quantity(const struct policy_field *field, const json_t *value,
                             const struct policy_place *at, struct policy_problems *problems)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return json_incref((json_t *) value);
    if (!json_is_string(value)) {
        policy_problem_add(problems, at, "%s", policy_format(field->format)->sentence);
        return NULL;
    }
    return read_string(field->format, value, at, problems);
}

static json_t *read_map(const struct policy_field *field, const json_t *value,
                        const struct policy_place *at, struct policy_problems *problems)
{
    if (!json_is_object(value))
        return policy_spec_wrong_type("a map of labels", value, at, problems);
    size_t n = json_object_size(value);
    if (n < (size_t) field->min || n > (size_t) field->max) {
        policy_problem_add(problems, at, "must have from %d to %d entries, not %zu",
                           (int) field->min, (int) field->max, n);
        return NULL;
    }
    json_t *map = json_object();
    const char *key;
    json_t *entry;
    json_object_foreach ((json_t *) value, key, entry) {
        const struct policy_place here = { .up = at, .kind = PLACE_KEY, .name = key };
        json_t *label = read_string(FORMAT_LABEL_VALUE, entry, &here, problems);
        if (label)
            json_object_set_new(map, key, label);
    }
    return map;
}

static void check_rules(const struct policy_field *field, const json_t *value,
                        const struct policy_place *at, struct policy_problems *problems)
{
    for (const struct policy_rule *r = field->rules; r && r->message; r++)
        if (!r->holds(value))
            policy_problem_add(problems, at, "%s", r->message);
}

/* The unique part of a list item: the string, or the object's name. */
static const char *identity(const json_t *item)
{
    return json_is_string(item) ? json_string_value(item) : json_str(item, "name");
}

/* Whether an item equals an earlier one. */
static bool is_repeated(const json_t *list, const json_t *item)
{
    size_t i;
    json_t *other;
    json_array_foreach ((json_t *) list, i, other) {
        if (identity(item) && str_eq(identity(other), identity(item)))
            return true;
    }
    return false;
}

/* One item of a list, with its rules, which apply to items and not to the list. */
static json_t *policy_spec_read_item(const struct policy_field *field, const json_t *value,
                                     const struct policy_place *at,
                                     struct policy_problems *problems)
{
    if (field->type == FIELD_STRINGS)
        return read_string(field->format, value, at, problems);
    if (!json_is_object(value))
        return policy_spec_wrong_type("a map", value, at, problems);
    size_t before = policy_problems_count(problems);
    json_t *item = read_fields(field->children, value, true, at, problems);
    if (policy_problems_count(problems) == before)
        check_rules(field, item, at, problems);
    return item;
}

static json_t *policy_spec_read_list(const struct policy_field *field, const json_t *value,
                                     const struct policy_place *at,
                                     struct policy_problems *problems)
{
    if (!json_is_array(value))
        return policy_spec_wrong_type("a list", value, at, problems);
    if (json_array_size(value) > (size_t) field->max) {
        policy_problem_add(problems, at, "must have at most %d items, not %zu", (int) field->max,
                           json_array_size(value));
        return NULL;
    }
    json_t *list = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach ((json_t *) value, i, entry) {
        const struct policy_place here = { .up = at, .kind = PLACE_ITEM, .index = i };
        json_t *item = policy_spec_read_item(field, entry, &here, problems);
        if ((field->flags & FIELD_UNIQUE) && is_repeated(list, item))
            policy_problem_add(problems, &here, "\"%s\" is there twice", identity(item));
        /* A wrong item keeps its place, so that the others keep their index. */
        json_array_append_new(list, item ? item : json_null());
    }
    return list;
}

static json_t *policy_spec_read_object(const struct policy_field *field, const json_t *value,
                                       bool fill, const struct policy_place *at,
                                       struct policy_problems *problems)
{
    if (!json_is_object(value))
        return policy_spec_wrong_type("a map", value, at, problems);
    return read_fields(field->children, value, fill && !(field->flags & FIELD_OVERRIDES), at,
                       problems);
}

/* A given value, or NULL if a problem was added. */
static json_t *read_value(const struct policy_field *field, const json_t *value, bool fill,
                          const struct policy_place *at, struct policy_problems *problems)
{
    switch (field->type) {
    case FIELD_OBJECT:
        return policy_spec_read_object(field, value, fill, at, problems);
    case FIELD_LIST:
    case FIELD_STRINGS:
        return policy_spec_read_list(field, value, at, problems);
    case FIELD_MAP:
        return read_map(field, value, at, problems);
    case FIELD_STRING:
        return read_string(field->format, value, at, problems);
    case FIELD_ENUM:
        return read_enum(field, value, at, problems);
    case FIELD_BOOL:
        return read_bool(value, at, problems);
    case FIELD_INT:
        return read_int(field, value, at, problems);
    case FIELD_COUNT:
        return read_count(field, value, at, problems);
    case FIELD_DURATION:
        return read_duration(field, value, at, problems);
    case FIELD_QUANTITY:
        return read_quantity(field, value, at, problems);
    }
    return NULL;
}

/* The value of an absent field: its default, its children's defaults, or NULL. */
static json_t *absent_value(const struct policy_field *field, bool fill,
                            const struct policy_place *at, struct policy_problems *problems)
{
    if (field->flags & FIELD_REQUIRED)
        policy_problem_add(problems, at, "is missing");
    if (!fill || (field->flags & FIELD_OVERRIDES))
        return NULL;
    if (field->type == FIELD_OBJECT)
        return read_fields(field->children, NULL, true, at, problems);
    return policy_field_default(field);
}

static json_t *read_field(const struct policy_field *field, const json_t *value, bool fill,
                          const struct policy_place *at, struct policy_problems *problems)
{
    if (!value || json_is_null(value))
        return absent_value(field, fill, at, problems);
    size_t before = policy_problems_count(problems);
    json_t *result = read_value(field, value, fill, at, problems);
    if (field->type != FIELD_LIST && policy_problems_count(problems) == before)
        check_rules(field, result, at, problems);
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
                           const struct policy_place *at, struct policy_problems *problems)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) given, key, value) {
        const struct policy_place here = { .up = at, .kind = PLACE_FIELD, .name = key };
        if (!field_named(fields, key))
            policy_problem_add(problems, &here, "is not a field that this version of Ostler knows");
    }
}

/* Reads an object by its table. Empty objects are left out, because they mean the same as absent
 * ones. */
static json_t *read_fields(const struct policy_field *fields, const json_t *given, bool fill,
                           const struct policy_place *at, struct policy_problems *problems)
{
    json_t *object = json_object();
    for (const struct policy_field *f = fields; f->name; f++) {
        const struct policy_place here = { .up = at, .kind = PLACE_FIELD, .name = f->name };
        json_t *value = read_field(f, json_object_get(given, f->name), fill, &here, problems);
        if (f->type == FIELD_OBJECT && json_object_size(value) == 0) {
            json_decref(value);
            value = NULL;
        }
        if (value)
            json_object_set_new(object, f->name, value);
    }
    report_unknown(fields, given, at, problems);
    return object;
}

json_t *policy_spec_read(const json_t *given, struct policy_problems *problems)
{
    static const struct policy_field root = {
        .name = "spec",
        .type = FIELD_OBJECT,
        .children = policy_fields,
    };
    const struct policy_place at = { .kind = PLACE_FIELD, .name = root.name };
    json_t *spec = read_field(&root, given, true, &at, problems);
    return spec ? spec : json_object();
}
