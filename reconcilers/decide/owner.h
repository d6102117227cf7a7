/* Decides who serves a node: Ostler takes no node that another GPU stack serves or is about to
 * serve. */
#ifndef OSTLER_RECONCILERS_DECIDE_OWNER_H
#define OSTLER_RECONCILERS_DECIDE_OWNER_H

#include "reconcilers/model/detect.h"
#include "reconcilers/decide/node_types.h"

enum {
    /* Ostler waits this long before it takes a new node that another operator's DaemonSet would
     * select, if that pod does not exist. A DaemonSet creates its pods within a second. An operator
     * labels a node for its DaemonSets when it finds the GPU. */
    OWNER_SETTLES_S = 60,
};

enum owner_kind { OWNER_OSTLER, OWNER_OTHERS, OWNER_NOT_KNOWN };

struct owner {
    enum owner_kind kind;
    const char *message; /* for users; NULL: Ostler serves it. From the arena */
    int64_t again_ms;    /* OWNER_NOT_KNOWN: it will be known after this time at the latest */
};

/* Ostler serves a node that has its stack, a claim or a user's label for it, whatever else is
 * there. It also serves a node in a pool without Ostler's device plugin whose GPUs another program
 * gives to resource claims. */
struct owner owner_of_node(const struct node_pass *p, const struct node_facts *facts);
/* The object that shows the driver or device plugin that `p` has a sign of: "pod ml/x",
 * "ResourceSlice y". From the arena. */
const char *owner_seen_by(const struct node_pods *p, struct arena *a);

#endif
