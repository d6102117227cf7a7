/* Annotations and taints that node autoscalers read and write. Annotations keep a node from being
 * removed; taints show that it is being removed; startup taints show that a new node is not ready.
 * Sources: cluster-autoscaler at 33c3f97 (pkg/utils/taints/taints.go, eligibility.go), Karpenter at
 * v1.14.1 (pkg/apis/v1, pkg/scheduling/taints.go). */
#ifndef OSTLER_RECONCILERS_MODEL_AUTOSCALER_H
#define OSTLER_RECONCILERS_MODEL_AUTOSCALER_H

#include <jansson.h>
#include <stdbool.h>

/* The value of an annotation that keeps an autoscaler from removing a node. */
#define KEEPS_VALUE "true"
enum autoscaler_keep { KEEP_KARPENTER, KEEP_CLUSTER_AUTOSCALER, KEEP_COUNT };

/* The keys of these annotations, by enum autoscaler_keep. */
extern const char *const autoscaler_keeps[KEEP_COUNT];

/* Whether autoscalers reserve this taint key for users: prefixes under kubernetes.io and k8s.io
 * with a free suffix. */
bool autoscaler_gives_key(const char *key);

/* Whether a taint of the node shows that an autoscaler removes it. `taints` is spec.taints and may
 * be NULL. An autoscaler that fails to remove the node deletes the taint. */
bool autoscaler_removes(const json_t *taints);

/* An autoscaler that creates nodes. All static. */
struct autoscaler {
    const char *name;     /* begins a clause: "Karpenter" */
    const char *advice;   /* what to do if the autoscaler does not know a startup taint, "it" */
    const char *knows[2]; /* prefixes of startup taints that it knows by default; NULL: no more */
};

/* The autoscaler that created a node, by the node's labels (a lookup of selector.h); NULL: not
 * known. */
const struct autoscaler *autoscaler_of(const char *(*label)(const void *arg, const char *key),
                                       const void *arg);
/* Whether the autoscaler treats a node with this startup taint as still starting, without
 * configuration. */
bool autoscaler_knows(const struct autoscaler *who, const char *key);

#endif
