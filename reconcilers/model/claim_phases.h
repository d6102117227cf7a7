/* The phases of a claim and every permitted step between them. Both are in docs/ARCHITECTURE.md. */
#ifndef OSTLER_RECONCILERS_MODEL_CLAIM_PHASES_H
#define OSTLER_RECONCILERS_MODEL_CLAIM_PHASES_H

#include <stdbool.h>

/* PHASE: id, name in the annotation, whether the node holds a slot of maxParallel, progress. STEP:
 * from, to, reasons of the write, condition. NONE: no claim. */
#define CLAIM_TABLE(PHASE, STEP)                                                                   \
    STEP(NONE, WAITING, "ClaimedWaiting",                                                          \
         "the node's turn has come; it has pods that Ostler waits for, or is down")                \
    STEP(NONE, DRAINING, "Claimed", "the node's turn has come; its driver changes")                \
    STEP(NONE, UNLOADING, "Claimed, Abandoned",                                                    \
         "the node's turn has come; only its stack changes; or a user removed its claim")          \
    PHASE(WAITING, "Waiting", false, UNCHANGED) /* tainted; jobs run to their end, no evictions */ \
    STEP(WAITING, DRAINING, "DrainStarted", "the wait is over, and a slot is free")                \
    STEP(WAITING, UNLOADING, "DrainStarted, TargetChanged", "the same; no pod must leave")         \
    STEP(WAITING, NONE,                                                                            \
         "Cancelled, TargetChanged, ReturnedToService, NotNeeded, AttemptsSpent, GpuPodArrived, "  \
         "Released",                                                                               \
         "a user holds or cordons it, its target changes, its turn is not within minutes, its "    \
         "repair has no use, or it has a GPU pod and its GPUs only wait for a reset")              \
    PHASE(DRAINING, "Draining", true, UNCHANGED) /* GPU pods are evicted or waited for */          \
    STEP(DRAINING, WAITING, "JobArrived",                                                          \
         "only jobs are left: they run to their end, and another node gets the slot")              \
    STEP(DRAINING, UNLOADING, "Drained, TargetChanged", "no GPU pod is left")                      \
    STEP(DRAINING, FAILED, "UpgradeFailed, RepairFailed",                                          \
         "drain.timeout is over: the node returns to service without the taint")                   \
    STEP(DRAINING, NONE,                                                                           \
         "Cancelled, TargetChanged, NotNeeded, AttemptsSpent, GpuPodArrived, Released",            \
         "a user holds or cordons it, its target changes, its repair has no use, or it has a GPU " \
         "pod and its GPUs only wait for a reset")                                                 \
    PHASE(UNLOADING, "Unloading", true, CHANGING) /* removes stack, then driver if it changes */   \
    STEP(UNLOADING, DRAINING, "GpuPodArrived", "a new GPU pod runs on the node")                   \
    STEP(UNLOADING, INSTALLING, "Unloaded, RepairCalledOff",                                       \
         "stack and driver are removed; or a repair may not go on")                                \
    STEP(UNLOADING, RESETTING, "Resetting",                                                        \
         "stack and driver are removed; the node's GPUs have a fault")                             \
    STEP(                                                                                          \
        UNLOADING, REBOOTING, "Rebooting",                                                         \
        "the same, and only a reboot helps; or the host has its own driver; or a pod of stack or " \
        "driver does not end before timeouts.install")                                             \
    STEP(UNLOADING, FAILED, "UpgradeFailed, RepairFailed",                                         \
         "timeouts.install is over; or a repair may neither reset nor reboot")                     \
    STEP(UNLOADING, NONE, "Abandoned, Released",                                                   \
         "it runs its earlier revision again; or Ostler releases it")                              \
    PHASE(RESETTING, "Resetting", true, CHANGING) /* a pod resets GPUs; no driver is loaded */     \
    STEP(RESETTING, INSTALLING, "ResetDone, ResetFailed, RepairCalledOff",                         \
         "the GPUs are reset; or they are not, and the claim is no repair or may not go on")       \
    STEP(RESETTING, REBOOTING, "Rebooting", "the reset failed, and a reboot is allowed")           \
    STEP(RESETTING, FAILED, "RepairFailed, UpgradeFailed",                                         \
         "the reset failed, and no reboot is allowed; its pod never ran; or a record is missing")  \
    STEP(RESETTING, NONE, "Released", "Ostler releases the node")                                  \
    PHASE(REBOOTING, "Rebooting", true, CHANGING) /* a pod reboots the node */                     \
    STEP(REBOOTING, INSTALLING, "Rebooted, RepairCalledOff",                                       \
         "the node has another boot id; or the repair may not go on")                              \
    STEP(REBOOTING, FAILED, "RepairFailed", "the reboot is refused, or the node does not return")  \
    STEP(REBOOTING, NONE, "Released", "Ostler releases the node")                                  \
    PHASE(INSTALLING, "Installing", true, CHANGING) /* new driver, then new stack */               \
    STEP(INSTALLING, VALIDATING, "Installed", "every operand is up")                               \
    STEP(INSTALLING, UNLOADING, "TargetChanged", "its target changes")                             \
    STEP(INSTALLING, FAILED, "UpgradeFailed, RepairFailed",                                        \
         "timeouts.install is over, or the validation failed")                                     \
    STEP(INSTALLING, NONE, "Upgraded, Repaired, RepairCalledOff, Released",                        \
         "every operand is up, and validation succeeds at once")                                   \
    PHASE(VALIDATING, "Validating", true, CHANGING) /* all is up; the kubelet must offer GPUs */   \
    STEP(VALIDATING, UNLOADING, "TargetChanged", "its target changes")                             \
    STEP(VALIDATING, FAILED, "UpgradeFailed, RepairFailed",                                        \
         "the validation failed, or timeouts.validation is over")                                  \
    STEP(VALIDATING, NONE, "Upgraded, Repaired, RepairCalledOff, Released",                        \
         "validation succeeds, and a repair's fault has ended")                                    \
    PHASE(FAILED, "Failed", false, STOPPED) /* failed: tainted, no slot, is retried later */       \
    STEP(FAILED, WAITING, "ClaimedWaiting", "retry; the node has pods that Ostler waits for")      \
    STEP(FAILED, DRAINING, "Retried, RolledBack", "retry; its driver changes")                     \
    STEP(FAILED, UNLOADING, "Retried, RolledBack, TargetChanged",                                  \
         "retry, or rollback to the known good revision")                                          \
    STEP(FAILED, NONE, "Recovered, TargetChanged, NotNeeded, AttemptsSpent, Released",             \
         "its operands came up after all, or it runs its target; or no repair is left")

enum claim_phase {
#define PHASE(id, ...) CLAIM_##id,
#define STEP(...)
    CLAIM_TABLE(PHASE, STEP)
#undef PHASE
#undef STEP
        CLAIM_PHASE_COUNT,
    CLAIM_NONE = CLAIM_PHASE_COUNT,
};

/* How far the change of the node has come. */
enum claim_progress {
    CLAIM_UNCHANGED, /* this attempt has changed nothing on the node */
    CLAIM_CHANGING,  /* the node's software is being changed */
    CLAIM_STOPPED,   /* nothing happens until a retry */
};

/* The phase as the annotation has it: "Waiting", "Draining", … Static text. */
const char *claim_phase_name(enum claim_phase p);
/* The phase of a name; CLAIM_NONE for NULL and unknown names. */
enum claim_phase claim_phase_parse(const char *name);
/* Whether a node in this phase holds a slot of maxParallel. */
bool claim_phase_has_slot(enum claim_phase p);
/* The progress of a node in this phase. */
enum claim_progress claim_phase_progress(enum claim_phase p);
/* Whether a claim may go from one phase to the other, or stay in it. CLAIM_NONE: no claim. */
bool claim_step_exists(enum claim_phase from, enum claim_phase to);

#endif
