/* GPU facts of a node and the labels for them, in the format of GPU feature discovery, so that
 * existing node selectors keep working. An unknown fact, or one that is not a valid label value,
 * gets no label. */
#ifndef OSTLER_RECONCILERS_MODEL_GPU_FEATURES_H
#define OSTLER_RECONCILERS_MODEL_GPU_FEATURES_H

#include <jansson.h>
#include <stdbool.h>

/* Everything is borrowed. "" and 0: not known. */
struct gpu_features {
    const char *driver;  /* version of the loaded driver: "580.178.04" */
    const char *cuda;    /* newest CUDA version that the driver supports: "13.0" */
    const char *product; /* of a whole GPU: "NVIDIA H100 80GB HBM3"; dashes may replace blanks */
    const char *compute; /* compute capability of that GPU: "9.0" */
    unsigned memory_mib; /* memory of a whole GPU */
    const char *machine; /* machine name by its manufacturer: "DGXH100" */
    unsigned gpus;       /* GPUs of that product, including those divided by MIG */
    bool divided;        /* some GPUs are divided by MIG */
    bool all_divided;    /* all GPUs are */
    /* MIG strategy single with divided GPUs: the kubelet offers this many slices of one kind. */
    const char *slice; /* profile of the slices: "1g.10gb" */
    unsigned slices;
    /* MIG strategy mixed: each kind of slice that the kubelet offers, with its number:
     * "1g.10gb=7,3g.40gb=1". */
    const char *kinds;
    const char *strategy;   /* MIG strategy: "none", "single", "mixed" */
    const json_t *settings; /* device plugin settings (plugin_settings.h); NULL: none */
};

/* Adds the labels. The API server accepts all values. */
void gpu_feature_labels(const struct gpu_features *f, json_t *labels);
/* Whether a label is one of these. */
bool gpu_feature_is(const char *key);

#endif
