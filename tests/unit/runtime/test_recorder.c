#include "runtime/recorder.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tests/unit/support/sanitized.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"
#include "tests/unit/support/world.h"

#define POST "POST /apis/events.k8s.io/v1/namespaces/default/events?fieldManager=ostler"

struct fixture {
    struct world w;
    struct recorder *recorder;
    int64_t fence;
};

static int64_t fence(void *arg)
{
    const struct fixture *f = arg;
    return f->fence;
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    f->fence = INT64_MAX;
    f->recorder = recorder_new(&(struct recorder_options){ .transport = &f->w.transport,
                                                           .loop = f->w.loop,
                                                           .clock = &f->w.clock,
                                                           .instance = "pod-1",
                                                           .fence = fence,
                                                           .arg = f });
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    recorder_free(f->recorder);
    world_clear(&f->w);
    free(f);
    return 0;
}

static struct notice node_event(const char *node, const char *reason)
{
    return (struct notice){ .resource = RESOURCE_NODE,
                            .name = (char *) node,
                            .uid = (char *) node,
                            .reason = reason,
                            .action = "Upgrade",
                            .note = "a sentence" };
}

static void record(struct fixture *f, const char *node, const char *reason)
{
    struct notice e = node_event(node, reason);
    recorder_event(f->recorder, &e);
}

/* Answers everything that is open and what comes after it. */
static void accept_all(struct fixture *f)
{
    while (world_open(&f->w)) {
        world_reply(&f->w, 0, 201, "{}");
        world_turn(&f->w);
    }
}

static void event_has_all_that_the_server_requires(void **state)
{
    struct fixture *f = *state;
    recorder_event(f->recorder, &(struct notice){ .resource = RESOURCE_NODE,
                                                  .name = "gpu-1",
                                                  .uid = "u1",
                                                  .warning = true,
                                                  .reason = "DrainBlocked",
                                                  .action = "Drain",
                                                  .note = "the pod a/b is in the way" });
    world_expect(&f->w, POST);
    CLEANUP_JSON json_t *event = world_body(&f->w, 0);
    const char *name = json_str_or_empty(event, "metadata.name");
    assert_memory_equal(name, "gpu-1.", 6);
    json_set_at(event, "metadata.name", json_string("NAME"));
    assert_tree(
        event,
        "{'apiVersion': 'events.k8s.io/v1', 'kind': 'Event', 'metadata': {'name': 'NAME', "
        "'namespace': 'default'}, "
        "'eventTime': '2026-11-20T10:00:01.000000Z', 'reportingController': 'ostler.dev/ostler', "
        "'reportingInstance': 'pod-1', 'action': 'Drain', 'reason': 'DrainBlocked', 'type': "
        "'Warning', "
        "'note': 'the pod a/b is in the way', "
        "'regarding': {'apiVersion': 'v1', 'kind': 'Node', 'name': 'gpu-1', 'uid': 'u1'}}");
}

