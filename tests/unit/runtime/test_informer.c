/* How an informer keeps a table: the usual course, what is not installed, and its end. */
#include <string.h>

#include "base/json.h"
#include "tests/unit/runtime/informing.h"
#include "tests/unit/support/tree.h"

/* ---- the usual course */

static void list_then_watch(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_expect(&f->w, LIST);
    assert_false(informer_state(f->informer).synced);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    assert_true(informer_state(f->informer).synced);
    assert_true(f->changes > 0);
    expect_content(f, "a=x b=y");
    world_expect(&f->w, WATCH("10"));
    assert_int_equal(world_call(&f->w, 0)->request.class, REQUEST_WATCH);
}

static void pages_make_one_list(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 200, PAGE("10", "t=1", NODE("a", "1", "x")));
    world_turn(&f->w);
    world_expect(&f->w, LIST "&continue=t%3D1");
    assert_false(informer_state(f->informer).synced);
    world_reply(&f->w, 0, 200, PAGE("10", "t2", NODE("b", "2", "y")));
    world_turn(&f->w);
    world_reply(&f->w, 0, 200, PAGE("10", "", NODE("c", "3", "z")));
    world_turn(&f->w);
    assert_true(informer_state(f->informer).synced);
    expect_content(f, "a=x b=y c=z");
    world_expect(&f->w, WATCH("10"));
}

/* Of items named b it tells that they have no record. */
static bool tells_of_b(void *arg, const char *text, size_t len, struct table_reading *ret)
{
    (void) arg;
    bool b = memmem(text, len, "\"b\"", strlen("\"b\""));
    *ret = (struct table_reading){ .key = "b" };
    return b;
}

/* A watch event is not asked for. */
static void items_may_be_read_from_their_text(void **state)
{
    struct fixture *f = *state;
    f->table.read = tells_of_b;
    start_listed(f);
    expect_content(f, "a=x");
    stream(f, EVENT("ADDED", NODE("b", "11", "z")));
    expect_content(f, "a=x b=z");
}

static void selectors_are_in_every_request(void **state)
{
    struct fixture *f = *state;
    start_with(f, &(struct informer_options){ .resource = RESOURCE_POD,
                                              .list = { .ns = "ns", .label_selector = "a=b" } });
    world_expect(&f->w, "GET /api/v1/namespaces/ns/pods?labelSelector=a%3Db&limit=500");
    world_reply(&f->w, 0, 200, PAGE("10", "", ""));
    world_turn(&f->w);
    world_expect(&f->w,
                 "GET "
                 "/api/v1/namespaces/ns/"
                 "pods?labelSelector=a%3Db&watch=true&allowWatchBookmarks=true&resourceVersion=10");
}

static void lists_tell_the_servers_time(void **state)
{
    struct fixture *f = *state;
    struct server_clock clock = { 0 };
    start_with(f, &(struct informer_options){ .resource = RESOURCE_NODE, .clock = &clock });
    int64_t sent_ms = f->w.now_ms;
    world_pass(&f->w, 400);
    f->w.date_s = 2000000000;
    world_reply(&f->w, 0, 200, PAGE("10", "", ""));
    world_turn(&f->w);
    assert_true(clock.known);
    assert_int_equal(clock.least_us, (INT64_C(2000000000000) - f->w.now_ms) * 1000);
    assert_int_equal(clock.most_us, (INT64_C(2000000001000) - sent_ms) * 1000);
}

static void events_keep_the_table_up_to_date(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ADDED", NODE("c", "11", "z")) EVENT("MODIFIED", NODE("a", "12", "w"))
                  EVENT("DELETED", NODE("b", "13", "y")));
    expect_content(f, "a=w c=z");
}

static void events_may_be_cut_anywhere(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    const char *frames = EVENT("ADDED", NODE("c", "11", "z")) "\r\n" EVENT("DELETED",
                                                                           NODE("b", "13", "y"));
    for (const char *p = frames; *p; p++) {
        char byte[2] = { *p, '\0' };
        world_bytes(&f->w, 0, byte);
    }
    world_turn(&f->w);
    expect_content(f, "a=x c=z");
}

/* As API servers write it. */
#define LINE(type, rv, text)                                                                       \
    "{'type':'" type "','object':{'metadata':{'name':'a','uid':'a','resourceVersion':'" rv         \
    "'},'spec':{'text':'" text "'}}}\n"

/* How many objects were parsed: a function without an argument of the test's counts them. */
static int parsed;
static struct record *(*project)(void *arg, const json_t *object);

static struct record *count(void *arg, const json_t *object)
{
    parsed++;
    return project(arg, object);
}

