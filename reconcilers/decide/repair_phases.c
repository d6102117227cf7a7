#include "reconcilers/decide/repair_phases.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/repair_call_off.h"
#include "reconcilers/decide/repair_pod.h"
#include "reconcilers/decide/repair_rungs.h"
#include "reconcilers/decide/task_pod.h"

/* A node that reboots kills the pod that reboots it, which may look like a failure until the
 * kubelet reports the new boot. A pod that could not remove the file of a reboot is replaced. */
enum { REBOOT_GRACE_S = 120, WITHDRAW_AGAIN_S = 30 };

#define FILE_IS_LEFT                                                                               \
    "could not be removed: remove /var/run/reboot-required on the node, or kured reboots it"

/* ---- what is known */

static bool repair_repairs(const struct upgrade_pass *s)
{
    return claim_kinds[s->out->claim.kind].repairs;
}

static struct fault_record record_of(const struct node_input *in)
{
    struct fault_record r;
    fault_record_of(&in->view, &r);
    return r;
}

/* Whether an attempt has begun since the claim, or since its retry. */
static bool is_tried(const struct upgrade_pass *s)
{
    const struct fault_record record = record_of(s->p->in);
    return fault_record_tried(&record, s->out->claim.claimed_s);
}

/* The next attempt under the node's claim. A user asks for one attempt; what follows it is
 * Ostler's. */
static enum repair_kind next_rung(const struct upgrade_pass *s, bool reset_failed,
                                  enum reason *ret_why)
{
    const struct node_input *in = s->p->in;
    const struct claim *c = &s->out->claim;
    const struct fault_record record = record_of(in);
    return repair_rung(
        &(struct repair_case){ .spec = in->health_spec,
                               .record = &record,
                               .level = s->p->v->repair_level,
                               .own_driver = *c->from.hash[TIER_DRIVER] || *c->to.hash[TIER_DRIVER],
                               .reset_failed = reset_failed,
                               .asked = claim_is_asked(c),
                               .now_s = in->now_s },
        ret_why);
}

/* What a person has to do where Ostler may not go on. */
static const char *for_people(enum reason why)
{
    if (why == REASON_ATTEMPTS_SPENT)
        return "the node was repaired as often as spec.health.attempts allows: reboot or "
               "power-cycle it, and ask the machine's vendor if the fault comes again";
    return why == REASON_REBOOT_NOT_ALLOWED
               ? "only a reboot repairs the node, and spec.health.reboot is None: reboot the node"
               : "neither a reset nor a reboot helps: ask the machine's vendor to replace the GPU";
}

/* The message about the fault. */
static const char *fault_text(const struct node_input *in)
{
    const struct health_status *said = in->health ? in->health->concluded : NULL;
    return said && *said->message ? said->message : "its GPUs have a fault";
}

/* ---- the attempts */

static void try(struct upgrade_pass *s, enum repair_kind kind, const char *message)
{
    bool resets = kind == REPAIR_RESET;
    struct claim *c = &s->out->claim;
    s->out->tries = true;
    s->out->tried = kind;
    s->out->job = resets ? REPAIR_JOB_RESET : REPAIR_JOB_REBOOT;
    c->boot = resets ? 0 : s->p->in->view.node->boot;
    c->sentinel = !resets && s->p->in->health_spec->reboot == HEALTH_REBOOT_SENTINEL;
    upgrade_pass_enter(s, resets ? CLAIM_RESETTING : CLAIM_REBOOTING,
                       resets ? REASON_RESETTING : REASON_REBOOTING, message);
}

/* The attempt of this phase does not count. */
static void take_back(struct upgrade_pass *s, enum repair_kind kind)
{
    s->out->untries = true;
    s->out->tried = kind;
    s->out->untried_s = s->out->claim.since_s;
}

static void give_up(struct upgrade_pass *s, enum reason reason, const char *message)
{
    upgrade_pass_fail(s, reason_text(reason), "%s", message);
}

/* `from_s`: since when pods may be evicted for the reboot. */
static void reboot_when_empty(struct upgrade_pass *s, int64_t from_s, const char *message)
{
    if (upgrade_pass_is_empty(s))
        try(s, REPAIR_REBOOT, message);
    else if (s->out->send &&
             deadline_is_over(s->p, from_s, s->p->in->rollout->drain.timeout_s, false)) {
        s->out->send = SEND_NONE;
        give_up(s, REASON_REBOOT_FAILED,
                arena_printf(s->p->a, "drain.timeout is over, and the node was not rebooted: %s",
                             s->out->message));
    }
}

