#include "base/json_plain.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

static const struct read_row {
    const char *name, *text;
    bool read; /* not given up */
} reads[] = {
    { "an object", "{\"a\":1,\"b\":{\"c\":[true,false,null,\"x\",-5,0]}}", true },
    { "empty containers", "{\"a\":{},\"b\":[]}", true },
    { "an empty key and text", "{\"\":\"\"}", true },
    { "a text alone", "\"text\"", true },
    { "texts of each length around a word of the processor",
      "[\"\",\"1\",\"12\",\"1234567\",\"12345678\",\"123456789\",\"1234567890123456\"]", true },
    { "short escapes", "\"\\\"a\\\\b\\/\\b\\f\\n\\r\\t\"", true },
    { "an escape in a key that others follow",
      "{\"k:{\\\"uid\\\":1}\":{\"f:\\\"x\\\"\":\"\\\"\"},\"b\":1}", true },
    { "a number of 18 digits", "[999999999999999999,-999999999999999999]", true },
    { "a number of 19 digits", "[1000000000000000000]", false },
    { "a fraction", "[1.5]", false },
    { "an exponent", "[1e3]", false },
    { "a zero before a number, which is no JSON", "[01]", false },
    { "minus zero", "[-0]", false },
    { "a minus alone", "[-]", false },
    { "a code of a character", "[\"\\u0041\"]", false },
    { "an unknown escape", "[\"\\x\"]", false },
    { "text beyond ASCII", "[\"\xc3\xa4\"]", false },
    { "text beyond ASCII after eight bytes", "[\"12345678\xc3\xa4\"]", false },
    { "a control character", "[\"a\nb\"]", false },
    { "a control character in a word", "[\"1234\n5678\"]", false },
    { "a space", "{\"a\": 1}", false },
    { "a key twice", "{\"a\":1,\"a\":2}", false },
    { "no end", "{\"a\":1", false },
    { "a text without an end", "\"abc", false },
    { "an escape at the end", "\"abc\\", false },
    { "more after the end", "{}{}", false },
    { "a comma too many", "[1,]", false },
    { "no value", "{\"a\":}", false },
    { "no colon", "{\"a\"1}", false },
    { "a key without quotes", "{a:1}", false },
    { "a wrong bracket", "[1}", false },
    { "a wrong word", "[nul]", false },
    { "nothing", "", false },
};

static void check_read(void **state)
{
    const struct read_row *row = *state;
    CLEANUP_JSON json_t *plain = json_plain(row->text, strlen(row->text));
    assert_int_equal(plain != NULL, row->read);
    if (!plain)
        return;
    CLEANUP_JSON json_t *wanted = json_loads(row->text, JSON_DECODE_ANY, NULL);
    CLEANUP_FREE char *is = json_dumps(plain, JSON_COMPACT | JSON_ENCODE_ANY),
                      *text = json_dumps(wanted, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_true(json_equal(plain, wanted));
    assert_string_equal(is, text); /* with the same order */
}

/* What is written is what jansson writes, or nothing. */
static const struct write_row {
    const char *name, *text;
    bool written;
} write_rows[] = {
    { "an object", "{\"b\":1,\"a\":{\"c\":[],\"d\":{}},\"e\":\"\"}", true },
    { "an array", "[1,-2,[true,false,null],\"x\"]", true },
    { "large numbers", "[9223372036854775807,-9223372036854775808,0]", true },
    { "short escapes", "[\"a\\\"b\\\\\\n\\t\\r\\b\\f/\"]", true },
    { "escapes in a long text", "[\"0123456789\\\"0123456789\\n\"]", true },
    { "an escape in a key", "{\"a\\\"b\":1}", true },
    { "another control character", "[\"a\\u0001b\"]", false },
    { "a NUL", "[\"a\\u0000b\"]", false },
    { "the last of ASCII", "[\"a\x7f\"]", true },
    { "text beyond ASCII", "[\"\xc3\xa4\"]", false },
    { "a key beyond ASCII", "{\"\xc3\xa4\":1}", false },
    { "a real number", "[1.0]", false },
    { "a text alone", "\"a\"", true },
};

static void check_write(void **state)
{
    const struct write_row *row = *state;
    CLEANUP_JSON json_t *tree = json_loads(row->text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(tree);
    CLEANUP_FREE char *is = json_plain_write(tree),
                      *wanted = json_dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_int_equal(is != NULL, row->written);
    if (is)
        assert_string_equal(is, wanted);
}

static void no_tree_has_no_text(void **state)
{
    (void) state;
    assert_null(json_plain_write(NULL));
}

/* Owned by the caller. */
static char *nested(size_t depth)
{
    char *text = xcalloc(2 * depth + 1, 1);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return text;
}

static void deep_nesting_is_given_up(void **state)
{
    (void) state;
    CLEANUP_FREE char *most = nested(JSON_PLAIN_DEPTH_MAX),
                      *more = nested(JSON_PLAIN_DEPTH_MAX + 1);
    CLEANUP_JSON json_t *read = json_plain(most, strlen(most));
    assert_non_null(read);
    assert_null(json_plain(more, strlen(more)));
}

static void a_long_text_with_escapes_is_given_up(void **state)
{
    (void) state;
    enum { LEN = 10000 };
    char text[LEN + 5] = "\"\\n";
    memset(text + 3, 'x', LEN);
    text[LEN + 3] = '"';
    assert_null(json_plain(text, LEN + 4));
    memcpy(text + 1, "yy", 2); /* without the escape */
    CLEANUP_JSON json_t *read = json_plain(text, LEN + 4);
    assert_int_equal(json_string_length(read), LEN + 2);
}

static const struct plain_row {
    const char *name, *text;
    bool plain;
} plains[] = {
    { "words in quotes are plain", "{\"a\":\"12345678\"}", true },
    { "nothing is plain", "", true },
    { "a backslash in a word is not", "123\\5678", false },
    { "a backslash after the words is not", "12345678\\", false },
    { "a byte beyond ASCII is not", "12345678\xc3\xa4", false },
    { "a byte beyond ASCII in a word is not",
      "123\xc3\xa4"
      "678",
      false },
    { "a control character is not", "12345678\n", false },
    { "a control character in a word is not", "1234\n678", false },
};

static void check_plain(void **state)
{
    const struct plain_row *row = *state;
    assert_int_equal(json_is_plain_text(row->text, strlen(row->text)), row->plain);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_read, reads);
    SUITE_ROWS(&s, check_plain, plains);
    SUITE_ROWS(&s, check_write, write_rows);
    suite_add(&s, "no tree has no text", no_tree_has_no_text, NULL);
    suite_add(&s, "deep nesting is given up", deep_nesting_is_given_up, NULL);
    suite_add(&s, "a long text with escapes is given up", a_long_text_with_escapes_is_given_up,
              NULL);
    return suite_run(&s, "json_plain");
}
