/* How objects become records of the cluster, and what each change enqueues. Private to
 * cluster.c. */
#ifndef OSTLER_RECONCILERS_CLUSTER_TABLES_H
#define OSTLER_RECONCILERS_CLUSTER_TABLES_H

struct cluster;

/* Sets up the tables of all watched resources. */
void cluster_tables_init(struct cluster *c);

#endif
