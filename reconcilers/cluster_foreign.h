/* DaemonSets of others that serve GPUs, and which nodes they would come to. */
#ifndef OSTLER_RECONCILERS_CLUSTER_FOREIGN_H
#define OSTLER_RECONCILERS_CLUSTER_FOREIGN_H

#include "reconcilers/cluster.h"
#include "reconcilers/model/foreign.h"

/* How the table of them works. */
struct table_ops cluster_foreign_ops(struct cluster *c);
/* The one that would come to the node, first those that run with the cluster, then by name; NULL: none. Borrowed until the next
 * event. */
const struct foreign *cluster_foreign(const struct cluster *c, const struct node_view *view);

#endif
