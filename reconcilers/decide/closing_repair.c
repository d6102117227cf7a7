#include "reconcilers/decide/closing_repair.h"

enum repair_kind closing_next_repair(const struct health_spec *spec, const struct fault_record *r,
                                     enum health_level level, int64_t now_s)
{
    int64_t resets = fault_record_tries(r, REPAIR_RESET, spec->attempts_per_s, now_s),
            reboots = fault_record_tries(r, REPAIR_REBOOT, spec->attempts_per_s, now_s);
    if (level <= HEALTH_CLOSE && resets < spec->resets)
        return REPAIR_RESET;
    bool reboots_help = level == HEALTH_CLOSE || level == HEALTH_REBOOT;
    return reboots_help && spec->reboot != HEALTH_REBOOT_NONE && reboots < spec->reboots
               ? REPAIR_REBOOT
               : REPAIR_KINDS;
}

/* What the fault asks for. A closed node of which nothing is known any longer needs a reset:
 * nothing else would show that its fault has ended. */
static enum health_level repair_level(const struct closing *out, bool asks)
{
    return out->record.state == FAULT_CLOSED && !asks ? HEALTH_CLOSE : out->level;
}

static bool has_repair(const struct closing_input *in, const struct closing *out, bool asks)
{
    return closing_next_repair(in->spec, &out->record, repair_level(out, asks), in->now_s) !=
           REPAIR_KINDS;
}

static int64_t known_since_s(const struct closing_input *in)
{
    const struct health_status *said = in->health ? in->health->concluded : NULL;
    return said && said->since_s ? said->since_s : in->now_s;
}

/* Whether a fault asks for a repair. A node is claimed once its closing is written: a claim that
 * came before that write would keep it from being made, and a repair that fails would open the node
 * until the next pass. */
static bool is_of_fault(const struct closing_input *in, const struct fault_record *r, bool asks)
{
    bool closed = r->state == FAULT_CLOSED && in->record.state == FAULT_CLOSED;
    return closed || (r->state == FAULT_BRAKED && asks && !in->braked);
}

/* Whether any repair is allowed. */
static bool may_repair(const struct closing_input *in)
{
    return in->spec->repairs && in->spec->mode != HEALTH_MODE_OBSERVE && !in->held;
}

void closing_want_repair(const struct closing_input *in, bool asks, struct closing *out)
{
    const struct fault_record *r = &out->record;
    bool repairs = in->spec->mode == HEALTH_MODE_REPAIR && !in->ignored &&
                   has_repair(in, out, asks);
    if (!may_repair(in))
        return;
    if (in->asked) {
        out->repair = REPAIR_ASKED;
        out->repair_since_s = fault_state_closes(r->state) ? r->since_s : 0;
    } else if (repairs && is_of_fault(in, r, asks)) {
        out->repair = REPAIR_FAULT;
        out->repair_since_s = r->since_s;
    } else if (repairs && out->level == HEALTH_RESET_WHEN_IDLE) {
        out->repair = REPAIR_IDLE;
        out->repair_since_s = known_since_s(in);
    }
}
