/* News of faults in an agent's report. Each is counted, and each new one that asks for something is
 * an Event, but for the worst of its node: that is written to the GpuNode, and its Event comes with
 * the write. */
#ifndef OSTLER_RECONCILERS_FAULT_NEWS_H
#define OSTLER_RECONCILERS_FAULT_NEWS_H

#include "reconcilers/reconcilers.h"

/* Takes another report about the slot's node. `tells`: Ostler works, so that it may send Events. */
void fault_news(struct reconcilers *r, const struct node_slot *slot, const struct gpu_node *before,
                const struct gpu_node *after, bool tells);

#endif
