/* ResourceSlices with GPUs, by node. */
#ifndef OSTLER_RECONCILERS_CLUSTER_SLICES_H
#define OSTLER_RECONCILERS_CLUSTER_SLICES_H

#include "reconcilers/cluster.h"
#include "reconcilers/model/slice.h"

/* Table operations for slices. */
struct table_ops cluster_slice_ops(struct cluster *c);
/* The first slice, by name, that offers the node's GPUs to resource claims; NULL: none. Borrowed
 * until the next event. */
const struct slice *cluster_slice(const struct cluster *c, const char *node);

#endif
