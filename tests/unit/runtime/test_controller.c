#include "runtime/controller.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"
#include "tests/unit/support/world.h"

struct fixture {
    struct world w;
    struct metrics *registry;
    struct controller_metrics metrics;
    struct executor *executor;
    struct controller *controller;
    int64_t fence;
    /* What a look at a key makes. */
    int patches;
    bool evicts; /* it asks a pod to leave */
    int64_t requeue_ms;
    const char *notice;
    size_t notice_of; /* the action that it tells of */
    int64_t cost_ms;  /* time that the look itself takes */
    const char *late; /* a key to add at the end of the next turn; NULL: none */
};

static int64_t fence(void *arg)
{
    const struct fixture *f = arg;
    return f->fence;
}

static void written(void *arg, enum resource_id resource, const json_t *object)
{
    (void) arg;
    (void) resource;
    (void) object;
}

static void reconcile(void *arg, const char *key, struct actions *actions)
{
    struct fixture *f = arg;
    world_say(&f->w, key);
    world_jump(&f->w, f->cost_ms);
    CLEANUP_JSON json_t *patch = tree("{'spec': {}}");
    for (int i = 0; i < f->patches; i++)
        actions_add(actions, request_merge_patch(RESOURCE_NODE, NULL, key, patch), VERB_MARK, key,
                    "Test", "as the test wants");
    if (f->evicts)
        actions_add(actions, request_evict("ml", key, "u1", false), VERB_EVICT, key, "Test",
                    "as the test wants");
    if (f->requeue_ms)
        actions_requeue(actions, f->requeue_ms);
    if (f->notice)
        actions_add_notice(actions, &(struct notice){ .resource = RESOURCE_NODE,
                                                      .name = (char *) key,
                                                      .uid = (char *) "u1",
                                                      .of_action = f->notice_of,
                                                      .reason = "Test",
                                                      .action = "Test",
                                                      .note = (char *) f->notice });
}

static void on_notice(void *arg, const struct notice *n)
{
    struct fixture *f = arg;
    buf_printf(&f->w.said, " (%s: %s)", n->name, n->note);
}

static void on_outcome(void *arg, const char *key, const struct executor_result *result)
{
    struct fixture *f = arg;
    buf_printf(&f->w.said, " [%s: %s]", key, err_kind_name(result->error));
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    world_init(&f->w);
    f->fence = INT64_MAX;
    f->registry = metrics_new(100);
    controller_metrics_add(&f->metrics, f->registry);
    f->executor = executor_new(&(struct executor_options){ .transport = &f->w.transport,
                                                           .loop = f->w.loop,
                                                           .fence = fence,
                                                           .written = written,
                                                           .arg = f });
    f->controller = controller_new(&(struct controller_options){ .name = "node",
                                                                 .reconcile = reconcile,
                                                                 .arg = f,
                                                                 .loop = f->w.loop,
                                                                 .executor = f->executor,
                                                                 .metrics = &f->metrics,
                                                                 .clock = &f->w.clock,
                                                                 .outcome = on_outcome,
                                                                 .notice = on_notice });
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    controller_free(f->controller);
    executor_free(f->executor);
    metrics_free(f->registry);
    world_clear(&f->w);
    free(f);
    return 0;
}

static size_t words(const struct fixture *f)
{
    size_t n = f->w.said.len > 0;
    for (const char *p = buf_text(&f->w.said); *p; p++)
        n += *p == ' ';
    return n;
}

static void add_keys(struct fixture *f, int n)
{
    for (int i = 0; i < n; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        controller_add(f->controller, key);
    }
}

/* Starts, and looks at a key. */
static void begin(struct fixture *f)
{
    controller_start(f->controller);
    controller_add(f->controller, "a");
    world_turn(&f->w);
}

static void keys_gather_before_the_start(void **state)
{
    struct fixture *f = *state;
    controller_add(f->controller, "a");
    controller_add(f->controller, "b");
    controller_add(f->controller, "a");
    controller_add_after(f->controller, "c", 10);
    world_pass(&f->w, 1000);
    world_expect_said(&f->w, "");
    assert_int_equal(controller_busy(f->controller), 2);
    controller_start(f->controller);
    world_pass(&f->w, 0);
    world_expect_said(&f->w, "a b c");
    assert_int_equal(controller_busy(f->controller), 0);
}

static void nothing_to_do_is_done(void **state)
{
    struct fixture *f = *state;
    controller_start(f->controller);
    controller_add(f->controller, "a");
    world_pass(&f->w, 3600 * 1000);
    world_expect_said(&f->w, "a");
    assert_int_equal(controller_failures(f->controller, "a"), 0);
}

