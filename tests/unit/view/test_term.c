#include "reconcilers/view/term.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

#define NOW INT64_C(1795168800000000) /* 2026-11-20T10:00:00Z */

static const struct span_row {
    const char *name;
    int64_t seconds;
} spans[] = {
    { "0s", 0 },
    { "0s", -5 },
    { "59s", 59 },
    { "119s", 119 },
    { "2m", 120 },
    { "3m20s", 200 },
    { "59m59s", 3599 },
    { "1h", 3600 },
    { "4h12m", 15120 },
    { "1d", 86400 },
    { "7d23h", 7 * 86400 + 23 * 3600 },
    { "8d", 8 * 86400 + 3600 },
};

static void check_span(void **state)
{
    const struct span_row *row = *state;
    CLEANUP_FREE char *got = term_span(row->seconds);
    assert_string_equal(got, row->name);
}

static const struct cut_row {
    const char *name, *text;
    size_t width;
    const char *want;
} cuts[] = {
    { "what fits stays", "abc", 3, "abc" },
    { "what does not ends with a mark", "abcd", 3, "ab…" },
    { "characters are counted, not bytes", "äöü", 3, "äöü" },
    { "and not cut in two", "äöüß", 3, "äö…" },
    { "lines become one", "a\nb", 9, "a b" },
    { "an escape does nothing", "a\033[31mb", 9, "a [31mb" },
};

static void check_cut(void **state)
{
    const struct cut_row *row = *state;
    CLEANUP_FREE char *got = term_cut(row->text, row->width);
    assert_string_equal(got, row->want);
}

static void check_since(void **state)
{
    (void) state;
    assert_int_equal(term_seconds_since("2026-11-20T09:59:00Z", NOW), 60);
    assert_int_equal(term_seconds_since("2026-11-20T11:00:00Z", NOW), 0); /* clocks are apart */
    assert_int_equal(term_seconds_since("yesterday", NOW), -1);
    assert_int_equal(term_seconds_since(NULL, NOW), -1);
}

static const struct wrap_row {
    const char *name, *text;
    size_t lines;
    const char *want;
} wraps[] = {
    { "one line", "a short text", 0, "  a short text\n" },
    { "several lines, at blanks", "twenty characters are the least that a line has here", 0,
      "  twenty characters are\n  the least that a line\n  has here\n" },
    { "no more than wanted", "twenty characters are the least that a line has here", 2,
      "  twenty characters are\n  the least that a line…\n" },
    { "a word longer than a line", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0,
      "  aaaaaaaaaaaaaaaaaaaaaa\n  aaaaaaaaaaaaaaaaaaaaaa\n" },
    { "nothing", "", 0, "" },
};

static void check_wrap(void **state)
{
    const struct wrap_row *row = *state;
    struct buf out = BUF_INIT(4096);
    term_wrap(&out, &(struct paint){ .width = 24 }, 2, row->lines, row->text);
    assert_string_equal(buf_text(&out), row->want);
    buf_clear(&out);
}

static const struct fit_row {
    const char *name, *text;
    size_t rows;
    const char *want;
} fits[] = {
    { "what fits stays", "a\nb\nc\n", 3, "a\nb\nc\n" },
    { "what does not is counted", "a\nb\nc\nd\n", 3, "a\nb\n… 2 more\n" },
    { "a long line takes two rows", "a\n123456789012\nc\n", 3, "a\n… 2 more\n" },
    { "colours take no room", "\033[32m1234567890\033[0m\nb\n", 2,
      "\033[32m1234567890\033[0m\nb\n" },
    { "there is no end", "a\nb\nc\nd\n", 0, "a\nb\nc\nd\n" },
};

static void check_fit(void **state)
{
    const struct fit_row *row = *state;
    struct buf out = BUF_INIT(4096);
    term_fit(&out, row->text, 10, row->rows);
    assert_string_equal(buf_text(&out), row->want);
    buf_clear(&out);
}

/* Colours stand around texts, and only where there are any. */
static void check_colours(void **state)
{
    (void) state;
    struct grid g = { 0 };
    struct buf plain = BUF_INIT(4096), coloured = BUF_INIT(4096);
    grid_row(&g, PLAIN, (const char *const[]){ "NAME", "STATE" }, 2);
    grid_row(&g, RED, (const char *const[]){ "a", "Failed" }, 2);
    grid_print(&g, &(struct paint){ .width = 80 }, &plain);
    grid_print(&g, &(struct paint){ .width = 80, .colours = true }, &coloured);
    assert_string_equal(buf_text(&plain), "NAME   STATE\na      Failed\n");
    assert_string_equal(buf_text(&coloured),
                        "\033[1mNAME\033[0m   \033[1mSTATE\033[0m\na      \033[31mFailed\033[0m\n");
    grid_clear(&g);
    buf_clear(&plain);
    buf_clear(&coloured);
}

/* No line of a table is longer than the terminal, unless all is to be shown. */
static void check_width(void **state)
{
    (void) state;
    struct grid g = { .headless = true };
    struct buf cut = BUF_INIT(4096), whole = BUF_INIT(4096);
    grid_row(&g, PLAIN, (const char *const[]){ "a", "a long text in the last column", NULL }, 3);
    grid_print(&g, &(struct paint){ .width = 14 }, &cut);
    grid_print(&g, &(struct paint){ .width = 14, .whole = true }, &whole);
    assert_string_equal(buf_text(&cut), "a   a long te…\n");
    assert_string_equal(buf_text(&whole), "a   a long text in the last column   \n");
    grid_clear(&g);
    buf_clear(&cut);
    buf_clear(&whole);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_span, spans);
    SUITE_ROWS(&s, check_cut, cuts);
    SUITE_ROWS(&s, check_wrap, wraps);
    SUITE_ROWS(&s, check_fit, fits);
    suite_add(&s, "how long ago a time is", check_since, NULL);
    suite_add(&s, "colours", check_colours, NULL);
    suite_add(&s, "width", check_width, NULL);
    return suite_run(&s, "term");
}
