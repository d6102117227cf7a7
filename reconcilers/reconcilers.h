/* The reconcilers: gather state, call decide/, and pass on the plan. They decide nothing. */
#ifndef OSTLER_RECONCILERS_RECONCILERS_H
#define OSTLER_RECONCILERS_RECONCILERS_H

#include "reconcilers/cluster.h"
#include "reconcilers/fleet_metrics.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/decide/rollout_report.h"
#include "reconcilers/rollout_plan_status.h"
#include "runtime/executor.h"

/* Shared state of all reconcilers. */
struct reconcilers {
    struct cluster *cluster;
    const struct manifests *manifests;
    /* Enqueues the policy: at once, or after changes have settled. */
    void (*policy)(void *arg, bool soon);
    void *arg;
    struct fleet_metrics *metrics; /* borrowed; NULL: no metrics */
    /* Requests a text for log_tail_take(); takes the request. NULL: texts are not read. */
    void (*read_text)(void *arg, const char *key, struct request request_steal);
    /* Sends an Event about something found between passes. `reconcilers` are these. */
    void (*notice)(void *reconcilers, const struct notice *n);
    struct rollout_report rollout; /* result of the rollout's last pass */
    uint32_t rollout_epoch;        /* epoch of the cluster in that pass; 0: none */
    bool rollout_early;            /* that pass ran before the records of some targets existed */
    struct rollout_plan_status plans;
    char *pull_failed;       /* why a pull pod could not be rendered; NULL: it could. Owned */
    char *pull_refused;      /* error of the last refused pull pod; NULL: not refused. Owned */
    struct err failure;      /* what the API server refused of the policy's last plan; owned */
    int64_t status_waits_ms; /* monotonic: since when the status waits for writes; 0: not */
    int64_t status_told_ms;  /* monotonic: last write of the status; 0: not by this process */
    /* Epoch seconds: since when all agents have been up, as far as was seen; 0: they are not. */
    int64_t agents_up_s;
    bool cleaned; /* during a cleanup: nothing of Ostler's is left */
};

/* Reconciles one node by name. A reconcile_fn; `arg` is a struct reconcilers. */
void node_reconcile(void *arg, const char *name, struct actions *actions);
/* Takes the result of a node's plan: a refused eviction is reported on the node while it drains. */
void node_outcome(void *arg, const char *name, const struct executor_result *result);
/* Reconciles the policy and its children; there is one key. A reconcile_fn. */
void policy_reconcile(void *arg, const char *key, struct actions *actions);

/* Number of Ostler's objects that are removed with the policy. */
size_t policy_children(const struct cluster *c);

/* Reconciles the rollout: which nodes are taken out of service next; there is one key. It runs
 * again only after its own writes were answered, and lists nodes whose answers were lost before it
 * claims the next one, so no budget is counted from a stale cache. A reconcile_fn. */
void rollout_reconcile(void *arg, const char *key, struct actions *actions);
/* What that pass would find now, if its inputs have changed since the last one; changes nothing.
 * Returns whether there is such a result; the caller clears it. */
bool rollout_review(const struct reconcilers *r, struct rollout_report *ret);
/* Takes the result of its plan: if a pull pod was refused, nodes wait for that; nodes of which it
 * is not known what became of their claim are listed. */
void rollout_outcome(void *arg, const char *key, const struct executor_result *result);

/* Reconciles the report of one node, by name: its GpuNode and its condition. Low priority. A
 * reconcile_fn. */
void report_reconcile(void *arg, const char *name, struct actions *actions);

/* Takes the result of the policy's plan: the next status reports what was refused. */
void policy_outcome(void *arg, const char *key, const struct executor_result *result);

#endif
