#include "reconcilers/decide/repair_rungs.h"

/* kured looks at its file once an hour by default, and drains the node first. */
enum { REBOOT_S = 1200, SENTINEL_S = 7200 };

int64_t repair_reboot_s(bool by_sentinel)
{
    return by_sentinel ? SENTINEL_S : REBOOT_S;
}

static bool are_left(const struct repair_case *c, enum repair_kind kind, int64_t allowed)
{
    return c->asked || fault_record_tries(c->record, kind, c->spec->attempts_per_s, c->now_s) <
                           (uint64_t) allowed;
}

/* Whether a reset can help at all. */
static bool is_for_reset(const struct repair_case *c)
{
    return c->own_driver && !c->reset_failed && c->level != HEALTH_REBOOT;
}

enum repair_kind repair_rung(const struct repair_case *c, enum reason *ret_why)
{
    *ret_why = REASON_NONE;
    if (c->level == HEALTH_HUMAN && !c->asked)
        return REPAIR_KINDS;
    if (is_for_reset(c) && are_left(c, REPAIR_RESET, c->spec->resets))
        return REPAIR_RESET;
    *ret_why = REASON_ATTEMPTS_SPENT;
    /* GPUs that work until they are reset are worth no reboot. */
    if (c->level <= HEALTH_RESET_WHEN_IDLE && !c->asked)
        return REPAIR_KINDS;
    if (c->spec->reboot == HEALTH_REBOOT_NONE) {
        *ret_why = is_for_reset(c) ? REASON_ATTEMPTS_SPENT : REASON_REBOOT_NOT_ALLOWED;
        return REPAIR_KINDS;
    }
    if (!are_left(c, REPAIR_REBOOT, c->spec->reboots))
        return REPAIR_KINDS;
    *ret_why = REASON_NONE;
    return REPAIR_REBOOT;
}
