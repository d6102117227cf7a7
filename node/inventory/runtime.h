/* Container runtimes of a host, by their sockets and configurations. */
#ifndef OSTLER_NODE_INVENTORY_RUNTIME_H
#define OSTLER_NODE_INVENTORY_RUNTIME_H

#include <stdbool.h>

#include "node/inventory/text.h"
#include "node/inventory/view.h"

enum { RUNTIMES_MAX = 8 };

/* Paths are the host's, with a "/" first. Strings are static or from the arena. */
struct runtime {
    const char *name;         /* "containerd", "cri-o", "docker" */
    const char *distribution; /* "stock", "k3s", "rke2", "microk8s", "k0s": whose it is */
    const char *socket;
    const char *config;       /* its configuration, NULL: there is none, so it runs by its defaults */
    int config_version;       /* of containerd's configuration, which says how its plugins are called; 0: it does not say */
};

struct runtimes {
    struct runtime items[RUNTIMES_MAX]; /* the kubelet's first, once that is known */
    size_t len;
    bool known; /* false: some of the places could not be looked at */
};

void runtime_look(const struct view *v, struct runtimes *ret);
/* Puts the one with the socket that a kubelet names ("unix:///run/crio/crio.sock"; NULL: it names none) before the others. */
void runtime_put_first(struct runtimes *runtimes, const char *endpoint);
/* `version` of a configuration of containerd; 0 when it does not say. */
int runtime_config_version(struct part text);

#endif
