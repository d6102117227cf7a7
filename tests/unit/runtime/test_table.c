#include "runtime/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/thing.h"
#include "tests/unit/support/tree.h"

static json_t *object_of(const char *name, const char *uid, const char *rv, const char *text)
{
    return json_pack("{s:{s:s, s:s, s:s}, s:{s:s}}", "metadata", "name", name, "uid", uid,
                     "resourceVersion", rv, "spec", "text", text);
}

/* The words of a line that brings an object: "event a u1 11 x". */
static void bring(struct table *t, const char *what, const char *name, const char *uid,
                  const char *rv, const char *text, struct buf *log)
{
    CLEANUP_JSON json_t *object = object_of(name, uid, rv, text);
    size_t told = log->len;
    if (str_eq(what, "item")) {
        table_list_item(t, object);
    } else if (str_eq(what, "event")) {
        table_event(t, object, false);
    } else if (str_eq(what, "deleted")) {
        table_event(t, object, true);
    } else if (str_eq(what, "written")) {
        bool news = table_written(t, object);
        assert_int_equal(news, log->len > told);
    } else if (strncmp(what, "listed@", 7) == 0) {
        bool news = table_listed(t, object, strtoull(what + 7, NULL, 10));
        buf_str(log, news && log->len == told ? "not told" : "");
    } else {
        fail_msg("what is \"%s\"?", what);
    }
}

static void get(const struct table *t, const char *name, struct buf *log)
{
    const struct thing *thing = thing_get(t, name);
    if (thing)
        buf_printf(log, "%s %llu %s", RECORD_UID(&thing->head), (unsigned long long) thing->head.rv,
                   thing->text);
    else
        buf_str(log, "nothing");
}

/* One thing that happens: "list", "end RV", "bookmark RV", "get NAME", or
 * "item|event|deleted|written|listed@RV NAME UID RV TEXT". */
static void happen(struct table *t, const char *line, struct buf *log)
{
    char what[16] = "", a[16] = "", uid[16] = "", rv[32] = "", text[16] = "";
    int words = sscanf(line, "%15s %15s %15s %31s %15s", what, a, uid, rv, text);
    if (words == 5)
        bring(t, what, a, uid, rv, text, log);
    else if (str_eq(what, "list"))
        table_list_begin(t);
    else if (str_eq(what, "end"))
        table_list_end(t, strtoull(a, NULL, 10));
    else if (str_eq(what, "bookmark"))
        table_bookmark(t, strtoull(a, NULL, 10));
    else
        get(t, a, log);
}

/* What happened before most scripts: a list at version 20. */
#define LISTED                                                                                     \
    { "list", "" }, { "item a u1 10 x", "a: nothing -> x" },                                       \
        { "item b u2 11 y", "b: nothing -> y" },                                                   \
    {                                                                                              \
        "end 20", ""                                                                               \
    }

