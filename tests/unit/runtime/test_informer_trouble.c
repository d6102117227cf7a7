/* What an informer makes of what goes wrong: versions that are gone, answers that make no sense,
 * connections that fail. */
#include <string.h>

#include "kube/split.h"
#include "tests/unit/runtime/informing.h"

#define GAP                                                                                        \
    "the watch of nodes missed events: HTTP 410: as the test wants; Ostler changes nothing until " \
    "it has listed nodes again"

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
    expect_problem(f, GAP);
    assert_true(informer_state(f->informer).synced);
    expect_content(f, "a=x b=y");
    world_reply(&f->w, 0, 200, PAGE("90", "", NODE("a", "80", "w")));
    world_turn(&f->w);
    expect_problem(f, "");
    expect_content(f, "a=w"); /* b's deletion was never told, only missed */
    world_expect(&f->w, WATCH("90"));
}

static void gone_in_the_stream(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_expect(&f->w, LIST);
    expect_problem(f, GAP);
    world_reply(&f->w, 0, 200, PAGE("90", "", NODE("b", "2", "y")));
    world_turn(&f->w);
    expect_problem(f, "");
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
    assert_int_equal(informer_state(f->informer).restarts, 2);
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
    expect_problem(f, GAP);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    expect_problem(f, "");
}

/* kube-apiserver answers 200 and sends the 410 as the first frame. */
static void gone_after_http_200_of_the_resume(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_break(&f->w, 0, 200, ERR_UNREACHABLE, "the connection was reset");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_status(&f->w, 0, 200);
    world_pass(&f->w, 500);
    expect_problem(f, "cannot watch nodes: the connection was reset");
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    expect_problem(f, GAP);
    world_expect(&f->w, LIST);
    world_pass(&f->w, 10000); /* nothing of the stream that ended makes the list well */
    expect_problem(f, GAP);
    world_reply(&f->w, 0, 200, AB);
    world_turn(&f->w);
    expect_problem(f, "");
}

static void nothing_is_well_before_the_last_page(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_status(&f->w, 0, 200);
    world_pass(&f->w, 20000);
    expect_problem(f, GAP);
    world_bytes(&f->w, 0, PAGE("90", "t1", NODE("a", "80", "w")));
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_expect(&f->w, LIST "&continue=t1");
    world_status(&f->w, 0, 200);
    world_pass(&f->w, 20000);
    expect_problem(f, GAP);
    world_reply(&f->w, 0, 200, PAGE("90", "", NODE("b", "2", "y")));
    world_turn(&f->w);
    expect_problem(f, "");
}

static void a_list_is_well_at_its_end(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 500, "{}");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_status(&f->w, 0, 200);
    world_pass(&f->w, 20000);
    expect_problem(f, "cannot list nodes: HTTP 500: {}");
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
    world_reply(&f->w, 0, 504,
                "{'kind': 'Status', 'reason': 'Timeout', 'details': {'causes': [{'reason': "
                "'ResourceVersionTooLarge'}]}}");
    world_turn(&f->w);
    world_expect(&f->w, LIST);
}

/* ---- what does not make sense */

/* Of these two objects, none can be read whole; of the first its name can, of the second not even
 * that. */
#define BAD(name, rv)                                                                              \
    "{'metadata': {'name': '" name "', 'uid': '" name "', 'resourceVersion': '" rv                 \
    "'}, 'status': {'x': '\\ud800'}}"
#define NAMELESS "{'metadata': {'name': '\\ud800'}}"

static void bad_item_costs_no_other(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(
        &f->w, 0, 200,
        PAGE("10", "",
             NODE("a", "1", "x") ", " BAD("b", "2") ", " NODE("c", "2", "z") ", " NAMELESS));
    world_turn(&f->w);
    expect_problem(f, "");
    assert_true(informer_state(f->informer).synced);
    assert_int_equal(informer_state(f->informer).unreadable, 2);
    expect_content(f, "a=x c=z");
}

