/* Objects of which the text tells that they have no record. */
#include "runtime/table.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/thing.h"
#include "tests/unit/support/tree.h"

#define OBJECT(name, rv, text)                                                                     \
    "{'metadata':{'name':'" name "','uid':'u','resourceVersion':'" rv "'},'spec':{'text':'" text   \
    "'}}"
#define EVENT(type, object) "{'type':'" type "','object':" object "}"

static bool matters(void *arg, const char *text, size_t len)
{
    (void) arg;
    return memmem(text, len, "matters", strlen("matters"));
}

static const struct row {
    const char *name, *text;
    bool listed; /* in place of an event */
    bool passes;
    uint64_t rv; /* of the table then; the list was of 20 */
} rows[] = {
    { "an object that matters is read", OBJECT("b", "15", "matters"), true, false, 20 },
    { "an object that does not is passed over", OBJECT("b", "15", "x"), true, true, 20 },
    { "an object with a record is read", OBJECT("a", "15", "x"), true, false, 20 },
    { "an object without a version is read", "{'metadata':{'name':'b'}}", true, false, 20 },
    { "an object without a name is read", "{'metadata':{'resourceVersion':'15'}}", true, false,
      20 },
    { "an event of an object that matters is read", EVENT("ADDED", OBJECT("b", "25", "matters")),
      false, false, 20 },
    { "an event of one that does not is passed over, and its version counts",
      EVENT("MODIFIED", OBJECT("b", "25", "x")), false, true, 25 },
    { "an older event does not set the version back", EVENT("MODIFIED", OBJECT("b", "15", "x")),
      false, true, 20 },
    { "an event of an object with a record is read", EVENT("MODIFIED", OBJECT("a", "25", "x")),
      false, false, 20 },
    { "a deletion is read", EVENT("DELETED", OBJECT("b", "25", "x")), false, false, 20 },
    { "an event with a version that is no number is read",
      EVENT("MODIFIED", OBJECT("b", "new", "x")), false, false, 20 },
};

/* A table with a record of `a`, at version 20. */
static void listed(struct table *t, const struct table_ops *ops)
{
    CLEANUP_JSON json_t *a = tree(OBJECT("a", "10", "matters"));
    table_init(t, ops);
    table_list_begin(t);
    table_list_item(t, a);
    table_list_end(t, 20);
}

static bool passes(struct table *t, const struct row *row)
{
    CLEANUP_FREE char *text = json_quoted(row->text);
    char rv[FRAME_RV_MAX];
    if (row->listed)
        return table_list_passes(t, text, strlen(text));
    bool passes = table_event_passes(t, text, strlen(text), rv);
    if (passes)
        assert_non_null(strstr(text, rv));
    return passes;
}

static void check(void **state)
{
    const struct row *row = *state;
    struct table t;
    const struct table_ops ops = thing_ops(NULL);
    listed(&t, &ops);
    t.matters = matters;
    assert_int_equal(passes(&t, row), row->passes);
    assert_int_equal(t.rv, row->rv);
    t.matters = NULL;
    assert_false(passes(&t, row));
    table_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "table_text");
}
