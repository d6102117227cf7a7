/* How objects become records of the cluster, and who is told when they change. Private to cluster.c. */
#ifndef OSTLER_RECONCILERS_CLUSTER_TABLES_H
#define OSTLER_RECONCILERS_CLUSTER_TABLES_H

struct cluster;

/* Sets up the tables of everything that is watched. */
void cluster_tables_init(struct cluster *c);

#endif
