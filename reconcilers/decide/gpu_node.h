/* The report about one node for users: its GpuNode, and the conditions of the Node. They show the
 * result of the node's last pass; Ostler decides nothing from them. Ostler writes them only when
 * they change, not as heartbeats. */
#ifndef OSTLER_RECONCILERS_DECIDE_GPU_NODE_H
#define OSTLER_RECONCILERS_DECIDE_GPU_NODE_H

#include "kube/actions.h"
#include "reconcilers/decide/gpu_node_input.h"
#include "reconcilers/decide/node_conditions.h"

/* The status of the GpuNode as Ostler would write it now, without what the agent reports. New
 * reference. */
json_t *gpu_node_status(const struct gpu_node_input *in, struct arena *a);
/* Adds the writes that update the report and the conditions, or remove them if Ostler does not
 * manage the node. Returns whether a condition is written. */
bool gpu_node_plan(const struct gpu_node_input *in, struct arena *a, struct actions *actions);

#endif
