/* Tells who looks at the fleet page what has changed there. While no page is served, each of these
 * costs one test of a pointer. */
#ifndef OSTLER_RECONCILERS_CLUSTER_SHOWN_H
#define OSTLER_RECONCILERS_CLUSTER_SHOWN_H

#include "reconcilers/cluster.h"

/* A node's row may have changed. */
void cluster_shown(const struct cluster *c, const char *name);
/* The policy's part has changed. */
void cluster_shown_policy(const struct cluster *c);
/* Rows of all nodes may have changed. */
void cluster_shown_all(const struct cluster *c);
/* A pass over the node ends, after which other faults of its GPUs may count. */
void cluster_shown_health(const struct cluster *c, struct node_slot *slot);
/* A Node, a pod or a report has changed; NULL: it was not there before, or is not there now. */
void cluster_shown_node(const struct cluster *c, const struct node *was, const struct node *is);
void cluster_shown_pod(const struct cluster *c, const struct pod *was, const struct pod *is);
void cluster_shown_report(const struct cluster *c, const struct gpu_node *was,
                          const struct gpu_node *is);

#endif
