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
struct node_assignment node_assign(const struct node_pass *p, const struct target *t,
                                   bool host_driver_found);

/* Removal of the tiers, in this order: stack, wait for its pods to end, wait for GPU pods, driver,
 * wait for its pods to end. */
struct removal_step {
    struct assignment_ref left; /* the labels after this step; NULL: none */
    /* The stack revision whose toolkit is being removed from the container runtime. */
    const char *removal; /* NULL: none */
    enum reason reason;
    const char *message;
    bool look; /* the step requires that no GPU pod exists, so list the pods before it */
    bool done; /* nothing of Ostler's runs there */
};

/* The next step of removing everything; if none is left, `done`. Texts are static or from the
 * arena. Requests a requeue for its timeout.
 *
 * Only NVIDIA's own program can undo the toolkit's changes to the container runtime's
 * configuration, because it knows what it wrote. So after the stack is removed, a pod of a
 * DaemonSet (RENDER_REMOVAL) runs that program. The label ostler.dev/removal, with the hash of the
 * stack revision, selects the node; Ostler removes the label when the pod is up. Driver and GPU
 * pods wait for this, or it waits for them, at most a few minutes. Ostler reports what remains on
 * the node's disk. */
struct removal_step toolkit_removal_step(const struct node_pass *p);

#endif
