/* Who gets the first toolkit of a pool next. It changes a container runtime that it was never tried with, and restarts it: one
 * that does harm must not do so on every node at once. The first nodes of a pool have to work with it; then as many at a time
 * get it as work, and one more. Once a pool has run the revision on all of its nodes, new nodes wait for nobody. */
#ifndef OSTLER_RECONCILERS_DECIDE_TOOLKIT_TURNS_H
#define OSTLER_RECONCILERS_DECIDE_TOOLKIT_TURNS_H

#include "reconcilers/decide/rollout.h"

/* A turn that the node could not use within this time goes to another node: the server refuses its label, say. */
enum { TOOLKIT_TURN_S = 120 };

enum toolkit_state {
    TOOLKIT_OUT,    /* nothing can be learned from the node, and it waits for nothing */
    TOOLKIT_WAITS,  /* all that is missing is its turn */
    TOOLKIT_TRIES,  /* it bears the label, and its toolkit and device plugin are not up yet */
    TOOLKIT_WORKS,  /* they are */
    TOOLKIT_FAILED, /* one of them says why it does not come up, or the node went down */
};

/* A node, as far as turns are concerned. All borrowed. */
struct toolkit_node {
    const char *name;
    size_t pool;
    const char *stack;  /* hash of the stack that it bears, or waits for */
    enum toolkit_state state;
    bool last;          /* it goes after all others: it runs Ostler */
    bool has_turn;      /* it waits, and may get its label */
    int64_t turn_s;     /* when it last got its turn, seconds of the epoch; 0: never */
    int64_t lost_s;     /* it went down then; 0: it is up */
};

struct toolkit_turns_input {
    const struct toolkit_node *nodes; /* in the order in which they go */
    size_t node_count;
    size_t canary_nodes;     /* of the policy; with 0 the first node has to show it all the same */
    int64_t install_s;       /* a node that has been down for longer holds up nobody: hardware is not the toolkit's fault */
    int64_t now_s;
};

struct toolkit_turns {
    /* Of each node, in the input's order: whether it has its turn now. */
    bool *granted;
    /* Of each node that waits: whose failure keeps all others from having their turn; NULL: nobody's. */
    const char **stopped_by;
    int64_t again_s; /* look again at this time though nothing happens; 0: no need */
};

/* Decides for all nodes at once. Lists are from the arena. */
void toolkit_turns(const struct toolkit_turns_input *in, struct arena *a, struct toolkit_turns *ret);

#endif
