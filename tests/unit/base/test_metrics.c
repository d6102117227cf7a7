#include "base/metrics.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "tests/unit/support/suite.h"

static const char *const one_label[] = { "l", NULL };
static const char *const code_method[] = { "code", "method", NULL };

static const struct metric_desc plain = { .name = "up",
                                          .help = "Whether it is up.",
                                          .kind = METRIC_GAUGE };
static const struct metric_desc requests = {
    .name = "requests_total", .help = "Requests.", .kind = METRIC_COUNTER, .labels = code_method
};

static void check_text(struct metrics *m, const char *want)
{
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 20);
    metrics_text(m, &out);
    assert_string_equal(buf_text(&out), want);
}

static void without_labels_starts_at_zero(void **state)
{
    (void) state;
    struct metrics *m = metrics_new(10);
    struct metric *up = metrics_add(m, &plain);
    check_text(m, "# HELP up Whether it is up.\n# TYPE up gauge\nup 0\n");
    metric_set(up, NULL, 1);
    metric_add(up, NULL, 1.5);
    check_text(m, "# HELP up Whether it is up.\n# TYPE up gauge\nup 2.5\n");
    metrics_free(m);
}

static void labels_make_series_in_order_of_appearance(void **state)
{
    (void) state;
    struct metrics *m = metrics_new(10);
    struct metric *r = metrics_add(m, &requests);
    check_text(m, "");
    metric_add(r, (const char *const[]){ "200", "GET" }, 1);
    metric_add(r, (const char *const[]){ "409", "PATCH" }, 0);
    metric_add(r, (const char *const[]){ "200", "GET" }, 2);
    check_text(m, "# HELP requests_total Requests.\n"
                  "# TYPE requests_total counter\n"
                  "requests_total{code=\"200\",method=\"GET\"} 3\n"
                  "requests_total{code=\"409\",method=\"PATCH\"} 0\n");
    metrics_free(m);
}

static void values_are_escaped(void **state)
{
    (void) state;
    static const struct metric_desc desc = {
        .name = "m", .help = "A\\b\nc \"d\"", .kind = METRIC_COUNTER, .labels = one_label
    };
    struct metrics *m = metrics_new(10);
    metric_add(metrics_add(m, &desc), (const char *const[]){ "a\"b\\c\nd" }, 1);
    check_text(m, "# HELP m A\\\\b\\nc \"d\"\n# TYPE m counter\nm{l=\"a\\\"b\\\\c\\nd\"} 1\n");
    metrics_free(m);
}

static void labels_that_join_to_the_same_text_stay_apart(void **state)
{
    (void) state;
    struct metrics *m = metrics_new(10);
    struct metric *r = metrics_add(m, &requests);
    metric_add(r, (const char *const[]){ "ab", "c" }, 1);
    metric_add(r, (const char *const[]){ "a", "bc" }, 2);
    check_text(m, "# HELP requests_total Requests.\n"
                  "# TYPE requests_total counter\n"
                  "requests_total{code=\"ab\",method=\"c\"} 1\n"
                  "requests_total{code=\"a\",method=\"bc\"} 2\n");
    metrics_free(m);
}

static void histograms_are_cumulative(void **state)
{
    (void) state;
    static const double bounds[] = { 0.005, 0.1, 1 };
    static const struct metric_desc desc = { .name = "t_seconds",
                                             .help = "Time.",
                                             .kind = METRIC_HISTOGRAM,
                                             .labels = one_label,
                                             .buckets = bounds,
                                             .bucket_count = ARRAY_LEN(bounds) };
    struct metrics *m = metrics_new(10);
    struct metric *t = metrics_add(m, &desc);
    static const double observed[] = { 0.001, 0.005, 0.5, 7 };
    for (size_t i = 0; i < ARRAY_LEN(observed); i++)
        metric_observe(t, (const char *const[]){ "x" }, observed[i]);
    check_text(m, "# HELP t_seconds Time.\n"
                  "# TYPE t_seconds histogram\n"
                  "t_seconds_bucket{l=\"x\",le=\"0.005\"} 2\n"
                  "t_seconds_bucket{l=\"x\",le=\"0.1\"} 2\n"
                  "t_seconds_bucket{l=\"x\",le=\"1\"} 3\n"
                  "t_seconds_bucket{l=\"x\",le=\"+Inf\"} 4\n"
                  "t_seconds_sum{l=\"x\"} 7.506\n"
                  "t_seconds_count{l=\"x\"} 4\n");
    metrics_free(m);
}

