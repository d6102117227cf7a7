/* How a node with a fault of its GPUs is repaired next: by a reset of GPUs, then by a reboot, each
 * as often as the policy allows. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_RUNGS_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_RUNGS_H

#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/health_spec.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/xid.h"

struct repair_case {
    const struct health_spec *spec;
    const struct fault_record *record; /* with earlier attempts */
    enum health_level level;           /* what the fault asks for */
    bool own_driver;   /* the node's driver is Ostler's: it can be unloaded, so GPUs can be reset */
    bool reset_failed; /* in this attempt */
    bool
        asked; /* a user asked for this attempt: neither earlier attempts nor the level forbid it */
    int64_t now_s;
};

/* The next attempt; REPAIR_KINDS: none. Then `ret_why` is REBOOT_NOT_ALLOWED or ATTEMPTS_SPENT, or
 * NONE if only a person can repair the node. */
enum repair_kind repair_rung(const struct repair_case *c, enum reason *ret_why);

/* How long a node may take to return with another boot id; `by_sentinel`: kured reboots it. */
int64_t repair_reboot_s(bool by_sentinel);

#endif
