#include "sim/api/typed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/draft.h"
#include "sim/api/kind.h"
#include "sim/api/quantity.h"

/* More than a request may have. */
enum { PATH_MAX_BYTES = 8 << 20 };

/* Where the reader is: a chain on the stack. */
struct place {
    const struct place *up;
    const struct type *type; /* the struct whose field this is; NULL for an item */
    const char *key;         /* NULL for an item of a list */
    size_t index;
    const struct field *field;
};

static json_t *read_struct(const struct type *t, const struct place *at, const json_t *before,
                           const json_t *value, struct typed_problems *p);

/* "spec.containers[0].name"; without the numbers where `plain` is set, as the messages of the
 * decoder have it. */
static void add_path(struct buf *b, const struct place *at, bool plain)
{
    if (at->up)
        add_path(b, at->up, plain);
    if (at->key)
        buf_printf(b, "%s%s", b->len ? "." : "", at->key);
    else if (!plain)
        buf_printf(b, "[%zu]", at->index);
}

const char *typed_word(const json_t *value)
{
    static const char *const words[] = {
        [JSON_OBJECT] = "object",  [JSON_ARRAY] = "array", [JSON_STRING] = "string",
        [JSON_INTEGER] = "number", [JSON_REAL] = "number", [JSON_TRUE] = "bool",
        [JSON_FALSE] = "bool",     [JSON_NULL] = "null",
    };
    return words[json_typeof(value)];
}

static const char *const scalar_names[] = {
    [STRING] = "string",       [BYTES] = "[]uint8",
    [BOOL] = "bool",           [INT32] = "int32",
    [INT64] = "int64",         [TIME] = "string",
    [MICRO_TIME] = "string",   [QUANTITY] = "resource.Quantity",
    [INT_OR_STRING] = "int32", [FREE] = "object",
};

/* " 1.5": a number that does not fit is shown; "" where something else than a number was wanted.
 * Owned by the caller. */
static char *number_shown(const json_t *value, enum field_what what)
{
    bool wanted = what == INT32 || what == INT64 || what == INT_OR_STRING;
    if (wanted && json_is_integer(value))
        return xasprintf(" %" JSON_INTEGER_FORMAT, json_integer_value(value));
    return wanted && json_is_real(value) ? xasprintf(" %.6g", json_real_value(value)) : xstrdup("");
}

/* "[]v1.Taint", "map[string]string", "int32". Owned by the caller. */
static char *type_shown(const struct field *f, bool whole)
{
    enum field_what what = f->what & FIELD_WHAT;
    const char *many = whole && f->what & LIST_OF  ? "[]"
                       : whole && f->what & MAP_OF ? "map[string]"
                                                   : "";
    return xasprintf("%s%s%s", many, what == STRUCT ? "v1." : "",
                     what == STRUCT ? field_type(f)->name : scalar_names[what]);
}

/* Sets the problem and returns NULL. The struct that the message names is the innermost one;
 * `whole` where the list or map itself is meant. */
static json_t *typed_wrong_type(const struct place *at, const json_t *value, bool whole,
                                struct typed_problems *p)
{
    if (p->wrong_type)
        return NULL;
    CLEANUP_BUF struct buf path = BUF_INIT(PATH_MAX_BYTES);
    add_path(&path, at, true);
    const struct place *owner = at;
    while (!owner->type) {
        assert(owner->up); /* the outermost place is a struct */
        owner = owner->up;
    }
    CLEANUP_FREE char *number = whole ? xstrdup("")
                                      : number_shown(value, at->field->what & FIELD_WHAT);
    CLEANUP_FREE char *type = type_shown(at->field, whole);
    p->wrong_type = xasprintf("json: cannot unmarshal %s%s into Go struct field %s.%s of type %s",
                              typed_word(value), number, owner->type->name, buf_text(&path), type);
    return NULL;
}

/* ---- scalars */

