#include "reconcilers/decide/node_plan.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/detect.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/doubt.h"
#include "reconcilers/decide/holders.h"
#include "reconcilers/decide/images.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/node_closing.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/decide/node_steps.h"
#include "reconcilers/decide/proof_marks.h"
#include "reconcilers/decide/owner.h"
#include "reconcilers/decide/repair_end.h"
#include "reconcilers/decide/repair_pod.h"
#include "reconcilers/decide/repair_request.h"
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
static void node_plan_look_at_node(const struct node_pass *p, enum reason reason)
{
    const char *name = p->in->view.node->head.key;
    CLEANUP_FREE char *selector = xasprintf("spec.nodeName=%s," POD_FIELDS, name),
                      *target = xasprintf("node/%s", name);
    action_add(p->actions,
               request_look(RESOURCE_POD, &(struct list_options){ .field_selector = selector }),
               VERB_LOOK, target, reason,
               "lists the node's pods, in case a GPU pod started that the watch has not reported");
}

/* Plans the only write of a pass; takes the patch, NULL: nothing to write. */
static void write_patch(const struct node_pass *p, json_t *patch_steal, enum reason reason,
                        const char *message)
{
    CLEANUP_JSON json_t *patch = patch_steal;
    if (!patch)
        return;
    const char *name = p->in->view.node->head.key;
    CLEANUP_FREE char *target = xasprintf("node/%s", name);
    action_add(p->actions, request_json_patch(RESOURCE_NODE, NULL, name, patch), VERB_MARK, target,
               reason, "%s", message);
}

