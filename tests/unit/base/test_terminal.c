#include "base/terminal.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"

static const struct row {
    const char *name, *text, *want;
} rows[] = {
    { "plain text", "driver 580.178.04: up", "driver 580.178.04: up" },
    { "letters of other scripts", "Prüfung läuft 準備", "Prüfung läuft 準備" },
    { "colours and titles", "\033[31mred\033]0;title\007", " [31mred ]0;title " },
    { "carriage returns and ends of lines", "good\rbad\nworse\tworst", "good bad worse worst" },
    { "DEL", "a\x7f", "a " },
    { "C1, as UTF-8",
      "a\xc2\x9b"
      "31m",
      "a 31m" },
    { "C1, as a bare byte",
      "a\x9b"
      "31m",
      "a?31m" },
    { "right to left",
      "a\xe2\x80\xae"
      "b",
      "a b" },
    { "an Arabic letter's mark",
      "a\xd8\x9c"
      "b",
      "a b" },
    { "isolates and joiners",
      "a\xe2\x81\xa6"
      "b\xef\xbb\xbf",
      "a b " },
    { "a character that breaks off", "a\xe2\x80", "a??" },
    { "one longer than it has to be", "\xc0\x9b", "??" },
    { "the same of three bytes", "\xe0\x80\x9b", " " },
    { "a surrogate", "\xed\xa0\x80", " " },
    { "beyond Unicode", "\xf8", "?" },
    { "nothing", "", "" },
    { "none", NULL, "" },
};

static void check_clean(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *got = terminal_clean(row->text);
    assert_string_equal(got, row->want);
}

static void check_tree(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *value = json_pack("{s:[s, i, n], s:s}", "a", "x\033[2J", 3, "b",
                                           "two\nlines\r");
    CLEANUP_JSON json_t *got = terminal_clean_tree(value);
    CLEANUP_JSON json_t *want = json_pack("{s:[s, i, n], s:s}", "a", "x [2J", 3, "b",
                                          "two\nlines ");
    assert_true(json_equal(got, want));
}

/* What is escaped is the same text for who reads JSON. */
static void check_json(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *value = json_pack("{s:s}", "a", "\033[2J \x7f \xc2\x9b \xe2\x80\xae ü");
    CLEANUP_FREE char *text = terminal_json(value, false), *clean = terminal_clean(text);
    assert_string_equal(text, "{\n  \"a\": \"\\u001B[2J \\u007f \\u009b \\u202e ü\"\n}");
    CLEANUP_JSON json_t *again = json_parse(text, __builtin_strlen(text), &e);
    assert_true(json_equal(again, value));
    CLEANUP_FREE char *line = terminal_json(value, true);
    assert_string_equal(line, "{\"a\":\"\\u001B[2J \\u007f \\u009b \\u202e ü\"}");
}

/* What JSON has for a reader who does not see what turns text around: the escape is text. */
static const struct shown_row {
    const char *name, *text, *json;
} shown_rows[] = {
    { "shown: plain text", "driver 580.178.04: up", "\"driver 580.178.04: up\"" },
    { "shown: nothing", "", "\"\"" },
    { "shown: quotes and backslashes", "a\"b\\c", "\"a\\\"b\\\\c\"" },
    { "shown: letters of other scripts", "Prüfung 準備", "\"Prüfung 準備\"" },
    { "shown: an end of a line", "a\nb", "\"a\\nb\"" },
    { "shown: a control character", "a\033[2J", "\"a\\\\x1b[2J\"" },
    { "shown: a tab and DEL", "\t\x7f", "\"\\\\x09\\\\x7f\"" },
    { "shown: right to left", "\xe2\x80\xae", "\"\\\\u202e\"" },
    { "shown: C1", "\xc2\x9b", "\"\\\\u009b\"" },
    { "shown: bytes that are not UTF-8", "\xff\xe2\x80", "\"\\\\xff\\\\xe2\\\\x80\"" },
};

static void check_shown(void **state)
{
    const struct shown_row *row = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(100);
    assert_true(terminal_add_json(&out, row->text));
    assert_string_equal(buf_text(&out), row->json);
    CLEANUP_BUF struct buf small = BUF_INIT(1);
    assert_false(terminal_add_json(&small, row->text));
    assert_int_equal(small.len, 0);
}

static void check_shown_tree(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *value = json_pack("{s:[s, i, n], s:s}", "a", "x\033[2J", 3, "b",
                                           "two\nlines\r");
    CLEANUP_JSON json_t *got = terminal_shown_tree(value);
    CLEANUP_JSON json_t *want = json_pack("{s:[s, i, n], s:s}", "a", "x\\x1b[2J", 3, "b",
                                          "two\nlines\\x0d");
    assert_true(json_equal(got, want));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_clean, rows);
    suite_add(&s, "a tree", check_tree, NULL);
    suite_add(&s, "JSON", check_json, NULL);
    SUITE_ROWS(&s, check_shown, shown_rows);
    suite_add(&s, "a tree with visible escapes", check_shown_tree, NULL);
    return suite_run(&s, "terminal");
}
