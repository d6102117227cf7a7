#include "runtime/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"
#include "tests/unit/support/world.h"

#define PATCHED(name) "PATCH /api/v1/nodes/" name "?fieldManager=ostler"

struct fixture {
    struct world w;
    struct executor *ex;
    int64_t fence;
    uint32_t epoch;
    int64_t jump_ms;      /* the clock jumps by this when the next answer is counted */
    struct buf log;       /* what the executor said: outcomes, answers, accepted objects */
    ptrdiff_t failed;     /* index of the action that the last plan's error is about; -1: none */
    struct actions again; /* submitted by the next done function */
    char effects[8];      /* of the last plan's actions, a letter each: nothing was sent, … */
};

static int64_t fence(void *arg)
{
    const struct fixture *f = arg;
    return f->fence;
}

static uint32_t epoch(void *arg)
{
    const struct fixture *f = arg;
    return f->epoch;
}

static void written(void *arg, enum resource_id resource, const json_t *object)
{
    struct fixture *f = arg;
    buf_printf(&f->log, "written %s %s\n", resource_get(resource)->plural, object_name(object));
}

/* What is called "new" was not known. */
static bool seen(void *arg, enum resource_id resource, const json_t *object, uint64_t list_rv)
{
    struct fixture *f = arg;
    buf_printf(&f->log, "seen %s %s", resource_get(resource)->plural, object_name(object));
    if (list_rv)
        buf_printf(&f->log, " at %llu", (unsigned long long) list_rv);
    buf_str(&f->log, "\n");
    return str_eq(object_name(object), "new");
}

static void answered(void *arg, const struct request *request, int status, const struct err *e)
{
    (void) e;
    struct fixture *f = arg;
    buf_printf(&f->log, "%s %s%s %d\n", request->method, resource_get(request->resource)->plural,
               request->class == REQUEST_WRITE ? "" : " (not a write)", status);
    world_jump(&f->w, f->jump_ms);
    f->jump_ms = 0;
}

static void done(void *arg, const char *key, const struct executor_result *result)
{
    struct fixture *f = arg;
    buf_printf(&f->log, "%s: %s \"%s\" %lld\n", key, err_kind_name(result->error), result->message,
               (long long) result->retry_after_ms);
    f->failed = result->failed ? result->failed - result->actions->items : -1;
    memset(f->effects, 0, sizeof f->effects);
    for (size_t i = 0; i < result->actions->len && i + 1 < sizeof f->effects; i++)
        f->effects[i] = "-RUS"[result->actions->items[i].effect];
    if (f->again.len) {
        struct actions actions = f->again;
        f->again = (struct actions){ 0 };
        executor_submit(f->ex, "again", &actions, done, f);
    }
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    f->fence = INT64_MAX;
    f->epoch = 7;
    f->log = (struct buf) BUF_INIT(10000);
    f->ex = executor_new(&(struct executor_options){ .transport = &f->w.transport,
                                                     .loop = f->w.loop,
                                                     .fence = fence,
                                                     .epoch = epoch,
                                                     .written = written,
                                                     .answered = answered,
                                                     .seen = seen,
                                                     .arg = f });
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    executor_free(f->ex);
    world_clear(&f->w);
    actions_clear(&f->again);
    buf_clear(&f->log);
    free(f);
    return 0;
}

static void expect_log(struct fixture *f, const char *want)
{
    world_turn(&f->w);
    assert_string_equal(buf_text(&f->log), want);
    buf_reset(&f->log);
}

static void add_patch(struct actions *p, const char *node)
{
    CLEANUP_JSON json_t *patch = tree("{'spec': {'unschedulable': true}}");
    CLEANUP_FREE char *target = xasprintf("node/%s", node);
    actions_add(p, request_merge_patch(RESOURCE_NODE, NULL, node, patch), VERB_MARK, target, "Test",
                "as the test wants");
}

static void add_delete(struct actions *p, const char *name)
{
    actions_add(p, request_delete(RESOURCE_DAEMONSET, "ns", name, "u1", 0), VERB_DELETE, name,
                "Test", "as the test wants");
}

