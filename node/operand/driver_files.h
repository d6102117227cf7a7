/* Installs files of the policy's ConfigMaps (driver.repoConfig, certConfig, kernelModuleConfig) in
 * the driver container. The manifest mounts each ConfigMap at its own directory, because a mount
 * over a directory of the image would hide the image's files. */
#ifndef OSTLER_NODE_OPERAND_DRIVER_FILES_H
#define OSTLER_NODE_OPERAND_DRIVER_FILES_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Copies each file to the directory that the container's operating system reads, and updates the
 * certificate store if certificates were added. `root` is the container's own. -1: a file cannot be
 * copied whole, or the system would not read it; the message names the setting. */
int driver_files_put(const struct root *root, struct err *e);

#endif