/* ---- what calls a repair off */

static const char *why_called_off(const struct upgrade_pass *s, bool reboots, bool cordon_counts)
{
    return repair_call_off(s->p->in, &(struct call_off_case){ .asked = s->out->claim.asked,
                                                              .reboots = reboots,
                                                              .cordon_counts = cordon_counts });
}

/* Whether its repair has no use. A fault that came since the claim closes no claimed node, so it
 * asks for none either, and is repaired with the claim. */
static bool is_needless(const struct upgrade_pass *s)
{
    const struct node_verdict *v = s->p->v;
    bool is_new = v->repair_level >= HEALTH_CLOSE && record_of(s->p->in).state == FAULT_OVER;
    return !v->repair_stays && !is_new;
}

/* The same before the first attempt. An attempt may itself show that the fault has ended. */
static const char *why_not_begun(const struct upgrade_pass *s)
{
    return repair_call_off(s->p->in, &(struct call_off_case){ .asked = s->out->claim.asked,
                                                              .cordon_counts = true,
                                                              .needless = is_needless(s) });
}

/* The node gets driver and stack back without a reset or a reboot. `word` may be the claim's. */
static void call_off(struct upgrade_pass *s, const char *word)
{
    struct claim *c = &s->out->claim;
    if (repair_repairs(s) && word != c->called_off)
        snprintf(c->called_off, sizeof c->called_off, "%s", word);
    upgrade_pass_install(
        s, REASON_REPAIR_CALLED_OFF,
        arena_printf(s->p->a, "the repair is called off: %s", repair_call_off_text(word)));
}

/* The same before the pod of the phase exists, so that the attempt does not count either. */
static void call_off_attempt(struct upgrade_pass *s, enum repair_kind kind, const char *word)
{
    enum claim_phase phase = s->out->claim.phase;
    take_back(s, kind);
    call_off(s, word);
    s->out->looks_for_pod = true;
    if (s->out->claim.phase != phase)
        return;
    /* It waits for a record. */
    s->out->untries = s->out->looks_for_pod = false;
    *s->out->claim.called_off = '\0';
}

bool repair_ends_called_off(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    bool back = *s->p->v->carried.hash[TIER_STACK] && !operands_missing(s->p->v),
         proven = assignment_same(assignment_ref(&c->to), assignment_ref(&c->from));
    if (!repair_repairs(s) || !*c->called_off || !back || !(proven || upgrade_pass_works(s)))
        return false;
    upgrade_pass_release(s, REASON_REPAIR_CALLED_OFF,
                         arena_printf(s->p->a,
                                      "the repair was called off (%s), and nothing was repaired: "
                                      "the node has its driver back",
                                      repair_call_off_text(c->called_off)));
    return true;
}

/* ---- phase Unloading */

void repair_counts_hang(struct upgrade_pass *s)
{
    enum reason why;
    bool counts = repair_repairs(s) && !is_tried(s) && !*s->out->claim.called_off &&
                  !why_not_begun(s) && next_rung(s, false, &why) == REPAIR_RESET;
    if (!counts)
        return;
    s->out->tries = true;
    s->out->tried = REPAIR_RESET;
}

/* What hangs in the kernel ends with the boot. */
bool repair_reboots_over(struct upgrade_pass *s, const char *problem)
{
    const struct node_input *in = s->p->in;
    struct claim *c = &s->out->claim;
    int64_t over_s = deadline_from_s(in, c->since_s) + in->rollout->install_timeout_s;
    enum reason why;
    if (!repair_repairs(s) || is_tried(s) || *c->called_off || why_called_off(s, true, true) ||
        next_rung(s, true, &why) != REPAIR_REBOOT)
        return false;
    reboot_when_empty(
        s, over_s < in->now_s ? over_s : in->now_s,
        arena_printf(s->p->a, "timeouts.install is over: %s; Ostler reboots the node", problem));
    if (c->phase == CLAIM_REBOOTING)
        upgrade_pass_assign(s, assignment_before(s->out->assigned, TIER_DRIVER));
    if (c->phase == CLAIM_FAILED)
        repair_counts_hang(s);
    return true;
}

