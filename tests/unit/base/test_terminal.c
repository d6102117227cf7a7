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

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_clean, rows);
    suite_add(&s, "a tree", check_tree, NULL);
    suite_add(&s, "JSON", check_json, NULL);
    return suite_run(&s, "terminal");
}
