/* What a claim does to repair a node in the phases Unloading and Resetting. A claim of another kind
 * that unloads the driver resets bad GPUs on the way. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_PHASES_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_PHASES_H

#include "reconcilers/decide/upgrade_phases.h"

/* Whether the node's driver must be unloaded for a repair that has not begun. */
bool repair_takes_driver(const struct upgrade_pass *s);
/* Call it when stack and driver are removed. Leaves phase Unloading and returns true if a reset or
 * a reboot comes now, or if neither may. */
bool repair_begins(struct upgrade_pass *s);
/* Call it when timeouts.install is over, and pods of stack or driver are still there. Returns true
 * if a reboot may end them, and is what comes next for the repair. */
bool repair_reboots_over(struct upgrade_pass *s, const char *problem);
/* Call it when the claim fails for that reason: the reset that could not be made counts as an
 * attempt, so that their number is limited. */
void repair_counts_hang(struct upgrade_pass *s);
/* The step of phase Resetting. */
void repair_step_resetting(struct upgrade_pass *s);

#endif