bool repair_takes_driver(const struct upgrade_pass *s)
{
    return repair_repairs(s) && !is_tried(s) && !*s->out->claim.called_off && !why_not_begun(s);
}

/* Whether a claim of another kind can reset GPUs now: their driver is off. */
static bool is_on_the_way(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    enum fault_state state = record_of(in).state;
    enum health_level level = s->p->v->repair_level;
    return in->health_spec->mode == HEALTH_MODE_REPAIR && state != FAULT_IGNORED &&
           state != FAULT_BRAKED && !node_ignores_faults(&in->view) &&
           (level == HEALTH_RESET_WHEN_IDLE || level == HEALTH_CLOSE) &&
           *s->out->claim.from.hash[TIER_DRIVER] && !*upgrade_pass_now(s, TIER_DRIVER) &&
           !in->pods->of[OPERAND_DRIVER].present;
}

static bool resets_on_the_way(struct upgrade_pass *s)
{
    enum reason why;
    if (!is_on_the_way(s) || why_called_off(s, false, true) ||
        next_rung(s, false, &why) != REPAIR_RESET)
        return false;
    try(s, REPAIR_RESET, "the driver is removed: Ostler resets the GPUs that need it");
    return true;
}

bool repair_begins(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    enum reason why;
    if (is_tried(s))
        return false;
    if (!repair_repairs(s))
        return resets_on_the_way(s);
    const char *off = *c->called_off ? c->called_off : why_not_begun(s);
    if (off) {
        call_off(s, off);
        return true;
    }
    switch (next_rung(s, false, &why)) {
    case REPAIR_RESET:
        try(s, REPAIR_RESET, "the driver is removed: Ostler resets the GPUs");
        break;
    case REPAIR_REBOOT:
        reboot_when_empty(s, c->since_s,
                          "toolkit, device plugin and driver are removed: Ostler reboots the "
                          "node");
        break;
    case REPAIR_KINDS:
        give_up(s, why ? why : REASON_REPAIR_FAILED, for_people(why));
    }
    return true;
}

/* ---- phase Resetting */

/* When the attempt ended: by its pod, or by the time; at most now. */
static int64_t ended_s(const struct upgrade_pass *s, const struct repair_pod *pod)
{
    int64_t now_s = s->p->in->now_s,
            at_s = pod->ended_s ? pod->ended_s
                                : s->out->claim.since_s + s->p->in->rollout->install_timeout_s;
    return at_s < now_s ? at_s : now_s;
}

/* An upgrade goes on: the fault is older than what it installs. A reset that never ran says nothing
 * about the GPUs, so no reboot follows. */
static void reset_failed(struct upgrade_pass *s, const struct repair_pod *pod, const char *words)
{
    enum reason why;
    const char *off = why_called_off(s, false, true);
    if (!pod->ran)
        take_back(s, REPAIR_RESET);
    if (!repair_repairs(s))
        upgrade_pass_install(s, REASON_RESET_FAILED,
                             arena_printf(s->p->a, "the GPUs were not reset: %s", words));
    else if (!pod->ran)
        give_up(
            s, REASON_REPAIR_FAILED,
            arena_printf(s->p->a, "no pod could reset the GPUs: %s; Ostler tries again", words));
    else if (off)
        call_off(s, off);
    else if (next_rung(s, true, &why) == REPAIR_REBOOT)
        reboot_when_empty(
            s, ended_s(s, pod),
            arena_printf(s->p->a, "the GPUs were not reset: %s; Ostler reboots the node", words));
    else
        give_up(s, REASON_RESET_FAILED,
                arena_printf(s->p->a, "the GPUs were not reset: %s; %s", words, for_people(why)));
}

static void wait_for_pod(struct upgrade_pass *s, const char *does, const struct repair_pod *pod)
{
    s->out->makes_pod = pod->state == REPAIR_POD_MISSING;
    upgrade_pass_describe(s, s->out->job == REPAIR_JOB_RESET ? REASON_RESETTING : REASON_REBOOTING,
                          pod->words ? arena_printf(s->p->a, "%s: %s", does, pod->words) : does);
}

