/* When the claim of a repair is over: the fault has ended, or the repair was called off, or nothing
 * is left to try. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_OVER_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_OVER_H

#include "reconcilers/decide/upgrade_phases.h"

/* For a node that works: whether the claim is over. A repair is when the fault has ended; until
 * then it waits, and fails when timeouts.validation is over. */
bool repair_is_done(struct upgrade_pass *s);
/* Ends a repair that was called off, once the node has its operands back. */
bool repair_ends_called_off(struct upgrade_pass *s);
/* Ends a repair that has changed nothing or has failed, if the fault has ended, or nothing is left
 * that Ostler may try. While kured may reboot the node for it, it does not end. */
bool repair_ends(struct upgrade_pass *s);

#endif