static void bad_item_that_is_known_stays(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_reply(&f->w, 0, 200, PAGE("20", "", BAD("b", "12")));
    world_turn(&f->w);
    expect_problem(f, "");
    expect_content(f, "b=y"); /* and a, which the list did not have, went */
}

/* Its deletion would name another uid than the one that is known, and nothing would take that off.
 */
static void bad_item_of_another_incarnation_keeps_nothing(void **state)
{
    static const char again[] = "{'metadata': {'name': 'b', 'uid': 'b2', 'resourceVersion': '12'}, "
                                "'status': {'x': '\\ud800'}}";
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    CLEANUP_FREE char *page = xasprintf(PAGE("20", "", NODE("a", "1", "x") ", %s"), again);
    world_reply(&f->w, 0, 200, page);
    world_turn(&f->w);
    expect_problem(f, "");
    expect_content(f, "a=x");
}

static void nameless_item_may_be_any(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_reply(&f->w, 0, 200, PAGE("20", "", NODE("a", "11", "w") ", " NAMELESS));
    world_turn(&f->w);
    expect_problem(f, "");
    expect_content(f, "a=w b=y");
    world_status(&f->w, 0, 200);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_pass(&f->w, FIRST_WAIT_MS);
    world_reply(&f->w, 0, 200, PAGE("30", "", NODE("a", "11", "w"))); /* nothing is left of it */
    world_turn(&f->w);
    expect_content(f, "a=w");
}

static void bad_item_that_is_not_known_is_read_without_its_status(void **state)
{
    static const char *const status[] = { "status", NULL };
    static const struct split_view bare = { status, false };
    struct fixture *f = *state;
    start_with(f, &(struct informer_options){ .resource = RESOURCE_NODE, .bare = &bare });
    world_reply(&f->w, 0, 200, PAGE("10", "", NODE("a", "1", "x'}, 'status': {'x': '\\ud800")));
    world_turn(&f->w);
    world_status(&f->w, 0, 200);
    stream(f, EVENT("ADDED", NODE("b", "11", "y'}, 'status': {'x': '\\ud800")));
    expect_problem(f, "");
    expect_content(f, "a=x b=y");
}

static void bad_event_keeps_what_is_known(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("MODIFIED", BAD("b", "12")) EVENT("MODIFIED", NODE("a", "13", "w"))
                  EVENT("ADDED", BAD("c", "14")));
    expect_problem(f, "");
    expect_content(f, "a=w b=y");
    assert_int_equal(informer_state(f->informer).unreadable, 2);
    stream(f, EVENT("DELETED", BAD("b", "15")));
    expect_content(f, "a=w");
    world_done(&f->w, 0, 200);
    world_turn(&f->w);
    world_expect(&f->w, WATCH("15"));
}

/* An object with a status that is nested too deep, or too large. Owned by the caller. */
static char *too_much(const char *name, const char *rv, bool deep)
{
    size_t times = deep ? SPLIT_DEPTH_MAX : 17 << 20;
    CLEANUP_FREE char *fill = xcalloc(times, 1), *end = xcalloc(deep ? times : 1, 1);
    memset(fill, deep ? '[' : 'x', times - 1);
    memset(end, ']', deep ? times - 1 : 0);
    const char *quote = deep ? "" : "'";
    return xasprintf("{'metadata': {'name': '%s', 'uid': '%s', 'resourceVersion': '%s'}, 'spec': "
                     "{'text': 'v'}, 'status': "
                     "%s%s%s%s}",
                     name, name, rv, quote, fill, end, quote);
}

