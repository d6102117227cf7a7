/* The container of the driver's pod that loads gdrdrv, GDRCopy's kernel module: `ostler-node
 * start-gdrcopy` is its entry point and `probe-gdrcopy` its startup probe. */
#ifndef OSTLER_NODE_OPERAND_GDRCOPY_H
#define OSTLER_NODE_OPERAND_GDRCOPY_H

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/operand/devices.h"

/* Waits until this pod's driver is ready, installs the policy's files
 * (node/operand/driver_files.h), then replaces this process with NVIDIA's program. Returns only on
 * error. */
int gdrcopy_start(const struct root *root, const char *pod, char *const program[], struct err *e);
/* Creates the node gdrdrv in the driver's root, where the toolkit finds it, if the module is
 * loaded; -1 if it is not. */
int gdrcopy_probe(const struct root *root, device_make_fn *make, struct err *e);

#endif