static const struct repeat_row {
    const char *line; /* an event; "written": an answer to our own write, at version 16 */
    int parsed;       /* then, from the beginning */
    uint64_t rv;      /* of the record */
    const char *text;
} repeats[] = {
    { LINE("MODIFIED", "12", "w"), 1, 12, "w" },
    { LINE("MODIFIED", "13", "w"), 1, 13, "w" },
    { LINE("ADDED", "14", "w"), 1, 14, "w" },
    { LINE("MODIFIED", "15", "z"), 2, 15, "z" },
    { LINE("MODIFIED", "15", "w"), 3, 15, "w" },
    { "written", 4, 16, "q" },
    { LINE("MODIFIED", "17", "w"), 5, 17, "w" },
    { LINE("MODIFIED", "11", "w"), 5, 17, "w" },
    { LINE("MODIFIED", "11", "old"), 5, 17, "w" },
    { LINE("MODIFIED", "18", "old"), 6, 18, "old" },
    { LINE("MODIFIED", "19", "old"), 6, 19, "old" },
};

/* The answer to our own write brought the version whose event cannot be read. */
static void an_unreadable_event_is_no_repetition(void **state)
{
    struct fixture *f = *state;
    static const char *const broken[] = { LINE("MODIFIED", "16", "\\x"),
                                          LINE("MODIFIED", "17", "\\x"),
                                          LINE("MODIFIED", "18", "\\x") };
    start_listed(f);
    CLEANUP_JSON json_t *object = tree(NODE("a", "16", "q"));
    table_written(&f->table, object);
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        stream(f, broken[i]);
        assert_int_equal(informer_state(f->informer).unreadable, i + 1);
    }
    expect_content(f, "a=q b=y");
}

static void an_event_that_only_repeats_an_object_is_not_parsed(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    project = f->table.ops.project;
    f->table.ops.project = count;
    parsed = 0;
    for (size_t i = 0; i < ARRAY_LEN(repeats); i++) {
        const struct repeat_row *row = &repeats[i];
        if (str_eq(row->line, "written")) {
            CLEANUP_JSON json_t *object = tree(NODE("a", "16", "q"));
            table_written(&f->table, object);
        } else {
            stream(f, row->line);
        }
        const struct thing *thing = thing_get(&f->table, "a");
        assert_string_equal(thing->text, row->text);
        assert_int_equal(thing->head.rv, row->rv);
        assert_int_equal(parsed, row->parsed);
    }
    assert_int_equal(f->table.rv, 19);
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_expect(&f->w, WATCH("19"));
}

/* The same with a label. */
#define LABELLED(rv, text, label)                                                                  \
    "{'type':'MODIFIED','object':{'metadata':{'name':'a','uid':'a','resourceVersion':'" rv         \
    "','labels':{'l':'" label "'}},'spec':{'text':'" text "'}}}\n"

static const struct repeat_row relabels[] = {
    { LABELLED("12", "w", "1"), 1, 12, "w" },
    { LABELLED("13", "w", "2"), 1, 13, "w with 2" }, /* only its labels were parsed */
    { LABELLED("14", "w", "2"), 1, 14, "w with 2" },
    { LABELLED("15", "w", "3"), 1, 15, "w with 2 with 3" },
    { LABELLED("16", "z", "4"), 2, 16, "z" },
    { LABELLED("15", "z", "5"), 2, 16, "z" },   /* an older event */
    { LABELLED("17", "z", "\\x"), 2, 16, "z" }, /* it cannot be read */
    { LINE("MODIFIED", "18", "z"), 3, 18, "z" },
};

static struct record *relabelled(void *arg, const struct record *held, const json_t *labels)
{
    (void) arg;
    const struct thing *was = (const struct thing *) held;
    struct thing *is = record_copy(was, sizeof *is);
    is->text = xasprintf("%s with %s", was->text, json_str_or_empty(labels, "l"));
    return &is->head;
}

static void of_an_object_with_other_labels_only_these_are_parsed(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    f->table.relabelled = relabelled;
    project = f->table.ops.project;
    f->table.ops.project = count;
    parsed = 0;
    for (size_t i = 0; i < ARRAY_LEN(relabels); i++) {
        stream(f, relabels[i].line);
        const struct thing *thing = thing_get(&f->table, "a");
        assert_string_equal(thing->text, relabels[i].text);
        assert_int_equal(thing->head.rv, relabels[i].rv);
        assert_int_equal(parsed, relabels[i].parsed);
    }
    assert_int_equal(informer_state(f->informer).unreadable, 1);
}

static void watch_that_ends_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("MODIFIED", NODE("a", "12", "w")));
    world_pass(&f->w, 60000);
    stream(f, BOOKMARK("57"));
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_expect(&f->w, WATCH("57"));
    expect_problem(f, "");
    assert_int_equal(informer_state(f->informer).restarts, 0);
    expect_content(f, "a=w b=y");
}

