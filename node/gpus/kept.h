/* The file that `ostler-node cards` keeps for the agent (node/inventory/nvml.h). It is written only
 * if it changes, and its time is set each time, so that the agent sees that NVML is still asked. */
#ifndef OSTLER_NODE_GPUS_KEPT_H
#define OSTLER_NODE_GPUS_KEPT_H

#include <stdbool.h>

#include "base/err.h"
#include "node/inventory/text.h"

/* What NVML answered. */
struct answer {
    struct part said;  /* lines of ostler-nvml; empty: it did not answer */
    const char *hangs; /* address of the GPU on which it then hung; "": it did not hang */
};

/* Puts an answer into the file. `first` is its first line, without the end of line. Memory and MIG
 * devices of a GPU that the answer does not name stay as they are in the file, if that has the same
 * first line. Health that NVML does not report now is unknown. Lines are in the order of UUIDs and
 * addresses, whatever the order of the answer. */
int kept_put(const char *file, const char *first, const struct answer *a, bool *ret_wrote,
             struct err *e);

#endif
