/* The policy's status: computed once per pass from the whole view, so that its parts do not
 * contradict each other. */
#ifndef OSTLER_RECONCILERS_DECIDE_STATUS_H
#define OSTLER_RECONCILERS_DECIDE_STATUS_H

#include "base/arena.h"
#include "kube/condition.h"
#include "reconcilers/decide/cluster_view.h"

/* The CRD's length limit of status.summary.message and of a problem's field. */
enum { STATUS_SUMMARY_MAX = 256 };

/* The conditions of the policy. */
enum status_condition {
    STATUS_READY,
    STATUS_RECONCILING,
    STATUS_STALLED,
    STATUS_DEGRADED,
    STATUS_ROLLING_OUT,
    STATUS_HEALTH_BRAKED,
    STATUS_CONDITIONS
};

/* The current conditions. Text from the arena. `failure`: what went wrong in this pass, or NULL. */
void status_conditions(const struct cluster_view *v, const struct err *failure, struct arena *a,
                       struct condition ret[static STATUS_CONDITIONS]);
/* Why no other node starts, from the rollout, if Ostler acts on the spec; NONE: not known. */
enum reason status_rollout_reason(const struct cluster_view *v);
/* The members of `nodes`, and those of `rollout` and of a pool that count nodes. New references. */
json_t *status_nodes_json(const struct tally *t);
json_t *status_rollout_counts_json(const struct rollout_report *r);
json_t *status_pool_counts_json(const struct tally *t, size_t pool);
/* The whole status. New reference. */
json_t *status_json(const struct cluster_view *v,
                    const struct condition conditions[static STATUS_CONDITIONS]);

#endif
