#include "reconcilers/decide/repair_phases.h"

#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/repair_known.h"
#include "reconcilers/decide/repair_pod.h"
#include "reconcilers/decide/repair_steps.h"

/* ---- phase Unloading */

void repair_counts_hang(struct upgrade_pass *s)
{
    enum reason why;
    bool counts = repair_repairs(s) && !repair_is_tried(s) && !*s->out->claim.called_off &&
                  !repair_why_not_begun(s) && repair_next(s, false, &why) == REPAIR_RESET;
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
    if (!repair_repairs(s) || repair_is_tried(s) || *c->called_off ||
        repair_why_called_off(s, true, true) || repair_next(s, true, &why) != REPAIR_REBOOT)
        return false;
    repair_reboot_when_empty(
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
    return repair_repairs(s) && !repair_is_tried(s) && !*s->out->claim.called_off &&
           !repair_why_not_begun(s);
}

/* Whether a claim of another kind can reset GPUs now: their driver is off. */
static bool is_on_the_way(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    enum fault_state state = repair_record(in).state;
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
    if (!is_on_the_way(s) || repair_why_called_off(s, false, true) ||
        repair_next(s, false, &why) != REPAIR_RESET)
        return false;
    repair_try(s, REPAIR_RESET, "the driver is removed: Ostler resets the GPUs that need it");
    return true;
}

bool repair_begins(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    enum reason why;
    if (repair_is_tried(s))
        return false;
    if (!repair_repairs(s))
        return resets_on_the_way(s);
    const char *off = *c->called_off ? c->called_off : repair_why_not_begun(s);
    if (off) {
        repair_calls_off(s, off);
        return true;
    }
    switch (repair_next(s, false, &why)) {
    case REPAIR_RESET:
        repair_try(s, REPAIR_RESET, "the driver is removed: Ostler resets the GPUs");
        break;
    case REPAIR_REBOOT:
        repair_reboot_when_empty(
            s, c->since_s,
            "toolkit, device plugin and driver are removed: Ostler reboots the "
            "node");
        break;
    case REPAIR_KINDS:
        repair_give_up(s, why ? why : REASON_REPAIR_FAILED, repair_for_people(why));
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
    const char *off = repair_why_called_off(s, false, true);
    if (!pod->ran)
        repair_take_back(s, REPAIR_RESET);
    if (!repair_repairs(s))
        upgrade_pass_install(s, REASON_RESET_FAILED,
                             arena_printf(s->p->a, "the GPUs were not reset: %s", words));
    else if (!pod->ran)
        repair_give_up(
            s, REASON_REPAIR_FAILED,
            arena_printf(s->p->a, "no pod could reset the GPUs: %s; Ostler tries again", words));
    else if (off)
        repair_calls_off(s, off);
    else if (repair_next(s, true, &why) == REPAIR_REBOOT)
        repair_reboot_when_empty(
            s, ended_s(s, pod),
            arena_printf(s->p->a, "the GPUs were not reset: %s; Ostler reboots the node", words));
    else
        repair_give_up(s, REASON_RESET_FAILED,
                       arena_printf(s->p->a, "the GPUs were not reset: %s; %s", words,
                                    repair_for_people(why)));
}

void repair_step_resetting(struct upgrade_pass *s)
{
    struct repair_pod pod;
    s->out->job = REPAIR_JOB_RESET;
    upgrade_pass_assign_unchanged(s);
    repair_pod_look(s->p, REPAIR_JOB_RESET, &s->out->claim, &pod);
    const char *off = pod.state == REPAIR_POD_MISSING ? repair_why_called_off(s, false, true)
                                                      : NULL;
    if (off)
        repair_calls_off_attempt(s, REPAIR_RESET, off);
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
        repair_wait_for_pod(s, "a pod resets the node's GPUs", &pod);
}