static void an_object_that_is_too_much_costs_itself(struct fixture *f, bool deep)
{
    CLEANUP_FREE char *b = too_much("b", "12", deep), *c = too_much("c", "13", deep);
    CLEANUP_FREE char *page = xasprintf(
        PAGE("20", "", NODE("a", "11", "w") ", %s, %s, " NODE("d", "14", "z")), b, c);
    start_listed(f);
    stream(f, EVENT("ERROR", STATUS("410", "Expired")));
    world_reply(&f->w, 0, 200, page);
    world_turn(&f->w);
    expect_problem(f, "");
    expect_content(f, "a=w b=y d=z"); /* b stays as it was; of c nothing was known */
    CLEANUP_FREE char *again = too_much("b", "21", deep), *gone = too_much("b", "23", deep);
    CLEANUP_FREE char *frames = xasprintf(
        EVENT("MODIFIED", "%s") EVENT("MODIFIED", NODE("a", "22", "x")), again);
    CLEANUP_FREE char *last = xasprintf(EVENT("DELETED", "%s"), gone);
    world_status(&f->w, 0, 200);
    stream(f, frames);
    expect_problem(f, "");
    expect_content(f, "a=x b=y d=z");
    assert_int_equal(informer_state(f->informer).unreadable, 3);
    stream(f, last);
    expect_problem(f, "");
    expect_content(f, "a=x d=z");
    world_done(&f->w, 0, 200);
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, WATCH("23"));
}

static void an_object_that_is_too_deep_costs_itself(void **state)
{
    an_object_that_is_too_much_costs_itself(*state, true);
}

static void an_object_that_is_too_large_costs_itself(void **state)
{
    an_object_that_is_too_much_costs_itself(*state, false);
}

/* Any user who may write an annotation can write these. */
static void escaped_nul_costs_nothing(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(
        &f->w, 0, 200,
        PAGE("10", "",
             NODE("a", "1", "x', 'more': '\\u0000") ", " NODE("b", "2", "y', '\\u0000': '")));
    world_turn(&f->w);
    expect_content(f, "a=x b=y");
    world_status(&f->w, 0, 200);
    stream(f, EVENT("ADDED", NODE("c", "11", "z', 'more': '\\u0000"))
                  EVENT("MODIFIED", NODE("b", "12", "w', '\\u0000': '")));
    expect_problem(f, "");
    expect_content(f, "a=x b=w c=z");
}

static void bad_event_makes_a_new_list(void **state)
{
    static const char *const frames[] = {
        "{'type': 'MODIFIED', 'object': " NAMELESS "}\n",
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
        assert_non_null(informer_state(f->informer).problem);
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
    assert_non_null(informer_state(f->informer).problem);
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
    expect_problem(f, "cannot watch nodes: the list is incomplete");
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
    static const char *const bodies[] = { "", "<html>", "{}", "{'metadata': {}, 'items': []}",
                                          "[]" };
    struct fixture *f = *state;
    start(f);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        world_expect(&f->w, LIST);
        world_reply(&f->w, 0, 200, bodies[i]);
        world_turn(&f->w);
        assert_non_null(informer_state(f->informer).problem);
        assert_false(informer_state(f->informer).synced);
        world_expect(&f->w, "");
        world_pass(&f->w, 60000);
    }
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
    world_pass(&f->w, 5000);
    /* this one may be as silent */
    expect_problem(f, "cannot watch nodes: the stream was silent for 150 s");
    stream(f, BOOKMARK("58"));
    expect_problem(f, "");
}

static void any_frame_ends_the_doubt_in_a_silent_stream(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, BOOKMARK("57"));
    world_pass(&f->w, 150000 + FIRST_WAIT_MS);
    world_status(&f->w, 0, 200);
    world_turn(&f->w);
    assert_non_null(informer_state(f->informer).problem);
    stream(f, EVENT("MODIFIED", NODE("a", "58", "w")));
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
    assert_non_null(informer_state(f->informer).problem);
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, LIST); /* the server may no longer have the version */
}

static void problem_is_a_sentence(void **state)
{
    struct fixture *f = *state;
    start(f);
    world_reply(&f->w, 0, 403,
                "{'kind': 'Status', 'reason': 'Forbidden', 'message': 'no right to list nodes'}");
    world_turn(&f->w);
    expect_problem(f, "cannot list nodes: HTTP 403: no right to list nodes; grant the permission: "
                      "the chart's ClusterRole and "
                      "Roles "
                      "have all that Ostler needs");
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
    assert_int_equal(informer_state(f->informer).restarts, 2);
}

