/* What comes out of a stream of objects that any user may have written: Ostler reads
 * what it needs, and no more. */
#include "kube/split.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const char *const paths[] = { "metadata.name",
                                     "metadata.labels",
                                     "metadata.owners.kind",
                                     "spec.containers.image",
                                     "spec.containers.limits",
                                     "spec.volumes.empty.medium",
                                     "status.phase",
                                     "metadata.notes.=a.example/b",
                                     NULL };
static const char *const but_ours[] = { "status.sizes.!ours.example/", NULL };
static const char *const but_two[] = { "status.sizes.!ours.example/!b.example/", NULL };
static const struct split_view all_but = { but_ours, false }, all_but_two = { but_two, false };
static const struct split_view only = { paths, true }, without = { paths, false };

static int take_item(void *arg, const char *text, size_t len, struct err *e)
{
    struct buf *items = arg;
    (void) e;
    buf_printf(items, "%.*s\n", (int) len, text);
    return 0;
}

/* What comes out of a text that is fed in pieces of so many bytes. Owned by the caller. */
static char *split_in(const struct split_view *view, enum split_mode mode, const char *text,
                      size_t piece)
{
    struct buf items = BUF_INIT(64 << 20);
    CLEANUP(split_clear) struct split s;
    CLEANUP_ERR struct err e = { 0 };
    split_init(&s, mode, view, take_item, &items);
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i += piece)
        if (split_feed(&s, text + i, len - i < piece ? len - i : piece, &e) < 0)
            fail_msg("%s", err_msg(&e));
    assert_true(split_complete(&s));
    return buf_take(&items);
}

static const struct view_row {
    const char *name;
    enum split_mode mode;
    const char *text, *items;
} views[] = {
    { "what a path names", SPLIT_FRAMES,
      "{'metadata':{'uid':'u','name':'a','x':{}},'spec':{'nodeName':'n'},'status':{'a':[]}}",
      "{'metadata':{'name':'a'},'spec':{},'status':{}}\n" },
    { "a name that has dots", SPLIT_FRAMES,
      "{'metadata':{'notes':{'a':{'example/b':1},'a.example/b':'c','a.example':2,'x':3}}}",
      "{'metadata':{'notes':{'a.example/b':'c'}}}\n" },
    { "all that is below it", SPLIT_FRAMES, "{'metadata':{'labels':{'a':{'b':[1,[2]]},'c':'d'}}}",
      "{'metadata':{'labels':{'a':{'b':[1,[2]]},'c':'d'}}}\n" },
    { "the same of every element", SPLIT_FRAMES,
      "{'spec':{'containers':[{'env':[1],'image':'i'},{},{'limits':{'a':'1'}}],'x':1}}",
      "{'spec':{'containers':[{'image':'i'},{},{'limits':{'a':'1'}}]}}\n" },
    { "members of the root that no path begins with", SPLIT_FRAMES,
      "{'kind':'Pod','code':410,'details':{'a':[1]},'spec':{'a':1}}",
      "{'kind':'Pod','code':410,'details':{'a':[1]},'spec':{}}\n" },
    { "a scalar where a path goes on", SPLIT_FRAMES, "{'kind':'Status','status':'Failure'}",
      "{'kind':'Status','status':'Failure'}\n" },
    { "that something is there", SPLIT_FRAMES,
      "{'spec':{'volumes':[{'name':'a','empty':{'limit':'1'}},{'secret':{}}]}}",
      "{'spec':{'volumes':[{'empty':{}},{}]}}\n" },
    { "of the object of a frame", SPLIT_FRAMES,
      "{'type':'ADDED','object':{'kind':'Pod','metadata':{'a':1,'name':'b'}}}",
      "{'type':'ADDED','object':{'kind':'Pod','metadata':{'name':'b'}}}\n" },
    { "of the items of a list", SPLIT_LIST,
      "{'metadata':{'x':1},'items':[{'metadata':{'x':1,'name':'b'}},{'spec':{'a':[{}]}}]}",
      "{'metadata':{'name':'b'}}\n{'spec':{}}\n" },
    { "the same names elsewhere do not count", SPLIT_FRAMES,
      "{'spec':{'name':'a','metadata':{'name':'b'}},'status':{'labels':{}}}",
      "{'spec':{},'status':{}}\n" },
};

static void check_view(void **state)
{
    const struct view_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text), *want = json_quoted(row->items);
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        CLEANUP_FREE char *got = split_in(&only, row->mode, text, piece);
        assert_string_equal(got, want);
    }
}

static const struct key_row {
    const char *name, *text, *want;
} keys[] = {
    { "keys of others are left out",
      "{'status':{'sizes':{'cpu':'1','ours.example/a':'2','other.example/b':'3','ours.example/"
      "c':{}}}}",
      "{'status':{'sizes':{'ours.example/a':'2','ours.example/c':{}}}}\n" },
    { "a key that is shorter than ours", "{'status':{'sizes':{'ours':1,'':2,'ours.example':3}}}",
      "{'status':{'sizes':{}}}\n" },
    { "the same keys elsewhere", "{'sizes':{'cpu':1},'status':{'cpu':2,'sizes2':{'cpu':3}}}",
      "{'sizes':{'cpu':1},'status':{'cpu':2,'sizes2':{'cpu':3}}}\n" },
};

