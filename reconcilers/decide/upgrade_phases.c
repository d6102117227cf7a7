#include "reconcilers/decide/upgrade_phases.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/holders.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/decide/repair_over.h"
#include "reconcilers/decide/repair_phases.h"
#include "reconcilers/decide/repair_reboot.h"
#include "reconcilers/decide/repair_return.h"

/* ---- shared parts */

const char *upgrade_pass_now(const struct upgrade_pass *s, enum tier tier)
{
    return str_or_empty(node_label(&s->p->in->view, tiers[tier].label));
}

/* Finds what still uses the driver, and what else must leave before what comes `next` on a node
 * that is repaired. Requests a requeue for the end of the wait for jobs. */
static void look_at_pods(const struct upgrade_pass *s, enum repair_kind next)
{
    int64_t left;
    const struct node_input *in = s->p->in;
    const struct claim *c = &s->out->claim;
    const struct drain_spec spec = drain_of_claim(&in->rollout->drain, in->health_spec, c, next);
    const struct drain_input look = { .pods = in->pod_list,
                                      .node_uid = RECORD_UID(&in->view.node->head),
                                      .strings = in->view.strings,
                                      .spec = &spec,
                                      .jobs_may_go = drain_jobs_may_go(&spec, c->claimed_s,
                                                                       in->now_s, &left),
                                      .closed_s = drain_closed_s(c),
                                      .now_s = in->now_s,
                                      .holders = in->holders };
    s->out->look_for_holders = in->holders_new && holders_name_strangers(in->holders, in->pod_list);
    if (left > 0)
        actions_requeue(s->p->actions, left * 1000);
    drain_look(&look, s->p->a, &s->out->drain);
    s->out->drain.reboots = spec.mode != in->rollout->drain.mode;
    if (s->out->drain.again_s)
        actions_requeue(s->p->actions, s->out->drain.again_s * 1000);
}

/* Whether the phase has lasted too long. */
static bool is_overdue(const struct upgrade_pass *s, int64_t timeout_s)
{
    return deadline_is_over(s->p, s->out->claim.since_s, timeout_s, false);
}

/* ---- actions */

void upgrade_pass_assign(struct upgrade_pass *s, struct assignment_ref to)
{
    s->out->assigned = to;
    assignment_copy(&s->p->v->carried, to);
    s->p->v->wanted = s->p->v->up = 0;
    if (!*s->p->v->carried.hash[TIER_STACK])
        claim_stack_leaves(&s->out->claim, upgrade_pass_now(s, TIER_STACK));
    operands_list(s->p->in, s->p->v);
}

void upgrade_pass_assign_unchanged(struct upgrade_pass *s)
{
    upgrade_pass_assign(s, node_assigned(&s->p->in->view));
}

/* Whether an earlier attempt installed the new driver, which did not come up. */
static bool was_tried(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    return c->attempt > 1 && claim_drains(c) &&
           str_eq(upgrade_pass_now(s, TIER_DRIVER), c->to.hash[TIER_DRIVER]);
}

/* Until it is drained the node keeps what it ran before, or what an earlier attempt installed. */
void upgrade_pass_assign_as_it_was(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    upgrade_pass_assign(s, assignment_ref(was_tried(s) ? &c->to : &c->from));
}

/* The node's timeout starts again with each request; the time before the request does not count. */
static void upgrade_phases_ask(struct upgrade_pass *s, struct assignment_ref to)
{
    upgrade_pass_assign(s, to);
    s->out->claim.since_s = s->p->in->now_s;
}

void upgrade_pass_describe(struct upgrade_pass *s, enum reason reason, const char *message)
{
    s->out->reason = reason;
    s->out->message = message;
}

void upgrade_pass_enter(struct upgrade_pass *s, enum claim_phase phase, enum reason reason,
                        const char *message)
{
    assert(claim_step_exists(s->out->claim.phase, phase));
    s->out->claim.phase = phase;
    s->out->claim.since_s = s->p->in->now_s;
    *s->out->claim.reason = '\0';
    upgrade_pass_describe(s, reason, message);
}

