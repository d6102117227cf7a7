/* The storm brake of the cluster: which nodes have unhealthy GPUs, and which were to be closed for
 * that and when, kept one node at a time, and what decide/brake makes of that. */
#ifndef OSTLER_RECONCILERS_CLUSTER_BRAKE_H
#define OSTLER_RECONCILERS_CLUSTER_BRAKE_H

#include "reconcilers/cluster.h"

/* Takes what is known of the health of a node's GPUs (NULL: nothing is wrong), before the decision
 * about the node. */
void cluster_brake_look(struct cluster *c, struct node_slot *slot,
                        const struct health_input *health);
/* Takes the state that was decided for the node, before it replaces the last one: nodes that Ostler
 * does not serve do not count, nor do those with the label that ignores faults. */
void cluster_brake_decided(struct cluster *c, struct node_slot *slot, enum node_state state);
/* Whether the brake keeps the node from being closed by soft evidence. */
bool cluster_brake_holds(const struct cluster *c, const struct node_slot *slot);
/* Decides again, because time has passed or the policy has changed. Returns in how many
 * milliseconds the brake goes off by itself; 0: it is off. */
int64_t cluster_brake_review(struct cluster *c);
/* Removes a node that is gone, or that Ostler does not serve. That it was to be closed counts on:
 * else to remove the closed nodes of a storm would release the brake. */
void cluster_brake_forget(struct cluster *c, struct node_slot *slot);

#endif