/* The key is looked at after this time, and not before. */
static void expect_a_after(struct fixture *f, int64_t ms)
{
    world_pass(&f->w, ms - 1);
    world_expect_said(&f->w, "");
    world_pass(&f->w, 1);
    world_expect_said(&f->w, "a");
}

/* The server wants no request for 7 seconds. */
static void park_a(struct fixture *f)
{
    world_refuse(&f->w, 0, 429, 7000, "{'message': 'slow'}");
    world_turn(&f->w);
    buf_reset(&f->w.said);
}

static void key_is_looked_at_after_a_delay(void **state)
{
    struct fixture *f = *state;
    controller_start(f->controller);
    controller_add_after(f->controller, "a", 500);
    expect_a_after(f, 500);
}

static void plan_is_carried_out(void **state)
{
    struct fixture *f = *state;
    f->patches = 2;
    begin(f);
    world_expect_said(&f->w, "a");
    assert_int_equal(controller_busy(f->controller), 1);
    world_reply(&f->w, 0, 200, "{}");
    world_turn(&f->w);
    world_reply(&f->w, 0, 200, "{}");
    world_turn(&f->w);
    world_expect_said(&f->w, " [a: None]");
    assert_int_equal(controller_busy(f->controller), 0);
    assert_int_equal(f->w.submitted, 2);
}

static void failure_comes_back_with_backoff(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    begin(f);
    world_expect_said(&f->w, "a");
    int64_t wait = 5;
    for (int i = 1; i <= 10; i++) {
        world_reply(&f->w, 0, 500, "{'message': 'no'}");
        world_turn(&f->w);
        world_expect_said(&f->w, " [a: ServerError]");
        assert_int_equal(controller_failures(f->controller, "a"), i);
        expect_a_after(f, wait);
        wait *= 2;
    }
    world_reply(&f->w, 0, 200, "{}");
    world_pass(&f->w, 3600 * 1000);
    world_expect_said(&f->w, " [a: None]");
    assert_int_equal(controller_failures(f->controller, "a"), 0);
}

static void retry_after_is_waited_for(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    begin(f);
    park_a(f);
    expect_a_after(f, 7000);
}

/* Who waits until every key was looked at must not wait for one that the server has parked. */
static void a_parked_key_is_looked_at_without_a_request(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    begin(f);
    controller_add(f->controller, "a"); /* while it is worked on */
    world_refuse(&f->w, 0, 429, 7000, "{'message': 'slow'}");
    world_turn(&f->w);
    world_expect_said(&f->w, "a [a: TooManyRequests] a [a: TooManyRequests]");
    assert_int_equal(f->w.submitted, 1);
    world_pass(&f->w, 1000);
    controller_add(f->controller, "a"); /* while it is parked */
    world_turn(&f->w);
    world_expect_said(&f->w, "a [a: TooManyRequests]");
    assert_int_equal(f->w.submitted, 1);
    assert_int_equal(controller_failures(f->controller, "a"), 1);
    expect_a_after(f, 6000);
    assert_int_equal(f->w.submitted, 2);
}

static void a_parked_key_without_a_plan_is_done(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    begin(f);
    park_a(f);
    f->patches = 0;
    controller_add(f->controller, "a");
    world_pass(&f->w, 60000);
    world_expect_said(&f->w, "a");
    assert_int_equal(controller_failures(f->controller, "a"), 0);
}

static void plan_asks_to_look_again(void **state)
{
    struct fixture *f = *state;
    f->requeue_ms = 60000;
    controller_start(f->controller);
    controller_add(f->controller, "a");
    world_pass(&f->w, 59999);
    world_expect_said(&f->w, "a");
    world_pass(&f->w, 1);
    world_expect_said(&f->w, "a");
    f->patches = 1; /* with something to do it counts from its end */
    world_pass(&f->w, 60000);
    world_expect_said(&f->w, "a");
    world_pass(&f->w, 10000);
    world_reply(&f->w, 0, 200, "{}");
    world_turn(&f->w);
    world_expect_said(&f->w, " [a: None]");
    expect_a_after(f, 60000);
}

static void failure_outweighs_the_wish_to_look_again(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    f->requeue_ms = 1000;
    begin(f);
    park_a(f);
    expect_a_after(f, 7000);
}

/* However often a budget has refused: others decide when it will not, and the next try is no later
 * for that. */
