/* The images of a node's target: connects the cluster state with decide/images.h. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_IMAGES_H
#define OSTLER_RECONCILERS_ROLLOUT_IMAGES_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/rollout_types.h"

/* The state of the images of the node's target. */
struct images rollout_images(const struct cluster *c, const struct node_slot *slot,
                             const struct rollout_node *n);
/* Plans their pull. Error: an operand cannot be rendered; then it plans nothing. */
int rollout_pull(const struct cluster *c, const struct manifests *m, const struct rollout_node *n,
                 struct actions *actions, struct err *e);

#endif
