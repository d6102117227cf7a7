/* Files of the policy's ConfigMaps (driver.repoConfig, certConfig, kernelModuleConfig) in the driver's container. The manifest
 * mounts each ConfigMap into a folder of its own, since a ConfigMap that is mounted over a folder of the image hides what the
 * image has there. */
#ifndef OSTLER_NODE_OPERAND_DRIVER_FILES_H
#define OSTLER_NODE_OPERAND_DRIVER_FILES_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Copies each file to where the container's operating system looks for files of its kind, and has it read certificates that were
 * added. `root` is the container's own. -1 where a file cannot be copied whole, or nobody would read it: the message names the
 * setting. */
int driver_files_put(const struct root *root, struct err *e);

#endif