static void refused_by_a_budget_it_is_tried_again_evenly(void **state)
{
    struct fixture *f = *state;
    f->evicts = true;
    begin(f);
    for (int i = 0; i < 20; i++) {
        world_expect_said(&f->w, "a");
        world_reply(&f->w, 0, 429,
                    "{'kind': 'Status', 'reason': 'TooManyRequests', 'message': 'no', 'details': "
                    "{'causes': "
                    "[{'reason': 'DisruptionBudget'}]}}");
        world_pass(&f->w, 59999);
        world_expect_said(&f->w, " [a: DisruptionBudget]");
        world_pass(&f->w, 1);
    }
    assert_int_equal(controller_failures(f->controller, "a"), 0);
}

static void notices_go_out_after_the_writes(void **state)
{
    struct fixture *f = *state;
    f->notice = "all is well";
    begin(f);
    world_expect_said(&f->w, "a (a: all is well)");
    f->patches = 1;
    for (int i = 0; i < 2; i++) { /* they say what was seen, whatever became of the write */
        controller_add(f->controller, "a");
        world_turn(&f->w);
        world_expect_said(&f->w, "a");
        world_reply(&f->w, 0, i == 0 ? 200 : 403, "{}");
        world_turn(&f->w);
        world_expect_said(&f->w, i == 0 ? " [a: None] (a: all is well)"
                                        : " [a: Forbidden] (a: all is well)");
    }
}

static void what_was_refused_is_not_told(void **state)
{
    struct fixture *f = *state;
    f->notice = "it was written";
    f->patches = f->notice_of = 1;
    controller_start(f->controller);
    for (int i = 0; i < 2; i++) {
        controller_add(f->controller, "a");
        world_turn(&f->w);
        world_reply(&f->w, 0, i == 0 ? 200 : 403, "{}");
        world_turn(&f->w);
        world_expect_said(&f->w, i == 0 ? "a [a: None] (a: it was written)" : "a [a: Forbidden]");
    }
}

static void overtaken_it_waits_for_what_others_wrote(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    begin(f);
    world_reply(&f->w, 0, 409, "{'reason': 'Conflict'}");
    world_pass(&f->w, QUEUE_OVERTAKEN_MS - 1);
    world_expect_said(&f->w, "a [a: Conflict]");
    controller_add(f->controller, "a"); /* it has come */
    world_turn(&f->w);
    world_expect_said(&f->w, "a");
}

static void added_meanwhile_it_is_looked_at_again(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    begin(f);
    controller_add(f->controller, "a");
    controller_add(f->controller, "a");
    world_pass(&f->w, 1000);
    world_expect_said(&f->w, "a"); /* never twice at the same time */
    world_reply(&f->w, 0, 200, "{}");
    world_turn(&f->w);
    world_expect_said(&f->w, " [a: None] a");
}

static void turn_has_a_budget(void **state)
{
    struct fixture *f = *state;
    f->cost_ms = 8;
    controller_start(f->controller);
    add_keys(f, 20);
    for (size_t looked = 0; looked < 20; looked += words(f), buf_reset(&f->w.said)) {
        world_turn(&f->w);
        assert_in_range(words(f), 1, 6); /* at its timer and at the end of the turn, 20 ms each */
        /* it goes on without anything else */
        assert_true(looked + words(f) == 20 || loop_deadline(f->w.loop) <= f->w.now_ms);
    }
}

static void full_executor_is_not_fed(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    controller_start(f->controller);
    add_keys(f, 40);
    world_pass(&f->w, 1000);
    assert_int_equal(words(f), 16);
    assert_int_equal(executor_pending(f->executor), 16);
    assert_int_equal(loop_deadline(f->w.loop), INT64_MAX); /* only answers bring it on */
    while (world_open(&f->w)) {
        world_reply(&f->w, 0, 200, "{}");
        world_pass(&f->w, 0);
    }
    assert_int_equal(f->w.submitted, 40);
    assert_int_equal(controller_busy(f->controller), 0);
}

static void add_late(void *arg)
{
    struct fixture *f = arg;
    if (f->late)
        controller_add(f->controller, TAKE(f->late));
}

/* As when another controller's pass adds a key to one that had its part of the turn already. */
static void added_at_the_end_of_a_turn_it_wakes_the_loop(void **state)
{
    struct fixture *f = *state;
    loop_on_turn(f->w.loop, add_late, f);
    controller_start(f->controller);
    f->late = "late";
    world_turn(&f->w);
    world_expect_said(&f->w, "");
    assert_true(loop_deadline(f->w.loop) <= f->w.now_ms);
    world_turn(&f->w);
    world_expect_said(&f->w, "late");
}

