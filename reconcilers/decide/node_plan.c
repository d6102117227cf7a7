#include "reconcilers/decide/node_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/detect.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/holders.h"
#include "reconcilers/decide/images.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/decide/node_steps.h"
#include "reconcilers/decide/proof_marks.h"
#include "reconcilers/decide/owner.h"
#include "reconcilers/decide/toolkit_removal.h"
#include "reconcilers/decide/upgrade_steps.h"
#include "reconcilers/decide/upgrade_target.h"

/* A user excludes this node. Ostler's own label overrides that of NVIDIA's operator. */
static bool is_released(const struct node_input *in)
{
    const char *managed = node_label(&in->view, LABEL_MANAGED);
    return str_eq(managed, "false") ||
           (!str_eq(managed, "true") &&
            str_eq(node_label(&in->view, LABEL_DEPLOY_OPERANDS), "false"));
}

static bool is_ours_to_manage(const struct node_input *in)
{
    return in->mode == MODE_MANAGE && !is_released(in) &&
           selector_matches(&in->policy->nodes, node_label, &in->view);
}

/* Labels of a node of the pool besides the assignment: Ostler's, then the pool's, then the
 * policy's. */
static json_t *wanted_labels(const struct node_input *in, const struct node_verdict *v)
{
    json_t *labels = json_pack("{s:s}", v->vendor->present, "true");
    json_object_update_missing(labels, (json_t *) in->policy->pools[v->pool].node_labels);
    json_object_update_missing(labels, (json_t *) in->policy->node_labels);
    /* A node that Ostler released by its own label would be taken back and released again without
     * end. */
    json_object_del(labels, LABEL_DEPLOY_OPERANDS);
    return labels;
}

/* Lists the node's pods, so that the write after it is sent only if all of them were known. */
static void node_plan_look_at_node(const struct node_input *in, enum reason reason,
                                   struct actions *actions)
{
    const char *name = in->view.node->head.key;
    CLEANUP_FREE char *selector = xasprintf("spec.nodeName=%s," POD_FIELDS, name),
                      *target = xasprintf("node/%s", name);
    action_add(actions,
               request_look(RESOURCE_POD, &(struct list_options){ .field_selector = selector }),
               VERB_LOOK, target, reason,
               "lists the node's pods, in case a GPU pod started that the watch has not reported");
}

/* Plans the only write of a pass; takes the patch, NULL: nothing to write. */
static void write_patch(const struct node_input *in, json_t *patch_steal, enum reason reason,
                        const char *message, struct actions *actions)
{
    CLEANUP_JSON json_t *patch = patch_steal;
    if (!patch)
        return;
    const char *name = in->view.node->head.key;
    CLEANUP_FREE char *target = xasprintf("node/%s", name);
    action_add(actions, request_json_patch(RESOURCE_NODE, NULL, name, patch), VERB_MARK, target,
               reason, "%s", message);
}

/* The policy's default key stands for the key of the node's vendor. */
static struct policy_taint taint_of(const struct policy_pool *pool, const struct vendor *v)
{
    struct policy_taint taint = pool->taint;
    if (str_eq(taint.key, NVIDIA_GPU))
        taint.key = v->taint;
    return taint;
}

/* Followers that this pool does not run and other pools do. */
static unsigned off_followers(const struct policy *policy, const struct policy_pool *p)
{
    unsigned off = 0;
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->off_label && policy_runs(policy, o->id) && !policy_pool_runs(p, o->id))
            off |= 1u << o->id;
    return off;
}

/* What every node of the pool has. The caller owns the labels. */
static struct marks usual_marks(const struct node_input *in, const json_t *labels,
                                const struct node_verdict *v)
{
    const struct policy_pool *p = &in->policy->pools[v->pool];
    return (struct marks){ .labels = labels,
                           .taint = taint_of(p, v->vendor),
                           .off = off_followers(in->policy, p),
                           .host_driver = in->view.node->host_driver,
                           .claim_taint = in->rollout->drain.taint_key };
}

static void write_marks(const struct node_input *in, const struct marks *wanted, enum reason reason,
                        const char *message, struct actions *actions)
{
    write_patch(in, marks_patch(&in->view, wanted), reason, message, actions);
}

/* A node that runs nothing of Ostler's gets no driver without an image: it would only wait with
 * ErrImagePull. */
