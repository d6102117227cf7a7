/* The phases of a claim and every permitted step between them. Both are in docs/ARCHITECTURE.md. */
#ifndef OSTLER_RECONCILERS_MODEL_CLAIM_PHASES_H
#define OSTLER_RECONCILERS_MODEL_CLAIM_PHASES_H

#include <stdbool.h>

/* PHASE: id, name in the annotation, whether the node holds a slot of maxParallel, progress. STEP:
 * from, to, reasons of the write, condition. NONE: no claim. */
#define CLAIM_TABLE(PHASE, STEP)                                                                   \
    STEP(NONE, WAITING, "ClaimedWaiting",                                                          \
         "its turn has come; pods run there that are waited for, or it is down")                   \
    STEP(NONE, DRAINING, "Claimed", "its turn has come; its driver is to change")                  \
    STEP(NONE, UNLOADING, "Claimed, Abandoned",                                                    \
         "its turn has come; only its stack is to change; or somebody took its claim off")         \
    PHASE(WAITING, "Waiting", false, UNCHANGED) /* tainted; jobs run to their end, no evictions */ \
    STEP(WAITING, DRAINING, "DrainStarted", "nobody is waited for any more, and a place is free")  \
    STEP(WAITING, UNLOADING, "DrainStarted, TargetChanged", "the same; nobody has to leave")       \
    STEP(WAITING, NONE, "Cancelled, TargetChanged, ReturnedToService, Released",                   \
         "a person holds or cordons it, it is to run something else, or its turn cannot come "     \
         "within minutes")                                                                         \
    PHASE(DRAINING, "Draining", true, UNCHANGED) /* GPU pods are evicted or waited for */          \
    STEP(DRAINING, WAITING, "JobArrived",                                                          \
         "only jobs are left: they run to their end, and another node gets the place")             \
    STEP(DRAINING, UNLOADING, "Drained, TargetChanged", "no GPU pod is left")                      \
    STEP(DRAINING, FAILED, "UpgradeFailed",                                                        \
         "drain.timeout is over: without the taint, back in service")                              \
    STEP(DRAINING, NONE, "Cancelled, TargetChanged, Released",                                     \
         "a person holds or cordons it, or it is to run something else")                           \
    PHASE(UNLOADING, "Unloading", true, CHANGING) /* removes stack, then driver if it changes */   \
    STEP(UNLOADING, DRAINING, "GpuPodArrived", "a GPU pod came in between")                        \
    STEP(UNLOADING, INSTALLING, "Unloaded", "stack and driver are gone")                           \
    STEP(UNLOADING, FAILED, "UpgradeFailed", "timeouts.install is over")                           \
    STEP(UNLOADING, NONE, "Abandoned, Released", "it runs what it ran before; or it is let go of") \
    PHASE(INSTALLING, "Installing", true, CHANGING) /* new driver, then new stack */               \
    STEP(INSTALLING, VALIDATING, "Installed", "every operand is up")                               \
    STEP(INSTALLING, UNLOADING, "TargetChanged", "it is to run something else")                    \
    STEP(INSTALLING, FAILED, "UpgradeFailed", "timeouts.install is over, or the proof failed")     \
    STEP(INSTALLING, NONE, "Upgraded, Released", "every operand is up, and proven at once")        \
    PHASE(VALIDATING, "Validating", true, CHANGING) /* all is up; the kubelet must offer GPUs */   \
    STEP(VALIDATING, UNLOADING, "TargetChanged", "it is to run something else")                    \
    STEP(VALIDATING, FAILED, "UpgradeFailed", "the proof failed, or timeouts.validation is over")  \
    STEP(VALIDATING, NONE, "Upgraded, Released", "it is proven")                                   \
    PHASE(FAILED, "Failed", false, STOPPED) /* failed: tainted, no slot, is retried later */       \
    STEP(FAILED, WAITING, "ClaimedWaiting",                                                        \
         "it is tried again; pods run there that are waited for")                                  \
    STEP(FAILED, DRAINING, "Retried, RolledBack", "it is tried again; its driver is to change")    \
    STEP(FAILED, UNLOADING, "Retried, RolledBack, TargetChanged",                                  \
         "it is tried again, or goes back to what is known good")                                  \
    STEP(FAILED, NONE, "Recovered, TargetChanged, Released",                                       \
         "it came up after all, or runs what it is to run by now")

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