static void check_keys(void **state)
{
    const struct key_row *row = *state;
    CLEANUP_FREE char *text = json_quoted(row->text), *want = json_quoted(row->want);
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        CLEANUP_FREE char *got = split_in(&all_but, SPLIT_FRAMES, text, piece);
        assert_string_equal(got, want);
    }
}

static void a_key_without_end_is_left_out_with_its_member(void **state)
{
    (void) state;
    CLEANUP_FREE char *key = xcalloc(1, SPLIT_KEY_MAX);
    memset(key, 'k', SPLIT_KEY_MAX - 1);
    CLEANUP_FREE char *plain = xasprintf(
        "{'status':{'sizes':{'ours.example/%s':{'a':[1]},'ours.example/a':'2'}}}", key);
    CLEANUP_FREE char *text = json_quoted(plain),
                      *want = json_quoted("{'status':{'sizes':{'ours.example/a':'2'}}}\n");
    CLEANUP_FREE char *got = split_in(&all_but, SPLIT_FRAMES, text, 4096);
    assert_string_equal(got, want);
}

static void keys_with_either_prefix_are_kept(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = json_quoted(
        "{'status':{'sizes':{'b.example/a':1,'b.example':2,'cpu':3,'ours.example/c':4}}}");
    CLEANUP_FREE char *want = json_quoted(
        "{'status':{'sizes':{'b.example/a':1,'ours.example/c':4}}}\n");
    CLEANUP_FREE char *got = split_in(&all_but_two, SPLIT_FRAMES, text, 1);
    assert_string_equal(got, want);
}

/* So many times a text, with commas. Owned by the caller. */
static char *many(size_t count, const char *text)
{
    struct buf b = BUF_INIT(64 << 20);
    for (size_t i = 0; i < count; i++)
        buf_printf(&b, "%s%s", i ? "," : "", text);
    return buf_take(&b);
}

/* So many times a letter. Owned by the caller. */
static char *filled(char c, size_t len)
{
    char *text = xcalloc(1, len + 1);
    memset(text, c, len);
    return text;
}

/* What comes out of one object, as a tree. */
static json_t *seen_by(const struct split_view *view, const char *text)
{
    CLEANUP_FREE char *got = split_in(view, SPLIT_FRAMES, text, 16384),
                      *by_byte = split_in(view, SPLIT_FRAMES, text, 1);
    assert_string_equal(by_byte, got);
    json_t *object = json_parse(got, strlen(got), NULL);
    assert_non_null(object);
    return object;
}

static json_t *seen_of(const char *text)
{
    return seen_by(&only, text);
}

static void what_is_not_looked_at_may_have_any_depth(void **state)
{
    (void) state;
    CLEANUP_FREE char *open = filled('[', 9000), *close = filled(']', 9000);
    CLEANUP_FREE char *text = xasprintf("{\"spec\":{\"a\":%s%s,\"containers\":[]}}", open, close);
    CLEANUP_JSON json_t *object = seen_of(text);
    assert_tree(object, "{'spec':{'containers':[]}}");
}

static void an_array_has_so_many_elements(void **state)
{
    (void) state;
    CLEANUP_FREE char *elements = many(SPLIT_MEMBERS_MAX + 7, "{\"kind\":\"a\"}");
    CLEANUP_FREE char *text = xasprintf(
        "{\"metadata\":{\"owners\":[%s],\"name\":\"n\"},\"status\":{\"phase\":\"p\"}}", elements);
    CLEANUP_JSON json_t *object = seen_of(text);
    assert_int_equal(json_array_size(json_at(object, "metadata.owners")), SPLIT_MEMBERS_MAX);
    assert_string_equal(json_str(object, "metadata.name"), "n");
    assert_string_equal(json_str(object, "status.phase"), "p");
}

/* A node writes its own status. */
static void also_where_paths_are_left_out(void **state)
{
    (void) state;
    CLEANUP_FREE char *elements = many(SPLIT_MEMBERS_MAX + 7, "{\"kind\":\"a\",\"b\":[[]]}");
    CLEANUP_FREE char *text = xasprintf(
        "{\"metadata\":{\"owners\":[%s],\"others\":[%s],\"labels\":{}},\"more\":{\"all\":[%s]}}",
        elements, elements, elements);
    CLEANUP_JSON json_t *object = seen_by(&without, text);
    assert_int_equal(json_array_size(json_at(object, "metadata.owners")), SPLIT_MEMBERS_MAX);
    assert_tree(json_array_get(json_at(object, "metadata.owners"), 0), "{'b':[[]]}");
    assert_int_equal(json_array_size(json_at(object, "metadata.others")), SPLIT_MEMBERS_MAX);
    assert_int_equal(json_array_size(json_at(object, "more.all")), SPLIT_MEMBERS_MAX + 7);
    assert_null(json_at(object, "metadata.labels"));
}

