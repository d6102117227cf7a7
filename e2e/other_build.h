/* What another build of Ostler has built in: `make build/ostler-other` compiles with it,
 * scenarios/s05_edits.py runs the result. */
#define OSTLER_VERSION "other"
#define OPERAND_IMAGE(id, ...) OTHER_##id
#define OTHER_DRIVER                                                                               \
    {                                                                                              \
        "nvcr.io/nvidia", "driver", "590.44.01"                                                    \
    }
#define OTHER_GDRCOPY                                                                              \
    {                                                                                              \
        "nvcr.io/nvidia/cloud-native", "gdrdrv", "v9.9"                                            \
    }
#define OTHER_TOOLKIT                                                                              \
    {                                                                                              \
        "nvcr.io/nvidia/cloud-native", "container-toolkit", "v1.99.0"                              \
    }
#define OTHER_DEVICE_PLUGIN                                                                        \
    {                                                                                              \
        "nvcr.io/nvidia", "k8s-device-plugin", "v0.99.0"                                           \
    }
#define OTHER_EXPORTER                                                                             \
    {                                                                                              \
        "nvcr.io/nvidia/k8s", "dcgm-exporter", "9.9.9-9.9.9-distroless"                            \
    }
#define OTHER_VALIDATION                                                                           \
    {                                                                                              \
        "nvcr.io/nvidia/k8s", "cuda-sample", "vectoradd-cuda99.0.0-ubuntu22.04"                    \
    }