void upgrade_pass_release(struct upgrade_pass *s, enum reason reason, const char *message)
{
    s->out->claimed = false;
    upgrade_pass_describe(s, reason, message);
}

void upgrade_pass_fail(struct upgrade_pass *s, const char *why, const char *fmt, ...)
{
    char *reason = s->out->claim.reason;
    size_t n = 0;
    va_list ap;
    va_start(ap, fmt);
    upgrade_pass_enter(s, CLAIM_FAILED, claim_kinds[s->out->claim.kind].failed,
                       arena_vprintf(s->p->a, fmt, ap));
    va_end(ap);
    *s->out->claim.called_off = '\0';
    for (const char *c = why; *c && n < CLAIM_REASON_MAX - 1; c++)
        if (isalnum((unsigned char) *c))
            reason[n++] = *c;
    reason[n] = '\0';
    if (n == 0)
        snprintf(reason, CLAIM_REASON_MAX, "%s", reason_text(REASON_UNKNOWN));
}

/* All operands that the node should have are up, and the kubelet offers GPUs. */
static bool works(const struct upgrade_pass *s)
{
    return *s->p->v->carried.hash[TIER_STACK] && !operands_missing(s->p->v) &&
           operands_offer_gpus(s->p->in, s->p->v);
}

/* The title of what the claim changes in one tier, with its hash if the old one has the same
 * title. */
static const char *tier_that_comes(const struct upgrade_pass *s, enum tier tier)
{
    const char *hash = s->out->claim.to.hash[tier], *from = s->out->claim.from.hash[tier];
    const json_t *inputs = operands_inputs(s->p->in, tier, hash),
                 *before = operands_inputs(s->p->in, tier, from);
    bool namesake = *from && !str_eq(hash, from) &&
                    revision_same_title(inputs, before, tiers[tier].name);
    return revision_name(s->p->a, inputs, tiers[tier].name, hash, namesake);
}

/* "driver 580.178.04, toolkit 1.18.0 and device plugin 0.18.0" */
static const char *what_comes(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    const char *text = *c->to.hash[TIER_DRIVER] ? tier_that_comes(s, TIER_DRIVER)
                                                : "the host's own driver";
    for (enum tier t = TIER_DRIVER + 1; t < TIERS; t++)
        if (*c->to.hash[t])
            text = arena_printf(s->p->a, "%s, %s", text, tier_that_comes(s, t));
    return text;
}

/* ---- phases */

static void step_waiting(struct upgrade_pass *s)
{
    upgrade_pass_assign_as_it_was(s);
    look_at_pods(s, s->p->v->repair_first);
    if (repair_ends(s) || repair_yields(s))
        return;
    upgrade_pass_describe(s, REASON_WAITING_FOR_JOBS,
                          s->out->drain.message
                              ? s->out->drain.message
                              : "its jobs have ended: it waits for a slot in the rollout");
}

/* Whether the node returns to Waiting. A job may run for weeks, and this phase holds a slot of
 * maxParallel. If other pods must leave too, their timeout runs: drain.timeout then ends the drain,
 * and repeated jobs do not delay it. Only pods that the scheduler bound before it saw the taint
 * count as older than the claim. */
static bool jobs_have_come(const struct upgrade_pass *s)
{
    const struct drain *d = &s->out->drain;
    bool new = s->p->in->now_s - s->out->claim.since_s <= SCHEDULER_BEHIND_S;
    return new ? drain_is_stuck_by_jobs(d) : drain_waits_for_jobs_alone(d);
}

/* Whether there are pods to delete. None is deleted that only has to leave before a reboot. */
static bool may_delete(const struct upgrade_pass *s)
{
    const struct drain *d = &s->out->drain;
    if (s->p->in->rollout->drain.on_timeout != DRAIN_DELETE || d->stuck)
        return false;
    if (d->reboots)
        look_at_pods(s, REPAIR_KINDS);
    return !drain_is_done(d);
}

/* Evicts pods until the timeout. Deletes none while a pod would stay, because that would gain
 * nothing. */
