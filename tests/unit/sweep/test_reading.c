#include "tests/sweep/reading.h"

#include <string.h>

#include "tests/unit/support/suite.h"

static json_t *parsed(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);
    assert_non_null(value);
    return value;
}

/* ---- limits */

static const struct limit_row {
    const char *name, *rollout, *field;
    size_t total, limit;
} limit_rows[] = {
    { "a number is that number", "{\"maxParallel\": 3}", "maxParallel", 10, 3 },
    { "a percentage is of all nodes", "{\"maxParallel\": \"50%\"}", "maxParallel", 10, 5 },
    { "a percentage is rounded up", "{\"maxParallel\": \"50%\"}", "maxParallel", 5, 3 },
    { "a percentage of nothing is nothing", "{\"maxParallel\": \"50%\"}", "maxParallel", 0, 0 },
    { "one node at a time is the default", "{}", "maxParallel", 10, 1 },
    { "a quarter out of service is the default", "{}", "maxUnavailable", 5, 2 },
    { "GPUs have no limit by default", "{}", "maxUnavailableGpus", 64, SIZE_MAX },
    { "one failure ends a rollout by default", "{}", "failureThreshold", 10, 1 },
};

static void check_limit(void **state)
{
    const struct limit_row *row = *state;
    char text[256];
    snprintf(text, sizeof text, "{\"spec\": {\"rollout\": %s}}", row->rollout);
    json_t *policy = parsed(text);
    assert_int_equal(reading_limit(policy, row->field, row->total), row->limit);
    json_decref(policy);
}

/* ---- durations */

static const struct brake_row {
    const char *name, *brake;
    size_t total, nodes;
    int64_t window_ms;
} brake_rows[] = {
    { "a brake by default, of few nodes", "{}", 4, 2, 600000 },
    { "a brake by default, of many nodes", "{}", 31, 7, 600000 },
    { "a brake of a number", "{\"maxNodes\": 3, \"floor\": 1, \"window\": \"2m\"}", 100, 3,
      120000 },
    { "a brake of a percentage, with a floor", "{\"maxNodes\": \"1%\", \"floor\": 5}", 101, 5,
      600000 },
    { "a brake without a floor", "{\"maxNodes\": \"1%\", \"floor\": 0}", 101, 2, 600000 },
};

static void check_brake_row(void **state)
{
    const struct brake_row *row = *state;
    char text[256];
    snprintf(text, sizeof text, "{\"spec\": {\"health\": {\"brake\": %s}}}", row->brake);
    json_t *policy = parsed(text);
    assert_int_equal(reading_brake_nodes(policy, row->total), row->nodes);
    assert_int_equal(reading_brake_window_ms(policy), row->window_ms);
    json_decref(policy);
}

static const struct duration_row {
    const char *name, *text;
    int64_t ms;
} duration_rows[] = {
    { "seconds", "20s", 20000 },
    { "hours and minutes", "1h30m", 5400000 },
    { "milliseconds are no minutes", "500ms", 500 },
    { "nothing at all", "0s", 0 },
    { "no unit", "15", -1 },
    { "no number", "m", -1 },
    { "an unknown unit", "1y", -1 },
    { "an empty text", "", -1 },
};

static void check_duration(void **state)
{
    const struct duration_row *row = *state;
    assert_int_equal(reading_duration_ms(row->text), row->ms);
}

/* ---- windows; 1800000000 is Friday, 2027-01-15T08:00:00Z */

