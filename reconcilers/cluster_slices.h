/* ResourceSlices with GPUs, by the node that they are of. */
#ifndef OSTLER_RECONCILERS_CLUSTER_SLICES_H
#define OSTLER_RECONCILERS_CLUSTER_SLICES_H

#include "reconcilers/cluster.h"
#include "reconcilers/model/slice.h"

/* How the table of them works. */
struct table_ops cluster_slice_ops(struct cluster *c);
/* The first by name of those that offer the node's GPUs to resource claims; NULL: none does. Borrowed until the next event. */
const struct slice *cluster_slice(const struct cluster *c, const char *node);

#endif
