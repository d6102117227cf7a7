/* Reads the parts of a cluster that a command needs, in the form of reconcilers/view/snapshot.h. */
#ifndef OSTLER_KUBECTL_GATHER_H
#define OSTLER_KUBECTL_GATHER_H

#include "kubectl/ask.h"

/* Parts, as bits. */
enum {
    SEE_POLICY = 1 << 0,
    SEE_REPORTS = 1 << 1,
    SEE_LEASE = 1 << 2,
    SEE_NODES = 1 << 3, /* nodes with a GPU; with `node`: that node */
    /* of the policy, nodes, operands and Ostler; with `node`: of the node and its pods */
    SEE_EVENTS = 1 << 4,
    SEE_PODS = 1 << 5,   /* the operands'; with `node`: those on it */
    SEE_SETS = 1 << 6,   /* the operands' DaemonSets */
    SEE_PLACES = 1 << 7, /* instead of SEE_PODS: only pods' names and nodes */
    SEE_ALL_OF_NODE = SEE_POLICY | SEE_REPORTS | SEE_LEASE | SEE_NODES | SEE_EVENTS | SEE_PODS,
};

struct gathering {
    unsigned parts;   /* wanted parts */
    unsigned needs;   /* parts without which the command fails */
    const char *node; /* restricts all parts to one node; NULL: the fleet */
};

/* Reads all parts at once. NULL with one sentence if a needed part is not readable; "missing"
 * lists other unreadable parts. New reference. */
json_t *gather(struct ask *a, const struct gpu_options *o, const struct gathering *g,
               struct err *e);

#endif
