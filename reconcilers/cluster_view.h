/* What projections look at of an object: the most of it is left out before anything is made of it. */
#ifndef OSTLER_RECONCILERS_CLUSTER_VIEW_H
#define OSTLER_RECONCILERS_CLUSTER_VIEW_H

#include "kube/resource.h"
#include "kube/split.h"

/* Never NULL. */
const struct split_view *cluster_view(enum resource_id resource);

#endif
