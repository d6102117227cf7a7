/* Makes the plan of a rollout from the cluster state. */
#ifndef OSTLER_RECONCILERS_ROLLOUT_PLAN_H
#define OSTLER_RECONCILERS_ROLLOUT_PLAN_H

#include "reconcilers/decide/rollout_plan_json.h"
#include "reconcilers/rollout_gathering.h"

/* NULL if every node runs its target. `looks` as in rollout_simulate(); `blocking` NULL: not known.
 * New reference. */
json_t *rollout_plan(const struct cluster *c, const struct rollout_gathering *g,
                     const struct rollout_pace pace[static TIERS], size_t looks,
                     const struct rollout_plan_limits *limits,
                     const struct blocking_budgets *blocking);

#endif
