/* What the report about one node is made from, gathered from the cluster: for the pass that writes
 * the report, and for the fleet page, which shows it as it would be written now. */
#ifndef OSTLER_RECONCILERS_REPORT_INPUT_H
#define OSTLER_RECONCILERS_REPORT_INPUT_H

#include "reconcilers/cluster.h"
#include "reconcilers/decide/gpu_node_input.h"

/* Borrows from the cluster, the arena and `now` (RFC 3339). `slot` is NULL if no node has that
 * name. `ret_facts`: what is known of the health of its GPUs; zeros: nothing is wrong. */
struct gpu_node_input report_input(const struct cluster *c, const char *name,
                                   const struct node_slot *slot, enum operating_mode mode,
                                   const char *now, struct arena *a,
                                   struct health_input *ret_facts);

#endif
