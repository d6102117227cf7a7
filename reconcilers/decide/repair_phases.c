#include "reconcilers/decide/repair_phases.h"

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/repair_pod.h"
#include "reconcilers/decide/repair_rungs.h"
#include "reconcilers/decide/task_pod.h"

/* A node that reboots kills the pod that reboots it, which may look like a failure until the
 * kubelet reports the new boot. */
enum { REBOOT_GRACE_S = 120 };

/* ---- what is known */

static bool repair_repairs(const struct upgrade_pass *s)
{
    return claim_kinds[s->out->claim.kind].repairs;
}

static enum health_level repair_level(const struct node_input *in)
{
    return in->health ? health_level_of(in->health) : HEALTH_NONE;
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
    struct fault_record r = record_of(s->p->in);
    bool tried = false;
    for (size_t i = 0; i < r.tries_len; i++)
        tried |= r.tries[i].at_s >= s->out->claim.claimed_s;
    return tried;
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
                               .level = repair_level(in),
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
    s->out->tries = true;
    s->out->tried = kind;
    s->out->claim.boot = resets ? 0 : s->p->in->view.node->boot;
    upgrade_pass_enter(s, resets ? CLAIM_RESETTING : CLAIM_REBOOTING,
                       resets ? REASON_RESETTING : REASON_REBOOTING, message);
}

static void give_up(struct upgrade_pass *s, enum reason reason, const char *message)
{
    upgrade_pass_fail(s, reason_text(reason), "%s", message);
}

/* ---- phase Unloading */

bool repair_takes_driver(const struct upgrade_pass *s)
{
    return repair_repairs(s) && !is_tried(s);
}

/* Whether a claim of another kind can reset GPUs now: their driver is off. */
static bool is_on_the_way(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    enum fault_state state = record_of(in).state;
    enum health_level level = repair_level(in);
    return in->health_spec->mode == HEALTH_MODE_REPAIR && state != FAULT_IGNORED &&
           state != FAULT_BRAKED && !node_ignores_faults(&in->view) &&
           (level == HEALTH_RESET_WHEN_IDLE || level == HEALTH_CLOSE) &&
           *s->out->claim.from.hash[TIER_DRIVER] && !*upgrade_pass_now(s, TIER_DRIVER) &&
           !in->pods->of[OPERAND_DRIVER].present;
}

static bool resets_on_the_way(struct upgrade_pass *s)
{
    enum reason why;
    if (!is_on_the_way(s) || next_rung(s, false, &why) != REPAIR_RESET)
        return false;
    try(s, REPAIR_RESET, "the driver is removed: Ostler resets the GPUs that need it");
    return true;
}

bool repair_begins(struct upgrade_pass *s)
{
    enum reason why;
    if (is_tried(s))
        return false;
    if (!repair_repairs(s))
        return resets_on_the_way(s);
    switch (next_rung(s, false, &why)) {
    case REPAIR_RESET:
        try(s, REPAIR_RESET, "the driver is removed: Ostler resets the GPUs");
        break;
    case REPAIR_REBOOT:
        try(s, REPAIR_REBOOT,
            "toolkit, device plugin and driver are removed: Ostler reboots the "
            "node");
        break;
    case REPAIR_KINDS:
        give_up(s, why ? why : REASON_REPAIR_FAILED, for_people(why));
    }
    return true;
}

/* ---- phase Resetting */

/* An upgrade goes on: the fault is older than what it installs. */
static void reset_failed(struct upgrade_pass *s, const char *words)
{
    enum reason why;
    if (!repair_repairs(s))
        upgrade_pass_install(s, REASON_RESET_FAILED,
                             arena_printf(s->p->a, "the GPUs were not reset: %s", words));
    else if (next_rung(s, true, &why) == REPAIR_REBOOT)
        try(s, REPAIR_REBOOT,
            arena_printf(s->p->a, "the GPUs were not reset: %s; Ostler reboots the node", words));
    else
        give_up(s, REASON_RESET_FAILED,
                arena_printf(s->p->a, "the GPUs were not reset: %s; %s", words, for_people(why)));
}

static void wait_for_pod(struct upgrade_pass *s, enum task_kind kind, const struct repair_pod *pod)
{
    s->out->makes_pod = pod->state == REPAIR_POD_MISSING;
    s->out->pod_kind = kind;
    bool resets = kind == TASK_RESET;
    const char *does = resets ? "a pod resets the node's GPUs" : "a pod reboots the node";
    upgrade_pass_describe(s, resets ? REASON_RESETTING : REASON_REBOOTING,
                          pod->words ? arena_printf(s->p->a, "%s: %s", does, pod->words) : does);
}

void repair_step_resetting(struct upgrade_pass *s)
{
    struct repair_pod pod;
    upgrade_pass_assign_unchanged(s);
    repair_pod_look(s->p, TASK_RESET, &s->out->claim, &pod);
    if (pod.state == REPAIR_POD_DONE)
        upgrade_pass_install(s, REASON_RESET_DONE, pod.words);
    else if (pod.state == REPAIR_POD_FAILED)
        reset_failed(s, pod.words);
    else if (deadline_is_over(s->p, s->out->claim.since_s, s->p->in->rollout->install_timeout_s,
                              true))
        reset_failed(s, "timeouts.install is over");
    else
        wait_for_pod(s, TASK_RESET, &pod);
}

/* ---- phase Rebooting */

static bool has_booted(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    return c->boot && node_has_booted(s->p->in->view.node->boot, c->boot);
}

