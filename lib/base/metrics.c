#include "base/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

/* Longest label value kept, to bound the text's size. */
enum { VALUE_MAX = 256 };

/* One combination of label values. `value` is the value of a counter or gauge, or the sum of a
 * histogram. */
struct series {
    uint64_t hash;
    char **values;
    double value;
    uint64_t count;
    /* Observations per bucket, not cumulative; those above the last bound are only in `count`. */
    uint64_t *buckets;
};

struct metric {
    struct metric_desc desc;
    size_t label_count;
    size_t series_max;
    struct series *series;
    size_t len;
};

struct metrics {
    size_t series_max;
    struct metric **items;
    size_t len;
};

struct metrics *metrics_new(size_t series_max)
{
    struct metrics *m = xcalloc(1, sizeof *m);
    m->series_max = series_max;
    return m;
}

static void series_clear(const struct metric *metric, struct series *s)
{
    for (size_t i = 0; i < metric->label_count; i++)
        free(s->values[i]);
    free(s->values);
    free(s->buckets);
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->len; i++) {
        metric_drop(m->items[i], NULL);
        free(m->items[i]->series);
        free(m->items[i]);
    }
    free(m->items);
    free(m);
}

static size_t count_labels(const struct metric_desc *desc)
{
    size_t n = 0;
    while (desc->labels && desc->labels[n])
        n++;
    return n;
}

static uint64_t hash_values(const struct metric *metric, const char *const *values)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < metric->label_count; i++)
        hash = hash * 31 + str_hash(values[i], str_utf8_cut(values[i], VALUE_MAX));
    return hash;
}

static bool values_equal(const struct metric *metric, const struct series *s,
                         const char *const *values)
{
    for (size_t i = 0; i < metric->label_count; i++) {
        size_t n = str_utf8_cut(values[i], VALUE_MAX);
        if (strlen(s->values[i]) != n || memcmp(s->values[i], values[i], n) != 0)
            return false;
    }
    return true;
}

static struct series *metrics_find(const struct metric *metric, const char *const *values)
{
    uint64_t hash = hash_values(metric, values);
    for (size_t i = 0; i < metric->len; i++) {
        struct series *s = &metric->series[i];
        if (s->hash == hash && values_equal(metric, s, values))
            return s;
    }
    return NULL;
}

static struct series *append(struct metric *metric, const char *const *values)
{
    metric->series = xreallocarray(metric->series, metric->len + 1, sizeof *metric->series);
    struct series *s = &metric->series[metric->len++];
    *s = (struct series){ .hash = hash_values(metric, values) };
    s->values = xcalloc(metric->label_count, sizeof *s->values);
    for (size_t i = 0; i < metric->label_count; i++)
        s->values[i] = xstrndup(values[i], str_utf8_cut(values[i], VALUE_MAX));
    if (metric->desc.kind == METRIC_HISTOGRAM)
        s->buckets = xcalloc(metric->desc.bucket_count, sizeof *s->buckets);
    return s;
}

/* The overflow series. */
static struct series *other(struct metric *metric)
{
    const char **values = xcalloc(metric->label_count, sizeof *values);
    for (size_t i = 0; i < metric->label_count; i++)
        values[i] = "other";
    struct series *s = metrics_find(metric, values);
    if (!s)
        s = append(metric, values);
    free(values);
    return s;
}

static struct series *get(struct metric *metric, const char *const *values)
{
    struct series *s = metrics_find(metric, values);
    if (s)
        return s;
    return metric->len < metric->series_max || metric->label_count == 0 ? append(metric, values)
                                                                        : other(metric);
}

struct metric *metrics_add(struct metrics *m, const struct metric_desc *desc)
{
    struct metric *metric = xcalloc(1, sizeof *metric);
    *metric = (struct metric){ .desc = *desc,
                               .label_count = count_labels(desc),
                               .series_max = m->series_max };
    m->items = xreallocarray(m->items, m->len + 1, sizeof *m->items);
    m->items[m->len++] = metric;
    if (metric->label_count == 0)
        append(metric, NULL); /* without labels the value starts at 0 */
    return metric;
}

struct metric *metrics_gauge(struct metrics *m, const char *name, const char *help,
                             const char *const *labels)
{
    return metrics_add(m, &(struct metric_desc){ name, help, METRIC_GAUGE, labels, NULL, 0 });
}

struct metric *metrics_counter(struct metrics *m, const char *name, const char *help,
                               const char *const *labels)
{
    return metrics_add(m, &(struct metric_desc){ name, help, METRIC_COUNTER, labels, NULL, 0 });
}

