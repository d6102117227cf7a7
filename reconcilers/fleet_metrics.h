/* What is counted of nodes and of the rollout, for Prometheus. What happens is counted as it happens, in the same few steps
 * whatever the size of the cluster; sums are taken when somebody asks. Labels are states, pools and reasons, never nodes. */
#ifndef OSTLER_RECONCILERS_FLEET_METRICS_H
#define OSTLER_RECONCILERS_FLEET_METRICS_H

#include "base/err.h"
#include "base/metrics.h"
#include "kube/request.h"
#include "reconcilers/cluster.h"
#include "reconcilers/decide/rollout_report.h"

/* Handles, borrowed from the registry. */
struct fleet_metrics {
    struct metric *nodes, *agents, *state_seconds, *state_oldest, *stage_seconds, *ready_seconds, *evictions, *failures;
    struct metric *rollbacks;
    struct metric *rollout_nodes, *rollout_state, *used, *limit, *failed_revisions;
    struct metric *gpus, *conditions;
};

/* Registers the metrics. */
void fleet_metrics_add(struct fleet_metrics *m, struct metrics *registry);
/* The pool that nodes are counted under; "" of one that is in none, since nothing is wanted of it. Borrowed. */
const char *fleet_metrics_pool(const struct cluster *c, enum node_state state, size_t pool);
/* A node's new verdict, before it takes the place of the old one. What was so before this process looked is not counted as if it
 * had just happened. */
void fleet_metrics_node(struct fleet_metrics *m, const char *pool, const struct node_summary *before,
                        const struct node_verdict *v, int64_t now_s);
/* A new node is ready. What nobody saw begin is not counted. */
void fleet_metrics_ready(struct fleet_metrics *m, const struct node_stages *stages);
/* What became of a request. */
void fleet_metrics_answered(struct fleet_metrics *m, const struct request *request, const struct err *e);
/* Brings the sums up to date, before they are shown. */
void fleet_metrics_show(struct fleet_metrics *m, const struct cluster *c, const struct rollout_report *rollout);

#endif
