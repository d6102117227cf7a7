#include "reconcilers/decide/closing_repair.h"

#include "reconcilers/decide/closing_evidence.h"
#include "reconcilers/decide/repair_rungs.h"

/* Whether nothing is known of the fault of a closed node, and nothing shows that it has ended: only
 * a repair could. */
static bool is_silent(const struct closing_input *in, const struct closing *out, bool asks)
{
    return out->record.state == FAULT_CLOSED && !asks && !closing_has_ended(in);
}

static int64_t known_since_s(const struct closing_input *in)
{
    const struct health_status *said = in->health ? in->health->concluded : NULL;
    return said && said->since_s ? said->since_s : in->now_s;
}

/* Whether a fault asks for a repair. A node is claimed once its closing is written: a claim that
 * came before that write would keep it from being made, and a repair that fails would open the node
 * until the next pass. */
static bool is_of_fault(const struct closing_input *in, const struct closing *out, bool asks)
{
    const struct fault_record *r = &out->record;
    bool closed = r->state == FAULT_CLOSED && in->record.state == FAULT_CLOSED;
    return (closed && (asks || is_silent(in, out, asks))) ||
           (r->state == FAULT_BRAKED && asks && !in->braked);
}

/* Whether any repair is allowed. */
static bool may_repair(const struct closing_input *in)
{
    return in->spec->repairs && in->spec->mode != HEALTH_MODE_OBSERVE && !in->held;
}

static enum repair_need need_of(const struct closing_input *in, const struct closing *out,
                                bool asks)
{
    if (!may_repair(in))
        return REPAIR_NOTHING;
    if (in->asked)
        return REPAIR_ASKED;
    if (in->spec->mode != HEALTH_MODE_REPAIR || in->ignored)
        return REPAIR_NOTHING;
    if (is_of_fault(in, out, asks))
        return REPAIR_FAULT;
    return out->level == HEALTH_RESET_WHEN_IDLE ? REPAIR_IDLE : REPAIR_NOTHING;
}

/* A user who asks for a repair means the fault that is there, left alone or not. */
static enum health_level level_of(const struct closing_input *in, const struct closing *out,
                                  bool asks)
{
    if (is_silent(in, out, asks))
        return HEALTH_CLOSE;
    return out->left && !in->asked ? HEALTH_NONE : out->level;
}

/* The attempt that Ostler may make. */
static enum repair_kind first_of(const struct closing_input *in, const struct closing *out)
{
    enum reason why;
    if (out->wants == REPAIR_NOTHING)
        return REPAIR_KINDS;
    const struct repair_case c = { .spec = in->spec,
                                   .record = &out->record,
                                   .level = out->repair_level,
                                   .own_driver = in->own_driver,
                                   .asked = in->asked,
                                   .now_s = in->now_s };
    return repair_rung(&c, &why);
}

void closing_want_repair(const struct closing_input *in, bool asks, struct closing *out)
{
    const struct fault_record *r = &out->record;
    const int64_t since_s[] = {
        [REPAIR_NOTHING] = 0,
        [REPAIR_IDLE] = known_since_s(in),
        [REPAIR_FAULT] = r->since_s,
        [REPAIR_ASKED] = fault_state_closes(r->state) ? r->since_s : 0,
    };
    out->repair_level = level_of(in, out, asks);
    out->wants = need_of(in, out, asks);
    out->first = first_of(in, out);
    if (out->first == REPAIR_KINDS)
        return;
    out->repair = out->wants;
    out->repair_since_s = since_s[out->repair];
}
