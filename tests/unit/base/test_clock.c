#include "base/clock.h"

#include "tests/unit/support/suite.h"

static const struct parse_row {
    const char *name;
    const char *text;
    int64_t want;
} parsed[] = {
    { "metav1.Time", "2026-11-20T10:00:00Z", 1795168800000000 },
    { "metav1.MicroTime", "2026-11-20T10:00:00.123456Z", 1795168800123456 },
    { "the beginning of time", "1970-01-01T00:00:00Z", 0 },
    { "a fraction of one digit", "1970-01-01T00:00:01.5Z", 1500000 },
    { "digits beyond the microsecond are left out", "1970-01-01T00:00:00.123456789Z", 123456 },
    { "a leap day", "2028-02-29T00:00:00Z", 1835395200000000 },
    { "the last second of the last year", "9999-12-31T23:59:59Z", 253402300799000000 },
    { "absent", NULL, -1 },
    { "empty", "", -1 },
    { "a date alone", "2026-11-20", -1 },
    { "no zone", "2026-11-20T10:00:00", -1 },
    { "another zone", "2026-11-20T10:00:00+01:00", -1 },
    { "something after it", "2026-11-20T10:00:00Zx", -1 },
    { "a space before it", " 2026-11-20T10:00:00Z", -1 },
    { "a space in place of the T", "2026-11-20 10:00:00Z", -1 },
    { "missing zeros", "2026-1-2T3:4:5Z", -1 },
    { "spaces in place of zeros", "2026- 1- 2T 3: 4: 5Z", -1 },
    { "a month that does not exist", "2026-13-01T00:00:00Z", -1 },
    { "a day that does not exist", "2026-02-30T00:00:00Z", -1 },
    { "an hour that does not exist", "2026-02-03T24:00:00Z", -1 },
    { "a point without digits", "2026-11-20T10:00:00.Z", -1 },
    { "Go's zero time is no time", "0001-01-01T00:00:00Z", -1 },
    { "before 1970", "1969-12-31T23:59:59Z", -1 },
};

static void check_parse(void **state)
{
    const struct parse_row *row = *state;
    assert_int_equal(clock_parse_rfc3339(row->text), row->want);
}

static const struct write_row {
    const char *name;
    int64_t wall_us;
    const char *want, *want_micro;
} written[] = {
    { "written at the beginning of time", 0, "1970-01-01T00:00:00Z",
      "1970-01-01T00:00:00.000000Z" },
    { "written with microseconds", 1795168800123456, "2026-11-20T10:00:00Z",
      "2026-11-20T10:00:00.123456Z" },
    { "written with zeros before the microseconds", 1795168800000007, "2026-11-20T10:00:00Z",
      "2026-11-20T10:00:00.000007Z" },
};

static void check_write(void **state)
{
    const struct write_row *row = *state;
    char text[CLOCK_TEXT_MAX], micro[CLOCK_TEXT_MAX];
    clock_rfc3339(row->wall_us, text);
    clock_rfc3339_micro(row->wall_us, micro);
    assert_string_equal(text, row->want);
    assert_int_equal(clock_parse_written(text), row->wall_us / 1000000 * 1000000);
    assert_int_equal(clock_parse_written(micro), -1);
    assert_string_equal(micro, row->want_micro);
    assert_int_equal(clock_parse_rfc3339(micro), row->wall_us);
}

static int64_t fixed(void *self)
{
    return *(int64_t *) self;
}

static void clock_is_what_it_is_made_of(void **state)
{
    (void) state;
    int64_t now = 42;
    struct clock c = { .mono_ms = fixed, .wall_us = fixed, .self = &now };
    assert_int_equal(clock_mono_ms(&c), 42);
    now = 43;
    assert_int_equal(clock_wall_us(&c), 43);
}

static void system_clock_moves_forward(void **state)
{
    (void) state;
    struct clock c = clock_system();
    int64_t before = clock_mono_ms(&c);
    assert_true(before > 0);
    assert_true(clock_mono_ms(&c) >= before);
    assert_true(clock_wall_us(&c) > 1700000000000000);
}

static const struct ahead_row {
    const char *name;
    int64_t time_s, now_s;
    bool ahead;
} aheads[] = {
    { "a time that has passed is not ahead", 10, 5000, false },
    { "ten minutes are what clocks may differ by", 5600, 5000, false },
    { "more than ten minutes are ahead", 5601, 5000, true },
    { "the end of time is ahead", INT64_MAX, 5000, true },
    { "the end of time is not ahead of itself", INT64_MAX, INT64_MAX, false },
};

static void check_ahead(void **state)
{
    const struct ahead_row *row = *state;
    assert_int_equal(clock_is_ahead(row->time_s, row->now_s), row->ahead);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_parse, parsed);
    SUITE_ROWS(&s, check_write, written);
    SUITE_ROWS(&s, check_ahead, aheads);
    suite_add(&s, "a clock is what it is made of", clock_is_what_it_is_made_of, NULL);
    suite_add(&s, "the system's clock moves forward", system_clock_moves_forward, NULL);
    return suite_run(&s, "clock");
}