static bool is_zero(const json_t *value)
{
    return json_is_false(value) || (json_is_integer(value) && json_integer_value(value) == 0) ||
           (json_is_string(value) && json_string_length(value) == 0);
}

/* "2026-11-20T10:00:00+01:00": times with an offset are kept as they are written. */
static bool has_offset(const char *text)
{
    size_t n = strlen(text);
    if (n < 7 || !strchr("+-", text[n - 6]) || text[n - 3] != ':')
        return false;
    CLEANUP_FREE char *utc = xasprintf("%.*sZ", (int) (n - 6), text);
    return clock_parse_rfc3339(utc) >= 0;
}

/* The invalid part of a time; NULL if it is valid. `ret_us` becomes -1 for a time with an offset.
 */
static const char *time_problem(const char *text, bool micro, int64_t *ret_us)
{
    const char *dot = strchr(text, '.'), *zone = text + strlen(text);
    *ret_us = clock_parse_rfc3339(text);
    if (*ret_us < 0 && !has_offset(text))
        return text;
    zone -= *ret_us < 0 ? 6 : 1;
    if (micro && !dot)
        return zone;
    return micro && zone - dot != 7 ? dot : NULL;
}

static json_t *typed_read_time(const struct place *at, bool micro, const json_t *value,
                               struct typed_problems *p)
{
    if (!json_is_string(value))
        return typed_wrong_type(at, value, false, p);
    const char *text = json_string_value(value);
    int64_t us;
    const char *rest = time_problem(text, micro, &us);
    if (rest) {
        if (!p->wrong_type)
            p->wrong_type = xasprintf("parsing time \"%s\" as \"2006-01-02T15:04:05%sZ07:00\": "
                                      "cannot parse \"%s\" as \"%s\"",
                                      text, micro ? ".000000" : "", rest,
                                      rest == text ? "2006" : ".000000");
        return NULL;
    }
    char out[CLOCK_TEXT_MAX];
    if (us < 0)
        return json_incref((json_t *) value);
    if (micro)
        clock_rfc3339_micro(us, out);
    else
        clock_rfc3339(us, out);
    return str_eq(out, text) ? json_incref((json_t *) value) : json_string(out);
}