/* A plan of patches of nodes. */
static void submit(struct fixture *f, const char *key, bool keep_going, const char *const *nodes)
{
    struct actions p = { .keep_going = keep_going };
    for (; *nodes; nodes++)
        add_patch(&p, *nodes);
    executor_submit(f->ex, key, &p, done, f);
    assert_int_equal(p.len, 0);
}
#define NODES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void one_after_another(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", false, NODES("a", "b"));
    world_expect(&f->w, PATCHED("a"));
    world_expect_body(&f->w, 0, "{'spec': {'unschedulable': true}}");
    assert_int_equal(executor_pending(f->ex), 1);
    world_reply(&f->w, 0, 200, "{'metadata': {'name': 'a'}}");
    expect_log(f, "PATCH nodes 200\nwritten nodes a\n");
    world_expect(&f->w, PATCHED("b"));
    world_reply(&f->w, 0, 200, "{'metadata': {'name': 'b'}}");
    expect_log(f, "PATCH nodes 200\nwritten nodes b\nk: None \"\" -1\n");
    world_expect(&f->w, "");
    assert_int_equal(executor_pending(f->ex), 0);
}

/* The beginning of a list, up to its items. */
#define LIST_17 "{'kind': 'PodList', 'metadata': {'resourceVersion': '17'}, 'items': ["

static void submit_look(struct fixture *f)
{
    struct actions p = { 0 };
    actions_add(
        &p,
        request_look(RESOURCE_POD, &(struct list_options){ .field_selector = "spec.nodeName=a" }),
        VERB_LOOK, "node/a", "Test", "as the test wants");
    add_patch(&p, "a");
    executor_submit(f->ex, "k", &p, done, f);
    world_expect(&f->w, "GET /api/v1/pods?fieldSelector=spec.nodeName%3Da");
}

static void goes_on_when_a_look_brings_nothing_new(void **state)
{
    struct fixture *f = *state;
    submit_look(f);
    world_reply(&f->w, 0, 200,
                LIST_17 "{'metadata': {'name': 'b'}}, {'metadata': {'name': 'c'}}]}");
    expect_log(f, "seen pods b at 17\nseen pods c at 17\nGET pods (not a write) 200\n");
    world_expect(&f->w, PATCHED("a"));
}

static void a_list_without_its_version_in_front_is_no_look(void **state)
{
    struct fixture *f = *state;
    submit_look(f);
    world_reply(&f->w, 0, 200,
                "{'kind': 'PodList', 'items': [{'metadata': {'name': 'b'}}], "
                "'metadata': {'resourceVersion': '17'}}");
    expect_log(
        f,
        "GET pods (not a write) 200\nk: Invalid \"the list has no version before its items\" -1\n");
    world_expect(&f->w, "");
}

/* Whoever may make pods can make ones of which a list is longer than any answer that is kept. */
static void a_look_takes_a_list_of_any_length(void **state)
{
    struct fixture *f = *state;
    submit_look(f);
    CLEANUP_FREE char *args = xcalloc(1, 9 << 20);
    memset(args, '<', (9 << 20) - 1);
    CLEANUP_FREE char *list = xasprintf(
        LIST_17 "{'metadata': {'name': 'b'}, 'spec': {'containers': [{'image': '%s'}]}}]}", args);
    world_reply(&f->w, 0, 200, list);
    expect_log(f, "seen pods b at 17\nGET pods (not a write) 200\n");
    world_expect(&f->w, PATCHED("a"));
}

static void a_write_with_too_long_an_answer_is_done(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", false, NODES("a", "b"));
    CLEANUP_FREE char *text = xcalloc(1, 9 << 20);
    memset(text, '<', (9 << 20) - 1);
    CLEANUP_FREE char *object = xasprintf("{'metadata': {'name': 'a', 'annotations': {'a': '%s'}}}",
                                          text);
    world_reply(&f->w, 0, 200, object);
    expect_log(f, "PATCH nodes 200\n");
    world_reply(&f->w, 0, 200, "{'metadata': {'name': 'b'}}");
    expect_log(f, "PATCH nodes 200\nwritten nodes b\nk: None \"\" -1\n");
}

static void news_of_a_look_end_the_plan(void **state)
{
    struct fixture *f = *state;
    submit_look(f);
    world_reply(&f->w, 0, 200,
                LIST_17 "{'metadata': {'name': 'new'}}, {'metadata': {'name': 'c'}}]}");
    expect_log(f, "seen pods new at 17\nseen pods c at 17\nGET pods (not a write) 200\nk: Conflict "
                  "\"the list has an object "
                  "that the watch has not reported yet\" -1\n");
    world_expect(&f->w, "");
}

