/* `ostler-node reset`: resets GPUs through sysfs while no driver is loaded. The kernel offers a
 * reset only if it affects no other function of the slot (its Documentation/ABI/testing/
 * sysfs-bus-pci), and tries its methods in its own order (`reset_method`), which Ostler leaves as
 * it is. */
#ifndef OSTLER_NODE_OPERAND_RESET_H
#define OSTLER_NODE_OPERAND_RESET_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "node/inventory/root.h"

/* RESET_MS: for all GPUs together; they are reset at the same time. The kernel itself waits up to a
 * minute for a GPU after each method that it tries (PCIE_RESET_READY_POLL_MS, drivers/pci/pci.c).
 * RESET_BACK_MS: how long a GPU may return ones afterwards. */
enum { RESET_GPUS_MAX = 16, RESET_MS = 180 * 1000, RESET_BACK_MS = 5 * 1000 };

/* Writes a text into a file of sysfs: 0 or an errno. */
typedef int reset_write_fn(const struct root *root, const char *path, const char *text);

struct reset {
    const char *const *addresses; /* as given, in any form */
    size_t count;
    reset_write_fn *write; /* place_write(), called in a process of its own */
    int64_t limit_ms, back_ms;
    const char *words; /* gets the result, like TERMINATION_LOG_FILE */
};

/* Tries to reset every GPU. -1 if it did not reset all of them; the error is the result in one
 * line: "reset 0000:3b:00.0; 0000:5e:00.0 offers no reset: only a reboot helps". */
int reset_run(const struct root *root, const struct reset *r, struct err *e);

#endif
