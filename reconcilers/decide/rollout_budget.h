/* How many nodes and GPUs may be out of service, and how many nodes may be changed, counted over all nodes of the policy. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_BUDGET_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_BUDGET_H

#include "reconcilers/decide/rollout_view.h"

struct budget {
    struct budget_line slots;      /* nodes under way that are up: maxParallel */
    struct budget_line nodes;      /* nodes out of service for whatever reason: maxUnavailable */
    struct budget_line gpus;       /* theirs: maxUnavailableGpus */
    size_t our_nodes, our_gpus;    /* of both, those that are out of service because of us */
    /* What `nodes.used` is made of; a node counts under the first that fits of leaving, claimed, down, cordoned. */
    size_t down, cordoned, claimed, leaving;
};

/* Counts what is used of each limit now. */
void budget_make(const struct rollout_view *v, struct budget *ret);
/* Which limit keeps a node from getting a claim, or, when it `begins`, a slot; ROLLOUT_HOLD_NONE: none does. */
enum rollout_hold budget_refuses(const struct budget *b, const struct work *w, bool begins);
/* The node has got it. */
void budget_take(struct budget *b, const struct work *w, bool begins);
/* A node that waits, and is up, returns to service. */
void budget_give_back(struct budget *b, const struct work *w);

#endif
