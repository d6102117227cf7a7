#include "reconcilers/model/window.h"

#include "base/clock.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { WINDOWS = 3 };

struct window_row {
    const char *name;
    struct {
        const char *schedule, *duration, *zone;
    } windows[WINDOWS];
    const char *now;
    bool open;
    const char *change; /* NULL: not within five years */
};

static int64_t at(const char *text)
{
    int64_t us = clock_parse_rfc3339(text);
    assert_int_not_equal(us, -1);
    return us / 1000000;
}

static size_t parse(const struct window_row *row, struct window ret[static WINDOWS])
{
    size_t n = 0;
    for (; n < WINDOWS && row->windows[n].schedule; n++) {
        int64_t ms;
        assert_true(str_parse_duration(row->windows[n].duration, &ms));
        assert_true(
            window_parse(row->windows[n].schedule, ms / 1000, row->windows[n].zone, &ret[n]));
    }
    return n;
}

static void check_open(void **state)
{
    const struct window_row *row = *state;
    struct window windows[WINDOWS];
    size_t n = parse(row, windows);
    int64_t change;
    assert_int_equal(windows_open(windows, n, at(row->now), &change), row->open);
    assert_int_equal(change, row->change ? at(row->change) : INT64_MAX);
    if (!row->change)
        return;
    /* Nothing changes before, and it does then. */
    int64_t again;
    assert_int_equal(windows_open(windows, n, change - 1, &again), row->open);
    assert_int_equal(again, change);
    assert_int_not_equal(windows_open(windows, n, change, &again), row->open);
}

#define SATURDAYS                                                                                  \
    {                                                                                              \
        {                                                                                          \
            "0 2 * * 6", "4h", "UTC"                                                               \
        }                                                                                          \
    }
static const struct window_row ordinary_rows[] = {
    { "no windows at all", { { NULL } }, "2026-11-21T08:00:00Z", true, NULL },
    { "days before it opens", SATURDAYS, "2026-11-18T12:00:00Z", false, "2026-11-21T02:00:00Z" },
    { "a second before it opens", SATURDAYS, "2026-11-21T01:59:59Z", false,
      "2026-11-21T02:00:00Z" },
    { "when it opens", SATURDAYS, "2026-11-21T02:00:00Z", true, "2026-11-21T06:00:00Z" },
    { "a second before it closes", SATURDAYS, "2026-11-21T05:59:59Z", true,
      "2026-11-21T06:00:00Z" },
    { "when it closes", SATURDAYS, "2026-11-21T06:00:00Z", false, "2026-11-28T02:00:00Z" },
    { "its own time zone",
      { { "0 2 * * 6", "4h", "Asia/Tokyo" } },
      "2026-11-20T17:00:00Z",
      true,
      "2026-11-20T21:00:00Z" },
    { "another zone's day",
      { { "0 2 1 1 *", "4h", "Pacific/Apia" } },
      "2026-12-31T12:00:00Z",
      false,
      "2026-12-31T13:00:00Z" },
    { "past midnight and the end of the year",
      { { "0 22 31 12 *", "4h", "UTC" } },
      "2027-01-01T00:00:00Z",
      true,
      "2027-01-01T02:00:00Z" },
    { "a week long",
      { { "0 0 1 * *", "168h", "UTC" } },
      "2026-11-07T23:59:59Z",
      true,
      "2026-11-08T00:00:00Z" },
    { "seconds count",
      { { "0 2 * * *", "90s", "UTC" } },
      "2026-11-21T02:01:00Z",
      true,
      "2026-11-21T02:01:30Z" },
    { "days that follow on each other",
      { { "0 0 * * 1-5", "24h", "UTC" } },
      "2026-11-16T09:00:00Z",
      true,
      "2026-11-21T00:00:00Z" },
    { "openings that overlap",
      { { "0 8-16 * * *", "2h", "UTC" } },
      "2026-11-21T09:30:00Z",
      true,
      "2026-11-21T18:00:00Z" },
    { "openings with gaps",
      { { "*/30 * * * *", "20m", "UTC" } },
      "2026-11-21T09:19:00Z",
      true,
      "2026-11-21T09:20:00Z" },
    { "every minute of some hours",
      { { "* 1-4 * * *", "1m", "UTC" } },
      "2026-11-21T02:00:00Z",
      true,
      "2026-11-21T05:00:00Z" },
    { "always", { { "* * * * *", "1m", "UTC" } }, "2026-11-21T09:19:30Z", true, NULL },
    { "always, by days", { { "0 0 * * *", "24h", "UTC" } }, "2026-11-21T09:19:30Z", true, NULL },
    { "always, by weeks", { { "0 0 * * 0", "168h", "UTC" } }, "2026-11-21T09:19:30Z", true, NULL },
    { "only after years",
      { { "0 2 29 2 *", "4h", "UTC" } },
      "2026-11-21T08:00:00Z",
      false,
      "2028-02-29T02:00:00Z" },
    { "a leap day that is over",
      { { "0 2 29 2 *", "4h", "UTC" } },
      "2096-03-01T00:00:00Z",
      false,
      NULL },
    { "never", { { "0 2 30 2 *", "4h", "UTC" } }, "2026-11-21T08:00:00Z", false, NULL },
    { "an unknown zone is closed, not UTC",
      { { "* * * * *", "1h", "Mars/Olympus" } },
      "2026-11-21T08:00:00Z",
      false,
      NULL },
    { "beside an unknown zone",
      { { "* * * * *", "1h", "Mars/Olympus" }, { "0 2 * * 6", "4h", "UTC" } },
      "2026-11-21T03:00:00Z",
      true,
      "2026-11-21T06:00:00Z" },
};

