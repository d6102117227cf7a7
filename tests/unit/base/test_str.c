#include "base/str.h"

#include <string.h>

#include "tests/unit/support/suite.h"

static const struct duration_row {
    const char *name;
    const char *text;
    int64_t want; /* milliseconds; -1: refused */
} durations[] = {
    { "minutes", "30m", 1800000 },
    { "hours and minutes", "1h30m", 5400000 },
    { "zero seconds", "0s", 0 },
    { "a bare zero", "0", 0 },
    { "a fraction", "1.5h", 5400000 },
    { "a fraction without a leading digit", ".5s", 500 },
    { "milliseconds", "250ms", 250 },
    { "minutes, then milliseconds", "1m1ms", 60001 },
    { "microseconds are rounded", "1500us", 2 },
    { "microseconds as Go prints them", "1500µs", 2 },
    { "microseconds with the Greek letter", "1500μs", 2 },
    { "nanoseconds vanish", "1ns", 0 },
    { "Go's own long form", "72h3m0.5s", 259380500 },
    { "ten years", "87600h", 315360000000 },
    { "nothing", "", -1 },
    { "a number without a unit", "30", -1 },
    { "a unit without a number", "m", -1 },
    { "only a point", ".s", -1 },
    { "two points", "1.2.3s", -1 },
    { "an unknown unit", "3d", -1 },
    { "a capital unit", "3H", -1 },
    { "negative", "-5m", -1 },
    { "a plus sign", "+5m", -1 },
    { "a leading space", " 5m", -1 },
    { "a trailing space", "5m ", -1 },
    { "a space in between", "1h 5m", -1 },
    { "a trailing number", "5m3", -1 },
    { "more digits than any duration has", "1000000000000000000h", -1 },
    { "sixteen digits", "1000000000000000ns", -1 },
    { "more than fits", "999999999999999h", -1 },
    { "an exponent", "1e3s", -1 },
    { "hexadecimal", "0x10s", -1 },
    { "infinity", "infs", -1 },
};

static void check_duration(void **state)
{
    const struct duration_row *row = *state;
    int64_t got = -1;
    bool ok = str_parse_duration(row->text, &got);
    assert_int_equal(ok, row->want >= 0);
    assert_int_equal(got, row->want);
}

static const struct int_row {
    const char *name;
    const char *text;
    int64_t min, max;
    bool ok;
    int64_t want;
} ints[] = {
    { "a number in range", "42", 0, 100, true, 42 },
    { "the smallest allowed", "-3", -3, 3, true, -3 },
    { "the largest allowed", "3", -3, 3, true, 3 },
    { "below the range", "-4", -3, 3, false, 0 },
    { "above the range", "4", -3, 3, false, 0 },
    { "the smallest of all", "-9223372036854775808", INT64_MIN, INT64_MAX, true, INT64_MIN },
    { "the largest of all", "9223372036854775807", INT64_MIN, INT64_MAX, true, INT64_MAX },
    { "one beyond the largest", "9223372036854775808", INT64_MIN, INT64_MAX, false, 0 },
    { "one beyond the smallest", "-9223372036854775809", INT64_MIN, INT64_MAX, false, 0 },
    { "far beyond", "99999999999999999999999999", INT64_MIN, INT64_MAX, false, 0 },
    { "no digits", "", 0, 9, false, 0 },
    { "only a sign", "-", -9, 9, false, 0 },
    { "a plus sign is not a number", "+1", 0, 9, false, 0 },
    { "a space before", " 1", 0, 9, false, 0 },
    { "something after", "1x", 0, 9, false, 0 },
    { "a fraction is no integer", "1.0", 0, 9, false, 0 },
    { "a percentage", "5%", 0, 9, false, 0 },
};

static void check_int(void **state)
{
    const struct int_row *row = *state;
    int64_t got = 0;
    assert_int_equal(str_parse_int(row->text, row->min, row->max, &got), row->ok);
    assert_int_equal(got, row->want);
}

static const struct shorten_row {
    const char *name;
    const char *text;
    size_t max;
    const char *want;
} shortened[] = {
    { "what fits stays whole", "abc", 3, "abc" },
    { "what does not fit ends with an ellipsis", "abcdefgh", 6, "abc…" },
    { "a character is never cut", "aäöüx", 7, "aä…" },
    { "a character of four bytes is never cut", "a😀😀b", 8, "a😀…" },
    { "only the ellipsis fits", "abcdefgh", 3, "…" },
    { "not even the ellipsis fits", "abcdefgh", 2, "ab" },
    { "nothing fits", "abcdefgh", 0, "" },
    { "nothing is left of nothing", "", 0, "" },
};

static void check_shortened(void **state)
{
    const struct shorten_row *row = *state;
    CLEANUP_FREE char *got = str_shortened(row->text, row->max);
    assert_string_equal(got, row->want);
    assert_true(strlen(got) <= row->max);
}

static void null_equals_only_null(void **state)
{
    (void) state;
    assert_true(str_eq(NULL, NULL));
    assert_false(str_eq(NULL, ""));
    assert_false(str_eq("", NULL));
    assert_true(str_eq("a", "a"));
    assert_false(str_eq("a", "b"));
    assert_string_equal(str_or_empty(NULL), "");
    assert_string_equal(str_or_empty("a"), "a");
}

static void prefixes_and_suffixes(void **state)
{
    (void) state;
    assert_true(str_has_prefix("nvcr.io/nvidia", "nvcr.io/"));
    assert_true(str_has_prefix("x", ""));
    assert_false(str_has_prefix("nv", "nvcr"));
    assert_true(str_has_suffix("a.yaml", ".yaml"));
    assert_true(str_has_suffix("x", ""));
    assert_false(str_has_suffix("yaml", ".yaml"));
}

static void broken_utf8_is_cut_without_harm(void **state)
{
    (void) state;
    assert_int_equal(str_utf8_cut("\x80\x80\x80\x80", 2), 0);
    assert_int_equal(str_utf8_cut("a\xff\xff", 2), 2);
}

static void hash_is_fnv1a(void **state)
{
    (void) state;
    assert_true(str_hash("", 0) == 0xcbf29ce484222325ULL);
    assert_true(str_hash("a", 1) == 0xaf63dc4c8601ec8cULL);
    assert_true(str_hash("foobar", 6) == 0x85944171f73967e8ULL);
    assert_true(str_hash_id("foobar") == 0x85944171f73967e8ULL);
    assert_true(str_hash_id("") == 0);
    assert_true(str_hash_id(NULL) == 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_duration, durations);
    SUITE_ROWS(&s, check_int, ints);
    SUITE_ROWS(&s, check_shortened, shortened);
    suite_add(&s, "NULL equals only NULL", null_equals_only_null, NULL);
    suite_add(&s, "prefixes and suffixes", prefixes_and_suffixes, NULL);
    suite_add(&s, "broken UTF-8 is cut without harm", broken_utf8_is_cut_without_harm, NULL);
    suite_add(&s, "the hash is FNV-1a of 64 bits", hash_is_fnv1a, NULL);
    return suite_run(&s, "str");
}
