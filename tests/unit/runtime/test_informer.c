#include "runtime/informer.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/thing.h"
#include "tests/unit/support/world.h"

#define LIST "GET /api/v1/nodes?limit=500"
#define WATCH(rv) "GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=" rv
#define NODE(name, rv, text) \
    "{'metadata': {'name': '" name "', 'uid': '" name "', 'resourceVersion': '" rv "'}, 'spec': {'text': '" text "'}}"
#define PAGE(rv, token, items) \
    "{'kind': 'NodeList', 'metadata': {'resourceVersion': '" rv "', 'continue': '" token "'}, 'items': [" items "]}"
#define EVENT(type, object) "{'type': '" type "', 'object': " object "}\n"
#define BOOKMARK(rv) EVENT("BOOKMARK", "{'kind': 'Node', 'metadata': {'resourceVersion': '" rv "'}}")
#define STATUS(code, reason) \
    "{'kind': 'Status', 'status': 'Failure', 'code': " code ", 'reason': '" reason "', 'message': 'as the test wants'}"
#define AB PAGE("10", "", NODE("a", "1", "x") ", " NODE("b", "2", "y"))

/* Longer than any first wait of the backoff. */
enum { FIRST_WAIT_MS = 1600 };

struct fixture {
    struct world w;
    struct table table;
    struct informer *informer;
    int changes; /* calls of on_change */
};

static void on_change(void *arg)
{
    struct fixture *f = arg;
    f->changes++;
}

static void start_with(struct fixture *f, const struct informer_options *o)
{
    f->informer = informer_new(o, &f->table, &f->w.transport, f->w.loop, on_change, f);
    informer_start(f->informer);
}

static void start(struct fixture *f)
{
    start_with(f, &(struct informer_options){ .resource = RESOURCE_NODE });
}

static void start_optional(struct fixture *f)
{
    start_with(f, &(struct informer_options){ .resource = RESOURCE_NODE, .optional = true });
}

/* Started, listed a and b at version 10, and the watch is open. */
static void start_listed(struct fixture *f)
{
    start(f);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    world_status(&f->w, 0, 200);
    world_turn(&f->w);
}

static void stream(struct fixture *f, const char *frames)
{
    world_bytes(&f->w, 0, frames);
    world_turn(&f->w);
}

/* "a=x b=y" */
static void expect_content(const struct fixture *f, const char *want)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    CLEANUP_BUF struct buf b = BUF_INIT(1000);
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct thing *t = thing_get(&f->table, names[i]);
        if (t)
            buf_printf(&b, "%s%s=%s", n++ ? " " : "", names[i], t->text);
    }
    assert_string_equal(buf_text(&b), want);
    assert_int_equal(f->table.records.len, n);
}

static void expect_problem(const struct fixture *f, const char *want)
{
    assert_string_equal(str_or_empty(informer_problem(f->informer)), want);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    const struct table_ops ops = thing_ops(NULL);
    table_init(&f->table, &ops);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    informer_free(f->informer);
    table_clear(&f->table);
    world_clear(&f->w);
    free(f);
    return 0;
}

/* ---- the usual course */

static void list_then_watch(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_expect(&f->w, LIST);
    assert_false(informer_synced(f->informer));
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    assert_true(informer_synced(f->informer));
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
    assert_false(informer_synced(f->informer));
    world_reply(&f->w, 0, 200, PAGE("10", "t2", NODE("b", "2", "y")));
    world_turn(&f->w);
    world_reply(&f->w, 0, 200, PAGE("10", "", NODE("c", "3", "z")));
    world_turn(&f->w);
    assert_true(informer_synced(f->informer));
    expect_content(f, "a=x b=y c=z");
    world_expect(&f->w, WATCH("10"));
}

