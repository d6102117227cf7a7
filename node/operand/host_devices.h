/* Device nodes of a driver that is the host's own. A host loads nvidia-uvm only when its first CUDA program asks for it
 * (nvidia-modprobe), and no container can: until then NVIDIA's toolkit fails, or leaves the node out without a word. */
#ifndef OSTLER_NODE_OPERAND_HOST_DEVICES_H
#define OSTLER_NODE_OPERAND_HOST_DEVICES_H

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/operand/devices.h"

struct host_devices {
    char *const *loader; /* the program that loads nvidia-uvm on the host, with its arguments */
    device_make_fn *make;
};

/* Loads nvidia-uvm where it is not loaded, makes the driver's nodes in the host's /dev, and their links in /dev/char where the
 * host has that folder. */
int host_devices_show(const struct root *host, const struct host_devices *h, struct err *e);

#endif
