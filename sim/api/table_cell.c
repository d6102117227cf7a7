#include "sim/api/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/state.h"

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400, YEAR_DAYS = 365 };

/* How a duration is told up to a limit: in a unit, with the rest in a smaller one. */
static const struct scale {
    int64_t below_s;
    int64_t unit_s;
    const char *unit;
    int64_t rest_s;   /* 0: no rest */
    const char *rest;
} scales[] = {
    { 2 * MINUTE_S, 1, "s", 0, "" },
    { 10 * MINUTE_S, MINUTE_S, "m", 1, "s" },
    { 3 * HOUR_S, MINUTE_S, "m", 0, "" },
    { 8 * HOUR_S, HOUR_S, "h", MINUTE_S, "m" },
    { 2 * DAY_S, HOUR_S, "h", 0, "" },
    { 8 * DAY_S, DAY_S, "d", HOUR_S, "h" },
    { 2 * YEAR_DAYS * DAY_S, DAY_S, "d", 0, "" },
    { INT64_C(8) * YEAR_DAYS * DAY_S, YEAR_DAYS * DAY_S, "y", DAY_S, "d" },
    { INT64_MAX, YEAR_DAYS * DAY_S, "y", 0, "" },
};

char *table_duration(int64_t us)
{
    int64_t s = us / 1000000;
    if (s < -1)
        return xstrdup("<invalid>");
    if (s < 0)
        return xstrdup("0s");
    const struct scale *scale = scales;
    while (s >= scale->below_s)
        scale++;
    int64_t rest = scale->rest_s ? s % scale->unit_s / scale->rest_s : 0;
    if (rest)
        return xasprintf("%" PRId64 "%s%" PRId64 "%s", s / scale->unit_s, scale->unit, rest, scale->rest);
    return xasprintf("%" PRId64 "%s", s / scale->unit_s, scale->unit);
}

char *table_age(const char *time, int64_t now_us)
{
    int64_t us = time ? clock_parse_rfc3339(time) : -1;
    return us < 0 ? xstrdup("<unknown>") : table_duration(now_us - us);
}

char *table_lower(const char *text)
{
    char *lower = xstrdup(text);
    for (char *c = lower; *c; c++)
        *c = (char) tolower((unsigned char) *c);
    return lower;
}

json_t *cell_text(const struct cell *c)
{
    const char *text = json_str_or_empty(c->object, c->path);
    return json_text(*text ? text : str_or_empty(c->empty));
}

json_t *cell_integer(const struct cell *c)
{
    return json_integer(json_int(c->object, c->path, 0));
}

json_t *cell_boolean(const struct cell *c)
{
    return json_boolean(json_bool(c->object, c->path, false));
}

json_t *cell_age(const struct cell *c)
{
    CLEANUP_FREE char *age = table_age(json_str(c->object, c->path), c->now_us);
    return json_text(age);
}

/* ---- labels and selectors */

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void add_labels(struct buf *out, const json_t *labels)
{
    size_t n = 0;
    CLEANUP_FREE const char **keys = xcalloc(json_object_size(labels) + 1, sizeof *keys);
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) labels, key, value)
        keys[n++] = key;
    qsort(keys, n, sizeof *keys, by_key);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s=%s", out->len ? "," : "", keys[i], str_or_empty(json_key(labels, keys[i])));
}

static json_t *text_or_none(struct buf *text)
{
    return json_text(text->len ? buf_text(text) : "<none>");
}

json_t *cell_labels(const struct cell *c)
{
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    add_labels(&out, json_at(c->object, c->path));
    return text_or_none(&out);
}

static void add_values(struct buf *out, const json_t *values)
{
    size_t i;
    json_t *value;
    buf_str(out, "(");
    json_array_foreach (values, i, value)
        buf_printf(out, "%s%s", i ? "," : "", str_or_empty(json_string_value(value)));
    buf_str(out, ")");
}

static void add_expression(struct buf *out, const json_t *expression)
{
    const char *key = json_str_or_empty(expression, "key"), *operator = json_str_or_empty(expression, "operator");
    if (out->len)
        buf_str(out, ",");
    if (str_eq(operator, "Exists") || str_eq(operator, "DoesNotExist")) {
        buf_printf(out, "%s%s", str_eq(operator, "Exists") ? "" : "!", key);
        return;
    }
    buf_printf(out, "%s %s ", key, str_eq(operator, "In") ? "in" : "notin");
    add_values(out, json_at(expression, "values"));
}

json_t *cell_selector(const struct cell *c)
{
    const json_t *selector = json_at(c->object, c->path);
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    add_labels(&out, json_at(selector, "matchLabels"));
    size_t i;
    json_t *expression;
    json_array_foreach (json_at(selector, "matchExpressions"), i, expression)
        add_expression(&out, expression);
    return text_or_none(&out);
}

/* ---- containers */

static json_t *joined(const struct cell *c, const char *key)
{
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    size_t i;
    json_t *container;
    json_array_foreach (json_at(c->object, c->path), i, container)
        buf_printf(&out, "%s%s", i ? "," : "", json_str_or_empty(container, key));
    return json_text(buf_text(&out));
}

json_t *cell_containers(const struct cell *c)
{
    return joined(c, "name");
}

json_t *cell_images(const struct cell *c)
{
    return joined(c, "image");
}
