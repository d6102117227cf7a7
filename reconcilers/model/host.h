/* What kind of host a node is: operating system, kernel, container runtime, distribution of
 * Kubernetes. Tables over facts of the Node object; no decisions about what to do there. */
#ifndef OSTLER_RECONCILERS_MODEL_HOST_H
#define OSTLER_RECONCILERS_MODEL_HOST_H

#include <stdbool.h>

#include "base/arena.h"
#include "kube/selector.h"

struct node_inventory;

/* What the tables look at. Strings are borrowed; NULL counts as absent. */
struct node_facts {
    selector_lookup_fn *label;
    const void *labels;          /* handed to label() */
    const char *os_image;        /* status.nodeInfo.osImage */
    const char *kernel_version;  /* status.nodeInfo.kernelVersion */
    const char *kubelet_version; /* status.nodeInfo.kubeletVersion */
    const char *runtime_version; /* status.nodeInfo.containerRuntimeVersion */
    const char *architecture;    /* status.nodeInfo.architecture */
    const struct node_inventory *inventory; /* what the agent on the node has seen; NULL: it is silent */
    bool own_toolkit; /* Ostler has installed its toolkit there: what the host had does not count */
};

enum host_runtime { RUNTIME_UNKNOWN, RUNTIME_CONTAINERD, RUNTIME_CRIO, RUNTIME_DOCKER };

enum host_distribution {
    DISTRIBUTION_STOCK, /* kubeadm, a cloud's: paths as the runtime's own packages have them */
    DISTRIBUTION_K3S,
    DISTRIBUTION_RKE2,
    DISTRIBUTION_MICROK8S,
    DISTRIBUTION_K0S,
};

/* NVIDIA's container toolkit that the host itself has, by what the runtime's configuration says of it. */
enum host_toolkit {
    HOST_TOOLKIT_NONE,    /* none is seen, or Ostler has put its own in its place */
    HOST_TOOLKIT_NVIDIA,  /* the handler `nvidia` is it */
    HOST_TOOLKIT_DEFAULT, /* the default runtime is it, and is called otherwise, as on AKS */
    HOST_TOOLKIT_MISSING, /* one of the two, but its program is not there */
};

/* Where Google's installers put a driver, on Container-Optimized OS (where the toolkit can live nowhere else) and on
 * GKE's Ubuntu. */
#define GOOGLE_DRIVER_DIR "/home/kubernetes/bin/nvidia"

/* Longest tag with its NUL: "rhcos4.18" and the like. */
enum { HOST_OS_MAX = 32 };

struct host {
    /* Suffix of the driver image's tag: "ubuntu24.04", "rhel9"; "" when there is no such image. */
    char os[HOST_OS_MAX];
    const char *kernel;       /* `uname -r`, borrowed from the facts, never NULL */
    const char *architecture; /* "amd64", "arm64", …, borrowed from the facts, never NULL */
    enum host_runtime runtime;
    enum host_distribution distribution;
    bool cos; /* Google's Container-Optimized OS: the driver comes from Google's installer */
    bool google_driver; /* a driver of the host's own lies in GOOGLE_DRIVER_DIR, as on GKE's Ubuntu */
    bool cdi; /* the runtime injects CDI devices that the device plugin names, once Ostler's toolkit has configured it */
    bool cdi_by_default; /* the same without that */
    enum host_toolkit toolkit;
};

/* The host of a node. Never fails: what is not known is "" or RUNTIME_UNKNOWN. */
struct host host_of(const struct node_facts *facts);
/* One sentence that says why no driver image can be chosen for the host, or NULL when one can (COS
 * included). From the arena. */
const char *host_os_problem(struct arena *a, const struct host *host,
                            const struct node_facts *facts);
/* One sentence that says why the toolkit cannot be installed there, or NULL when it can. From the
 * arena. */
const char *host_runtime_problem(struct arena *a, const struct host *host,
                                 const struct node_facts *facts);
/* One sentence that says why the host's own toolkit cannot be used, or NULL: it can, or there is none. Static. */
const char *host_toolkit_problem(const struct host *host);
/* "nvidia", "default": how pods get at the host's own toolkit; NULL: there is none that can be used. */
const char *host_toolkit_name(enum host_toolkit toolkit);
/* "containerd", "crio", "docker", or "". */
const char *host_runtime_name(enum host_runtime runtime);
/* "stock", "k3s", "rke2", "microk8s" or "k0s". */
const char *host_distribution_name(enum host_distribution distribution);
/* The folder in which the kubelet of a distribution is, unless somebody has given it another one. */
const char *host_kubelet_root(enum host_distribution distribution);
/* The runtime that the node's agent calls so ("containerd", "cri-o", "docker"); RUNTIME_UNKNOWN for NULL and any other name. */
enum host_runtime host_runtime_parse(const char *name);
/* The distribution of a name; DISTRIBUTION_STOCK for NULL and any other name. */
enum host_distribution host_distribution_parse(const char *name);

#endif
