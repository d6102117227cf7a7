/* Drivers by the files that they leave: one that is installed on the host itself, and a driver container that has put its own
 * there. */
#ifndef OSTLER_NODE_INVENTORY_HOST_DRIVER_H
#define OSTLER_NODE_INVENTORY_HOST_DRIVER_H

#include <stdbool.h>

#include "node/inventory/module.h"
#include "node/inventory/view.h"

/* Paths are the host's, with a "/" first; static, but for the version, which is from the arena. NULL: not there. */
struct host_driver {
    const char *smi;     /* nvidia-smi */
    const char *library; /* libnvidia-ml.so.1 */
    const char *version; /* of the library, as its file is called */
    /* nvidia-smi is there; or the library with a module that no driver container has loaded. Alone it comes with packages that
     * bring no driver. */
    bool installed;
    bool known;          /* false: where it is not `installed`, the places could not all be looked at */
    bool container;      /* a driver container runs: its lock names a process that lives */
    bool container_known;
};

void host_driver_look(const struct view *v, const struct module_facts *m, struct host_driver *ret);
/* libnvidia-ml.so.1 in a root, or NULL. False when it may be at a place that could not be looked at. */
bool host_driver_find_library(const struct view *v, const char **ret);
/* "580.178.04" of "libnvidia-ml.so.580.178.04", borrowed from it; NULL: it is not so called. */
const char *host_driver_version(const char *library);

#endif
