#include "base/buf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/suite.h"

static void empty_is_an_empty_string(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(10);
    assert_string_equal(buf_text(&b), "");
    assert_true(buf_add(&b, NULL, 0));
    assert_string_equal(buf_text(&b), "");
}

static void appends_and_stays_a_string(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(1000);
    assert_true(buf_add(&b, "abcdef", 3));
    assert_string_equal(buf_text(&b), "abc");
    buf_str(&b, "-");
    buf_printf(&b, "%d%s", 12, "x");
    assert_string_equal(buf_text(&b), "abc-12x");
    assert_int_equal(b.len, 7);
}

static void numbers_are_what_a_format_writes(void **state)
{
    (void) state;
    static const int64_t numbers[] = { 0, 7, -7, 10, 1234567890, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        CLEANUP_BUF struct buf b = BUF_INIT(100);
        CLEANUP_FREE char *want = xasprintf("%" PRId64, numbers[i]);
        buf_number(&b, numbers[i]);
        assert_string_equal(buf_text(&b), want);
    }
}

static void takes_up_to_its_limit(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(5);
    assert_true(buf_add(&b, "abc", 3));
    assert_true(buf_add(&b, "de", 2));
    assert_string_equal(buf_text(&b), "abcde");
}

static void refuses_beyond_its_limit_and_stays_as_it_was(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(5);
    assert_true(buf_add(&b, "abcd", 4));
    assert_false(buf_add(&b, "ef", 2));
    assert_false(buf_add(&b, "ef", SIZE_MAX));
    assert_string_equal(buf_text(&b), "abcd");
    assert_true(buf_add(&b, "e", 1));
}

static void grows_over_many_small_pieces(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(100000);
    for (int i = 0; i < 100000; i++) {
        char c = (char) ('a' + i % 26);
        assert_true(buf_add(&b, &c, 1));
    }
    assert_int_equal(b.len, 100000);
    assert_int_equal(strlen(b.data), 100000);
    assert_int_equal(b.data[27], 'b');
}

static void consumes_from_the_front(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(10);
    buf_consume(&b, 0);
    buf_str(&b, "abcdef");
    buf_consume(&b, 2);
    assert_string_equal(buf_text(&b), "cdef");
    buf_consume(&b, 4);
    assert_string_equal(buf_text(&b), "");
}

static void reset_keeps_the_memory(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(10);
    buf_reset(&b);
    buf_str(&b, "abc");
    const char *memory = b.data;
    buf_reset(&b);
    assert_string_equal(buf_text(&b), "");
    buf_str(&b, "d");
    assert_ptr_equal(b.data, memory);
    assert_string_equal(buf_text(&b), "d");
}

static void reset_gives_much_memory_back(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(1 << 20);
    assert_non_null(buf_grow(&b, BUF_KEPT));
    buf_reset(&b);
    assert_int_equal(b.cap, 0);
    assert_string_equal(buf_text(&b), "");
    assert_true(buf_add(&b, "again", 5));
    assert_string_equal(buf_text(&b), "again");
}

static void take_hands_the_bytes_out(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(4);
    buf_str(&b, "abc");
    CLEANUP_FREE char *text = buf_take(&b);
    CLEANUP_FREE char *nothing = buf_take(&b);
    assert_string_equal(text, "abc");
    assert_string_equal(nothing, "");
    buf_str(&b, "next");
    assert_string_equal(buf_text(&b), "next");
}

static void bytes_may_hold_nul(void **state)
{
    (void) state;
    CLEANUP_BUF struct buf b = BUF_INIT(10);
    assert_true(buf_add(&b, "a\0b", 3));
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.data, "a\0b", 4);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "an empty buffer is an empty string", empty_is_an_empty_string, NULL);
    suite_add(&s, "appends and stays a string", appends_and_stays_a_string, NULL);
    suite_add(&s, "numbers are what a format writes", numbers_are_what_a_format_writes, NULL);
    suite_add(&s, "takes up to its limit", takes_up_to_its_limit, NULL);
    suite_add(&s, "refuses beyond its limit and stays as it was",
              refuses_beyond_its_limit_and_stays_as_it_was, NULL);
    suite_add(&s, "grows over many small pieces", grows_over_many_small_pieces, NULL);
    suite_add(&s, "consumes from the front", consumes_from_the_front, NULL);
    suite_add(&s, "resetting keeps the memory", reset_keeps_the_memory, NULL);
    suite_add(&s, "resetting gives much memory back", reset_gives_much_memory_back, NULL);
    suite_add(&s, "taking hands the bytes out", take_hands_the_bytes_out, NULL);
    suite_add(&s, "the bytes may hold NUL", bytes_may_hold_nul, NULL);
    return suite_run(&s, "buf");
}
