/* Who serves a node: Ostler takes no node that another GPU stack serves, or is about to. */
#ifndef OSTLER_PLAN_OWNER_H
#define OSTLER_PLAN_OWNER_H

#include "base/arena.h"
#include "reconcilers/model/detect.h"
#include "reconcilers/decide/node_plan.h"

enum {
    /* So long a new node is not taken while a DaemonSet of others would select it whose pod is not there. Pods of a DaemonSet are
     * made within a second; an operator labels a node for its DaemonSets when it has found the GPU. */
    OWNER_SETTLES_S = 60,
};

enum owner_kind { OWNER_OSTLER, OWNER_OTHERS, OWNER_NOT_KNOWN };

struct owner {
    enum owner_kind kind;
    const char *message; /* for people; NULL: Ostler serves it. Lives in the arena. */
    int64_t again_ms;    /* OWNER_NOT_KNOWN: it is known after that at the latest */
};

/* A stack of Ostler's on the node, a claim, or a person's word means that Ostler serves it, whatever else is there; and so does
 * a pool without a device plugin of ours where somebody else gives the GPUs to resource claims. */
struct owner owner_of_node(const struct node_input *in, const struct node_facts *facts, const struct policy_pool *pool,
                           struct arena *a);
/* What shows the driver or device plugin of others that `p` has a sign of: "pod ml/x", "ResourceSlice y". From the arena. */
const char *owner_seen_by(const struct node_pods *p, struct arena *a);

#endif