static const struct target *without_image(const struct node_input *in, const struct target *t,
                                          struct target *bare)
{
    if (!t->no_image || in->view.node->claim || !assignment_is_empty(node_assigned(&in->view)))
        return t;
    *bare = (struct target){
        .source = t->source, .pool = t->pool, .reason = t->reason, .problem = t->problem
    };
    return bare;
}

/* Sets everything on the node except operands. Pods of another stack, present or possible, may not
 * tolerate the taint, so such a node gets it only if the policy says so. */
static void mark_only(const struct node_input *in, struct node_verdict *v, enum node_state state,
                      enum reason reason, const char *message, struct actions *actions)
{
    CLEANUP_JSON json_t *labels = wanted_labels(in, v);
    struct marks wanted = usual_marks(in, labels, v);
    if ((state == NODE_FOREIGN || state == NODE_DISCOVERED) &&
        !in->policy->pools[v->pool].taint.foreign)
        wanted.taint.enabled = false;
    verdict_settle(v, state, reason, message);
    write_marks(in, &wanted, reason, message, actions);
}

/* Leaves the node unchanged in this pass. */
static void carry_labels(struct node_verdict *v, const struct node_input *in)
{
    assignment_copy(&v->carried, node_assigned(&in->view));
}

static void settle_lost(const struct node_input *in, struct arena *a, struct node_verdict *v,
                        const char *prospect)
{
    verdict_settle(v, NODE_LOST, REASON_NODE_NOT_READY,
                   arena_printf(a, "node %s is down%s", in->view.node->head.key, prospect));
    v->cause = OPERAND_NONE;
    v->pod = NULL;
}

/* Carries out what proof_look() asks for. A pod that cannot be created never validates anything
 * under this policy. */
static void act_on_proof(const struct node_input *in, struct arena *a, const struct proof_case *c,
                         const struct proof_look *look, struct node_verdict *v,
                         struct actions *actions)
{
    CLEANUP_ERR struct err e = { 0 };
    if (proof_act(in, c, look, actions, &e) < 0)
        verdict_settle(v, NODE_FAILED, REASON_VALIDATION_FAILED,
                       arena_printf(a, "the validation pod cannot be created: %s", err_msg(&e)));
}

/* Evicts or deletes pods. */
static void send_away(const struct node_input *in, const struct upgrade *up,
                      struct actions *actions)
{
    if (up->send == SEND_EVICT && in->ask_in_ms > 0)
        actions_requeue(actions, in->ask_in_ms);
    else if (up->send == SEND_EVICT)
        drain_evict(&up->drain, up->drain.of[DRAIN_GOING] == 0, actions);
    else if (up->send == SEND_DELETE)
        drain_delete(&up->drain, actions);
}

/* A claimed node, or one whose claim a user removed. */
static void go_on(const struct node_input *in, struct arena *a, const struct upgrade *up,
                  struct node_verdict *v, struct actions *actions)
{
    if (up->untouched)
        return;
    CLEANUP_JSON json_t *labels = wanted_labels(in, v);
    struct marks wanted = usual_marks(in, labels, v);
    wanted.assigned = up->assigned;
    wanted.claim = up->claimed ? &up->claim : NULL;
    wanted.gave_up = up->gave_up;
    struct proof_marks open = { .look = up->proving ? &up->proof : NULL,
                                .changing = up->claimed && claim_is_changing(&up->claim) };
    proof_marks_add(in, a, &open, &wanted);
    if (up->look || up->look_for_holders)
        node_plan_look_at_node(in, up->look ? REASON_REMOVING_DRIVER : REASON_HOLDERS, actions);
    write_marks(in, &wanted, up->reason ? up->reason : REASON_UPGRADE, str_or_empty(up->message),
                actions);
    proof_marks_clear(&open);
    if (up->proving)
        act_on_proof(in, a, &up->proves, &up->proof, v, actions);
    else if (!up->claimed || up->claim.phase != CLAIM_FAILED) /* its termination message is kept */
        proof_clear(in, actions);
    send_away(in, up, actions);
}

