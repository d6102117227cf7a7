#include "reconcilers/dry_run_repairs.h"

#include "base/json.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/decide/closing.h"
#include "reconcilers/decide/repair_plan.h"
#include "reconcilers/decide/rollout.h"

/* What is known of one node. */
struct sick_node {
    const struct rollout_node *node;
    const struct node_slot *slot;
    struct node_view view;
    struct fault_record record;
    const struct health_status *shown; /* NULL: nothing */
};

static void look_at(const struct cluster *c, const struct rollout_gathering *g, size_t i,
                    struct sick_node *ret)
{
    struct health_input health;
    const struct node_slot *slot = g->slots[i];
    *ret = (struct sick_node){ .node = &g->in.nodes[i],
                               .slot = slot,
                               .view = cluster_view(c, slot->node) };
    fault_record_of(&ret->view, &ret->record);
    if (cluster_health(c, slot, &health))
        ret->shown = health.concluded;
}

static const char *fault_of(const struct sick_node *s, struct arena *a)
{
    if (s->record.state != FAULT_OVER)
        return closing_fault_text(a, s->record.reason, s->record.address);
    return s->shown ? closing_fault_text(a, s->shown->reason, s->shown->address) : NULL;
}

static bool waits_for_jobs(const struct rollout_decision *d, const struct rollout_node *n)
{
    bool waits = false;
    for (size_t i = 0; i < d->grant_count; i++)
        waits |= d->grants[i].node == n && d->grants[i].kind == GRANT_CLAIM_WAITING;
    return waits;
}

json_t *dry_run_repairs(const struct cluster *c, const struct rollout_gathering *g)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_decision d;
    json_t *list = json_array();
    rollout_decide(&g->in, &a, &d);
    for (size_t i = 0; i < g->in.node_count; i++) {
        struct sick_node s;
        look_at(c, g, i, &s);
        json_t *entry = repair_plan_json(
            &(struct planned_repair){ .node = s.node,
                                      .spec = &c->health,
                                      .fault = fault_of(&s, &a),
                                      .first = s.slot->summary.repair_first,
                                      .refusal = s.slot->summary.refusal,
                                      .hold = d.refused[i],
                                      .tainted_first = waits_for_jobs(&d, s.node) },
            &a);
        if (entry)
            json_array_append_new(list, entry);
    }
    return list;
}
