/* The one-off pod that resets GPUs of a node, reboots it, or removes the file that asks for its
 * reboot. It belongs to one attempt: its purpose is when the phase of the claim began. */
#ifndef OSTLER_RECONCILERS_DECIDE_REPAIR_POD_H
#define OSTLER_RECONCILERS_DECIDE_REPAIR_POD_H

#include "reconcilers/model/claim.h"
#include "reconcilers/decide/node_types.h"

/* What such a pod is for. */
enum repair_job {
    REPAIR_JOB_RESET,
    REPAIR_JOB_REBOOT,   /* or asks kured for the reboot, by a file */
    REPAIR_JOB_WITHDRAW, /* removes that file, if it is Ostler's */
    REPAIR_JOB_COUNT,
};

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
    bool ran;          /* its program has run, or may have (struct task) */
    int64_t ended_s;   /* with DONE and FAILED: when it ended; 0: not known */
    int64_t made_s;    /* when it was created */
};

void repair_pod_look(const struct node_pass *p, enum repair_job job, const struct claim *c,
                     struct repair_pod *ret);
/* Plans a list of that pod, so that what comes after it in the plan is sent only if no pod exists
 * that the watch has not reported. */
void repair_pod_look_for(const struct node_pass *p, enum repair_job job);
/* Plans the creation of the pod for a claim in phase Resetting or Rebooting. A pod that cannot be
 * rendered makes the verdict a failure. */
void repair_pod_make(const struct node_pass *p, enum repair_job job, const struct claim *c);
/* Plans the deletion of all such pods, but for that of this attempt for this job; NULL: of all. */
void repair_pods_clear(const struct node_pass *p, const struct claim *keep, enum repair_job job);

#endif
