/* The kind of host that a node is: operating system, kernel, container runtime, Kubernetes
 * distribution. Tables over facts of the Node object; decide/ decides what to do. */
#ifndef OSTLER_RECONCILERS_MODEL_HOST_H
#define OSTLER_RECONCILERS_MODEL_HOST_H

#include <stdbool.h>

#include "base/arena.h"
#include "kube/selector.h"
#include "reconcilers/model/host_kind.h"

struct node_inventory;

/* The input of the tables. Strings are borrowed; NULL: absent. */
struct node_facts {
    selector_lookup_fn *label;
    const void *labels;                     /* passed to label() */
    const char *os_image;                   /* status.nodeInfo.osImage */
    const char *kernel_version;             /* status.nodeInfo.kernelVersion */
    const char *kubelet_version;            /* status.nodeInfo.kubeletVersion */
    const char *runtime_version;            /* status.nodeInfo.containerRuntimeVersion */
    const char *architecture;               /* status.nodeInfo.architecture */
    const struct node_inventory *inventory; /* what the node's agent reported; NULL: no report */
    bool own_toolkit; /* Ostler's toolkit is installed there, so what the host had does not count */
};

/* Longest image tag suffix, including the NUL: "rhcos4.18" and the like. */
enum { HOST_OS_MAX = 32 };

struct host {
    /* Suffix of the driver image's tag: "ubuntu24.04", "rhel9"; "": no such image exists. */
    char os[HOST_OS_MAX];
    const char *kernel;       /* `uname -r`, borrowed from the facts, never NULL */
    const char *architecture; /* "amd64", "arm64", …, borrowed from the facts, never NULL */
    enum host_runtime runtime;
    enum host_distribution distribution;
    bool cos; /* Google's Container-Optimized OS: Google's installer provides the driver */
    bool google_driver; /* the host has its own driver in GOOGLE_DRIVER_DIR, as on GKE's Ubuntu */
    /* The runtime injects CDI devices that the device plugin names, after Ostler's toolkit
     * configured it. */
    bool cdi;
    bool cdi_by_default; /* the same, without that configuration */
    enum host_toolkit toolkit;
};

/* Whether the kubelet could not ask the runtime for its version, as while that restarts:
 * "containerd://Unknown" (VersionInfo in pkg/kubelet/nodestatus/setters.go). NULL: false. */
bool host_runtime_is_silent(const char *runtime_version);
/* Never fails: unknown facts are "" or RUNTIME_UNKNOWN. A silent runtime counts as a current one,
 * which has CDI. */
struct host host_of(const struct node_facts *facts);
/* One sentence that says why Ostler cannot choose a driver image for the host. NULL: it can, or the
 * host is COS. From the arena. */
const char *host_os_problem(struct arena *a, const struct host *host,
                            const struct node_facts *facts);
/* One sentence that says why the toolkit cannot be installed there; NULL: it can. From the
 * arena. */
const char *host_runtime_problem(struct arena *a, const struct host *host,
                                 const struct node_facts *facts);
/* One sentence that says why the host's toolkit cannot be used; NULL: it can, or there is none.
 * Static. */
const char *host_toolkit_problem(const struct host *host);
/* How pods use the host's toolkit: "nvidia" or "default". NULL: there is no usable toolkit. */
const char *host_toolkit_name(enum host_toolkit toolkit);

#endif
