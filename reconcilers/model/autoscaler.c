#include "reconcilers/model/autoscaler.h"

const char *const autoscaler_keeps[KEEP_COUNT] = {
    [KEEP_KARPENTER] = KEEPS_KARPENTER,
    [KEEP_CLUSTER_AUTOSCALER] = KEEPS_CLUSTER_AUTOSCALER,
};