/* A node with its driver and without a stack, because its first toolkit comes in turn. */
static void judge_turn(const struct node_input *in, struct arena *a,
                       const struct node_assignment *as, struct node_verdict *v)
{
    const char *pool = in->policy->pools[v->pool].name, *by = in->toolkit_stopped_by;
    v->first = !as->first ? FIRST_NONE : v->state == NODE_READY ? FIRST_TURN : FIRST_LATER;
    if (v->first != FIRST_TURN)
        return;
    v->cause = OPERAND_TOOLKIT;
    if (by)
        verdict_settle(v, NODE_INSTALLING, REASON_TOOLKIT_STOPPED,
                       arena_printf(a,
                                    "the toolkit does not come up on node %s, one of the first of "
                                    "pool %s that got it, so no "
                                    "other node gets it: repair that node, change the policy, or "
                                    "take the node out with the "
                                    "label " LABEL_MANAGED "=false",
                                    by, pool));
    else
        verdict_settle(v, NODE_INSTALLING, REASON_WAITING_FOR_TOOLKIT,
                       arena_printf(a,
                                    "the toolkit restarts the container runtime, so the nodes of "
                                    "pool %s get it in turn: each "
                                    "time as many as it works on, and one more",
                                    pool));
}

/* The verdict of an unclaimed node by its operands alone. */
static void node_plan_judge(const struct node_input *in, struct arena *a,
                            const struct node_assignment *as, const struct target *t,
                            struct node_verdict *v)
{
    operands_list(in, v);
    if (as->waiting) {
        verdict_settle(v, NODE_INSTALLING, as->reason, as->message);
        v->cause = OPERAND_DRIVER;
    } else if (!*v->carried.hash[TIER_STACK] && t->reason) {
        verdict_settle(v, NODE_UNSUPPORTED, t->reason,
                       arena_printf(a, "node %s: %s", in->view.node->head.key, t->problem));
    } else {
        operands_judge(in, a, v);
        judge_turn(in, a, as, v);
    }
}

/* The validation of a node whose operands are up. Pods that run on the GPUs of a node in service
 * show that these work. */
struct proving {
    bool looked;
    struct proof_case of;
    struct proof_look look;
};

static bool has_gpus(const struct node_input *in, const struct node_verdict *v)
{
    bool plugin = v->wanted & 1u << OPERAND_DEVICE_PLUGIN;
    return !plugin || in->view.node->gpus > 0;
}

static void look_at_proof(const struct node_input *in, struct arena *a,
                          const struct node_verdict *v, struct actions *actions,
                          struct proving *ret)
{
    struct proof before = { 0 };
    proof_of_node(&in->view, &before);
    ret->looked = true;
    ret->of = (struct proof_case){ .of = assignment_ref(&v->carried),
                                   .gpus_before = before.gpus,
                                   .nothing_ours = operands_only_watch(v),
                                   .may_count = !marks_have_taint(
                                       &in->view, in->policy->validation.taint.key) };
    proof_look(in, &ret->of, a, actions, &ret->look);
}

static void judge_proof(const struct proof_look *look, struct node_verdict *v)
{
    static const enum node_state states_of[] = {
        [PROOF_NEEDLESS] = NODE_READY,   [PROOF_HOLDS] = NODE_READY,  [PROOF_PASSES] = NODE_READY,
        [PROOF_WAITS] = NODE_VALIDATING, [PROOF_FAILS] = NODE_FAILED,
    };
    bool done = proof_is_done(look);
    verdict_settle(v, states_of[look->result], done ? REASON_NONE : look->reason,
                   look->result == PROOF_PASSES ? NULL : look->message);
    if (!done && look->keep)
        v->pod = look->keep->head.key;
}

static void prove(const struct node_input *in, struct arena *a, struct node_verdict *v,
                  struct actions *actions, struct proving *ret)
{
    *ret = (struct proving){ 0 };
    if (v->state != NODE_READY || !*v->carried.hash[TIER_STACK] || !in->view.node->ready)
        return;
    if (has_gpus(in, v)) {
        look_at_proof(in, a, v, actions, ret);
        judge_proof(&ret->look, v);
    } else if (in->policy->validation.enabled) {
        verdict_settle(v, NODE_VALIDATING, REASON_NO_ALLOCATABLE_GPUS,
                       "every operand is up; the kubelet reports no allocatable GPUs yet");
    }
}

/* A new node that stays closed for too long has failed, whatever it waits for. It opens if its
 * validation succeeds later. */
