/* Finds NVIDIA's container toolkit of the host itself, as in cloud images and DGX OS: the
 * handler in the container runtime's configuration, and its program. Toolkits that an operator
 * such as Ostler installs do not count: they lie in a directory .../nvidia/toolkit, which no
 * package uses. */
#ifndef OSTLER_NODE_INVENTORY_HOST_TOOLKIT_H
#define OSTLER_NODE_INVENTORY_HOST_TOOLKIT_H

#include <stdbool.h>

#include "node/inventory/runtime.h"
#include "node/inventory/view.h"

/* Longest name and path; both are printable ASCII. */
enum { TOOLKIT_NAME_MAX = 63, TOOLKIT_PATH_MAX = 127 };

/* Zero-initialized = no toolkit. Strings are from the arena or static. */
struct host_toolkit {
    const char *program; /* path of nvidia-container-runtime; NULL: not configured and not found */
    bool installed;      /* the program exists */
    const char *version; /* from the packages; NULL: not known */
    /* its name in the runtime's configuration: "nvidia"; NULL: not configured */
    const char *handler;
    const char *config; /* the file that configures it */
    bool standard;      /* it is the default runtime */
};

/* Reads the configuration of the first runtime, which is the kubelet's, and checks the places that
 * packages use. */
void host_toolkit_look(struct view *v, const struct runtimes *runtimes, struct host_toolkit *ret);

#endif
