#include "runtime/controller.h"

#include <stdlib.h>

#include "base/log.h"

enum {
    /* Most time for keys in one turn; then the sockets get their turn. */
    TURN_BUDGET_MS = 20,
};

struct controller {
    struct controller_options o;
    struct queue queue;
    struct timer due;
    bool running;
    size_t working;
    uint64_t adds_shown, retries_shown;
};

void controller_metrics_add(struct controller_metrics *m, struct metrics *registry)
{
    static const char *const by_result[] = { "controller", "result", NULL };
    static const char *const by_controller[] = { "controller", NULL };
    static const char *const by_name[] = { "name", NULL };
    static const double seconds[] = { 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.025, 0.05,
                                      0.1,  0.25, 0.5,  1,     5,    30,    60 };
    const struct {
        struct metric **into;
        struct metric_desc desc;
    } rows[] = {
        { &m->reconcile_total,
          { "controller_runtime_reconcile_total", "Passes by controller and result.",
            METRIC_COUNTER, by_result, NULL, 0 } },
        { &m->reconcile_errors,
          { "controller_runtime_reconcile_errors_total", "Passes that failed.", METRIC_COUNTER,
            by_controller, NULL, 0 } },
        { &m->reconcile_seconds,
          { "controller_runtime_reconcile_time_seconds",
            "Time from the decision to the last answer.", METRIC_HISTOGRAM, by_controller, seconds,
            ARRAY_LEN(seconds) } },
        { &m->depth, { "workqueue_depth", "Keys that are due.", METRIC_GAUGE, by_name, NULL, 0 } },
        { &m->adds, { "workqueue_adds_total", "Keys added.", METRIC_COUNTER, by_name, NULL, 0 } },
        { &m->retries,
          { "workqueue_retries_total", "Keys that came back after a failure.", METRIC_COUNTER,
            by_name, NULL, 0 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        *rows[i].into = metrics_add(registry, &rows[i].desc);
}

/* Sets the timer to the queue's next deadline. */
static void controller_arm(struct controller *c)
{
    int64_t at = queue_deadline(&c->queue);
    if (c->running && at != INT64_MAX)
        loop_timer_set(c->o.loop, &c->due, at);
    else
        loop_timer_cancel(c->o.loop, &c->due);
}

static void controller_count(const struct controller *c, const char *result)
{
    metric_add(c->o.metrics->reconcile_total, (const char *const[]){ c->o.name, result }, 1);
}

/* A key succeeded; its plan may ask for a later pass. */
static void succeed(struct controller *c, const char *key, int64_t requeue_after_ms)
{
    int64_t now = loop_now(c->o.loop);
    controller_count(c, requeue_after_ms ? "requeue_after" : "success");
    if (requeue_after_ms)
        queue_add_at(&c->queue, key, now + requeue_after_ms);
    queue_done(&c->queue, key, QUEUE_WELL, -1, now);
}

/* A failed key returns after its backoff and the server's wait; the plan's own requeue time
 * could only be earlier. */
static void controller_fail(struct controller *c, const char *key,
                            const struct executor_result *result)
{
    enum queue_end end = result->error == ERR_CONFLICT ? QUEUE_OVERTAKEN : QUEUE_FAILED;
    controller_count(c, "error");
    metric_add(c->o.metrics->reconcile_errors, &c->o.name, 1);
    queue_done(&c->queue, key, end, result->retry_after_ms, loop_now(c->o.loop));
}

/* Writes Events after the plan's writes, which others wait for. A rejected action yields no
 * Event. */
static void controller_log(struct controller *c, const struct actions *actions)
{
    for (size_t i = 0; i < actions->notice_count; i++) {
        const struct notice *n = &actions->notices[i];
        if (!n->of_action || actions->items[n->of_action - 1].accepted)
            c->o.notice(c->o.arg, n);
    }
}

static void on_done(void *arg, const char *key, const struct executor_result *result)
{
    struct controller *c = arg;
    c->working--;
    if (c->o.outcome)
        c->o.outcome(c->o.arg, key, result);
    if (result->error == ERR_NONE)
        succeed(c, key, result->actions->requeue_after_ms);
    else if (result->error == ERR_BUDGET)
        /* No failure: another component ends the wait, so a retry must not increase the backoff. */
        succeed(c, key, result->retry_after_ms);
    else
        controller_fail(c, key, result);
    controller_log(c, result->actions);
    controller_arm(c);
}

/* The server asked for a pause. This pass counts as a look at the key; a later pass makes a new
 * plan. */
static void put_back(struct controller *c, const char *key, const struct actions *actions,
                     int64_t wait_ms)
{
    struct executor_result result = { ERR_THROTTLED,
                                      "the API server asked Ostler to wait before it writes again",
                                      wait_ms, actions, NULL };
    if (c->o.outcome)
        c->o.outcome(c->o.arg, key, &result);
    controller_log(c, actions);
    controller_count(c, "requeue_after");
    queue_put_back(&c->queue, key);
    controller_arm(c);
}

static void reconcile(struct controller *c, const char *key)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    int64_t begun = clock_mono_ms(c->o.clock);
    c->o.reconcile(c->o.arg, key, &actions);
    metric_observe(c->o.metrics->reconcile_seconds, &c->o.name,
                   (double) (clock_mono_ms(c->o.clock) - begun) / 1000);
    if (actions.len == 0) {
        controller_log(c, &actions);
        succeed(c, key, actions.requeue_after_ms);
        return;
    }
    int64_t wait_ms = queue_parked_until(&c->queue, key) - loop_now(c->o.loop);
    if (wait_ms > 0) {
        put_back(c, key, &actions, wait_ms);
        return;
    }
    c->working++;
    executor_submit(c->o.executor, key, &actions, on_done, c);
}

static void work(void *arg)
{
    struct controller *c = arg;
    int64_t end = clock_mono_ms(c->o.clock) + TURN_BUDGET_MS;
    const char *key;
    while (c->running && executor_pending(c->o.executor) < EXECUTOR_IN_FLIGHT * 2 &&
           clock_mono_ms(c->o.clock) <= end && (key = queue_take(&c->queue, loop_now(c->o.loop))))
        reconcile(c, key);
    /* If the executor is full, its responses resume the work; a timer that is already due would
     * spin. */
    if (executor_pending(c->o.executor) < EXECUTOR_IN_FLIGHT * 2)
        controller_arm(c);
}

static void on_turn(void *arg)
{
    struct controller *c = arg;
    if (c->running && queue_deadline(&c->queue) <= loop_now(c->o.loop))
        work(c);
}

struct controller *controller_new(const struct controller_options *o)
{
    struct controller *c = xcalloc(1, sizeof *c);
    c->o = *o;
    c->queue.backoff_max_ms = o->backoff_max_ms;
    c->due = (struct timer){ .fn = work, .arg = c };
    loop_on_turn(o->loop, on_turn, c);
    return c;
}

void controller_add(struct controller *c, const char *key)
{
    queue_add(&c->queue, key);
    controller_arm(c); /* this turn's work on keys may be over */
}

void controller_add_after(struct controller *c, const char *key, int64_t delay_ms)
{
    queue_add_at(&c->queue, key, loop_now(c->o.loop) + delay_ms);
    controller_arm(c);
}

void controller_start(struct controller *c)
{
    c->running = true;
    controller_arm(c);
}

void controller_stop(struct controller *c)
{
    c->running = false;
    controller_arm(c);
}

size_t controller_busy(const struct controller *c)
{
    return c->working + c->queue.depth;
}

int controller_failures(const struct controller *c, const char *key)
{
    return queue_failures(&c->queue, key);
}

void controller_update_metrics(struct controller *c)
{
    metric_set(c->o.metrics->depth, &c->o.name, (double) c->queue.depth);
    metric_add(c->o.metrics->adds, &c->o.name, (double) (c->queue.adds - c->adds_shown));
    metric_add(c->o.metrics->retries, &c->o.name, (double) (c->queue.retries - c->retries_shown));
    c->adds_shown = c->queue.adds;
    c->retries_shown = c->queue.retries;
}

void controller_free(struct controller *c)
{
    if (!c)
        return;
    loop_timer_cancel(c->o.loop, &c->due);
    queue_clear(&c->queue);
    free(c);
}