static const struct window_row several_rows[] = {
    { "the next of two opens",
      { { "0 2 * * 6", "4h", "UTC" }, { "0 2 * * 2", "4h", "UTC" } },
      "2026-11-21T12:00:00Z",
      false,
      "2026-11-24T02:00:00Z" },
    { "the next of two is the first",
      { { "0 2 * * 2", "4h", "UTC" }, { "0 2 * * 6", "4h", "UTC" } },
      "2026-11-21T12:00:00Z",
      false,
      "2026-11-24T02:00:00Z" },
    { "one within the other",
      { { "0 2 * * *", "4h", "UTC" }, { "0 3 * * *", "1h", "UTC" } },
      "2026-11-21T03:30:00Z",
      true,
      "2026-11-21T06:00:00Z" },
    { "one goes on where the other ends",
      { { "0 2 * * 6", "4h", "UTC" }, { "0 6 * * 6", "2h", "UTC" } },
      "2026-11-21T03:00:00Z",
      true,
      "2026-11-21T08:00:00Z" },
    { "one goes on in another zone",
      { { "0 2 * * *", "4h", "UTC" }, { "0 14 * * *", "1h", "Asia/Tokyo" } },
      "2026-11-21T03:00:00Z",
      true,
      "2026-11-21T06:00:00Z" },
    { "all day together",
      { { "0 0 * * *", "8h", "UTC" }, { "0 8 * * *", "8h", "UTC" }, { "0 16 * * *", "8h", "UTC" } },
      "2026-11-21T09:00:00Z",
      true,
      NULL },
    { "a second too short",
      { { "0 0 * * *", "8h", "UTC" },
        { "0 8 * * *", "28799s", "UTC" },
        { "0 16 * * *", "8h", "UTC" } },
      "2026-11-21T09:00:00Z",
      true,
      "2026-11-21T15:59:59Z" },
};

/* Europe/Berlin goes from 02:00 to 03:00 at 01:00Z on 29 March 2026, and from 03:00 back to 02:00
 * at 01:00Z on 25 October. */
