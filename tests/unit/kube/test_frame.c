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
    { "two groups of labels",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','labels':{},'labels':{}}}"),
      NULL, NULL },
    { "an escape in a key after the version",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','a\\\\n':{}}}"), NULL,
      NULL },
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
    assert_true(f.hash.rest != 0);
}

static void a_text_that_is_cut_is_not_read_beyond_its_end(void **state)
{
    (void) state;
    struct frame f;
    CLEANUP_FREE char *text = json_quoted(EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST));
    const char *spec = strstr(text, ",\"spec\""); /* the metadata ends before it */
    size_t whole = (size_t) (spec - text);
    for (size_t len = 0; len < strlen(text); len++) {
        CLEANUP_FREE char *piece = len ? xstrndup(text, len) : xstrdup("");
        assert_int_equal(frame_read(piece, len, &f), len >= whole);
    }
}

static void the_labels_are_found(void **state)
{
    (void) state;
    struct frame f;
    CLEANUP_FREE char *text = json_quoted(
        EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','labels':{'a':'}'}}}"));
    assert_true(frame_read(text, strlen(text), &f));
    CLEANUP_FREE char *labels = xstrndup(f.labels, f.labels_len);
    assert_string_equal(labels, "{\"a\":\"}\"}");
    CLEANUP_FREE char *none = json_quoted(
        EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3'}}"));
    assert_true(frame_read(none, strlen(none), &f));
    assert_null(f.labels);
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

/* What is the same in the hashes of two texts. */
enum same { SAME_NOTHING, SAME_BUT_LABELS, SAME_ALL };
static const struct hash_row {
    const char *name, *a, *b;
    enum same same;
} hashes[] = {
    { "another version", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("MODIFIED", NODE "'resourceVersion':'123'," REST), SAME_ALL },
    { "another type of event", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("ADDED", NODE "'resourceVersion':'12'," REST), SAME_ALL },
    { "another uid", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("MODIFIED", "{'kind':'Node','apiVersion':'v1','metadata':{'name':'a','uid':'v',"
                        "'resourceVersion':'12'," REST),
      SAME_NOTHING },
    { "something else after the version", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("MODIFIED", NODE "'resourceVersion':'12','labels':{'resourceVersion':'7'}},'spec':1}"),
      SAME_NOTHING },
    { "another label", EVENT("MODIFIED", NODE "'resourceVersion':'12'," REST),
      EVENT("MODIFIED", NODE "'resourceVersion':'12','labels':{'resourceVersion':'8'}},'spec':{}}"),
      SAME_BUT_LABELS },
    { "another label, and they come before the version",
      EVENT("MODIFIED", "{'metadata':{'labels':{'a':'b'},'name':'a','resourceVersion':'3'}}"),
      EVENT("MODIFIED", "{'metadata':{'labels':{'a':'c'},'name':'a','resourceVersion':'33'}}"),
      SAME_BUT_LABELS },
    { "a label with another version",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','labels':{'a':'b'}}}"),
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'4','labels':{'c':'}'}}}"),
      SAME_BUT_LABELS },
    { "labels that are new", EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3'}}"),
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','labels':{}}}"),
      SAME_NOTHING },
    { "labels elsewhere than in the metadata",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3'},'labels':{'a':'b'}}"),
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3'},'labels':{'a':'c'}}"),
      SAME_NOTHING },
    { "an annotation after the labels",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','labels':{},'x':1}}"),
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','labels':{},'x':2}}"),
      SAME_NOTHING },
    { "the same members in another order",
      EVENT("MODIFIED", "{'metadata':{'name':'a','uid':'u','resourceVersion':'3'},'spec':{}}"),
      EVENT("MODIFIED", "{'metadata':{'uid':'u','name':'a','resourceVersion':'3'},'spec':{}}"),
      SAME_NOTHING },
    { "the version between the same bytes, elsewhere",
      EVENT("MODIFIED", "{'metadata':{'name':'a','resourceVersion':'3','a':'x'}}"),
      EVENT("MODIFIED", "{'metadata':{'name':'a','a':'x','resourceVersion':'3'}}"), SAME_NOTHING },
};

static void check_hash(void **state)
{
    const struct hash_row *row = *state;
    struct frame a, b;
    assert_true(read_text(row->a, SIZE_MAX, &a));
    assert_true(read_text(row->b, SIZE_MAX, &b));
    assert_int_equal(a.hash.rest == b.hash.rest, row->same != SAME_NOTHING);
    if (row->same != SAME_NOTHING)
        assert_int_equal(a.hash.labels == b.hash.labels, row->same == SAME_ALL);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_read, reads);
    SUITE_ROWS(&s, check_hash, hashes);
    suite_add(&s, "a text that is cut is not read beyond its end",
              a_text_that_is_cut_is_not_read_beyond_its_end, NULL);
    suite_add(&s, "the labels are found", the_labels_are_found, NULL);
    suite_add(&s, "names that are too long are parsed", names_that_are_too_long_are_parsed, NULL);
    return suite_run(&s, "frame");
}
