/* The images that this build of Ostler runs where neither the policy nor a known good revision says:
 * the one place to edit for new versions. */
#ifndef OSTLER_RECONCILERS_MODEL_POLICY_BUILTINS_H
#define OSTLER_RECONCILERS_MODEL_POLICY_BUILTINS_H

/* operand, repository, image, version. A build may bring a table of its own with the compiler's -include. */
#ifndef POLICY_BUILTINS
#define POLICY_BUILTINS(X)                                                                         \
    X(DRIVER, "nvcr.io/nvidia", "driver", "580.178.04")                                             \
    X(GDRCOPY, "nvcr.io/nvidia/cloud-native", "gdrdrv", "v2.6")                                    \
    X(TOOLKIT, "nvcr.io/nvidia/k8s", "container-toolkit", "v1.20.0")                               \
    X(DEVICE_PLUGIN, "nvcr.io/nvidia", "k8s-device-plugin", "v0.20.0")                             \
    X(EXPORTER, "nvcr.io/nvidia/k8s", "dcgm-exporter", "4.6.0-4.8.3-distroless")                   \
    X(VALIDATION, "nvcr.io/nvidia/k8s", "cuda-sample", "vectoradd-cuda12.5.0-ubuntu22.04")
#endif

#endif
