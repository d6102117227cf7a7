/* The images of what a node is to run, between what is known of the cluster and plan/images.h. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_IMAGES_H
#define OSTLER_RECONCILERS_ROLLOUT_IMAGES_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/rollout.h"

/* How far the node is with the images of its target. */
struct images rollout_images(const struct cluster *c, const struct node_slot *slot, const struct rollout_node *n);
/* Plans that it pulls them. An error: one of the operands cannot be made; nothing is planned then. */
int rollout_pull(const struct cluster *c, const struct manifests *m, const struct rollout_node *n, struct actions *actions,
                 struct err *e);

#endif
