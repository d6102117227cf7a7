/* Finds the root directory of the driver's files: that of a driver container, or the host's own. */
#ifndef OSTLER_NODE_GPUS_DRIVER_ROOT_H
#define OSTLER_NODE_GPUS_DRIVER_ROOT_H

#include "base/err.h"
#include "node/inventory/root.h"

enum { LIBRARY_FOLDER_MAX = 64 };

/* Initialize with .root.fd = -1. */
struct driver_root {
    struct root root; /* the root directory for programs of the driver */
    /* directory of the NVML library in it, with a leading "/" */
    char library_folder[LIBRARY_FOLDER_MAX];
};

#define CLEANUP_DRIVER_ROOT CLEANUP(driver_root_close)

/* Finds it on a host. ERR_NOT_FOUND: there is no driver, or it has no device nodes, and the library
 * would try to create them. */
int driver_root_find(const struct root *host, struct driver_root *ret, struct err *e);
void driver_root_close(struct driver_root *d);

#endif