static const struct window_row clock_rows[] = {
    { "in the hour that is skipped: right after it",
      { { "30 2 * * *", "2h", "Europe/Berlin" } },
      "2026-03-29T00:00:00Z",
      false,
      "2026-03-29T01:00:00Z" },
    { "from there it lasts as long as ever",
      { { "30 2 * * *", "2h", "Europe/Berlin" } },
      "2026-03-29T01:00:00Z",
      true,
      "2026-03-29T03:00:00Z" },
    { "the day after it is at its time",
      { { "30 2 * * *", "2h", "Europe/Berlin" } },
      "2026-03-29T12:00:00Z",
      false,
      "2026-03-30T00:30:00Z" },
    { "over the hour that is skipped: in real time",
      { { "30 1 * * *", "2h", "Europe/Berlin" } },
      "2026-03-29T00:30:00Z",
      true,
      "2026-03-29T02:30:00Z" },
    { "in the hour that comes twice: at the first",
      { { "30 2 * * *", "30m", "Europe/Berlin" } },
      "2026-10-24T12:00:00Z",
      false,
      "2026-10-25T00:30:00Z" },
    { "in the hour that comes twice: not at the second",
      { { "30 2 * * *", "30m", "Europe/Berlin" } },
      "2026-10-25T01:00:00Z",
      false,
      "2026-10-26T01:30:00Z" },
    { "opened at the first, open in the second",
      { { "30 2 * * *", "2h", "Europe/Berlin" } },
      "2026-10-25T01:10:00Z",
      true,
      "2026-10-25T02:30:00Z" },
    { "opened late in the first, open early in the second",
      { { "59 2 * * *", "10m", "Europe/Berlin" } },
      "2026-10-25T01:02:00Z",
      true,
      "2026-10-25T01:09:00Z" },
    { "every hour: an hour is left out",
      { { "0 * * * *", "1h", "Europe/Berlin" } },
      "2026-10-24T12:00:00Z",
      true,
      "2026-10-25T01:00:00Z" },
    { "every hour: the day of the gap has none",
      { { "0 * 29 3 *", "1h", "Europe/Berlin" } },
      "2026-03-28T23:00:00Z",
      true,
      "2026-03-29T22:00:00Z" },
    { "half an hour is skipped",
      { { "15 2 * * *", "1h", "Australia/Lord_Howe" } },
      "2026-10-03T12:00:00Z",
      false,
      "2026-10-03T15:30:00Z" },
    { "half an hour comes twice",
      { { "45 1 * * *", "10m", "Australia/Lord_Howe" } },
      "2026-04-04T14:56:00Z",
      false,
      "2026-04-05T15:15:00Z" },
    { "the same time of day in summer and winter",
      { { "0 2 1 1,7 *", "1h", "America/New_York" } },
      "2026-05-01T00:00:00Z",
      false,
      "2026-07-01T06:00:00Z" },
    { "and in winter",
      { { "0 2 1 1,7 *", "1h", "America/New_York" } },
      "2026-09-01T00:00:00Z",
      false,
      "2027-01-01T07:00:00Z" },
};

/* The change is reached in steps that a person would not notice: many windows, each of which goes
 * on where another ends. */
static void check_many(void **state)
{
    (void) state;
    struct window windows[2];
    int64_t change, now = at("2026-11-21T09:00:00Z");
    assert_true(window_parse("*/2 * * * *", 60, "UTC", &windows[0]));
    assert_true(window_parse("1-59/2 * * * *", 60, "UTC", &windows[1]));
    for (int i = 0; i < 3; i++) {
        assert_true(windows_open(windows, 2, now, &change));
        assert_true(change >= now + 86400);
        assert_true(windows_open(windows, 2, change - 1, &now));
        now = change;
    }
}

/* Windows that follow on each other on every day are one, which never closes. */
static const struct always_row {
    const char *name, *schedule;
    int64_t duration_s;
    const char *zone;
    bool always;
} always_rows[] = {
    { "every hour, for an hour", "0 * * * *", 3600, "UTC", true },
    { "every hour, for a second less", "0 * * * *", 3599, "UTC", false },
    { "once a day, for a day", "30 2 * * *", 86400, "UTC", true },
    { "once a day, for less", "30 2 * * *", 86399, "UTC", false },
    { "by day, with a night that it covers", "0 8-20 * * *", 12 * 3600, "UTC", true },
    { "by day, with a longer night", "0 8-20 * * *", 11 * 3600, "UTC", false },
    { "not on Sundays", "0 * * * 1-6", 3600, "UTC", false },
    { "not in June", "0 * * 1-5,7-12 *", 3600, "UTC", false },
    { "not on the 31st", "0 * 1-30 * *", 3600, "UTC", false },
    { "on either of two kinds of days, one of which is all", "0 * 1-31 * 1", 3600, "UTC", true },
    { "on neither", "0 * 1-30 * 1-6", 3600, "UTC", false },
    { "in a zone that never changes its clocks", "0 * * * *", 3600, "Etc/GMT+5", true },
    { "where clocks change", "0 * * * *", 3600, "Europe/Berlin", false },
};

static void check_always(void **state)
{
    const struct always_row *row = *state;
    struct window w;
    assert_true(window_parse(row->schedule, row->duration_s, row->zone, &w));
    assert_int_equal(w.always, row->always);
    if (!row->always)
        return;
    /* As without that knowledge. */
    int64_t now = at("2026-11-21T09:30:00Z"), change, other;
    assert_true(windows_open(&w, 1, now, &change));
    w.always = false;
    assert_true(windows_open(&w, 1, now, &other));
    assert_int_equal(change, other);
}

