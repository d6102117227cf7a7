/* What the sweeps read by their own json_loadb() is what jansson reads. */
#include "tests/sweep/load.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

struct load_row {
    const char *name;
    const char *text;
};

static const struct load_row rows[] = {
    { "an empty map", "{}" },
    { "an empty list", "[]" },
    { "a map of everything",
      "{\"a\":{\"b\":[1,-2,0,{\"c\":null}],\"d\":true},\"e\":false,\"f\":\"text\"}" },
    { "blanks", " { \"a\" :\t[ 1 , 2 ]\r\n} \n" },
    { "escapes of one letter",
      "{\"a\":\"\\\"quoted\\\" \\\\ \\/ \\b\\f\\n\\r\\t\",\"b\\\"\":\"\\\\\"}" },
    { "an escaped key before another escape", "{\"b\\\"\":\"x\\\\y\",\"c\":{\"d\\\\\":\"e\"}}" },
    { "an empty string", "{\"a\":\"\"}" },
    { "an empty key", "{\"\":1}" },
    /* jansson's turn */
    { "escapes by number", "{\"a\":\"\\u00e9\\ud83d\\ude00\"}" },
    { "an escaped NUL", "{\"a\":\"\\u0000\"}" },
    { "letters beyond ASCII", "{\"a\":\"\xc3\xa9\"}" },
    { "bytes that are no UTF-8", "{\"a\":\"\xff\"}" },
    { "fractions", "{\"a\":1.5,\"b\":-1e3,\"c\":0.1E-2}" },
    { "long integers", "{\"a\":123456789012345678,\"b\":-9223372036854775808}" },
    { "an integer that is too large", "{\"a\":99999999999999999999}" },
    { "minus zero", "{\"a\":-0}" },
    { "a DEL", "{\"a\":\"\x7f\"}" },
    /* wrong ones */
    { "no text", "" },
    { "blanks alone", " " },
    { "an open map", "{" },
    { "a key alone", "{\"a\"" },
    { "a key without its value", "{\"a\":" },
    { "a map without its end", "{\"a\":1" },
    { "a comma before the end", "{\"a\":1,}" },
    { "no comma", "{\"a\":1 \"b\":2}" },
    { "a leading zero", "{\"a\":01}" },
    { "a minus alone", "{\"a\":-}" },
    { "a plus", "{\"a\":+1}" },
    { "a letter after a number", "{\"a\":1x}" },
    { "a letter after a word", "{\"a\":truex}" },
    { "half a word", "{\"a\":tru}" },
    { "single quotes", "{\"a\":'b'}" },
    { "a line break in a string", "{\"a\":\"b\nc\"}" },
    { "an unknown escape", "{\"a\":\"b\\x\"}" },
    { "half an escape", "{\"a\":\"b\\" },
    { "half a string", "{\"a\":\"b" },
    { "a key without quotes", "{a:1}" },
    { "no colon", "{\"a\" 1}" },
    { "a comma before the end of a list", "[1,]" },
    { "no comma in a list", "[1 2]" },
    { "an open list", "[1" },
    { "a list that ends as a map", "[}" },
    { "a map that ends as a list", "{]" },
    { "a letter after the end", "{}x" },
    { "two maps", "{}{}" },
    { "a number alone", "1" },
    { "a string alone", "\"a\"" },
    { "a word alone", "null" },
    /* one key twice */
    { "one key twice", "{\"a\":1,\"a\":2,\"b\":3}" },
};

static json_t *read(const char *text, size_t flags, bool by_jansson)
{
    load_by_jansson(by_jansson);
    json_t *v = json_loadb(text, strlen(text), flags, NULL);
    load_by_jansson(false);
    return v;
}

static void reads_as_jansson(void **state)
{
    static const size_t flags[] = { 0, JSON_DECODE_ANY, JSON_REJECT_DUPLICATES,
                                    JSON_DECODE_ANY | JSON_ALLOW_NUL, JSON_DISABLE_EOF_CHECK };
    const struct load_row *row = *state;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        CLEANUP_JSON json_t *own = read(row->text, flags[i], false);
        CLEANUP_JSON json_t *other = read(row->text, flags[i], true);
        assert_int_equal(own != NULL, other != NULL);
        /* The order of members is the same, too. */
        CLEANUP_FREE char *own_text = own ? json_compact(own) : NULL;
        CLEANUP_FREE char *other_text = other ? json_compact(other) : NULL;
        assert_true(str_eq(own_text, other_text));
    }
}

/* Deeper than the reader of the sweeps goes, and deeper than jansson does. */
static void reads_what_is_deep(void **state)
{
    static const size_t depths[] = { 199, 200, 201, 1000, 3000 };
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        CLEANUP_FREE char *text = xcalloc(2 * depths[i] + 1, 1);
        memset(text, '[', depths[i]);
        memset(text + depths[i], ']', depths[i]);
        CLEANUP_JSON json_t *own = read(text, 0, false), *other = read(text, 0, true);
        assert_int_equal(own != NULL, other != NULL);
        assert_int_equal(json_equal(own, other), own != NULL);
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, reads_as_jansson, rows);
    suite_add(&s, "what is deep", reads_what_is_deep, NULL);
    return suite_run(&s, "load");
}
