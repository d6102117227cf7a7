/* What is known of the health of a node's GPUs, as input for the decision about it. */
#ifndef OSTLER_RECONCILERS_CLUSTER_HEALTH_H
#define OSTLER_RECONCILERS_CLUSTER_HEALTH_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/health.h"

/* Fills in the input for a slot with a node; borrowed from the cluster. False: nothing is or was
 * wrong there, and the node has no record of a fault, so that the rest need not be gathered. */
bool cluster_health(const struct cluster *c, const struct node_slot *slot,
                    struct health_input *ret);
/* The same about a report that may not be in the table. */
bool cluster_health_of(const struct cluster *c, const struct node_slot *slot,
                       const struct gpu_node *report, struct health_input *ret);
/* How many of its GPUs have a fault of level Close or worse. */
unsigned cluster_bad_gpus(const struct cluster *c, const struct node_slot *slot);
/* Remembers the node's newest driver, the boot in which NVML spoke of its GPUs, and until when its
 * claim changes the driver. Call it in each pass over the node. */
void cluster_health_look(const struct cluster *c, struct node_slot *slot);

#endif
