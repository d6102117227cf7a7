/* Keeps the file for the agent up to date, a turn at a time. */
#ifndef OSTLER_NODE_GPUS_KEEPER_H
#define OSTLER_NODE_GPUS_KEEPER_H

#include "node/gpus/ask.h"
#include "node/gpus/order.h"
#include "node/inventory/nvml.h"

/* Limit of the output of ostler-nvml. */
enum { KEEPER_SAID_MAX = NVML_TEXT_MAX / 2 - 1024 };

/* Initialize the first three; .asker.helper = -1; zeros otherwise. */
struct keeper {
    const struct root *host;
    const char *file;
    int64_t limit_ms; /* as in struct question */
    struct asker asker;
    struct hung hung;
    char hangs[CARD_ADDRESS_MAX + 1]; /* the GPU on which the last helper hung; "": none */
    struct err failure;               /* of the last turn */
};

int keeper_open(struct keeper *k, struct err *e);
void keeper_close(struct keeper *k);
/* Asks NVML and puts the answer into the file. Does nothing while no driver is loaded. */
void keeper_turn(struct keeper *k);
/* Finds the driver of a host and asks it. */
int keeper_ask_driver(const struct root *host, struct asker *a, const char *gpus, int64_t limit_ms,
                      struct buf *ret, struct err *e);

#endif