static void half_an_event_at_the_end_counts_for_nothing(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f,
           EVENT("MODIFIED",
                 NODE("a", "12", "w")) "{'type': 'DELETED', 'object': {'metadata': {'name': 'b', "
                                       "'resourceVersion': '13'");
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_expect(&f->w, WATCH("12"));
    expect_content(f, "a=w b=y");
    world_status(&f->w, 0, 200);
    /* nothing of the half is left to confuse it */
    stream(f, EVENT("DELETED", NODE("b", "13", "y")));
    expect_content(f, "a=w");
}

static void watch_that_the_client_ends_in_time_is_no_failure(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    for (int i = 0; i < 6; i++) {
        world_pass(&f->w, 60000);
        stream(f, BOOKMARK("57"));
    }
    world_break(&f->w, 0, 200, ERR_TIMEOUT, "the stream's time is over");
    world_turn(&f->w);
    world_expect(&f->w, WATCH("57"));
    expect_problem(f, "");
}

/* ---- what is not installed */

static void absent_resource_is_an_empty_one(void **state)
{
    struct fixture *f = *state;
    start_optional(f);
    world_reply(&f->w, 0, 404, "404 page not found");
    world_turn(&f->w);
    assert_true(informer_state(f->informer).synced);
    assert_false(informer_state(f->informer).present);
    assert_true(f->changes > 0);
    expect_problem(f, "");
    world_pass(&f->w, 3600 * 1000);
    world_expect(&f->w, ""); /* no request unless asked */
}

/* The resource is gone, and its list said so. */
static void late_answer_raises_nothing_of_what_is_absent(void **state)
{
    struct fixture *f = *state;
    start_optional(f);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    world_reply(&f->w, 0, 404, "404 page not found");
    world_turn(&f->w);
    expect_content(f, "");
    CLEANUP_JSON json_t *answer = tree(NODE("a", "9", "w"));
    assert_false(table_written(&f->table, answer));
    expect_content(f, "");
}

static void absent_resource_is_looked_for_when_asked(void **state)
{
    struct fixture *f = *state;
    start_optional(f);
    world_reply(&f->w, 0, 404, "404 page not found");
    world_turn(&f->w);
    world_pass(&f->w, 59000);
    informer_look_again(f->informer, INFORMER_ABSENT_RETRY_MS); /* too soon */
    world_expect(&f->w, "");
    assert_false(informer_state(f->informer).looks);
    world_pass(&f->w, 1000);
    informer_look_again(f->informer, INFORMER_ABSENT_RETRY_MS);
    informer_look_again(f->informer, 0); /* once is enough */
    world_expect(&f->w, LIST);
    assert_true(informer_state(f->informer).synced);
    assert_true(informer_state(f->informer).looks);
    world_reply(&f->w, 0, 404, "404 page not found");
    world_turn(&f->w);
    assert_false(informer_state(f->informer).looks);
}

/* Two requests at a time would share one splitter, and the first could no longer be cancelled. */
static void a_look_ends_the_wait_of_the_one_before(void **state)
{
    struct fixture *f = *state;
    start_optional(f);
    world_reply(&f->w, 0, 403, "{}");
    world_turn(&f->w);
    informer_look_again(f->informer, 0);
    world_reply(&f->w, 0, 500, "{}");
    world_turn(&f->w); /* waits for its next try */
    informer_look_again(f->informer, 0);
    world_expect(&f->w, LIST);
    world_pass(&f->w, 10 * FIRST_WAIT_MS);
    world_expect(&f->w, LIST);
}

static void absent_resource_comes_and_goes(void **state)
{
    struct fixture *f = *state;
    start_optional(f);
    world_reply(&f->w, 0, 404, "");
    world_pass(&f->w, 60000);
    informer_look_again(f->informer, 0);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    assert_true(informer_state(f->informer).present);
    assert_false(informer_state(f->informer).looks);
    expect_content(f, "a=x b=y");
    world_expect(&f->w, WATCH("10"));
    world_pass(&f->w, 5000);
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_reply(&f->w, 0, 404, "");
    world_turn(&f->w);
    assert_false(informer_state(f->informer).present);
    assert_true(informer_state(f->informer).synced);
    expect_content(f, "");
    world_pass(&f->w, 60000);
    world_expect(&f->w, "");
}

static void what_may_be_listed_and_not_watched_is_there(void **state)
{
    struct fixture *f = *state;
    start_optional(f);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    world_reply(&f->w, 0, 403, "{'message': 'no'}");
    world_turn(&f->w);
    expect_problem(f, "cannot watch nodes: HTTP 403: no; grant the permission: the chart's "
                      "ClusterRole and Roles have all that "
                      "Ostler needs");
    assert_true(informer_state(f->informer).present);
    expect_content(f, "a=x b=y");
    world_pass(&f->w, 60000);
    world_expect(&f->w, WATCH("10"));
}

