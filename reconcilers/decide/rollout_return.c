#include "reconcilers/decide/rollout_return.h"

#include <stdlib.h>
#include <string.h>

#include "reconcilers/decide/rollout_message.h"

/* Whether removing its claim leaves the node as it was before. A failed attempt may have changed
 * it. The node's own pass obeys users who cordon or hold it. */
static bool may_return(const struct work *w)
{
    const struct rollout_node *n = w->node;
    return w->state == WORK_WAITING && w->progress && !w->stale && !n->cordoned && !n->held &&
           claim_is_as_it_was(n->claim, n->now);
}

/* `idle`: the node that it makes room for; NULL: none. */
static void rollout_return_add(struct rollout_decision *ret, const struct work *w, const char *idle,
                               enum rollout_hold hold, const char *why, struct arena *a)
{
    ret->returns[ret->return_count++] = (struct rollout_return){
        w->node, idle, rollout_return_message(hold, why, a)
    };
}

/* ---- room for others */

static int by_claim(const void *x, const void *y)
{
    const struct rollout_node *m = (*(const struct work *const *) x)->node,
                              *n = (*(const struct work *const *) y)->node;
    if (m->claim->claimed_s != n->claim->claimed_s)
        return m->claim->claimed_s > n->claim->claimed_s ? -1 : 1;
    return -strverscmp(m->name, n->name);
}

/* A node that is down or has unhealthy GPUs stays out of service anyway, and a node whose jobs have
 * little time left will start soon. */
static bool makes_room(const struct work *w, const struct rollout_input *in)
{
    return may_return(w) && w->node->up && !w->node->unhealthy && gate_has_jobs(w, in) &&
           gate_jobs_until_s(w, in) > time_after(in->now_s, GATE_MINUTES_S);
}

void waiters_make(const struct rollout_view *v, struct arena *a, struct waiters *ret)
{
    *ret = (struct waiters){ .list = arena_alloc(a, v->of[WORK_WAITING] * sizeof *ret->list) };
    for (size_t i = 0; i < v->in->node_count; i++)
        if (makes_room(&v->works[i], v->in))
            ret->list[ret->count++] = &v->works[i];
    qsort(ret->list, ret->count, sizeof *ret->list, by_claim);
}

size_t waiters_for(const struct waiters *w, const struct budget *budget, const struct work *idle)
{
    struct budget then = *budget;
    for (size_t n = 0; n < w->count; n++) {
        budget_give_back(&then, w->list[n]);
        if (budget_refuses(&then, idle, true) == ROLLOUT_HOLD_NONE)
            return n + 1;
    }
    return 0;
}

const struct rollout_node *waiters_return(const struct waiters *w, size_t n,
                                          const struct rollout_view *v, struct arena *a)
{
    struct rollout_node *nodes = arena_alloc(a, v->in->node_count * sizeof *nodes);
    memcpy(nodes, v->in->nodes, v->in->node_count * sizeof *nodes);
    for (size_t i = 0; i < n; i++)
        nodes[w->list[i]->node - v->in->nodes].claim = NULL;
    return nodes;
}

void return_for(const struct work *w, const char *idle, struct arena *a,
                struct rollout_decision *ret)
{
    rollout_return_add(ret, w, idle, ROLLOUT_HOLD_NONE,
                       arena_printf(a, "node %s has no jobs and gets its slot", idle), a);
}

/* ---- nodes whose turn is far away */

/* Since when the node has been tainted without a job, while others had their turn; 0: it is not. */
static int64_t idle_since_s(const struct work *w, const struct rollout_input *in)
{
    return gate_has_jobs(w, in) || !w->node->up ? 0 : w->node->free_s;
}

static void rollout_return_look_at(const struct work *w, const struct gates *g, struct arena *a,
                                   struct rollout_decision *ret)
{
    int64_t from_s, idle_s = idle_since_s(w, g->in), until_s = time_after(idle_s, GATE_MINUTES_S);
    enum rollout_hold far = gate_far(g, w, &from_s);
    if (far != ROLLOUT_HOLD_NONE)
        rollout_return_add(ret, w, NULL, far, NULL, a);
    else if (idle_s && until_s <= g->in->now_s)
        rollout_return_add(ret, w, NULL, ROLLOUT_HOLD_NONE,
                           "no job has run on it for 5m, and no slot was free", a);
    else if (idle_s)
        rollout_look_again(ret, until_s);
}

void return_those_far_away(const struct rollout_view *v, const struct gates *g, struct arena *a,
                           struct rollout_decision *ret)
{
    bool waits = false;
    for (size_t i = 0; i < v->in->node_count; i++) {
        const struct work *w = &v->works[i];
        bool refused = ret->refused[i] != ROLLOUT_HOLD_NONE &&
                       ret->refused[i] != ROLLOUT_HOLD_SKIPPED;
        if (!refused || !may_return(w))
            continue;
        rollout_return_look_at(w, g, a, ret);
        waits = true;
    }
    /* Check again when the window closes. */
    if (waits && g->closed == ROLLOUT_HOLD_NONE)
        rollout_look_again(ret, g->changes_s);
}