static void half_a_look_ends_the_plan(void **state)
{
    struct fixture *f = *state;
    submit_look(f);
    world_reply(&f->w, 0, 200, LIST_17 "{'metadata': {'name': 'b'}}");
    expect_log(f, "seen pods b at 17\nGET pods (not a write) 200\nk: Unreachable \"the list has no "
                  "end\" -1\n");
    world_expect(&f->w, "");
}

static void a_refused_look_ends_the_plan(void **state)
{
    struct fixture *f = *state;
    submit_look(f);
    world_reply(&f->w, 0, 403,
                "{'kind': 'Status', 'reason': 'Forbidden', 'message': 'no right to list pods'}");
    expect_log(f,
               "GET pods (not a write) 403\nk: Forbidden \"HTTP 403: no right to list pods\" -1\n");
    world_expect(&f->w, "");
}

static void a_look_ends_a_plan_that_keeps_going_too(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int status;
        const char *body, *effects;
    } rows[] = {
        { 200, LIST_17 "{'metadata': {'name': 'b'}}]}", "SS" },
        { 200, LIST_17 "{'metadata': {'name': 'new'}}]}", "S-" },
        { 200, LIST_17 "{'metadata': {'name': 'b'}}", "U-" },
        { 503, "{'message': 'later'}", "U-" },
        { 403, "{'message': 'no right'}", "R-" },
        { 409, "{'reason': 'Conflict', 'message': 'no list'}", "U-" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct actions p = { .keep_going = true };
        actions_add(&p, request_look(RESOURCE_NODE, &(struct list_options){ 0 }), VERB_LOOK,
                    "node/a", "Test", "as the test wants");
        add_patch(&p, "a");
        executor_submit(f->ex, "k", &p, done, f);
        world_reply(&f->w, 0, rows[i].status, rows[i].body);
        world_turn(&f->w);
        if (world_open(&f->w))
            world_reply(&f->w, 0, 200, "{'metadata': {'name': 'a'}}");
        world_turn(&f->w);
        assert_string_equal(f->effects, rows[i].effects);
        assert_int_equal(executor_pending(f->ex), 0);
    }
}

/* After most failures of a write it is not known whether it was carried out. */
static void effect_of_a_write(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int status; /* 0: no response */
        const char *body, *effects;
    } rows[] = {
        { 200, "{'metadata': {'name': 'a'}}", "S" },
        { 200, "", "U" },
        { 0, NULL, "U" },
        { 400, "{'message': 'unreadable'}", "R" },
        { 403, "{'message': 'no right'}", "R" },
        { 404, "{'message': 'not found'}", "R" },
        { 409, "{'reason': 'Conflict', 'message': 'another was first'}", "U" },
        { 429, "{'message': 'later'}", "R" },
        { 500, "{'message': 'broken'}", "U" },
        { 504, "{'message': 'timeout'}", "U" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        submit(f, "k", false, NODES("a"));
        if (rows[i].status)
            world_reply(&f->w, 0, rows[i].status, rows[i].body);
        else
            world_break(&f->w, 0, 0, ERR_UNREACHABLE, "the connection broke");
        world_turn(&f->w);
        assert_string_equal(f->effects, rows[i].effects);
    }
}

static void first_failure_ends_the_plan(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", false, NODES("a", "b"));
    world_reply(&f->w, 0, 403,
                "{'kind': 'Status', 'reason': 'Forbidden', 'message': 'no right to patch nodes'}");
    expect_log(f, "PATCH nodes 403\nk: Forbidden \"HTTP 403: no right to patch nodes\" -1\n");
    world_expect(&f->w, "");
}

static void plan_that_keeps_going(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", true, NODES("a", "b", "c"));
    world_reply(&f->w, 0, 500, "{'message': 'first'}");
    expect_log(f, "PATCH nodes 500\n");
    world_reply(&f->w, 0, 403, "{'message': 'second'}");
    expect_log(f, "PATCH nodes 403\n");
    world_reply(&f->w, 0, 200, "{'metadata': {'name': 'c'}}");
    expect_log(f, "PATCH nodes 200\nwritten nodes c\nk: ServerError \"HTTP 500: first\" -1\n");
    assert_int_equal(f->failed, 0);
}

