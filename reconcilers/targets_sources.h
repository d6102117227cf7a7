/* What targets ask about the cluster: revisions that pools hold on to, configurations of the device plugin, and whether nodes of
 * the control plane are served. */
#ifndef OSTLER_RECONCILERS_TARGETS_SOURCES_H
#define OSTLER_RECONCILERS_TARGETS_SOURCES_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/cluster_view.h"

/* The targets of the valid policy, worked out when first asked for; NULL without a valid policy. Borrowed. */
struct targets *cluster_targets(struct cluster *c);
/* Fills in what the view says of the control plane. Pods that run on one of its nodes already keep the requirement out of all
 * DaemonSets, whose controller would end those pods at once, with jobs on the node or without. */
void cluster_look_at_control_plane(const struct cluster *c, struct cluster_view *v);

#endif
