/* Device nodes of NVIDIA's driver that its own programs do not make in a driver container, and the links by which systemd knows
 * all of them. nvidia-smi makes nvidiactl and the cards' nodes; nvidia-uvm, without which no CUDA program runs, comes from
 * nvidia-modprobe, which the image leaves out. NVIDIA's operator does the same in its validator (gpu-operator v26.7,
 * cmd/nvidia-validator/main.go, createControlDeviceNodes and createDevCharSymlinks). */
#ifndef OSTLER_NODE_OPERAND_DEVICES_H
#define OSTLER_NODE_OPERAND_DEVICES_H

#include <sys/types.h>

#include "base/err.h"
#include "node/inventory/root.h"

enum { DEVICES_MAX = 8 };

struct device {
    const char *name; /* in its folder; not owned */
    unsigned major, minor;
};

/* The nodes of the modules that are loaded, by the text of /proc/devices, into `ret`; how many. */
size_t devices_of_modules(const char *text, struct device ret[DEVICES_MAX]);

/* mknodat(2), or what stands in for it. */
typedef int device_make_fn(int folder, const char *name, mode_t mode, dev_t device);

/* Makes those that the folder lacks, for everybody to open. A node of another number, which an earlier load of the module has
 * left, is replaced. */
int devices_make(const struct root *root, const char *folder, device_make_fn *make, struct err *e);
/* Leaves, in the folder `links`, a link MAJOR:MINOR for each node of NVIDIA's in `folder`, which leads to the same name below
 * `as`: without it, systemd takes the node from containers as soon as it applies its rules for devices again. Those of MIG are
 * mig_devices.h's. */
int devices_link(const struct root *root, const char *folder, const char *links, const char *as, struct err *e);

/* ---- for one of them */

/* The major number that the kernel has for a module's character devices. 1; 0: it has none; -1: it cannot be read. */
int devices_major(const struct root *root, const char *module, unsigned *ret, struct err *e);
/* Makes a node in the folder, unless there is one of those numbers. 0, or an errno. */
int device_make(int folder, const struct device *d, mode_t mode, device_make_fn *make);
/* Leaves the link MAJOR:MINOR. One that leads elsewhere is replaced, so that whoever looks for it always finds one. 0, or an
 * errno. */
int device_link(int links, const struct device *d, const char *target);

#endif
