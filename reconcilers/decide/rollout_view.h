/* The input of a rollout decision: each node by what it still needs, and the state of each revision
 * that a node will get. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_VIEW_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_VIEW_H

#include "reconcilers/decide/rollout_types.h"

enum work_state {
    WORK_DONE,    /* nothing to do: it is assigned its target, or gets it without a claim */
    WORK_SKIPPED, /* excluded by users: no claim */
    WORK_PENDING, /* no claim yet */
    WORK_WAITING, /* tainted, its jobs run on */
    WORK_ACTIVE,  /* under way */
    WORK_FAILED,
    WORK_STATE_COUNT
};

/* A revision in a pool. A node moves by the revision of the first tier that changes. */
struct progress {
    struct progress *next;
    struct rollout_revision record;         /* the state after this decision's notes */
    const struct rollout_revision *written; /* the state on the API server; NULL: no record */
    size_t threshold;                       /* number of failed nodes at which it has failed */
    size_t failures; /* nodes that failed with it and were not forgiven by a retry */
    const struct rollout_node *first_failed, *newly_failed;
    const char *failed_with; /* why the first one failed */
    size_t able;             /* nodes that are or could be canaries */
    size_t settled;          /* nodes that run it without a claim and are well */
    size_t running;          /* nodes that run it without a claim, up and healthy */
    size_t down;             /* nodes that run it without a claim, down or unhealthy */
    size_t begun;            /* claims for it that are under way */
    size_t waiting;          /* claims for it that wait for jobs, on nodes that are up */
    /* A node has its images, so they exist: if another node cannot pull them, the cause is that
     * node. */
    bool pulled;
    size_t kept; /* nodes whose place is kept, because they start once images are pulled */
    size_t idle; /* nodes that start when there is a place, or when their images are pulled */
    enum rollout_hold idle_waits; /* what the first of them waits for; NONE: not examined yet */
    /* Nodes in service that pull its images or have them: with blocking jobs, and without. */
    size_t ahead[2];
    bool wave_closed; /* the previous wave is not over, or has not soaked */
};

struct work {
    const struct rollout_node *node;
    enum work_state state;
    /* Of the revision that it will get; NULL: no move. A repair that brings no revision has that of
     * the view. */
    struct progress *progress;
    enum tier tier; /* by which it moves */
    bool stale;     /* its claim is for another target than its current one */
    bool reboots;   /* down, because Ostler reboots it, and not for too long */
    bool repairs;   /* its GPUs are to be repaired, or are being repaired */
    bool restores;  /* failed, returns to a known good revision: out of service until then */
    bool retreats;  /* the same without a claim: what it runs is not well */
};

struct rollout_view {
    const struct rollout_input *in;
    struct work *works;        /* one for each node, in the input's order; from the arena */
    struct progress *progress; /* a list, in the order in which nodes need them; from the arena */
    /* Of all repairs that bring no revision. Nothing is recorded of it, no canary goes first, and
     * nothing fails with it. */
    struct progress repairs;
    size_t of[WORK_STATE_COUNT];
    /* When the next node under way that is down counts as lost, or loses its place; INT64_MAX:
     * none. */
    int64_t next_lost_s;
};

/* Whether it is under way and keeps its place: its slot, and its topology domain. One that is down
 * keeps it only while Ostler reboots it, which is what takes it down; one that is being removed
 * keeps none. */
bool work_keeps_place(const struct work *w);
/* Whether the node is to be repaired, and no user keeps Ostler off. */
bool rollout_is_to_repair(const struct rollout_node *n);
/* Whether the node serves until its claim, and so must pull the images of its target first. A
 * tainted node pulls when its pods start. */
bool work_needs_images(const struct work *w);
/* Computes the state of each node and revision. Borrows `in`; lists are from the arena. */
void rollout_view_make(const struct rollout_input *in, struct arena *a, struct rollout_view *ret);
/* Adds what the records must say before anything starts. */
void rollout_view_note(const struct rollout_view *v, struct arena *a, struct rollout_decision *ret);
/* Whether the canary of a revision is over or not needed. */
bool progress_canary_over(const struct progress *p, const struct rollout_input *in);
/* How many more seconds an unfinished canary must be well. */
int64_t progress_canary_left_s(const struct progress *p, const struct rollout_input *in);

/* Whether `span_s` has passed since `since_s`. A time in the future has not; no sum can
 * overflow. */
bool time_passed(int64_t since_s, int64_t span_s, int64_t now_s);
/* When that will be. */
int64_t time_after(int64_t since_s, int64_t span_s);

/* Decides again at that time at the latest; INT64_MAX: no matter when. */
void rollout_look_again(struct rollout_decision *ret, int64_t at_s);

/* A failed revision in a pool that the policy still asks for, always the same one; NULL: none. */
const struct rollout_revision *rollout_first_failed(const struct rollout_input *in);
/* The hash of a plan, which a user approves: hashes what the policy asks for in each pool, done or
 * not, because the remaining work would be a new plan after each node. Skipped, failed and
 * rolled-back nodes do not change it either: an approval for all nodes also covers the rest. */
void rollout_plan_hash(const struct rollout_input *in, char ret[static REVISION_HASH_MAX]);

#endif
