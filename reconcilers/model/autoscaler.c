#include "reconcilers/model/autoscaler.h"

#include <stddef.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/names.h"

#define STARTUP_PREFIX "startup-taint.cluster-autoscaler.kubernetes.io/"
#define IGNORE_PREFIX "ignore-taint.cluster-autoscaler.kubernetes.io/"
#define STATUS_PREFIX "status-taint.cluster-autoscaler.kubernetes.io/"
#define READINESS_PREFIX "readiness.k8s.io/"

const char *const autoscaler_keeps[KEEP_COUNT] = {
    [KEEP_KARPENTER] = ANNOTATION_KEEPS_KARPENTER,
    [KEEP_CLUSTER_AUTOSCALER] = ANNOTATION_KEEPS_CLUSTER_AUTOSCALER,
};

bool autoscaler_gives_key(const char *key)
{
    static const char *const prefixes[] = { STARTUP_PREFIX, IGNORE_PREFIX, STATUS_PREFIX,
                                            READINESS_PREFIX };
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_has_prefix(key, prefixes[i]))
            return true;
    return false;
}

bool autoscaler_removes(const json_t *taints)
{
    static const char *const keys[] = { "ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted",
                                        "cloud.google.com/impending-node-termination",
                                        "node.kubernetes.io/out-of-service" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_find(taints, "key", keys[i]))
            return true;
    return false;
}

static const struct autoscaler karpenter = {
    .name = "Karpenter",
    .advice = "add it to spec.template.spec.startupTaints of the NodePool, or set "
              "nodes.startupTaint.key to a key under " READINESS_PREFIX,
    .knows = { READINESS_PREFIX },
};

static const struct autoscaler cluster_autoscaler = {
    .name = "the cluster autoscaler",
    .advice = "have the node pool register its nodes with it, or set nodes.startupTaint.key to a "
              "key under " STARTUP_PREFIX,
    .knows = { STARTUP_PREFIX, IGNORE_PREFIX },
};

/* The GPU node label of each of cluster-autoscaler's providers (constant GPULabel,
 * kubernetes/autoscaler at 55c37cd). Without it, that autoscaler does not expect GPUs on the
 * node. */
static const struct {
    const char *label;
    const struct autoscaler *who;
} signs[] = {
    { "karpenter.sh/nodepool", &karpenter },
    { "k8s.amazonaws.com/accelerator", &cluster_autoscaler },
    { "cloud.google.com/gke-accelerator", &cluster_autoscaler },
    { "kubernetes.azure.com/accelerator", &cluster_autoscaler },
    { "cluster-api/accelerator", &cluster_autoscaler },
    { "cloud.digitalocean.com/gpu-node", &cluster_autoscaler },
    { "aliyun.accelerator/nvidia_name", &cluster_autoscaler },
    { "node.kubernetes.ovhcloud.com/gpu", &cluster_autoscaler },
    { "k8s.scw.cloud/gpu", &cluster_autoscaler },
    { "cloud.tencent.com/tke-accelerator", &cluster_autoscaler },
};

const struct autoscaler *autoscaler_of(const char *(*label)(const void *arg, const char *key),
                                       const void *arg)
{
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (label(arg, signs[i].label))
            return signs[i].who;
    return NULL;
}

bool autoscaler_knows(const struct autoscaler *who, const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(who->knows) && who->knows[i]; i++)
        if (str_has_prefix(key, who->knows[i]))
            return true;
    return false;
}