static void send_pods_away(struct upgrade_pass *s)
{
    const char *refused = s->p->in->refused, *message = s->out->drain.message;
    upgrade_pass_describe(s, REASON_DRAINING,
                          refused ? arena_printf(s->p->a, "%s; refused for %s", message, refused)
                                  : message);
    s->out->send = SEND_EVICT;
    if (!is_overdue(s, s->p->in->rollout->drain.timeout_s))
        return;
    if (may_delete(s)) {
        s->out->send = SEND_DELETE;
        return;
    }
    s->out->send = SEND_NONE;
    if (was_tried(s))
        upgrade_pass_fail(
            s, reason_text(REASON_PODS_NOT_EVICTED),
            "drain.timeout is over, and the driver that did not come up cannot be removed; %s",
            s->out->message);
    else
        upgrade_pass_fail(s, reason_text(REASON_DRAIN_TIMEOUT),
                          "drain.timeout is over: the node returns to service unchanged; %s",
                          s->out->message);
}

static void step_draining(struct upgrade_pass *s)
{
    upgrade_pass_assign_as_it_was(s);
    look_at_pods(s, s->p->v->repair_first);
    if (repair_ends(s) || repair_yields(s))
        return;
    if (jobs_have_come(s)) {
        upgrade_pass_enter(s, CLAIM_WAITING, REASON_JOB_ARRIVED, s->out->drain.message);
        return;
    }
    if (!s->p->in->view.node->ready)
        return;
    if (!drain_is_done(&s->out->drain)) {
        send_pods_away(s);
        return;
    }
    upgrade_pass_enter(
        s, CLAIM_UNLOADING, REASON_DRAINED,
        "no GPU pod is left on the node: Ostler removes toolkit, device plugin and exporter");
    upgrade_pass_assign(s, assignment_before(s->out->assigned, TIER_STACK));
}

/* A different driver, or the right one that did not come up last time: a retry removes and
 * reinstalls it. If only the stack changes, no pod must leave for that. */
static bool driver_must_go(const struct upgrade_pass *s)
{
    const char *driver = upgrade_pass_now(s, TIER_DRIVER);
    const struct operand_pod *pod = &s->p->in->pods->of[OPERAND_DRIVER];
    bool tried = s->out->claim.attempt > 1 && pod->present && !pod->ready;
    if (*driver && repair_takes_driver(s))
        return true;
    bool may_be_tried = claim_drains(&s->out->claim) || !s->p->in->pods->gpu_pods;
    return *driver &&
           (!str_eq(driver, s->out->claim.to.hash[TIER_DRIVER]) || (tried && may_be_tried));
}

static bool driver_is_leaving(const struct upgrade_pass *s)
{
    const struct operand_pod *pod = &s->p->in->pods->of[OPERAND_DRIVER];
    bool off = !*upgrade_pass_now(s, TIER_DRIVER);
    return pod->present && !s->p->in->pods->host_driver &&
           (off || !str_eq(pod->revision, s->out->claim.to.hash[TIER_DRIVER]));
}

static bool driver_is_up(const struct upgrade_pass *s)
{
    const struct operand_pod *pod = &s->p->in->pods->of[OPERAND_DRIVER];
    const char *driver = s->out->claim.to.hash[TIER_DRIVER];
    return !*driver || (pod->ready && str_eq(pod->revision, driver));
}

/* If the removed device plugin was Ostler's, no kubelet has admitted a GPU pod since. With another
 * one a kubelet may still do so for a while after the claim. */
static bool pods_may_still_come(const struct upgrade_pass *s)
{
    const json_t *stack = s->p->in->record(s->p->in->arg, TIER_STACK,
                                           s->out->claim.from.hash[TIER_STACK]);
    int64_t closed_s = s->p->in->now_s - s->out->claim.claimed_s;
    if (json_bool(stack, "devicePlugin.enabled", false) || closed_s >= SCHEDULER_BEHIND_S)
        return false;
    actions_requeue(s->p->actions, (SCHEDULER_BEHIND_S - closed_s) * 1000);
    return true;
}

/* An agent that still names pods that are gone has not scanned since: processes on the host may
 * have a GPU open by now. Ostler waits for it, but not for long. */
