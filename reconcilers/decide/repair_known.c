#include "reconcilers/decide/repair_known.h"

#include "reconcilers/decide/repair_rungs.h"

bool repair_repairs(const struct upgrade_pass *s)
{
    return claim_kinds[s->out->claim.kind].repairs;
}

struct fault_record repair_record(const struct node_input *in)
{
    struct fault_record r;
    fault_record_of(&in->view, &r);
    return r;
}

/* Whether an attempt has begun since the claim, or since its retry. */
bool repair_is_tried(const struct upgrade_pass *s)
{
    const struct fault_record record = repair_record(s->p->in);
    return fault_record_tried(&record, s->out->claim.claimed_s) != REPAIR_KINDS;
}

/* The next attempt under the node's claim. A user asks for one attempt; what follows it is
 * Ostler's. */
enum repair_kind repair_next(const struct upgrade_pass *s, bool reset_failed, enum reason *ret_why)
{
    const struct node_input *in = s->p->in;
    const struct claim *c = &s->out->claim;
    const struct fault_record record = repair_record(in);
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
const char *repair_for_people(enum reason why)
{
    if (why == REASON_ATTEMPTS_SPENT)
        return "the node was repaired as often as spec.health.attempts allows: reboot or "
               "power-cycle it, and ask the machine's vendor if the fault comes again";
    return why == REASON_REBOOT_NOT_ALLOWED
               ? "only a reboot repairs the node, and spec.health.reboot is None: reboot the node"
               : "neither a reset nor a reboot helps: ask the machine's vendor to replace the GPU";
}

/* The message about the fault. */
const char *repair_fault_text(const struct node_input *in)
{
    const struct health_status *said = in->health ? in->health->concluded : NULL;
    return said && *said->message ? said->message : "its GPUs have a fault";
}

bool repair_has_booted(const struct upgrade_pass *s)
{
    const struct claim *c = &s->out->claim;
    return c->boot && node_has_booted(s->p->in->view.node->boot, c->boot);
}
