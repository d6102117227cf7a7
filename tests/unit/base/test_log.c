#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "base/json.h"
#include "tests/unit/support/suite.h"

/* What is written to stderr while it stands aside. */
static FILE *aside;
static char *captured;
static size_t captured_len;

static void capture(void)
{
    aside = stderr;
    stderr = open_memstream(&captured, &captured_len);
}

static char *captured_text(void)
{
    fclose(stderr);
    stderr = aside;
    return TAKE(captured);
}

static const struct text_row {
    const char *name;
    const char *value;
    const char *want; /* after the timestamp */
} texts[] = {
    { "plain values stand bare", "gpu-1", "info  hello key=gpu-1\n" },
    { "values with spaces are quoted", "a b", "info  hello key=\"a b\"\n" },
    { "an empty value is quoted", "", "info  hello key=\"\"\n" },
    { "an absent value is empty", NULL, "info  hello key=\"\"\n" },
    { "an equals sign cannot forge a key", "x=y", "info  hello key=\"x=y\"\n" },
    { "a newline cannot forge a line", "a\nb", "info  hello key=a\\x0ab\n" },
    { "a quote cannot end a value", "a\" b", "info  hello key=\"a\\\" b\"\n" },
    { "a backslash cannot free a quote", "a\\\" b=c", "info  hello key=\"a\\\\\\\" b=c\"\n" },
    { "a value with a backslash is quoted", "a\\x0a", "info  hello key=\"a\\\\x0a\"\n" },
    { "an escape sequence cannot paint", "\033[31m", "info  hello key=\\x1b[31m\n" },
    { "nor one of a single character",
      "x\xc2\x9b"
      "2J\x7f",
      "info  hello key=x\\u009b2J\\x7f\n" },
    { "marks cannot turn the direction",
      "a\xe2\x80\xae"
      "gnp",
      "info  hello key=a\\u202egnp\n" },
    { "bytes that are no text",
      "a\x9b"
      "b\xe2\x80",
      "info  hello key=a\\x9bb\\xe2\\x80\n" },
    { "words of any language stay", "\xc3\xa9\xf0\x9f\x98\x80",
      "info  hello key=\xc3\xa9\xf0\x9f\x98\x80\n" },
};

static void check_text(void **state)
{
    const struct text_row *row = *state;
    log_setup(LOG_INFO, false);
    capture();
    log_info("hello", "key", row->value);
    CLEANUP_FREE char *text = captured_text();
    const char *space = strchr(text, ' ');
    assert_non_null(space);
    assert_string_equal(space + 1, row->want);
}

static void json_lines_parse(void **state)
{
    (void) state;
    log_setup(LOG_DEBUG, true);
    capture();
    log_debug("hello", "node", "a\n\"\xff", "absent", (const char *) NULL);
    CLEANUP_FREE char *text = captured_text();
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    CLEANUP_JSON json_t *line = json_parse(text, strlen(text), NULL);
    assert_string_equal(json_str(line, "level"), "debug");
    assert_string_equal(json_str(line, "msg"), "hello");
    assert_string_equal(json_str(line, "node"), "a\n\"?");
    assert_string_equal(json_str(line, "absent"), "");
    assert_non_null(json_str(line, "ts"));
}

/* The same of lines of JSON: what reads them has the text as it was. */
static void json_lines_are_shown_as_they_are(void **state)
{
    static const char value[] = "\033[31m\xc2\x9b"
                                "2J\x7f\xe2\x80\xae\xc3\xa9";
    (void) state;
    log_setup(LOG_INFO, true);
    capture();
    log_info("hello", "key", value);
    CLEANUP_FREE char *text = captured_text();
    assert_non_null(strstr(text, "\"key\":\"\\u001B[31m\\u009b2J\\u007f\\u202e\xc3\xa9\""));
    CLEANUP_JSON json_t *line = json_parse(text, strlen(text), NULL);
    assert_string_equal(json_str(line, "key"), value);
}

static void lines_below_the_level_are_dropped(void **state)
{
    (void) state;
    log_setup(LOG_WARN, false);
    capture();
    log_debug("one");
    log_info("two");
    log_warn("three");
    log_error("four");
    CLEANUP_FREE char *text = captured_text();
    assert_null(strstr(text, "one"));
    assert_null(strstr(text, "two"));
    assert_non_null(strstr(text, "warn  three\n"));
    assert_non_null(strstr(text, "error four\n"));
}

static void levels_have_names(void **state)
{
    (void) state;
    enum log_level level = LOG_ERROR;
    assert_true(option_log_level.store(&option_log_level, "debug", &level));
    assert_int_equal(level, LOG_DEBUG);
    assert_false(option_log_level.store(&option_log_level, "loud", &level));
    assert_int_equal(level, LOG_DEBUG);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_text, texts);
    suite_add(&s, "every JSON line parses, whatever its values are", json_lines_parse, NULL);
    suite_add(&s, "a JSON line has nothing that a terminal obeys", json_lines_are_shown_as_they_are,
              NULL);
    suite_add(&s, "lines below the level are dropped", lines_below_the_level_are_dropped, NULL);
    suite_add(&s, "levels have names", levels_have_names, NULL);
    return suite_run(&s, "log");
}
