/* The file that `ostler-node cards` keeps for the agent (node/inventory/nvml.h). It is written only
 * if it changes, and its time is set each time, so that the agent sees that somebody still asks. */
#ifndef OSTLER_NODE_GPUS_KEPT_H
#define OSTLER_NODE_GPUS_KEPT_H

#include <stdbool.h>

#include "base/err.h"
#include "node/inventory/text.h"

/* What NVML answered. */
struct answer {
    struct part said; /* lines of ostler-nvml */
    bool is_whole;    /* false: `said` tells nothing of some GPUs */
    const char *hangs; /* address of a GPU that hangs NVML; "": none */
};

/* Puts an answer into the file. `first` is its first line, without the end of line. If the answer
 * is not whole, memory and MIG devices stay as they are in the file, if that has the same first
 * line. Health that NVML does not report now is unknown. */
int kept_put(const char *file, const char *first, const struct answer *a, bool *ret_wrote,
             struct err *e);

#endif