static void stopped_nothing_is_begun(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    controller_start(f->controller);
    controller_add(f->controller, "a");
    controller_add_after(f->controller, "b", 100);
    world_turn(&f->w);
    controller_stop(f->controller);
    controller_add(f->controller, "c");
    world_pass(&f->w, 1000);
    world_reply(&f->w, 0, 500, "{'message': 'no'}");
    world_pass(&f->w, 1000);
    world_expect_said(&f->w, "a [a: ServerError]");
    controller_start(f->controller);
    world_pass(&f->w, 0);
    world_expect_said(&f->w, "c b a");
}

static void without_the_lease_it_comes_back(void **state)
{
    struct fixture *f = *state;
    f->patches = 1;
    f->fence = INT64_MIN;
    begin(f);
    world_expect_said(&f->w, "a [a: Conflict]");
    assert_int_equal(f->w.submitted, 0);
    f->fence = INT64_MAX;
    world_pass(&f->w, QUEUE_OVERTAKEN_MS);
    world_expect_said(&f->w, "a");
    assert_int_equal(f->w.submitted, 1);
}

static void expect_metric(const struct fixture *f, const char *line)
{
    CLEANUP_BUF struct buf text = BUF_INIT(100000);
    metrics_text(f->registry, &text);
    if (!strstr(buf_text(&text), line))
        fail_msg("no \"%s\" in:\n%s", line, buf_text(&text));
}

static void figures_are_those_of_controller_runtime(void **state)
{
    struct fixture *f = *state;
    controller_add(f->controller, "idle");
    controller_add(f->controller, "idle2");
    controller_update_metrics(f->controller);
    expect_metric(f, "workqueue_depth{name=\"node\"} 2\n");
    controller_start(f->controller);
    world_turn(&f->w);
    f->requeue_ms = 1000;
    controller_add(f->controller, "later");
    world_turn(&f->w);
    f->requeue_ms = 0;
    f->patches = 1;
    controller_add(f->controller, "works");
    controller_add(f->controller, "fails");
    world_turn(&f->w);
    world_reply(&f->w, 0, 200, "{}");
    world_reply(&f->w, 0, 500, "{}");
    world_turn(&f->w);
    controller_update_metrics(f->controller);
    expect_metric(f, "workqueue_depth{name=\"node\"} 0\n");
    expect_metric(f, "workqueue_adds_total{name=\"node\"} 5\n");
    expect_metric(f, "workqueue_retries_total{name=\"node\"} 1\n");
    expect_metric(f,
                  "controller_runtime_reconcile_total{controller=\"node\",result=\"success\"} 3\n");
    expect_metric(
        f, "controller_runtime_reconcile_total{controller=\"node\",result=\"requeue_after\"} 1\n");
    expect_metric(f,
                  "controller_runtime_reconcile_total{controller=\"node\",result=\"error\"} 1\n");
    expect_metric(f, "controller_runtime_reconcile_errors_total{controller=\"node\"} 1\n");
    expect_metric(f, "controller_runtime_reconcile_time_seconds_count{controller=\"node\"} 5\n");
}

int main(void)
{
    static const struct suite_check rows[] = {
        { "keys gather before the start", keys_gather_before_the_start },
        { "nothing to do is done", nothing_to_do_is_done },
        { "a key is looked at after a delay", key_is_looked_at_after_a_delay },
        { "a plan is carried out", plan_is_carried_out },
        { "a failure comes back with backoff", failure_comes_back_with_backoff },
        { "Retry-After is waited for", retry_after_is_waited_for },
        { "a parked key is looked at without a request",
          a_parked_key_is_looked_at_without_a_request },
        { "a parked key without a plan is done", a_parked_key_without_a_plan_is_done },
        { "a plan asks to look again", plan_asks_to_look_again },
        { "a failure outweighs the wish to look again", failure_outweighs_the_wish_to_look_again },
        { "refused by a budget it is tried again evenly",
          refused_by_a_budget_it_is_tried_again_evenly },
        { "notices go out after the writes of their plan", notices_go_out_after_the_writes },
        { "what was refused is not told", what_was_refused_is_not_told },
        { "overtaken, a key waits for what others wrote",
          overtaken_it_waits_for_what_others_wrote },
        { "added meanwhile, a key is looked at again, never twice at a time",
          added_meanwhile_it_is_looked_at_again },
        { "a turn has a budget", turn_has_a_budget },
        { "a full executor is not fed", full_executor_is_not_fed },
        { "added at the end of a turn, a key wakes the loop",
          added_at_the_end_of_a_turn_it_wakes_the_loop },
        { "stopped, nothing is begun", stopped_nothing_is_begun },
        { "without the lease a key comes back", without_the_lease_it_comes_back },
        { "figures are those of controller-runtime", figures_are_those_of_controller_runtime },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, rows, set_up, tear_down);
    return suite_run(&s, "controller");
}
