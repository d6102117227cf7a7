/* What autoscalers of a cluster read and write on nodes: the annotations that keep a node from being removed, the taints of one
 * that is being removed, and which taints of a new node they know. As their sources say it: cluster-autoscaler at 33c3f97
 * (pkg/utils/taints/taints.go, eligibility.go), Karpenter at v1.14.1 (pkg/apis/v1, pkg/scheduling/taints.go). */
#ifndef OSTLER_RECONCILERS_MODEL_AUTOSCALER_H
#define OSTLER_RECONCILERS_MODEL_AUTOSCALER_H

#include <jansson.h>
#include <stdbool.h>

/* The value of an annotation that keeps an autoscaler from removing a node. */
#define KEEPS_VALUE "true"
enum autoscaler_keep { KEEP_KARPENTER, KEEP_CLUSTER_AUTOSCALER, KEEP_COUNT };

/* The keys of these annotations, by enum autoscaler_keep. */
extern const char *const autoscaler_keeps[KEEP_COUNT];

/* Whether a taint's key is one of those that autoscalers have given away: prefixes under kubernetes.io and k8s.io whose rest
 * anybody may choose. */
bool autoscaler_gives_key(const char *key);

/* Whether one of a node's taints says that somebody removes the node; `taints` as in spec.taints, may be NULL. An autoscaler that
 * cannot remove it takes the taint off again. */
bool autoscaler_removes(const json_t *taints);

/* An autoscaler that makes nodes. All static. */
struct autoscaler {
    const char *name;   /* begins a sentence part: "Karpenter" */
    const char *advice; /* what to do where it does not know a startup taint, "it" */
    const char *knows[2]; /* prefixes of the startup taints that it knows without being told; NULL: no more */
};

/* The autoscaler that a node's labels (selector.h's lookup) show it to be of, or NULL: none is to be seen. */
const struct autoscaler *autoscaler_of(const char *(*label)(const void *arg, const char *key), const void *arg);
/* Whether it takes a node with a startup taint of this key for one that is coming, where the node was not registered with it. */
bool autoscaler_knows(const struct autoscaler *who, const char *key);

#endif