static bool holders_are_old(const struct upgrade_pass *s)
{
    int64_t lasted_s = s->p->in->now_s - s->out->claim.since_s;
    if (!holders_name_strangers(s->p->in->holders, s->p->in->pod_list) ||
        lasted_s >= HOLDERS_BEHIND_S)
        return false;
    actions_requeue(s->p->actions, (HOLDERS_BEHIND_S - lasted_s) * 1000);
    return true;
}

/* Whether no GPU pod is left, and none comes. If one is there, the node is drained again. */
static bool is_last_look_clean(struct upgrade_pass *s)
{
    look_at_pods(s, REPAIR_KINDS);
    if (!drain_is_done(&s->out->drain)) {
        upgrade_pass_enter(s, CLAIM_DRAINING, REASON_GPU_POD_ARRIVED,
                           arena_printf(s->p->a, "a GPU %s meanwhile: the node %s",
                                        s->out->drain.waiting ? "pod started" : "was opened",
                                        s->out->drain.message));
        upgrade_pass_assign_as_it_was(s);
        return false;
    }
    if (pods_may_still_come(s)) {
        upgrade_pass_describe(s, REASON_UNLOADING,
                              "toolkit and device plugin are gone; a GPU pod that was bound before "
                              "the taint may still start");
        return false;
    }
    if (holders_are_old(s)) {
        upgrade_pass_describe(
            s, REASON_UNLOADING,
            "toolkit and device plugin are gone; Ostler waits for the agent's next "
            "scan of the processes that have a GPU open");
        return false;
    }
    return true;
}

/* A pod that the watch has not delivered yet may have been admitted before the device plugin left;
 * none is admitted afterwards. So Ostler lists the pods once, after the stack is gone, and sends
 * the write only if the list has no unknown pod. */
static void look_before(struct upgrade_pass *s, enum reason reason)
{
    s->out->look = true;
    s->out->look_reason = reason;
}

static void take_driver_off(struct upgrade_pass *s)
{
    if (!is_last_look_clean(s))
        return;
    upgrade_phases_ask(s, assignment_before(s->out->assigned, TIER_DRIVER));
    look_before(s, REASON_REMOVING_DRIVER);
    upgrade_pass_describe(
        s, REASON_REMOVING_DRIVER,
        "toolkit and device plugin are gone and no GPU pod runs: Ostler removes the driver");
}

/* A reboot kills every pod of the node. kured drains it first. */
bool upgrade_pass_is_empty(struct upgrade_pass *s)
{
    const char *refused = s->p->in->refused;
    if (s->out->claim.phase == CLAIM_UNLOADING && !is_last_look_clean(s))
        return false;
    look_at_pods(s, REPAIR_REBOOT);
    if (drain_is_done(&s->out->drain)) {
        look_before(s, REASON_REBOOTING);
        return true;
    }
    s->out->drain.reboots = true;
    s->out->send = s->p->in->view.node->ready ? SEND_EVICT : SEND_NONE;
    upgrade_pass_describe(s, REASON_DRAINING,
                          arena_printf(s->p->a, "before its reboot the node %s%s%s",
                                       s->out->drain.message, refused ? "; refused for " : "",
                                       str_or_empty(refused)));
    return false;
}

static void wait_for_pods(struct upgrade_pass *s, enum reason reason, const char *message)
{
    if (!is_overdue(s, s->p->in->rollout->install_timeout_s)) {
        upgrade_pass_describe(s, reason, message);
    } else if (!repair_reboots_over(s, message)) {
        upgrade_pass_fail(s, reason_text(reason), "timeouts.install is over: %s", message);
        repair_counts_hang(s);
    }
}

static void step_unloading(struct upgrade_pass *s)
{
    upgrade_pass_assign(s, assignment_before(node_assigned(&s->p->in->view), TIER_STACK));
    if (operands_present(s->p->in->pods, operands_with_stack()) || s->p->in->pods->proof) {
        wait_for_pods(s, REASON_STACK_NOT_REMOVED,
                      "pods of toolkit, device plugin or exporter are still on the node");
    } else if (driver_must_go(s)) {
        take_driver_off(s);
    } else if (driver_is_leaving(s)) {
        wait_for_pods(s, REASON_DRIVER_NOT_REMOVED, "the driver pod is still on the node");
    } else if (!repair_begins(s)) {
        upgrade_pass_install(
            s, REASON_UNLOADED,
            arena_printf(s->p->a, "the old version is removed, Ostler installs the new one: %s",
                         what_comes(s)));
    }
}

