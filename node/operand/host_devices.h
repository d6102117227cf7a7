/* Creates the device nodes of a host's own driver. A host loads nvidia-uvm only when its first CUDA
 * program needs it (nvidia-modprobe), and containers cannot load it. Until then, NVIDIA's toolkit
 * fails or silently leaves out the node. */
#ifndef OSTLER_NODE_OPERAND_HOST_DEVICES_H
#define OSTLER_NODE_OPERAND_HOST_DEVICES_H

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/operand/devices.h"

struct host_devices {
    char *const *loader; /* the program that loads nvidia-uvm on the host, with its arguments */
    device_make_fn *make;
};

/* Loads nvidia-uvm if it is missing, creates the driver's nodes in the host's /dev, and their links
 * in /dev/char if the host has that directory. */
int host_devices_show(const struct root *host, const struct host_devices *h, struct err *e);

#endif
