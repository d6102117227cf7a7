#include "reconcilers/decide/repair_over.h"

#include "base/str.h"
#include "reconcilers/decide/deadline.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/decide/node_operands.h"
#include "reconcilers/decide/repair_call_off.h"
#include "reconcilers/decide/repair_known.h"
#include "reconcilers/decide/repair_reboot.h"
#include "reconcilers/decide/repair_steps.h"

/* ---- repairs that are done */

/* Whether no fault is left that would close the node, and something has shown it since: the agent
 * in this boot, and NVML, where it is there to be asked, or another boot. */
static bool repair_is_healed(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    bool is_asked = in->health && in->health->nvml_spoke;
    return s->p->v->repair_level < HEALTH_CLOSE && inventory_is_told(in) &&
           (!is_asked || health_nvml_speaks(in->health) || repair_has_booted(s));
}

/* A node that works without the reset that failed: it would be claimed again at once, so the claim
 * counts as an attempt. */
static bool is_in_vain(const struct upgrade_pass *s)
{
    return s->out->claim.phase == CLAIM_FAILED && s->p->v->repair_level == HEALTH_RESET_WHEN_IDLE &&
           !repair_is_tried(s);
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
    const char *fault = repair_fault_text(s->p->in);
    if (s->out->claim.phase == CLAIM_FAILED)
        return false;
    if (deadline_is_over(s->p, s->out->claim.since_s, s->p->in->rollout->validation_timeout_s,
                         false))
        repair_give_up(
            s, REASON_REPAIR_FAILED,
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

/* Whether the node may be released by the way: it stays closed, or it is as it was, or it works. */
static bool may_go(struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    const struct fault_record record = repair_record(s->p->in);
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
    const char *off = repair_why_called_off(s, false, false);
    *ret_reason = REASON_ATTEMPTS_SPENT;
    if (failed && c->asked && c->attempt == 1)
        return arena_printf(s->p->a, "the repair that a user asked for failed (%s)%s%s", c->reason,
                            s->p->v->repair_level >= HEALTH_CLOSE ? ": " : "",
                            s->p->v->repair_level >= HEALTH_CLOSE ? repair_fault_text(in) : "");
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
    const char *fault = repair_fault_text(s->p->in);
    enum reason why = REASON_NONE;
    if (!s->p->v->repair_stays)
        return why_not_wanted(s, ret_reason);
    if (repair_next(s, false, &why) != REPAIR_KINDS)
        return NULL;
    *ret_reason = REASON_ATTEMPTS_SPENT;
    return c->phase == CLAIM_FAILED ? arena_printf(s->p->a, "the repair failed (%s): %s; %s",
                                                   c->reason, fault, repair_for_people(why))
                                    : arena_printf(s->p->a, "Ostler cannot repair the node: %s; %s",
                                                   fault, repair_for_people(why));
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
