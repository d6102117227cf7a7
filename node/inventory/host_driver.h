/* Finds drivers by their files: a driver that is installed on the host, and a driver container. */
#ifndef OSTLER_NODE_INVENTORY_HOST_DRIVER_H
#define OSTLER_NODE_INVENTORY_HOST_DRIVER_H

#include <stdbool.h>

#include "node/inventory/module.h"
#include "node/inventory/view.h"

/* Paths are the host's, with a leading "/". Strings are static, except the version, which is from
 * the arena. NULL: not found. */
struct host_driver {
    const char *smi;     /* nvidia-smi */
    const char *library; /* libnvidia-ml.so.1 */
    const char *version; /* from the library's file name */
    /* nvidia-smi is there, or the library and a module that no driver container loaded. The library
     * alone proves nothing: packages without a driver bring it too. */
    bool installed;
    bool known; /* false: not `installed` as far as seen, but some places could not be inspected */
    bool container; /* a driver container runs: the process that its lock names is alive */
    bool container_known;
};

void host_driver_look(struct view *v, const struct module_facts *m, struct host_driver *ret);
/* Finds libnvidia-ml.so.1 in a root; *ret is NULL if it is not there. False if a place that may
 * have it could not be inspected. */
bool host_driver_find_library(struct view *v, const char **ret);
/* "580.178.04" of "libnvidia-ml.so.580.178.04" and the name "libnvidia-ml.so.", borrowed from the
 * first; NULL: another form of name. */
const char *host_driver_version(const char *library, const char *name);
/* The same of the target of a link, from the arena. */
const char *host_driver_version_of(struct view *v, const char *link, const char *name);

#endif
