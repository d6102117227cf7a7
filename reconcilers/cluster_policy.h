/* Takes in the policy: decodes and validates it, and keeps the newest valid one. Private to the
 * cluster. */
#ifndef OSTLER_RECONCILERS_CLUSTER_POLICY_H
#define OSTLER_RECONCILERS_CLUSTER_POLICY_H

#include "reconcilers/cluster.h"

/* Table operations for the policy. */
struct table_ops cluster_policy_ops(struct cluster *c);
/* Takes the policy from the API server (NULL: there is none). */
void cluster_take_policy(struct cluster *c, const json_t *object);

#endif
