#include "kube/picks.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum place { META, NAME, LABELS, A, SPEC, ITEMS, PLACES };

static const struct picks_row labels[] = { { "a.b/c", A, NULL }, { 0 } };
static const struct picks_row meta[] = { { "name", NAME, NULL },
                                         { "labels", LABELS, labels },
                                         { 0 } };
static const struct picks_row root[] = {
    { "meta", META, meta }, { "spec", SPEC, NULL }, { "items", ITEMS, NULL }, { 0 }
};

/* `want`: the texts of NAME, A, SPEC and ITEMS; NULL: given up. */
static const struct row {
    const char *name, *text, *want;
} rows[] = {
    { "members at their places", "{'meta':{'name':'n','labels':{'a.b/c':'x'}},'spec':1}",
      "'n' 'x' 1 -" },
    { "an empty object", "{}", "- - - -" },
    { "an empty object within", "{'meta':{},'spec':{}}", "- - {} -" },
    { "in any order, after others", "{'z':[{'name':'o'}],'spec':true,'meta':{'q':{},'name':'n'}}",
      "'n' - true -" },
    { "containers with brackets in texts", "{'spec':{'}':[']']},'items':[{'a':'{'},1]}",
      "- - {'}':[']']} [{'a':'{'},1]" },
    { "a text with an escaped quote", "{'z':'\\\\','spec':'a\\\\\\'b','items':null}",
      "- - 'a\\\\\\'b' null" },
    { "names of which one begins another", "{'met':1,'metas':2,'spec':3}", "- - 3 -" },
    { "a value in place of an object", "{'meta':7,'spec':3}", "- - 3 -" },
    { "a member twice", "{'spec':1,'spec':2}", NULL },
    { "an object twice", "{'meta':{'name':'n'},'meta':{}}", NULL },
    { "a member of an object twice", "{'meta':{'name':'n','name':'m'}}", NULL },
    { "another member twice", "{'z':1,'z':2}", "- - - -" },
    { "an escape in a key", "{'sp\\u0065c':1}", NULL },
    { "a space before a value", "{'spec': 1}", NULL },
    { "a space after a value", "{'spec':1 }", NULL },
    { "a space before a key", "{ 'spec':1}", NULL },
    { "no object", "[1]", NULL },
    { "no text", "", NULL },
    { "an end too early", "{'spec':1", NULL },
    { "an end in a text", "{'spec':'a", NULL },
    { "an end after a backslash", "{'spec':'a\\", NULL },
    { "an end in a key", "{'spe", NULL },
    { "an end in a container", "{'spec':[1", NULL },
    { "an end before a value", "{'spec':", NULL },
    { "no value", "{'spec':,'items':1}", NULL },
    { "no colon", "{'spec' 1}", NULL },
    { "a comma at the end", "{'spec':1,}", NULL },
    { "more after the object", "{'spec':1}}", NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_FREE char *quoted = json_quoted(row->text);
    size_t len = strlen(quoted);
    char *text = memcpy(xcalloc(len + 1, 1), quoted, len); /* ends where the text ends */
    struct picked picked[PLACES] = { 0 };
    bool read = picks_read(text, len, root, picked);
    assert_int_equal(read, row->want != NULL);
    if (read) {
        static const enum place shown[] = { NAME, A, SPEC, ITEMS };
        char got[200] = "";
        for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
            const struct picked *p = &picked[shown[i]];
            size_t at = strlen(got);
            snprintf(got + at, sizeof got - at, "%s%.*s", i ? " " : "", p->at ? (int) p->len : 1,
                     p->at ? p->at : "-");
        }
        CLEANUP_FREE char *want = json_quoted(row->want);
        assert_string_equal(got, want);
    }
    free(text);
}

/* The items of a list, with a bar after each; '!' at the end: some is left. */
static const struct items_row {
    const char *name, *text, *want;
} items_rows[] = {
    { "items of all kinds", "[1,'a,b',{'c':[2,3]},[4],null]", "1|'a,b'|{'c':[2,3]}|[4]|null|" },
    { "no items", "[]", "!" },
    { "one item", "[{}]", "{}|" },
    { "no list", "{'a':1}", "!" },
    { "an item without an end", "[1,[2", "1|!" },
    { "a comma too many", "[1,,2]", "1|!" },
};

static void check_items(void **state)
{
    const struct items_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text), *want = json_quoted(row->want);
    struct picked list = { text, strlen(text) }, item;
    char got[200] = "";
    while (picks_next(&list, &item))
        snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s|", (int) item.len, item.at);
    if (strcmp(list.at, "]") != 0)
        strcat(got, "!");
    assert_string_equal(got, want);
}

static void an_absent_list_has_no_items(void **state)
{
    (void) state;
    struct picked list = { 0 }, item;
    assert_false(picks_next(&list, &item));
}

/* Of a size of 4 bytes. */
static const struct text_row {
    const char *name, *value, *want; /* NULL: not readable */
} text_rows[] = {
    { "a text", "'abc'", "abc" },
    { "an empty text", "''", "" },
    { "a text too long", "'abcd'", NULL },
    { "an escape", "'a\\n'", NULL },
    { "beyond ASCII", "'\xc3\xa4'", NULL },
    { "a number", "1", NULL },
    { "a list", "['a']", NULL },
    { "nothing", "", NULL },
};

static void check_text(void **state)
{
    const struct text_row *row = *state;
    CLEANUP_FREE char *value = json_quoted(row->value);
    const struct picked picked = { value, strlen(value) };
    char text[4];
    bool read = picks_text(&picked, text, sizeof text);
    assert_int_equal(read, row->want != NULL);
    if (read)
        assert_string_equal(text, row->want);
}

static void a_value_is_a_string_or_not(void **state)
{
    (void) state;
    const struct picked value = { "\"abc\"", 5 }, number = { "123", 3 }, none = { 0 };
    assert_true(picks_is(&value, "abc"));
    assert_false(picks_is(&value, "ab"));
    assert_false(picks_is(&value, "abd"));
    assert_false(picks_is(&number, "2"));
    assert_false(picks_is(&none, ""));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_items, items_rows);
    SUITE_ROWS(&s, check_text, text_rows);
    suite_add(&s, "an absent list has no items", an_absent_list_has_no_items, NULL);
    suite_add(&s, "a value is a string, or not", a_value_is_a_string_or_not, NULL);
    return suite_run(&s, "picks");
}
