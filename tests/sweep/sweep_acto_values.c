#include "tests/sweep/sweep_acto_values.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/sweep/sweep_acto_formats.h"

enum { LABEL_PREFIX_MAX = 253 };

#define ENTRY_KEY "example.com/acto"

static bool has_rules(const struct acto_field *f)
{
    return json_array_size(json_object_get(f->schema, "x-kubernetes-validations")) > 0;
}

static bool is_object(const struct acto_field *f)
{
    return str_eq(json_str(f->schema, "type"), "object");
}

/* A rule that looks at several fields may refuse what each of them takes. */
static enum acto_want softened(const struct acto_field *f, enum acto_want want)
{
    bool ruled = (f->above && is_object(f->above) && has_rules(f->above)) ||
                 (is_object(f) && has_rules(f));
    return want == ACTO_ACCEPTED && ruled ? ACTO_EITHER : want;
}

static void add(struct acto_values *v, const struct acto_field *f, enum acto_want want,
                json_t *value_steal)
{
    v->items = xreallocarray(v->items, v->len + 1, sizeof *v->items);
    v->items[v->len++] = (struct acto_value){ value_steal, softened(f, want) };
}

/* ---- texts */

/* What the format and the length say of a text; rules may still say no. */
static void add_text(struct acto_values *v, const struct acto_field *f, enum policy_format format,
                     enum acto_want want, const char *text)
{
    bool fits = policy_format_matches(format, text);
    add(v, f, fits ? want : ACTO_REFUSED, json_text(text));
}

static char *repeated(char c, size_t n)
{
    char *text = xcalloc(n + 1, 1);
    memset(text, c, n);
    return text;
}

static void add_durations(struct acto_values *v, const struct acto_field *f)
{
    long long min, max;
    if (!acto_format_range(f->schema, &min, &max))
        return;
    add(v, f, ACTO_ACCEPTED, json_textf("%llds", min));
    add(v, f, ACTO_ACCEPTED, json_textf("%llds", max > 999999 ? 999999 : max));
    add(v, f, ACTO_ACCEPTED,
        json_textf("%lldm%llds", max > 999999 ? max / 3600 : min / 60, min % 60));
    add(v, f, ACTO_ACCEPTED, json_textf("%lldh", max / 3600));
    add(v, f, min > 0 ? ACTO_REFUSED : ACTO_EITHER, json_textf("%lldms", min * 1000 - 1));
    add(v, f, ACTO_REFUSED, json_textf("%lldh1s", max / 3600));
}

static void add_texts(struct acto_values *v, const struct acto_field *f)
{
    enum policy_format format;
    if (!acto_format_of(f->schema, &format))
        return;
    for (const char *const *good = acto_format_goods(format); *good; good++)
        add_text(v, f, format, ACTO_ACCEPTED, *good);
    add_durations(v, f);
    size_t max = policy_format(format)->max_length;
    CLEANUP_FREE char *longest = repeated('a', max), *longer = repeated('a', max + 1),
                      *huge = repeated('a', 100 * 1000);
    add_text(v, f, format, ACTO_EITHER, longest);
    add_text(v, f, format, ACTO_EITHER, longer);
    add_text(v, f, format, ACTO_EITHER, huge);
    for (const char *const *bad = acto_hostile_texts(); *bad; bad++)
        add_text(v, f, format, ACTO_EITHER, *bad);
    /* in no pattern */
    add(v, f, policy_format(format)->pattern ? ACTO_REFUSED : ACTO_ACCEPTED,
        json_stringn("a\0b", 3));
}

/* ---- numbers */

static void add_numbers(struct acto_values *v, const struct acto_field *f)
{
    int64_t min = json_int(f->schema, "minimum", 0),
            max = json_int(f->schema, "maximum", INT64_MAX);
    add(v, f, ACTO_ACCEPTED, json_integer(min));
    add(v, f, ACTO_ACCEPTED, json_integer(min + 1));
    add(v, f, max < INT64_MAX ? ACTO_ACCEPTED : ACTO_EITHER, json_integer(max));
    add(v, f, ACTO_REFUSED, json_integer(min - 1));
    if (max < INT64_MAX)
        add(v, f, ACTO_REFUSED, json_integer(max + 1));
    add(v, f, max < INT64_MAX ? ACTO_REFUSED : ACTO_EITHER, json_integer(INT64_MAX));
    add(v, f, ACTO_REFUSED, json_integer(INT64_MIN));
    add(v, f, ACTO_REFUSED, json_real(1.5));
    add(v, f, ACTO_REFUSED, json_real(1e300));
}

/* ---- lists and maps */

/* A list of `n` different items, or of the same one `n` times. */
static json_t *list_of(const struct acto_field *f, size_t n, bool same)
{
    const struct acto_field item = { .path = xasprintf("%s[]", f->path),
                                     .schema = json_object_get(f->schema, "items"),
                                     .above = f };
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, acto_sample(&item, same ? 0 : i));
    free(item.path);
    return list;
}

static void add_lists(struct acto_values *v, const struct acto_field *f)
{
    bool atomic = str_eq(json_str(f->schema, "x-kubernetes-list-type"), "atomic");
    size_t max = (size_t) json_int(f->schema, "maxItems", 0);
    add(v, f, ACTO_ACCEPTED, json_array());
    add(v, f, ACTO_ACCEPTED, list_of(f, 1, false));
    add(v, f, ACTO_ACCEPTED, list_of(f, max, false));
    add(v, f, ACTO_REFUSED, list_of(f, max + 1, false));
    add(v, f, ACTO_REFUSED, list_of(f, 10000, true));
    add(v, f, atomic ? ACTO_EITHER : ACTO_REFUSED, list_of(f, 2, true));
    add(v, f, ACTO_EITHER, json_pack("[n]"));
    add(v, f, ACTO_REFUSED, json_pack("[[]]"));
    add(v, f, ACTO_REFUSED, json_pack("[i]", 7));
}

