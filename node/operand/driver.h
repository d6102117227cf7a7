/* The driver's container: `ostler-node start-driver`, `probe-driver` and `stop-driver` are its beginning, its startup probe and
 * its hook before the end. Its sign (node/agent/ready_files.h) is there from the second to the third. */
#ifndef OSTLER_NODE_OPERAND_DRIVER_H
#define OSTLER_NODE_OPERAND_DRIVER_H

#include <stdint.h>

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/operand/devices.h"

/* The kubelet gives a try of the probe a minute, and counts tries: with each as long as this they are a bound in time. */
enum { DRIVER_PROBE_MS = 50 * 1000 };

/* Takes away what an earlier container said of itself, puts the policy's files in their places (node/operand/driver_files.h),
 * then becomes NVIDIA's program. Returns only with an error. */
int driver_start(const struct root *root, char *const program[], struct err *e);
struct driver_probe {
    const char *revision, *pod; /* whose sign it is */
    int64_t limit_ms;           /* so long the driver may take */
    device_make_fn *make;
};

/* Leaves the sign of this start of the machine, this revision and this pod as soon as the driver is ready: its module is loaded,
 * its daemons run, its root is mounted, nvidia-smi finds GPUs, and all device nodes are there (node/operand/devices.h). Looks
 * each second; -1: it is not ready, and the message says what was missing at last. */
int driver_probe(const struct root *root, const struct driver_probe *p, struct err *e);
/* Takes the sign away, unless it is that of a pod that came after this one. */
int driver_stop(const struct root *root, const char *pod, struct err *e);

#endif
