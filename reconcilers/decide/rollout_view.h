/* What one decision looks at: every node sorted by what it still needs, and how each revision fares that some node is to get. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_VIEW_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_VIEW_H

#include "reconcilers/decide/rollout.h"

enum work_state {
    WORK_DONE,     /* nothing for the rollout to do: it is assigned its target, or it gets there without a claim */
    WORK_SKIPPED,  /* people said so: no claim */
    WORK_PENDING,  /* no claim yet */
    WORK_WAITING,  /* closed, its jobs run on */
    WORK_ACTIVE,   /* under way */
    WORK_FAILED,
    WORK_STATE_COUNT
};

/* A revision in a pool. What moves a node is that of the first tier that changes. */
struct progress {
    struct progress *next;
    struct rollout_revision record; /* as it should be after this decision's notes */
    const struct rollout_revision *written; /* as it is; NULL: nothing is */
    size_t threshold;               /* of failed nodes, at which it has failed */
    size_t failures;                /* nodes that failed with it and were not forgiven */
    const struct rollout_node *first_failed, *newly_failed;
    size_t able;                    /* nodes that could be canaries, or are */
    size_t settled;                 /* nodes that run it without a claim and are well */
    size_t running;                 /* nodes that run it without a claim and are up */
    size_t down;                    /* nodes that run it without a claim and are down */
    size_t begun;                   /* claims for it that are under way */
    size_t waiting;                 /* claims for it that wait for jobs, on nodes that are up */
    bool pulled;                    /* some node has its images: where others cannot get them, it is not that there are none */
    size_t kept;                    /* nodes that could begin, and do when they have its images, if that is soon */
    size_t idle;                    /* nodes that begin when there is a place for them, or when they have its images */
    enum rollout_hold idle_waits;   /* for what the first of them does; NONE: it was not looked at yet */
    size_t ahead[2];                /* nodes in service that pull its images or have: with jobs in the way, and without */
    bool wave_closed;               /* the wave before is not over, or has not soaked */
};

struct work {
    const struct rollout_node *node;
    enum work_state state;
    struct progress *progress; /* of the revision that it is to get; NULL: no move */
    enum tier tier;            /* by which it moves */
    bool stale;                /* its claim is for another target than it has now */
    bool restores;             /* failed, and goes back to what is known good: it is out of service until it does */
    bool retreats;             /* the same without a claim: what it runs is not well */
};

struct rollout_view {
    const struct rollout_input *in;
    struct work *works;        /* one for each node, in the input's order; from the arena */
    struct progress *progress; /* a list, in the order in which nodes ask for them; from the arena */
    size_t of[WORK_STATE_COUNT];
    int64_t next_lost_s;       /* when the next node that went down under way is given up for lost; INT64_MAX: none is */
};

/* Whether the node serves until it gets a claim, and so has to have the images of its target before. One that is closed pulls
 * when its pods come. */
bool work_needs_images(const struct work *w);
/* Works out how each node and each revision stands. Borrows `in`; lists are from the arena. */
void rollout_view_make(const struct rollout_input *in, struct arena *a, struct rollout_view *ret);
/* Adds what the records must say before anything begins. */
void rollout_view_note(const struct rollout_view *v, struct arena *a, struct rollout_decision *ret);
/* Whether the canary of a revision is over, or it needs none. */
bool progress_canary_over(const struct progress *p, const struct rollout_input *in);
/* How many seconds a canary that is not well has to be well yet. */
int64_t progress_canary_left_s(const struct progress *p, const struct rollout_input *in);

/* Whether so much time has passed since then. A time in the future has not come; no sum can overflow. */
bool time_passed(int64_t since_s, int64_t span_s, int64_t now_s);
/* When that will be. */
int64_t time_after(int64_t since_s, int64_t span_s);

/* A revision that the policy still says and that failed in a pool, always the same one; NULL: there is none. */
const struct rollout_revision *rollout_first_failed(const struct rollout_input *in);

#endif
