/* NVIDIA's container toolkit as the host itself has it, as images of clouds and DGX OS do: the runtime that the container
 * runtime's configuration names for it, and its program. What an operator installs, Ostler among them, is in a folder
 * .../nvidia/toolkit, where no package puts it, and is not the host's. */
#ifndef OSTLER_NODE_INVENTORY_HOST_TOOLKIT_H
#define OSTLER_NODE_INVENTORY_HOST_TOOLKIT_H

#include <stdbool.h>

#include "node/inventory/runtime.h"
#include "node/inventory/view.h"

/* Longest name and path, with nothing else in them than printable ASCII. */
enum { TOOLKIT_NAME_MAX = 63, TOOLKIT_PATH_MAX = 127 };

/* Zero-initialised = there is none. Strings from the arena, or static. */
struct host_toolkit {
    const char *program; /* nvidia-container-runtime, by its path; NULL: neither a configuration names one nor is one there */
    bool installed;      /* the program is there */
    const char *version; /* of the packages; NULL: they do not say */
    const char *handler; /* what the runtime calls it: "nvidia"; NULL: no configuration names it */
    const char *config;  /* the file that names it */
    bool standard;       /* it is the default runtime */
};

/* Looks at the configuration of the first of these runtimes, which is the kubelet's, and at the places of packages. */
void host_toolkit_look(const struct view *v, const struct runtimes *runtimes, struct host_toolkit *ret);

#endif
