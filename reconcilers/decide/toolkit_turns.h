/* Decides which node gets the first toolkit of a pool next. A toolkit changes and restarts a
 * container runtime that it was never tested with, so a harmful one must not reach all nodes at
 * once. The first nodes of a pool must work with it. Then as many nodes at a time get it as already
 * work, plus one. After the pool has run the revision on all its nodes, new nodes do not wait. */
#ifndef OSTLER_RECONCILERS_DECIDE_TOOLKIT_TURNS_H
#define OSTLER_RECONCILERS_DECIDE_TOOLKIT_TURNS_H

#include "reconcilers/decide/rollout_types.h"

/* A turn that a node does not use within this time, for example because the API server refuses its
 * label, goes to another node. */
enum { TOOLKIT_TURN_S = 120 };

enum toolkit_state {
    TOOLKIT_OUT,    /* the node waits for nothing and shows nothing about the toolkit */
    TOOLKIT_WAITS,  /* only its turn is missing */
    TOOLKIT_TRIES,  /* it has the label; toolkit and device plugin are not up yet */
    TOOLKIT_WORKS,  /* they are up */
    TOOLKIT_FAILED, /* one of them reports why it does not come up, or the node went down */
};

/* A node for the purpose of turns. All borrowed. */
struct toolkit_node {
    const char *name;
    size_t pool;
    const char *stack; /* hash of the stack that it has or waits for */
    enum toolkit_state state;
    bool last;      /* it goes last, because Ostler runs on it */
    bool has_turn;  /* it waits and may get its label */
    int64_t turn_s; /* when it last got its turn, epoch seconds; 0: never */
    int64_t lost_s; /* when it went down; 0: it is up */
};

struct toolkit_turns_input {
    const struct toolkit_node *nodes; /* in their order of turns */
    size_t node_count;
    size_t canary_nodes; /* of the policy; with 0 the first node must still work first */
    /* A node that is down for longer delays no other: the toolkit is not to blame for hardware. */
    int64_t install_s;
    int64_t now_s;
};

struct toolkit_turns {
    /* For each node, in the input's order: whether it has its turn now. */
    bool *granted;
    /* For each waiting node: the node whose failure stops all turns; NULL: none. */
    const char **stopped_by;
    int64_t again_s; /* decide again at this time even without an event; 0: not needed */
};

/* Decides for all nodes at once. Lists are from the arena. */
void toolkit_turns(const struct toolkit_turns_input *in, struct arena *a,
                   struct toolkit_turns *ret);

#endif
