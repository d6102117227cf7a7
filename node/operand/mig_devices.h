/* Devices of MIG: each GPU instance and compute instance has one, /dev/nvidia-caps/nvidia-capMINOR, by which a container gets it;
 * two more are for who changes and who monitors the layout. In /proc/driver/nvidia-caps/mig-minors the driver says which minor
 * each of all possible ones has, and below /proc/driver/nvidia/capabilities which there are (NVIDIA's MIG User Guide, "Device
 * Nodes and Capabilities"). NVIDIA's own programs make a node when they first open its capability (nvidia-modprobe 610.43.03,
 * modprobe-utils/nvidia-modprobe-utils.c, nvidia_cap_mknod): in a driver's container that has just started, whose /dev is new,
 * there is none of the instances that the driver has had before. */
#ifndef OSTLER_NODE_OPERAND_MIG_DEVICES_H
#define OSTLER_NODE_OPERAND_MIG_DEVICES_H

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/inventory/text.h"
#include "node/operand/devices.h"

/* A line of mig-minors: "gpu0/gi1/ci0/access 13", "config 1". */
struct mig_minor {
    int gpu;          /* the minor of the card's own device; -1: it is of all cards */
    struct part path; /* below the card's folder: "gi1/ci0/access"; without a card: "config" */
    unsigned minor;
};

/* The next line that is understood; false at the end. */
bool mig_minors_next(struct part *text, struct mig_minor *ret);

struct mig_places {
    const char *devices; /* folder in the root that nvidia-caps is in or comes into: "dev" */
    const char *links;   /* folder in the root for links; NULL: no links are wanted */
    const char *as;      /* `devices` as the links name it */
};

/* Makes the nodes of the instances that there are, with the mode that the driver says, and a link MAJOR:MINOR for each that there
 * can be of the cards of this machine: instances come and go while the driver runs, and systemd takes a device without a link
 * from containers (NVIDIA's operator: `create-dev-char-symlinks --create-all`, nvidia-container-toolkit v1.20.0,
 * internal/nvidia-devices/all.go). Nothing is done for a driver without MIG, and no node made where the administrator has told
 * the driver that nobody may (NVreg_ModifyDeviceFiles=0). */
int mig_devices_show(const struct root *root, const struct mig_places *p, device_make_fn *make, struct err *e);

#endif