static void long_note_is_cut(void **state)
{
    struct fixture *f = *state;
    char note[5000];
    memset(note, 'x', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    struct notice e = node_event("n", "Long");
    e.note = note;
    recorder_event(f->recorder, &e);
    CLEANUP_JSON json_t *event = world_body(&f->w, 0);
    assert_in_range(strlen(json_str_or_empty(event, "note")), 900, 1024);
}

static void names_are_unique(void **state)
{
    struct fixture *f = *state;
    record(f, "n", "A");
    record(f, "n", "B");
    CLEANUP_JSON json_t *a = world_body(&f->w, 0);
    CLEANUP_JSON json_t *b = world_body(&f->w, 1);
    assert_string_not_equal(json_str_or_empty(a, "metadata.name"),
                            json_str_or_empty(b, "metadata.name"));
}

static void second_time_begins_a_series(void **state)
{
    struct fixture *f = *state;
    record(f, "n", "A");
    CLEANUP_JSON json_t *event = world_body(&f->w, 0);
    accept_all(f);
    world_pass(&f->w, 60000);
    record(f, "n", "A");
    CLEANUP_FREE char *want = xasprintf(
        "PATCH /apis/events.k8s.io/v1/namespaces/default/events/%s?fieldManager=ostler",
        json_str(event, "metadata.name"));
    world_expect(&f->w, want);
    world_expect_body(
        &f->w, 0, "{'series': {'count': 2, 'lastObservedTime': '2026-11-20T10:01:01.000000Z'}}");
}

static void series_is_written_each_half_hour(void **state)
{
    struct fixture *f = *state;
    record(f, "n", "A");
    int patches = 0;
    for (int minute = 5; minute <= 120; minute += 5) {
        accept_all(f);
        world_pass(&f->w, 5 * 60 * 1000);
        record(f, "n", "A");
        patches += world_open(&f->w) > 0;
    }
    assert_in_range(patches, 4, 5);
    assert_int_equal(recorder_dropped(f->recorder), 0);
}

static void after_a_pause_it_begins_anew(void **state)
{
    struct fixture *f = *state;
    record(f, "n", "A");
    accept_all(f);
    world_pass(&f->w, 6 * 60 * 1000 + 1);
    record(f, "n", "A");
    world_expect(&f->w, POST);
}

/* A claim of another revision, say: who reads the Event must not read what was said of the one
 * before. */
static void another_sentence_is_another_event(void **state)
{
    struct fixture *f = *state;
    struct notice e = node_event("n", "A");
    recorder_event(f->recorder, &e);
    accept_all(f);
    e.note = "another sentence";
    recorder_event(f->recorder, &e);
    world_expect(&f->w, POST);
    CLEANUP_JSON json_t *event = world_body(&f->w, 0);
    assert_string_equal(json_str_or_empty(event, "note"), "another sentence");
}

static void what_differs_is_another_event(void **state)
{
    struct fixture *f = *state;
    record(f, "n", "A");
    record(f, "m", "A");
    record(f, "n", "B");
    struct notice warning = node_event("n", "A");
    warning.warning = true;
    recorder_event(f->recorder, &warning);
    world_expect(&f->w, POST "\n" POST "\n" POST "\n" POST);
}

static void flood_of_one_object_is_dropped(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 100; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "R%d", i);
        record(f, "n", reason);
    }
    record(f, "m", "A"); /* another object has its own allowance */
    accept_all(f);
    assert_int_equal(f->w.submitted, 25 + 1);
    assert_int_equal(recorder_dropped(f->recorder), 75);
    world_pass(&f->w, 5 * 60 * 1000);
    record(f, "n", "Later");
    record(f, "n", "Later2");
    accept_all(f);
    assert_int_equal(f->w.submitted, 25 + 1 + 1);
    assert_int_equal(recorder_dropped(f->recorder), 76);
}

/* Ready and NotReady of a week must not cost the next rollout its failure. */
static void each_share_has_limits_of_its_own(void **state)
{
    struct fixture *f = *state;
    for (enum event_share share = 0; share < EVENT_SHARES; share++)
        for (int i = 0; i < 40; i++) {
            char note[16];
            snprintf(note, sizeof note, "%d %d", i, (int) share);
            struct notice e = node_event("n", "A");
            e.share = share;
            e.note = note;
            recorder_event(f->recorder, &e);
            accept_all(f);
        }
    assert_int_equal(f->w.submitted, 25 * EVENT_SHARES);
    assert_int_equal(recorder_dropped(f->recorder), 15 * EVENT_SHARES);
}

/* Nor does a fleet whose nodes all have something to say, nor what waits to be sent. */
static void a_fleet_leaves_room_for_rollouts_and_faults(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 300; i++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", i);
        record(f, node, "A");
    }
    struct notice failed = node_event("n", "RevisionFailed"), closed = node_event("n", "GpuClosed");
    failed.share = EVENTS_OF_ROLLOUTS;
    closed.share = EVENTS_OF_FAULTS;
    recorder_event(f->recorder, &failed);
    recorder_event(f->recorder, &closed);
    accept_all(f);
    assert_int_equal(f->w.submitted, 4 + 64 + 2);
}

static void few_are_on_their_way_at_once(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 300; i++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", i);
        record(f, node, "A");
    }
    assert_int_equal(world_open(&f->w), 4);
    assert_int_equal(recorder_dropped(f->recorder), 300 - 64 - 4);
    accept_all(f);
    assert_int_equal(f->w.submitted, 68);
}

static void record_nodes(struct fixture *f, int first, int last)
{
    for (int i = first; i <= last; i++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", i);
        record(f, node, "A");
        accept_all(f);
    }
}

/* What it could not say since others said too much does not count against it. */
static void what_was_held_back_for_the_fleet_costs_its_object_nothing(void **state)
{
    struct fixture *f = *state;
    record_nodes(f, 1, 100);
    for (int i = 0; i < 25; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "R%d", i);
        record(f, "n", reason);
    }
    assert_int_equal(f->w.submitted, 100);
    world_pass(&f->w, 50 * 1000);
    record(f, "n", "Later");
    accept_all(f);
    assert_int_equal(f->w.submitted, 101);
}

static void a_fleet_is_no_flood(void **state)
{
    struct fixture *f = *state;
    record_nodes(f, 1, 300);
    assert_int_equal(f->w.submitted, 100);
    assert_int_equal(recorder_dropped(f->recorder), 200);
    world_pass(&f->w, 50 * 1000);
    record_nodes(f, 301, 400);
    assert_int_equal(f->w.submitted, 150);
}

