/* What is known of a node's GPUs, and the labels that say so: those that GPU feature discovery writes, in its words, so that
 * whoever selects nodes by them goes on doing so. What is not known has no label; what can be no label's value counts as not
 * known. */
#ifndef OSTLER_RECONCILERS_MODEL_GPU_FEATURES_H
#define OSTLER_RECONCILERS_MODEL_GPU_FEATURES_H

#include <jansson.h>
#include <stdbool.h>

/* Everything is borrowed. "" and 0: not known. */
struct gpu_features {
    const char *driver;  /* version of the loaded driver: "580.178.04" */
    const char *cuda;    /* newest CUDA version that it knows: "13.0" */
    const char *product; /* of a whole GPU, as it is called: "NVIDIA H100 80GB HBM3"; blanks may be dashes */
    const char *compute; /* its compute capability: "9.0" */
    unsigned memory_mib; /* of a whole GPU */
    const char *machine; /* what the maker of the machine calls it: "DGXH100" */
    unsigned gpus;       /* GPUs of that product, divided ones too */
    bool divided;        /* some of them are divided by MIG */
    bool all_divided;    /* all of them are */
    /* With MIG's strategy single and GPUs that are divided: what the kubelet offers are slices of one kind, so many of them. */
    const char *slice;   /* their profile: "1g.10gb" */
    unsigned slices;
    /* With mixed: each kind of slice that the kubelet offers, with their number: "1g.10gb=7,3g.40gb=1". */
    const char *kinds;
    const char *strategy;   /* of MIG: "none", "single", "mixed" */
    const json_t *settings; /* of the device plugin (plugin_settings.h); NULL: none */
};

/* Adds the labels. Each has a value that the API server takes. */
void gpu_feature_labels(const struct gpu_features *f, json_t *labels);
/* Whether a label is one of these. */
bool gpu_feature_is(const char *key);

#endif
