/* The container of the driver's pod that loads gdrdrv, GDRCopy's kernel module: `ostler-node start-gdrcopy` and `probe-gdrcopy`
 * are its beginning and its startup probe. */
#ifndef OSTLER_NODE_OPERAND_GDRCOPY_H
#define OSTLER_NODE_OPERAND_GDRCOPY_H

#include "base/err.h"
#include "node/inventory/root.h"
#include "node/operand/devices.h"

/* Waits until this pod's driver is ready, puts the policy's files in their places (node/operand/driver_files.h), then becomes
 * NVIDIA's program. Returns only with an error. */
int gdrcopy_start(const struct root *root, const char *pod, char *const program[], struct err *e);
/* Makes the node gdrdrv in the driver's root, where the toolkit looks for it, as soon as the module is loaded; -1: it is not. */
int gdrcopy_probe(const struct root *root, device_make_fn *make, struct err *e);

#endif
