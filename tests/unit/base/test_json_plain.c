#include "base/json_plain.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct plain_row {
    const char *name;
    const char *text;
    bool plain;
} rows[] = {
    { "an object", "{'b':1,'a':{'c':[true,false,null,'x']}}", true },
    { "an empty object", "{}", true },
    { "an empty array", "[ ]", true },
    { "space everywhere", " \t{ 'a' : [ 1 ,\r2 ] }\n", true },
    { "a scalar", "'text'", true },
    { "an empty string", "''", true },
    { "short escapes", "'\\\"\\\\\\/\\b\\f\\n\\r\\t'", true },
    { "what Go escapes", "'a\\u003cb\\u003E\\u0026'", true },
    { "an escape in a key", "{'k:{\\\"name\\\":\\\"x\\\"}':{'a\\nb':'c\\td'}}", true },
    { "a string in UTF-8", "'ä 5 €'", true },
    { "UTF-8 and an escape", "'ä\\n€'", true },
    { "numbers", "[0,-0,7,-12,999999999999999999,-999999999999999999]", true },
    { "64 levels", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", true },
    { "65 levels", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", false },
    { "a number of 19 digits", "9223372036854775807", false },
    { "a number with leading zeros", "[01]", false },
    { "a sign alone", "-", false },
    { "a fraction", "1.5", false },
    { "an exponent", "1e3", false },
    { "a word of another language", "nil", false },
    { "a literal that goes on", "[truely]", false },
    { "an escape beyond ASCII", "'\\u00e4'", false },
    { "a surrogate pair", "'\\ud83d\\ude00'", false },
    { "an escaped NUL", "'\\u0000'", false },
    { "an escape of no kind", "'\\x'", false },
    { "an escape that breaks off", "'\\", false },
    { "a code that breaks off", "'\\u00", false },
    { "a string that breaks off", "'text", false },
    { "a line break in a string", "'a\nb'", false },
    { "no UTF-8", "'\xff'", false },
    { "a key in UTF-8", "{'ä':1}", false },
    { "a key twice", "{'a':1,'a':2}", false },
    { "a key without a value", "{'a'}", false },
    { "a key that is no string", "{a:1}", false },
    { "a comma at the end of an object", "{'a':1,}", false },
    { "a comma at the end of an array", "[1,]", false },
    { "a bracket of the other kind", "[1}", false },
    { "an array that breaks off", "[1,", false },
    { "nothing", " ", false },
    { "two documents", "{} {}", false },
};

/* What is plain is what jansson makes of it, in the same order. */
static void check_row(void **state)
{
    const struct plain_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_JSON json_t *got = json_plain(text, strlen(text));
    assert_int_equal(got != NULL, row->plain);
    if (!got)
        return;
    CLEANUP_JSON json_t *want = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    CLEANUP_FREE char *got_text = json_compact(got), *want_text = json_compact(want);
    assert_string_equal(got_text, want_text);
}

static void a_byte_behind_the_text_is_not_looked_at(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *number = json_plain("123", 2);
    assert_int_equal(json_integer_value(number), 12);
    assert_null(json_plain("\"ab\"", 3));
    assert_null(json_plain("\"\\u0041\"", 6));
    assert_null(json_plain("true", 3));
    assert_null(json_plain("{}", 1));
    assert_null(json_plain("", 0));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "a byte behind the text is not looked at", a_byte_behind_the_text_is_not_looked_at, NULL);
    return suite_run(&s, "json_plain");
}
