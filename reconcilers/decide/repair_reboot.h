/* Phase Rebooting of a repair: a pod reboots the node, or asks kured to do so by a file, which is
 * withdrawn if the repair ends before. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_REBOOT_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_REBOOT_H

#include "reconcilers/decide/upgrade_phases.h"

/* The step of the phase. */
void repair_step_rebooting(struct upgrade_pass *s);
/* For a repair that has failed: a sentence about the file for kured that is still on the node;
 * NULL: there is none. */
const char *repair_file_is_left(const struct upgrade_pass *s);

#endif
