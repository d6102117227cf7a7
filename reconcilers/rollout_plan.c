#include "reconcilers/rollout_plan.h"

#include "base/str.h"

/* Whether GPU pods would have to leave it. */
static bool would_be_drained(const struct rollout_node *n)
{
    return assignment_drains(n->now, n->target) && !n->cordoned && !n->held && !n->gave_up;
}

/* The pods of each node that a drain now would concern. */
static struct drain *drains_of(const struct cluster *c, const struct rollout_gathering *g,
                               struct arena *a)
{
    struct drain *drains = arena_alloc(a, g->in.node_count * sizeof *drains);
    for (size_t i = 0; i < g->in.node_count; i++) {
        const struct claim *claim = g->in.nodes[i].claim;
        if (!would_be_drained(&g->in.nodes[i]))
            continue;
        drain_look(&(struct drain_input){ .pods = g->slots[i]->pods,
                                          .node_uid = g->slots[i]->node->head.uid,
                                          .strings = c->strings,
                                          .spec = &c->rollout.drain,
                                          .jobs_may_go = c->rollout.drain.wait_for_jobs_s == 0,
                                          .closed_s = claim ? drain_closed_s(claim) : 0,
                                          .now_s = g->in.now_s,
                                          .holders = cluster_holders(c, g->slots[i]) },
                   a, &drains[i]);
    }
    return drains;
}

/* The known problems of claimed nodes with an operand that does not come up. */
static const char **troubles_of(const struct rollout_gathering *g, struct arena *a)
{
    const char **troubles = arena_alloc(a, g->in.node_count * sizeof *troubles);
    for (size_t i = 0; i < g->in.node_count; i++) {
        const struct node_summary *s = &g->slots[i]->summary;
        bool failed = s->state == NODE_FAILED && s->failed;
        if (g->in.nodes[i].claim)
            troubles[i] = s->trouble   ? s->trouble
                          : s->refused ? s->refused
                          : failed     ? s->message
                                       : NULL;
    }
    return troubles;
}

json_t *rollout_plan(const struct cluster *c, const struct rollout_gathering *g,
                     const struct rollout_pace pace[static TIERS], size_t looks,
                     const struct rollout_plan_limits *limits,
                     const struct blocking_budgets *blocking)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_simulation simulation;
    rollout_simulate(&g->in, pace, looks, &a, &simulation);
    return rollout_plan_json(&(struct rollout_plan_input){ .rollout = &g->in,
                                                           .simulation = &simulation,
                                                           .pace = pace,
                                                           .drains = drains_of(c, g, &a),
                                                           .troubles = troubles_of(g, &a),
                                                           .blocking = blocking,
                                                           .strings = c->strings,
                                                           .limits = limits });
}
