/* What the fleet page's map and table show of one node. */
#ifndef OSTLER_RECONCILERS_FLEET_ROW_H
#define OSTLER_RECONCILERS_FLEET_ROW_H

#include "reconcilers/cluster.h"

/* The columns of texts, and their names on the page. */
#define FLEET_TEXTS(X)                                                                             \
    X(POOL, "pool")                                                                                \
    X(ZONE, "zone")                                                                                \
    X(RACK, "rack") /* the value of the label spec.rollout.topologyKey */                          \
    X(STATE, "state")                                                                              \
    X(REASON, "reason")   /* of the condition GpuReady, or of the fault that closes the node */    \
    X(PRODUCT, "product") /* of its GPUs */                                                        \
    X(DRIVER, "driver")   /* version that it runs, or "host" */                                    \
    X(TARGET, "target")   /* version that it is to run */

/* The columns of numbers. */
#define FLEET_NUMBERS(X)                                                                           \
    X(GPUS, "gpus")                                                                                \
    X(USED, "used")   /* GPUs that pods request */                                                 \
    X(BAD, "bad")     /* GPUs with a fault of level Close or worse */                              \
    X(SINCE, "since") /* when it entered its state, epoch seconds; 0: not known */                 \
    X(HELD, "held")   /* 1: a user holds it with the label ostler.dev/hold */

enum fleet_text {
#define X(id, ...) FLEET_##id,
    FLEET_TEXTS(X)
#undef X
        FLEET_TEXTS_LEN
};

enum fleet_number {
#define X(id, ...) FLEET_##id,
    FLEET_NUMBERS(X)
#undef X
        FLEET_NUMBERS_LEN
};

struct fleet_cells {
    const char *text[FLEET_TEXTS_LEN]; /* NULL: none. Borrowed from the cluster or the reader */
    int64_t number[FLEET_NUMBERS_LEN];
};

/* Reads rows of one cluster, and remembers what many nodes share. */
struct fleet_reader;

/* For many rows, or for one. Owned by the caller; valid until the cluster changes. */
struct fleet_reader *fleet_reader_new(const struct cluster *c, bool many);
/* Frees it with the texts that it lent: for CLEANUP_FLEET_READER. */
void fleet_reader_cleanup(struct fleet_reader **r);
#define CLEANUP_FLEET_READER CLEANUP(fleet_reader_cleanup)

/* Whether the page shows a node: Ostler has looked at it, and serves it or has found GPUs on it. */
bool fleet_shows(const struct node_slot *slot);
/* The cells of a node that the page shows. */
struct fleet_cells fleet_cells_of(struct fleet_reader *r, const struct node_slot *slot);

#endif
