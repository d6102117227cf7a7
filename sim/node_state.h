/* One word for what a node is to its users, from the objects of the API alone. */
#ifndef OSTLER_SIM_NODE_STATE_H
#define OSTLER_SIM_NODE_STATE_H

#include <jansson.h>
#include <stddef.h>

enum node_state {
    NODE_PLAIN,    /* no GPU that anybody knows of */
    NODE_FOUND,    /* marked as a GPU node; nothing is assigned */
    NODE_STARTING, /* assigned; its GPUs are not there yet, or not all of its operands are up */
    NODE_READY,    /* all of its operands are up, and its GPUs can be used: what the policy counts as ready */
    NODE_FAILED,   /* an operand says why it does not come up */
    NODE_CLOSED,   /* cordoned by somebody */
    NODE_DOWN,     /* its kubelet is silent, or says that it is not ready */
    NODE_STATE_COUNT
};

/* A node's operands that are not up. */
struct node_operands {
    size_t failed;  /* those that say why: CrashLoopBackOff, ImagePullBackOff, … */
    size_t waiting; /* all others */
};

/* Adds an operand's pod that is not up, or with -1 takes it off. */
void node_operands_add(struct node_operands *o, const json_t *pod, int delta);
/* `o` NULL: all of them are up. */
enum node_state node_state_of(const json_t *node, const struct node_operands *o);
/* "ready"; static text. */
const char *node_state_name(enum node_state state);

#endif
