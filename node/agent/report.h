/* How an inventory gets into the GpuNode: read it, make it where it is missing and there is a GPU to tell of, and write where it
 * says something else. Three requests at most, one after the other, none of them a list or a watch. Not being able to is an
 * outcome; who asked tries again. */
#ifndef OSTLER_NODE_AGENT_REPORT_H
#define OSTLER_NODE_AGENT_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "kube/exchange.h"

/* Who writes inventories; never changes, as FIELD_MANAGER. */
#define NODE_FIELD_MANAGER "ostler-node"

/* So many looks in a row have to find no GPU before it counts as gone. */
enum { ABSENT_LOOKS_MAX = 3 };

enum report_step { REPORT_READ, REPORT_MAKE, REPORT_WRITE, REPORT_DONE };

struct report {
    const char *node;
    json_t *inventory;   /* what is to be said; `absentLooks` is counted on from what was said last */
    enum report_step step;
    struct exchange exchange;
    bool wrote;
    bool closed;         /* Ostler waits for the node's GPUs to be let go of, as the GpuNode says */
    unsigned absent;     /* looks in a row that found no GPU, as it is told now; 0: there is one, or it is told nowhere */
    int64_t retry_after_ms; /* of a refusal; -1: it does not say */
    struct err err;      /* why it did not come to its end */
};

/* Sends the first request. `transport` and `node` are borrowed until report_clear(). */
void report_begin(struct report *r, const struct transport *transport, const char *node, json_t *inventory_steal);
/* Ends what is on its way, and frees what it owns. */
void report_clear(struct report *r);

#endif
