#include "kube/skip.h"

#include <string.h>

#include "tests/unit/support/suite.h"

#define SIXTEEN "0123456789abcdef"
#define SIXTY SIXTEEN SIXTEEN SIXTEEN "0123456789ab"

/* Each text begins in a container; `rest` follows behind its end. */
static const struct skip_row {
    const char *name, *text, *rest;
} rows[] = {
    { "an end at once", "}", ",\"b\":1}" },
    { "containers in it", "\"a\":{\"b\":[{},[]]}}", "]" },
    { "brackets in texts", "\"}]\":\"{[\"}", "}" },
    { "an escaped quote", "\"a\":\"}\\\"}\"}", "}" },
    { "an escaped backslash before the quote", "\"a\":\"}\\\\\"}", "\"}" },
    { "an end in the second block", "\"" SIXTY "\":\"}\"}", "}}" },
    { "an end as the last byte of a block", "\"" SIXTY "1\"}", "}" },
    { "an escape over the edge of blocks", "\"" SIXTY "12\\\"}\"}", "}" },
    { "two backslashes over the edge of blocks", "\"" SIXTY "12\\\\\"}", "\"}" },
    { "three backslashes before a quote", "\"a\\\\\\\"}\":1}", "}" },
    { "a text over blocks", "\"" SIXTY "}" SIXTY "}\"}", "}" },
    { "many containers in a block",
      "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}", "]]" },
    { "blocks without a quote", "[" SIXTY "," SIXTY "," SIXTY "]]", "]" },
};

static void check_skip(void **state)
{
    const struct skip_row *row = *state;
    CLEANUP_FREE char *text = xasprintf("%s%s%s", row->text, row->rest, SIXTY SIXTY);
    struct skip s = { .open = 1 };
    assert_int_equal(skip_json(&s, text, strlen(text)), strlen(row->text));
    assert_int_equal(s.open, 0);
    assert_false(s.in_string || s.in_escape);
}

/* The text may be cut anywhere. */
static void check_cuts(void **state)
{
    const struct skip_row *row = *state;
    size_t len = strlen(row->text);
    for (size_t cut = 0; cut < len; cut++) {
        struct skip s = { .open = 1 };
        assert_int_equal(skip_json(&s, row->text, cut), cut);
        assert_int_equal(skip_json(&s, row->text + cut, len - cut), len - cut);
        assert_int_equal(s.open, 0);
    }
}

static void without_an_end_all_is_taken(void **state)
{
    (void) state;
    static const char text[] = "\"" SIXTY "\":[{\"" SIXTY;
    struct skip s = { .open = 1 };
    assert_int_equal(skip_json(&s, text, strlen(text)), strlen(text));
    assert_int_equal(s.open, 3);
    assert_true(s.in_string);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_skip, rows);
    SUITE_ROWS(&s, check_cuts, rows);
    suite_add(&s, "without an end all is taken", without_an_end_all_is_taken, NULL);
    return suite_run(&s, "skip");
}
