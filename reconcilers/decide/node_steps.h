/* The steps of a node between having and not having a driver: which assignment it gets now, and what must happen first. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_STEPS_H
#define OSTLER_RECONCILERS_DECIDE_NODE_STEPS_H

#include "reconcilers/decide/node_plan.h"

/* The assignment that a node gets in this pass. Strings are static, from the arena or borrowed from the input. */
struct node_assignment {
    struct assignment_ref to;   /* NULL: off */
    enum reason reason;         /* of the write, if one is needed */
    const char *message;
    /* A revision has no record yet, or may be losing it: nothing may be assigned before it is known to be there. */
    bool record_missing;
    bool look;           /* as in struct off */
    bool first;          /* no stack, since its first toolkit comes in turn */
    bool waiting;        /* what is there has to come off first; `reason` says how far that is */
};

/* A node that runs a revision which fits its host keeps it; every other node gets the target, once what does not fit is off.
 * `host_driver_found`: that the host has a driver of its own was not known before this pass. */
struct node_assignment node_assign(const struct node_input *in, struct arena *a,
                                   const struct target *t, bool host_driver_found);

/* Taking the tiers off: stack, its pods gone, no GPU pods, driver, its pods gone. */
struct off {
    struct assignment_ref left; /* the labels after this step; NULL: off */
    const char *removal;        /* the same: of which stack revision the toolkit is taken out of the container runtime */
    enum reason reason;
    const char *message;
    bool look; /* the step rests on no GPU pod being there: whether that is so is asked before it */
    bool done; /* nothing of ours runs there any more */
};

/* The next step of that; nothing where none is left to do (`done`). Texts are static or from the arena. */
struct off node_take_off(const struct node_input *in, struct arena *a);

#endif
