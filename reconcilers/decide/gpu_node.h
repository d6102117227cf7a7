/* The report about one node for users: its GpuNode, and the condition GpuReady of the Node. Both
 * show the result of the node's last pass; Ostler decides nothing from them. Ostler writes them
 * only when they change, not as heartbeats. */
#ifndef OSTLER_RECONCILERS_DECIDE_GPU_NODE_H
#define OSTLER_RECONCILERS_DECIDE_GPU_NODE_H

#include "kube/actions.h"
#include "reconcilers/decide/gpu_node_input.h"

/* Every client that watches nodes receives a change of the condition. So a change of the message
 * alone is written no more often than this. */
enum { GPU_NODE_SENTENCE_MS = 60 * 1000 };

/* Adds the writes that update the report and the condition, or remove them if Ostler does not
 * manage the node. Returns whether the condition is written. */
bool gpu_node_plan(const struct gpu_node_input *in, struct arena *a, struct actions *actions);

#endif
