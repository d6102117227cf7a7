/* Creates device nodes of NVIDIA's driver that its programs do not create in a driver container,
 * and links to all nodes for systemd. The program nvidia-smi creates nvidiactl and the GPUs' nodes.
 * But nvidia-uvm, which every CUDA program needs, is created by nvidia-modprobe, and the image
 * lacks that. NVIDIA's operator does the same in its validator (gpu-operator v26.7,
 * cmd/nvidia-validator/main.go, createControlDeviceNodes and createDevCharSymlinks). */
#ifndef OSTLER_NODE_OPERAND_DEVICES_H
#define OSTLER_NODE_OPERAND_DEVICES_H

#include <sys/types.h>

#include "base/err.h"
#include "node/inventory/root.h"

enum { DEVICES_MAX = 8 };

struct device {
    const char *name; /* in its directory; not owned */
    unsigned major, minor;
};

/* Lists the nodes of the loaded modules, from the text of /proc/devices; returns their number. */
size_t devices_of_modules(const char *text, struct device ret[DEVICES_MAX]);

/* mknodat(2), or a replacement in tests. */
typedef int device_make_fn(int folder, const char *name, mode_t mode, dev_t device);

/* Creates the missing nodes, readable and writable for all. Replaces a node with another number,
 * left by an earlier load of the module. */
int devices_make(const struct root *root, const char *folder, device_make_fn *make, struct err *e);
/* Creates in the directory `links` a link MAJOR:MINOR for each NVIDIA node in `folder`; it leads to
 * the same name below `as`. Without it, systemd removes containers' access to the node when it
 * reapplies its device rules. mig_devices.h handles the nodes of MIG. */
int devices_link(const struct root *root, const char *folder, const char *links, const char *as,
                 struct err *e);

/* ---- single devices */

/* Finds the major number of a module's character devices. 1: found; 0: it has none; -1: it cannot
 * be read. */
int devices_major(const struct root *root, const char *module, unsigned *ret, struct err *e);
/* Creates a node in the directory unless it exists with those numbers. Returns 0 or an errno. */
int device_make(int folder, const struct device *d, mode_t mode, device_make_fn *make);
/* Creates the link MAJOR:MINOR. Replaces one with another target atomically, so that a link always
 * exists. Returns 0 or an errno. */
int device_link(int links, const struct device *d, const char *target);

#endif
