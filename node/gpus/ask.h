/* Asking NVML, in a process of its own that may crash, hang or talk for ever: what the library of a driver does with a card that
 * is broken nobody knows. */
#ifndef OSTLER_NODE_GPUS_ASK_H
#define OSTLER_NODE_GPUS_ASK_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "node/gpus/driver_root.h"

struct asker {
    int helper;  /* ostler-nvml, opened; -1: it is not */
    pid_t stuck; /* one that hangs in the kernel, where no signal reaches it; 0: none */
};

/* Opens the helper, which lies beside this program. */
int asker_open(struct asker *a, struct err *e);
void asker_close(struct asker *a);
/* Adds what the helper says to `ret`, lines as in node/inventory/nvml.h from the second on, all of them printable. It is given
 * `limit_ms` milliseconds. While one hangs in the kernel no other is asked. */
int asker_ask(struct asker *a, const struct driver_root *d, int64_t limit_ms, struct buf *ret, struct err *e);

#endif