static void longest_retry_after_is_reported(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", true, NODES("a", "b", "c"));
    world_refuse(&f->w, 0, 429, 3000, "{'message': 'slow'}");
    world_turn(&f->w);
    world_refuse(&f->w, 0, 429, 9000, "{'message': 'slower'}");
    world_turn(&f->w);
    world_refuse(&f->w, 0, 429, 1000, "{'message': 'slow'}");
    expect_log(f, "PATCH nodes 429\nPATCH nodes 429\nPATCH nodes 429\nk: TooManyRequests \"HTTP "
                  "429: slow\" 9000\n");
}

static void eight_at_a_time(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        submit(f, key, false, NODES(key));
    }
    assert_int_equal(world_open(&f->w), 8);
    assert_int_equal(executor_pending(f->ex), 10);
    world_reply(&f->w, 3, 200, "{'metadata': {'name': 'k3'}}");
    expect_log(f, "PATCH nodes 200\nwritten nodes k3\nk3: None \"\" -1\n");
    assert_int_equal(world_open(&f->w), 8);
    assert_string_equal(world_call(&f->w, 7)->request.path, "/api/v1/nodes/k8?fieldManager=ostler");
    world_reply(&f->w, 0, 200, "");
    world_reply(&f->w, 0, 200, "");
    world_turn(&f->w);
    assert_int_equal(world_open(&f->w), 7);
    assert_string_equal(world_call(&f->w, 6)->request.path, "/api/v1/nodes/k9?fieldManager=ostler");
}

/* What needs no haste has an executor of its own. */
static void fewer_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct executor *few = executor_new(&(struct executor_options){ .transport = &f->w.transport,
                                                                    .loop = f->w.loop,
                                                                    .fence = fence,
                                                                    .epoch = epoch,
                                                                    .written = written,
                                                                    .arg = f,
                                                                    .in_flight = 2 });
    for (int i = 0; i < 4; i++) {
        struct actions actions = { 0 };
        actions_add(&actions, request_delete(RESOURCE_NODE, NULL, "a", "u", 0), VERB_DELETE,
                    "node/a", "Test", "one of four");
        executor_submit(few, "k", &actions, done, f);
    }
    assert_int_equal(world_open(&f->w), 2);
    assert_int_equal(executor_pending(few), 4);
    world_reply(&f->w, 0, 200, "{}");
    world_turn(&f->w);
    assert_int_equal(world_open(&f->w), 2);
    assert_int_equal(executor_pending(few), 3);
    executor_free(few);
}

static void nothing_begins_without_the_lease(void **state)
{
    struct fixture *f = *state;
    f->fence = INT64_MIN;
    submit(f, "k", true, NODES("a", "b"));
    assert_int_equal(f->w.submitted, 0);
    expect_log(f, "k: Conflict \"this Ostler no longer holds the Lease\" -1\n");
    assert_int_equal(executor_pending(f->ex), 0);
}

static void nothing_begins_at_the_fence(void **state)
{
    struct fixture *f = *state;
    f->fence = f->w.now_ms + 100;
    submit(f, "k", true, NODES("a", "b", "c"));
    world_jump(&f->w, 99);
    world_reply(&f->w, 0, 200, "");
    expect_log(f, "PATCH nodes 200\n");
    world_expect(&f->w, PATCHED("b"));
    world_jump(&f->w, 1);
    world_reply(&f->w, 0, 200, "");
    expect_log(f, "PATCH nodes 200\nk: Conflict \"this Ostler no longer holds the Lease\" -1\n");
    world_expect(&f->w, "");
}

static void what_waits_for_a_place_ends_at_the_fence(void **state)
{
    struct fixture *f = *state;
    f->fence = f->w.now_ms + 100;
    for (int i = 0; i < 10; i++)
        submit(f, i < 8 ? "begun" : "waiting", false, NODES("a"));
    world_jump(&f->w, 100);
    world_reply(&f->w, 0, 200, "");
    expect_log(f, "PATCH nodes 200\nbegun: None \"\" -1\nwaiting: Conflict \"this Ostler no longer "
                  "holds the Lease\" -1\n"
                  "waiting: Conflict \"this Ostler no longer holds the Lease\" -1\n");
    assert_int_equal(world_open(&f->w), 7);
    assert_int_equal(f->w.submitted, 8);
}

