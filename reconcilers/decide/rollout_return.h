/* Who returns to service without having been changed: a node that waits while its turn cannot come within minutes, or while an
 * idle node lacks the room that it takes. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_RETURN_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_RETURN_H

#include "reconcilers/decide/rollout_budget.h"
#include "reconcilers/decide/rollout_gate.h"

/* Nodes that wait for jobs and may make room for others, the one that was claimed last first: it has waited least. */
struct waiters {
    const struct work **list; /* from the arena */
    size_t count;
};

void waiters_make(const struct rollout_view *v, struct arena *a, struct waiters *ret);
/* Adds the nodes whose turn cannot come within minutes to the decision, whose grants and refusals are complete. */
void return_those_far_away(const struct rollout_view *v, const struct gates *g, struct arena *a, struct rollout_decision *ret);
/* How many of them, from the first on, have to return to service so that the limits let another node begin; 0: all of them do not
 * suffice. */
size_t waiters_for(const struct waiters *w, const struct budget *budget, const struct work *idle);
/* All nodes as they are when the first `n` of them have returned. From the arena. */
const struct rollout_node *waiters_return(const struct waiters *w, size_t n, const struct rollout_view *v, struct arena *a);
/* Adds a node that makes room for `idle`, a node's name, which outlives the decision. */
void return_for(const struct work *w, const char *idle, struct arena *a, struct rollout_decision *ret);

#endif
