/* The assignment steps of a node that Ostler installs on or removes from: what it is assigned now,
 * and what must happen first. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_STEPS_H
#define OSTLER_RECONCILERS_DECIDE_NODE_STEPS_H

#include "reconcilers/decide/node_types.h"

/* The assignment that a node gets in this pass. Strings are static, from the arena, or borrowed
 * from the input. */
struct node_assignment {
    struct assignment_ref to; /* NULL: none */
    enum reason reason;       /* of the write, if one is needed */
    const char *message;
    /* A revision has no record yet, or may lose it. Nothing may be assigned until the record is
     * known to exist. */
    bool record_missing;
    bool look;    /* as in struct removal_step */
    bool first;   /* no stack, because its first toolkit comes in turn */
    bool waiting; /* the present operands must be removed first; `reason` has the progress */
};

/* A node keeps a revision that fits its host. Any other node gets the target, after what does not
 * fit is removed. `host_driver_found`: this pass discovered the host's own driver. */
struct node_assignment node_assign(const struct node_input *in, struct arena *a,
                                   const struct target *t, bool host_driver_found);

/* Removal of the tiers, in this order: stack, wait for its pods to end, wait for GPU pods, driver,
 * wait for its pods to end. */
struct removal_step {
    struct assignment_ref left; /* the labels after this step; NULL: none */
    /* Likewise, the stack revision whose toolkit is being removed from the container runtime. */
    const char *removal;
    enum reason reason;
    const char *message;
    bool look; /* the step requires that no GPU pod exists, so list the pods before it */
    bool done; /* nothing of Ostler's runs there */
};

/* The next removal step; if none is left, `done`. Texts are static or from the arena. */
struct removal_step node_removal_step(const struct node_input *in, struct arena *a);

#endif