static void selectors_are_in_every_request(void **state)
{
    struct fixture *f = *state;
    start_with(f, &(struct informer_options){ .resource = RESOURCE_POD, .list = { .ns = "ns", .label_selector = "a=b" } });
    world_expect(&f->w, "GET /api/v1/namespaces/ns/pods?labelSelector=a%3Db&limit=500");
    world_reply(&f->w, 0, 200, PAGE("10", "", ""));
    world_turn(&f->w);
    world_expect(&f->w, "GET /api/v1/namespaces/ns/pods?labelSelector=a%3Db&watch=true&allowWatchBookmarks=true&resourceVersion=10");
}

static void events_keep_the_table_up_to_date(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ADDED", NODE("c", "11", "z")) EVENT("MODIFIED", NODE("a", "12", "w")) EVENT("DELETED", NODE("b", "13", "y")));
    expect_content(f, "a=w c=z");
}

static void events_may_be_cut_anywhere(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    const char *frames = EVENT("ADDED", NODE("c", "11", "z")) "\r\n" EVENT("DELETED", NODE("b", "13", "y"));
    for (const char *p = frames; *p; p++) {
        char byte[2] = { *p, '\0' };
        world_bytes(&f->w, 0, byte);
    }
    world_turn(&f->w);
    expect_content(f, "a=x c=z");
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
    assert_int_equal(informer_restarts(f->informer), 0);
    expect_content(f, "a=w b=y");
}

static void half_an_event_at_the_end_counts_for_nothing(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("MODIFIED", NODE("a", "12", "w")) "{'type': 'DELETED', 'object': {'metadata': {'name': 'b', 'resourceVersion': '13'");
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_expect(&f->w, WATCH("12"));
    expect_content(f, "a=w b=y");
    world_status(&f->w, 0, 200);
    stream(f, EVENT("DELETED", NODE("b", "13", "y"))); /* nothing of the half is left to confuse it */
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

/* ---- 410 */

static void gone_at_the_opening(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_pass(&f->w, 5000);
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_reply(&f->w, 0, 410, STATUS("410", "Expired"));
    world_turn(&f->w);
    world_expect(&f->w, LIST);
    expect_problem(f, "");
    assert_true(informer_synced(f->informer));
    expect_content(f, "a=x b=y");
    world_reply(&f->w, 0, 200, PAGE("90", "", NODE("a", "80", "w")));
    world_turn(&f->w);
    expect_content(f, "a=w"); /* b's deletion was never told, only missed */
    world_expect(&f->w, WATCH("90"));
}

static void gone_in_the_stream(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_expect(&f->w, LIST);
    expect_problem(f, "");
    world_reply(&f->w, 0, 200, PAGE("90", "", NODE("b", "2", "y")));
    world_turn(&f->w);
    expect_content(f, "b=y");
}

static void gone_at_a_later_page(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 200, PAGE("10", "t1", NODE("a", "1", "x")));
    world_turn(&f->w);
    world_reply(&f->w, 0, 410, STATUS("410", "Expired"));
    world_turn(&f->w);
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, LIST);
    world_reply(&f->w, 0, 200, PAGE("20", "", NODE("b", "2", "y")));
    world_turn(&f->w);
    expect_content(f, "b=y");
    world_expect(&f->w, WATCH("20"));
}

static void gone_again_and_again_is_a_problem(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    world_reply(&f->w, 0, 410, STATUS("410", "Expired"));
    world_turn(&f->w);
    expect_problem(f, "cannot watch nodes: HTTP 410: as the test wants");
    world_expect(&f->w, "");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    expect_problem(f, "");
    assert_int_equal(informer_restarts(f->informer), 2);
}

static void gone_after_an_outage_is_well_only_with_the_list(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_break(&f->w, 0, 200, ERR_UNREACHABLE, "the connection was reset");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_reply(&f->w, 0, 410, STATUS("410", "Expired"));
    world_turn(&f->w);
    world_expect(&f->w, LIST);
    expect_problem(f, "cannot watch nodes: the connection was reset");
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    expect_problem(f, "");
}

static void server_that_lags_behind_is_listed_anew(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_pass(&f->w, 5000);
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_reply(&f->w, 0, 504, "{'kind': 'Status', 'reason': 'Timeout', 'details': {'causes': [{'reason': 'ResourceVersionTooLarge'}]}}");
    world_turn(&f->w);
    world_expect(&f->w, LIST);
}

