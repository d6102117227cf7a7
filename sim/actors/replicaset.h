/* ReplicaSets and the Deployments above them. Only for this folder. */
#ifndef OSTLER_SIM_ACTORS_REPLICASET_H
#define OSTLER_SIM_ACTORS_REPLICASET_H

#include "sim/actors/objects.h"

#define LABEL_TEMPLATE_HASH "pod-template-hash"

/* One look at a Deployment: the ReplicaSet of its template, the replicas of all of them, its status. */
void deployment_sync(struct actors *a, const json_t *deployment);

#endif