static const struct window_row {
    const char *name, *windows;
    int64_t at_s;
    bool open;
} window_rows[] = {
    { "without a window it is always open", "[]", 1800000000, true },
    { "at its first minute", "[{\"schedule\": \"0 8 * * *\", \"duration\": \"1h\"}]", 1800000000,
      true },
    { "before its first minute", "[{\"schedule\": \"0 8 * * *\", \"duration\": \"1h\"}]",
      1799999999, false },
    { "in its last second", "[{\"schedule\": \"0 8 * * *\", \"duration\": \"1h\"}]", 1800003599,
      true },
    { "after its last second", "[{\"schedule\": \"0 8 * * *\", \"duration\": \"1h\"}]", 1800003600,
      false },
    { "on its day of the week", "[{\"schedule\": \"0 8 * * 5\", \"duration\": \"1h\"}]", 1800000000,
      true },
    { "on another day of the week", "[{\"schedule\": \"0 8 * * 6\", \"duration\": \"1h\"}]",
      1800000000, false },
    { "in its month, by a range", "[{\"schedule\": \"0 8 * 1-3 *\", \"duration\": \"1h\"}]",
      1800000000, true },
    { "by a step", "[{\"schedule\": \"0 */4 * * *\", \"duration\": \"1m\"}]", 1800000000, true },
    { "by the clock of its zone",
      "[{\"schedule\": \"0 17 * * *\", \"duration\": \"1m\", \"timeZone\": \"Asia/Tokyo\"}]",
      1800000000, true },
    { "the second of two",
      "[{\"schedule\": \"0 1 * * *\", \"duration\": \"1m\"}, {\"schedule\": \"0 8 * * *\", "
      "\"duration\": "
      "\"1m\"}]",
      1800000000, true },
    /* 2027-03-28T01:00:00Z: in Berlin 2:00 becomes 3:00. */
    { "right after the hour that is skipped",
      "[{\"schedule\": \"30 2 * * *\", \"duration\": \"5m\", \"timeZone\": \"Europe/Berlin\"}]",
      1806195600, true },
    { "before the hour that is skipped",
      "[{\"schedule\": \"30 2 * * *\", \"duration\": \"5m\", \"timeZone\": \"Europe/Berlin\"}]",
      1806195599, false },
};

static void check_window(void **state)
{
    const struct window_row *row = *state;
    char text[512];
    snprintf(text, sizeof text, "{\"spec\": {\"rollout\": {\"windows\": %s}}}", row->windows);
    json_t *policy = parsed(text);
    assert_int_equal(reading_window_open(policy, row->at_s), row->open);
    json_decref(policy);
}

/* ---- pools, claims */

static void a_node_is_in_the_first_pool_that_fits(void **state)
{
    (void) state;
    json_t *policy = parsed(
        "{\"spec\": {\"pools\": [{\"name\": \"a\", \"nodeSelector\": {\"x\": \"1\", \"y\": \"2\"}},"
        "{\"name\": \"b\", \"nodeSelector\": {\"x\": \"1\"}}]}}");
    json_t *node = parsed("{\"metadata\": {\"labels\": {\"x\": \"1\"}}}"),
           *other = parsed("{\"metadata\": {}}");
    assert_string_equal(reading_pool(policy, node), "b");
    assert_string_equal(reading_pool(policy, other), "default");
    json_decref(policy);
    json_decref(node);
    json_decref(other);
}

#define CLAIM                                                                                      \
    "\"policy\": \"u\", \"phase\": \"Draining\", \"kind\": \"Upgrade\", \"driver\": \"d\", "       \
    "\"stack\": \"s\", "                                                                           \
    "\"fromDriver\": \"\", \"fromStack\": \"s\", \"reason\": \"\", \"generation\": 7, "            \
    "\"attempt\": 1, \"gpus\": 8"

static const struct claim_row {
    const char *name, *text;
    bool is, place;
} claim_rows[] = {
    { "a claim that drains has a place", "{" CLAIM "}", true, true },
    { "an unknown member does no harm", "{" CLAIM ", \"new\": 1}", true, true },
    { "without a member it is none", "{\"policy\": \"u\"}", false, false },
    { "what is no JSON is none", "Draining", false, false },
};

static void check_claim(void **state)
{
    const struct claim_row *row = *state;
    json_t *node = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", "ostler.dev/claim",
                             row->text);
    struct reading_claim c = { 0 };
    assert_int_equal(reading_claim(node, &c), row->is);
    assert_int_equal(reading_has_place(&c), row->place);
    assert_int_equal(c.generation, row->is ? 7 : 0);
    json_decref(node);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_limit, limit_rows);
    SUITE_ROWS(&s, check_brake_row, brake_rows);
    SUITE_ROWS(&s, check_duration, duration_rows);
    SUITE_ROWS(&s, check_window, window_rows);
    SUITE_ROWS(&s, check_claim, claim_rows);
    suite_add(&s, "a node is in the first pool that fits", a_node_is_in_the_first_pool_that_fits,
              NULL);
    return suite_run(&s, "reading");
}
