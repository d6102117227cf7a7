#include "reconcilers/toolkit_pass.h"

#include "base/str.h"
#include "reconcilers/decide/toolkit_turns.h"

enum { LONG_AGO_S = 1 };

/* The rollout, with its own limits, handles claimed nodes. A node keeps its turn until its label is
 * seen, because the write may be in progress. */
static enum toolkit_state toolkit_pass_state_of(const struct rollout_node *n,
                                                const struct node_slot *slot)
{
    const struct node_summary *s = &slot->summary;
    if (n->let_go || n->claim || s->removal)
        return TOOLKIT_OUT;
    const struct node_standing *stack = &s->of[TIER_STACK];
    const char *now = n->now.hash[TIER_STACK];
    bool has_turn = s->first == FIRST_TURN || slot->toolkit.granted;
    if (!*now)
        return has_turn && n->up && stack->target ? TOOLKIT_WAITS : TOOLKIT_OUT;
    if (n->up && stack->carried && str_eq(stack->carried->hash, now) && summary_stack_works(s))
        return TOOLKIT_WORKS;
    if (s->state == NODE_UNHEALTHY) /* a bad GPU, and no toolkit, keeps its operands down */
        return TOOLKIT_OUT;
    return !n->up || s->state == NODE_FAILED ? TOOLKIT_FAILED : TOOLKIT_TRIES;
}

/* A node that was down before this process started counts as down for long. */
static int64_t lost_since_s(const struct rollout_node *n, const struct node_summary *s,
                            int64_t now_s)
{
    if (n->up)
        return 0;
    return s->state != NODE_LOST ? now_s : s->since_s ? s->since_s : LONG_AGO_S;
}

static struct toolkit_node node_of(const struct rollout_node *n, const struct node_slot *slot,
                                   int64_t now_s)
{
    enum toolkit_state state = toolkit_pass_state_of(n, slot);
    const char *now = n->now.hash[TIER_STACK];
    return (struct toolkit_node){ .name = n->name,
                                  .pool = n->pool,
                                  .state = state,
                                  .last = n->runs_ostler,
                                  .stack = state == TOOLKIT_WAITS
                                               ? slot->summary.of[TIER_STACK].target->hash
                                               : now,
                                  .has_turn = slot->toolkit.granted,
                                  .turn_s = slot->toolkit.at_s,
                                  .lost_s = lost_since_s(n, &slot->summary, now_s) };
}

static bool take_turn(struct node_slot *slot, bool granted, int64_t now_s)
{
    bool news = slot->toolkit.granted != granted;
    slot->toolkit.granted = granted;
    slot->toolkit.at_s = news && granted ? now_s : slot->toolkit.at_s;
    return news;
}

static bool take_stop(struct node_slot *slot, const char *stopped_by)
{
    if (str_eq(slot->toolkit.stopped_by, stopped_by))
        return false;
    xstrset(&slot->toolkit.stopped_by, stopped_by);
    return true;
}

static bool any_waits(const struct rollout_gathering *g)
{
    for (size_t i = 0; i < g->in.node_count; i++)
        if (g->slots[i]->summary.first == FIRST_TURN || g->slots[i]->toolkit.granted)
            return true;
    return false;
}

void toolkit_pass(const struct cluster *c, const struct rollout_gathering *g, struct arena *a,
                  struct actions *actions)
{
    if (!any_waits(g))
        return;
    size_t count = g->in.node_count;
    struct toolkit_node *nodes = arena_alloc(a, count * sizeof *nodes);
    for (size_t i = 0; i < count; i++)
        nodes[i] = node_of(&g->in.nodes[i], g->slots[i], g->in.now_s);
    struct toolkit_turns turns;
    toolkit_turns(&(struct toolkit_turns_input){ .nodes = nodes,
                                                 .node_count = count,
                                                 .now_s = g->in.now_s,
                                                 .canary_nodes = (size_t) g->in.spec->canary_nodes,
                                                 .install_s = g->in.spec->install_timeout_s },
                  a, &turns);
    for (size_t i = 0; i < count; i++) {
        bool news = take_turn(g->slots[i], turns.granted[i], g->in.now_s);
        news |= take_stop(g->slots[i], turns.stopped_by[i]);
        if (news)
            c->o.listener.node(c->o.listener.arg, g->slots[i]->name);
    }
    if (turns.again_s)
        actions_requeue(actions,
                        turns.again_s > g->in.now_s ? (turns.again_s - g->in.now_s) * 1000 : 1000);
}
