#include "reconcilers/decide/repair_reboot.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/repair_call_off.h"
#include "reconcilers/decide/repair_known.h"
#include "reconcilers/decide/repair_pod.h"
#include "reconcilers/decide/repair_rungs.h"
#include "reconcilers/decide/repair_steps.h"

/* A node that reboots kills the pod that reboots it, which may look like a failure until the
 * kubelet reports the new boot. A pod that could not remove the file of a reboot is replaced. */
enum { REBOOT_GRACE_S = 120, WITHDRAW_AGAIN_S = 30 };

#define FILE_IS_LEFT                                                                               \
    "could not be removed: remove /var/run/reboot-required on the node, or kured reboots it"

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
    return may_end ? repair_why_called_off(s, true, !c->sentinel) : NULL;
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
        repair_calls_off_attempt(s, REPAIR_REBOOT, off);
    } else {
        if (pod->state != REPAIR_POD_DONE && !pod->ran && s->p->in->view.node->ready)
            repair_take_back(s, REPAIR_REBOOT);
        c->sentinel &= pod->state != REPAIR_POD_FAILED;
        repair_give_up(s, REASON_REBOOT_FAILED, message);
    }
}

/* Once it has failed, a claim keeps the note of the file only if that may be there still. */
const char *repair_file_is_left(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    bool left = claim_is_failed_repair(c) && c->sentinel && !repair_has_booted(s);
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
        repair_give_up(s, REASON_REBOOT_FAILED, why);
    } else if (pod.state == REPAIR_POD_DONE) {
        repair_calls_off(s, c->called_off);
    } else if (overdue) {
        repair_give_up(
            s, REASON_REBOOT_FAILED,
            arena_printf(s->p->a, "%s, but the file that asks for the node's reboot " FILE_IS_LEFT,
                         why));
    } else {
        repair_wait_for_pod(s, "a pod removes the file that asks for the node's reboot", &pod);
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
    bool ready = s->p->in->view.node->ready, booted = repair_has_booted(s);
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
        repair_wait_for_pod(s, "a pod reboots the node", &pod);
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
    if (repair_has_booted(s) && s->p->in->view.node->ready) {
        *c->called_off = '\0';
        upgrade_pass_install(s, REASON_REBOOTED, "the node has booted: Ostler installs the driver");
    } else if (*c->called_off) {
        withdraw(s, deadline_of_boot_is_over(s->p, c->since_s,
                                             repair_reboot_s(c->sentinel) + REBOOT_GRACE_S));
    } else {
        await_boot(s, overdue);
    }
}
