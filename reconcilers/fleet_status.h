/* The status of a node's GpuNode as Ostler would write it now, for the fleet page. */
#ifndef OSTLER_RECONCILERS_FLEET_STATUS_H
#define OSTLER_RECONCILERS_FLEET_STATUS_H

#include "reconcilers/cluster.h"

/* Since when the node is in its state, epoch seconds; 0: not known. */
int64_t fleet_since_s(const struct cluster *c, const struct node_slot *slot);
/* The status, without what the agent reports. `now`: RFC 3339. New reference. */
json_t *fleet_status(const struct cluster *c, const struct node_slot *slot, const char *now);

#endif
