#include "reconcilers/decide/repair_steps.h"

#include <stdio.h>

#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/repair_call_off.h"
#include "reconcilers/decide/repair_known.h"

void repair_try(struct upgrade_pass *s, enum repair_kind kind, const char *message)
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
void repair_take_back(struct upgrade_pass *s, enum repair_kind kind)
{
    s->out->untries = true;
    s->out->tried = kind;
    s->out->untried_s = s->out->claim.since_s;
}

void repair_give_up(struct upgrade_pass *s, enum reason reason, const char *message)
{
    upgrade_pass_fail(s, reason_text(reason), "%s", message);
}

/* `from_s`: since when pods may be evicted for the reboot. */
void repair_reboot_when_empty(struct upgrade_pass *s, int64_t from_s, const char *message)
{
    if (upgrade_pass_is_empty(s))
        repair_try(s, REPAIR_REBOOT, message);
    else if (s->out->send &&
             deadline_is_over(s->p, from_s, s->p->in->rollout->drain.timeout_s, false)) {
        s->out->send = SEND_NONE;
        repair_give_up(s, REASON_REBOOT_FAILED,
                       arena_printf(s->p->a,
                                    "drain.timeout is over, and the node was not rebooted: %s",
                                    s->out->message));
    }
}

/* ---- what calls a repair off */

const char *repair_why_called_off(const struct upgrade_pass *s, bool reboots, bool cordon_counts)
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
    bool is_new = v->repair_level >= HEALTH_CLOSE && repair_record(s->p->in).state == FAULT_OVER;
    return !v->repair_stays && !is_new;
}

/* The same before the first attempt. An attempt may itself show that the fault has ended. */
const char *repair_why_not_begun(const struct upgrade_pass *s)
{
    return repair_call_off(s->p->in, &(struct call_off_case){ .asked = s->out->claim.asked,
                                                              .cordon_counts = true,
                                                              .needless = is_needless(s) });
}

/* The node gets driver and stack back without a reset or a reboot. `word` may be the claim's. */
void repair_calls_off(struct upgrade_pass *s, const char *word)
{
    struct claim *c = &s->out->claim;
    if (repair_repairs(s) && word != c->called_off)
        snprintf(c->called_off, sizeof c->called_off, "%s", word);
    upgrade_pass_install(
        s, REASON_REPAIR_CALLED_OFF,
        arena_printf(s->p->a, "the repair is called off: %s", repair_call_off_text(word)));
}

/* The same before the pod of the phase exists, so that the attempt does not count either. */
void repair_calls_off_attempt(struct upgrade_pass *s, enum repair_kind kind, const char *word)
{
    enum claim_phase phase = s->out->claim.phase;
    repair_take_back(s, kind);
    repair_calls_off(s, word);
    s->out->looks_for_pod = true;
    if (s->out->claim.phase != phase)
        return;
    /* It waits for a record. */
    s->out->untries = s->out->looks_for_pod = false;
    *s->out->claim.called_off = '\0';
}

/* ---- its pod */

void repair_wait_for_pod(struct upgrade_pass *s, const char *does, const struct repair_pod *pod)
{
    s->out->makes_pod = pod->state == REPAIR_POD_MISSING;
    upgrade_pass_describe(s, s->out->job == REPAIR_JOB_RESET ? REASON_RESETTING : REASON_REBOOTING,
                          pod->words ? arena_printf(s->p->a, "%s: %s", does, pod->words) : does);
}
