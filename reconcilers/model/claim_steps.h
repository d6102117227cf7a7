/* The steps of a claim: all ways from one phase to another that there are. docs/ARCHITECTURE.md shows them. */
#ifndef OSTLER_RECONCILERS_MODEL_CLAIM_STEPS_H
#define OSTLER_RECONCILERS_MODEL_CLAIM_STEPS_H

#include "reconcilers/model/claim.h"

/* No claim: the node is in service, or is let go of. */
#define CLAIM_NONE CLAIM_PHASE_COUNT

/* from, to, reasons of the write, when */
#define CLAIM_STEPS(X)                                                                                                         \
    X(NONE, WAITING, "ClaimedWaiting", "its turn has come; pods run there that are waited for, or it is down")                 \
    X(NONE, DRAINING, "Claimed", "its turn has come; its driver is to change")                                                 \
    X(NONE, UNLOADING, "Claimed, Abandoned", "its turn has come; only its stack is to change; or somebody took its claim off") \
    X(WAITING, DRAINING, "DrainStarted", "nobody is waited for any more, and a place is free")                                 \
    X(WAITING, UNLOADING, "DrainStarted, TargetChanged", "the same; nobody has to leave")                                      \
    X(WAITING, NONE, "Cancelled, TargetChanged, ReturnedToService, Released",                                                  \
      "a person holds or cordons it, it is to run something else, or its turn cannot come within minutes")                     \
    X(DRAINING, WAITING, "JobArrived", "only jobs are left: they run to their end, and another node gets the place")           \
    X(DRAINING, UNLOADING, "Drained, TargetChanged", "no GPU pod is left")                                                     \
    X(DRAINING, FAILED, "UpgradeFailed", "drain.timeout is over: without the taint, back in service")                          \
    X(DRAINING, NONE, "Cancelled, TargetChanged, Released", "a person holds or cordons it, or it is to run something else")    \
    X(UNLOADING, DRAINING, "GpuPodArrived", "a GPU pod came in between")                                                       \
    X(UNLOADING, INSTALLING, "Unloaded", "stack and driver are gone")                                                          \
    X(UNLOADING, FAILED, "UpgradeFailed", "timeouts.install is over")                                                          \
    X(UNLOADING, NONE, "Abandoned, Released", "it runs what it ran before; or it is let go of")                                \
    X(INSTALLING, VALIDATING, "Installed", "every operand is up")                                                              \
    X(INSTALLING, UNLOADING, "TargetChanged", "it is to run something else")                                                   \
    X(INSTALLING, FAILED, "UpgradeFailed", "timeouts.install is over, or the proof failed")                                    \
    X(INSTALLING, NONE, "Upgraded, Released", "every operand is up, and proven at once")                                       \
    X(VALIDATING, UNLOADING, "TargetChanged", "it is to run something else")                                                   \
    X(VALIDATING, FAILED, "UpgradeFailed", "the proof failed, or timeouts.validation is over")                                 \
    X(VALIDATING, NONE, "Upgraded, Released", "it is proven")                                                                  \
    X(FAILED, WAITING, "ClaimedWaiting", "it is tried again; pods run there that are waited for")                              \
    X(FAILED, DRAINING, "Retried, RolledBack", "it is tried again; its driver is to change")                                   \
    X(FAILED, UNLOADING, "Retried, RolledBack, TargetChanged", "it is tried again, or goes back to what is known good")        \
    X(FAILED, NONE, "Recovered, TargetChanged, Released", "it came up after all, or runs what it is to run by now")

/* Whether a claim may go from the one to the other, or stays where it is; CLAIM_NONE on either side stands for none. */
bool claim_step_exists(enum claim_phase from, enum claim_phase to);

#endif
