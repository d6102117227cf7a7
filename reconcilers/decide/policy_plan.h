/* Reconciles the policy: finalizer, children, status. This is the only entry point. */
#ifndef OSTLER_RECONCILERS_DECIDE_POLICY_PLAN_H
#define OSTLER_RECONCILERS_DECIDE_POLICY_PLAN_H

#include "base/arena.h"
#include "kube/actions.h"
#include "reconcilers/decide/cluster_view.h"

/* The name of the policy in plans. */
#define POLICY_TARGET "gpuclusterpolicy/" POLICY_NAME

/* Plans the pass. Returns whether, with MODE_REMOVE, everything is gone. */
bool policy_plan(const struct cluster_view *v, struct arena *a, struct actions *actions);

/* Plans a pass that only reports why Ostler does nothing: it updates the conditions and keeps the
 * rest of the status. */
void policy_plan_blocked(const struct cluster_view *v, struct actions *actions);

#endif