static void nothing_more_begins_when_something_else_is_wanted(void **state)
{
    struct fixture *f = *state;
    struct actions actions = { .keep_going = true, .epoch = f->epoch };
    add_patch(&actions, "a");
    add_patch(&actions, "b");
    executor_submit(f->ex, "k", &actions, done, f);
    f->epoch++;
    world_reply(&f->w, 0, 200, "");
    expect_log(f, "PATCH nodes 200\nk: Conflict \"the policy or the nodes changed since this was "
                  "decided\" -1\n");
    world_expect(&f->w, "");
}

static void plan_without_an_epoch_holds_in_all(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", false, NODES("a", "b"));
    f->epoch++;
    world_expect(&f->w, PATCHED("a"));
    world_reply(&f->w, 0, 200, "{'metadata': {'name': 'a'}}");
    expect_log(f, "PATCH nodes 200\nwritten nodes a\n");
    world_expect(&f->w, PATCHED("b"));
}

/* The process was stopped between the beginning of the turn and the write: the turn's time is old
 * by then. */
static void fence_is_held_against_the_clock_not_the_turn(void **state)
{
    struct fixture *f = *state;
    f->fence = f->w.now_ms + 100;
    submit(f, "k", false, NODES("a", "b"));
    f->jump_ms = 60000;
    world_reply(&f->w, 0, 200, "");
    expect_log(f, "PATCH nodes 200\nk: Conflict \"this Ostler no longer holds the Lease\" -1\n");
    world_expect(&f->w, "");
}

static void gone_is_deleted(void **state)
{
    struct fixture *f = *state;
    struct actions p = { 0 };
    add_delete(&p, "driver-1");
    add_patch(&p, "a");
    executor_submit(f->ex, "k", &p, done, f);
    world_expect(&f->w, "DELETE /apis/apps/v1/namespaces/ns/daemonsets/driver-1");
    world_reply(&f->w, 0, 404, "{'message': 'not found'}");
    expect_log(f, "DELETE daemonsets 404\n");
    world_expect(&f->w, PATCHED("a"));
    world_reply(&f->w, 0, 404, "{'message': 'not found'}");
    expect_log(f, "PATCH nodes 404\nk: NotFound \"HTTP 404: not found\" -1\n");
}

static void another_incarnation_is_not_deleted(void **state)
{
    struct fixture *f = *state;
    struct actions p = { 0 };
    add_delete(&p, "driver-1");
    executor_submit(f->ex, "k", &p, done, f);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict', 'message': 'the UID differs'}");
    expect_log(f, "DELETE daemonsets 409\nk: Conflict \"HTTP 409: the UID differs\" -1\n");
}

static void failed_test_of_a_json_patch_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *body, *said;
    } rows[] = {
        /* as kube-apiserver answers when a test fails, and when the result is not valid */
        { "{'kind': 'Status', 'reason': 'Invalid', 'message': 'an error in our request', "
          "'details': {}}",
          "PATCH nodes 422\nk: Conflict \"HTTP 422: an error in our request\" -1\n" },
        { "{'kind': 'Status', 'reason': 'Invalid', 'message': 'a label', 'details': {'causes': "
          "[{'field': 'metadata.labels'}]}}",
          "PATCH nodes 422\nk: Invalid \"HTTP 422: a label\" -1\n" },
    };
    CLEANUP_JSON json_t *operations = tree(
        "[{'op': 'test', 'path': '/metadata/uid', 'value': 'u1'}]");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct actions p = { 0 };
        actions_add(&p, request_json_patch(RESOURCE_NODE, NULL, "a", operations), VERB_MARK,
                    "node/a", "Test", "as the test wants");
        executor_submit(f->ex, "k", &p, done, f);
        world_reply(&f->w, 0, 422, rows[i].body);
        expect_log(f, rows[i].said);
    }
    submit(f, "k", false, NODES("a")); /* no JSON patch */
    world_reply(&f->w, 0, 422, rows[0].body);
    expect_log(f, "PATCH nodes 422\nk: Invalid \"HTTP 422: an error in our request\" -1\n");
}

/* ---- evictions */

#define SUCCESS "{'kind': 'Status', 'metadata': {}, 'status': 'Success', 'code': 201}"
#define SPENT                                                                                      \
    "{'kind': 'Status', 'reason': 'TooManyRequests', 'message': 'It would violate a budget.', "    \
    "'details': {'causes': "                                                                       \
    "[{'reason': 'DisruptionBudget', 'message': 'The budget web needs 2.'}]}}"

