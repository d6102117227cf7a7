/* How an engine stops: writes end, then the lease is released. */
#include "controller/engine/engine_state.h"

enum {
    /* Time that writes on their way have to come back; with the release of the lease it stays under 2 s. */
    DRAIN_MS = 1000,
    RELEASE_MS = 700,
    /* A cleanup is through when its leases are gone; nobody waits to end it. */
    REMOVAL_MS = 10 * 1000,
};

static void finish(void *arg)
{
    struct engine *en = arg;
    if (en->finished)
        return;
    en->finished = true;
    en->o.finished(en->o.arg, en->exit_code);
}

/* The claim to the cluster stays with the installation: its next leader has it, too. */
static void release_here(void *arg)
{
    struct engine *en = arg;
    lease_release(en->lease, finish, en);
}

static void remove_here(void *arg)
{
    struct engine *en = arg;
    lease_remove(en->lease, finish, en);
}

static void release(void *arg)
{
    struct engine *en = arg;
    if (en->releasing)
        return;
    bool removes = en->o.cleanup && en->exit_code == 0 && en->lease && lease_is_leading(en->lease);
    en->releasing = true;
    en->drain_writes = false;
    en->drain_due.fn = finish;
    loop_timer_set(en->o.loop, &en->drain_due, loop_now(en->o.loop) + (removes ? REMOVAL_MS : RELEASE_MS));
    if (!en->lease)
        finish(en);
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
    controller_stop(en->nodes);
    controller_stop(en->policies);
    controller_stop(en->rollouts);
    controller_stop(en->reports);
    en->drain_due = (struct timer){ .fn = release, .arg = en };
    loop_timer_set(en->o.loop, &en->drain_due, loop_now(en->o.loop) + DRAIN_MS);
}

/* At the end of each turn: the lease is given back as soon as no write is on its way any more. */
static void stop_when_drained(void *arg)
{
    struct engine *en = arg;
    if (en->stopping && !en->releasing && executor_pending(en->executor) + executor_pending(en->report_executor) == 0)
        release(en);
}

void engine_stop_init(struct engine *en)
{
    loop_on_turn(en->o.loop, stop_when_drained, en);
}
