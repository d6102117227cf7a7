/* What no write of Ostler's may ever do, and what must be so when all is quiet: a table of checks
 * (of safety, S, and of liveness, L, as far as they concern what Ostler does so far), each with a
 * count of how often it was tried. The server's own state is what counts. */
#ifndef OSTLER_TESTS_SWEEP_INVARIANTS_H
#define OSTLER_TESTS_SWEEP_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/api/api.h"
#include "sim/world/wire.h"

struct run;

/* id, what must hold */
#define INVARIANTS(X)                                                                              \
    X(S1_BUDGET, "nodes are taken out of service within the policy's limits")                      \
    X(S2_CORDON, "no node is cordoned or uncordoned")                                              \
    X(S3_ASSIGNED, "the deletion of a DaemonSet is sent only when no node is assigned to it")      \
    X(S3_KEPT, "a node whose driver runs keeps what it is assigned, but under a claim, while the " \
               "policy wants it")                                                                  \
    X(S3_CLAIMED, "a node's driver is exchanged only while the node is claimed and closed")        \
    X(S3_CLOSED, "a claim and its taint come and go in one write")                                 \
    X(S3_IMAGES,                                                                                   \
      "a node is claimed, or turned to something else, when it has every image of what comes")     \
    X(S3_PROVEN, "a node that is new, or was changed, is opened when it is proven")                \
    X(S3_STEPS, "a claim takes no step that is not in the table of them")                          \
    X(S4_EVICTION, "only GPU pods are asked to leave a node that drains; all, before it reboots")  \
    X(S6_IDENTITY,                                                                                 \
      "a deletion names incarnation and version, a change of a node what it rests on")             \
    X(S7_FRAME_NODE, "on a node nothing changes but what is Ostler's")                             \
    X(S7_FRAME_CHILD,                                                                              \
      "Ostler changes its own objects only, and of their labels and annotations only its own")     \
    X(S7_FRAME_POLICY, "of the policy only the status and Ostler's finalizer change")              \
    X(S8_GENERATION, "a node is marked only for a policy that is there")                           \
    X(S9_HONESTY, "Ready is said only of nodes whose operands are up")                             \
    X(S9_COUNTS, "the numbers of nodes in the status fit together")                                \
    X(S9_TIMES,                                                                                    \
      "the lastTransitionTime of a condition changes when its status does, and only then")         \
    X(S10_LEADER, "no write is sent after the lease's renewal is late")                            \
    X(S11_FAILED, "no node is claimed for a revision that has failed in its pool")                 \
    X(S12_ONCE, "one object is not written again and again")                                       \
    X(S12_EVENTS, "no Event is there twice")                                                       \
    X(S13_DELETION, "what is being deleted gets no write but the removal of a finalizer")          \
    X(S14_BOUNDS, "status, conditions and events stay within their bounds")                        \
    X(S15_SECRETS, "no secret is in any request")                                                  \
    X(S16_STATIC, "nothing is written on a view that may be old, or has gaps")                     \
    X(G1_PAUSED, "no node begins while the rollout is paused")                                     \
    X(G2_APPROVED, "no node begins before a plan that Ostler showed is approved, where the "       \
                   "policy asks for that")                                                         \
    X(G3_WINDOW, "no node begins outside of the policy's windows")                                 \
    X(G4_DOMAIN, "nodes of one topology domain are changed at a time")                             \
    X(G5_CANARY, "no more nodes than canary.nodes get a new revision before it has soaked")        \
    X(G6_THRESHOLD,                                                                                \
      "no node begins with a revision that has failed as often as failureThreshold allows")        \
    X(G7_FIRST, "the first toolkit comes to canary.nodes nodes of a pool, then to as many as "     \
                "worked with it and one more")                                                     \
    X(UNLOAD, "no driver was taken from under a running GPU program")                              \
    X(L1_STATUS, "the status speaks of the policy's newest generation")                            \
    X(L1_NODES, "every node that the policy wants and that is well is served")                     \
    X(L1_MARKS, "nodes bear what the policy says, and others nothing; kubelets have GPUs to give") \
    X(L2_IDLE,                                                                                     \
      "no node that is closed and was not changed stays idle for longer than five minutes")        \
    X(L3_PROCEEDS, "a rollout that can go on does, in each pool")                                  \
    X(L3_FAIR, "no node that could begin is passed over again and again")                          \
    X(L5_REMOVAL, "without a policy nothing of Ostler's is left")                                  \
    X(L7_CACHE, "what Ostler knows is what is there")                                              \
    X(L8_STATUS, "the status counts what is there")                                                \
    X(L8_REPORTS, "what is said of a node is so")                                                  \
    X(L8_MOMENTS, "status, reports and conditions are true at every quiet moment, in the middle "  \
                  "of a rollout as well")                                                          \
    X(L9_FLAP, "no condition goes to and fro while nothing changes")                               \
    X(H1_OBSERVE, "no node is closed, claimed or drained for a fault of a GPU")                    \
    X(H2_SEEN, "a fault of a GPU that needs attention is said of its node")                        \
    X(H3_GONE, "no fault is said of a node whose GPUs are well, as far as NVML speaks of them")    \
    X(H4_CLOSED, "a node is closed only for a fault that its reports show, with a record, and "    \
                 "opened when that has ended")                                                     \
    X(H5_NO_EVICTION, "with mode Close no pod of a user is sent away and no node is claimed for "  \
                      "a fault")                                                                   \
    X(H6_OPENED, "no node whose GPUs are well stays closed")                                       \
    X(H7_ATTEMPTS, "no node is reset or rebooted more often than attempts allow")                  \
    X(H8_BUDGET, "nodes that are closed for a fault count when others are taken out of service")   \
    X(H9_BRAKE, "no more nodes are closed within the brake's window than it allows, unless their " \
                "GPUs are gone")                                                                   \
    X(H10_REST, "in a day in which nothing changes nothing is written, whatever GPUs have a "      \
                "fault")                                                                           \
    X(H11_CONDITION, "the condition GpuHealthy says what the reports show")

enum invariant_id {
#define X(id, text) INVARIANT_##id,
    INVARIANTS(X)
#undef X
        INVARIANT_COUNT
};

struct invariants;

struct invariants *invariants_new(struct run *run);
void invariants_free(struct invariants *v);
/* A request leaves an Ostler. */
void invariants_sent(struct invariants *v, const struct wire_client *c, const struct request *r);
/* An Ostler takes a part of an answer. */
void invariants_taken(struct invariants *v, const struct wire_client *c,
                      const struct wire_taken *t);
/* Something was committed, by Ostler or another client. */
void invariants_commit(struct invariants *v, const struct api_commit *c);
/* Nothing happens until that time. */
void invariants_pass(struct invariants *v, int64_t until_ms);
/* Time has passed. */
void invariants_time(struct invariants *v);
/* All changes have ended. */
void invariants_quiet(struct invariants *v);
/* A day of quiet has passed, in which Ostler sent so many writes. */
void invariants_day(struct invariants *v, size_t writes);
/* What an invariant is called, "S6_IDENTITY", and what it says. */
const char *invariant_name(enum invariant_id id);
const char *invariant_text(enum invariant_id id);

#endif