static void submit_evictions(struct fixture *f, const char *const *pods)
{
    struct actions p = { 0 };
    for (int dry_run = 1; dry_run >= 0; dry_run--)
        for (size_t i = 0; pods[i]; i++)
            actions_add(&p, request_evict("ml", pods[i], "u1", dry_run), VERB_EVICT, pods[i],
                        "Test", "as the test wants");
    executor_submit(f->ex, "k", &p, done, f);
}

static void evictions_store_nothing(void **state)
{
    struct fixture *f = *state;
    submit_evictions(f, NODES("p"));
    world_expect(&f->w, "POST /api/v1/namespaces/ml/pods/p/eviction?dryRun=All");
    /* A server that answered with the pod would not be believed either: it is as it was. */
    world_reply(
        &f->w, 0, 201,
        "{'kind': 'Pod', 'metadata': {'name': 'p', 'uid': 'u1', 'deletionTimestamp': 'x'}}");
    expect_log(f, "POST pods 201\n");
    world_expect(&f->w, "POST /api/v1/namespaces/ml/pods/p/eviction");
    world_reply(&f->w, 0, 201, SUCCESS);
    expect_log(f, "POST pods 201\nk: None \"\" -1\n");
    assert_int_equal(f->failed, -1);
}

static void refusal_of_a_trial_ends_the_plan(void **state)
{
    struct fixture *f = *state;
    submit_evictions(f, NODES("p", "q"));
    world_reply(&f->w, 0, 201, SUCCESS);
    world_turn(&f->w);
    world_reply(&f->w, 0, 429, SPENT);
    expect_log(f, "POST pods 201\nPOST pods 429\nk: DisruptionBudget \"It would violate a budget. "
                  "The budget web needs 2.\" "
                  "60000\n");
    assert_int_equal(f->failed, 1);
    world_expect(&f->w, "");
}

static void server_may_ask_for_more_time_than_a_budget_takes(void **state)
{
    struct fixture *f = *state;
    submit_evictions(f, NODES("p"));
    world_refuse(&f->w, 0, 429, 90000, SPENT);
    expect_log(f, "POST pods 429\nk: DisruptionBudget \"It would violate a budget. The budget web "
                  "needs 2.\" 90000\n");
    submit_evictions(f, NODES("p"));
    world_refuse(&f->w, 0, 429, 1000, "{'kind': 'Status', 'message': 'slow'}");
    expect_log(f, "POST pods 429\nk: TooManyRequests \"HTTP 429: slow\" 1000\n");
}

static void pod_that_is_gone_has_left(void **state)
{
    struct fixture *f = *state;
    submit_evictions(f, NODES("p"));
    world_reply(&f->w, 0, 404, "{'message': 'not found'}");
    expect_log(f, "POST pods 404\n");
    world_reply(&f->w, 0, 409, "{'message': 'another uid'}");
    expect_log(f, "POST pods 409\nk: Conflict \"HTTP 409: another uid\" -1\n");
    assert_int_equal(f->failed, 1);
}

static void fence_is_no_actions_failure(void **state)
{
    struct fixture *f = *state;
    f->fence = f->w.now_ms + 100;
    submit(f, "k", true, NODES("a", "b"));
    world_jump(&f->w, 100);
    world_reply(&f->w, 0, 500, "{'message': 'first'}");
    expect_log(f, "PATCH nodes 500\nk: Conflict \"this Ostler no longer holds the Lease\" -1\n");
    assert_int_equal(f->failed, -1);
}

static void no_answer_is_a_failure(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", false, NODES("a", "b"));
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "connection refused");
    expect_log(f, "PATCH nodes 0\nk: Unreachable \"connection refused\" -1\n");
    submit(f, "k", false, NODES("a", "b"));
    world_status(&f->w, 0, 200);
    world_bytes(&f->w, 0, "{'metadata': {'na");
    world_break(&f->w, 0, 200, ERR_TIMEOUT, "no end in 30 s");
    expect_log(f, "PATCH nodes 200\nk: Timeout \"no end in 30 s\" -1\n");
}

static void accepted_without_a_readable_answer(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", false, NODES("a"));
    world_reply(&f->w, 0, 200, "<html>");
    expect_log(f, "PATCH nodes 200\nk: None \"\" -1\n");
}

