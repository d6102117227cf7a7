/* What commands have to read of a cluster, as kubectl/view/snapshot.h has it. */
#ifndef OSTLER_KUBECTL_GATHER_H
#define OSTLER_KUBECTL_GATHER_H

#include "kubectl/ask.h"

/* Parts, as bits. */
enum {
    SEE_POLICY = 1 << 0,
    SEE_REPORTS = 1 << 1,
    SEE_LEASE = 1 << 2,
    SEE_NODES = 1 << 3,    /* those that have a GPU; with `node` that one */
    SEE_EVENTS = 1 << 4,   /* of policy, nodes, operands and Ostler; with `node` of that one and its pods */
    SEE_PODS = 1 << 5,     /* with `node` those on it, else the operands' */
    SEE_SETS = 1 << 6,     /* the operands' DaemonSets */
    SEE_PLACES = 1 << 7,   /* in place of SEE_PODS: of pods nothing but their names and nodes */
    SEE_ALL_OF_NODE = SEE_POLICY | SEE_REPORTS | SEE_LEASE | SEE_NODES | SEE_EVENTS | SEE_PODS,
};

struct gathering {
    unsigned parts; /* what is wanted */
    unsigned needs; /* and without what of it the command has nothing to say */
    const char *node; /* all is about this one; NULL: about the fleet */
};

/* Reads all parts at once. NULL with one sentence where something that is needed cannot be had; what else could not be read is
 * in "missing". New reference. */
json_t *gather(struct ask *a, const struct gpu_options *o, const struct gathering *g, struct err *e);

#endif