static void only_what_is_optional_may_be_absent(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 404, "");
    world_turn(&f->w);
    assert_false(informer_state(f->informer).synced);
    assert_true(informer_state(f->informer).present);
    expect_problem(
        f,
        "cannot list nodes: HTTP 404: (empty answer); this API server does not have the resource");
}

/* ---- when others are kept from now on */

static void what_is_listed_anew_stays_meanwhile(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    int64_t began_ms = informer_state(f->informer).listed_ms;
    world_pass(&f->w, 500);
    assert_int_equal(informer_state(f->informer).listed_ms, began_ms);
    informer_list_anew(f->informer);
    assert_int_equal(informer_state(f->informer).listed_ms, f->w.now_ms);
    assert_int_equal(f->w.cancelled, 1);
    world_expect(&f->w, LIST);
    /* what is known lacks what was not kept before */
    assert_false(informer_state(f->informer).synced);
    expect_content(f, "a=x b=y");
    world_reply(&f->w, 0, 200, PAGE("20", "", NODE("b", "2", "z")));
    world_turn(&f->w);
    assert_true(informer_state(f->informer).synced);
    expect_content(f, "b=z");
    world_expect(&f->w, WATCH("20"));
    expect_problem(f, "");
}

static void a_wait_ends_when_it_is_listed_anew(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 500, "{}");
    world_turn(&f->w);
    informer_list_anew(f->informer);
    world_expect(&f->w, LIST);
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, LIST);
}

static void nothing_is_listed_anew_before_its_start(void **state)
{
    struct fixture *f = *state;
    f->informer = informer_new(&(struct informer_options){ .resource = RESOURCE_NODE }, &f->table,
                               &f->w.transport, f->w.loop, on_change, f);
    informer_list_anew(f->informer);
    world_expect(&f->w, "");
}

/* ---- its end */

static void freed_while_something_is_on_its_way(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_bytes(&f->w, 0, EVENT("DELETED", NODE("b", "13", "y")) "{'type':");
    world_done(&f->w, 0, 200);
    informer_free(TAKE(f->informer));
    assert_int_equal(f->w.cancelled, 1);
    world_pass(&f->w, 3600 * 1000);
    expect_content(f, "a=x b=y");
}

static void freed_while_it_waits(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
    world_turn(&f->w);
    informer_free(TAKE(f->informer));
    world_pass(&f->w, 60000);
    world_expect(&f->w, "");
}

int main(void)
{
    static const struct informing rows[] = {
        { "a list, then a watch", list_then_watch },
        { "pages make one list", pages_make_one_list },
        { "items may be read from their text", items_may_be_read_from_their_text },
        { "selectors are in every request", selectors_are_in_every_request },
        { "lists tell the server's time", lists_tell_the_servers_time },
        { "events keep the table up to date", events_keep_the_table_up_to_date },
        { "events may be cut anywhere", events_may_be_cut_anywhere },
        { "an event that only repeats an object is not parsed",
          an_event_that_only_repeats_an_object_is_not_parsed },
        { "of an object with other labels only these are parsed",
          of_an_object_with_other_labels_only_these_are_parsed },
        { "an unreadable event is no repetition", an_unreadable_event_is_no_repetition },
        { "a watch that ends goes on where it was", watch_that_ends_goes_on_where_it_was },
        { "half an event at the end counts for nothing",
          half_an_event_at_the_end_counts_for_nothing },
        { "a watch that the client ends in time is no failure",
          watch_that_the_client_ends_in_time_is_no_failure },
        { "an absent resource is an empty one", absent_resource_is_an_empty_one },
        { "a late answer raises nothing of what is absent",
          late_answer_raises_nothing_of_what_is_absent },
        { "an absent resource is looked for when asked", absent_resource_is_looked_for_when_asked },
        { "a look ends the wait of the one before", a_look_ends_the_wait_of_the_one_before },
        { "an absent resource comes and goes", absent_resource_comes_and_goes },
        { "what may be listed and not watched is there",
          what_may_be_listed_and_not_watched_is_there },
        { "only what is optional may be absent", only_what_is_optional_may_be_absent },
        { "what is listed anew stays meanwhile", what_is_listed_anew_stays_meanwhile },
        { "a wait ends when it is listed anew", a_wait_ends_when_it_is_listed_anew },
        { "nothing is listed anew before its start", nothing_is_listed_anew_before_its_start },
        { "freed while something is on its way", freed_while_something_is_on_its_way },
        { "freed while it waits", freed_while_it_waits },
    };
    return run_informing(rows, ARRAY_LEN(rows), "informer");
}
