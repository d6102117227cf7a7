#include "base/json.h"

#include <string.h>

#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static void paths_find_what_is_there(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree(
        "{'spec':{'driver':{'version':'580','count':3,'on':true}},'list':[1]}");
    assert_string_equal(json_str(o, "spec.driver.version"), "580");
    assert_int_equal(json_int(o, "spec.driver.count", -1), 3);
    assert_true(json_bool(o, "spec.driver.on", false));
    assert_ptr_equal(json_at(o, ""), o);
}

static void absent_and_mistyped_are_the_same(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree("{'s':'text','n':1,'real':1.5,'a':[{'b':1}],'null':null}");
    assert_null(json_at(NULL, "a"));
    assert_null(json_at(o, "s.deeper"));
    assert_null(json_at(o, "a.b"));
    assert_null(json_str(o, "n"));
    assert_null(json_str(o, "null"));
    assert_string_equal(json_str_or_empty(o, "n"), "");
    assert_int_equal(json_int(o, "s", 7), 7);
    assert_int_equal(json_int(o, "real", 7), 7);
    assert_true(json_bool(o, "n", true));
    assert_false(json_bool(o, "absent", false));
}

/* Sums of some of them, and seconds as milliseconds, never overflow. */
static void a_number_beyond_json_is_the_nearest_within(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree(
        "{'most':9223372036854775807,'least':-9223372036854775808,'within':9007199254740991}");
    assert_int_equal(json_int(o, "most", 7), INT64_C(9007199254740991));
    assert_int_equal(json_int(o, "least", 7), -INT64_C(9007199254740991));
    assert_int_equal(json_int(o, "within", 7), INT64_C(9007199254740991));
}

static void endless_key_is_absent(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree("{'a':1}");
    char path[200];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_null(json_at(o, path));
}

static void keys_with_dots_are_read_from_their_map(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *labels = tree("{'ostler.dev/driver':'abc'}");
    assert_string_equal(json_key(labels, "ostler.dev/driver"), "abc");
    assert_null(json_key(labels, "other"));
    assert_null(json_key(NULL, "other"));
}

static void setting_makes_the_way(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = json_object();
    json_set_at(o, "spec.a.b", json_integer(1));
    json_set_at(o, "spec.a.c", json_true());
    json_set_at(o, "top", json_null());
    assert_tree(o, "{'spec':{'a':{'b':1,'c':true}},'top':null}");
}

static void items_are_found_by_a_text(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *list = tree(
        "[{'name':1},{'name':'a'},{'name':'b','n':1},{'name':'b','n':2},{'at':{'path':'c'}}]");
    assert_ptr_equal(json_find(list, "name", "b"), json_array_get(list, 2));
    assert_ptr_equal(json_find(list, "at.path", "c"), json_array_get(list, 4));
    assert_null(json_find(list, "name", "c"));
    assert_null(json_find(json_array_get(list, 0), "name", "a"));
    assert_null(json_find(NULL, "name", "a"));
}

static void texts_are_found(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *list = tree("[1,'a',['b']]");
    assert_true(json_has_text(list, "a"));
    assert_false(json_has_text(list, "b"));
    assert_false(json_has_text(NULL, "a"));
}

static void setting_replaces_what_is_no_object(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree("{'spec':'text'}");
    json_set_at(o, "spec.a", json_integer(1));
    assert_tree(o, "{'spec':{'a':1}}");
}

static void setting_in_what_is_no_object_does_nothing(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree("[]");
    json_set_at(o, "spec.a.b", json_integer(1));
    json_set_at(o, "a", json_integer(1));
    assert_tree(o, "[]");
}

static const struct merge_row {
    const char *name;
    const char *base, *over, *want;
} merges[] = {
    { "merging adds keys", "{'a':1}", "{'b':2}", "{'a':1,'b':2}" },
    { "merging replaces scalars", "{'a':1}", "{'a':'x'}", "{'a':'x'}" },
    { "merging goes into objects", "{'a':{'b':1,'c':2}}", "{'a':{'c':3}}", "{'a':{'b':1,'c':3}}" },
    { "merging replaces arrays whole", "{'a':[1,2]}", "{'a':[3]}", "{'a':[3]}" },
    { "merging null stores null", "{'a':1}", "{'a':null}", "{'a':null}" },
    { "merging an object replaces a scalar", "{'a':1}", "{'a':{'b':1}}", "{'a':{'b':1}}" },
    { "merging nothing changes nothing", "{'a':1}", "{}", "{'a':1}" },
};

