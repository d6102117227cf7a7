/* Nodes that get the images of their target before they are claimed: who pulls, and whose place is kept meanwhile. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_AHEAD_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_AHEAD_H

#include "reconcilers/decide/rollout_budget.h"

struct ahead {
    const struct rollout_input *in;
    struct budget promised; /* as if those that could begin, and wait for nothing but their images, had begun */
    struct budget kept;     /* the same with those of them that have not pulled for long */
    size_t pulls_max;       /* nodes of one revision that may pull, or have pulled, before they are claimed */
};

/* How far a node is: who was not asked yet is as good as who pulls, and one that has to have no images is ready. */
enum images_state ahead_images(const struct work *w);
/* Begins to count, on top of what the budget has counted already. Borrows `in`. */
void ahead_make(const struct rollout_input *in, const struct budget *budget, struct ahead *ret);
/* The node was asked for its images: it takes one of the places, of its revision. `ready`: it could begin. */
void ahead_count(const struct work *w, bool ready);
/* The node has got its grant. */
void ahead_take(struct ahead *a, const struct work *w, bool ready);
/* Whether the place that is left for a node that has its images is kept for others. `first`: it is in the order among those that
 * could begin. */
bool ahead_refuses(const struct ahead *a, const struct work *w, bool ready, bool first);
/* What keeps a node back that has not got its images, and that nothing else does: these, or others that go first. */
enum rollout_hold ahead_hold(const struct ahead *a, const struct work *w, bool ready);
/* What becomes of a node that `hold` keeps back: whether it is to pull now, and when the others no longer wait for it (INT64_MAX:
 * they do not). */
bool ahead_hold_back(struct ahead *a, const struct work *w, bool ready, enum rollout_hold hold, int64_t *ret_until_s);

#endif
