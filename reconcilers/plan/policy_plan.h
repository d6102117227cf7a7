/* The whole cluster: finalizer, children, status. The one entry point of the policy's reconcile. */
#ifndef OSTLER_RECONCILERS_PLAN_POLICY_PLAN_H
#define OSTLER_RECONCILERS_PLAN_POLICY_PLAN_H

#include "base/arena.h"
#include "kube/plan.h"
#include "reconcilers/plan/cluster_view.h"

/* Plans the pass. Returns whether, with STANCE_REMOVE, everything is gone. */
bool policy_plan(const struct cluster_view *v, struct arena *a, struct plan *plan);

#endif
