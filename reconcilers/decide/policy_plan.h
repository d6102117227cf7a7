/* The whole cluster: finalizer, children, status. The one entry point of the policy's reconcile. */
#ifndef OSTLER_RECONCILERS_DECIDE_POLICY_PLAN_H
#define OSTLER_RECONCILERS_DECIDE_POLICY_PLAN_H

#include "base/arena.h"
#include "kube/actions.h"
#include "reconcilers/decide/cluster_view.h"

/* What plans call the policy. */
#define POLICY_TARGET "gpuclusterpolicy/" POLICY_NAME

/* Plans the pass. Returns whether, with MODE_REMOVE, everything is gone. */
bool policy_plan(const struct cluster_view *v, struct arena *a, struct actions *actions);

/* The same where nothing may be done but to say why: the conditions that tell of it, and the rest of the status as it is. */
void policy_plan_blocked(const struct cluster_view *v, struct actions *actions);

#endif