static void judge_startup(const struct node_input *in, struct arena *a, struct node_verdict *v,
                          struct actions *actions)
{
    bool under_way = (v->state == NODE_INSTALLING && v->first != FIRST_TURN) ||
                     v->state == NODE_VALIDATING;
    if (under_way && startup_taint_is_overdue(in, actions))
        verdict_settle(
            v, NODE_FAILED, REASON_STARTUP_TIMEOUT,
            arena_printf(
                a, "nodes.startupTaint.timeout is over, and the node keeps its startup taint: %s",
                v->message));
    const char *open = under_way ? startup_taint_missing_why(in, a) : NULL;
    if (open)
        v->message = v->message ? arena_printf(a, "%s; %s", v->message, open) : open;
}

/* The write of an unclaimed node: its assignment and everything else that it should have. */
static void give(const struct node_input *in, struct arena *a, const struct node_assignment *as,
                 const struct proof_look *look, bool host_driver, const char *gave_up,
                 const struct node_verdict *v, struct actions *actions)
{
    CLEANUP_JSON json_t *labels = wanted_labels(in, v);
    struct marks wanted = usual_marks(in, labels, v);
    struct proof_marks open = { .look = look };
    bool proven = look && look->result == PROOF_PASSES;
    wanted.assigned = as->to;
    wanted.host_driver = host_driver;
    wanted.gave_up = gave_up;
    proof_marks_add(in, a, &open, &wanted);
    if (as->look)
        node_plan_look_at_node(in, REASON_REMOVING_DRIVER, actions);
    write_marks(in, &wanted, proven ? look->reason : as->reason,
                proven ? look->message : as->message, actions);
    proof_marks_clear(&open);
}

/* Finds the users of a driver before the node is taken out of service for another driver. */
static void look_for_holders(const struct node_input *in, const struct target *t,
                             struct actions *actions)
{
    const char *driver = node_label(&in->view, LABEL_DRIVER);
    bool drains = driver && assignment_drains(node_assigned(&in->view), assignment_ref(&t->runs));
    if (drains && in->holders_new && holders_name_strangers(in->holders, in->pod_list))
        node_plan_look_at_node(in, REASON_HOLDERS, actions);
}

/* An unclaimed node: assigns its revisions, validates it and opens it. */
static void node_plan_serve(const struct node_input *in, struct arena *a, const struct target *t,
                            bool host_driver, const char *gave_up, struct node_verdict *v,
                            struct actions *actions)
{
    struct node_assignment as = node_assign(in, a, t, host_driver && !in->view.node->host_driver);
    struct proving proving;
    if (as.record_missing) {
        verdict_settle(v, NODE_DISCOVERED, REASON_WAITING_FOR_REVISION,
                       "the ControllerRevision of the new version is being written");
        carry_labels(v, in);
        return;
    }
    assignment_copy(&v->carried, as.to);
    node_plan_judge(in, a, &as, t, v);
    prove(in, a, v, actions, &proving);
    inventory_explain(in, a, v);
    judge_startup(in, a, v, actions);
    operands_judge_metrics(in, a, v);
    operands_judge_claims(in, a, v);
    look_for_holders(in, t, actions);
    give(in, a, &as, proving.looked ? &proving.look : NULL, host_driver, gave_up, v, actions);
    if (proving.looked)
        act_on_proof(in, a, &proving.of, &proving.look, v, actions);
    else if (in->view.node->ready)
        proof_clear(in, actions);
}

