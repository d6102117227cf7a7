/* The pass that gives nodes their turn for the first toolkit of their pool (plan/toolkit_turns.h). */
#ifndef OSTLER_RECONCILERS_TOOLKIT_PASS_H
#define OSTLER_RECONCILERS_TOOLKIT_PASS_H

#include "reconcilers/rollout_gathering.h"

/* Notes in the slots of the nodes who has a turn, and has those looked at for which that changed. Asks to be called again when
 * a turn ends unused. */
void toolkit_pass(const struct cluster *c, const struct rollout_gathering *g, struct arena *a, struct actions *actions);

#endif
