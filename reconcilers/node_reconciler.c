/* Reconciles one node: gathers its state, calls node_plan(), stores the verdict. */
#include <stdio.h>

#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster_brake.h"
#include "reconcilers/cluster_budgets.h"
#include "reconcilers/cluster_failures.h"
#include "reconcilers/cluster_foreign.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/cluster_shown.h"
#include "reconcilers/log_tail.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/fault_notices.h"
#include "reconcilers/decide/health_report.h"
#include "reconcilers/decide/node_plan.h"
#include "reconcilers/decide/stages.h"
#include "reconcilers/decide/task_pod.h"
#include "reconcilers/notices.h"
#include "reconcilers/reconcilers.h"
#include "reconcilers/targets_sources.h"

/* When the node entered its state. If the node already had the state when this process started, its
 * report has the time, unless that is about another node of the same name. A time in the future
 * came from a wrong clock and does not count, because a timeout from it would end too late. */
static int64_t since_of(const struct cluster *c, const struct node_slot *slot,
                        enum node_state state, int64_t now_s)
{
    const struct node_summary *before = &slot->summary;
    if (before->counted)
        return before->state == state ? before->since_s : now_s;
    const struct gpu_node *report = (const struct gpu_node *) table_get(
        &c->tables[RESOURCE_GPU_NODE], slot->name);
    bool its_own = report && report->owner == str_hash_id(RECORD_UID(&slot->node->head));
    if (its_own && str_eq(report->state, node_state_name(state)) && report->since_s)
        return clock_is_ahead(report->since_s, now_s) ? now_s : report->since_s;
    return c->looked_through ? now_s : 0;
}

/* How Ostler came to see the node. */
static enum stages_look look_of(const struct cluster *c, const struct node_summary *before)
{
    if (!before->counted)
        return c->looked_through ? STAGES_JOINS : STAGES_FOUND;
    return node_state_taken(before->state) ? STAGES_GOES_ON : STAGES_JOINS;
}

/* The stages that an earlier Ostler saw are in the node's report. */
static void take_stages(struct reconcilers *r, struct node_slot *slot, const struct node_input *in,
                        const struct node_verdict *v)
{
    const struct cluster *c = r->cluster;
    const struct gpu_node *report = (const struct gpu_node *) table_get(
        &c->tables[RESOURCE_GPU_NODE], slot->name);
    enum stages_look look = look_of(c, &slot->summary);
    if (!slot->summary.counted && report &&
        report->owner == str_hash_id(RECORD_UID(&slot->node->head)))
        slot->stages = report->stages;
    unsigned reached = stages_take(&slot->stages, in, v, look);
    if (r->metrics && reached >> STAGE_PROVEN & 1)
        fleet_metrics_ready(r->metrics, &slot->stages);
}

/* Whether the node waits for a write of the policy's pass. */
static bool waits_for_policy(const struct node_verdict *v)
{
    return v->reason == REASON_WAITING_FOR_FINALIZER || v->reason == REASON_WAITING_FOR_REVISION;
}

static bool forces_removal(const struct cluster *c)
{
    const char *force = object_annotation(c->object, POLICY_FORCE_REMOVAL);
    return c->o.force_removal || (force && !str_eq(force, "false"));
}

/* A stack counts as carried, even without its label, until its toolkit's configuration is known to
 * be out of the runtime. */
static void carry_until_clean(const struct node_view *view, struct node_verdict *v)
{
    const char *hash = node_label(view, LABEL_REMOVAL);
    if (*v->carried.hash[TIER_STACK] || !hash)
        return;
    v->removal = true;
    snprintf(v->carried.hash[TIER_STACK], REVISION_HASH_MAX, "%s", hash);
}

/* A revision counts as carried until its label is known to be gone. While the removal is being
 * written, or if it is refused, the revision's objects must stay. */
static void carry_until_gone(const struct node_view *view, struct node_verdict *v)
{
    struct assignment_ref now = node_assigned(view);
    for (enum tier t = 0; t < TIERS; t++)
        if (!*v->carried.hash[t])
            snprintf(v->carried.hash[t], REVISION_HASH_MAX, "%s", str_or_empty(now.hash[t]));
    carry_until_clean(view, v);
}

/* Counts and reports the result of a pass, before it replaces the last one. */
static void node_reconciler_report(struct reconcilers *r, struct node_slot *slot,
                                   const struct node_input *in, const struct node_verdict *v,
                                   struct actions *actions)
{
    const char *pool = fleet_metrics_pool(r->cluster, v->state, v->pool);
    if (r->metrics)
        fleet_metrics_node(r->metrics, pool, &slot->summary, v, in->now_s);
    take_stages(r, slot, in, v);
    cluster_health_look(r->cluster, slot);
    notice_node(slot, v, actions);
    fault_notices(in, v, cluster_report(r->cluster, slot), actions);
    notice_black_hole(slot, v->black_hole, in->now_s, actions);
    cluster_failures_take(r->cluster, slot, v->black_hole);
    log_tail_request(r, slot, v);
}

static void take_policy(struct cluster *c, struct node_input *in)
{
    if (in->mode != MODE_MANAGE)
        return;
    in->policy = &c->policy;
    in->targets = cluster_targets(c);
    in->rollout = &c->rollout;
    in->health_spec = &c->health;
}

