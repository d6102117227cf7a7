/* The calendar against the C library's, for every day of eight centuries. */
#include "reconcilers/model/calendar.h"

#include <time.h>

#include "tests/unit/support/suite.h"

static void check_days(void **state)
{
    (void) state;
    for (int64_t day = -150000; day < 150000; day++) {
        time_t seconds = day * CALENDAR_DAY_S;
        struct tm want;
        assert_non_null(gmtime_r(&seconds, &want));
        struct date date = calendar_date(day);
        assert_int_equal(date.year, want.tm_year + 1900);
        assert_int_equal(date.month, want.tm_mon + 1);
        assert_int_equal(date.day, want.tm_mday);
        assert_int_equal(calendar_weekday(day), want.tm_wday);
        assert_int_equal(calendar_day(date), day);
        assert_in_range(date.day, 1, calendar_month_length(date.year, date.month));
    }
}

static const struct length_row {
    const char *name;
    int64_t year;
    int month, want;
} length_rows[] = {
    { "January", 2026, 1, 31 },
    { "April", 2026, 4, 30 },
    { "December", 2026, 12, 31 },
    { "February", 2026, 2, 28 },
    { "February, leap year", 2028, 2, 29 },
    { "February of a century", 2100, 2, 28 },
    { "February of a fourth century", 2000, 2, 29 },
};

static void check_length(void **state)
{
    const struct length_row *row = *state;
    assert_int_equal(calendar_month_length(row->year, row->month), row->want);
}

static const struct floor_row {
    const char *name;
    int64_t time, unit, want;
} floor_rows[] = {
    { "rounds down", 119, 60, 1 },
    { "whole", 120, 60, 2 },
    { "zero", 0, 60, 0 },
    { "rounds down before zero", -1, 60, -1 },
    { "whole before zero", -120, 60, -2 },
};

static void check_floor(void **state)
{
    const struct floor_row *row = *state;
    assert_int_equal(calendar_floor(row->time, row->unit), row->want);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "every day", check_days, NULL);
    SUITE_ROWS(&s, check_length, length_rows);
    SUITE_ROWS(&s, check_floor, floor_rows);
    return suite_run(&s, "calendar");
}
