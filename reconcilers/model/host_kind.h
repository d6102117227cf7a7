/* Tables of the container runtimes and Kubernetes distributions that hosts have, with their names
 * as the kubelet, the agent and revisions write them. */
#ifndef OSTLER_RECONCILERS_MODEL_HOST_KIND_H
#define OSTLER_RECONCILERS_MODEL_HOST_KIND_H

enum host_runtime {
    RUNTIME_UNKNOWN,
    RUNTIME_CONTAINERD,
    RUNTIME_CRIO,
    RUNTIME_DOCKER,
    RUNTIME_COUNT,
};

enum host_distribution {
    DISTRIBUTION_STOCK, /* kubeadm or a cloud: the paths of the runtime's own packages */
    DISTRIBUTION_K3S,
    DISTRIBUTION_RKE2,
    DISTRIBUTION_MICROK8S,
    DISTRIBUTION_K0S,
    DISTRIBUTION_COUNT,
};

/* The NVIDIA container toolkit that the host itself has, by the runtime's configuration. */
enum host_toolkit {
    HOST_TOOLKIT_NONE,    /* none seen, or Ostler has replaced it */
    HOST_TOOLKIT_NVIDIA,  /* the handler `nvidia` is the toolkit */
    HOST_TOOLKIT_DEFAULT, /* the default runtime is the toolkit, under another name, as on AKS */
    HOST_TOOLKIT_MISSING, /* configured in one of the two ways, but its program is missing */
};

/* Where Google's installers put a driver, on GKE's Ubuntu and on Container-Optimized OS. On the
 * latter the toolkit can be installed nowhere else. */
#define GOOGLE_DRIVER_DIR "/home/kubernetes/bin/nvidia"

struct host_runtime_row {
    const char *prefix; /* of containerRuntimeVersion; NULL: unknown */
    const char *name;   /* "containerd", "crio", "docker", or "" */
};
extern const struct host_runtime_row host_runtimes[RUNTIME_COUNT];

struct host_distribution_row {
    const char *kubelet; /* part of kubeletVersion; NULL: detected otherwise */
    const char *label;   /* a label of its nodes */
    const char *name;
    /* First containerd that injects CDI devices there. If the toolkit can write the configuration,
     * it enables CDI; otherwise CDI must be on by default (2.0). */
    struct host_release {
        long major;
        long minor;
    } cdi_containerd;
    const char *kubelet_root; /* directory of its kubelet, as in the exporter's manifests */
};
extern const struct host_distribution_row host_distributions[DISTRIBUTION_COUNT];

#endif
