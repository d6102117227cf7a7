/* `ostler-node cards`: what NVML says of a machine's cards, printed once or kept in a file for the agent. */
#ifndef OSTLER_NODE_GPUS_GPUS_H
#define OSTLER_NODE_GPUS_GPUS_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Asks once, and prints it. */
int gpus_print(const struct root *host, struct err *e);
/* Keeps the file up to date until a signal asks to stop: 0. NVML is asked when the driver, its cards or their MIG instances are
 * others than before, and let go of at once, so that it never keeps a driver from being unloaded. -1: it cannot begin. */
int gpus_keep(const struct root *host, const char *file, struct err *e);

#endif
