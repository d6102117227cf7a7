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
    const struct condition *rolling_out; /* condition RollingOut, computed before the others */
    size_t works; /* of those, nodes that are Ready or on their way to another revision */
};

/* Sets status, reason and message and returns true, or returns false for the next check. */
typedef bool check_fn(const struct checks *in, struct condition *ret);

/* Sets all three and returns true. Borrows the texts. */
bool cond_say(struct condition *ret, const char *status, enum reason reason, const char *message);
/* The same, with the reason of a cause. */
bool cond_say_cause(struct condition *ret, const char *status, const struct cause *c,
                    const char *message);
/* "1 node", "3 nodes". From the arena. */
const char *cond_nodes(const struct checks *in, size_t n);
/* The problem with a prerequisite; NULL: none. Borrowed. */
const struct prerequisite_problem *cond_part(const struct checks *in, enum prerequisite part);
/* Whether the API server would refuse the same write again until something changes. */
bool cond_failure_lasts(const struct checks *in);
/* "The API server refuses a write: …; what to do". From the arena; there must be a failure. */
const char *cond_failure_text(const struct checks *in);
/* The cause that keeps most nodes from being ready; NULL: none. */
const struct cause *cond_main_cause(const struct checks *in);
/* The cause with the most ready nodes whose metrics are missing; NULL: none. */
const struct cause *cond_metrics_cause(const struct checks *in);
/* "driver: 3 of 10 nodes not ready: ImagePullBackOff: … (node gpu-1, pod …)". From the arena. */
const char *cond_cause_text(const struct checks *in, const struct cause *c);
/* "exporter: 1 of 3 nodes: the GPUs work, and their metrics are missing: …". From the arena. */
const char *cond_metrics_text(const struct checks *in, const struct cause *c);
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
/* "; being released: …" for nodes that leave Ostler's management while the policy stays; "": none.
 * From the arena, or static. */
const char *cond_letting_go(const struct checks *in);

/* The headline, which is the condition Ready: the worst problem and what to do about it. Always has
 * a text. */
bool cond_headline(const struct checks *in, struct condition *ret);

#endif