static void check_merge(void **state)
{
    const struct merge_row *row = *state;
    CLEANUP_JSON json_t *base = tree(row->base);
    CLEANUP_JSON json_t *over = tree(row->over);
    json_merge(base, over);
    assert_tree(base, row->want);
}

static void second_merge_leaves_the_first_overlay_alone(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *base = json_object();
    CLEANUP_JSON json_t *first = tree("{'driver':{'version':'1'}}");
    CLEANUP_JSON json_t *second = tree("{'driver':{'version':'2'}}");
    json_merge(base, first);
    json_merge(base, second);
    assert_tree(base, "{'driver':{'version':'2'}}");
    assert_tree(first, "{'driver':{'version':'1'}}");
}

static void equal_trees_have_equal_canonical_text(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *a = tree("{'b':[1,{'y':1,'x':2}],'a':'ä/'}");
    CLEANUP_JSON json_t *b = tree("{'a':'\\u00e4\\/','b':[1,{'x':2,'y':1}]}");
    CLEANUP_FREE char *text_a = json_canonical(a), *text_b = json_canonical(b);
    CLEANUP_FREE char *want = json_quoted("{'a':'ä/','b':[1,{'x':2,'y':1}]}");
    assert_string_equal(text_a, want);
    assert_string_equal(text_b, want);
}

static const struct hash_row {
    const char *name, *a, *b;
    bool same;
} hashes[] = {
    { "equal trees with members in another order have one hash", "{'b':[1,{'y':1,'x':2}],'a':'z'}",
      "{'a':'z','b':[1,{'x':2,'y':1}]}", true },
    { "another order of items is another hash", "[1,2]", "[2,1]", false },
    { "another text is another hash", "{'a':'x'}", "{'a':'y'}", false },
    { "another key is another hash", "{'a':'x'}", "{'b':'x'}", false },
    { "a member more is another hash", "{'a':'x'}", "{'a':'x','b':null}", false },
    { "values that change places are another hash", "{'a':1,'b':2}", "{'a':2,'b':1}", false },
    { "members that change objects are another hash", "{'a':{'x':1},'b':{}}",
      "{'a':{},'b':{'x':1}}", false },
    { "a number is not its text", "[1]", "['1']", false },
    { "a whole number is not a real one", "[1]", "[1.0]", false },
    { "real numbers differ", "[1.5]", "[2.5]", false },
    { "true is not false", "[true]", "[false]", false },
    { "an empty object is not an empty list", "[{}]", "[[]]", false },
    { "an empty text is not null", "['']", "[null]", false },
};

static void check_hash(void **state)
{
    const struct hash_row *row = *state;
    CLEANUP_JSON json_t *a = tree(row->a), *b = tree(row->b);
    assert_int_equal(json_hash(a) == json_hash(b), row->same);
}

static void bodies_keep_the_order_in_which_they_were_built(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree("{'b':1,'a':2}");
    CLEANUP_FREE char *text = json_compact(o);
    assert_string_equal(text, "{\"b\":1,\"a\":2}");
}

static void text_that_is_no_utf8_is_made_so(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *good = json_text("ä");
    CLEANUP_JSON json_t *bad = json_text("a\xff\xc3z");
    CLEANUP_JSON json_t *formatted = json_textf("%d of %s", 3, "\xff");
    assert_string_equal(json_string_value(good), "ä");
    assert_string_equal(json_string_value(bad), "a??z");
    assert_string_equal(json_string_value(formatted), "3 of ?");
}

static const struct parse_row {
    const char *name;
    const char *text;
    bool ok;
} parses[] = {
    { "an object is JSON", "{'a':1}", true },
    { "a scalar is JSON", "'text'", true },
    { "nothing is no JSON", "", false },
    { "two documents are no JSON", "{} {}", false },
    { "a trailing comma is no JSON", "{'a':1,}", false },
    { "a key given twice is refused", "{'a':1,'a':2}", false },
    { "half an escaped NUL is refused", "{'\\u0000':'\\u000", false },
    { "an escaped NUL that ends nothing is refused", "{'\\u0000':1,'\\", false },
    { "half a surrogate pair is refused", "'\\ud800'", false },
    { "bytes that are no UTF-8 are refused", "'\xff'", false },
    { "an integer beyond 64 bits is refused", "99999999999999999999", false },
};

static void check_parse(void **state)
{
    const struct parse_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *root = json_parse(text, strlen(text), &e);
    assert_int_equal(root != NULL, row->ok);
    assert_int_equal(e.kind, row->ok ? ERR_NONE : ERR_INVALID);
    if (!row->ok)
        assert_non_null(strstr(err_msg(&e), "line 1"));
}