void metric_add(struct metric *metric, const char *const *values, double delta)
{
    assert(metric->desc.kind != METRIC_HISTOGRAM);
    get(metric, values)->value += delta;
}

void metric_set(struct metric *metric, const char *const *values, double value)
{
    assert(metric->desc.kind != METRIC_HISTOGRAM);
    get(metric, values)->value = value;
}

void metric_observe(struct metric *metric, const char *const *values, double value)
{
    const struct metric_desc *desc = &metric->desc;
    assert(desc->kind == METRIC_HISTOGRAM);
    struct series *s = get(metric, values);
    s->value += value;
    s->count++;
    for (size_t i = 0; i < desc->bucket_count; i++) {
        if (value <= desc->buckets[i]) {
            s->buckets[i]++;
            return;
        }
    }
}

void metric_drop(struct metric *metric, const char *const *values)
{
    if (!values) {
        for (size_t i = 0; i < metric->len; i++)
            series_clear(metric, &metric->series[i]);
        metric->len = 0;
        return;
    }
    struct series *s = metrics_find(metric, values);
    if (!s)
        return;
    series_clear(metric, s);
    size_t after = metric->len - (size_t) (s - metric->series) - 1;
    memmove(s, s + 1, after * sizeof *s);
    metric->len--;
}

/* Appends text with a backslash before some characters. */
static void text_escaped(struct buf *out, const char *s, const char *specials)
{
    while (*s) {
        size_t n = strcspn(s, specials);
        buf_printf(out, "%.*s", (int) n, s);
        s += n;
        if (*s)
            buf_printf(out, "\\%c", *s == '\n' ? 'n' : *s);
        s += *s != '\0';
    }
}

/* The shortest text that parses to the same number. */
static void text_number(struct buf *out, double v)
{
    if (isnan(v) || isinf(v)) {
        buf_str(out, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_str(out, text);
}

/* A line up to its value: name{labels,le="…"}; `le` is NULL except in a histogram's buckets. */
static void text_name(struct buf *out, const struct metric *metric, const struct series *s,
                      const char *suffix, const char *le)
{
    buf_printf(out, "%s%s", metric->desc.name, suffix);
    char separator = '{';
    for (size_t i = 0; i < metric->label_count; i++) {
        buf_printf(out, "%c%s=\"", separator, metric->desc.labels[i]);
        text_escaped(out, s->values[i], "\\\"\n");
        buf_str(out, "\"");
        separator = ',';
    }
    if (le)
        buf_printf(out, "%cle=\"%s\"", separator, le);
    buf_str(out, metric->label_count || le ? "} " : " ");
}

static void text_line(struct buf *out, const struct metric *metric, const struct series *s,
                      const char *suffix, const char *le, double value)
{
    text_name(out, metric, s, suffix, le);
    text_number(out, value);
    buf_str(out, "\n");
}

static void text_histogram(struct buf *out, const struct metric *metric, const struct series *s)
{
    uint64_t below = 0;
    for (size_t i = 0; i < metric->desc.bucket_count; i++) {
        CLEANUP_BUF struct buf bound = BUF_INIT(64);
        text_number(&bound, metric->desc.buckets[i]);
        below += s->buckets[i];
        text_line(out, metric, s, "_bucket", buf_text(&bound), (double) below);
    }
    text_line(out, metric, s, "_bucket", "+Inf", (double) s->count);
    text_line(out, metric, s, "_sum", NULL, s->value);
    text_line(out, metric, s, "_count", NULL, (double) s->count);
}

static void text_metric(struct buf *out, const struct metric *metric)
{
    static const char *const types[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"
    };
    const struct metric_desc *desc = &metric->desc;
    if (metric->len == 0)
        return;
    buf_printf(out, "# HELP %s ", desc->name);
    text_escaped(out, desc->help, "\\\n");
    buf_printf(out, "\n# TYPE %s %s\n", desc->name, types[desc->kind]);
    for (size_t i = 0; i < metric->len; i++) {
        const struct series *s = &metric->series[i];
        if (desc->kind == METRIC_HISTOGRAM)
            text_histogram(out, metric, s);
        else
            text_line(out, metric, s, "", NULL, s->value);
    }
}

void metrics_text(const struct metrics *m, struct buf *out)
{
    for (size_t i = 0; i < m->len; i++)
        text_metric(out, m->items[i]);
}
