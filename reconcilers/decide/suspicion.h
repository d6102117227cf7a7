/* Whether a new driver breaks GPUs: within its soak, several nodes that run it have faults that
 * came with it, and no node with a known good driver has one. Then the faults count as failures of
 * the driver, and the nodes return to the known good one. */
#ifndef OSTLER_RECONCILERS_DECIDE_SUSPICION_H
#define OSTLER_RECONCILERS_DECIDE_SUSPICION_H

#include "reconcilers/decide/rollout_types.h"

struct suspicion {
    size_t nodes;                     /* that have such a fault */
    const struct rollout_node *first; /* the first of them by name */
    /* With what it failed: "Xid119, as on gpu-2 (within its soak; no node with a known good driver
     * has a new fault)". From the arena. */
    const char *text;
};

/* Looks at a revision in its pool; false: there is nothing to suspect. */
bool suspicion_of(const struct rollout_input *in, const struct rollout_revision *r, struct arena *a,
                  struct suspicion *ret);
/* Whether the recorded failure of a revision is such a text. NULL: it has not failed. */
bool suspicion_is_told(const char *failure);

#endif
