/* Asks NVML in a separate process that may crash, hang or print without end, because a driver's
 * library may do anything with a broken GPU. */
#ifndef OSTLER_NODE_GPUS_ASK_H
#define OSTLER_NODE_GPUS_ASK_H

#include <stdbool.h>
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
/* What to ask. */
struct question {
    const struct driver_root *driver;
    const char *gpus; /* PCI addresses with spaces between them; NULL: all GPUs, as NVML has them */
    int64_t limit_ms; /* for each next word of the response; all of it takes ASK_LIMITS of these */
};

enum { ASK_LIMITS = 3 };

/* Appends the helper's output to `ret`: printable lines in the form of node/inventory/nvml.h
 * without its first line. After a failure, these are the lines until then; ERR_TIMEOUT: then the
 * helper hung; ERR_TOO_LARGE: it answered, but took too long as a whole. While an earlier helper
 * hangs in the kernel, no other starts. */
int asker_ask(struct asker *a, const struct question *q, struct buf *ret, struct err *e);
/* Whether an earlier helper still hangs in the kernel. */
bool asker_is_stuck(struct asker *a);

#endif
