/* Nodes that a repair returns as they were: one that is idle no longer, and one whose repair
 * failed. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_RETURN_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_RETURN_H

#include "reconcilers/decide/upgrade_phases.h"

/* Ends a repair that waits for an idle node if that is not idle any longer. Nothing was changed on
 * it, and its pods have been looked at. */
bool repair_yields(struct upgrade_pass *s);
/* Whether a node whose repair failed gets driver and stack back, and no pod works on its GPUs. */
bool repair_gives_back(const struct upgrade_pass *s);

#endif
