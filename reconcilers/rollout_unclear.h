/* Nodes of which Ostler does not know what became of a write of their claim: the response was lost,
 * or the node differed from the cache. The watch may say nothing of it for minutes. Such a node may
 * have a place in the budget, so Ostler lists it before the rollout gives away the next place. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_UNCLEAR_H
#define OSTLER_RECONCILERS_ROLLOUT_UNCLEAR_H

#include "reconcilers/cluster.h"

/* Plans a look at each such node. Call it before the grants: news of a look end the plan. */
void rollout_unclear_look(const struct cluster *c, struct actions *actions);
/* Takes the result of the rollout's plan. */
void rollout_unclear_take(struct cluster *c, const struct actions *done);

#endif
