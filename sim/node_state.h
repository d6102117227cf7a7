/* The state of a node in one word, as in `kubectl get gpunodes`: from its GpuNode, or without one
 * from other API objects. */
#ifndef OSTLER_SIM_NODE_STATE_H
#define OSTLER_SIM_NODE_STATE_H

#include <jansson.h>
#include <stddef.h>

/* id, name, SGR number of the colour */
#define NODE_STATES(X)                                                                             \
    X(PLAIN, "no GPU", "90")        /* no known GPU */                                             \
    X(FOUND, "Discovered", "36")    /* labeled as a GPU node; nothing is assigned */               \
    X(STARTING, "Installing", "33") /* assigned; GPUs or operands are not all up */                \
    X(WAITING, "Waiting", "34")                                                                    \
    X(DRAINING, "Draining", "35")                                                                  \
    X(UNLOADING, "Unloading", "35")                                                                \
    X(RESETTING, "Resetting", "35")                                                                \
    X(REBOOTING, "Rebooting", "35")                                                                \
    X(VALIDATING, "Validating", "33")                                                              \
    X(READY, "Ready", "32")     /* operands and GPUs are up, as the policy counts */               \
    X(FAILED, "Failed", "1;31") /* an operand reports why it does not start */                     \
    X(LOST, "Lost", "31")       /* its kubelet is silent or reports not ready */                   \
    X(FOREIGN, "ForeignStack", "36")                                                               \
    X(UNSUPPORTED, "Unsupported", "1;31")                                                          \
    X(REMOVING, "Removing", "35")

enum node_state {
#define X(id, ...) NODE_##id,
    NODE_STATES(X)
#undef X
        NODE_STATE_COUNT
};

/* A node's operands that are not up. */
struct node_operands {
    size_t failed;  /* with a reason: CrashLoopBackOff, ImagePullBackOff, … */
    size_t waiting; /* all others */
};

/* Adds (1) or removes (-1) an operand's pod that is not up. */
void node_operands_add(struct node_operands *o, const json_t *pod, int delta);
/* `report`: the node's GpuNode; NULL: none. `o` NULL: all operands are up. */
enum node_state node_state_of(const json_t *node, const json_t *report,
                              const struct node_operands *o);
/* By enum node_state: "Ready", and an SGR number. */
extern const struct node_state_look {
    const char *name, *colour;
} node_state_looks[NODE_STATE_COUNT];

#endif
