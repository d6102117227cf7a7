/* The fields that projections read of an object: the rest is dropped before parsing. */
#ifndef OSTLER_RECONCILERS_PROJECTIONS_H
#define OSTLER_RECONCILERS_PROJECTIONS_H

#include "kube/resource.h"
#include "kube/split.h"

/* Never NULL. */
const struct split_view *projection_view(enum resource_id resource);
/* The fields to read of an unknown object that cannot be read with the full view; NULL: none.
 * Without its status a node counts as down, with its claim, and a pod counts as using its node:
 * both are safe. A DaemonSet would count as having no pods, which is not safe. */
const struct split_view *projection_bare_view(enum resource_id resource);

#endif
