/* What people read of one node: its GpuNode, and the condition GpuReady of the Node. Both say what the node's last pass came to;
 * nothing is decided from either. They are written when they say something else, never to show that somebody is alive. */
#ifndef OSTLER_RECONCILERS_DECIDE_GPU_NODE_H
#define OSTLER_RECONCILERS_DECIDE_GPU_NODE_H

#include "base/arena.h"
#include "kube/actions.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/decide/rollout.h"
#include "reconcilers/decide/tally.h"

/* Objects that a report names at most, as its CRD allows. */
enum { GPU_NODE_WAITING_MAX = 10 };
/* Everybody who watches nodes hears of a change of the condition: one of the sentence alone is written no more often
 * than this. */
enum { GPU_NODE_SENTENCE_MS = 60 * 1000 };

/* All borrowed. */
struct gpu_node_input {
    const char *name;
    const struct node *node;            /* NULL: there is none of this name any more */
    const struct node_summary *summary; /* of its last pass; NULL without a node */
    const struct pod *pods;             /* of the node: a list through next_on_node */
    const struct node_holders *holders; /* who has a GPU of it open, as struct drain_input has it */
    const struct gpu_node *report;      /* the GpuNode as it is; NULL: there is none */
    const struct node_stages *stages;   /* how long it took to become ready; NULL: not known */
    const struct log_tail *words;     /* of the container that last failed there; NULL: none are known */
    int64_t told_ms;                    /* how long ago the condition was last written */
    bool reports_exist;                 /* the CRD of GpuNode is installed */
    bool managing;                      /* there is a policy, and it stays: what agents have seen is kept */
    bool agent;                         /* the agent on the node is up: it would only say again what it has seen */
    const char *version[TIERS];         /* of what it is assigned; NULL: not known, or none */
    const json_t *known;                /* the schema of the status that an older definition has; NULL: all fields are known */
    int64_t gpus;                       /* that the node has; 0: not known */
    const char *product;                /* what they are; NULL: not known */
    const struct intern *strings;       /* that the pods' ids name */
    const struct drain_spec *drain;     /* of the policy; NULL without a valid one */
    bool jobs_may_go;                   /* the time that its jobs are waited for is over */
    int64_t closed_s, now_s;            /* as struct drain_input has them */
    /* Whose eviction the server last refused for a budget, and in which words; NULL: nobody's. */
    const char *refused;
    /* Why the rollout does not take it next, as waiting_turn() has it; NONE: it does, or it need not. */
    enum rollout_hold hold;
    const char *target_version;         /* of what it is to run in place of that; NULL: not known */
    /* What the policy asks for and failed in the node's pool, so that the node runs what was known to be good; NULL: nothing. */
    const char *failed;                 /* "driver 580.1" */
    const char *runs;                   /* what it runs in place of that, "driver 570.1"; with `failed` */
    const char *failure;                /* "gpu-1 NoAllocatableGpus": where it failed first and with what; with `failed` */
    const char *failed_retry;           /* as `retry`; with `failed` */
    const char *wanted_since;           /* since when the policy wants its target, RFC 3339; NULL: not known */
    const char *retry;                  /* what has its target tried again where that failed (plan/retry.h); NULL: it did not */
    int64_t generation;                 /* of the policy */
    const char *now;                    /* RFC 3339 */
};

/* Adds what has to be written so that the report and the condition are true, or gone where Ostler does not look after the node.
 * Whether the condition is written. */
bool gpu_node_plan(const struct gpu_node_input *in, struct arena *a, struct actions *actions);

#endif
