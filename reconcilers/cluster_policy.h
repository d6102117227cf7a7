/* The policy as it comes: decoded and checked; the newest valid one is kept. Private to the cluster. */
#ifndef OSTLER_RECONCILERS_CLUSTER_POLICY_H
#define OSTLER_RECONCILERS_CLUSTER_POLICY_H

#include <jansson.h>

struct cluster;

/* Takes over the policy as it is on the server now (NULL: there is none). */
void cluster_take_policy(struct cluster *c, const json_t *object);

#endif
