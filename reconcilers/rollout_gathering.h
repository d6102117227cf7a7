/* What a decision of the rollout looks at, gathered from what is known of the cluster. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_GATHERING_H
#define OSTLER_RECONCILERS_ROLLOUT_GATHERING_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/rollout.h"

struct rollout_gathering {
    struct rollout_input in;
    struct node_slot **slots; /* of the input's nodes, in their order */
    bool early;               /* what some node is to run has no record yet: it counts as if it were to run what it runs */
};

/* Everything lives in the arena or in the cluster, whose policy must be valid. */
void rollout_gather(const struct cluster *c, struct arena *a, struct rollout_gathering *ret);

#endif
