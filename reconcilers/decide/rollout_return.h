/* Decides which unchanged, waiting nodes return to service: their turn cannot come within minutes,
 * or an idle node needs their place. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_RETURN_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_RETURN_H

#include "reconcilers/decide/rollout_budget.h"
#include "reconcilers/decide/rollout_gate.h"

/* Nodes that wait for jobs and may give up their place, latest claim first, because that node has
 * waited least. */
struct waiters {
    const struct work **list; /* from the arena */
    size_t count;
};

void waiters_make(const struct rollout_view *v, struct arena *a, struct waiters *ret);
/* Adds the nodes whose turn cannot come within minutes to a decision with complete grants and
 * refusals. */
void return_those_far_away(const struct rollout_view *v, const struct gates *g, struct arena *a,
                           struct rollout_decision *ret);
/* How many of them, in order, must return so that the limits let another node start; 0: even all
 * are not enough. */
size_t waiters_for(const struct waiters *w, const struct budget *budget, const struct work *idle);
/* All nodes as they are after the first `n` return. From the arena. */
const struct rollout_node *waiters_return(const struct waiters *w, size_t n,
                                          const struct rollout_view *v, struct arena *a);
/* Adds a node that makes room for the node named `idle`; the name must outlive the decision. */
void return_for(const struct work *w, const char *idle, struct arena *a,
                struct rollout_decision *ret);

#endif