static const struct policy_pool *pool_of(const struct node_pass *p)
{
    return &p->in->policy->pools[p->v->pool];
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
static struct marks usual_marks(const struct node_pass *p, const json_t *labels)
{
    return (struct marks){ .labels = labels,
                           .taint = taint_of(pool_of(p), p->v->vendor),
                           .off = off_followers(p->in->policy, pool_of(p)),
                           .host_driver = p->in->view.node->host_driver,
                           .claim_taint = p->in->rollout->drain.taint_key };
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

/* Sets everything on the node except operands, for the verdict that is settled. Pods of another
 * stack, present or possible, may not tolerate the taint, so such a node gets it only if the policy
 * says so. */
static void mark_only(const struct node_pass *p)
{
    CLEANUP_JSON json_t *labels = wanted_labels(p->in, p->v);
    struct marks wanted = usual_marks(p, labels);
    if (p->v->state != NODE_UNSUPPORTED && !pool_of(p)->taint.foreign)
        wanted.taint.enabled = false;
    write_patch(p, marks_patch(&p->in->view, &wanted), p->v->reason, p->v->message);
}

/* Leaves the node unchanged in this pass. */
static void carry_labels(const struct node_pass *p)
{
    assignment_copy(&p->v->carried, node_assigned(&p->in->view));
}

static void settle_lost(const struct node_pass *p, const char *prospect)
{
    verdict_set(p, NODE_LOST, REASON_NODE_NOT_READY, "node %s is down%s",
                p->in->view.node->head.key, prospect);
    p->v->cause = OPERAND_NONE;
    p->v->pod = NULL;
}

/* Evicts or deletes pods. */
static void send_away(const struct node_pass *p, const struct upgrade *up)
{
    if (up->send == SEND_EVICT && p->in->ask_in_ms > 0)
        actions_requeue(p->actions, p->in->ask_in_ms);
    else if (up->send == SEND_EVICT)
        drain_evict(&up->drain, up->drain.of[DRAIN_GOING] == 0, p->actions);
    else if (up->send == SEND_DELETE)
        drain_delete(&up->drain, p->actions);
}

/* What a repair changes of the node's record and taint of a fault (node_closing.h), which otherwise
 * stay while the node is claimed: an attempt begins, or the fault is over. */
static void mark_repair(const struct node_pass *p, const struct upgrade *up, struct marks *wanted)
{
    struct fault_record record;
    fault_record_parse(wanted->fault, &record);
    if (up->untries)
        fault_record_untry(&record, up->tried, up->untried_s);
    if (up->tries)
        fault_record_try(&record, up->tried, p->in->now_s);
    if (up->heals) {
        fault_record_end(&record, p->in->now_s);
        wanted->unhealthy = p->v->unhealthy = false;
        p->v->repair = REPAIR_NOTHING;
    }
    if (!up->tries && !up->untries && !up->heals)
        return;
    CLEANUP_FREE char *text = fault_record_text(&record);
    wanted->fault = text ? arena_strdup(p->a, text) : NULL;
}

/* The pods of a repair: they go with their phase. */
static void act_on_repair(const struct node_pass *p, const struct upgrade *up)
{
    bool under_way = up->claimed &&
                     (up->claim.phase == CLAIM_RESETTING || up->claim.phase == CLAIM_REBOOTING);
    repair_pods_clear(p, under_way && !up->drops_pod ? &up->claim : NULL, up->job);
    if (up->makes_pod)
        repair_pod_make(p, up->job, &up->claim);
}

/* A node with its driver and without a stack, because its first toolkit comes in turn. */
static void judge_turn(const struct node_pass *p, const struct node_assignment *as)
{
    const char *pool = pool_of(p)->name, *by = p->in->toolkit_stopped_by;
    p->v->first = !as->first ? FIRST_NONE : p->v->state == NODE_READY ? FIRST_TURN : FIRST_LATER;
    if (p->v->first != FIRST_TURN)
        return;
    p->v->cause = OPERAND_TOOLKIT;
    if (by)
        verdict_set(p, NODE_INSTALLING, REASON_TOOLKIT_STOPPED,
                    "the toolkit does not come up on node %s, one of the first of pool %s that got "
                    "it, so no other node gets it: repair that node, change the policy, or take "
                    "the node out with the label " LABEL_MANAGED "=false",
                    by, pool);
    else
        verdict_set(p, NODE_INSTALLING, REASON_WAITING_FOR_TOOLKIT,
                    "the toolkit restarts the container runtime, so Ostler installs it in pool %s "
                    "in steps: each time on one node more than it works on",
                    pool);
}

/* The verdict of an unclaimed node by its operands alone. */
static void node_plan_judge(const struct node_pass *p, const struct node_assignment *as,
                            const struct target *t)
{
    operands_list(p->in, p->v);
    if (as->waiting) {
        verdict_settle(p->v, NODE_INSTALLING, as->reason, as->message);
        p->v->cause = OPERAND_DRIVER;
    } else if (!*p->v->carried.hash[TIER_STACK] && t->reason) {
        verdict_set(p, NODE_UNSUPPORTED, t->reason, "node %s: %s", p->in->view.node->head.key,
                    t->problem);
    } else {
        operands_judge(p);
        judge_turn(p, as);
    }
}

/* The validation of a node whose operands are up. Pods that run on the GPUs of a node in service
 * show that these work. */
struct proving {
    bool looked;
    struct proof_case of;
    struct proof_look look;
};

static void look_at_proof(const struct node_pass *p, const struct node_closing *closing,
                          struct proving *ret)
{
    struct proof before = { 0 };
    proof_of_node(&p->in->view, &before);
    ret->looked = true;
    ret->of = (struct proof_case){ .of = assignment_ref(&p->v->carried),
                                   .gpus_before = before.gpus,
                                   .needs_all = closing->out.proves,
                                   .nothing_ours = operands_only_watch(p->v) };
    ret->of.may_count = !closing->out.proves &&
                        !marks_have_taint(&p->in->view, p->in->policy->validation.taint.key);
    doubt_look(p, &ret->of, &ret->look);
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

static void prove(const struct node_pass *p, const struct node_closing *closing,
                  struct proving *ret)
{
    const struct node_input *in = p->in;
    if (p->v->state != NODE_READY || !*p->v->carried.hash[TIER_STACK] || !in->view.node->ready)
        return;
    if (operands_offer_gpus(in, p->v)) {
        look_at_proof(p, closing, ret);
        judge_proof(&ret->look, p->v);
    } else if (in->policy->validation.enabled) {
        verdict_settle(p->v, NODE_VALIDATING, REASON_NO_ALLOCATABLE_GPUS,
                       "every operand is up; the kubelet reports no allocatable GPUs yet");
    }
}

/* Whether the claim leaves the node in service, because its drain timed out: faults close and open
 * it as without a claim. */
static bool is_in_service(const struct upgrade *up)
{
    return up->claimed && !claim_closes(&up->claim);
}

/* Whether the claim goes, and nothing has shown that a fault is over. */
static bool goes_free(const struct upgrade *up)
{
    return !up->claimed && !up->heals;
}

/* The validation of the claim, or that of a fault. The write that releases a node also closes it if
 * its GPUs have a fault, so that it is not open in between. It also ends a fault that needs no
 * repair any longer, so that none is asked for. */
static void prove_claimed(const struct node_pass *p, const struct upgrade *up,
                          struct node_closing *closing, struct proving *ret)
{
    if (!is_in_service(up))
        *ret = (struct proving){ .looked = up->proving, .of = up->proves, .look = up->proof };
    if (goes_free(up)) {
        node_closing_free(p, ret->looked ? &ret->look : NULL, closing);
    } else if (!is_in_service(up)) {
        node_closing_leave(p, closing);
    } else if (closing->out.proves) {
        prove(p, closing, ret);
        node_closing_look(p, ret->looked ? &ret->look : NULL, closing);
    }
}

/* What the write of a claimed node is about, and what it makes of the fault of one that it
 * releases. */
static const char *message_of(const struct node_pass *p, const struct upgrade *up,
                              const struct node_closing *closing)
{
    const char *message = str_or_empty(up->message);
    return !goes_free(up) || !closing->out.reason
               ? message
               : arena_printf(p->a, "%s; %s", message, closing->out.message);
}

/* The write of a claimed node. */
static void write_claimed(const struct node_pass *p, const struct upgrade *up,
                          const struct proof_look *look, const struct node_closing *closing)
{
    CLEANUP_JSON json_t *labels = wanted_labels(p->in, p->v);
    struct marks wanted = usual_marks(p, labels);
    bool outdates = closing->out.outdates, changing = up->claimed && claim_is_changing(&up->claim),
         fault = closing->out.reason && (is_in_service(up) || !up->reason);
    struct proof_marks open = { .look = outdates ? NULL : look, .changing = changing || outdates };
    wanted.assigned = up->assigned;
    wanted.default_runtime = operands_on_default_runtime(p, up->assigned);
    wanted.claim = up->claimed ? &up->claim : NULL;
    wanted.asked = up->asks_again ? &up->claim : NULL;
    wanted.gave_up = up->gave_up;
    proof_marks_add(p, &open, &wanted);
    node_closing_mark(p, closing, &wanted);
    mark_repair(p, up, &wanted);
    if (up->look || up->look_for_holders)
        node_plan_look_at_node(p, up->look ? up->look_reason : REASON_HOLDERS);
    if (up->looks_for_pod)
        repair_pod_look_for(p, up->job);
    write_patch(p, marks_patch(&p->in->view, &wanted),
                fault        ? closing->out.reason
                : up->reason ? up->reason
                             : REASON_UPGRADE,
                fault ? str_or_empty(closing->out.message) : message_of(p, up, closing));
    proof_marks_clear(&open);
}

/* A claimed node, or one whose claim a user removed. */
static void go_on(const struct node_pass *p, const struct upgrade *up, struct node_closing *closing)
{
    struct proving proving = { 0 };
    if (up->untouched)
        return;
    prove_claimed(p, up, closing, &proving);
    const struct proof_look *look = proving.looked ? &proving.look : NULL;
    write_claimed(p, up, look, closing);
    if (look)
        proof_act(p, &proving.of, look);
    else if (!up->claimed || up->claim.phase != CLAIM_FAILED) /* its termination message is kept */
        proof_clear(p);
    act_on_repair(p, up);
    send_away(p, up);
    if (is_in_service(up) || goes_free(up))
        node_closing_judge(p, look, closing);
}

/* A new node that stays closed for too long has failed, whatever it waits for. It opens if its
 * validation succeeds later. */
static void judge_startup(const struct node_pass *p)
{
    struct node_verdict *v = p->v;
    if ((v->state != NODE_INSTALLING || v->first == FIRST_TURN) && v->state != NODE_VALIDATING)
        return;
    if (startup_taint_is_overdue(p))
        verdict_set(p, NODE_FAILED, REASON_STARTUP_TIMEOUT,
                    "nodes.startupTaint.timeout is over, and the node keeps its startup taint: %s",
                    v->message);
    const char *open = startup_taint_missing_why(p);
    if (open)
        v->message = v->message ? arena_printf(p->a, "%s; %s", v->message, open) : open;
}

/* What the write of an unclaimed node is about, and why: the fault of its GPUs comes first. */
static void settle_write(const struct node_assignment *as, const struct proof_look *look,
                         const struct node_closing *closing, enum reason *ret_reason,
                         const char **ret_message)
{
    bool proven = look && (look->result == PROOF_PASSES || look->voids),
         fault = closing->out.reason;
    *ret_reason = fault ? closing->out.reason : proven ? look->reason : as->reason;
    *ret_message = fault ? closing->out.message : proven ? look->message : as->message;
}

/* The write of an unclaimed node: its assignment and everything else that it should have. */
static void give(const struct node_pass *p, const struct node_assignment *as,
                 const struct proof_look *look, const struct node_closing *closing,
                 bool host_driver, const char *gave_up)
{
    CLEANUP_JSON json_t *labels = wanted_labels(p->in, p->v);
    struct marks wanted = usual_marks(p, labels);
    bool outdates = closing->out.outdates;
    struct proof_marks open = { .look = outdates ? NULL : look, .changing = outdates };
    enum reason reason;
    const char *message;
    wanted.assigned = as->to;
    wanted.default_runtime = operands_on_default_runtime(p, as->to);
    wanted.host_driver = host_driver;
    wanted.gave_up = gave_up;
    proof_marks_add(p, &open, &wanted);
    node_closing_mark(p, closing, &wanted);
    if (as->look)
        node_plan_look_at_node(p, REASON_REMOVING_DRIVER);
    settle_write(as, look, closing, &reason, &message);
    write_patch(p, marks_patch(&p->in->view, &wanted), reason, message);
    proof_marks_clear(&open);
}

/* Finds the users of a driver before the node is taken out of service for another driver. */
static void look_for_holders(const struct node_pass *p, const struct target *t)
{
    const struct node_input *in = p->in;
    const char *driver = node_label(&in->view, LABEL_DRIVER);
    bool drains = driver && assignment_drains(node_assigned(&in->view), assignment_ref(&t->runs));
    if (drains && in->holders_new && holders_name_strangers(in->holders, in->pod_list))
        node_plan_look_at_node(p, REASON_HOLDERS);
}

/* An unclaimed node: assigns its revisions, validates it, and closes or opens it. */
static void node_plan_serve(const struct node_pass *p, const struct target *t,
                            struct node_closing *closing, bool host_driver, const char *gave_up)
{
    struct node_assignment as = node_assign(p, t, host_driver && !p->in->view.node->host_driver);
    struct proving proving = { 0 };
    if (as.record_missing) {
        verdict_settle(p->v, NODE_DISCOVERED, REASON_WAITING_FOR_REVISION,
                       "the ControllerRevision of the new version is being written");
        carry_labels(p);
        operands_list(p->in, p->v); /* an operand that is not up must not count as up */
        return;
    }
    assignment_copy(&p->v->carried, as.to);
    node_plan_judge(p, &as, t);
    prove(p, closing, &proving);
    const struct proof_look *look = proving.looked ? &proving.look : NULL;
    node_closing_look(p, look, closing);
    inventory_explain(p);
    judge_startup(p);
    operands_judge_metrics(p);
    operands_judge_nvml(p);
    operands_judge_others(p);
    look_for_holders(p, t);
    if (p->v->state == NODE_READY && p->in->view.node->ready)
        p->v->ran = p->v->carried;
    give(p, &as, look, closing, host_driver, gave_up);
    if (look)
        proof_act(p, &proving.of, &proving.look);
    else if (p->in->view.node->ready)
        proof_clear(p);
    repair_pods_clear(p, NULL, REPAIR_JOB_RESET);
    node_closing_judge(p, look, closing);
}

/* Brings a node of Ostler's to its target. */
static void node_plan_move(const struct node_pass *p, const struct node_facts *facts)
{
    const struct node_input *in = p->in;
    struct node_verdict *v = p->v;
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
    struct node_closing closing;
    node_closing_begin(p, &closing);
    v->repair_stays = in->view.node->claim && node_closing_would_repair(p, &closing);
    struct upgrade up;
    upgrade_step(p, policy_target, &up);
    v->repaired = repair_end_of(in, &up);
    if (up.under_way)
        go_on(p, &up, &closing);
    else
        node_plan_serve(p, t, &closing, host_driver, up.gave_up);
    v->refusal = repair_request_refusal(p);
    if (!in->view.node->ready && v->state != NODE_REBOOTING)
        settle_lost(p, "");
}

static void manage(const struct node_pass *p, const struct node_facts *facts)
{
    const struct vendor *vendor = p->v->vendor;
    p->v->pool = policy_pool_of(p->in->policy, node_label, &p->in->view);
    if (!p->in->may_mark) {
        verdict_settle(p->v, NODE_DISCOVERED, REASON_WAITING_FOR_FINALIZER,
                       "Ostler has not added its finalizer to the policy yet");
        carry_labels(p);
        return;
    }
    struct owner owner = owner_of_node(p, facts);
    if (owner.kind == OWNER_OTHERS) {
        verdict_settle(p->v, NODE_FOREIGN, REASON_FOREIGN_STACK, owner.message);
        mark_only(p);
        proof_clear(p);
    } else if (!vendor->has_operands) {
        verdict_set(p, NODE_UNSUPPORTED, REASON_VENDOR_UNSUPPORTED,
                    "node %s: Ostler has no driver and no device plugin for GPUs of %s",
                    p->in->view.node->head.key, vendor->name);
        mark_only(p);
    } else if (owner.kind == OWNER_NOT_KNOWN) {
        verdict_settle(p->v, NODE_DISCOVERED, REASON_WAITING_FOR_OTHER_STACK, owner.message);
        mark_only(p);
        actions_requeue(p->actions, owner.again_ms);
    } else {
        node_plan_move(p, facts);
    }
}

/* Removes everything of Ostler's: stack and claim, then the toolkit's configuration of the
 * container runtime, then the driver when nothing uses it, then labels and taints. Without a device
 * plugin no GPU pod can start there. So the node needs no taint and delays no other node. */
static void node_plan_release(const struct node_pass *p)
{
    const struct node_view *view = &p->in->view;
    struct removal_step off = toolkit_removal_step(p);
    if (off.done) {
        verdict_settle(p->v, NODE_UNMANAGED, REASON_NONE, NULL);
        write_patch(p, marks_patch(view, &(struct marks){ 0 }), REASON_RELEASED,
                    "Ostler removes its labels, annotations and taints from the node");
        return;
    }
    if (!view->node->ready) {
        settle_lost(p, "; it is cleaned when it returns");
        carry_labels(p);
        return;
    }
    verdict_settle(p->v, NODE_REMOVING, off.reason, off.message);
    p->v->removal = !off.left.hash[TIER_STACK] && off.removal;
    if (off.look)
        node_plan_look_at_node(p, REASON_REMOVING_DRIVER);
    write_patch(p, marks_release_patch(view, off.left, off.removal), off.reason, off.message);
    if (p->v->removal)
        off.left.hash[TIER_STACK] = off.removal;
    assignment_copy(&p->v->carried, off.left);
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
    const struct node_pass pass = { in, a, v, actions };
    *v = (struct node_verdict){ .state = NODE_UNMANAGED,
                                .cause = OPERAND_NONE,
                                .repair_first = REPAIR_KINDS };
    struct node_facts facts = node_facts(&in->view);
    facts.inventory = in->inventory;
    bool marked = marks_any(&in->view);
    find_gpu(in, &facts, v);
    /* A change of a node that is being removed has no use; its driver serves the pods that are
     * still there. */
    if (in->mode == MODE_HOLD || in->view.node->deleting ||
        (in->mode == MODE_MANAGE && in->view.node->leaving))
        return;
    bool ours = v->gpu && is_ours_to_manage(in);
    if (ours)
        manage(&pass, &facts);
    else if (marked)
        node_plan_release(&pass);
    if (!ours) {
        proof_clear(&pass);
        repair_pods_clear(&pass, NULL, REPAIR_JOB_RESET);
    }
    images_clean(&pass);
}
