/* The pass that gives nodes their turn for the first toolkit of their pool
 * (decide/toolkit_turns.h). */
#ifndef OSTLER_RECONCILERS_TOOLKIT_PASS_H
#define OSTLER_RECONCILERS_TOOLKIT_PASS_H

#include "reconcilers/rollout_gathering.h"

/* Stores the turns in the nodes' slots and enqueues the nodes that changed. Requests a requeue for
 * when a turn ends unused. */
void toolkit_pass(const struct cluster *c, const struct rollout_gathering *g, struct arena *a,
                  struct actions *actions);

#endif
