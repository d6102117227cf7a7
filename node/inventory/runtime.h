/* Finds the container runtimes of a host by their sockets and configurations. */
#ifndef OSTLER_NODE_INVENTORY_RUNTIME_H
#define OSTLER_NODE_INVENTORY_RUNTIME_H

#include <stdbool.h>

#include "node/inventory/text.h"
#include "node/inventory/view.h"

enum { RUNTIMES_MAX = 8 };

/* Paths are the host's, with a leading "/". Strings are static or from the arena. */
struct runtime {
    const char *name;         /* "containerd", "cri-o", "docker" */
    const char *distribution; /* "stock", "k3s", "rke2", "microk8s", "k0s" */
    const char *socket;
    const char *config; /* its configuration file; NULL: none, so the defaults apply */
    /* of containerd's configuration, on which the names of plugins depend; 0: not given */
    int config_version;
};

struct runtimes {
    struct runtime items[RUNTIMES_MAX]; /* the kubelet's first, once it is known */
    size_t len;
    bool known; /* false: some places could not be inspected */
};

void runtime_look(struct view *v, struct runtimes *ret);
/* Moves the runtime on a kubelet's endpoint ("unix:///run/crio/crio.sock"; NULL: not given) to the
 * front. */
void runtime_put_first(struct runtimes *runtimes, const char *endpoint);
/* `version` in a containerd configuration; 0: not given. */
int runtime_config_version(struct part text);

/* ---- the containerd configuration of k3s and RKE2 with a custom data directory, from their units
 * and configurations (rancher.c) */

/* Longest accepted path of a configuration. */
enum { RANCHER_PATH_MAX = 127 };

/* The containerd configuration in the custom data directory of "k3s" or "rke2"; NULL: no custom
 * directory, or no configuration in it. As in those programs, the unit overrides the
 * configuration. */
const char *rancher_config(struct view *v, const char *distribution);
/* The directory in a unit's command line; length 0: none. */
struct part rancher_folder_of_unit(struct part text);
/* The directory in a configuration; length 0: none. */
struct part rancher_folder_of_config(struct part text);

#endif