static void failures_hold_nothing_up(void **state)
{
    struct fixture *f = *state;
    record(f, "n", "A");
    record(f, "n", "B");
    world_reply(&f->w, 0, 403, "{'message': 'no right to create events'}");
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
    world_turn(&f->w);
    assert_int_equal(recorder_dropped(f->recorder), 2);
    record(f, "n", "C");
    world_expect(&f->w, POST);
}

/* It may have arrived: sent again there would be two. */
static void what_is_not_answered_is_not_sent_again(void **state)
{
    struct fixture *f = *state;
    record(f, "n", "A");
    world_break(&f->w, 0, 0, ERR_TIMEOUT, "no answer in time");
    world_turn(&f->w);
    world_pass(&f->w, 60000);
    world_expect(&f->w, "");
}

static void nothing_is_sent_past_the_fence(void **state)
{
    struct fixture *f = *state;
    f->fence = f->w.now_ms + 100;
    world_jump(&f->w, 100); /* within one turn: the turn's time is old */
    record(f, "n", "A");
    world_expect(&f->w, "");
    f->fence = INT64_MAX;
    record(f, "n", "B");
    world_expect(&f->w, POST "\n" POST);
}

static void thousands_of_objects_are_forgotten(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 10000; i++) {
        char node[16];
        snprintf(node, sizeof node, "n%d", i);
        record(f, node, "A");
        accept_all(f);
        world_pass(&f->w, 1000);
    }
    assert_int_equal(recorder_dropped(f->recorder), 0);
    record(f, "n9999", "A");
    assert_string_equal(world_call(&f->w, 0)->request.method, "PATCH");
}

/* Each of them is remembered for some minutes, not until there are thousands. */
static void what_is_over_takes_no_memory(void **state)
{
    struct fixture *f = *state;
    record_nodes(f, 0, 99);
    const size_t before = mallinfo2().uordblks;
    for (int i = 100; i < 3000; i++) {
        world_pass(&f->w, 1000);
        record_nodes(f, i, i);
    }
    assert_int_equal(recorder_dropped(f->recorder), 0);
    if (!SANITIZED)
        assert_in_range(mallinfo2().uordblks - before, 0, 160 << 10);
}

/* When others make it look for what is over. */
static void what_still_counts_is_not_forgotten(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 25; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "R%d", i);
        record(f, "n", reason);
        accept_all(f);
    }
    world_pass(&f->w, 2000);
    record_nodes(f, 1, 70);
    assert_int_equal(recorder_dropped(f->recorder), 0);
    record(f, "n", "More");
    assert_int_equal(recorder_dropped(f->recorder), 1);
    record(f, "n1", "A");
    assert_string_equal(world_call(&f->w, 0)->request.method, "PATCH");
}

static void freed_with_events_on_their_way(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++) {
        char reason[16];
        snprintf(reason, sizeof reason, "R%d", i);
        record(f, "n", reason);
    }
    world_reply(&f->w, 1, 201, "{}");
    world_turn(&f->w);
    world_reply(&f->w, 0, 201, "{}");
    recorder_free(TAKE(f->recorder));
    world_turn(&f->w);
    world_expect(&f->w, "");
}

int main(void)
{
    static const struct suite_check rows[] = {
        { "an event has all that the server requires", event_has_all_that_the_server_requires },
        { "a long note is cut", long_note_is_cut },
        { "names are unique", names_are_unique },
        { "the second time begins a series", second_time_begins_a_series },
        { "a series is written each half hour", series_is_written_each_half_hour },
        { "after a pause an event begins anew", after_a_pause_it_begins_anew },
        { "another object, reason or type is another event", what_differs_is_another_event },
        { "another sentence is another event", another_sentence_is_another_event },
        { "a flood of events of one object is dropped", flood_of_one_object_is_dropped },
        { "what was held back for the fleet costs its object nothing",
          what_was_held_back_for_the_fleet_costs_its_object_nothing },
        { "each share has limits of its own", each_share_has_limits_of_its_own },
        { "a fleet leaves room for events of rollouts and faults",
          a_fleet_leaves_room_for_rollouts_and_faults },
        { "few are on their way at once, some wait, the rest is dropped",
          few_are_on_their_way_at_once },
        { "a fleet that starts is no flood of events", a_fleet_is_no_flood },
        { "failures hold nothing up", failures_hold_nothing_up },
        { "what is not answered is not sent again", what_is_not_answered_is_not_sent_again },
        { "nothing is sent past the fence", nothing_is_sent_past_the_fence },
        { "thousands of objects are forgotten in time", thousands_of_objects_are_forgotten },
        { "what is over takes no memory", what_is_over_takes_no_memory },
        { "what still counts is not forgotten", what_still_counts_is_not_forgotten },
        { "freed with events on their way, these are cancelled", freed_with_events_on_their_way },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, rows, set_up, tear_down);
    return suite_run(&s, "recorder");
}
