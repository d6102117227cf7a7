/* How objects become records of the cluster, and who is told when they change. Private to cluster.c. */
#ifndef OSTLER_RECONCILERS_CLUSTER_TABLES_H
#define OSTLER_RECONCILERS_CLUSTER_TABLES_H

#include <jansson.h>

struct cluster;

/* Sets up the tables of everything that is watched. */
void cluster_tables_init(struct cluster *c);
/* Takes over the policy as it is on the server now (NULL: there is none). */
void cluster_take_policy(struct cluster *c, const json_t *object);

#endif
