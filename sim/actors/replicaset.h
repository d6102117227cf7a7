/* The ReplicaSet controller's shared parts, including Deployments. Only for this directory. */
#ifndef OSTLER_SIM_ACTORS_REPLICASET_H
#define OSTLER_SIM_ACTORS_REPLICASET_H

#include "sim/actors/objects.h"

#define LABEL_TEMPLATE_HASH "pod-template-hash"

/* Syncs a Deployment: the ReplicaSet of its template, the replicas of all its sets, and its
 * status. */
void deployment_sync(struct actors *a, const json_t *deployment);

#endif
