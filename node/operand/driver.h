/* The driver container, with `ostler-node start-driver` as its entry point, `probe-driver` as its
 * startup probe, and `stop-driver` as its preStop hook. The probe writes its ready file
 * (node/agent/ready_files.h) and the hook removes it. */
#ifndef OSTLER_NODE_OPERAND_DRIVER_H
#define OSTLER_NODE_OPERAND_DRIVER_H

#include <stdint.h>

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/operand/devices.h"

/* Duration of one try of the probe. The kubelet allows a minute for a try and counts tries: with
 * tries of equal length, the count is a time limit. */
enum { DRIVER_PROBE_MS = 50 * 1000 };

/* Removes the state files of an earlier container, installs the policy's files
 * (node/operand/driver_files.h), then replaces this process with NVIDIA's program. Returns only on
 * error. */
int driver_start(const struct root *root, char *const program[], struct err *e);
struct driver_probe {
    const char *revision, *pod; /* written into the ready file */
    int64_t limit_ms;           /* how long the driver may take */
    device_make_fn *make;
};

/* Writes the ready file of this boot, revision and pod once the driver is ready. Checks every
 * second that its module is loaded, its daemons run, its root is mounted, nvidia-smi finds GPUs,
 * and all device nodes exist (node/operand/devices.h). -1: it is not ready, and the message says
 * what was missing last. */
int driver_probe(const struct root *root, const struct driver_probe *p, struct err *e);
/* Removes the ready file unless it belongs to a later pod. */
int driver_stop(const struct root *root, const char *pod, struct err *e);

/* ---- the container of the driver's pod that loads gdrdrv, GDRCopy's kernel module: `ostler-node
 * start-gdrcopy` is its entry point and `probe-gdrcopy` its startup probe */

/* Waits until this pod's driver is ready, installs the policy's files
 * (node/operand/driver_files.h), then replaces this process with NVIDIA's program. Returns only on
 * error. */
int gdrcopy_start(const struct root *root, const char *pod, char *const program[], struct err *e);
/* Creates the node gdrdrv in the driver's root, where the toolkit finds it, if the module is
 * loaded; -1 if it is not. */
int gdrcopy_probe(const struct root *root, device_make_fn *make, struct err *e);

#endif
