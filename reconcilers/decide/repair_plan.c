#include "reconcilers/decide/repair_plan.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/repair_request.h"
#include "reconcilers/decide/rollout_message.h"

static bool is_claimed(const struct rollout_node *n)
{
    return n->claim && claim_kinds[n->claim->kind].repairs;
}

/* ---- why */

static const char *why_of(const struct planned_repair *r, struct arena *a)
{
    const struct rollout_node *n = r->node;
    bool asked = n->repair == REPAIR_ASKED || (is_claimed(n) && n->claim->asked);
    if (asked && r->fault)
        return arena_printf(a, "a user asks for it (%s)", r->fault);
    return asked ? "a user asks for it" : r->fault ? r->fault : "a fault of its GPUs";
}

/* ---- what */

static const char *reboot_text(const struct health_spec *spec)
{
    return spec->reboot == HEALTH_REBOOT_SENTINEL ? "asks kured to reboot it" : "reboots it";
}

static const char *does_of(const struct planned_repair *r, struct arena *a)
{
    bool idle = r->node->repair == REPAIR_IDLE, reboots = r->spec->reboot != HEALTH_REBOOT_NONE;
    if (r->first == REPAIR_KINDS)
        return "Ostler may try nothing more";
    if (r->first == REPAIR_REBOOT)
        return arena_printf(a, "Ostler %s", reboot_text(r->spec));
    return idle || !reboots
               ? "Ostler resets its GPUs"
               : arena_printf(a, "Ostler resets its GPUs, and %s if that is not enough",
                              reboot_text(r->spec));
}

/* ---- when */

static const char *after_jobs(const struct health_spec *spec, struct arena *a)
{
    char span[ROLLOUT_SPAN_MAX];
    if (spec->wait_for_jobs_s < 0)
        return "when its jobs have ended";
    rollout_span_text(spec->wait_for_jobs_s, span);
    return arena_printf(a, "when its jobs have ended, or after %s", span);
}

static const char *when_claimed(const struct planned_repair *r, struct arena *a)
{
    const struct claim *c = r->node->claim;
    if (c->phase == CLAIM_WAITING)
        return after_jobs(r->spec, a);
    return c->phase == CLAIM_FAILED
               ? arena_printf(a, "it failed (%s), and is tried again", c->reason)
               : arena_printf(a, "it is under way (%s)", claim_phase_name(c->phase));
}

const char *repair_hold_text(enum rollout_hold hold)
{
    static const char *const holds[ROLLOUT_HOLD_COUNT] = {
        [ROLLOUT_HOLD_PAUSED] = "when spec.rollout.paused is false",
        [ROLLOUT_HOLD_DOWN] = "when the node is Ready",
        [ROLLOUT_HOLD_SKIPPED] =
            ("when no user cordons the node or holds it with the label " LABEL_HOLD),
    };
    return holds[hold];
}

static const char *when_of(const struct planned_repair *r, struct arena *a)
{
    const struct rollout_node *n = r->node;
    if (is_claimed(n))
        return when_claimed(r, a);
    if (n->claim)
        return "when its upgrade is over, unless that resets the GPUs on the way";
    if (n->cordoned)
        return repair_hold_text(ROLLOUT_HOLD_SKIPPED);
    if (n->repair == REPAIR_IDLE && !n->idle)
        return "when no pod uses a GPU there, and no other node needs the place";
    if (r->hold == ROLLOUT_HOLD_JOBS || r->tainted_first)
        return after_jobs(r->spec, a);
    if (r->hold == ROLLOUT_HOLD_NONE)
        return "now";
    const char *until = repair_hold_text(r->hold);
    return until ? until
                 : arena_printf(a, "when spec.rollout has a place (%s)",
                                reason_text(rollout_hold_reason(r->hold)));
}

/* ---- */

static json_t *entry(const char *node, const char *why, const char *does, const char *when)
{
    return json_pack("{s:s, s:o, s:s, s:s}", "node", node, "why", json_text(why), "does", does,
                     "when", when);
}

json_t *repair_plan_json(const struct planned_repair *r, struct arena *a)
{
    const struct rollout_node *n = r->node;
    if (r->refusal == REPAIR_NOT_ALLOWED)
        return entry(n->name, "a user asks for it", "nothing without --allow-repairs",
                     "only if an administrator has allowed repairs");
    if (r->refusal != REPAIR_TAKEN)
        return entry(n->name, repair_request_text(r->refusal), "nothing", "never");
    if (n->let_go || (n->repair == REPAIR_NOTHING && !is_claimed(n)))
        return NULL;
    const char *when = when_of(r, a);
    bool open = n->repair == REPAIR_ASKED && r->spec->mode != HEALTH_MODE_REPAIR && !n->claim;
    return entry(n->name, why_of(r, a), does_of(r, a),
                 open ? arena_printf(a, "%s, if an administrator has allowed repairs", when)
                      : when);
}