static json_t *read_quantity(const struct place *at, const json_t *value, struct typed_problems *p)
{
    if (!json_is_string(value) && !json_is_number(value))
        return typed_wrong_type(at, value, false, p);
    CLEANUP_FREE char *said = json_is_string(value)
                                  ? xstrdup(json_string_value(value))
                                  : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    struct quantity quantity;
    if (!quantity_parse(said, &quantity)) {
        if (!p->wrong_type)
            p->wrong_type = xstrdup("quantities must match the regular expression "
                                    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
        return NULL;
    }
    CLEANUP_FREE char *text = quantity_text(&quantity);
    return json_is_string(value) && str_eq(text, said) ? json_incref((json_t *) value)
                                                       : json_string(text);
}

/* The place of the first invalid byte of a base64 text; -1 if there is none. */
static int bad_base64(const char *text)
{
    size_t n = strlen(text);
    size_t good = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    size_t padding = strspn(text + good, "=");
    if (good + padding < n || padding > 2)
        return (int) good;
    return n % 4 ? (int) n : -1;
}

static json_t *read_bytes(const struct place *at, const json_t *value, struct typed_problems *p)
{
    if (!json_is_string(value))
        return typed_wrong_type(at, value, false, p);
    int bad = bad_base64(json_string_value(value));
    if (bad < 0)
        return json_incref((json_t *) value);
    if (!p->wrong_type)
        p->wrong_type = xasprintf("illegal base64 data at input byte %d", bad);
    return NULL;
}

static bool is_int32(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= INT32_MIN &&
           json_integer_value(value) <= INT32_MAX;
}

/* A value of one of the simple types, checked. */
static bool typed_fits(enum field_what what, const json_t *value)
{
    if (what == STRING) /* C code that reads these texts stops at a NUL */
        return json_is_string(value) && json_is_whole(value);
    if (what == BOOL)
        return json_is_boolean(value);
    if (what == INT32 || what == INT_OR_STRING)
        return is_int32(value) || (what == INT_OR_STRING && json_is_string(value));
    return what == INT64 ? json_is_integer(value) : true;
}

static json_t *read_one(const struct place *at, const json_t *before, const json_t *value,
                        struct typed_problems *p)
{
    enum field_what what = at->field->what & FIELD_WHAT;
    if (what == STRUCT)
        return json_is_object(value) ? read_struct(field_type(at->field), at, before, value, p)
                                     : typed_wrong_type(at, value, false, p);
    if (what == TIME || what == MICRO_TIME)
        return typed_read_time(at, what == MICRO_TIME, value, p);
    if (what == QUANTITY)
        return read_quantity(at, value, p);
    if (what == BYTES)
        return read_bytes(at, value, p);
    return typed_fits(what, value) ? json_incref((json_t *) value)
                                   : typed_wrong_type(at, value, false, p);
}

/* ---- lists and maps */

/* The meaning of null among items. */
static json_t *zero_of(enum field_what what)
{
    static const char *const zeros[] = {
        [STRING] = "\"\"",    [BYTES] = "\"\"", [BOOL] = "false",
        [INT32] = "0",        [INT64] = "0",    [INT_OR_STRING] = "0",
        [QUANTITY] = "\"0\"", [STRUCT] = "{}",  [FIELD_WHAT] = NULL,
    };
    const char *zero = zeros[what] ? zeros[what] : "null";
    return json_loads(zero, JSON_DECODE_ANY, NULL);
}

static json_t *typed_read_item(const struct place *at, const json_t *before, const json_t *item,
                               struct typed_problems *p)
{
    enum field_what what = at->field->what & FIELD_WHAT;
    if (!json_is_null(item))
        return read_one(at, before, item, p);
    CLEANUP_JSON json_t *zero = zero_of(what);
    return what == STRUCT ? read_one(at, NULL, zero, p) : TAKE(zero);
}

static json_t *typed_read_list(const struct place *at, const json_t *before, const json_t *list,
                               struct typed_problems *p)
{
    if (!json_is_array(list))
        return typed_wrong_type(at, list, true, p);
    struct draft d = draft_of(list);
    JSON_EACH_AT (i, item, list) {
        const json_t *was = json_array_get(before, i);
        if (item == was)
            continue;
        struct place here = { .up = at, .index = i, .field = at->field };
        json_t *read = typed_read_item(&here, was, item, p);
        if (!read) {
            json_decref(draft_end(&d));
            return NULL;
        }
        draft_set_item(&d, i, read);
    }
    return draft_end(&d);
}

static json_t *read_map(const struct place *at, const json_t *before, const json_t *map,
                        struct typed_problems *p)
{
    if (!json_is_object(map))
        return typed_wrong_type(at, map, true, p);
    struct draft d = draft_of(map);
    JSON_EACH_MEMBER (key, item, map) {
        const json_t *was = json_object_get(before, key);
        if (item == was)
            continue;
        /* The decoder's messages do not name the key. */
        struct place here = { .up = at, .field = at->field };
        json_t *read = typed_read_item(&here, was, item, p);
        if (!read) {
            json_decref(draft_end(&d));
            return NULL;
        }
        draft_set(&d, key, read);
    }
    return draft_end(&d);
}

static bool typed_is_empty(const json_t *many)
{
    return json_array_size(many) == 0 && json_object_size(many) == 0;
}

/* ---- structs */

/* A field's value as it is read. NULL with `ret_drop` if it equals an absent one; NULL and a
 * problem if it is invalid. */
static json_t *read_field(const struct place *at, const json_t *before, const json_t *value,
                          bool *ret_drop, struct typed_problems *p)
{
    const struct field *f = at->field;
    *ret_drop = false;
    json_t *read = f->what & LIST_OF  ? typed_read_list(at, before, value, p)
                   : f->what & MAP_OF ? read_map(at, before, value, p)
                                      : read_one(at, before, value, p);
    if (!read)
        return NULL;
    *ret_drop = f->what & (LIST_OF | MAP_OF) ? typed_is_empty(read)
                                             : !(f->what & KEEP_ZERO) && is_zero(read);
    if (!*ret_drop)
        return read;
    json_decref(read);
    return NULL;
}

static void note_unknown(const struct place *at, struct typed_problems *p)
{
    CLEANUP_BUF struct buf path = BUF_INIT(PATH_MAX_BYTES);
    add_path(&path, at, false);
    if (!p->unknown)
        p->unknown = json_array();
    json_array_append_new(p->unknown, json_text(buf_text(&path)));
}

static json_t *constant(enum field_what what, const char *text)
{
    if (str_eq(text, "{}"))
        return json_object();
    if (str_eq(text, "null"))
        return json_null();
    if (str_eq(text, "true") || str_eq(text, "false"))
        return json_boolean(*text == 't');
    int64_t number;
    bool may_be_number = what == INT32 || what == INT64 || what == INT_OR_STRING;
    return may_be_number && str_parse_int(text, INT64_MIN, INT64_MAX, &number)
               ? json_integer(number)
               : json_string(text);
}

/* Defaults that depend on other fields come first: they see only what the object says. */
static void typed_fill_in(const struct type *t, struct draft *d, struct typed_problems *p)
{
    if (t->complete)
        t->complete(d);
    for (const struct field *f = t->fields; f->name; f++) {
        const char *name = type_texts + f->name;
        if (!f->fallback || draft_get(d, name))
            continue;
        json_t *value = constant(f->what & FIELD_WHAT, type_texts + f->fallback);
        if ((f->what & FIELD_WHAT) == STRUCT && json_is_object(value)) {
            draft_set(d, name, read_struct(field_type(f), NULL, NULL, value, p));
            json_decref(value);
        } else {
            draft_set(d, name, value);
        }
    }
}

static json_t *read_struct(const struct type *t, const struct place *at, const json_t *before,
                           const json_t *value, struct typed_problems *p)
{
    if (value == before)
        return json_incref((json_t *) value);
    struct draft d = draft_of(value);
    JSON_EACH_MEMBER (key, member, value) {
        const json_t *was = json_object_get(before, key);
        if (was == member)
            continue;
        struct place here = { .up = at, .type = t, .key = key, .field = type_field(t, key) };
        bool drop = true;
        json_t *read = NULL;
        if (!here.field)
            note_unknown(&here, p);
        else if (!json_is_null(member))
            read = read_field(&here, was, member, &drop, p);
        if (read == member)
            json_decref(read);
        else if (read)
            draft_set(&d, key, read);
        else if (drop)
            draft_drop(&d, key);
        else
            break;
    }
    if (!p->wrong_type)
        typed_fill_in(t, &d, p);
    json_t *result = draft_end(&d);
    if (!p->wrong_type)
        return result;
    json_decref(result);
    return NULL;
}

json_t *typed_read(const struct type *t, const json_t *before, const json_t *object,
                   struct typed_problems *problems)
{
    return read_struct(t, NULL, before, object, problems);
}

void typed_problems_clear(struct typed_problems *p)
{
    free(p->wrong_type);
    json_decref(p->unknown);
    *p = (struct typed_problems){ 0 };
}

/* ---- types */

const struct type *type_of_kind(const struct kind *k)
{
    for (size_t i = 0; i < kind_types_len; i++)
        if (str_eq(kind_types[i].type->name, k->kind) && str_eq(kind_types[i].group, k->group))
            return kind_types[i].type;
    return NULL;
}

const struct field *type_field(const struct type *t, const char *name)
{
    for (const struct field *f = t->fields; f->name; f++)
        if (str_eq(type_texts + f->name, name))
            return f;
    return NULL;
}

const struct type *field_type(const struct field *f)
{
    return &all_types[f->of];
}
