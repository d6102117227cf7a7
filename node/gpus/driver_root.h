/* Where the files of the driver are: of a driver container, or the host's own. */
#ifndef OSTLER_NODE_GPUS_DRIVER_ROOT_H
#define OSTLER_NODE_GPUS_DRIVER_ROOT_H

#include "base/err.h"
#include "node/inventory/root.h"

enum { LIBRARY_FOLDER_MAX = 64 };

/* Initialise with .root.fd = -1. */
struct driver_root {
    struct root root;                        /* what programs of the driver have as theirs */
    char library_folder[LIBRARY_FOLDER_MAX]; /* where the library NVML is in it, with a "/" first */
};

#define CLEANUP_DRIVER_ROOT CLEANUP(driver_root_close)

/* Finds it on a host. ERR_NOT_FOUND: there is none, or it has no devices, which a library would try to make. */
int driver_root_find(const struct root *host, struct driver_root *ret, struct err *e);
void driver_root_close(struct driver_root *d);

#endif
