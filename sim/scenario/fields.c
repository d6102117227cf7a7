#include "sim/scenario/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/actors/world_spec.h"

/* A value in the document, and where it is stored. */
struct slot {
    const struct field *field;
    const struct field_context *context;
    const json_t *value;
    const char *path; /* of the struct */
    void *into;       /* the struct */
    void *to;
    struct err *e;
};

static int wrong(const struct slot *s, const char *what)
{
    return err_set(s->e, ERR_INVALID, "%s%s%s: %s", s->path, *s->path ? "." : "", s->field->key,
                   what);
}

/* A value of the wrong type, or one that is stored as it is. */
static int read_json(const struct slot *s, bool right, const char *what)
{
    *(const json_t **) s->to = s->value;
    return right ? 0 : wrong(s, what);
}

static int read_text(const struct slot *s)
{
    const char *text = json_string_value(s->value);
    if (!text || !*text)
        return wrong(s, "must be text that is not empty");
    *(const char **) s->to = text;
    return 0;
}

static int read_bool(const struct slot *s)
{
    if (!json_is_boolean(s->value))
        return wrong(s, "must be true or false");
    *(bool *) s->to = json_is_true(s->value);
    return 0;
}

static int fields_read_number(const struct slot *s, int64_t max, int64_t *ret)
{
    if (!json_is_integer(s->value) || json_integer_value(s->value) < 0 ||
        json_integer_value(s->value) > max)
        return wrong(s, "must be an integer of at least 0");
    *ret = json_integer_value(s->value);
    return 0;
}

static int read_int(const struct slot *s)
{
    int64_t number = 0;
    if (fields_read_number(s, INT32_MAX, &number) < 0)
        return -1;
    *(int *) s->to = (int) number;
    return 0;
}

static int read_int64(const struct slot *s)
{
    return fields_read_number(s, INT64_MAX, s->to);
}

static int read_duration(const struct slot *s)
{
    const char *text = json_string_value(s->value);
    return text && str_parse_duration(text, s->to)
               ? 0
               : wrong(s, "must be a duration, as \"90s\" or \"1h30m\"");
}

static int fields_read_time(const struct slot *s)
{
    const char *text = json_string_value(s->value);
    int64_t us = text ? clock_parse_rfc3339(text) : -1;
    *(int64_t *) s->to = us;
    return us < 0 ? wrong(s, "must be a time, as \"2026-11-20T10:00:00Z\", in quotes") : 0;
}

static int read_delay(const struct slot *s)
{
    struct spec_delay *d = s->to;
    const char *text = json_string_value(s->value), *dots = text ? strstr(text, "..") : NULL;
    CLEANUP_FREE char *low = text ? xstrndup(text, dots ? (size_t) (dots - text) : strlen(text))
                                  : NULL;
    bool read = low && str_parse_duration(low, &d->low_ms) &&
                str_parse_duration(dots ? dots + 2 : low, &d->high_ms);
    return read && d->low_ms <= d->high_ms
               ? 0
               : wrong(s, "must be a duration (\"90s\") or a span of them (\"10s..2m\")");
}

static int fields_read_object(const struct slot *s)
{
    return read_json(s, json_is_object(s->value), "must be an object");
}

static int fields_read_list_now(const struct slot *s)
{
    return read_json(s, json_is_array(s->value), "must be a list");
}

static int read_choice(const struct slot *s)
{
    CLEANUP_BUF struct buf all = BUF_INIT(4096);
    for (int i = 0; s->field->choices[i]; i++) {
        if (str_eq(s->field->choices[i], json_string_value(s->value))) {
            *(int *) s->to = i;
            return 0;
        }
        buf_printf(&all, "%s%s", i ? ", " : "must be one of ", s->field->choices[i]);
    }
    return wrong(s, buf_text(&all));
}

