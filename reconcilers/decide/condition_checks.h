/* Shared parts of the checks behind the policy's conditions: their input, and texts that several
 * conditions use. */
#ifndef OSTLER_RECONCILERS_DECIDE_CONDITION_CHECKS_H
#define OSTLER_RECONCILERS_DECIDE_CONDITION_CHECKS_H

#include "reconcilers/decide/status.h"

/* Input of the checks. All borrowed. */
struct checks {
    const struct cluster_view *v;
    const struct tally *t;
    const struct err *failure; /* what the API server refused in the last pass; NULL: nothing */
    struct arena *a;           /* for the texts */
    size_t served;             /* nodes that Ostler serves and that are up */
    size_t managed; /* the same with those that are down: of these every text counts, as do
                     * status.nodes, `kubectl gpu status` and the page */
    const struct condition *rolling_out; /* condition RollingOut, computed before the others */
    /* Of those, nodes that are Ready, closed only for faults of their GPUs, or on their way to
     * another revision. */
    size_t works;
};

/* Sets status, reason and message and returns true, or returns false for the next check. */
typedef bool check_fn(const struct checks *in, struct condition *ret);

/* Sets all three and returns true. The message is formatted, from the arena. */
bool cond_set(const struct checks *in, struct condition *ret, const char *status,
              enum reason reason, const char *fmt, ...) PRINTF(5, 6);
/* Reports the problem with a prerequisite, if there is one. */
bool cond_set_part(const struct checks *in, struct condition *ret, const char *status,
                   enum prerequisite part);
/* Reports the cause that keeps most nodes from being ready, if there is one. */
bool cond_set_main_cause(const struct checks *in, struct condition *ret, const char *status);
/* Reports the missing metrics of ready nodes, if any are missing. Sets the status True. */
bool cond_metrics(const struct checks *in, struct condition *ret);
/* Reports the write that the API server refused; there must be one. */
bool cond_set_failure(const struct checks *in, struct condition *ret, const char *status);
/* "3 of 4 nodes ready". From the arena. */
const char *cond_ready(const struct checks *in);
/* "1 node", "3 nodes". From the arena. */
const char *cond_nodes(const struct checks *in, size_t n);
/* Whether the API server would refuse the same write again until something changes. */
bool cond_failure_lasts(const struct checks *in);
/* ", pod …" unless the node's message names the pod. From the arena, or static. */
const char *cond_pod_text(const struct checks *in, const struct node_summary *s);
/* "; its log ends: …" for a failure on a node; "" if the log is not known or `told` contains it.
 * From the arena, or static. */
const char *cond_words_text(const struct checks *in, const char *node, const char *told);
/* Whether the rollout has seen the nodes and has work to do. */
bool cond_is_rolling_out(const struct checks *in);
/* Whether a version that the spec still asks for has failed. Sets the reason `RolledBack`, or
 * `RevisionFailed` if nodes still run it. The message has the version, the node, the failure and
 * what to do. */
bool cond_rolled_back(const struct checks *in, struct condition *ret);
/* Whether nothing can detect which nodes have GPUs. Sets the reason `NoDetector` and a short
 * remedy. */
bool cond_no_detector(const struct checks *in, struct condition *ret);
/* Sets the reason `Detecting` if agents were created a moment ago. */
bool cond_detecting(const struct checks *in, struct condition *ret);
/* Sets the reason `Removing` if the policy is being deleted. */
bool cond_removing(const struct checks *in, struct condition *ret);
/* Sets the reason `Braked` if the storm brake is on, with the nodes and what to look at. Sets the
 * status True. */
bool cond_braked(const struct checks *in, struct condition *ret);
/* "; being released: …" for nodes that leave Ostler's management while the policy stays; "": none.
 * From the arena, or static. */
const char *cond_letting_go(const struct checks *in);

/* The checks of the headline, which is the condition Ready: the worst problem and what to do about
 * it. The first that applies decides; the last one always does, and NULL follows. */
extern check_fn *const cond_headline[];

#endif