/* `health` is the memory for what is known of the node's GPUs. */
static void take_health(struct cluster *c, struct node_slot *slot, struct health_input *health,
                        struct node_input *in)
{
    in->health = cluster_health(c, slot, health) ? health : NULL;
    cluster_brake_look(c, slot, in->health);
    in->braked = cluster_brake_holds(c, slot);
    in->unhealthy_since_s = slot->unhealthy_s;
}

/* Fills in the members that depend on others. */
static void complete(struct cluster *c, const struct node_slot *slot, struct node_input *in)
{
    take_policy(c, in);
    in->holders_new = node_holders_hash(in->holders) != slot->holders_looked;
    in->removing_since_s = since_of(c, slot, NODE_REMOVING, in->now_s);
    in->discovered_since_s = since_of(c, slot, NODE_DISCOVERED, in->now_s);
    in->foreign = cluster_foreign(c, &in->view);
    in->toolkit_turn = slot->toolkit.granted;
    in->toolkit_stopped_by = slot->toolkit.stopped_by;
    cluster_watched(c, in);
    in->stays_since_s = slot->stays_s;
    in->suspicion = slot->hole;
}

static struct health_fault fault_of(const struct node_slot *slot, const struct health_input *health,
                                    struct arena *a)
{
    return health ? health_fault_of(health, &slot->summary.fault, a) : (struct health_fault){ 0 };
}

static void clear_tasks(const struct node_slot *slot, struct actions *actions)
{
    task_pods_clear(slot->pods, REASON_NODE_GONE,
                    "the node that the pod was made for is gone: Ostler deletes the pod", actions);
}

/* Whether it is, or may soon be, drained. */
static bool asks_for_holders(const struct node *n, const struct node_verdict *v)
{
    return n->claim || assignment_drains(assignment_ref(&v->carried), assignment_ref(&v->target));
}

/* Counts the verdict, and enqueues what depends on the sums. */
static void node_reconciler_count(struct reconcilers *r, struct node_slot *slot,
                                  const struct node_verdict *v)
{
    unsigned changed = tally_set(&r->cluster->tally, &slot->summary, v);
    if (changed) {
        r->policy(r->arg, waits_for_policy(v));
        cluster_shown(r->cluster, slot->name);
        cluster_shown_policy(r->cluster); /* its counts and blockers */
    }
    if (changed & TALLY_ROLLOUT)
        cluster_enqueue_rollout(r->cluster);
    cluster_node_seen(r->cluster, slot);
}

void node_reconcile(void *arg, const char *name, struct actions *actions)
{
    struct reconcilers *r = arg;
    struct cluster *c = r->cluster;
    struct node_slot *slot = map_get(&c->slots, name);
    int64_t again_ms;
    enum operating_mode mode = cluster_mode(c, &again_ms);
    if (!slot || mode == MODE_HOLD)
        return;
    if (!slot->node) {
        clear_tasks(slot, actions);
        return;
    }
    struct node_pods pods;
    cluster_node_pods(c, slot, &pods);
    struct node_input in = {
        .view = cluster_view(c, slot->node),
        .pods = &pods,
        .inventory = cluster_inventory(c, slot),
        .holders = cluster_holders(c, slot),
        .mode = mode,
        .force_removal = forces_removal(c),
        .deleting = c->deleting,
        .may_mark = object_has_finalizer(c->object, POLICY_FINALIZER),
        .manifests = r->manifests,
        .operand_namespace = c->o.operand_namespace,
        .agent_image = c->o.agent_image,
        .pod_list = slot->pods,
        .refused = slot->refused,
        .ask_in_ms = cluster_ask_in_ms(c, slot),
        .generation = object_generation(c->object),
        .now_s = cluster_now_s(c),
        .record = cluster_record,
        .arg = c,
    };
    struct health_input health;
    take_health(c, slot, &health, &in);
    complete(c, slot, &in);
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_verdict v;
    actions->epoch = c->epoch;
    slot->budgets_eased = c->budgets_eased;
    node_plan(&in, &a, &v, actions);
    slot->holders_looked = asks_for_holders(slot->node, &v) ? node_holders_hash(in.holders) : 0;
    carry_until_gone(&in.view, &v);
    cluster_brake_decided(c, slot, v.state);
    v.since_s = since_of(c, slot, v.state, in.now_s);
    v.fault = fault_of(slot, in.health, &a);
    node_reconciler_report(r, slot, &in, &v, actions);
    if (!v.evicts)
        cluster_refusal_over(c, slot);
    if (slot->summary.counted && slot->summary.state != v.state)
        slot->entered_ms = clock_mono_ms(c->o.clock);
    node_reconciler_count(r, slot, &v);
    cluster_shown_health(c, slot);
    cluster_enqueue_report(c, name);
}

void node_outcome(void *arg, const char *name, const struct executor_result *result)
{
    struct reconcilers *r = arg;
    struct node_slot *slot = map_get(&r->cluster->slots, name);
    if (!slot)
        return;
    if (result->error != ERR_NONE && (!result->failed || result->failed->request.looks))
        slot->holders_looked = 0;
    if (result->error == ERR_BUDGET && result->failed)
        cluster_refused(r->cluster, slot,
                        xasprintf("%s: %s", result->failed->target, result->message));
    else
        cluster_refusal_over(r->cluster, slot);
}