void repair_step_resetting(struct upgrade_pass *s)
{
    struct repair_pod pod;
    s->out->job = REPAIR_JOB_RESET;
    upgrade_pass_assign_unchanged(s);
    repair_pod_look(s->p, REPAIR_JOB_RESET, &s->out->claim, &pod);
    const char *off = pod.state == REPAIR_POD_MISSING ? why_called_off(s, false, true) : NULL;
    if (off)
        call_off_attempt(s, REPAIR_RESET, off);
    else if (pod.state == REPAIR_POD_DONE)
        upgrade_pass_install(s, REASON_RESET_DONE, pod.words);
    else if (pod.state == REPAIR_POD_FAILED)
        reset_failed(s, &pod, pod.words);
    else if (deadline_is_over(s->p, s->out->claim.since_s, s->p->in->rollout->install_timeout_s,
                              true))
        reset_failed(s, &pod,
                     pod.words && !pod.ran
                         ? arena_printf(s->p->a, "timeouts.install is over: %s", pod.words)
                         : "timeouts.install is over");
    else
        wait_for_pod(s, "a pod resets the node's GPUs", &pod);
}

/* ---- phase Rebooting */

static bool has_booted(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    return c->boot && node_has_booted(s->p->in->view.node->boot, c->boot);
}

/* Requests a requeue if it has not. */
static bool has_passed(const struct upgrade_pass *s, int64_t since_s, int64_t span_s)
{
    int64_t now_s = s->p->in->now_s,
            left_s = clock_is_ahead(since_s, now_s) ? 0 : since_s + span_s - now_s;
    if (left_s > 0)
        actions_requeue(s->p->actions, left_s * 1000);
    return left_s <= 0;
}

static bool is_refused(const struct upgrade_pass *s, const struct repair_pod *pod)
{
    return pod->state == REPAIR_POD_FAILED && s->p->in->view.node->ready &&
           has_passed(s, pod->ended_s, REBOOT_GRACE_S);
}

/* Why it ends before the reboot; NULL: it does not. Until kured has begun, what asks for the reboot
 * can be withdrawn; kured cordons the node, and its drain takes the pod. */
static const char *why_no_reboot(const struct upgrade_pass *s, const struct repair_pod *pod)
{
    const struct claim *c = &s->out->claim;
    bool asked = c->sentinel && pod->state == REPAIR_POD_DONE,
         may_end = (pod->state == REPAIR_POD_MISSING || asked) &&
                   (!c->sentinel || s->p->in->view.node->ready);
    return may_end ? why_called_off(s, true, !c->sentinel) : NULL;
}

/* Ends the phase without a boot. A file that asks for one goes first. */
static void leave(struct upgrade_pass *s, const struct repair_pod *pod, const char *off,
                  const char *message)
{
    struct claim *c = &s->out->claim;
    if (c->sentinel && s->p->in->view.node->ready && pod->state != REPAIR_POD_FAILED) {
        snprintf(c->called_off, sizeof c->called_off, "%s",
                 off ? off : reason_text(REASON_REBOOT_FAILED));
        s->out->job = REPAIR_JOB_WITHDRAW;
        upgrade_pass_describe(s, REASON_REBOOTING,
                              "a pod removes the file that asks for the node's reboot");
    } else if (off) {
        call_off_attempt(s, REPAIR_REBOOT, off);
    } else {
        if (pod->state != REPAIR_POD_DONE && !pod->ran && s->p->in->view.node->ready)
            take_back(s, REPAIR_REBOOT);
        c->sentinel &= pod->state != REPAIR_POD_FAILED;
        give_up(s, REASON_REBOOT_FAILED, message);
    }
}

/* Once it has failed, a claim keeps the note of the file only if that may be there still. */
const char *repair_file_is_left(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    bool left = repair_repairs(s) && c->phase == CLAIM_FAILED && c->sentinel && !has_booted(s);
    return left ? "the file that asks for the node's reboot " FILE_IS_LEFT : NULL;
}

/* The end that was decided, when the file is gone. While it is there the node may reboot, so the
 * claim does not end well. */
