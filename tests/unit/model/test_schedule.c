#include "reconcilers/model/schedule.h"

#include "base/clock.h"
#include "tests/unit/support/suite.h"

/* Minutes of a clock, written as if it were in UTC. */
static int64_t minute(const char *text)
{
    int64_t us = clock_parse_rfc3339(text);
    assert_int_not_equal(us, -1);
    return us / 60000000;
}

static struct schedule parsed(const char *text)
{
    struct schedule s;
    assert_true(schedule_parse(text, &s));
    return s;
}

static const struct parse_row {
    const char *name;
    const char *text, *same; /* means the same; NULL: is no schedule */
} parse_rows[] = {
    { "a list in another order", "0,30 2 1,15 * 1", "30,0 2 15,1 * 1" },
    { "a value twice", "5,5 2 * * *", "5 2 * * *" },
    { "leading zeros", "00 02 01 01 0", "0 2 1 1 0" },
    { "a range", "0 1-4 * * *", "0 1,2,3,4 * * *" },
    { "a range of one", "0 4-4 * * *", "0 4 * * *" },
    { "a step over all", "*/20 2 * * *", "0,20,40 2 * * *" },
    { "a step over days begins with the first", "0 2 */10 * *", "0 2 1-31/10 * *" },
    { "a step over a range", "5-20/5 2 * * *", "5,10,15,20 2 * * *" },
    { "a step beyond the range", "5-20/99 2 * * *", "5 2 * * *" },
    { "a step from a number on", "50/5 2 * * *", "50,55 2 * * *" },
    { "7 is Sunday", "0 2 * * 7", "0 2 * * 0" },
    { "a range up to Sunday", "0 2 * * 5-7", "0 2 * * 5,6,0" },
    { "a range of the whole week", "0 2 * * 0-7", "0 2 * * 1-7" },
    { "from Sunday on", "0 2 * * 7-2", "0 2 * * 0-2" },
    { "every second weekday begins with Sunday", "0 2 * * */2", "0 2 * * 0,2,4,6" },
    { "hours over midnight", "0 22-4 * * *", "0 22,23,0,1,2,3,4 * * *" },
    { "hours over midnight in steps", "0 22-4/2 * * *", "0 22,0,2,4 * * *" },
    { "days over the end of the month", "0 2 30-2 * *", "0 2 30,31,1,2 * *" },
    { "months over the end of the year", "0 2 1 11-2 *", "0 2 1 11,12,1,2 *" },
    { "a weekend and Monday", "0 2 * * 6-1", "0 2 * * 6,0,1" },
    { "nothing", "", NULL },
    { "four fields", "0 2 * *", NULL },
    { "six fields", "0 2 * * 6 7", NULL },
    { "two spaces", "0  2 * * 6", NULL },
    { "a space at the end", "0 2 * * 6 ", NULL },
    { "a list without an end", "0 2 * * 6,", NULL },
    { "a range without an end", "0 2 * * 1-", NULL },
    { "a step of nothing", "*/0 2 * * *", NULL },
    { "a step without a number", "*/ 2 * * *", NULL },
    { "a step with a zero before it", "*/05 2 * * *", NULL },
    { "minute 60", "60 2 * * *", NULL },
    { "hour 24", "0 24 * * *", NULL },
    { "day 0", "0 0 0 * *", NULL },
    { "day 32", "0 0 32 * *", NULL },
    { "month 13", "0 0 * 13 *", NULL },
    { "weekday 8", "0 0 * * 8", NULL },
    { "three digits", "000 2 * * *", NULL },
    { "a sign", "+5 2 * * *", NULL },
    { "a name", "0 2 * * SAT", NULL },
    { "a word", "@daily", NULL },
};

static void check_parse(void **state)
{
    const struct parse_row *row = *state;
    struct schedule got;
    assert_int_equal(schedule_parse(row->text, &got), row->same != NULL);
    if (!row->same)
        return;
    struct schedule want = parsed(row->same);
    assert_int_equal(got.minutes, want.minutes);
    assert_int_equal(got.hours, want.hours);
    assert_int_equal(got.days, want.days);
    assert_int_equal(got.months, want.months);
    assert_int_equal(got.weekdays, want.weekdays);
}

static const struct bits_row {
    const char *name;
    struct schedule want;
} bits_rows[] = {
    { "* * * * *", { 0xfffffffffffffff, 0xffffff, 0xfffffffe, 0x1ffe, 0x7f, false } },
    { "0 2 * * 6", { 0x1, 0x4, 0xfffffffe, 0x1ffe, 0x40, false } },
    { "59 23 31 12 0", { 0x800000000000000, 0x800000, 0x80000000, 0x1000, 0x01, true } },
    { "0 0 1 * *", { 0x1, 0x1, 0x2, 0x1ffe, 0x7f, false } },
    { "0 0 */31 * 1", { 0x1, 0x1, 0x2, 0x1ffe, 0x02, false } },
};

static void check_bits(void **state)
{
    const struct bits_row *row = *state;
    struct schedule got = parsed(row->name);
    assert_int_equal(got.minutes, row->want.minutes);
    assert_int_equal(got.hours, row->want.hours);
    assert_int_equal(got.days, row->want.days);
    assert_int_equal(got.months, row->want.months);
    assert_int_equal(got.weekdays, row->want.weekdays);
    assert_int_equal(got.either_day, row->want.either_day);
}

