/* What the report about one node is made from. */
#ifndef OSTLER_RECONCILERS_DECIDE_GPU_NODE_INPUT_H
#define OSTLER_RECONCILERS_DECIDE_GPU_NODE_INPUT_H

#include <string.h>

#include "base/arena.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/decide/health_state.h"
#include "reconcilers/decide/rollout_types.h"
#include "reconcilers/decide/tally.h"

/* Maximum number of objects in a report, as its CRD allows. */
enum { GPU_NODE_WAITING_MAX = 10 };
/* All borrowed. */
struct gpu_node_input {
    const char *name;
    const struct node *node;            /* NULL: no node has this name */
    const struct node_summary *summary; /* of its last pass; NULL without a node */
    const struct pod *pods;             /* of the node: a list through next_on_node */
    /* Processes and pods that hold a GPU open, as in struct drain_input. */
    const struct node_holders *holders;
    const struct gpu_node *report;    /* the GpuNode on the API server; NULL: there is none */
    const struct node_stages *stages; /* how long the node took to become ready; NULL: not known */
    const struct health_status *health; /* of its GPUs, by health_report(); NULL: all well */
    struct health_handling handling;    /* how its faults are handled */
    bool reported;                      /* its agent has reported since the node's last boot */
    int64_t health_told_ms;             /* time since the report with that was last written */
    const struct log_tail *words; /* log tail of the container that last failed; NULL: unknown */
    int64_t told_ms;              /* time since the condition was last written */
    /* How much longer the condition GpuReady may say what was before the node's claim, whose taint
     * keeps pods away; not above 0: no longer. */
    int64_t still_ready_ms;
    bool reports_exist;         /* the CRD of GpuNode is installed */
    bool managing;              /* there is a policy and it stays, so agents' reports are kept */
    bool agent;                 /* the agent is up: it would only repeat its report */
    const char *version[TIERS]; /* of the assigned revision; NULL: not known, or none */
    const json_t *known;        /* the status schema of an older CRD; NULL: all fields are known */
    int64_t gpus;               /* GPUs of the node; 0: not known */
    const char *product;        /* product name of the GPUs; NULL: not known */
    const struct intern *strings;   /* string table of the pods' ids */
    struct label_reads *reads;      /* of struct node_view */
    const struct drain_spec *drain; /* of the policy; NULL without a valid one */
    bool jobs_may_go;               /* the wait for its jobs is over */
    int64_t closed_s, now_s;        /* as in struct drain_input */
    /* The pod whose eviction a PodDisruptionBudget last refused, and the message; NULL: none. */
    const char *refused;
    /* Why the rollout does not take the node next, from waiting_turn(); NONE: it does, or need
     * not. */
    enum rollout_hold hold;
    const char *target_version; /* of the revision that will replace it; NULL: not known */
    /* What the policy asks for and failed in the node's pool, so that the node runs a known good
     * revision; NULL: nothing. */
    const char *failed; /* "driver 580.1" */
    const char *runs;   /* what it runs instead, "driver 570.1"; with `failed` */
    /* "gpu-1 NoAllocatableGpus": the first node that failed, and why; with `failed`. */
    const char *failure;
    const char *failed_retry; /* like `retry`; with `failed` */
    const char *wanted_since; /* since when the policy wants the target, RFC 3339; NULL: unknown */
    /* Annotation value that retries a failed target (decide/retry.h); NULL: it did not fail. */
    const char *retry;
    int64_t generation; /* of the policy */
    const char *now;    /* RFC 3339 */
};

/* Whether the node works, but a version that the policy asks for failed, and the node rolled back
 * or never got it. */
static inline bool gpu_node_is_rolled_back(const struct gpu_node_input *in)
{
    return in->failed && in->summary->state == NODE_READY && !in->summary->cause;
}

/* Of such a node. Only the node that failed first is known to have tried the version. */
static inline enum reason gpu_node_rolled_back_reason(const struct gpu_node_input *in)
{
    size_t len = strlen(in->name);
    bool tried = strncmp(in->failure, in->name, len) == 0 && in->failure[len] == ' ';
    return tried ? REASON_ROLLED_BACK : REASON_REVISION_FAILED;
}

/* Whether the node is closed for a fault, and nothing else keeps it from being Ready: a pod that
 * does not come up says more. */
static inline bool gpu_node_is_closed(const struct gpu_node_input *in)
{
    return in->summary->state == NODE_UNHEALTHY && !in->summary->pod &&
           fault_state_closes(in->handling.record.state);
}

#endif