static void withdraw(struct upgrade_pass *s, bool overdue)
{
    const struct claim *c = &s->out->claim;
    bool in_vain = str_eq(c->called_off, reason_text(REASON_REBOOT_FAILED));
    const char *why = in_vain ? "the node has not rebooted in time"
                              : arena_printf(s->p->a, "the repair is called off: %s",
                                             repair_call_off_text(c->called_off));
    struct repair_pod pod;
    s->out->job = REPAIR_JOB_WITHDRAW;
    repair_pod_look(s->p, REPAIR_JOB_WITHDRAW, c, &pod);
    if (pod.state == REPAIR_POD_DONE && in_vain) {
        s->out->claim.sentinel = false;
        give_up(s, REASON_REBOOT_FAILED, why);
    } else if (pod.state == REPAIR_POD_DONE) {
        call_off(s, c->called_off);
    } else if (overdue) {
        give_up(s, REASON_REBOOT_FAILED,
                arena_printf(s->p->a,
                             "%s, but the file that asks for the node's reboot " FILE_IS_LEFT,
                             why));
    } else {
        wait_for_pod(s, "a pod removes the file that asks for the node's reboot", &pod);
        s->out->makes_pod &= s->p->in->view.node->ready;
        s->out->drops_pod = pod.state == REPAIR_POD_FAILED &&
                            has_passed(s, pod.ended_s ? pod.ended_s : pod.made_s, WITHDRAW_AGAIN_S);
    }
}

/* The program reboots no other boot of the machine, so that a pod that is created twice reboots it
 * once. */
static void await_boot(struct upgrade_pass *s, bool overdue)
{
    struct repair_pod pod;
    bool ready = s->p->in->view.node->ready, booted = has_booted(s);
    repair_pod_look(s->p, REPAIR_JOB_REBOOT, &s->out->claim, &pod);
    const char *off = booted ? NULL : why_no_reboot(s, &pod);
    if (off)
        leave(s, &pod, off, NULL);
    else if (is_refused(s, &pod))
        leave(s, &pod, NULL, arena_printf(s->p->a, "the node was not rebooted: %s", pod.words));
    else if (overdue)
        leave(s, &pod, NULL,
              ready ? "the node has not rebooted in time"
                    : "the node has not returned from its reboot in time: see its console");
    else if (booted || !ready || pod.state != REPAIR_POD_MISSING || upgrade_pass_is_empty(s)) {
        wait_for_pod(s, "a pod reboots the node", &pod);
        s->out->makes_pod &= ready && !booted;
    }
}

void repair_step_rebooting(struct upgrade_pass *s)
{
    struct claim *c = &s->out->claim;
    s->out->job = REPAIR_JOB_REBOOT;
    upgrade_pass_assign_unchanged(s);
    /* Once asked for, the file stays until it is withdrawn, whatever the policy says later. An
     * older version of Ostler did not note that. */
    c->sentinel |= s->p->in->health_spec->reboot == HEALTH_REBOOT_SENTINEL;
    bool overdue = deadline_of_boot_is_over(s->p, c->since_s, repair_reboot_s(c->sentinel));
    if (has_booted(s) && s->p->in->view.node->ready) {
        *c->called_off = '\0';
        upgrade_pass_install(s, REASON_REBOOTED, "the node has booted: Ostler installs the driver");
    } else if (*c->called_off) {
        withdraw(s, deadline_of_boot_is_over(s->p, c->since_s,
                                             repair_reboot_s(c->sentinel) + REBOOT_GRACE_S));
    } else {
        await_boot(s, overdue);
    }
}

/* ---- the end */

/* Whether no fault is left that would close the node, and something has shown it since: the agent
 * in this boot, and NVML, where it is there to be asked, or another boot. */
static bool repair_is_healed(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    bool is_asked = in->health && in->health->nvml_spoke;
    return s->p->v->repair_level < HEALTH_CLOSE && inventory_is_told(in) &&
           (!is_asked || health_nvml_speaks(in->health) || has_booted(s));
}

/* A node that works without the reset that failed: it would be claimed again at once, so the claim
 * counts as an attempt. */
static bool is_in_vain(const struct upgrade_pass *s)
{
    return s->out->claim.phase == CLAIM_FAILED && s->p->v->repair_level == HEALTH_RESET_WHEN_IDLE &&
           !is_tried(s);
}

