/* The conditions of a Node that Ostler owns: GpuReady says whether what the policy asks for is up,
 * GpuHealthy whether the GPUs have a fault. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_CONDITIONS_H
#define OSTLER_RECONCILERS_DECIDE_NODE_CONDITIONS_H

#include "kube/actions.h"
#include "reconcilers/decide/gpu_node_input.h"

/* Every client that watches nodes receives a change of a condition. So a change of the message
 * alone is written no more often than this. */
enum { GPU_NODE_SENTENCE_MS = 60 * 1000 };
/* The CRD's length limit of a reason. */
enum { NODE_WORD_MAX = 128 };

/* Reason and message of GpuReady: whether the node's GPUs work, and if not, why. The message is
 * NULL if there is nothing to say. Static, borrowed, or from the arena. */
const char *node_ready_reason(const struct gpu_node_input *in);
const char *node_ready_message(const struct gpu_node_input *in, struct arena *a);
/* Adds the write that makes both conditions true, or removes them. `managed`: Ostler manages the
 * node. Returns whether one is written. */
bool node_conditions_plan(const struct gpu_node_input *in, struct arena *a, bool managed,
                          struct actions *actions);

#endif
