/* The one-off pod that resets GPUs of a node or reboots it. It belongs to one attempt: its purpose
 * is when the phase of the claim began. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_POD_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_POD_H

#include "reconcilers/model/claim.h"
#include "reconcilers/decide/node_types.h"

enum repair_pod_state {
    REPAIR_POD_MISSING, /* it must be created */
    REPAIR_POD_WAITS,   /* it runs, has not started yet, or one of another attempt is still there */
    REPAIR_POD_DONE,
    REPAIR_POD_FAILED,
};

/* Strings are static or borrowed. */
struct repair_pod {
    enum repair_pod_state state;
    const char *words; /* its termination message, or why it waits or failed */
    int64_t ended_s;   /* with DONE and FAILED: when it ended; 0: not known */
};

/* `kind`: TASK_RESET or TASK_REBOOT. */
void repair_pod_look(const struct node_pass *p, enum task_kind kind, const struct claim *c,
                     struct repair_pod *ret);
/* Plans the creation of the pod for a claim in phase Resetting or Rebooting. A pod that cannot be
 * rendered makes the verdict a failure. */
void repair_pod_make(const struct node_pass *p, enum task_kind kind, const struct claim *c);
/* Plans the deletion of all such pods, but for those of this attempt; NULL: of all. */
void repair_pods_clear(const struct node_pass *p, const struct claim *keep);

#endif
