/* Metrics: a registry of counters, gauges and histograms with labels, and their Prometheus text
 * format. No I/O. */
#ifndef OSTLER_BASE_METRICS_H
#define OSTLER_BASE_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct metrics;
struct metric;

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* The description of one metric. The registry copies the struct; its text is static and outlives
 * the registry. */
struct metric_desc {
    const char *name;
    const char *help;
    enum metric_kind kind;
    const char *const *labels; /* label names, NULL-terminated; NULL: none */
    const double *buckets;     /* histograms: upper bounds, ascending, without +Inf */
    size_t bucket_count;
};

/* A registry; series_max limits the label combinations of one metric. All others count in one
 * series whose labels are "other". */
struct metrics *metrics_new(size_t series_max);
/* Frees the registry with its metrics. NULL has no effect. */
void metrics_free(struct metrics *m);
/* Adds a metric and copies its description; the registry owns the handle. A metric without
 * labels starts with the value 0. */
struct metric *metrics_add(struct metrics *m, const struct metric_desc *desc);
/* The same for a gauge. */
struct metric *metrics_gauge(struct metrics *m, const char *name, const char *help,
                             const char *const *labels);
/* The same for a counter. */
struct metric *metrics_counter(struct metrics *m, const char *name, const char *help,
                               const char *const *labels);
/* Counter or gauge += delta. `values` has one string per label (copied when new), or is NULL. */
void metric_add(struct metric *metric, const char *const *values, double delta);
/* Gauge, or a counter that other code counts, = value. */
void metric_set(struct metric *metric, const char *const *values, double value);
/* Histogram: one observation. */
void metric_observe(struct metric *metric, const char *const *values, double value);
/* Drops one series, or all if `values` is NULL, so that vanished objects are not reported for
 * ever. */
void metric_drop(struct metric *metric, const char *const *values);
/* Appends the text exposition format 0.0.4. */
void metrics_text(const struct metrics *m, struct buf *out);

#endif
