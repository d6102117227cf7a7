/* Creates device nodes of MIG. Each GPU instance and compute instance has a node
 * /dev/nvidia-caps/nvidia-capMINOR, which gives a container access; two more are for programs that
 * configure and monitor MIG. The driver lists the minors of all possible instances in
 * /proc/driver/nvidia-caps/mig-minors, and the existing instances below
 * /proc/driver/nvidia/capabilities (NVIDIA's MIG User Guide, "Device Nodes and Capabilities").
 * NVIDIA's programs create a node when they first open its capability (nvidia-modprobe 610.43.03,
 * modprobe-utils/nvidia-modprobe-utils.c, nvidia_cap_mknod). So a new driver container, with its
 * new /dev, lacks the nodes of existing instances. */
#ifndef OSTLER_NODE_OPERAND_MIG_DEVICES_H
#define OSTLER_NODE_OPERAND_MIG_DEVICES_H

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/inventory/text.h"
#include "node/operand/devices.h"

/* A line of mig-minors: "gpu0/gi1/ci0/access 13", "config 1". */
struct mig_minor {
    int gpu;          /* minor of the GPU's device file; -1: of all GPUs */
    struct part path; /* below the GPU's directory: "gi1/ci0/access"; without a GPU: "config" */
    unsigned minor;
};

/* The next valid line; false at the end. */
bool mig_minors_next(struct part *text, struct mig_minor *ret);

struct mig_places {
    /* directory in the root that contains, or will contain, nvidia-caps: "dev" */
    const char *devices;
    const char *links; /* directory in the root for links; NULL: no links */
    const char *as;    /* the path of `devices` in the targets of links */
};

/* Creates the nodes of existing instances, with the mode that the driver gives. Creates a link
 * MAJOR:MINOR for each possible instance of this machine's GPUs, because instances come and go
 * while the driver runs. Systemd removes containers' access to a device without a link (NVIDIA's
 * operator: `create-dev-char-symlinks --create-all`, nvidia-container-toolkit v1.20.0,
 * internal/nvidia-devices/all.go). Does nothing for a driver without MIG. Creates no nodes if the
 * admin has forbidden it (NVreg_ModifyDeviceFiles=0). */
int mig_devices_show(const struct root *root, const struct mig_places *p, device_make_fn *make,
                     struct err *e);

#endif