static bool is_refused(const struct upgrade_pass *s, const struct repair_pod *pod)
{
    int64_t now_s = s->p->in->now_s;
    bool far_ahead = clock_is_ahead(pod->ended_s, now_s);
    int64_t left_s = far_ahead ? 0 : pod->ended_s + REBOOT_GRACE_S - now_s;
    if (pod->state != REPAIR_POD_FAILED || !s->p->in->view.node->ready)
        return false;
    if (left_s > 0)
        actions_requeue(s->p->actions, left_s * 1000);
    return left_s <= 0;
}

/* The program reboots no other boot of the machine, so that a pod that is created twice reboots it
 * once. */
void repair_step_rebooting(struct upgrade_pass *s)
{
    struct repair_pod pod;
    bool ready = s->p->in->view.node->ready;
    int64_t limit_s = repair_reboot_s(s->p->in->health_spec);
    upgrade_pass_assign_unchanged(s);
    repair_pod_look(s->p, TASK_REBOOT, &s->out->claim, &pod);
    if (has_booted(s) && ready) {
        upgrade_pass_install(s, REASON_REBOOTED, "the node has booted: Ostler installs the driver");
    } else if (is_refused(s, &pod)) {
        give_up(s, REASON_REBOOT_FAILED,
                arena_printf(s->p->a, "the node was not rebooted: %s", pod.words));
    } else if (deadline_of_boot_is_over(s->p, s->out->claim.since_s, limit_s)) {
        give_up(s, REASON_REBOOT_FAILED,
                ready ? "the node has not rebooted in time"
                      : "the node has not returned from its reboot in time: see its console");
    } else {
        wait_for_pod(s, TASK_REBOOT, &pod);
        s->out->makes_pod &= ready && !has_booted(s);
    }
}

/* ---- the end */

/* Whether no fault is left that would close the node, and something has shown it since: NVML, where
 * it is there to be asked, or another boot. */
static bool repair_is_healed(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    bool is_asked = in->health && in->health->nvml_spoke;
    return repair_level(in) < HEALTH_CLOSE &&
           (!is_asked || health_nvml_speaks(in->health) || has_booted(s));
}

bool repair_is_done(struct upgrade_pass *s)
{
    if (!repair_repairs(s))
        return true;
    if (repair_is_healed(s)) {
        s->out->heals = true;
        return true;
    }
    const char *fault = fault_text(s->p->in);
    if (s->out->claim.phase == CLAIM_FAILED)
        return false;
    if (deadline_is_over(s->p, s->out->claim.since_s, s->p->in->rollout->validation_timeout_s,
                         false))
        give_up(s, REASON_REPAIR_FAILED,
                arena_printf(s->p->a,
                             "a CUDA program ran on a GPU, and the fault is still there: %s",
                             fault));
    else
        upgrade_pass_describe(s, REASON_VALIDATING,
                              arena_printf(s->p->a,
                                           "a CUDA program ran on a GPU of the node; Ostler waits "
                                           "until nothing shows the fault any longer: %s",
                                           fault));
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

/* Why the claim has no use; NULL: it has one. */
static const char *why_over(const struct upgrade_pass *s, enum reason *ret_reason)
{
    const struct node_input *in = s->p->in;
    const struct claim *c = &s->out->claim;
    bool wanted = s->p->v->repair_stays, failed = c->phase == CLAIM_FAILED;
    enum reason why = REASON_NONE;
    if (wanted && next_rung(s, false, &why) != REPAIR_KINDS)
        return NULL;
    *ret_reason = REASON_ATTEMPTS_SPENT;
    if (wanted && !failed)
        return arena_printf(s->p->a, "Ostler cannot repair the node: %s; %s", fault_text(in),
                            for_people(why));
    if (wanted)
        return arena_printf(s->p->a, "the repair failed (%s): %s; %s", c->reason, fault_text(in),
                            for_people(why));
    if (failed && c->asked && c->attempt == 1)
        return arena_printf(s->p->a, "the repair that a user asked for failed (%s)%s%s", c->reason,
                            repair_level(in) >= HEALTH_CLOSE ? ": " : "",
                            repair_level(in) >= HEALTH_CLOSE ? fault_text(in) : "");
    *ret_reason = REASON_NOT_NEEDED;
    return repair_level(in) < HEALTH_RESET_WHEN_IDLE
               ? "the fault of the node's GPUs has ended"
               : "Ostler is not to repair the node any longer";
}

bool repair_ends(struct upgrade_pass *s)
{
    enum reason reason;
    const char *why = repair_repairs(s) ? why_over(s, &reason) : NULL;
    if (!why || !may_go(s))
        return false;
    upgrade_pass_release(s, reason, why);
    return true;
}

/* Whether the claim waits for an idle node: its GPUs work until they are reset. */
static bool is_for_idle(const struct upgrade_pass *s)
{
    return repair_repairs(s) && s->p->v->repair == REPAIR_IDLE;
}

bool repair_yields(struct upgrade_pass *s)
{
    if (!is_for_idle(s) || drain_is_done(&s->out->drain))
        return false;
    upgrade_pass_release(s, REASON_GPU_POD_ARRIVED,
                         arena_printf(s->p->a,
                                      "the node's GPUs work until they are reset, and it is not "
                                      "idle any longer: it %s",
                                      s->out->drain.message));
    return true;
}

bool repair_gives_back(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    const char *driver = upgrade_pass_now(s, TIER_DRIVER);
    bool works_on_it = task_pod_find(in->pod_list, TASK_RESET) ||
                       task_pod_find(in->pod_list, TASK_REBOOT);
    return repair_repairs(s) && in->view.node->ready && !works_on_it &&
           claim_closes(&s->out->claim) && !*upgrade_pass_now(s, TIER_STACK) &&
           (!*driver || str_eq(driver, s->out->claim.to.hash[TIER_DRIVER]));
}
