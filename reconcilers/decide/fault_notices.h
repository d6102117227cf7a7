/* Events when a fault of its GPUs closes a node for new pods, and when the node opens. They go with
 * the write of the node that does it, so each is sent once, and none is sent for a write that the
 * API server refuses. */
#ifndef OSTLER_RECONCILERS_DECIDE_FAULT_NOTICES_H
#define OSTLER_RECONCILERS_DECIDE_FAULT_NOTICES_H

#include "reconcilers/decide/node_types.h"
#include "reconcilers/model/gpu_node.h"

/* Adds them for a plan of the node. `report`: its GpuNode, which gets them too; NULL: there is
 * none. */
void fault_notices(const struct node_input *in, const struct node_verdict *v,
                   const struct gpu_node *report, struct actions *actions);

#endif