static void manage(const struct node_input *in, struct arena *a, const struct node_facts *facts,
                   struct node_verdict *v, struct actions *actions)
{
    v->pool = policy_pool_of(in->policy, node_label, &in->view);
    if (!in->may_mark) {
        verdict_settle(v, NODE_DISCOVERED, REASON_WAITING_FOR_FINALIZER,
                       "Ostler has not added its finalizer to the policy yet");
        carry_labels(v, in);
        return;
    }
    /* On a node that is only watched, no operand of Ostler's conflicts with another stack. */
    struct owner owner = { .kind = OWNER_OSTLER };
    if (!in->policy->pools[v->pool].only_watched)
        owner = owner_of_node(in, facts, &in->policy->pools[v->pool], a);
    if (owner.kind == OWNER_OTHERS) {
        mark_only(in, v, NODE_FOREIGN, REASON_FOREIGN_STACK, owner.message, actions);
        proof_clear(in, actions);
        return;
    }
    if (!v->vendor->has_operands) {
        mark_only(in, v, NODE_UNSUPPORTED, REASON_VENDOR_UNSUPPORTED,
                  arena_printf(a,
                               "node %s: Ostler has no driver and no device plugin for GPUs of %s",
                               in->view.node->head.key, v->vendor->name),
                  actions);
        return;
    }
    if (owner.kind == OWNER_NOT_KNOWN) {
        mark_only(in, v, NODE_DISCOVERED, REASON_WAITING_FOR_OTHER_STACK, owner.message, actions);
        actions_requeue(actions, owner.again_ms);
        return;
    }
    bool host_driver = node_host_driver(in, facts);
    struct node_facts known = *facts;
    known.own_toolkit = inventory_has_own_toolkit(in);
    struct target bare;
    const struct target *policy_target = without_image(
        in, targets_for(in->targets, v->pool, &known, host_driver), &bare);
    const struct target *t = upgrade_target(in, policy_target);
    v->target = t->runs;
    v->policy_target = policy_target->runs;
    v->falling_back = t != policy_target;
    struct upgrade up;
    upgrade_step(in, policy_target, a, v, actions, &up);
    if (up.under_way) {
        go_on(in, a, &up, v, actions);
        if (!in->view.node->ready)
            settle_lost(in, a, v, "");
        return;
    }
    node_plan_serve(in, a, t, host_driver, up.gave_up, v, actions);
    if (!in->view.node->ready)
        settle_lost(in, a, v, "");
    else if (v->state == NODE_READY)
        v->ran = v->carried;
}

/* Removes everything of Ostler's: stack and claim, then the toolkit's configuration of the
 * container runtime, then the driver when nothing uses it, then labels and taints. Without a device
 * plugin no GPU pod can start there. So the node needs no taint and delays no other node. */
static void node_plan_release(const struct node_input *in, struct arena *a, struct node_verdict *v,
                              struct actions *actions)
{
    struct removal_step off = toolkit_removal_step(in, a, actions);
    struct marks none = { 0 };
    if (off.done) {
        verdict_settle(v, NODE_UNMANAGED, REASON_NONE, NULL);
        write_marks(in, &none, REASON_RELEASED,
                    "Ostler removes its labels, annotations and taints from the node", actions);
        return;
    }
    if (!in->view.node->ready) {
        settle_lost(in, a, v, "; it is cleaned when it returns");
        carry_labels(v, in);
        return;
    }
    verdict_settle(v, NODE_REMOVING, off.reason, off.message);
    assignment_copy(&v->carried, off.left);
    v->removal = !off.left.hash[TIER_STACK] && off.removal;
    if (v->removal)
        snprintf(v->carried.hash[TIER_STACK], REVISION_HASH_MAX, "%s", off.removal);
    if (off.look)
        node_plan_look_at_node(in, REASON_REMOVING_DRIVER, actions);
    write_patch(in, marks_release_patch(&in->view, off.left, off.removal), off.reason, off.message,
                actions);
}

/* Finds out whether the node has a GPU, and its vendor. */
static void find_gpu(const struct node_input *in, const struct node_facts *facts,
                     struct node_verdict *v)
{
    const struct vendor *detected = detect_gpu(facts);
    v->gpu = !inventory_has_no_gpu(in) &&
             (detected || in->view.node->gpus > 0 || marks_show_gpu(&in->view));
    v->vendor = detected ? detected : &vendors[in->view.node->vendor];
    v->looked_at = v->gpu || detect_looked_at(facts) || in->pods->agent;
}

void node_plan(const struct node_input *in, struct arena *a, struct node_verdict *v,
               struct actions *actions)
{
    *v = (struct node_verdict){ .state = NODE_UNMANAGED, .cause = OPERAND_NONE };
    struct node_facts facts = node_facts(&in->view);
    facts.inventory = in->inventory;
    bool marked = marks_any(&in->view);
    find_gpu(in, &facts, v);
    /* A change of a node that is being removed has no use; its driver serves the pods that are
     * still there. */
    if (in->mode == MODE_HOLD || in->view.node->deleting ||
        (in->mode == MODE_MANAGE && in->view.node->leaving))
        return;
    if (v->gpu && is_ours_to_manage(in))
        manage(in, a, &facts, v, actions);
    else if (marked)
        node_plan_release(in, a, v, actions);
    if (!v->gpu || !is_ours_to_manage(in))
        proof_clear(in, actions);
    images_clean(in, v, actions);
}
