/* What is shown of a log: its end, in whole lines and whole characters, without what only a
 * terminal would show. */
#include "kube/log_tail.h"

#include <string.h>

#include "tests/unit/support/suite.h"

static const struct row {
    const char *name, *log;
    size_t max;
    const char *want;
} rows[] = {
    { "one line", "out of memory\n", 100, "out of memory" },
    { "no end of line", "out of memory", 100, "out of memory" },
    { "nothing", "", 100, "" },
    { "ends of lines alone", "\n\n \n", 100, "" },
    { "several lines stay so", "a\nb\nc\n", 100, "a\nb\nc" },
    { "carriage returns go", "a\r\nb\r\n", 100, "a\nb" },
    { "a tab is a space", "a\tb", 100, "a b" },
    { "colours go", "\033[1;31merror\033[0m: no headers\n", 100, "error: no headers" },
    { "a sequence that is cut", "error\033[1;3", 100, "error[1;3" },
    { "an escape that is no sequence", "a\033Zb", 100, "aZb" },
    { "a bell and a backspace", "a\a\bb\x7f", 100, "ab" },
    { "a control character of two bytes",
      "a\xc2\x9b"
      "31mb\xc2\xa0"
      "c",
      100,
      "a31mb\xc2\xa0"
      "c" },
    { "characters of several bytes", "Gerät: ✗ 🔥\n", 100, "Gerät: ✗ 🔥" },
    { "bytes that are no characters",
      "a\xff\xfe"
      "b\xc3",
      100, "a??b?" },
    { "one that is encoded too long", "\xc0\xaf", 100, "??" },
    { "half of a pair", "\xed\xa0\x80", 100, "???" },
    { "whole lines that have room", "first\nsecond\nthird\n", 12, "second\nthird" },
    { "a line more than has room", "first\nsecond\nthird\n", 11, "third" },
    { "a line too long loses its beginning", "abcdefghij\n", 4, "ghij" },
    { "but no part of a character", "ab✗d\n", 3, "d" },
    { "just as long", "abcd\n", 4, "abcd" },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *got = log_tail_cut(row->log, strlen(row->log), row->max);
    assert_string_equal(got, row->want);
}

static void zero_bytes_go(void **state)
{
    (void) state;
    CLEANUP_FREE char *got = log_tail_cut("a\0b", 3, 100);
    assert_string_equal(got, "ab");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "bytes of zero go", zero_bytes_go, NULL);
    return suite_run(&s, "log_tail");
}
