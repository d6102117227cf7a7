/* What no projection reads of an object: the most of it. It is left out before anything is made of it. */
#ifndef OSTLER_RECONCILERS_CLUSTER_UNREAD_H
#define OSTLER_RECONCILERS_CLUSTER_UNREAD_H

#include "kube/resource.h"

/* Paths as split.left_out has them. */
const char *const *cluster_unread(enum resource_id resource);

#endif
