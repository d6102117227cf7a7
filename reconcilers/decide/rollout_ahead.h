/* Image pulls before a claim: which nodes pull, and whose place in the rollout is kept
 * meanwhile. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_AHEAD_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_AHEAD_H

#include "reconcilers/decide/rollout_budget.h"

struct ahead {
    const struct rollout_input *in;
    struct budget promised; /* counts as if every node that waits only for its images had started */
    struct budget kept;     /* the same, without nodes that have pulled for long */
    size_t pulls_max; /* nodes of one revision that may pull, or have pulled, before a claim */
};

/* The state of a node's images: UNKNOWN counts as PULLING; a node that needs no images is READY. */
enum images_state ahead_images(const struct work *w);
/* Starts on top of the budget's present count. Borrows `in`. */
void ahead_make(const struct rollout_input *in, const struct budget *budget, struct ahead *ret);
/* Counts a node that already pulls or has pulled against its revision's places. `ready`: it could
 * start. */
void ahead_count(const struct work *w, bool ready);
/* Counts a node that got its grant. */
void ahead_take(struct ahead *a, const struct work *w, bool ready);
/* Whether the remaining place is kept for other nodes, although this node has its images. `first`:
 * it is first among those that could start. */
bool ahead_refuses(const struct ahead *a, const struct work *w, bool ready, bool first);
/* What delays a node that lacks only its images: the images, or nodes that go first. */
enum rollout_hold ahead_hold(const struct ahead *a, const struct work *w, bool ready);
/* Handles a node that `hold` delays. Returns whether it must pull now. `ret_until_s`: when others
 * stop waiting for it; INT64_MAX: they do not wait. */
bool ahead_hold_back(struct ahead *a, const struct work *w, bool ready, enum rollout_hold hold,
                     int64_t *ret_until_s);

#endif
