/* Counts nodes and GPUs out of service and nodes being changed, over all nodes of the policy,
 * against the limits. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_BUDGET_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_BUDGET_H

#include "reconcilers/decide/rollout_view.h"

struct budget {
    struct budget_line slots;   /* nodes under way that keep their place: maxParallel */
    struct budget_line nodes;   /* nodes out of service for any reason: maxUnavailable */
    struct budget_line gpus;    /* their GPUs: maxUnavailableGpus */
    size_t our_nodes, our_gpus; /* of both, those out of service because of Ostler */
    /* Parts of `nodes.used`; a node counts under the first that applies: leaving, claimed, down,
     * unhealthy, cordoned. */
    size_t down, unhealthy, cordoned, claimed, leaving;
};

/* Counts the current use of each limit. */
void budget_make(const struct rollout_view *v, struct budget *ret);
/* The limit that denies a node a claim, or, with `begins`, a slot; ROLLOUT_HOLD_NONE: none. */
enum rollout_hold budget_refuses(const struct budget *b, const struct work *w, bool begins);
/* Counts a node that got it. */
void budget_take(struct budget *b, const struct work *w, bool begins);
/* Uncounts a waiting node that is up and returns to service. */
void budget_give_back(struct budget *b, const struct work *w);

#endif
