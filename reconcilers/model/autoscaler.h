/* What autoscalers of a cluster read and write on nodes: the annotations that keep a node from being removed, the taints of one
 * that is being removed, and which taints of a new node they know. As their sources say it: cluster-autoscaler at 33c3f97
 * (pkg/utils/taints/taints.go, eligibility.go), Karpenter at v1.14.1 (pkg/apis/v1, pkg/scheduling/taints.go). */
#ifndef OSTLER_RECONCILERS_MODEL_AUTOSCALER_H
#define OSTLER_RECONCILERS_MODEL_AUTOSCALER_H

/* The annotations of a node that keep an autoscaler from removing it, and the value that does so. */
#define KEEPS_KARPENTER "karpenter.sh/do-not-disrupt"
#define KEEPS_CLUSTER_AUTOSCALER "cluster-autoscaler.kubernetes.io/scale-down-disabled"
#define KEEPS_VALUE "true"
enum autoscaler_keep { KEEP_KARPENTER, KEEP_CLUSTER_AUTOSCALER, KEEP_COUNT };

/* Their keys, by enum autoscaler_keep. */
extern const char *const autoscaler_keeps[KEEP_COUNT];

#endif
