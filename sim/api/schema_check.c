/* Validates an object by the schema of a CustomResourceDefinition. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/cel.h"
#include "sim/api/pattern.h"
#include "sim/api/schema.h"
#include "sim/api/schema_tree.h"
#include "sim/api/validate.h"

/* What is being checked. */
struct check {
    struct refusal *r;
    size_t hidden; /* bytes of the place that messages omit: "status." for a write of the status */
    bool blocked;  /* an error prevents the check of the rules */
};

static void check_value(const struct schema *s, const struct spot *at, const json_t *before,
                        const json_t *value, struct check *c);

static const char *const type_words[] = {
    [SCHEMA_ANY] = "",
    [SCHEMA_OBJECT] = "object",
    [SCHEMA_ARRAY] = "array",
    [SCHEMA_STRING] = "string",
    [SCHEMA_INTEGER] = "integer",
    [SCHEMA_NUMBER] = "number",
    [SCHEMA_BOOLEAN] = "boolean",
    [SCHEMA_INT_OR_STRING] = "integer,string",
};

static const char *schema_check_word_of(const json_t *value)
{
    static const char *const words[] = {
        [JSON_OBJECT] = "object",   [JSON_ARRAY] = "array", [JSON_STRING] = "string",
        [JSON_INTEGER] = "integer", [JSON_REAL] = "number", [JSON_TRUE] = "boolean",
        [JSON_FALSE] = "boolean",   [JSON_NULL] = "null",
    };
    return words[json_typeof(value)];
}

/* "Invalid value: SHOWN: PLACE in body WHY". */
static void PRINTF(5, 6) invalid(struct check *c, const char *type, const struct spot *at,
                                 const char *shown, const char *why, ...)
{
    CLEANUP_FREE char *what = FORMATTED(why);
    CLEANUP_FREE char *place = spot_text(at);
    refuse_cause(c->r, type, place, "Invalid value: %s: %s in body %s", shown,
                 place + (strlen(place) > c->hidden ? c->hidden : 0), what);
}