static void check_no_schedule(void **state)
{
    (void) state;
    struct window w;
    int64_t change;
    assert_false(window_parse("0 2 * * 8", 3600, "UTC", &w));
    assert_false(windows_open(&w, 1, at("2026-11-21T02:00:00Z"), &change));
    assert_int_equal(change, INT64_MAX);
}

/* ---- the spans ahead */

enum { SPANS = 3 };

static const struct ahead_row {
    struct window_row of;
    const char *spans[2 * SPANS]; /* opens, closes, opens, …; NULL: never */
} ahead_rows[] = {
    { { "none", { { 0 } }, "2026-11-21T03:00:00Z", false, NULL }, { 0 } },
    { { "closed now", { { "0 2 * * 6", "4h", "UTC" } }, "2026-11-22T00:00:00Z", false, NULL },
      { "2026-11-28T02:00:00Z", "2026-11-28T06:00:00Z", "2026-12-05T02:00:00Z",
        "2026-12-05T06:00:00Z", "2026-12-12T02:00:00Z", "2026-12-12T06:00:00Z" } },
    { { "open now", { { "0 2 * * 6", "4h", "UTC" } }, "2026-11-21T03:00:00Z", false, NULL },
      { "2026-11-21T03:00:00Z", "2026-11-21T06:00:00Z", "2026-11-28T02:00:00Z",
        "2026-11-28T06:00:00Z", "2026-12-05T02:00:00Z", "2026-12-05T06:00:00Z" } },
    { { "two that meet are one",
        { { "0 2 * * 6", "4h", "UTC" }, { "0 6 * * 6", "1h", "UTC" } },
        "2026-11-22T00:00:00Z",
        false,
        NULL },
      { "2026-11-28T02:00:00Z", "2026-11-28T07:00:00Z", "2026-12-05T02:00:00Z",
        "2026-12-05T07:00:00Z", "2026-12-12T02:00:00Z", "2026-12-12T07:00:00Z" } },
    { { "always open", { { "* * * * *", "1h", "UTC" } }, "2026-11-21T03:00:00Z", false, NULL },
      { "2026-11-21T03:00:00Z" } },
    { { "never open", { { "0 0 30 2 *", "1h", "UTC" } }, "2026-11-21T03:00:00Z", false, NULL },
      { 0 } },
};

static void check_ahead(void **state)
{
    const struct ahead_row *row = *state;
    struct window windows[WINDOWS];
    struct window_span got[SPANS];
    size_t count = parse(&row->of, windows), want = 0;
    while (want < SPANS && row->spans[2 * want])
        want++;
    assert_int_equal(windows_ahead(windows, count, at(row->of.now), SPANS, got), want);
    for (size_t i = 0; i < want; i++) {
        const char *closes = row->spans[2 * i + 1];
        assert_int_equal(got[i].opens_s, at(row->spans[2 * i]));
        assert_int_equal(got[i].closes_s, closes ? at(closes) : INT64_MAX);
    }
}

/* One that is found in thousands of steps is still one, and is found in bounded time. */
static void check_ahead_of_many(void **state)
{
    (void) state;
    struct window windows[2];
    struct window_span got[SPANS];
    int64_t now = at("2026-11-21T09:00:00Z");
    assert_true(window_parse("*/2 * * * *", 60, "UTC", &windows[0]));
    assert_true(window_parse("1-59/2 * * * *", 60, "UTC", &windows[1]));
    assert_int_equal(windows_ahead(windows, 2, now, SPANS, got), 1);
    assert_int_equal(got[0].opens_s, now);
    assert_true(got[0].closes_s > now + 86400);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_open, ordinary_rows);
    SUITE_ROWS(&s, check_open, several_rows);
    SUITE_ROWS(&s, check_open, clock_rows);
    for (size_t i = 0; i < ARRAY_LEN(ahead_rows); i++)
        suite_add(&s, ahead_rows[i].of.name, check_ahead, &ahead_rows[i]);
    suite_add(&s, "spans of openings that follow on each other", check_ahead_of_many, NULL);
    SUITE_ROWS(&s, check_always, always_rows);
    suite_add(&s, "thousands of openings that follow on each other", check_many, NULL);
    suite_add(&s, "what is no schedule never opens", check_no_schedule, NULL);
    return suite_run(&s, "window");
}
