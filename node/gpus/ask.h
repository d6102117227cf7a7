/* Asks NVML in a separate process that may crash, hang or print without end, because a driver's
 * library may do anything with a broken GPU. */
#ifndef OSTLER_NODE_GPUS_ASK_H
#define OSTLER_NODE_GPUS_ASK_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "node/gpus/driver_root.h"

struct asker {
    int helper;  /* descriptor of ostler-nvml; -1: not open */
    pid_t stuck; /* a process that hangs in the kernel and takes no signal; 0: none */
};

/* Opens the helper, which lies in the directory of this program. */
int asker_open(struct asker *a, struct err *e);
void asker_close(struct asker *a);
/* Appends the helper's output to `ret`: printable lines in the form of node/inventory/nvml.h
 * without its first line. The limit is `limit_ms` milliseconds. While an earlier helper hangs in
 * the kernel, no other starts. */
int asker_ask(struct asker *a, const struct driver_root *d, int64_t limit_ms, struct buf *ret,
              struct err *e);

#endif
