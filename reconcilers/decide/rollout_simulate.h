/* Simulates a rollout: which nodes go, in which order and waves, when, and which stay and why. It
 * runs rollout_decide() on a copy of the fleet in which every step succeeds and no job ends. So the
 * order is the real one. It leaves out repairs of GPUs, but for those under way: repair_plan.h has
 * them. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_SIMULATE_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_SIMULATE_H

#include "reconcilers/decide/rollout.h"

/* Average time from a node's first step to its release, without the wait for jobs. */
struct rollout_pace {
    int64_t node_s; /* of one node, on average */
    size_t nodes;   /* number of nodes measured; 0: no pace is known */
};

/* A node that goes. */
struct planned_move {
    const struct rollout_node *node; /* of the input */
    size_t wave;
    enum tier tier; /* that it changes first */
};

/* Nodes that start together. */
struct planned_wave {
    size_t first, count; /* of the moves */
    bool canary;         /* its first nodes must prove themselves before the others start */
    bool timed;          /* `begins_s` is known: everything before it has a known pace */
    int64_t begins_s;    /* if not `timed`: not before this time */
};

/* A node that should go but, as far as is known, does not. */
struct planned_stay {
    const struct rollout_node *node; /* of the input */
    enum rollout_hold hold;
};

struct rollout_simulation {
    char hash[REVISION_HASH_MAX]; /* of the plan; "": all nodes run their target, all is empty */
    /* In starting order; those under way come first, outside waves. From the arena. */
    struct planned_move *moves;
    size_t move_count, under_way; /* of the moves, the number that have started already */
    struct planned_wave *waves;   /* from the arena */
    size_t wave_count;
    struct planned_stay *stays; /* in the input's order; from the arena */
    size_t stay_count;
    size_t beyond;         /* nodes that were not simulated because there are too many */
    enum rollout_hold now; /* what delays nodes now; the rest ignores PAUSED and APPROVAL */
    bool timed;            /* `ends_s` is known */
    int64_t ends_s;        /* when the last move is released */
};

/* `pace`: for each tier. `looks`: maximum node visits, as a limit of work; n nodes one at a time
 * take 2n². */
void rollout_simulate(const struct rollout_input *in, const struct rollout_pace pace[static TIERS],
                      size_t looks, struct arena *a, struct rollout_simulation *ret);

#endif