/* ---- what does not make sense */

static void bad_item_fails_the_list(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 200, PAGE("10", "", NODE("a", "1", "x") ", {'metadata': {'name': 'b', 'name': 'b'}}, " NODE("c", "2", "z")));
    world_turn(&f->w);
    assert_non_null(informer_problem(f->informer));
    assert_false(informer_synced(f->informer));
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, LIST);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    expect_problem(f, "");
    expect_content(f, "a=x b=y");
}

/* A later list with an item that cannot be read takes nothing away. */
static void bad_item_makes_nothing_go(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_expect(&f->w, LIST);
    world_reply(&f->w, 0, 200, PAGE("20", "", NODE("a", "1", "x") ", {'metadata': {'name': 'b', 'name': 'b'}}"));
    world_turn(&f->w);
    assert_non_null(informer_problem(f->informer));
    expect_content(f, "a=x b=y");
}

/* Anybody who may write an annotation can write these. */
static void escaped_nul_costs_nothing(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 200, PAGE("10", "", NODE("a", "1", "x', 'more': '\\u0000") ", " NODE("b", "2", "y', '\\u0000': '")));
    world_turn(&f->w);
    expect_content(f, "a=x b=y");
    world_status(&f->w, 0, 200);
    stream(f, EVENT("ADDED", NODE("c", "11", "z', 'more': '\\u0000")) EVENT("MODIFIED", NODE("b", "12", "w', '\\u0000': '")));
    expect_problem(f, "");
    expect_content(f, "a=x b=w c=z");
}

static void bad_event_makes_a_new_list(void **state)
{
    static const char *const frames[] = {
        "{'type': 'MODIFIED', 'object': {'metadata': {'name': 'a', 'name': 'a'}}}\n",
        "{'type': 'MODIFIED'}\n",
        "{'type': 'MODIFIED', 'object': 'text'}\n",
        "{'type': 'SURPRISE', 'object': " NODE("c", "11", "z") "}\n",
        "{'object': " NODE("c", "11", "z") "}\n",
        STATUS("500", "InternalError") "\n",
        "{}\n",
        "<html>",
        "]",
    };
    struct fixture *f = *state;
    start_listed(f);
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        stream(f, frames[i]);
        assert_non_null(informer_problem(f->informer));
        world_expect(&f->w, "");
        expect_content(f, "a=x b=y");
        world_pass(&f->w, 60000);
        world_expect(&f->w, LIST);
        world_reply(&f->w, 0, 200, AB);
        world_turn(&f->w);
        expect_problem(f, "");
        world_status(&f->w, 0, 200);
    }
}

static void error_event_without_a_status(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, "{'type': 'ERROR'}\n");
    assert_non_null(informer_problem(f->informer));
    world_pass(&f->w, FIRST_WAIT_MS);
    assert_int_equal(world_open(&f->w), 1);
}

static void list_that_broke_off_drops_nothing(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_status(&f->w, 0, 200);
    world_bytes(&f->w, 0, "{'metadata': {'resourceVersion': '20'}, 'items': [" NODE("a", "1", "x"));
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    expect_problem(f, "cannot watch nodes: the list broke off");
    expect_content(f, "a=x b=y");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, LIST);
    world_status(&f->w, 0, 200);
    world_bytes(&f->w, 0, "{'metadata': {'resourceVersion': '20'}, 'items': [" NODE("a", "1", "x"));
    world_break(&f->w, 0, 200, ERR_UNREACHABLE, "the connection was reset");
    world_turn(&f->w);
    expect_content(f, "a=x b=y");
    expect_problem(f, "cannot watch nodes: the connection was reset");
}

static void list_that_is_none(void **state)
{
    static const char *const bodies[] = { "", "<html>", "{}", "{'metadata': {}, 'items': []}", "[]" };
    struct fixture *f = *state;
    start(f);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        world_expect(&f->w, LIST);
        world_reply(&f->w, 0, 200, bodies[i]);
        world_turn(&f->w);
        assert_non_null(informer_problem(f->informer));
        assert_false(informer_synced(f->informer));
        world_expect(&f->w, "");
        world_pass(&f->w, 60000);
    }
}

