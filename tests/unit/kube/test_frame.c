#include "kube/frame.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define EVENT(type, object) "{'type':'" type "','object':" object "}"
#define NODE "{'kind':'Node','apiVersion':'v1','metadata':{'name':'a','uid':'u',"
#define REST "'labels':{'resourceVersion':'7'}},'spec':{}}"

static const struct read_row {
    const char *name, *text, *key, *rv; /* NULL: it must be parsed */
} reads[] = {
    { "an object that changed", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST), "a", "12" },
    { "an object that is new to the watch", EVENT("ADDED", NODE "'resourceVersion':'12'," REST),
      "a", "12" },
    { "an object of a namespace",
      EVENT("ADDED", "{'metadata':{'name':'a','generateName':'x','namespace':'n',"
                     "'resourceVersion':'3'}}"),
      "n/a", "3" },
    { "the version is the last member",
      EVENT("ADDED", "{'metadata':{'name':'a','resourceVersion':'3'}}"), "a", "3" },
    { "a deletion", EVENT("DELETED", NODE "'resourceVersion':'12'," REST), NULL, NULL },
    { "a bookmark", EVENT("BOOKMARK", NODE "'resourceVersion':'12'," REST), NULL, NULL },
    { "no version", EVENT("MODIFIED", NODE REST), NULL, NULL },
    { "no name", EVENT("MODIFIED", "{'metadata':{'resourceVersion':'3'}}"), NULL, NULL },
    { "two names", EVENT("MODIFIED", NODE "'name':'b','resourceVersion':'12'," REST), NULL, NULL },
    { "an escape in a name",
      EVENT("MODIFIED", "{'metadata':{'name':'a\\\\n','resourceVersion':'3'}}"), NULL, NULL },
    { "an escape in a key before it",
      EVENT("MODIFIED", "{'a\\\\n':1,'metadata':{'name':'a','resourceVersion':'3'}}"), NULL, NULL },
    { "a version that is a number",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':3}}"), NULL, NULL },
    { "a version of more than 64 bits",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'123456789012345678901'}}"),
      NULL, NULL },
    { "spaces, which no API server writes",
      "{'type': 'MODIFIED','object':{'metadata':{'name':'a','resourceVersion':'3'}}}", NULL, NULL },
    { "members of all kinds before the version",
      EVENT("MODIFIED", "{'code':1,'spec':{'a':[{'metadata':{}},'}\\\\\\']',[]],'b':{}},'metadata':"
                        "{'labels':{'resourceVersion':'7','b':'\\\\'},'name':'a','generation':3,"
                        "'finalizers':[],'resourceVersion':'3'}}"),
      "a", "3" },
    { "the names after the version, which API servers write before",
      EVENT("MODIFIED", "{'metadata':{'resourceVersion':'3','name':'a'}}"), NULL, NULL },
    { "an object that is none", EVENT("MODIFIED", "[1]"), NULL, NULL },
    { "no object", "{'type':'MODIFIED'}", NULL, NULL },
};

static bool read_text(const char *plain, size_t len, struct frame *f)
{
    CLEANUP_FREE char *text = json_quoted(plain);
    return frame_read(text, len < strlen(text) ? len : strlen(text), f);
}

static void check_read(void **state)
{
    const struct read_row *row = *state;
    struct frame f;
    assert_int_equal(read_text(row->text, SIZE_MAX, &f), row->key != NULL);
    if (!row->key)
        return;
    assert_string_equal(f.key, row->key);
    assert_string_equal(f.rv, row->rv);
    assert_true(f.hash != 0);
}

static void a_text_that_is_cut_is_not_read_beyond_its_end(void **state)
{
    (void) state;
    struct frame f;
    CLEANUP_FREE char *text = json_quoted(EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST));
    size_t whole = (size_t) (strstr(text, "12") - text) + 3;
    for (size_t len = 0; len < strlen(text); len++) {
        CLEANUP_FREE char *piece = len ? xstrndup(text, len) : xstrdup("");
        assert_int_equal(frame_read(piece, len, &f), len >= whole);
    }
}

static void names_that_are_too_long_are_parsed(void **state)
{
    (void) state;
    struct frame f;
    for (int len = FRAME_KEY_MAX - 20; len < FRAME_KEY_MAX + 20; len++) {
        CLEANUP_FREE char *text = xasprintf(
            EVENT("ADDED", "{'metadata':{'name':'%0*d','resourceVersion':'3'}}"), len, 0);
        CLEANUP_FREE char *both = xasprintf(
            EVENT("ADDED", "{'metadata':{'name':'%0*d','namespace':'nnnn','resourceVersion':'3'}}"),
            len, 0);
        assert_int_equal(read_text(text, SIZE_MAX, &f), len < FRAME_KEY_MAX);
        assert_int_equal(read_text(both, SIZE_MAX, &f), len + 5 < FRAME_KEY_MAX);
    }
}

/* Whether two texts have one hash. */
static const struct hash_row {
    const char *name, *a, *b;
    bool same;
} hashes[] = {
    { "another version", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("MODIFIED", NODE "'resourceVersion':'123'," REST), true },
    { "another type of event", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("ADDED", NODE "'resourceVersion':'12'," REST), true },
    { "another uid", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("MODIFIED", "{'kind':'Node','apiVersion':'v1','metadata':{'name':'a','uid':'v',"
                        "'resourceVersion':'12'," REST),
      false },
    { "something else after the version", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("MODIFIED", NODE "'resourceVersion':'12','labels':{'resourceVersion':'8'}},'spec':{}}"),
      false },
    { "the same members in another order",
      EVENT("MODIFIED", "{'metadata':{'name':'a','uid':'u','resourceVersion':'3'},'spec':{}}"),
      EVENT("MODIFIED", "{'metadata':{'uid':'u','name':'a','resourceVersion':'3'},'spec':{}}"),
      false },
    { "the version between the same bytes, elsewhere",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','a':'x'}}"),
      EVENT("MODIFIED", "{'metadata':{'name':'a','a':'x','resourceVersion':'3'}}"), false },
};

static void check_hash(void **state)
{
    const struct hash_row *row = *state;
    struct frame a, b;
    assert_true(read_text(row->a, SIZE_MAX, &a));
    assert_true(read_text(row->b, SIZE_MAX, &b));
    assert_int_equal(a.hash == b.hash, row->same);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_read, reads);
    SUITE_ROWS(&s, check_hash, hashes);
    suite_add(&s, "a text that is cut is not read beyond its end",
              a_text_that_is_cut_is_not_read_beyond_its_end, NULL);
    suite_add(&s, "names that are too long are parsed", names_that_are_too_long_are_parsed, NULL);
    return suite_run(&s, "frame");
}