static const struct nul_row {
    const char *name;
    const char *text;
    const char *want; /* the same tree, as it is written again */
} nuls[] = {
    { "a NUL in a text is kept", "{'a':'b\\u0000c','d':['\\u0000']}",
      "{'a':'b\\u0000c','d':['\\u0000']}" },
    { "a NUL in a key becomes another character", "{'a\\u0000b':{'\\u0000':1}}",
      "{'a\xef\xbf\xbd"
      "b':{'\xef\xbf\xbd':1}}" },
    { "an escaped backslash escapes nothing more", "{'\\u0000':1,'a':'\\\\u0000'}",
      "{'a':'\\\\u0000','\xef\xbf\xbd':1}" },
    { "of keys that become one the last counts", "{'\\u0000':1,'\\ufffd':2}",
      "{'\xef\xbf\xbd':2}" },
};

/* What a kubelet may call its resources, as the API server writes it. */
static void of_stored_keys_the_last_counts(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted("{'\xef\xbf\xbd\\u0001':'1','\xef\xbf\xbd\\u0001':'2'}");
    assert_null(json_parse(text, strlen(text), NULL));
    CLEANUP_JSON json_t *stored = json_parse_stored(text, strlen(text), NULL);
    assert_int_equal(json_object_size(stored), 1);
    assert_string_equal(json_key(stored, "\xef\xbf\xbd\x01"), "2");
}

static void check_nul(void **state)
{
    const struct nul_row *row = *state;
    CLEANUP_JSON json_t *got = tree(row->text);
    CLEANUP_FREE char *text = json_canonical(got), *want = json_quoted(row->want);
    assert_string_equal(text, want);
}

static void text_with_a_nul_is_not_whole(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *texts = tree("['','a','a\\u0000','\\u0000a']");
    assert_true(json_is_whole(json_array_get(texts, 0)));
    assert_true(json_is_whole(json_array_get(texts, 1)));
    assert_false(json_is_whole(json_array_get(texts, 2)));
    assert_false(json_is_whole(json_array_get(texts, 3)));
}

static void endless_nesting_is_refused(void **state)
{
    (void) state;
    static char text[100000];
    memset(text, '[', sizeof text);
    CLEANUP_ERR struct err e = { 0 };
    assert_null(json_parse(text, sizeof text, &e));
    assert_int_equal(e.kind, ERR_INVALID);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a path finds what is there", paths_find_what_is_there, NULL);
    suite_add(&s, "absent and mistyped are the same", absent_and_mistyped_are_the_same, NULL);
    suite_add(&s, "a number beyond all bounds is the nearest within",
              a_number_beyond_json_is_the_nearest_within, NULL);
    suite_add(&s, "a key longer than any is absent", endless_key_is_absent, NULL);
    suite_add(&s, "a key with dots is read from its map", keys_with_dots_are_read_from_their_map,
              NULL);
    suite_add(&s, "an item of a list is found by a text", items_are_found_by_a_text, NULL);
    suite_add(&s, "a text is found in a list", texts_are_found, NULL);
    suite_add(&s, "setting makes the way", setting_makes_the_way, NULL);
    suite_add(&s, "setting replaces what is no object on the way",
              setting_replaces_what_is_no_object, NULL);
    suite_add(&s, "setting in what is no object does nothing",
              setting_in_what_is_no_object_does_nothing, NULL);
    SUITE_ROWS(&s, check_merge, merges);
    suite_add(&s, "a second merge leaves the first overlay alone",
              second_merge_leaves_the_first_overlay_alone, NULL);
    suite_add(&s, "equal trees have equal canonical text", equal_trees_have_equal_canonical_text,
              NULL);
    SUITE_ROWS(&s, check_hash, hashes);
    suite_add(&s, "bodies keep the order in which they were built",
              bodies_keep_the_order_in_which_they_were_built, NULL);
    suite_add(&s, "text that is no UTF-8 is made so", text_that_is_no_utf8_is_made_so, NULL);
    SUITE_ROWS(&s, check_parse, parses);
    SUITE_ROWS(&s, check_nul, nuls);
    suite_add(&s, "of a key that is stored twice the last counts", of_stored_keys_the_last_counts,
              NULL);
    suite_add(&s, "a text with a NUL in it is not whole", text_with_a_nul_is_not_whole, NULL);
    suite_add(&s, "endless nesting is refused", endless_nesting_is_refused, NULL);
    return suite_run(&s, "json");
}
