/* Other operators' DaemonSets that serve GPUs, and the nodes that they would select. */
#ifndef OSTLER_RECONCILERS_CLUSTER_FOREIGN_H
#define OSTLER_RECONCILERS_CLUSTER_FOREIGN_H

#include "reconcilers/cluster.h"
#include "reconcilers/model/foreign.h"

/* Table operations for these DaemonSets. */
struct table_ops cluster_foreign_ops(struct cluster *c);
/* The DaemonSet that would select the node: first those of the cluster (kube-system), then by name;
 * NULL: none. Borrowed until the next event. */
const struct foreign *cluster_foreign(const struct cluster *c, const struct node_view *view);

#endif
