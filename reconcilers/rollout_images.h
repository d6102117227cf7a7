/* The images of what a node is to run, between what is known of the cluster and plan/images.h. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_IMAGES_H
#define OSTLER_RECONCILERS_ROLLOUT_IMAGES_H

#include "reconcilers/cluster.h"
#include "reconcilers/plan/rollout.h"

/* How far the node is with the images of its target. */
struct images rollout_images(const struct cluster *c, const struct node_slot *slot, const struct rollout_node *n);
/* Plans that it pulls them. What cannot be made is said by the policy's pass, which makes DaemonSets of the same. */
void rollout_pull(const struct cluster *c, const struct manifests *m, const struct rollout_node *n, struct plan *plan);

#endif
