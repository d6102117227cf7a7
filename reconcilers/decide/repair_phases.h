/* What a claim does to repair a node: phases Resetting and Rebooting, and whether a repair is
 * wanted, possible and done. A claim of another kind that unloads the driver resets bad GPUs on
 * the way. */
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
/* Steps of the phases. */
void repair_step_resetting(struct upgrade_pass *s);
void repair_step_rebooting(struct upgrade_pass *s);
/* For a node that works: whether the claim is over. A repair is when the fault has ended; until
 * then it waits, and fails when timeouts.validation is over. */
bool repair_is_done(struct upgrade_pass *s);
/* Ends a repair that was called off, once the node has its operands back. */
bool repair_ends_called_off(struct upgrade_pass *s);
/* Ends a repair that has changed nothing or has failed, if the fault has ended, or nothing is left
 * that Ostler may try. While kured may reboot the node for it, it does not end. */
bool repair_ends(struct upgrade_pass *s);
/* For a repair that has failed: a sentence about the file for kured that is still on the node;
 * NULL: there is none. */
const char *repair_file_is_left(const struct upgrade_pass *s);

#endif
