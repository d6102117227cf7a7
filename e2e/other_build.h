/* What another build of Ostler has built in: `make build/ostler-other` compiles with it, scenarios/s05_edits.py runs
 * the result. */
#define OSTLER_VERSION "other"
#define POLICY_BUILTINS(X)                                                                         \
    X(DRIVER, "nvcr.io/nvidia", "driver", "590.44.01")                                             \
    X(GDRCOPY, "nvcr.io/nvidia/cloud-native", "gdrdrv", "v9.9")                                    \
    X(TOOLKIT, "nvcr.io/nvidia/cloud-native", "container-toolkit", "v1.99.0")                      \
    X(DEVICE_PLUGIN, "nvcr.io/nvidia", "k8s-device-plugin", "v0.99.0")                             \
    X(EXPORTER, "nvcr.io/nvidia/k8s", "dcgm-exporter", "9.9.9-9.9.9-distroless")                   \
    X(VALIDATION, "nvcr.io/nvidia/k8s", "cuda-sample", "vectoradd-cuda99.0.0-ubuntu22.04")