static int read_shape(const struct slot *s)
{
    for (size_t i = 0; i < s->context->shape_count; i++) {
        if (str_eq(s->context->shapes[i].name, json_string_value(s->value))) {
            *(const struct spec_shape **) s->to = &s->context->shapes[i];
            return 0;
        }
    }
    return wrong(s, "must be the name of one of the shapes");
}

static char *path_of(const struct slot *s)
{
    return xasprintf("%s%s%s", s->path, *s->path ? "." : "", s->field->key);
}

static int read_part(const struct slot *s)
{
    CLEANUP_FREE char *path = path_of(s);
    return fields_read(s->field->fields, s->context, s->value, path, s->to, s->e);
}

static int read_rows(const struct slot *s)
{
    CLEANUP_FREE char *path = path_of(s);
    return fields_read_list(s->field->fields, s->context, s->value, path, s->field->size, s->to,
                            (size_t *) ((char *) s->into + s->field->count), s->e);
}

static int read_nothing(const struct slot *s)
{
    (void) s;
    return 0;
}

static int (*const readers[])(const struct slot *s) = {
    [FIELD_TEXT] = read_text,
    [FIELD_BOOL] = read_bool,
    [FIELD_INT] = read_int,
    [FIELD_INT64] = read_int64,
    [FIELD_DURATION] = read_duration,
    [FIELD_TIME] = fields_read_time,
    [FIELD_DELAY] = read_delay,
    [FIELD_OBJECT] = fields_read_object,
    [FIELD_LIST] = fields_read_list_now,
    [FIELD_CHOICE] = read_choice,
    [FIELD_SHAPE] = read_shape,
    [FIELD_PART] = read_part,
    [FIELD_ROWS] = read_rows,
    [FIELD_IGNORED] = read_nothing,
};

static const struct field *fields_find(const struct field *fields, const char *key)
{
    for (; fields->key; fields++)
        if (str_eq(fields->key, key))
            return fields;
    return NULL;
}

static int unknown(const struct field *fields, const char *path, const char *key, struct err *e)
{
    CLEANUP_BUF struct buf all = BUF_INIT(4096);
    for (const struct field *f = fields; f->key; f++)
        buf_printf(&all, "%s%s", f == fields ? "" : ", ", f->key);
    return err_set(e, ERR_INVALID, "%s%s%s: unknown; allowed here: %s", path, *path ? "." : "", key,
                   buf_text(&all));
}

int fields_read(const struct field *fields, const struct field_context *c, const json_t *object,
                const char *path, void *into, struct err *e)
{
    if (!json_is_object(object))
        return err_set(e, ERR_INVALID, "%s: must be an object", path);
    JSON_EACH_MEMBER (key, value, object) {
        const struct field *f = fields_find(fields, key);
        if (!f)
            return unknown(fields, path, key, e);
        const struct slot slot = { .field = f,
                                   .context = c,
                                   .value = value,
                                   .path = path,
                                   .into = into,
                                   .to = (char *) into + f->offset,
                                   .e = e };
        if (readers[f->type](&slot) < 0)
            return -1;
    }
    for (const struct field *f = fields; f->key; f++)
        if (f->required && !json_object_get(object, f->key))
            return err_set(e, ERR_INVALID, "%s%s%s: is missing", path, *path ? "." : "", f->key);
    return 0;
}

int fields_read_list(const struct field *fields, const struct field_context *c, const json_t *list,
                     const char *path, size_t size, const void **ret, size_t *ret_len,
                     struct err *e)
{
    if (list && !json_is_array(list))
        return err_set(e, ERR_INVALID, "%s: must be a list", path);
    size_t n = json_array_size(list);
    char *rows = arena_alloc(c->arena, (n ? n : 1) * size);
    *ret = rows;
    *ret_len = n;
    for (size_t i = 0; i < n; i++) {
        CLEANUP_FREE char *at = xasprintf("%s[%zu]", path, i);
        if (fields_read(fields, c, json_array_get(list, i), at, rows + i * size, e) < 0)
            return -1;
    }
    return 0;
}
