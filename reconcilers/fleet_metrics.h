/* Prometheus metrics of nodes and the rollout. Events are counted as they happen, at constant cost;
 * sums are computed on a scrape. Labels are states, pools and reasons, never nodes. */
#ifndef OSTLER_RECONCILERS_FLEET_METRICS_H
#define OSTLER_RECONCILERS_FLEET_METRICS_H

#include "base/err.h"
#include "base/metrics.h"
#include "kube/request.h"
#include "reconcilers/cluster.h"
#include "reconcilers/decide/rollout_report.h"

/* Handles, borrowed from the registry. */
struct fleet_metrics {
    struct metric *nodes, *agents, *state_seconds, *state_oldest, *stage_seconds, *ready_seconds,
        *evictions, *failures;
    struct metric *rollbacks;
    struct metric *rollout_nodes, *rollout_state, *used, *limit, *failed_revisions;
    struct metric *gpus, *conditions;
    struct metric *faults, *repairs, *health, *brake, *closed_seconds;
    /* Nodes that are closed for faults of their GPUs, and until when their time is counted, epoch
     * seconds. */
    size_t closed;
    int64_t closed_s;
};

/* Registers the metrics. */
void fleet_metrics_add(struct fleet_metrics *m, struct metrics *registry);
/* The pool that nodes count under; "" if the node is in no pool because nothing is wanted of it.
 * Borrowed. */
const char *fleet_metrics_pool(const struct cluster *c, enum node_state state, size_t pool);
/* Counts a node's new verdict; call it before it replaces the old one. What was already true when
 * this process started does not count as new. */
void fleet_metrics_node(struct fleet_metrics *m, const char *pool,
                        const struct node_summary *before, const struct node_verdict *v,
                        int64_t now_s);
/* Counts a new node that became ready, if its start was seen. */
void fleet_metrics_ready(struct fleet_metrics *m, const struct node_stages *stages);
/* Counts faults of the kernel log that asked for this. */
void fleet_metrics_fault(struct fleet_metrics *m, const struct gpu_fault *fault,
                         enum health_level level, uint32_t times);
/* Counts the result of a request. */
void fleet_metrics_answered(struct fleet_metrics *m, const struct request *request,
                            const struct err *e);
/* Updates the sums before they are shown. */
void fleet_metrics_show(struct fleet_metrics *m, const struct cluster *c,
                        const struct rollout_report *rollout);

#endif
