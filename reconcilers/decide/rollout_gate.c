#include "reconcilers/decide/rollout_gate.h"

#include "base/str.h"

/* Longest time between two attempts; the first delay is two minutes, and each further one is twice
 * as long. */
enum { BACKOFF_MAX_S = 3600, BACKOFF_DOUBLINGS = 5, MINUTE_S = 60 };

void gates_make(const struct rollout_input *in, const char *plan_hash, struct gates *ret)
{
    const struct rollout_spec *spec = in->spec;
    int64_t change_s;
    *ret = (struct gates){ .in = in, .changes_s = INT64_MAX };
    if (spec->paused) {
        ret->closed = ROLLOUT_HOLD_PAUSED;
        return;
    }
    if (spec->manual && !str_eq(in->approved, plan_hash)) {
        ret->closed = ROLLOUT_HOLD_APPROVAL;
        return;
    }
    if (!windows_open(spec->windows, spec->window_count, in->now_s + in->set_s, &change_s))
        ret->closed = ROLLOUT_HOLD_WINDOW;
    ret->changes_s = change_s == INT64_MAX ? INT64_MAX : change_s - in->set_s;
}

/* How long jobs have from the claim; -1: until they end. */
static int64_t jobs_s(const struct work *w, const struct rollout_input *in)
{
    return w->repairs ? in->health->wait_for_jobs_s : in->spec->drain.wait_for_jobs_s;
}

/* Only a driver change and a repair wait for jobs, and only as long as the policy says, counted
 * from the claim. */
bool gate_has_jobs(const struct work *w, const struct rollout_input *in)
{
    int64_t wait = jobs_s(w, in);
    const struct claim *c = w->node->claim;
    if ((!w->repairs && !tiers[w->tier].drains) || !w->node->jobs || wait == 0)
        return false;
    return wait < 0 || !c || !claim_closes(c) || !time_passed(c->claimed_s, wait, in->now_s);
}

int64_t gate_jobs_until_s(const struct work *w, const struct rollout_input *in)
{
    int64_t wait = jobs_s(w, in);
    return wait < 0 ? INT64_MAX : time_after(w->node->claim->claimed_s, wait);
}

int64_t rollout_backoff_s(unsigned attempt)
{
    int64_t backoff = MINUTE_S << (attempt < BACKOFF_DOUBLINGS ? attempt : BACKOFF_DOUBLINGS);
    return attempt > BACKOFF_DOUBLINGS ? BACKOFF_MAX_S : backoff;
}

bool gate_is_forgiven(const struct work *w)
{
    return w->node->claim->since_s <= w->progress->record.forgiven_s;
}

/* When a failed node is due; 0: now. A node whose retry a user requested is due, and a node whose
 * failure is further in the future than any clock error. */
static int64_t backoff_until(const struct work *w, int64_t now_s)
{
    const struct claim *c = w->node->claim;
    int64_t backoff = rollout_backoff_s(c->attempt), until = time_after(c->since_s, backoff);
    if (w->state != WORK_FAILED || w->stale || gate_is_forgiven(w) || until <= now_s ||
        c->since_s > time_after(now_s, backoff))
        return 0;
    return until;
}

static enum rollout_hold node_gate(const struct rollout_input *in, const struct work *w, bool ready,
                                   int64_t *ret_until_s)
{
    const struct rollout_node *n = w->node;
    if (n->cordoned || n->held || (n->gave_up && !w->repairs))
        return ROLLOUT_HOLD_SKIPPED;
    if (!n->claim)
        return ROLLOUT_HOLD_NONE;
    if (!n->up)
        return ROLLOUT_HOLD_DOWN;
    if (ready || !claim_closes(n->claim))
        return ROLLOUT_HOLD_NONE;
    *ret_until_s = gate_jobs_until_s(w, in);
    return ROLLOUT_HOLD_JOBS;
}

static enum rollout_hold revision_gate(const struct rollout_input *in, const struct work *w,
                                       int64_t *ret_until_s)
{
    const struct progress *p = w->progress;
    if (p->record.failed)
        return ROLLOUT_HOLD_FAILED;
    int64_t due_s = w->node->claim ? backoff_until(w, in->now_s) : 0;
    if (due_s) {
        *ret_until_s = due_s;
        return ROLLOUT_HOLD_BACKOFF;
    }
    if (!p->wave_closed)
        return ROLLOUT_HOLD_NONE;
    *ret_until_s = p->begun ? INT64_MAX : time_after(p->record.wave_s, in->spec->soak_s);
    return ROLLOUT_HOLD_SOAK;
}

/* The canary's places are for nodes that start. A node that waits for its jobs takes none, so that
 * it does not delay a node that could start. But no more nodes are tainted than there are places,
 * and none for which there is an idle node. A node that is down proves nothing. */
