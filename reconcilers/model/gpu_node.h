/* What we keep of a GpuNode, the report about a node: enough to tell whether it says what it should. */
#ifndef OSTLER_RECONCILERS_MODEL_GPU_NODE_H
#define OSTLER_RECONCILERS_MODEL_GPU_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/record.h"

#define GPU_NODE_KIND "GpuNode"
/* The member of its status that may be out of date: a policy that changes nothing on a node does not write its report anew. */
#define GPU_NODE_GENERATION "policyGeneration"

/* Longest state and time that are kept; what is longer is not ours. */
enum { GPU_NODE_STATE_MAX = 24, GPU_NODE_TIME_MAX = 24 };

struct gpu_node {
    struct record head;               /* key = the node's name */
    char owner[RECORD_UID_MAX];       /* uid of the Node that it goes with; "": none */
    char state[GPU_NODE_STATE_MAX];   /* status.state, "" when it says nothing */
    char since[GPU_NODE_TIME_MAX];    /* status.since, RFC 3339 in UTC; "" when it is no time as we write it */
    uint64_t said;                    /* gpu_node_said() of its status */
    bool deleting;
};

/* The record of a GpuNode. */
struct gpu_node *gpu_node_project(const json_t *object);
bool gpu_node_same(const struct gpu_node *a, const struct gpu_node *b);
void gpu_node_free(struct gpu_node *g);
/* What a status says, as a hash of all but GPU_NODE_GENERATION; 0 for NULL. */
uint64_t gpu_node_said(const json_t *status);

#endif
