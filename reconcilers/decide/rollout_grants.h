/* The writes for the rollout's decisions: each a guarded patch of one node's claim and taint. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_GRANTS_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_GRANTS_H

#include "kube/actions.h"
#include "reconcilers/model/node.h"
#include "reconcilers/decide/rollout_types.h"

/* The policy and the time for new claims. */
struct claimant {
    const char *policy; /* uid */
    const char *taint;  /* key of the taint that goes with a claim */
    int64_t generation; /* of the policy */
    int64_t now_s;
};

/* The claim of a node with this grant. `back`: its target is a known good revision, because the
 * policy's revision failed. */
struct claim grant_claim(const struct rollout_grant *g, const struct claimant *by, bool back);
/* Adds the write. */
void grant_plan(const struct rollout_grant *g, const struct node_view *view,
                const struct claimant *by, bool back, struct actions *actions);

/* Adds the write that returns a waiting node to service. `taint`: key of the upgrade taint, from
 * the policy. */
void return_plan(const struct rollout_return *r, const struct node_view *view, const char *taint,
                 struct actions *actions);

#endif
