/* Stops an engine: waits for writes in flight, then releases the lease. */
#include "controller/engine/engine.h"
#include "controller/engine/engine_state.h"

enum {
    /* Time for writes in flight to return. With the release of the lease, the total stays under
     * 2 s. */
    DRAIN_MS = 1000,
    RELEASE_MS = 700,
    /* A cleanup ends when its leases are deleted; no process waits for it. */
    REMOVAL_MS = 10 * 1000,
};

static void engine_stop_finish(void *arg)
{
    struct engine *en = arg;
    if (en->finished)
        return;
    en->finished = true;
    en->o.finished(en->o.arg, en->exit_code);
}

/* The cluster lease stays with the installation, so that its next leader has it, too. */
static void release_here(void *arg)
{
    struct engine *en = arg;
    lease_release(en->lease, engine_stop_finish, en);
}

static void remove_here(void *arg)
{
    struct engine *en = arg;
    lease_remove(en->lease, engine_stop_finish, en);
}

static void engine_stop_release(void *arg)
{
    struct engine *en = arg;
    if (en->releasing)
        return;
    bool removes = en->o.cleanup && en->exit_code == 0 && en->lease && lease_is_leading(en->lease);
    en->releasing = true;
    en->drain_writes = false;
    en->drain_due.fn = engine_stop_finish;
    loop_timer_set(en->o.loop, &en->drain_due,
                   loop_now(en->o.loop) + (removes ? REMOVAL_MS : RELEASE_MS));
    if (!en->lease)
        engine_stop_finish(en);
    else if (removes)
        lease_remove(en->cluster_lease, remove_here, en);
    else
        release_here(en);
}

void engine_stop(struct engine *en, int exit_code)
{
    if (en->stopping)
        return;
    en->stopping = en->drain_writes = true;
    en->exit_code = exit_code;
    engine_stop_passes(en);
    en->drain_due = (struct timer){ .fn = engine_stop_release, .arg = en };
    loop_timer_set(en->o.loop, &en->drain_due, loop_now(en->o.loop) + DRAIN_MS);
}

/* Runs at the end of each turn: releases the lease as soon as no write is in flight. */
static void stop_when_drained(void *arg)
{
    struct engine *en = arg;
    if (en->stopping && !en->releasing &&
        executor_pending(en->executor) + executor_pending(en->report_executor) == 0)
        engine_stop_release(en);
}

void engine_stop_init(struct engine *en)
{
    loop_on_turn(en->o.loop, stop_when_drained, en);
}