/* ---- what is not installed */

static void absent_resource_is_an_empty_one(void **state)
{
    struct fixture *f = *state;
    start_optional(f);
    world_reply(&f->w, 0, 404, "404 page not found");
    world_turn(&f->w);
    assert_true(informer_synced(f->informer));
    assert_false(informer_present(f->informer));
    assert_true(f->changes > 0);
    expect_problem(f, "");
    world_pass(&f->w, 3600 * 1000);
    world_expect(&f->w, ""); /* nobody looks for it unasked */
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
    world_pass(&f->w, 1000);
    informer_look_again(f->informer, INFORMER_ABSENT_RETRY_MS);
    informer_look_again(f->informer, 0); /* once is enough */
    world_expect(&f->w, LIST);
    assert_true(informer_synced(f->informer));
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
    assert_true(informer_present(f->informer));
    expect_content(f, "a=x b=y");
    world_expect(&f->w, WATCH("10"));
    world_pass(&f->w, 5000);
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_reply(&f->w, 0, 404, "");
    world_turn(&f->w);
    assert_false(informer_present(f->informer));
    assert_true(informer_synced(f->informer));
    expect_content(f, "");
    world_pass(&f->w, 60000);
    world_expect(&f->w, "");
}

static void only_what_is_optional_may_be_absent(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 404, "");
    world_turn(&f->w);
    assert_false(informer_synced(f->informer));
    assert_true(informer_present(f->informer));
    expect_problem(f, "cannot list nodes: HTTP 404: (empty answer); this API server does not have the resource");
}

/* ---- when others are kept from now on */

static void what_is_listed_anew_stays_meanwhile(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    informer_list_anew(f->informer);
    assert_int_equal(f->w.cancelled, 1);
    world_expect(&f->w, LIST);
    assert_true(informer_synced(f->informer));
    expect_content(f, "a=x b=y");
    world_reply(&f->w, 0, 200, PAGE("20", "", NODE("b", "2", "z")));
    world_turn(&f->w);
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
    f->informer = informer_new(&(struct informer_options){ .resource = RESOURCE_NODE }, &f->table, &f->w.transport, f->w.loop, on_change, f);
    informer_list_anew(f->informer);
    world_expect(&f->w, "");
}

/* ---- failures */

static void silent_stream_is_dead(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_pass(&f->w, 149000);
    stream(f, BOOKMARK("57"));
    world_pass(&f->w, 149000);
    world_expect(&f->w, WATCH("10"));
    expect_problem(f, "");
    world_pass(&f->w, 1000);
    assert_int_equal(f->w.cancelled, 1);
    expect_problem(f, "cannot watch nodes: the stream was silent for 150 s");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, WATCH("57"));
    world_status(&f->w, 0, 200);
    world_turn(&f->w);
    expect_problem(f, "");
}

static void stream_that_never_opens_is_dead_too(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    world_pass(&f->w, 150000);
    assert_int_equal(f->w.cancelled, 1);
    assert_non_null(informer_problem(f->informer));
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, LIST); /* the version may be one that the server does not have any more */
}

static void problem_is_a_sentence(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 403, "{'kind': 'Status', 'reason': 'Forbidden', 'message': 'no right to list nodes'}");
    world_turn(&f->w);
    expect_problem(f, "cannot list nodes: HTTP 403: no right to list nodes; grant the right: the chart's ClusterRole and Roles have all "
                      "that are needed");
    assert_int_equal(f->changes, 1);
    world_pass(&f->w, FIRST_WAIT_MS);
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
    world_turn(&f->w);
    expect_problem(f, "cannot list nodes: connection refused");
    assert_int_equal(f->changes, 1); /* failing it was already */
    world_pass(&f->w, FIRST_WAIT_MS);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    expect_problem(f, "");
    assert_true(f->changes > 1);
    assert_int_equal(informer_restarts(f->informer), 2);
}