/* An upgrade that has changed nothing but labels may switch to another target. Otherwise only the
 * time ends the wait: of what the node ran before, the record may be lost. */
static void wait_for_record(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    bool may_turn = c->phase == CLAIM_UNLOADING && !claim_kinds[c->kind].repairs;
    const char *why = "the ControllerRevision of the new version is being written";
    if (!may_turn && is_overdue(s, s->p->in->rollout->install_timeout_s))
        upgrade_pass_fail(s, reason_text(claim_kinds[c->kind].failed),
                          "timeouts.install is over: the ControllerRevision of what the node is to "
                          "run is missing");
    else
        upgrade_pass_describe(s, REASON_WAITING_FOR_REVISION, why);
}

void upgrade_pass_install(struct upgrade_pass *s, enum reason reason, const char *message)
{
    const struct claim *c = &s->out->claim;
    const struct assignment_ref to = assignment_ref(&c->to);
    if (!operands_recorded(s->p->in, to)) {
        wait_for_record(s);
        return;
    }
    upgrade_pass_enter(s, CLAIM_INSTALLING, reason, message);
    upgrade_pass_assign(s, assignment_before(to, driver_is_up(s) ? TIERS : TIER_STACK));
}

/* All operands that the node should have are up: whether a GPU works too. If this change evicted no
 * pods, the present ones count. */
static bool is_proven(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    bool drains = claim_drains(c),
         same_stack = str_eq(c->from.hash[TIER_STACK], c->to.hash[TIER_STACK]);
    s->out->proving = true;
    s->out->proves = (struct proof_case){ .of = assignment_ref(&s->p->v->carried),
                                          .may_count = !drains,
                                          .gpus_before = c->gpus,
                                          .nothing_ours = operands_only_watch(s->p->v),
                                          .needs_all = drains && same_stack };
    proof_look(s->p, &s->out->proves, &s->out->proof);
    return proof_is_done(&s->out->proof);
}

bool upgrade_pass_works(struct upgrade_pass *s)
{
    return works(s) && is_proven(s);
}

/* A validation that ended badly fails at once. One that waits for something other than the node has
 * no deadline. */
static void wait_for_proof(struct upgrade_pass *s)
{
    const struct proof_look *look = &s->out->proof;
    if (look->result == PROOF_FAILS)
        upgrade_pass_fail(s, reason_text(look->reason), "%s", look->message);
    else if (look->timed && deadline_is_over(s->p, s->out->claim.since_s,
                                             s->p->in->rollout->validation_timeout_s, true))
        upgrade_pass_fail(s, reason_text(REASON_VALIDATION_FAILED),
                          "timeouts.validation is over: %s", look->message);
    else
        upgrade_pass_describe(s, look->reason, look->message);
}

static void step_validating(struct upgrade_pass *s)
{
    upgrade_pass_assign(s, assignment_ref(&s->out->claim.to));
    if (repair_ends_called_off(s))
        return;
    if (upgrade_pass_works(s)) {
        const char *proof = s->out->proof.message
                                ? arena_printf(s->p->a, ": %s", s->out->proof.message)
                                : ", and can allocate GPUs";
        if (repair_is_done(s))
            upgrade_pass_release(s, claim_kinds[s->out->claim.kind].done,
                                 arena_printf(s->p->a, "the node runs %s%s", what_comes(s), proof));
        return;
    }
    if (s->out->proving) {
        wait_for_proof(s);
        return;
    }
    const char *message = "every operand is up; the kubelet reports no allocatable GPUs yet";
    if (operands_missing(s->p->v)) {
        operands_judge(s->p);
        message = s->p->v->message;
    }
    if (is_overdue(s, s->p->in->rollout->validation_timeout_s))
        upgrade_pass_fail(s,
                          operands_missing(s->p->v) ? verdict_word(s->p->v)
                                                    : reason_text(REASON_NO_ALLOCATABLE_GPUS),
                          "timeouts.validation is over: %s", message);
    else
        upgrade_pass_describe(s, REASON_VALIDATING, message);
}

