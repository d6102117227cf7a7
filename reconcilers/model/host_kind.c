#include "reconcilers/model/host_kind.h"

#include <stddef.h>

const struct host_runtime_row host_runtimes[RUNTIME_COUNT] = {
    [RUNTIME_UNKNOWN] = { NULL, "" },
    [RUNTIME_CONTAINERD] = { "containerd://", "containerd" },
    [RUNTIME_CRIO] = { "cri-o://", "crio" },
    [RUNTIME_DOCKER] = { "docker://", "docker" },
};

const struct host_distribution_row host_distributions[DISTRIBUTION_COUNT] = {
    [DISTRIBUTION_STOCK] = { NULL, NULL, "stock", { 1, 7 }, "/var/lib/kubelet" },
    [DISTRIBUTION_K3S] = { "+k3s", NULL, "k3s", { 2, 0 }, "/var/lib/kubelet" },
    [DISTRIBUTION_RKE2] = { "+rke2", NULL, "rke2", { 2, 0 }, "/var/lib/kubelet" },
    [DISTRIBUTION_MICROK8S] = { NULL,
                                "microk8s.io/cluster",
                                "microk8s",
                                { 1, 7 },
                                "/var/snap/microk8s/common/var/lib/kubelet" },
    [DISTRIBUTION_K0S] = { "+k0s", NULL, "k0s", { 1, 7 }, "/var/lib/k0s/kubelet" },
};
