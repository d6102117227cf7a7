/* Which GPU pods failed at once on which node, from the events of the watch: decide/black_hole.h
 * says what it means. A node without such failures takes no memory. */
#ifndef OSTLER_RECONCILERS_CLUSTER_FAILURES_H
#define OSTLER_RECONCILERS_CLUSTER_FAILURES_H

#include "reconcilers/cluster.h"

/* Takes a look at a Pod object of any kind. */
void cluster_failures_look(struct cluster *c, const json_t *object);
/* A cached pod has begun, changed or gone. */
void cluster_failures_moved(struct cluster *c, const struct pod *before, const struct pod *after);
/* Takes what a pass over the node did, and forgets what is over. */
void cluster_failures_take(struct cluster *c, struct node_slot *slot, enum black_hole_step step);

#endif
