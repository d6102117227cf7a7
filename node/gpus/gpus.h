/* `ostler-node cards`: prints what NVML reports of a machine's GPUs, or keeps it in a file for the
 * agent. */
#ifndef OSTLER_NODE_GPUS_GPUS_H
#define OSTLER_NODE_GPUS_GPUS_H

#include "base/err.h"
#include "node/inventory/root.h"

/* Asks NVML once and prints the result. */
int gpus_print(const struct root *host, struct err *e);
/* Keeps the file up to date and returns 0 after a signal to stop. Asks NVML once a minute, and
 * releases it at once, so that it never blocks the unloading of a driver for longer. -1: it cannot
 * start. */
int gpus_keep(const struct root *host, const char *file, struct err *e);

#endif
