/* What autoscalers of a cluster read and write on nodes: the annotations that keep a node from being removed, the taints of one
 * that is being removed, and which taints of a new node they know. As their sources say it: cluster-autoscaler at 33c3f97
 * (pkg/utils/taints/taints.go, eligibility.go), Karpenter at v1.14.1 (pkg/apis/v1, pkg/scheduling/taints.go). */
#ifndef OSTLER_RECONCILERS_MODEL_AUTOSCALER_H
#define OSTLER_RECONCILERS_MODEL_AUTOSCALER_H

/* The value of an annotation that keeps an autoscaler from removing a node. */
#define KEEPS_VALUE "true"
enum autoscaler_keep { KEEP_KARPENTER, KEEP_CLUSTER_AUTOSCALER, KEEP_COUNT };

/* The keys of these annotations, by enum autoscaler_keep. */
extern const char *const autoscaler_keeps[KEEP_COUNT];

#endif
