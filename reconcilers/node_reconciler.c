#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/reconcilers.h"
#include "reconcilers/targets_sources.h"

/* States that a person should hear of on the node itself, when they are entered. */
static const struct {
    enum node_state state;
    const char *reason; /* only with this one; NULL: any */
    bool warning;
    bool each_reason;   /* another reason in the same state is news too */
} noteworthy[] = {
    { NODE_READY, NULL, false, false },
    { NODE_FAILED, NULL, true, false }, /* reasons alternate: pulling, backing off, pulling */
    { NODE_FOREIGN, NULL, false, true },
    { NODE_UNSUPPORTED, NULL, true, true },
    { NODE_REMOVING, "WaitingForGpuPods", false, true },
    { NODE_INSTALLING, "WaitingForGpuPods", false, true },
    { NODE_WAITING, NULL, false, false },
    { NODE_DRAINING, NULL, false, false },
    { NODE_UNLOADING, NULL, false, false },
};

static void add_notice(const struct node_slot *slot, const struct node_verdict *v, struct plan *plan)
{
    /* After a start nothing is known of before: only what leads to a write is news then. */
    const struct node_summary *before = &slot->summary;
    if (!before->counted && plan->len == 0)
        return;
    bool same_state = before->counted && before->state == v->state;
    bool same_reason = same_state && str_eq(before->cause ? before->cause->reason : NULL, v->reason);
    for (size_t i = 0; i < ARRAY_LEN(noteworthy); i++) {
        bool fits = noteworthy[i].state == v->state && (!noteworthy[i].reason || str_eq(noteworthy[i].reason, v->reason));
        if (!fits || (noteworthy[i].each_reason ? same_reason : same_state))
            continue;
        plan_notice(plan, &(struct notice){ .resource = RESOURCE_NODE, .name = slot->name, .uid = slot->node->head.uid,
                                            .warning = noteworthy[i].warning,
                                            .reason = v->state == NODE_READY ? "GpuReady" : v->reason, .action = "Reconcile",
                                            .note = v->message ? (char *) v->message : "every operand of the node is up" });
    }
}

/* Whether the node waits for something that only the policy's pass can write. */
static bool waits_for_policy(const struct node_verdict *v)
{
    return str_eq(v->reason, "WaitingForFinalizer") || str_eq(v->reason, "WaitingForRevision");
}

static bool forces_removal(const json_t *policy)
{
    const char *force = object_annotation(policy, POLICY_FORCE_REMOVAL);
    return force && !str_eq(force, "false");
}

/* A revision is carried until its label is known to be gone: while the write that takes it off is on its way, and when that is refused, what
 * serves the revision must stay. */
static void carry_until_gone(const struct node_view *view, struct node_verdict *v)
{
    if (!*v->driver)
        snprintf(v->driver, sizeof v->driver, "%s", str_or_empty(node_label(view, LABEL_DRIVER)));
    if (!*v->stack)
        snprintf(v->stack, sizeof v->stack, "%s", str_or_empty(node_label(view, LABEL_STACK)));
}

void node_reconcile(void *arg, const char *name, struct plan *plan)
{
    struct reconcilers *r = arg;
    struct cluster *c = r->cluster;
    struct node_slot *slot = map_get(&c->slots, name);
    if (!slot || !slot->node)
        return;
    int64_t again_ms;
    enum stance stance = cluster_stance(c, &again_ms);
    if (stance == STANCE_HOLD)
        return;
    struct node_pods pods;
    cluster_node_pods(c, slot, &pods);
    struct node_input in = {
        .view = { slot->node, c->strings },
        .pods = &pods,
        .stance = stance,
        .force_removal = forces_removal(c->object),
        .deleting = c->deleting,
        .may_mark = object_has_finalizer(c->object, POLICY_FINALIZER),
        .policy = stance == STANCE_MANAGE ? &c->policy : NULL,
        .targets = stance == STANCE_MANAGE ? cluster_targets(c) : NULL,
        .rollout = stance == STANCE_MANAGE ? &c->rollout : NULL,
        .pod_list = slot->pods,
        .refused = slot->refused,
        .generation = object_generation(c->object),
        .now_s = clock_wall_us(c->o.clock) / 1000000,
        .record = cluster_record,
        .arg = c,
    };
    cluster_watched(c, &in.watched_s, &in.age_s);
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_verdict v;
    plan->epoch = c->epoch;
    node_plan(&in, &a, &v, plan);
    carry_until_gone(&in.view, &v);
    add_notice(slot, &v, plan);
    if (v.state != NODE_DRAINING)
        free(TAKE(slot->refused));
    if (tally_set(&c->tally, &slot->summary, &v))
        r->policy(r->arg, waits_for_policy(&v));
    cluster_node_seen(c, slot);
    cluster_tell_report(c, name);
}

void node_outcome(struct reconcilers *r, const char *name, const struct executor_result *result)
{
    struct node_slot *slot = map_get(&r->cluster->slots, name);
    if (!slot)
        return;
    free(TAKE(slot->refused));
    if (result->error == ERR_BUDGET)
        slot->refused = xasprintf("%s: %s", result->failed->target, result->message);
}
