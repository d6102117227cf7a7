/* Objects of which the text tells that they have no record. */
#include "runtime/table.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
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

/* Tells of an object with "told" as its text that it has a record, and of one with "none" that it
 * has none. */
static bool tell(void *arg, const char *text, size_t len, struct table_reading *ret)
{
    bool told = memmem(text, len, "told", strlen("told"));
    CLEANUP_JSON json_t *object = json_parse(text, len, NULL);
    if (!told && !memmem(text, len, "none", strlen("none")))
        return false;
    snprintf(ret->key, sizeof ret->key, "%s", object_name(object));
    ret->record = told ? thing_ops(arg).project(arg, object) : NULL;
    if (told)
        ret->record->rv = object_rv(object);
    return true;
}

static const struct tell_row {
    const char *name, *text;
    bool taken;
    const char *key, *is; /* a record then, and its text; NULL: there is none */
} tell_rows[] = {
    { "a record that is told is taken", OBJECT("b", "25", "told"), true, "b", "told" },
    { "it replaces the one before", OBJECT("a", "25", "told"), true, "a", "told" },
    { "also an older one, if the list shows it", OBJECT("a", "5", "told"), true, "a", "told" },
    { "an older one than Ostler's own write since is not taken", OBJECT("w", "24", "told"), true,
      "w", "written" },
    { "one of that version is", OBJECT("w", "30", "told"), true, "w", "told" },
    { "an object that is not told is read", OBJECT("b", "25", "x"), false, "b", NULL },
    { "an object without a record is passed over", OBJECT("b", "25", "none"), true, "b", NULL },
    { "if there is one it is read", OBJECT("a", "25", "none"), false, "a", "matters" },
};

static void check_told(void **state)
{
    const struct tell_row *row = *state;
    struct table t;
    const struct table_ops ops = thing_ops(NULL);
    CLEANUP_FREE char *text = json_quoted(row->text);
    CLEANUP_JSON json_t *written = tree(OBJECT("w", "30", "written"));
    listed(&t, &ops);
    assert_false(table_list_text(&t, text, strlen(text)));
    t.read = tell;
    table_list_begin(&t);
    table_written(&t, written);
    assert_int_equal(table_list_text(&t, text, strlen(text)), row->taken);
    const struct thing *thing = thing_get(&t, row->key);
    assert_int_equal(thing != NULL, row->is != NULL);
    if (thing)
        assert_string_equal(thing->text, row->is);
    table_list_end(&t, 40);
    assert_int_equal(table_get(&t, row->key) != NULL, row->taken && row->is);
    table_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    SUITE_ROWS(&s, check_told, tell_rows);
    return suite_run(&s, "table_text");
}