static const struct script {
    const char *name;
    struct {
        const char *line, *want; /* what comes of it: changes, or what was got */
    } turns[16];
} scripts[] = {
    { "a list fills the table",
      { LISTED, { "get a", "u1 10 x" }, { "get b", "u2 11 y" }, { "get c", "nothing" } } },
    { "an event changes a record",
      { LISTED, { "event a u1 21 z", "a: x -> z" }, { "get a", "u1 21 z" } } },
    { "an event adds a record", { LISTED, { "event c u3 21 z", "c: nothing -> z" } } },
    { "a deletion drops it",
      { LISTED, { "deleted a u1 21 x", "a: x -> nothing" }, { "get a", "nothing" } } },
    { "a look finds what nothing was kept of",
      { LISTED, { "listed@20 c u3 9 z", "c: nothing -> z" }, { "get c", "u3 9 z" } } },
    { "and it goes when it is deleted",
      { LISTED,
        { "listed@22 c u3 9 z", "c: nothing -> z" },
        { "deleted c u3 23 z", "c: z -> nothing" } } },
    { "a look that is older than the watch brings nothing back",
      { LISTED,
        { "bookmark 25", "" },
        { "listed@24 c u3 9 z", "not told" },
        { "get c", "nothing" } } },
    { "a look finds what is known",
      { LISTED, { "listed@22 a u1 10 x", "" }, { "listed@22 a u1 21 y", "a: x -> y" } } },
    { "nothing is kept of what is still none",
      { LISTED, { "listed@22 c u3 9 -", "" }, { "get c", "nothing" } } },
    { "a look without a version finds nothing that was dropped",
      { LISTED, { "listed@0 c u3 9 z", "" } } },
    { "a deletion of what is not there is nothing", { LISTED, { "deleted c u3 21 x", "" } } },
    { "an edit of unread fields is no change, but its version counts",
      { LISTED, { "event a u1 21 x", "" }, { "get a", "u1 21 x" } } },
    { "an object that loses our interest goes",
      { LISTED,
        { "event a u1 21 -", "a: x -> nothing" },
        { "event a u1 22 x", "a: nothing -> x" } } },
    { "an object of no interest is not kept",
      { { "list", "" }, { "item a u1 10 -", "" }, { "end 20", "" }, { "get a", "nothing" } } },

    { "an older event changes nothing",
      { LISTED,
        { "event a u1 21 z", "a: x -> z" },
        { "event a u1 15 x", "" },
        { "get a", "u1 21 z" } } },
    { "the same event again changes nothing",
      { LISTED, { "event a u1 21 z", "a: x -> z" }, { "event a u1 21 z", "" } } },
    { "versions are numbers, not text",
      { LISTED, { "event a u1 99 z", "a: x -> z" }, { "event a u1 100 y", "a: z -> y" } } },
    { "without comparable versions the last one counts",
      { LISTED,
        { "event a u1 x1 z", "a: x -> z" },
        { "event a u1 x0 y", "a: z -> y" },
        { "event a u1 5 x", "a: y -> x" } } },

    { "a new incarnation replaces the old one",
      { LISTED, { "event a u9 21 z", "a: x -> z" }, { "get a", "u9 21 z" } } },
    { "a new incarnation that looks the same is a change all the same",
      { LISTED, { "event a u9 21 x", "a: x -> x" }, { "get a", "u9 21 x" } } },
    { "the old incarnation's deletion does not take the new one away",
      { LISTED, { "event a u9 21 z", "a: x -> z" }, { "deleted a u1 22 x", "" } } },
    { "an old incarnation's late event does not bring it back",
      { LISTED,
        { "written a u9 30 z", "a: x -> z" },
        { "event a u1 25 y", "" },
        { "deleted a u1 26 y", "" },
        { "event a u9 30 z", "" },
        { "get a", "u9 30 z" } } },

    { "a relist drops what it does not bring",
      { LISTED,
        { "list", "" },
        { "item b u2 11 y", "" },
        { "end 40", "a: x -> nothing" },
        { "get b", "u2 11 y" } } },
    { "a relist drops nothing before its end",
      { LISTED, { "list", "" }, { "item b u2 11 y", "" }, { "get a", "u1 10 x" } } },
    { "a relist that broke off and began anew",
      { LISTED,
        { "list", "" },
        { "item a u1 10 x", "" },
        { "list", "" },
        { "item b u2 11 y", "" },
        { "end 40", "a: x -> nothing" } } },
    { "a relist finds what changed meanwhile",
      { LISTED,
        { "list", "" },
        { "item a u1 30 z", "a: x -> z" },
        { "item b u7 31 y", "b: y -> y" },
        { "end 40", "" } } },
    { "an empty relist empties",
      { LISTED, { "list", "" }, { "end 40", "a: x -> nothing; b: y -> nothing" } } },
    { "an empty list without a version empties",
      { LISTED, { "list", "" }, { "end 0", "a: x -> nothing; b: y -> nothing" } } },
    { "an item that was overtaken counts as there",
      { LISTED,
        { "list", "" },
        { "written a u1 50 z", "a: x -> z" },
        { "item a u1 10 x", "" },
        { "item b u2 11 y", "" },
        { "end 40", "" },
        { "get a", "u1 50 z" } } },

    { "an answer to a write overtakes the watch",
      { LISTED,
        { "written a u1 25 z", "a: x -> z" },
        { "event a u1 21 y", "" },
        { "event a u1 25 z", "" },
        { "get a", "u1 25 z" } } },
    { "an answer brings what is new",
      { LISTED, { "written c u3 25 z", "c: nothing -> z" }, { "event c u3 25 z", "" } } },
    { "an answer after the deletion does not raise the dead",
      { LISTED,
        { "deleted a u1 30 x", "a: x -> nothing" },
        { "written a u1 25 z", "" },
        { "get a", "nothing" } } },
    { "an answer that a bookmark has passed is old",
      { LISTED, { "bookmark 30", "" }, { "written c u3 25 z", "" }, { "get c", "nothing" } } },
    { "an answer that the list has passed is old", { LISTED, { "written c u3 15 z", "" } } },
    { "before the first list answers are not taken",
      { { "list", "" }, { "written c u3 25 z", "" }, { "end 20", "" }, { "get c", "nothing" } } },
    { "an answer without a version is not taken", { LISTED, { "written c u3 v1 z", "" } } },
    { "a bookmark does not go back",
      { LISTED, { "bookmark 30", "" }, { "bookmark 22", "" }, { "written c u3 25 z", "" } } },
    { "what was written after the list outlives its end",
      { LISTED,
        { "list", "" },
        { "written c u3 45 z", "c: nothing -> z" },
        { "item a u1 10 x", "" },
        { "item b u2 11 y", "" },
        { "end 40", "" },
        { "get c", "u3 45 z" } } },
    { "what was written before a relist is in it",
      { LISTED,
        { "written c u3 25 z", "c: nothing -> z" },
        { "list", "" },
        { "item a u1 10 x", "" },
        { "item b u2 11 y", "" },
        { "item c u3 25 z", "" },
        { "end 40", "" },
        { "get c", "u3 25 z" } } },
    { "a relist of a history that was set back replaces what is newer",
      { LISTED,
        { "event a u1 90 z", "a: x -> z" },
        { "list", "" },
        { "item a u1 10 x", "a: z -> x" },
        { "item b u2 11 y", "" },
        { "end 20", "" },
        { "get a", "u1 10 x" } } },
    { "a relist of a history that was set back drops what it does not have",
      { LISTED,
        { "event c u3 90 z", "c: nothing -> z" },
        { "written d u4 91 w", "d: nothing -> w" },
        { "list", "" },
        { "item a u1 10 x", "" },
        { "item b u2 11 y", "" },
        { "end 20", "c: z -> nothing; d: w -> nothing" } } },
    { "after a history was set back events and answers count as ever",
      { LISTED,
        { "event a u1 90 z", "a: x -> z" },
        { "list", "" },
        { "item a u1 10 x", "a: z -> x" },
        { "item b u2 11 y", "" },
        { "end 20", "" },
        { "event a u1 21 q", "a: x -> q" },
        { "written b u2 22 q", "b: y -> q" },
        { "event b u2 20 y", "" },
        { "written b u2 21 y", "" } } },
    { "an answer during a relist that knows of the deletion does not raise the dead",
      { LISTED,
        { "list", "" },
        { "written c u3 25 z", "c: nothing -> z" },
        { "item a u1 10 x", "" },
        { "item b u2 11 y", "" },
        { "end 40", "c: z -> nothing" } } },
    { "an answer during a relist does not hide that the list has its object",
      { LISTED,
        { "list", "" },
        { "item a u1 10 x", "" },
        { "item b u2 11 y", "" },
        { "written a u1 25 z", "a: x -> z" },
        { "end 40", "" },
        { "get a", "u1 25 z" } } },
    { "an overtaken answer during a relist does not count as listed",
      { LISTED,
        { "event a u1 30 z", "a: x -> z" },
        { "list", "" },
        { "written a u1 25 y", "" },
        { "item b u2 11 y", "" },
        { "end 40", "a: z -> nothing" } } },
};

