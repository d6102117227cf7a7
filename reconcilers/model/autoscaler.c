#include "reconcilers/model/autoscaler.h"

#include "reconcilers/model/names.h"

const char *const autoscaler_keeps[KEEP_COUNT] = {
    [KEEP_KARPENTER] = ANNOTATION_KEEPS_KARPENTER,
    [KEEP_CLUSTER_AUTOSCALER] = ANNOTATION_KEEPS_CLUSTER_AUTOSCALER,
};