static void each_array_for_itself(void **state)
{
    (void) state;
    CLEANUP_FREE char *elements = many(SPLIT_MEMBERS_MAX, "1");
    CLEANUP_FREE char *text = xasprintf("{\"metadata\":{\"labels\":{\"a\":[%s],\"b\":[[%s],[1]]}}}",
                                        elements, elements);
    CLEANUP_JSON json_t *object = seen_of(text);
    assert_int_equal(json_array_size(json_at(object, "metadata.labels.a")), SPLIT_MEMBERS_MAX);
    assert_int_equal(json_array_size(json_at(object, "metadata.labels.b")), 2);
}

static void a_map_has_so_many_members(void **state)
{
    (void) state;
    struct buf members = BUF_INIT(1 << 20);
    for (int i = 0; i < 3 * SPLIT_MEMBERS_MAX; i++)
        buf_printf(&members, "%s\"%d\":\"\"", i ? "," : "", i);
    CLEANUP_FREE char *text = xasprintf("{\"metadata\":{\"labels\":{%s},\"name\":\"n\"}}",
                                        buf_text(&members));
    buf_clear(&members);
    CLEANUP_JSON json_t *object = seen_of(text);
    assert_int_equal(json_object_size(json_at(object, "metadata.labels")), SPLIT_MEMBERS_MAX);
    assert_string_equal(json_str(object, "metadata.name"), "n");
}

static void a_string_that_is_too_long_is_empty(void **state)
{
    (void) state;
    CLEANUP_FREE char *longest = filled('x', SPLIT_STRING_MAX - 2),
                      *longer = filled('x', SPLIT_STRING_MAX - 1);
    CLEANUP_FREE char *text = xasprintf("{\"spec\":{\"containers\":[{\"image\":\"%s\"},{\"image\":"
                                        "\"%s\\\"%s\"},{\"image\":\"i\"}]},"
                                        "\"status\":{\"message\":\"%s\",\"phase\":\"p\"}}",
                                        longest, longer, longer, longer);
    CLEANUP_JSON json_t *object = seen_of(text);
    const json_t *containers = json_at(object, "spec.containers");
    assert_string_equal(json_str(json_array_get(containers, 0), "image"), longest);
    assert_string_equal(json_str(json_array_get(containers, 1), "image"), "");
    assert_string_equal(json_str(json_array_get(containers, 2), "image"), "i");
    assert_string_equal(json_str(object, "status.phase"), "p");
}

/* Whatever it is made of, what comes out of an object is not much longer than SPLIT_ENOUGH, and has
 * what paths name. */
static void an_object_has_so_many_bytes(void **state)
{
    (void) state;
    CLEANUP_FREE char *word = filled('x', SPLIT_STRING_MAX / 2), *label = filled('x', 60000);
    CLEANUP_FREE char *container = xasprintf("{\"limits\":{\"a\":\"%s\"},\"image\":\"%s\"}", word,
                                             word);
    CLEANUP_FREE char *containers = many(200, container);
    CLEANUP_FREE char *text = xasprintf(
        "{\"metadata\":{\"labels\":{\"%s\":\"\"}},\"spec\":{\"containers\":[%s],\"volumes\":"
        "[{\"empty\":{}},{\"empty\":{}}]},\"status\":{\"phase\":\"p\"}}",
        label, containers);
    CLEANUP_FREE char *got = split_in(&only, SPLIT_FRAMES, text, 16384);
    assert_in_range(strlen(got), SPLIT_ENOUGH, SPLIT_ENOUGH + 2 * SPLIT_STRING_MAX);
    CLEANUP_JSON json_t *object = seen_of(text);
    assert_in_range(json_array_size(json_at(object, "spec.containers")), 30, 34);
    assert_int_equal(json_array_size(json_at(object, "spec.volumes")), 1);
    assert_string_equal(json_str(object, "status.phase"), "p");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_view, views);
    SUITE_ROWS(&s, check_keys, keys);
    suite_add(&s, "a key without end is left out with its member",
              a_key_without_end_is_left_out_with_its_member, NULL);
    suite_add(&s, "keys with either prefix are kept", keys_with_either_prefix_are_kept, NULL);
    suite_add(&s, "what is not looked at may have any depth",
              what_is_not_looked_at_may_have_any_depth, NULL);
    suite_add(&s, "an array has so many elements", an_array_has_so_many_elements, NULL);
    suite_add(&s, "also where paths are left out", also_where_paths_are_left_out, NULL);
    suite_add(&s, "each array for itself", each_array_for_itself, NULL);
    suite_add(&s, "a map has so many members", a_map_has_so_many_members, NULL);
    suite_add(&s, "a string that is too long is empty", a_string_that_is_too_long_is_empty, NULL);
    suite_add(&s, "an object has so many bytes", an_object_has_so_many_bytes, NULL);
    return suite_run(&s, "split_view");
}