bool repair_is_done(struct upgrade_pass *s)
{
    if (!repair_repairs(s))
        return true;
    if (repair_is_healed(s)) {
        s->out->heals = true;
        if (is_in_vain(s)) {
            s->out->tries = true;
            s->out->tried = REPAIR_RESET;
        }
        return true;
    }
    bool told = inventory_is_told(s->p->in);
    const char *fault = fault_text(s->p->in);
    if (s->out->claim.phase == CLAIM_FAILED)
        return false;
    if (deadline_is_over(s->p, s->out->claim.since_s, s->p->in->rollout->validation_timeout_s,
                         false))
        give_up(s, REASON_REPAIR_FAILED,
                told ? arena_printf(s->p->a,
                                    "a CUDA program ran on a GPU, and the fault is still there: %s",
                                    fault)
                     : "a CUDA program ran on a GPU, and the node's agent has not reported since "
                       "the boot");
    else
        upgrade_pass_describe(
            s, REASON_VALIDATING,
            told ? arena_printf(s->p->a,
                                "a CUDA program ran on a GPU of the node; Ostler waits until "
                                "nothing shows the fault any longer: %s",
                                fault)
                 : "a CUDA program ran on a GPU of the node; Ostler waits until the node's agent "
                   "has reported since the boot");
    return false;
}

/* ---- repairs that end without being done */

/* Whether the node may be released by the way: it stays closed, or it is as it was, or it works. */
static bool may_go(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    const struct fault_record record = record_of(s->p->in);
    bool closed = fault_state_closes(record.state) && record.tainted;
    return closed || !claim_closes(c) || claim_phase_progress(c->phase) == CLAIM_UNCHANGED ||
           (node_bears(&s->p->in->view, &c->to) && upgrade_pass_works(s));
}

/* Why the claim of a repair that is not wanted has no use. */
static const char *why_not_wanted(const struct upgrade_pass *s, enum reason *ret_reason)
{
    const struct node_input *in = s->p->in;
    const struct claim *c = &s->out->claim;
    bool failed = c->phase == CLAIM_FAILED;
    const char *off = why_called_off(s, false, false);
    *ret_reason = REASON_ATTEMPTS_SPENT;
    if (failed && c->asked && c->attempt == 1)
        return arena_printf(s->p->a, "the repair that a user asked for failed (%s)%s%s", c->reason,
                            s->p->v->repair_level >= HEALTH_CLOSE ? ": " : "",
                            s->p->v->repair_level >= HEALTH_CLOSE ? fault_text(in) : "");
    *ret_reason = off ? REASON_REPAIR_CALLED_OFF : REASON_NOT_NEEDED;
    if (off && failed)
        return arena_printf(s->p->a, "the repair failed (%s), and is called off: %s", c->reason,
                            repair_call_off_text(off));
    if (off)
        return arena_printf(s->p->a, "the repair is called off: %s", repair_call_off_text(off));
    return s->p->v->repair_level < HEALTH_RESET_WHEN_IDLE
               ? "the fault of the node's GPUs has ended"
               : "Ostler is not to repair the node any longer";
}

/* Why the claim has no use; NULL: it has one. */
static const char *why_over(const struct upgrade_pass *s, enum reason *ret_reason)
{
    const struct claim *c = &s->out->claim;
    const char *fault = fault_text(s->p->in);
    enum reason why = REASON_NONE;
    if (!s->p->v->repair_stays)
        return why_not_wanted(s, ret_reason);
    if (next_rung(s, false, &why) != REPAIR_KINDS)
        return NULL;
    *ret_reason = REASON_ATTEMPTS_SPENT;
    return c->phase == CLAIM_FAILED ? arena_printf(s->p->a, "the repair failed (%s): %s; %s",
                                                   c->reason, fault, for_people(why))
                                    : arena_printf(s->p->a, "Ostler cannot repair the node: %s; %s",
                                                   fault, for_people(why));
}

/* Without its claim a node that bears no stack gets what the policy asks for. One whose repair
 * failed half-way keeps its revision instead. */
static void keep_revision(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    const char *driver = upgrade_pass_now(s, TIER_DRIVER);
    bool before = *driver && !str_eq(driver, c->to.hash[TIER_DRIVER]);
    const struct assignment_ref kept = assignment_ref(before ? &c->from : &c->to);
    if (c->phase == CLAIM_FAILED && claim_closes(c) && !*upgrade_pass_now(s, TIER_STACK) &&
        operands_recorded(s->p->in, kept))
        upgrade_pass_assign(s, kept);
}

bool repair_ends(struct upgrade_pass *s)
{
    enum reason reason;
    const char *why = repair_repairs(s) ? why_over(s, &reason) : NULL;
    if (!why || repair_file_is_left(s) || !may_go(s))
        return false;
    keep_revision(s);
    upgrade_pass_release(s, reason, why);
    return true;
}