static void failed_watch_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    stream(f, EVENT("MODIFIED", NODE("a", "12", "w")));
    world_break(&f->w, 0, 200, ERR_UNREACHABLE, "the connection was reset");
    world_turn(&f->w);
    expect_problem(f, "cannot watch nodes: the connection was reset");
    assert_true(informer_state(f->informer).synced);
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, WATCH("12"));
    world_status(&f->w, 0, 200);
    world_pass(&f->w, 999);
    expect_problem(f, "cannot watch nodes: the connection was reset");
    world_pass(&f->w, 1);
    expect_problem(f, "");
    stream(f, EVENT("ERROR", STATUS("500", "InternalError")));
    expect_problem(f, "cannot watch nodes: HTTP 500: as the test wants");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_expect(&f->w, WATCH("12"));
}

static void a_bookmark_ends_the_wait_of_a_resumed_watch(void **state)
{
    struct fixture *f = *state;
    start_listed(f);
    world_break(&f->w, 0, 200, ERR_UNREACHABLE, "the connection was reset");
    world_pass(&f->w, FIRST_WAIT_MS);
    world_status(&f->w, 0, 200);
    stream(f, EVENT("MODIFIED", NODE("a", "12", "w")));
    assert_non_null(informer_state(f->informer).problem); /* more of what was missed may follow */
    stream(f, BOOKMARK("13"));
    expect_problem(f, "");
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

int main(void)
{
    static const struct informing rows[] = {
        { "gone when a watch is opened: listed anew", gone_at_the_opening },
        { "gone in the stream: listed anew", gone_in_the_stream },
        { "gone at a later page: from the first page", gone_at_a_later_page },
        { "gone again and again is a problem", gone_again_and_again_is_a_problem },
        { "gone after an outage: all is well only with the list",
          gone_after_an_outage_is_well_only_with_the_list },
        { "gone after HTTP 200 of the resume: not well before the list",
          gone_after_http_200_of_the_resume },
        { "nothing is well before the last page", nothing_is_well_before_the_last_page },
        { "a list is well at its end, not at its HTTP 200", a_list_is_well_at_its_end },
        { "a server that lags behind is listed anew", server_that_lags_behind_is_listed_anew },
        { "a bad item costs no other", bad_item_costs_no_other },
        { "a bad item that is known stays as it was", bad_item_that_is_known_stays },
        { "a bad item of another incarnation keeps nothing",
          bad_item_of_another_incarnation_keeps_nothing },
        { "a bad item without a name may be any: nothing goes", nameless_item_may_be_any },
        { "a bad item that is not known is read without its status",
          bad_item_that_is_not_known_is_read_without_its_status },
        { "a bad event keeps what is known", bad_event_keeps_what_is_known },
        { "an object that is too deep costs itself", an_object_that_is_too_deep_costs_itself },
        { "an object that is too large costs itself", an_object_that_is_too_large_costs_itself },
        { "an escaped NUL costs nothing", escaped_nul_costs_nothing },
        { "a bad event makes a new list", bad_event_makes_a_new_list },
        { "an error event without a status", error_event_without_a_status },
        { "a list that broke off drops nothing", list_that_broke_off_drops_nothing },
        { "a list that is none is a problem", list_that_is_none },
        { "a silent stream is dead", silent_stream_is_dead },
        { "after a silent stream, any frame of the next one counts",
          any_frame_ends_the_doubt_in_a_silent_stream },
        { "a stream that never opens is dead too", stream_that_never_opens_is_dead_too },
        { "a problem is a sentence, until it is over", problem_is_a_sentence },
        { "a failed watch goes on where it was", failed_watch_goes_on_where_it_was },
        { "a bookmark ends the wait of a resumed watch",
          a_bookmark_ends_the_wait_of_a_resumed_watch },
        { "Retry-After is waited for", retry_after_is_waited_for },
        { "streams that end at once are a failure", streams_that_end_at_once_are_a_failure },
    };
    return run_informing(rows, ARRAY_LEN(rows), "informer in trouble");
}