static void answers_come_in_pieces(void **state)
{
    struct fixture *f = *state;
    submit(f, "k", false, NODES("a", "b"));
    world_status(&f->w, 0, 200);
    world_bytes(&f->w, 0, "{'metadata': {'na");
    world_bytes(&f->w, 0, "me': 'a'}}");
    world_done(&f->w, 0, 200);
    expect_log(f, "PATCH nodes 200\nwritten nodes a\n");
    /* nothing of the first answer is left */
    world_reply(&f->w, 0, 200, "{'metadata': {'name': 'b'}}");
    expect_log(f, "PATCH nodes 200\nwritten nodes b\nk: None \"\" -1\n");
}

static void done_may_submit(void **state)
{
    struct fixture *f = *state;
    add_patch(&f->again, "b");
    submit(f, "k", false, NODES("a"));
    world_reply(&f->w, 0, 200, "");
    expect_log(f, "PATCH nodes 200\nk: None \"\" -1\n");
    world_expect(&f->w, PATCHED("b"));
    f->fence = INT64_MIN;
    add_patch(&f->again, "c");
    world_reply(&f->w, 0, 200, "");
    expect_log(f, "PATCH nodes 200\nagain: None \"\" -1\nagain: Conflict \"this Ostler no longer "
                  "holds the Lease\" -1\n");
    assert_int_equal(executor_pending(f->ex), 0);
}

static void freed_with_requests_on_their_way(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++)
        submit(f, "k", false, NODES("a", "b"));
    world_reply(&f->w, 0, 200, "");
    executor_free(TAKE(f->ex));
    assert_int_equal(f->w.cancelled, 8);
    expect_log(f, "");
}

int main(void)
{
    static const struct suite_check rows[] = {
        { "the actions of a plan go one after another", one_after_another },
        { "a plan goes on when a look brings nothing new", goes_on_when_a_look_brings_nothing_new },
        { "a list without its version in front is no look",
          a_list_without_its_version_in_front_is_no_look },
        { "a look takes a list of any length", a_look_takes_a_list_of_any_length },
        { "a refused look ends the plan", a_refused_look_ends_the_plan },
        { "a look ends a plan that keeps going, too", a_look_ends_a_plan_that_keeps_going_too },
        { "effect of a write", effect_of_a_write },
        { "a write with too long an answer is done", a_write_with_too_long_an_answer_is_done },
        { "news of a look end the plan", news_of_a_look_end_the_plan },
        { "half a look ends the plan", half_a_look_ends_the_plan },
        { "the first failure ends a plan", first_failure_ends_the_plan },
        { "a plan that keeps going tells of its first failure at the end", plan_that_keeps_going },
        { "the longest Retry-After is reported", longest_retry_after_is_reported },
        { "eight requests at a time, the oldest plan first", eight_at_a_time },
        { "as many at a time as an executor is given", fewer_at_a_time },
        { "nothing begins without the lease", nothing_begins_without_the_lease },
        { "nothing begins at the fence or after it", nothing_begins_at_the_fence },
        { "nothing more begins when something else is wanted",
          nothing_more_begins_when_something_else_is_wanted },
        { "a plan without an epoch holds in all", plan_without_an_epoch_holds_in_all },
        { "what waits for a place ends at the fence", what_waits_for_a_place_ends_at_the_fence },
        { "the fence is held against the clock, not the turn",
          fence_is_held_against_the_clock_not_the_turn },
        { "what is gone is deleted; only for a deletion is that a success", gone_is_deleted },
        { "another incarnation is not deleted", another_incarnation_is_not_deleted },
        { "a JSON patch whose test failed is a conflict",
          failed_test_of_a_json_patch_is_a_conflict },
        { "evictions store nothing", evictions_store_nothing },
        { "the refusal of a trial ends the plan, and says whose it is",
          refusal_of_a_trial_ends_the_plan },
        { "the server may ask for more time than a budget takes",
          server_may_ask_for_more_time_than_a_budget_takes },
        { "a pod that is gone has left; another one of its name is not meant",
          pod_that_is_gone_has_left },
        { "that this Ostler no longer holds the Lease is no action's failure",
          fence_is_no_actions_failure },
        { "no whole answer is a failure", no_answer_is_a_failure },
        { "accepted without a readable answer is accepted", accepted_without_a_readable_answer },
        { "answers come in pieces", answers_come_in_pieces },
        { "a done function may submit the next plan", done_may_submit },
        { "freed with requests on their way, they are cancelled",
          freed_with_requests_on_their_way },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, rows, set_up, tear_down);
    return suite_run(&s, "executor");
}
