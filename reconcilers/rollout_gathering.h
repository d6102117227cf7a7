/* Gathers the input of a rollout decision from the cluster state. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_GATHERING_H
#define OSTLER_RECONCILERS_ROLLOUT_GATHERING_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/rollout_types.h"

struct rollout_gathering {
    struct rollout_input in;
    struct node_slot **slots; /* of the input's nodes, in their order */
    bool early; /* a node's target has no record yet: what it runs counts as its target */
};

/* All results live in the arena or in the cluster, whose policy must be valid. */
void rollout_gather(const struct cluster *c, struct arena *a, struct rollout_gathering *ret);

#endif
