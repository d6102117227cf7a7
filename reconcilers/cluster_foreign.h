/* What others serve GPUs by: their DaemonSets, with the nodes that these would select, and
 * ResourceSlices by node. */
#ifndef OSTLER_RECONCILERS_CLUSTER_FOREIGN_H
#define OSTLER_RECONCILERS_CLUSTER_FOREIGN_H

#include "reconcilers/cluster.h"
#include "reconcilers/model/foreign.h"

/* Table operations for DaemonSets. */
struct table_ops cluster_foreign_ops(struct cluster *c);
/* Table operations for ResourceSlices. */
struct table_ops cluster_slice_ops(struct cluster *c);
/* The DaemonSet that would select the node: first those of the cluster (kube-system), then by name;
 * NULL: none. Borrowed until the next event. */
const struct foreign *cluster_foreign(const struct cluster *c, const struct node_view *view);

#endif