static void histograms_without_labels_have_only_le(void **state)
{
    (void) state;
    static const double bounds[] = { 1 };
    static const struct metric_desc desc = {
        .name = "t", .help = "T.", .kind = METRIC_HISTOGRAM, .buckets = bounds, .bucket_count = 1
    };
    struct metrics *m = metrics_new(10);
    metrics_add(m, &desc);
    check_text(m, "# HELP t T.\n# TYPE t histogram\nt_bucket{le=\"1\"} 0\nt_bucket{le=\"+Inf\"} "
                  "0\nt_sum 0\nt_count 0\n");
    metrics_free(m);
}

static void what_has_no_room_is_counted_as_other(void **state)
{
    (void) state;
    struct metrics *m = metrics_new(2);
    struct metric *r = metrics_add(m, &requests);
    static const char *const codes[] = { "1", "2", "3", "4", "1" };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        metric_add(r, (const char *const[]){ codes[i], "GET" }, 1);
    check_text(m, "# HELP requests_total Requests.\n"
                  "# TYPE requests_total counter\n"
                  "requests_total{code=\"1\",method=\"GET\"} 2\n"
                  "requests_total{code=\"2\",method=\"GET\"} 1\n"
                  "requests_total{code=\"other\",method=\"other\"} 2\n");
    metrics_free(m);
}

static void dropped_series_are_gone(void **state)
{
    (void) state;
    struct metrics *m = metrics_new(10);
    struct metric *r = metrics_add(m, &requests);
    static const char *const codes[] = { "1", "2", "3" };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        metric_add(r, (const char *const[]){ codes[i], "GET" }, 1);
    metric_drop(r, (const char *const[]){ "2", "GET" });
    metric_drop(r, (const char *const[]){ "9", "GET" });
    check_text(m, "# HELP requests_total Requests.\n"
                  "# TYPE requests_total counter\n"
                  "requests_total{code=\"1\",method=\"GET\"} 1\n"
                  "requests_total{code=\"3\",method=\"GET\"} 1\n");
    metric_drop(r, NULL);
    check_text(m, "");
    metrics_free(m);
}

static void long_values_are_cut_at_a_character(void **state)
{
    (void) state;
    static const struct metric_desc desc = {
        .name = "m", .help = "M.", .kind = METRIC_GAUGE, .labels = one_label
    };
    char value[400], want[400];
    /* the two bytes of "ä" are the 256th and 257th */
    snprintf(value, sizeof value, "%0255d\xc3\xa4rest", 0);
    snprintf(want, sizeof want, "# HELP m M.\n# TYPE m gauge\nm{l=\"%0255d\"} 2\n", 0);
    struct metrics *m = metrics_new(10);
    struct metric *g = metrics_add(m, &desc);
    metric_add(g, (const char *const[]){ value }, 1);
    metric_add(g, (const char *const[]){ value }, 1);
    check_text(m, want);
    metrics_free(m);
}

static const struct number {
    const char *name;
    double value;
    const char *text;
} numbers[] = {
    { "an integer has no fraction", 1234567, "1234567" },
    { "bytes of a large process", 12884901888., "12884901888" },
    { "a tenth is a tenth", 0.1, "0.1" },
    { "a third has all its digits", 1. / 3, "0.3333333333333333" },
    { "seconds since 1970", 1732150000.25, "1732150000.25" },
    { "small", 1e-8, "1e-08" },
    { "negative", -2.5, "-2.5" },
    { "not a number", NAN, "NaN" },
    { "infinite", INFINITY, "+Inf" },
    { "negative infinite", -INFINITY, "-Inf" },
};

static void check_number(void **state)
{
    const struct number *row = *state;
    struct metrics *m = metrics_new(10);
    metric_set(metrics_add(m, &plain), NULL, row->value);
    CLEANUP_FREE char *want = xasprintf("# HELP up Whether it is up.\n# TYPE up gauge\nup %s\n",
                                        row->text);
    check_text(m, want);
    metrics_free(m);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "without labels a value is there from the start", without_labels_starts_at_zero,
              NULL);
    suite_add(&s, "labels make series, in order of appearance",
              labels_make_series_in_order_of_appearance, NULL);
    suite_add(&s, "help and label values are escaped", values_are_escaped, NULL);
    suite_add(&s, "labels that join to the same text stay apart",
              labels_that_join_to_the_same_text_stay_apart, NULL);
    suite_add(&s, "a histogram's buckets are cumulative", histograms_are_cumulative, NULL);
    suite_add(&s, "a histogram without labels has only le", histograms_without_labels_have_only_le,
              NULL);
    suite_add(&s, "what has no room is counted under other", what_has_no_room_is_counted_as_other,
              NULL);
    suite_add(&s, "a dropped series is gone", dropped_series_are_gone, NULL);
    suite_add(&s, "a long label value is cut at a character", long_values_are_cut_at_a_character,
              NULL);
    SUITE_ROWS(&s, check_number, numbers);
    return suite_run(&s, "metrics");
}
