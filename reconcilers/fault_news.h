/* News of faults in an agent's report. Each is counted. Each new one that asks for something is an
 * Event, on nodes that Ostler manages, but for the one that the next write to the GpuNode tells of.
 * If that write then tells of another fault instead, the first one gets an Event of its own. */
#ifndef OSTLER_RECONCILERS_FAULT_NEWS_H
#define OSTLER_RECONCILERS_FAULT_NEWS_H

#include "reconcilers/reconcilers.h"

/* Takes another report about the slot's node. `tells`: Ostler works and manages nodes, so that it
 * may send Events. */
void fault_news(struct reconcilers *r, const struct node_slot *slot, const struct gpu_node *before,
                const struct gpu_node *after, bool tells);

#endif