static void step_installing(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    const struct assignment_ref stack = { .hash[TIER_STACK] = c->to.hash[TIER_STACK] };
    bool stack_is_on = *c->to.hash[TIER_STACK] &&
                       str_eq(upgrade_pass_now(s, TIER_STACK), c->to.hash[TIER_STACK]);
    if (!stack_is_on && driver_is_up(s) && operands_recorded(s->p->in, stack)) {
        upgrade_phases_ask(s, assignment_ref(&c->to));
        upgrade_pass_describe(
            s, REASON_DRIVER_READY,
            "the driver is up: Ostler installs toolkit, device plugin and exporter");
        return;
    }
    upgrade_pass_assign(
        s, assignment_before(assignment_ref(&c->to), stack_is_on ? TIERS : TIER_STACK));
    operands_judge(s->p);
    inventory_explain_driver(s->p);
    if (stack_is_on && s->p->v->state == NODE_READY) {
        upgrade_pass_enter(
            s, CLAIM_VALIDATING, REASON_INSTALLED,
            "every operand is up: Ostler waits until the kubelet reports allocatable GPUs");
        step_validating(s);
    } else if (is_overdue(s, s->p->in->rollout->install_timeout_s)) {
        upgrade_pass_fail(s, verdict_word(s->p->v), "timeouts.install is over: %s",
                          str_or_empty(s->p->v->message));
    } else {
        upgrade_pass_describe(s, REASON_UPGRADING,
                              s->p->v->message
                                  ? s->p->v->message
                                  : "the ControllerRevision of the new version is being written");
    }
}

/* Nothing happens until the rollout retries it, but a node that comes up after all is accepted. One
 * whose repair failed gets its driver back: without it nothing shows that the fault has ended. */
static void step_failed(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    const struct assignment_ref to = assignment_ref(&c->to);
    if (repair_gives_back(s) && operands_recorded(s->p->in, to))
        upgrade_pass_assign(s, assignment_before(to, driver_is_up(s) ? TIERS : TIER_STACK));
    else
        upgrade_pass_assign_unchanged(s);
    operands_judge(s->p);
    inventory_explain_driver(s->p);
    bool arrived = node_bears(&s->p->in->view, &c->to) &&
                   claim_is_for(c, assignment_ref(&s->t->runs));
    if (claim_closes(c) && arrived && upgrade_pass_works(s) && repair_is_done(s)) {
        upgrade_pass_release(s, REASON_RECOVERED,
                             "the operands came up after all: the node returns to service");
        return;
    }
    if (repair_ends(s))
        return;
    const char *problem = s->p->v->message        ? s->p->v->message
                          : s->out->proof.message ? s->out->proof.message
                                                  : c->reason;
    if (repair_file_is_left(s))
        problem = arena_printf(s->p->a, "%s; %s", problem, repair_file_is_left(s));
    upgrade_pass_describe(s, claim_kinds[c->kind].failed,
                          arena_printf(s->p->a,
                                       "the %s failed on this node, which stays out of service: %s",
                                       claim_kinds[c->kind].noun, problem));
}

const struct upgrade_phase upgrade_phases[CLAIM_PHASE_COUNT] = {
    [CLAIM_WAITING] = { step_waiting, NODE_WAITING, REASON_WAITING_FOR_JOBS },
    [CLAIM_DRAINING] = { step_draining, NODE_DRAINING, REASON_DRAINING },
    [CLAIM_UNLOADING] = { step_unloading, NODE_UNLOADING, REASON_UNLOADING },
    [CLAIM_RESETTING] = { repair_step_resetting, NODE_RESETTING, REASON_RESETTING },
    [CLAIM_REBOOTING] = { repair_step_rebooting, NODE_REBOOTING, REASON_REBOOTING },
    [CLAIM_INSTALLING] = { step_installing, NODE_INSTALLING, REASON_UPGRADING },
    [CLAIM_VALIDATING] = { step_validating, NODE_VALIDATING, REASON_VALIDATING },
    [CLAIM_FAILED] = { step_failed, NODE_FAILED, REASON_NONE },
};
