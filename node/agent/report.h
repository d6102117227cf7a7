/* Writes an inventory into the GpuNode: reads the object, creates it if it is missing and the node
 * has a GPU, and patches it if it differs. At most three requests, in sequence; no list and no
 * watch. A failure is an outcome; the caller retries. */
#ifndef OSTLER_NODE_AGENT_REPORT_H
#define OSTLER_NODE_AGENT_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "kube/exchange.h"

/* The field manager of inventories; never changes, like FIELD_MANAGER. */
#define NODE_FIELD_MANAGER "ostler-node"

/* GPUs count as gone after this many consecutive scans without one. */
enum { ABSENT_LOOKS_MAX = 3 };

enum report_step { REPORT_READ, REPORT_MAKE, REPORT_WRITE, REPORT_DONE };

struct report {
    const char *node;
    /* Called with the inventory of the GpuNode (NULL: it has none) before `inventory` is compared
     * with it; may change `inventory`. NULL: nothing. */
    void (*join)(void *arg, const json_t *said, json_t *inventory);
    void *arg;
    json_t *inventory; /* to be written; `absentLooks` counts on from the last report */
    enum report_step step;
    struct exchange exchange;
    bool wrote;
    bool closed; /* according to the GpuNode, Ostler waits for the node's GPUs to be free */
    /* consecutive scans without a GPU, as reported now; 0: there is one, or nothing is reported */
    unsigned absent;
    int64_t retry_after_ms; /* of a refusal; -1: not given */
    struct err err;         /* why it did not finish */
};

/* Sends the first request. `transport` and `node` are borrowed until report_clear(). Set `join` and
 * `arg` afterwards. */
void report_begin(struct report *r, const struct transport *transport, const char *node,
                  json_t *inventory_steal);
/* Cancels a pending request and frees what `r` owns. */
void report_clear(struct report *r);

#endif