enum rollout_hold gate_canary(const struct rollout_input *in, const struct work *w, bool ready,
                              int64_t *ret_until_s)
{
    const struct progress *p = w->progress;
    if (progress_canary_over(p, in))
        return ROLLOUT_HOLD_NONE;
    size_t wanted = (size_t) in->spec->canary_nodes,
           taken = p->begun + p->running + (ready ? p->kept : p->waiting);
    if (taken < wanted && w->node->up) {
        if (ready || taken + p->idle < wanted)
            return ROLLOUT_HOLD_NONE;
        return p->idle_waits == ROLLOUT_HOLD_NONE ? ROLLOUT_HOLD_CANARY : p->idle_waits;
    }
    if (p->record.canary_s <= 0)
        return ROLLOUT_HOLD_CANARY;
    *ret_until_s = time_after(p->record.canary_s, in->spec->canary_soak_s);
    return ROLLOUT_HOLD_SOAK;
}

bool gate_lets_upgrade(const struct gates *g, const struct work *w)
{
    int64_t until_s;
    return g->closed == ROLLOUT_HOLD_NONE && !w->node->gave_up &&
           revision_gate(g->in, w, &until_s) == ROLLOUT_HOLD_NONE &&
           gate_canary(g->in, w, true, &until_s) == ROLLOUT_HOLD_NONE;
}

/* A repair waits for a user who paused the rollout, and until a failed one may be retried. */
static enum rollout_hold repair_gate(const struct gates *g, const struct work *w,
                                     int64_t *ret_until_s)
{
    int64_t due_s = w->node->claim ? backoff_until(w, g->in->now_s) : 0;
    if (g->closed == ROLLOUT_HOLD_PAUSED)
        return g->closed;
    if (!due_s)
        return ROLLOUT_HOLD_NONE;
    *ret_until_s = due_s;
    return ROLLOUT_HOLD_BACKOFF;
}

/* A failed node is tainted, and nothing works on it: a rollback to a known good revision waits for
 * no window and no user. */
enum rollout_hold gate_of(const struct gates *g, const struct work *w, bool ready,
                          int64_t *ret_until_s)
{
    *ret_until_s = INT64_MAX;
    enum rollout_hold hold = node_gate(g->in, w, ready, ret_until_s);
    if (hold != ROLLOUT_HOLD_NONE || w->restores)
        return hold;
    if (w->repairs)
        return repair_gate(g, w, ret_until_s);
    if (g->closed != ROLLOUT_HOLD_NONE) {
        *ret_until_s = g->changes_s;
        return g->closed;
    }
    hold = revision_gate(g->in, w, ret_until_s);
    return hold == ROLLOUT_HOLD_NONE ? gate_canary(g->in, w, ready, ret_until_s) : hold;
}

/* When a wave or canary under way will have soaked, if all its nodes were up now. */
static enum rollout_hold soak_to_come(const struct rollout_input *in, const struct progress *p,
                                      int64_t *ret_from_s)
{
    const struct rollout_spec *spec = in->spec;
    bool canary = !progress_canary_over(p, in);
    if (canary ? p->begun + p->running < (size_t) spec->canary_nodes : !p->begun)
        return ROLLOUT_HOLD_NONE;
    *ret_from_s = time_after(in->now_s, canary ? progress_canary_left_s(p, in) : spec->soak_s);
    return canary ? ROLLOUT_HOLD_CANARY : ROLLOUT_HOLD_SOAK;
}

enum rollout_hold gate_far(const struct gates *g, const struct work *w, int64_t *ret_from_s)
{
    enum rollout_hold hold = g->closed;
    *ret_from_s = hold == ROLLOUT_HOLD_NONE ? INT64_MAX : g->changes_s;
    if (w->repairs)
        return hold == ROLLOUT_HOLD_PAUSED ? hold : ROLLOUT_HOLD_NONE;
    if (hold == ROLLOUT_HOLD_NONE)
        hold = revision_gate(g->in, w, ret_from_s);
    if (hold == ROLLOUT_HOLD_NONE)
        hold = gate_canary(g->in, w, true, ret_from_s);
    if (hold == ROLLOUT_HOLD_NONE || hold == ROLLOUT_HOLD_CANARY ||
        (hold == ROLLOUT_HOLD_SOAK && *ret_from_s == INT64_MAX))
        hold = soak_to_come(g->in, w->progress, ret_from_s);
    return hold != ROLLOUT_HOLD_NONE && *ret_from_s > time_after(g->in->now_s, GATE_MINUTES_S)
               ? hold
               : ROLLOUT_HOLD_NONE;
}
