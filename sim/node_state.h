/* One word for what a node is to its users, from the objects of the API alone. */
#ifndef OSTLER_SIM_NODE_STATE_H
#define OSTLER_SIM_NODE_STATE_H

#include <jansson.h>

enum node_state {
    NODE_PLAIN,    /* no GPU that anybody knows of */
    NODE_FOUND,    /* marked as a GPU node; nothing is assigned */
    NODE_STARTING, /* assigned; its GPUs are not there yet */
    NODE_READY,    /* its GPUs can be used */
    NODE_CLOSED,   /* cordoned by somebody */
    NODE_DOWN,     /* its kubelet is silent, or says that it is not ready */
    NODE_STATE_COUNT
};

enum node_state node_state_of(const json_t *node);
/* "ready"; static text. */
const char *node_state_name(enum node_state state);

#endif
