/* Cells of tables that several kinds have: ages, numbers, lists of names. */
#include "sim/api/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "sim/api/state.h"

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400, YEAR_DAYS = 365 };

/* The format of durations below a limit: a unit, and the rest in a smaller one. */
static const struct scale {
    int64_t below_s;
    int64_t unit_s;
    const char *unit;
    int64_t rest_s; /* 0: no rest */
    const char *rest;
} scales[] = {
    { 2 * MINUTE_S, 1, "s", 0, "" },
    { 10 * MINUTE_S, MINUTE_S, "m", 1, "s" },
    { 3 * HOUR_S, MINUTE_S, "m", 0, "" },
    { 8 * HOUR_S, HOUR_S, "h", MINUTE_S, "m" },
    { 2 * DAY_S, HOUR_S, "h", 0, "" },
    { 8 * DAY_S, DAY_S, "d", HOUR_S, "h" },
    { 2 * YEAR_DAYS * DAY_S, DAY_S, "d", 0, "" },
    { INT64_C(8) * YEAR_DAYS * DAY_S, YEAR_DAYS *DAY_S, "y", DAY_S, "d" },
    { INT64_MAX, YEAR_DAYS *DAY_S, "y", 0, "" },
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
        return xasprintf("%" PRId64 "%s%" PRId64 "%s", s / scale->unit_s, scale->unit, rest,
                         scale->rest);
    return xasprintf("%" PRId64 "%s", s / scale->unit_s, scale->unit);
}

char *table_age(const char *time, int64_t now_us)
{
    int64_t us = time ? clock_parse_rfc3339(time) : -1;
    return us < 0 ? xstrdup("<unknown>") : table_duration(now_us - us);
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

/* Compares what two requirements are of: "!key", "key", "key=value", "key in (values)". */
static int compare_keys(const char *a, const char *b)
{
    a += *a == '!';
    b += *b == '!';
    size_t m = strcspn(a, "= "), n = strcspn(b, "= ");
    int order = memcmp(a, b, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

/* Joins and frees the texts, sorted by key and place, with commas; `<none>` without texts. */
static json_t *sorted_text(char **texts, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && compare_keys(texts[j - 1], texts[j]) > 0; j--) {
            char *later = texts[j - 1];
            texts[j - 1] = texts[j];
            texts[j] = later;
        }
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    for (size_t i = 0; i < n; i++) {
        buf_printf(&out, "%s%s", i ? "," : "", texts[i]);
        free(texts[i]);
    }
    return json_text(n ? buf_text(&out) : "<none>");
}

static size_t table_cell_add_labels(char **texts, const json_t *labels)
{
    size_t n = 0;
    JSON_EACH_MEMBER (key, value, labels)
        texts[n++] = xasprintf("%s=%s", key, str_or_empty(json_string_value(value)));
    return n;
}

json_t *cell_labels(const struct cell *c)
{
    const json_t *labels = json_at(c->object, c->path);
    CLEANUP_FREE char **texts = xcalloc(json_object_size(labels) + 1, sizeof *texts);
    return sorted_text(texts, table_cell_add_labels(texts, labels));
}

/* "a,b": the values of an expression. Owned by the caller. */
static char *values_text(const json_t *values)
{
    CLEANUP_FREE char **texts = xcalloc(json_array_size(values) + 1, sizeof *texts);
    size_t n = 0;
    JSON_EACH_AT (i, value, values)
        texts[n++] = xstrdup(str_or_empty(json_string_value(value)));
    CLEANUP_JSON json_t *text = sorted_text(texts, n);
    return xstrdup(json_string_value(text));
}

/* "tier in (a,b)". Owned by the caller. */
static char *expression_text(const json_t *expression)
{
    const char *key = json_str_or_empty(expression, "key"),
               *operator= json_str_or_empty(expression, "operator");
    if (str_eq(operator, "Exists"))
        return xstrdup(key);
    if (str_eq(operator, "DoesNotExist"))
        return xasprintf("!%s", key);
    CLEANUP_FREE char *values = values_text(json_at(expression, "values"));
    return xasprintf("%s %s (%s)", key, str_eq(operator, "In") ? "in" : "notin", values);
}

json_t *cell_selector(const struct cell *c)
{
    const json_t *labels = json_at(json_at(c->object, c->path), "matchLabels");
    const json_t *expressions = json_at(json_at(c->object, c->path), "matchExpressions");
    CLEANUP_FREE char **texts = xcalloc(json_object_size(labels) + json_array_size(expressions) + 1,
                                        sizeof *texts);
    size_t n = table_cell_add_labels(texts, labels);
    JSON_EACH_AT (i, expression, expressions)
        texts[n++] = expression_text(expression);
    return sorted_text(texts, n);
}

/* ---- containers */

static json_t *joined(const struct cell *c, const char *key)
{
    CLEANUP_BUF struct buf out = BUF_INIT(API_TEXT_MAX);
    JSON_EACH_AT (i, container, json_at(c->object, c->path))
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
