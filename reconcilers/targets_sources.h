/* Answers the questions of targets about the cluster: revisions that pools keep, device plugin
 * configurations, and whether control plane nodes are served. */
#ifndef OSTLER_RECONCILERS_TARGETS_SOURCES_H
#define OSTLER_RECONCILERS_TARGETS_SOURCES_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/cluster_view.h"

/* The targets of the valid policy, computed on first use; NULL without a valid policy. Borrowed. */
struct targets *cluster_targets(struct cluster *c);
/* Fills in the control plane members of the view. If operand pods already run on a control plane
 * node, the requirement stays out of all DaemonSets: their controller would end those pods at once,
 * even under running jobs. */
void cluster_look_at_control_plane(const struct cluster *c, struct cluster_view *v);

#endif