static void failed_watch_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("MODIFIED", NODE("a", "12", "w")));
    world_break(&f->w, 0, 200, ERR_UNREACHABLE, "the connection was reset");
    world_turn(&f->w);
    expect_problem(f, "cannot watch nodes: the connection was reset");
    assert_true(informer_synced(f->informer));
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, WATCH("12"));
    world_status(&f->w, 0, 200);
    world_turn(&f->w);
    expect_problem(f, "");
    stream(f, EVENT("ERROR", STATUS("500", "InternalError")));
    expect_problem(f, "cannot watch nodes: HTTP 500: as the test wants");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, WATCH("12"));
}

static void retry_after_is_waited_for(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_refuse(&f->w, 0, 429, 7000, STATUS("429", "TooManyRequests"));
    world_turn(&f->w);
    expect_problem(f, "cannot list nodes: HTTP 429: as the test wants");
    world_pass(&f->w, 6999);
    world_expect(&f->w, "");
    world_pass(&f->w, 1);
    world_expect(&f->w, LIST);
}

static void streams_that_end_at_once_are_a_failure(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_expect(&f->w, "");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, WATCH("10"));
}

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
    static const struct {
        const char *name;
        CMUnitTestFunction check;
    } rows[] = {
        { "a list, then a watch", list_then_watch },
        { "pages make one list", pages_make_one_list },
        { "selectors are in every request", selectors_are_in_every_request },
        { "events keep the table up to date", events_keep_the_table_up_to_date },
        { "events may be cut anywhere", events_may_be_cut_anywhere },
        { "a watch that ends goes on where it was", watch_that_ends_goes_on_where_it_was },
        { "half an event at the end counts for nothing", half_an_event_at_the_end_counts_for_nothing },
        { "a watch that the client ends in time is no failure", watch_that_the_client_ends_in_time_is_no_failure },
        { "gone when a watch is opened: listed anew", gone_at_the_opening },
        { "gone in the stream: listed anew", gone_in_the_stream },
        { "gone at a later page: from the first page", gone_at_a_later_page },
        { "gone again and again is a problem", gone_again_and_again_is_a_problem },
        { "gone after an outage: all is well only with the list", gone_after_an_outage_is_well_only_with_the_list },
        { "a server that lags behind is listed anew", server_that_lags_behind_is_listed_anew },
        { "a bad item fails the list", bad_item_fails_the_list },
        { "a bad item makes nothing go", bad_item_makes_nothing_go },
        { "an escaped NUL costs nothing", escaped_nul_costs_nothing },
        { "a bad event makes a new list", bad_event_makes_a_new_list },
        { "an error event without a status", error_event_without_a_status },
        { "a list that broke off drops nothing", list_that_broke_off_drops_nothing },
        { "a list that is none is a problem", list_that_is_none },
        { "an absent resource is an empty one", absent_resource_is_an_empty_one },
        { "an absent resource is looked for when asked", absent_resource_is_looked_for_when_asked },
        { "an absent resource comes and goes", absent_resource_comes_and_goes },
        { "only what is optional may be absent", only_what_is_optional_may_be_absent },
        { "what is listed anew stays meanwhile", what_is_listed_anew_stays_meanwhile },
        { "a wait ends when it is listed anew", a_wait_ends_when_it_is_listed_anew },
        { "nothing is listed anew before its start", nothing_is_listed_anew_before_its_start },
        { "a silent stream is dead", silent_stream_is_dead },
        { "a stream that never opens is dead too", stream_that_never_opens_is_dead_too },
        { "a problem is a sentence, until it is over", problem_is_a_sentence },
        { "a failed watch goes on where it was", failed_watch_goes_on_where_it_was },
        { "Retry-After is waited for", retry_after_is_waited_for },
        { "streams that end at once are a failure", streams_that_end_at_once_are_a_failure },
        { "freed while something is on its way", freed_while_something_is_on_its_way },
        { "freed while it waits", freed_while_it_waits },
    };
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add_fixture(&s, rows[i].name, rows[i].check, set_up, tear_down);
    return suite_run(&s, "informer");
}