static int compare(const void *x, const void *y)
{
    return strcmp(*(char *const *) x, *(char *const *) y);
}

/* In which order a table drops what a list did not have is not said: changes are compared in that
 * of their names. */
static void sort_changes(struct buf *log)
{
    enum { MOST = 8 };
    CLEANUP_FREE char *text = xstrdup(buf_text(log));
    char *parts[MOST], *rest = text;
    size_t n = 0;
    for (char *sep; rest && n < MOST; rest = sep ? sep + 2 : NULL) {
        sep = strstr(rest, "; ");
        if (sep)
            *sep = '\0';
        parts[n++] = rest;
    }
    assert_null(rest);
    qsort(parts, n, sizeof *parts, compare);
    buf_reset(log);
    for (size_t i = 0; i < n; i++)
        buf_printf(log, "%s%s", i ? "; " : "", parts[i]);
}

static void check(void **state)
{
    const struct script *script = *state;
    CLEANUP_BUF struct buf log = BUF_INIT(1000);
    struct table t;
    const struct table_ops ops = thing_ops(&log);
    table_init(&t, &ops);
    for (size_t i = 0; i < ARRAY_LEN(script->turns) && script->turns[i].line; i++) {
        buf_reset(&log);
        happen(&t, script->turns[i].line, &log);
        sort_changes(&log);
        if (!str_eq(buf_text(&log), script->turns[i].want))
            fail_msg("%s: \"%s\", not \"%s\"", script->turns[i].line, buf_text(&log),
                     script->turns[i].want);
    }
    table_clear(&t);
}

static void synced_when_one_list_is_whole(void **state)
{
    (void) state;
    struct table t;
    const struct table_ops ops = thing_ops(NULL);
    table_init(&t, &ops);
    assert_false(t.synced);
    table_list_begin(&t);
    assert_false(t.synced);
    table_list_end(&t, 10);
    assert_true(t.synced);
    assert_int_equal(t.rv, 10);
    table_list_begin(&t);
    assert_true(t.synced);
    table_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, scripts);
    suite_add(&s, "synced when one list is whole", synced_when_one_list_is_whole, NULL);
    return suite_run(&s, "table");
}