static json_t *map_of(size_t n)
{
    json_t *map = json_object();
    for (size_t i = 0; i < n; i++) {
        char key[64];
        snprintf(key, sizeof key, "example.com/k%zu", i);
        json_object_set_new(map, key, json_textf("v%zu", i));
    }
    return map;
}

/* A schema has no limit for the length of a map's keys but what their pattern says of the last
 * part; what is too long for a label is Ostler's to refuse. */
static enum acto_want want_of_key(const char *key)
{
    const char *slash = strchr(key, '/');
    bool long_prefix = slash && slash - key > LABEL_PREFIX_MAX;
    return long_prefix || policy_format_matches(FORMAT_LABEL_KEY, key) ? ACTO_EITHER : ACTO_REFUSED;
}

static void add_maps(struct acto_values *v, const struct acto_field *f)
{
    size_t max = (size_t) json_int(f->schema, "maxProperties", 0);
    int64_t min = json_int(f->schema, "minProperties", 0);
    add(v, f, min ? ACTO_REFUSED : ACTO_EITHER, json_object());
    add(v, f, ACTO_EITHER, map_of(1));
    add(v, f, ACTO_EITHER, map_of(max));
    add(v, f, ACTO_REFUSED, map_of(max + 1));
    add(v, f, ACTO_REFUSED, json_pack("{s:i}", ENTRY_KEY, 7));
    add(v, f, ACTO_REFUSED, json_pack("{s:{}}", ENTRY_KEY));
    add(v, f, ACTO_EITHER, json_pack("{s:n}", ENTRY_KEY));
    for (const char *const *good = acto_format_goods(FORMAT_LABEL_KEY); *good; good++)
        add(v, f, ACTO_EITHER, json_pack("{s:s}", *good, "acto"));
    for (const char *const *bad = acto_hostile_texts(); *bad; bad++) {
        json_t *map = json_object();
        json_object_set_new_nocheck(map, *bad, json_string("acto"));
        add(v, f, want_of_key(*bad), map);
    }
}

static void add_objects(struct acto_values *v, const struct acto_field *f)
{
    bool required = json_object_get(f->schema, "required") != NULL;
    add(v, f, required ? ACTO_REFUSED : ACTO_ACCEPTED, json_object());
    add(v, f, ACTO_ACCEPTED, acto_sample(f, 1));
    json_t *unknown = acto_sample(f, 2);
    json_object_set_new(unknown, ACTO_UNKNOWN, json_integer(1));
    add(v, f, ACTO_EITHER, unknown);
}

/* ---- all */

static void add_choices(struct acto_values *v, const struct acto_field *f)
{
    static const char *const others[] = { "", "acto", "AUTO", "none ", "\xe2\x80\x8bNone", "true" };
    size_t i;
    json_t *choice;
    json_array_foreach (json_object_get(f->schema, "enum"), i, choice)
        add(v, f, ACTO_ACCEPTED, json_incref(choice));
    for (i = 0; i < ARRAY_LEN(others); i++)
        add(v, f, ACTO_REFUSED, json_string(others[i]));
}

/* One value of each type that the field does not have. */
static void add_wrong_types(struct acto_values *v, const struct acto_field *f, const char *type)
{
    bool either = json_bool(f->schema, "x-kubernetes-int-or-string", false);
    if (!str_eq(type, "string") && !either)
        add(v, f, ACTO_REFUSED, json_string("acto"));
    if (!str_eq(type, "integer") && !either)
        add(v, f, ACTO_REFUSED, json_integer(7));
    if (!str_eq(type, "boolean"))
        add(v, f, ACTO_REFUSED, json_true());
    if (!str_eq(type, "array"))
        add(v, f, ACTO_REFUSED, json_array());
    if (!str_eq(type, "object"))
        add(v, f, ACTO_REFUSED, json_object());
    add(v, f, ACTO_EITHER, json_null());
}

void acto_values_make(const struct acto_field *f, struct acto_values *ret)
{
    *ret = (struct acto_values){ 0 };
    const char *type = json_str_or_empty(f->schema, "type");
    bool either = json_bool(f->schema, "x-kubernetes-int-or-string", false);
    if (json_object_get(f->schema, "enum"))
        add_choices(ret, f);
    else if (str_eq(type, "string") || either)
        add_texts(ret, f);
    if (str_eq(type, "integer") || either)
        add_numbers(ret, f);
    if (str_eq(type, "boolean")) {
        add(ret, f, ACTO_ACCEPTED, json_true());
        add(ret, f, ACTO_ACCEPTED, json_false());
    }
    if (str_eq(type, "array"))
        add_lists(ret, f);
    if (str_eq(type, "object") && json_object_get(f->schema, "additionalProperties"))
        add_maps(ret, f);
    else if (str_eq(type, "object"))
        add_objects(ret, f);
    add_wrong_types(ret, f, type);
}

void acto_values_clear(struct acto_values *v)
{
    for (size_t i = 0; i < v->len; i++)
        json_decref(v->items[i].value);
    free(v->items);
    *v = (struct acto_values){ 0 };
}
