/* The reconcilers: gather what is known, ask the plan, hand it over. No decisions here. */
#ifndef OSTLER_RECONCILERS_RECONCILERS_H
#define OSTLER_RECONCILERS_RECONCILERS_H

#include "reconcilers/cluster.h"
#include "reconcilers/fleet_metrics.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/decide/rollout_report.h"
#include "reconcilers/rollout_plan_status.h"
#include "runtime/executor.h"

/* What all of them need. */
struct reconcilers {
    struct cluster *cluster;
    const struct manifests *manifests;
    /* Look at the policy: at once, or when the dust has settled. */
    void (*policy)(void *arg, bool soon);
    void *arg;
    struct fleet_metrics *metrics; /* borrowed; NULL: nobody counts */
    /* Asks for a text, for log_tail_take(); takes the request. NULL: nobody reads. */
    void (*read_text)(void *arg, const char *key, struct request request_steal);
    /* An Event about what was found out between passes. */
    void (*notice)(void *arg, const struct notice *n);
    struct rollout_report rollout; /* what the rollout's last pass came to */
    uint32_t rollout_epoch;        /* of the cluster, when that was; 0: there was none */
    bool rollout_early;            /* it looked at nodes before the records of what they are to run were there */
    struct rollout_plan_status plans;
    char *pull_failed;  /* why a pod that was to pull images could not be made; NULL: it could. Owned */
    char *pull_refused; /* in which words the server last refused a pod that was to pull images; NULL: it did not. Owned */
    struct err failure; /* what the server refused of the policy's last plan; owned */
    int64_t status_waits_ms; /* mono: since when the status waits for other writes; 0: it does not */
    int64_t status_told_ms;  /* mono: when it was last written; 0: not by this process */
    int64_t agents_up_s;     /* seconds of the epoch: since when all agents have been up, as far as was seen; 0: they are not */
    bool cleaned; /* with a cluster that is being cleaned: nothing of ours is left */
};

/* One node by name. A reconcile_fn; `arg` is a struct reconcilers. */
void node_reconcile(void *arg, const char *name, struct actions *actions);
/* How a node's plan came out: whose eviction the server refused is said of the node while it drains. */
void node_outcome(struct reconcilers *r, const char *name, const struct executor_result *result);
/* The policy and its children; there is one key. A reconcile_fn. */
void policy_reconcile(void *arg, const char *key, struct actions *actions);

/* How many objects of ours there are that go with the policy. */
size_t policy_children(const struct cluster *c);

/* Who of all nodes may be taken out of service next; there is one key. Its own writes have been answered before it looks again,
 * so that no budget is counted from an older view. A reconcile_fn. */
void rollout_reconcile(void *arg, const char *key, struct actions *actions);
/* How its plan came out: a pod that may not be made is what nodes wait for. */
void rollout_outcome(struct reconcilers *r, const struct executor_result *result);

/* What is said of one node, by name: its GpuNode and its condition. Needs no haste. A reconcile_fn. */
void report_reconcile(void *arg, const char *name, struct actions *actions);

/* How the policy's plan came out: the next status says what was refused. */
void policy_outcome(struct reconcilers *r, const struct executor_result *result);

#endif
