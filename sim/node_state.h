/* One word for what a node is, as `kubectl get gpunodes` has it: from its report, and where nobody has made one from the other
 * objects of the API. */
#ifndef OSTLER_SIM_NODE_STATE_H
#define OSTLER_SIM_NODE_STATE_H

#include <jansson.h>
#include <stddef.h>

/* id, name, SGR number of its colour */
#define NODE_STATES(X)                                                                                                         \
    X(PLAIN, "no GPU", "90")          /* none that anybody knows of */                                                         \
    X(FOUND, "Discovered", "36")      /* marked as a GPU node; nothing is assigned */                                          \
    X(STARTING, "Installing", "33")   /* assigned; its GPUs are not there yet, or not all of its operands are up */            \
    X(WAITING, "Waiting", "34")                                                                                                \
    X(DRAINING, "Draining", "35")                                                                                              \
    X(UNLOADING, "Unloading", "35")                                                                                            \
    X(VALIDATING, "Validating", "33")                                                                                          \
    X(READY, "Ready",                                                                                                          \
      "32")           /* all of its operands are up, and its GPUs can be used: what the policy counts as ready */              \
    X(FAILED, "Failed", "1;31")       /* an operand says why it does not come up */                                            \
    X(LOST, "Lost", "31")             /* its kubelet is silent, or says that it is not ready */                                \
    X(FOREIGN, "ForeignStack", "36")                                                                                           \
    X(UNSUPPORTED, "Unsupported", "1;31")                                                                                      \
    X(REMOVING, "Removing", "35")

enum node_state {
#define X(id, ...) NODE_##id,
    NODE_STATES(X)
#undef X
    NODE_STATE_COUNT
};

/* A node's operands that are not up. */
struct node_operands {
    size_t failed;  /* those that say why: CrashLoopBackOff, ImagePullBackOff, … */
    size_t waiting; /* all others */
};

/* Adds an operand's pod that is not up, or with -1 takes it off. */
void node_operands_add(struct node_operands *o, const json_t *pod, int delta);
/* `report`: the GpuNode of its name; NULL: there is none. `o` NULL: all of its operands are up. */
enum node_state node_state_of(const json_t *node, const json_t *report, const struct node_operands *o);
/* "Ready"; static text. */
const char *node_state_name(enum node_state state);
/* An SGR number; static text. */
const char *node_state_colour(enum node_state state);

#endif
