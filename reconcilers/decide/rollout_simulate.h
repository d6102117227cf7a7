/* What a rollout is going to do, as far as that can be told: who goes, in which order and waves, when, and who stays and why. It
 * is found out by playing rollout_decide() itself on a copy of the fleet, on which every step succeeds and no job ever ends: so
 * the order is the one that is taken. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_SIMULATE_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_SIMULATE_H

#include "reconcilers/decide/rollout.h"

/* How long nodes took from their first step to their release, jobs that were waited for not counted. */
struct rollout_pace {
    int64_t node_s; /* of one, on average */
    size_t nodes;   /* that this was seen on; 0: no pace is known */
};

/* A node that goes. */
struct planned_move {
    const struct rollout_node *node; /* of the input */
    size_t wave;
    enum tier tier; /* that it changes first */
};

/* Nodes that begin together. */
struct planned_wave {
    size_t first, count; /* of the moves */
    bool canary;         /* the others wait for the first ones of it to have proven themselves */
    bool timed;          /* `begins_s` can be told: everything before it has a known pace */
    int64_t begins_s;    /* where it cannot be told: not before this time */
};

/* A node that is to go and does not, as far as can be told. */
struct planned_stay {
    const struct rollout_node *node; /* of the input */
    enum rollout_hold hold;
};

struct rollout_simulation {
    char hash[REVISION_HASH_MAX]; /* of the plan; "": every node runs its target, and all below is empty */
    struct planned_move *moves;  /* in the order in which they begin; those under way come first, in no wave. From the arena */
    size_t move_count, under_way; /* of the moves, the first ones that have begun already */
    struct planned_wave *waves;  /* from the arena */
    size_t wave_count;
    struct planned_stay *stays;  /* in the order of the input; from the arena */
    size_t stay_count;
    size_t beyond;                /* nodes that were not looked at any more, since there are too many */
    enum rollout_hold now;        /* what keeps nodes back at this moment; PAUSED and APPROVAL are thought away for the rest */
    bool timed;                   /* `ends_s` can be told */
    int64_t ends_s;               /* when the last of the moves is released */
};

/* `pace`: of each tier. `looks`: how many times a node may be looked at in all, as a measure of work; a fleet of n nodes one at a
 * time takes 2n². */
void rollout_simulate(const struct rollout_input *in, const struct rollout_pace pace[static TIERS],
                      size_t looks, struct arena *a, struct rollout_simulation *ret);

#endif