static const struct fires_row {
    const char *name;
    const char *text;
    bool fires;
} fires_rows[] = {
    { "every minute", "* * * * *", true },
    { "30 February", "0 2 30 2 *", false },
    { "29 February", "0 2 29 2 *", true },
    { "the 31st of short months", "0 2 31 2,4,6,9,11 *", false },
    { "the 31st of a short and a long month", "0 2 31 4,5 *", true },
    { "30 February or a Monday", "0 2 30 2 1", true },
    { "30 February that is a Monday", "0 2 */30,30 2 1", true },
    { "30 and 31 February", "0 2 30-31 2 *", false },
};

static void check_fires(void **state)
{
    const struct fires_row *row = *state;
    struct schedule s = parsed(row->text);
    assert_int_equal(schedule_fires(&s), row->fires);
    /* Every day and weekday meet within 40 years. */
    int64_t from = minute("2026-01-01T00:00:00Z");
    assert_int_equal(schedule_next(&s, from, from + INT64_C(40) * 366 * 1440) != SCHEDULE_NONE,
                     row->fires);
}

static const struct search_row {
    const char *name;
    const char *text, *from;
    const char *next, *last; /* at or after, at or before; NULL: not within five years */
} search_rows[] = {
    { "at a minute of its own", "30 2 * * *", "2026-11-21T02:30:00Z", "2026-11-21T02:30:00Z",
      "2026-11-21T02:30:00Z" },
    { "before it", "30 2 * * *", "2026-11-21T02:29:00Z", "2026-11-21T02:30:00Z",
      "2026-11-20T02:30:00Z" },
    { "after it", "30 2 * * *", "2026-11-21T02:31:00Z", "2026-11-22T02:30:00Z",
      "2026-11-21T02:30:00Z" },
    { "another minute of the hour", "10,50 2,4 * * *", "2026-11-21T02:30:00Z",
      "2026-11-21T02:50:00Z", "2026-11-21T02:10:00Z" },
    { "another hour", "10,50 2,4 * * *", "2026-11-21T03:30:00Z", "2026-11-21T04:10:00Z",
      "2026-11-21T02:50:00Z" },
    { "the first and last minute", "* * * * *", "2026-12-31T23:59:00Z", "2026-12-31T23:59:00Z",
      "2026-12-31T23:59:00Z" },
    { "midnight", "0 0 * * *", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z",
      "2026-12-31T00:00:00Z" },
    { "the end of a day", "59 23 * * *", "2027-01-01T00:00:00Z", "2027-01-01T23:59:00Z",
      "2026-12-31T23:59:00Z" },
    { "a weekday", "0 2 * * 6", "2026-11-18T00:00:00Z", "2026-11-21T02:00:00Z",
      "2026-11-14T02:00:00Z" },
    { "a day of the month", "0 2 31 * *", "2026-11-18T00:00:00Z", "2026-12-31T02:00:00Z",
      "2026-10-31T02:00:00Z" },
    { "a day or a weekday", "0 2 20 * 6", "2026-11-18T00:00:00Z", "2026-11-20T02:00:00Z",
      "2026-11-14T02:00:00Z" },
    { "an odd day that is a weekday", "0 2 */2 * 6", "2026-11-18T00:00:00Z", "2026-11-21T02:00:00Z",
      "2026-11-07T02:00:00Z" },
    { "a month", "0 2 * 3 *", "2026-11-18T00:00:00Z", "2027-03-01T02:00:00Z",
      "2026-03-31T02:00:00Z" },
    { "a leap day", "0 2 29 2 *", "2026-11-18T00:00:00Z", "2028-02-29T02:00:00Z",
      "2024-02-29T02:00:00Z" },
    { "no day", "0 2 30 2 *", "2026-11-18T00:00:00Z", NULL, NULL },
};

static void check_search(void **state)
{
    const struct search_row *row = *state;
    struct schedule s = parsed(row->text);
    int64_t from = minute(row->from), years = INT64_C(5) * 366 * 1440;
    assert_int_equal(schedule_next(&s, from, from + years),
                     row->next ? minute(row->next) : SCHEDULE_NONE);
    assert_int_equal(schedule_last(&s, from, from - years),
                     row->last ? minute(row->last) : SCHEDULE_NONE);
    if (!row->next)
        return;
    /* The other end of the search counts, too. */
    assert_int_equal(schedule_next(&s, from, minute(row->next)), minute(row->next));
    assert_int_equal(schedule_next(&s, from, minute(row->next) - 1), SCHEDULE_NONE);
    assert_int_equal(schedule_last(&s, from, minute(row->last)), minute(row->last));
    assert_int_equal(schedule_last(&s, from, minute(row->last) + 1), SCHEDULE_NONE);
}

static const struct gap_row {
    const char *name;
    const char *text;
    int gap, end; /* minutes */
} gap_rows[] = {
    { "one a day", "30 2 * * *", 0, 150 },
    { "every minute", "* * * * *", 1, 1439 },
    { "every quarter", "*/15 * * * *", 15, 1425 },
    { "uneven minutes", "0,10,40 1-3 * * *", 30, 220 },
    { "once an hour", "20 1-3 * * *", 60, 200 },
    { "uneven hours", "0 0,2,12 * * *", 600, 720 },
    { "between two hours", "0,10 0,2 * * *", 110, 130 },
    { "within one hour", "5,50 7 * * *", 45, 470 },
};

static void check_gap(void **state)
{
    const struct gap_row *row = *state;
    struct schedule s = parsed(row->text);
    assert_int_equal(schedule_widest_gap(&s), row->gap);
    assert_int_equal(schedule_end_of_day(&s), row->end);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_parse, parse_rows);
    SUITE_ROWS(&s, check_bits, bits_rows);
    SUITE_ROWS(&s, check_fires, fires_rows);
    SUITE_ROWS(&s, check_search, search_rows);
    SUITE_ROWS(&s, check_gap, gap_rows);
    return suite_run(&s, "schedule");
}
