/* The writes that carry out what the rollout decided: each a guarded patch of one node's claim and taint. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_GRANTS_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_GRANTS_H

#include "kube/actions.h"
#include "reconcilers/model/node.h"
#include "reconcilers/decide/rollout.h"

/* For whom, and when, claims are made. */
struct claimant {
    const char *policy;  /* uid */
    const char *taint;   /* key of the taint that comes with a claim */
    int64_t generation;  /* of the policy */
    int64_t now_s;
};

/* The claim that the node bears with a grant. `back`: its target is what is known good, since what the policy says failed. */
struct claim grant_claim(const struct rollout_grant *g, const struct claimant *by, bool back);
/* Adds the write. */
void grant_plan(const struct rollout_grant *g, const struct node_view *view, const struct claimant *by, bool back,
                struct actions *actions);

/* Adds the write by which a node that waits returns to service. `taint`: the key of a claim's, by the policy. */
void return_plan(const struct rollout_return *r, const struct node_view *view, const char *taint, struct actions *actions);

#endif