/* A value as messages show it. Owned by the caller. */
static char *shown_of(const json_t *value)
{
    return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* "Invalid value: "WORD": PLACE in body must be of type TYPE: "WORD"". */
static void not_of_type(struct check *c, const struct spot *at, const char *word, const char *type)
{
    CLEANUP_FREE char *shown = xasprintf("\"%s\"", word);
    invalid(c, "FieldValueTypeInvalid", at, shown, "must be of type %s: %s", type, shown);
    c->blocked = true;
}

/* Whether a number with a point has nothing behind it and fits. */
static bool is_int64(const json_t *real)
{
    double number = json_real_value(real);
    return trunc(number) == number && fabs(number) < 0x1p63;
}

static void schema_check_wrong_type(const struct schema *s, const struct spot *at,
                                    const json_t *value, struct check *c)
{
    const char *format = s->type == SCHEMA_INTEGER ? json_key(s->source, "format") : NULL,
               *word = schema_check_word_of(value);
    CLEANUP_FREE char *place = spot_text(at);
    not_of_type(c, at, json_is_real(value) && format ? "float64" : word,
                json_is_real(value) && format ? format : type_words[s->type]);
    if (s->type == SCHEMA_INT_OR_STRING) {
        refuse_cause(c->r, "FieldValueInvalid", "<nil>",
                     "Invalid value: \"\": \"%s\" must validate at least one schema (anyOf)",
                     place);
        not_of_type(c, at, word, "integer");
    }
    if (json_is_real(value) && (s->type == SCHEMA_INTEGER || s->type == SCHEMA_INT_OR_STRING) &&
        !is_int64(value))
        refuse_cause(c->r, "FieldValueInvalid", "<nil>",
                     "Invalid value: \"\": Checked value must be of type integer %s%s%s in %s",
                     format ? "with format " : "(default format", format ? format : "",
                     format ? "" : ")", place);
}

static bool schema_check_fits(enum schema_type type, const json_t *value)
{
    bool is_number = type == SCHEMA_INTEGER || type == SCHEMA_INT_OR_STRING
                         ? schema_is_integer(value)
                         : json_is_number(value);
    const bool fits[] = {
        [SCHEMA_ANY] = true,
        [SCHEMA_OBJECT] = json_is_object(value),
        [SCHEMA_ARRAY] = json_is_array(value),
        [SCHEMA_STRING] = json_is_string(value),
        [SCHEMA_INTEGER] = is_number,
        [SCHEMA_NUMBER] = is_number,
        [SCHEMA_BOOLEAN] = json_is_boolean(value),
        [SCHEMA_INT_OR_STRING] = is_number || json_is_string(value),
    };
    return fits[type];
}

/* ---- scalars */

static void check_enum(const struct schema *s, const struct spot *at, const json_t *value,
                       struct check *c)
{
    const json_t *words = json_object_get(s->source, "enum");
    const char *list[64] = { NULL };
    size_t n = json_array_size(words);
    for (size_t i = 0; i < n && i + 1 < ARRAY_LEN(list); i++) {
        if (json_equal(json_array_get(words, i), value))
            return;
        list[i] = str_or_empty(json_string_value(json_array_get(words, i)));
    }
    if (n == 0)
        return;
    spot_not_supported(c->r, at, value, list);
    c->blocked = true;
}

static size_t characters(const json_t *text)
{
    size_t n = 0;
    for (size_t i = 0; i < json_string_length(text); i++)
        n += ((unsigned char) json_string_value(text)[i] & 0xc0) != 0x80;
    return n;
}

static void check_string(const struct schema *s, const struct spot *at, const json_t *value,
                         struct check *c)
{
    const char *text = json_string_value(value);
    CLEANUP_FREE char *shown = shown_of(value);
    int64_t max = json_int(s->source, "maxLength", INT64_MAX),
            min = json_int(s->source, "minLength", 0);
    int64_t length = (int64_t) characters(value);
    if (length > max) {
        spot_too_long(c->r, at, (size_t) max);
        c->blocked = true;
    } else if (length < min)
        invalid(c, "FieldValueInvalid", at, shown, "should be at least %lld chars long",
                (long long) min);
    else if (s->pattern && !pattern_matches(s->pattern, text, json_string_length(value)))
        invalid(c, "FieldValueInvalid", at, shown, "should match '%s'",
                json_key(s->source, "pattern"));
    if (str_eq(json_key(s->source, "format"), "date-time") && clock_parse_rfc3339(text) < 0) {
        invalid(c, "FieldValueTypeInvalid", at, shown, "must be of type date-time: %s", shown);
        c->blocked = true;
    }
}

static void check_number(const struct schema *s, const struct spot *at, const json_t *value,
                         struct check *c)
{
    const json_t *min = json_object_get(s->source, "minimum"),
                 *max = json_object_get(s->source, "maximum");
    double number = json_number_value(value);
    CLEANUP_FREE char *shown = shown_of(value);
    if (min && number < json_number_value(min))
        invalid(c, "FieldValueInvalid", at, shown, "should be greater than or equal to %.0f",
                json_number_value(min));
    if (max && number > json_number_value(max))
        invalid(c, "FieldValueInvalid", at, shown, "should be less than or equal to %.0f",
                json_number_value(max));
}

/* ---- objects and lists */

static void check_count(const struct schema *s, const char *min_key, const char *max_key,
                        const char *what, size_t count, const struct spot *at, struct check *c)
{
    int64_t min = json_int(s->source, min_key, 0), max = json_int(s->source, max_key, INT64_MAX);
    if ((int64_t) count < min) {
        CLEANUP_FREE char *shown = xasprintf("%zu", count);
        invalid(c, "FieldValueInvalid", at, shown, "should have at least %lld %s", (long long) min,
                what);
    }
    if ((int64_t) count > max) {
        CLEANUP_FREE char *place = spot_text(at);
        refuse_cause(c->r, "FieldValueTooMany", place,
                     "Too many: %zu: must have at most %lld items", count, (long long) max);
        c->blocked = true;
    }
}

static void check_object(const struct schema *s, const struct spot *at, const json_t *before,
                         const json_t *value, struct check *c)
{
    JSON_EACH_AT (i, name, json_object_get(s->source, "required")) {
        if (json_object_get(value, json_string_value(name)))
            continue;
        spot_required(c->r, SPOT(at, json_string_value(name)), "");
        c->blocked = true;
    }
    check_count(s, "minProperties", "maxProperties", "properties", json_object_size(value), at, c);
    JSON_EACH_MEMBER (key, member, value) {
        const struct schema *inner = map_get(&s->properties, key);
        inner = inner ? inner : s->additional;
        if (inner)
            check_value(inner, SPOT(at, key), json_object_get(before, key), member, c);
    }
}

/* The identity of an item: itself, or its keys. New reference. */
static json_t *identity_of(const json_t *item, const json_t *keys)
{
    if (!keys)
        return json_incref((json_t *) item);
    json_t *identity = json_object();
    JSON_EACH_AT (i, key, keys) {
        json_t *part = json_object_get(item, json_string_value(key));
        if (part)
            json_object_set(identity, json_string_value(key), part);
    }
    return identity;
}

static void check_unique(const struct schema *s, const struct spot *at, const json_t *list,
                         struct check *c)
{
    const char *how = json_str_or_empty(s->source, "x-kubernetes-list-type");
    if (!str_eq(how, "set") && !str_eq(how, "map"))
        return;
    const json_t *keys = json_object_get(s->source, "x-kubernetes-list-map-keys");
    CLEANUP_JSON json_t *seen = json_object();
    JSON_EACH_AT (i, item, list) {
        CLEANUP_JSON json_t *identity = identity_of(item, keys);
        if (!validate_first_value(seen, identity))
            spot_duplicate(c->r, SPOT_ITEM(at, i), identity, "");
    }
}

static void check_array(const struct schema *s, const struct spot *at, const json_t *before,
                        const json_t *value, struct check *c)
{
    check_count(s, "minItems", "maxItems", "items", json_array_size(value), at, c);
    JSON_EACH_AT (i, item, value) {
        if (s->items)
            check_value(s->items, SPOT_ITEM(at, i), json_array_get(before, i), item, c);
    }
    check_unique(s, at, value, c);
}

static void check_value(const struct schema *s, const struct spot *at, const json_t *before,
                        const json_t *value, struct check *c)
{
    if (value == before || (json_is_null(value) && s->nullable))
        return;
    if (!schema_check_fits(s->type, value)) {
        schema_check_wrong_type(s, at, value, c);
        return;
    }
    check_enum(s, at, value, c);
    if (json_is_object(value))
        check_object(s, at, before, value, c);
    else if (json_is_array(value))
        check_array(s, at, before, value, c);
    else if (json_is_string(value))
        check_string(s, at, value, c);
    else if (json_is_number(value))
        check_number(s, at, value, c);
}

bool schema_check(const struct schema *s, bool of_status, const json_t *before,
                  const json_t *object, struct refusal *r)
{
    struct check c = { .r = r, .hidden = of_status ? strlen("status.") : 0 };
    check_value(s, NULL, before, object, &c);
    return !c.blocked;
}

/* ---- rules */

static void add_broken(const struct spot *at, const char *shown, const char *why, struct refusal *r)
{
    CLEANUP_FREE char *place = at ? spot_text(at) : xstrdup("<nil>");
    refuse_cause(r, "FieldValueInvalid", place, "Invalid value: %s%s%s", shown, *shown ? ": " : "",
                 why);
}

static void check_rule(const struct schema_rule *rule, const struct spot *at, const json_t *value,
                       struct refusal *r)
{
    CLEANUP_ERR struct err e = { 0 };
    bool holds = false;
    if (cel_eval(rule->rule, value, &holds, &e) < 0) {
        CLEANUP_FREE char *type = xasprintf("\"%s\"", schema_check_word_of(value));
        CLEANUP_FREE char *why = xasprintf("%s evaluating rule: %s", err_msg(&e), rule->message);
        add_broken(at, type, why, r);
    } else if (!holds) {
        /* Objects and lists are not shown. */
        CLEANUP_FREE char *shown = json_is_object(value) || json_is_array(value) ? xstrdup("")
                                                                                 : shown_of(value);
        add_broken(at, shown, rule->message, r);
    }
}

void schema_check_rules(const struct schema *s, const struct spot *at, const json_t *before,
                        const json_t *value, struct refusal *r)
{
    if (value == before || json_is_null(value))
        return;
    for (size_t i = 0; i < s->rule_count; i++)
        check_rule(&s->rules[i], at, value, r);
    JSON_EACH_MEMBER (key, member, value) {
        const struct schema *inner = map_get(&s->properties, key);
        inner = inner ? inner : s->additional;
        if (inner)
            schema_check_rules(inner, SPOT(at, key), json_object_get(before, key), member, r);
    }
    JSON_EACH_AT (i, member, value) {
        if (s->items)
            schema_check_rules(s->items, SPOT_ITEM(at, i), json_array_get(before, i), member, r);
    }
}
