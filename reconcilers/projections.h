/* What projections look at of an object: the most of it is left out before anything is made of it. */
#ifndef OSTLER_RECONCILERS_PROJECTIONS_H
#define OSTLER_RECONCILERS_PROJECTIONS_H

#include "kube/resource.h"
#include "kube/split.h"

/* Never NULL. */
const struct split_view *projection_view(enum resource_id resource);
/* What is read of an object that cannot be read so and of which nothing is known yet; NULL: nothing. Without its status a node is
 * down, with its claim, and a pod holds its node: that is the safe side. A DaemonSet would have no pods, which is not. */
const struct split_view *projection_bare_view(enum resource_id resource);

#endif
