/* What the decision about one node takes and gives: its states, its pods summed up, the input and
 * the verdict. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_TYPES_H
#define OSTLER_RECONCILERS_DECIDE_NODE_TYPES_H

#include "base/arena.h"
#include "kube/actions.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/node.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/health_spec.h"
#include "reconcilers/model/rollout_spec.h"
#include "reconcilers/decide/black_hole.h"
#include "reconcilers/decide/health.h"
#include "reconcilers/decide/targets.h"

/* Columns: id, name in the status, whether Ostler serves the node (it should have operands) */
#define NODE_STATES(X)                                                                             \
    X(UNMANAGED, "Unmanaged", false) /* no GPU, or not for Ostler: Ostler changes nothing there */ \
    X(DISCOVERED, "Discovered", true) /* a GPU was found; Ostler prepares the node's revisions */  \
    X(INSTALLING, "Installing", true) /* assigned; not all operands are up yet */                  \
    X(WAITING, "Waiting", true)       /* claimed: no new GPU pods; running jobs finish */          \
    X(DRAINING, "Draining", true)     /* claimed: GPU pods are evicted */                          \
    X(UNLOADING, "Unloading", true)   /* claimed: stack, then driver are removed */                \
    X(RESETTING, "Resetting", true)   /* claimed: a pod resets GPUs while no driver is loaded */   \
    X(REBOOTING, "Rebooting", true)   /* claimed: a pod reboots the node */                        \
    X(VALIDATING, "Validating", true) /* all operands are up; a GPU check runs */                  \
    X(READY, "Ready", true)           /* driver, toolkit and device plugin are up */               \
    X(UNHEALTHY, "Unhealthy", true)   /* closed for new pods: its GPUs have a fault */             \
    X(FAILED, "Failed", true)         /* an operand reports why it does not come up */             \
    X(LOST, "Lost", false)            /* the node itself is down */                                \
    X(FOREIGN, "ForeignStack", false) /* another GPU stack serves it */                            \
    X(UNSUPPORTED, "Unsupported", true) /* Ostler knows no driver or runtime for this host */      \
    X(REMOVING, "Removing", false)      /* Ostler removes what it installed */

enum node_state {
#define X(id, ...) NODE_##id,
    NODE_STATES(X)
#undef X
        NODE_STATE_COUNT
};

/* The message of a ready node, whose verdict has none. */
#define NODE_READY_MESSAGE "every operand of the node is up"

/* The name in the status and reports. */
const char *node_state_name(enum node_state s);
/* Whether the node should have operands and is up. These nodes decide whether the policy is
 * Ready. */
bool node_state_served(enum node_state s);
/* Whether Ostler serves a node in this state, or would if it were up. */
bool node_state_taken(enum node_state s);

/* What Ostler may do to nodes. */
enum operating_mode {
    MODE_HOLD,   /* what is wanted is not known well enough: change nothing */
    MODE_MANAGE, /* a valid policy */
    MODE_REMOVE, /* the policy is being deleted, or absent for long enough: remove everything */
};

/* Number of GPU pods whose names are kept for messages. */
enum { GPU_PODS_NAMED = 3 };

/* The pod of one operand on a node. All borrowed. */
struct operand_pod {
    bool present;         /* a pod exists, in any state, even terminating */
    bool ready;           /* Ready and not being deleted */
    bool going;           /* it is being deleted */
    bool running;         /* its container runs, so its image is pulled */
    uint32_t made_s;      /* of a ready pod: when it was created, epoch seconds; 0: not known */
    const char *revision; /* hash of its revision, or NULL */
    const char *reason;   /* first word of `problem`, or NULL */
    const char *problem;  /* why it is not ready, or NULL */
    const char *key;      /* "namespace/name" */
};

/* Summary of the pods on a node. All borrowed. */
struct node_pods {
    struct operand_pod of[OPERANDS_MAX];
    bool host_driver; /* the driver pod reports a host driver */
    size_t gpu_pods;  /* pods that use a GPU */
    const char *gpu_pod[GPU_PODS_NAMED];
    size_t gpus_taken; /* devices that these requested */
    bool agent;        /* the node's agent is up */
    struct {
        bool present; /* in any state */
        /* Hash of the stack whose toolkit configuration it has removed; NULL: not yet. */
        const char *ready;
        const char *problem; /* or NULL */
    } removal;  /* the pod that removes the toolkit's configuration from the container runtime */
    bool proof; /* a GPU validation pod exists, in any state */
    const struct sign *foreign; /* sign of another operator's driver or device plugin; NULL: none */
    const char *foreign_pod;    /* the pod with that sign; NULL: a ResourceSlice shows it */
    const char *foreign_slice;  /* name of that ResourceSlice */
};

struct node_input {
    struct node_view view;
    const struct node_pods *pods;
    const struct node_inventory *inventory; /* the agent's report; NULL: no report yet */
    /* Processes and pods that hold a GPU open, if the agent is up; NULL: none known. */
    const struct node_holders *holders;
    bool holders_new; /* not yet looked up which pods the holders are */
    enum operating_mode mode;
    bool force_removal; /* do not wait for GPU pods */
    /* Ostler is deleting revisions that no node carried. Until that is done, it assigns none to a
     * node. */
    bool deleting;
    bool toolkit_turn; /* without a stack: it may get its first toolkit, if that comes in turn */
    const char *toolkit_stopped_by; /* node whose failure with it stops this turn; NULL: none */
    bool may_mark; /* the policy has Ostler's finalizer, so Ostler will remove its labels */
    const struct policy *policy;           /* with MODE_MANAGE; NULL otherwise */
    struct targets *targets;               /* the same */
    const struct rollout_spec *rollout;    /* the same */
    const struct health_spec *health_spec; /* the same */
    /* What is known of the health of its GPUs; NULL: nothing is wrong, or nothing is known. */
    const struct health_input *health;
    /* Pods that failed there at once; NULL: none. */
    const struct black_hole *suspicion;
    /* The storm brake is on, and the node is none of the first that it lets close: soft evidence
     * does not close it. */
    bool braked;
    /* Since when its GPUs have asked for CLOSE or more without a break, as far as Ostler knows,
     * epoch seconds; 0: they do not. */
    int64_t unhealthy_since_s;
    const struct manifests *manifests;
    const char *operand_namespace;
    const char *agent_image;    /* of Ostler's own containers; NULL: not known */
    const struct pod *pod_list; /* the individual pods behind `pods`, through next_on_node */
    /* The pod whose eviction a PodDisruptionBudget last refused, and the message; NULL: none. */
    const char *refused;
    int64_t ask_in_ms;             /* delay before the next eviction after that refusal; 0: none */
    int64_t generation;            /* of the policy */
    int64_t now_s;                 /* epoch seconds, for times in claims */
    const struct foreign *foreign; /* other operator's DaemonSet that would serve it; NULL: none */
    /* Since when the node waits to be taken; 0: it existed before Ostler started. */
    int64_t discovered_since_s;
    /* Since when Ostler releases the node; 0: it does not, or the time is not known. */
    int64_t removing_since_s;
    /* Since when all caches have been current without a gap, by the clock of now_s. */
    int64_t watched_since_s;
    /* When the node's removal was called off, by the clock of now_s; 0: no removal. */
    int64_t stays_since_s;
    int64_t age_s;       /* maximum age of the cached nodes and pods */
    int64_t tasks_age_s; /* maximum age of the cached GPU validation pods */
    /* The inputs in the record of a revision; NULL: there is no record. */
    const json_t *(*record)(void *arg, enum tier tier, const char *hash);
    void *arg;
};

/* State of a node without a stack whose first toolkit comes in turn (toolkit_turns.h). */
enum first_toolkit {
    FIRST_NONE,  /* it has a stack, or waits for no turn */
    FIRST_LATER, /* its driver is not up yet */
    FIRST_TURN,  /* it waits for its turn */
};

/* What a node asks of the rollout for its GPUs. */
enum repair_need {
    REPAIR_NOTHING,
    REPAIR_IDLE,  /* a reset when it is idle: its GPUs work until then */
    REPAIR_FAULT, /* it is closed, or should be */
    REPAIR_ASKED, /* a user asked for it */
};

/* Why Ostler ignores a repair that a user asks for. */
enum repair_refusal {
    REPAIR_TAKEN, /* it does not, or none is asked for */
    REPAIR_NOT_ALLOWED,
    REPAIR_OBSERVED,   /* the policy's mode is Observe */
    REPAIR_HELD,       /* a user holds the node */
    REPAIR_IMPOSSIBLE, /* only a reboot could, and the policy forbids that */
    REPAIR_REFUSALS
};

/* How an attempt to repair a node's GPUs ended. */
enum repair_result {
    REPAIR_GOES_ON,       /* it did not end in this pass, or there is none */
    REPAIR_SUCCEEDED,     /* the fault is over, and a GPU was validated */
    REPAIR_FAULT_REMAINS, /* the GPUs were reset, or the node rebooted, and the fault is there */
    REPAIR_FAILED,        /* the reset or the reboot was not made, or the node did not come back */
    REPAIR_RESULTS
};
struct repair_end {
    enum repair_result result;
    enum repair_kind kind;
};

/* The result, for the status. Strings are from the arena or static. */
struct node_verdict {
    enum node_state state;
    enum reason reason;          /* NONE: nothing to report */
    const char *word;            /* with reason OTHER: the kubelet's word */
    const char *message;         /* the sentence for the reason, or NULL */
    enum operand cause;          /* the operand of the reason, or OPERAND_NONE */
    const char *pod;             /* "namespace/name" of the pod that shows it, or NULL */
    bool gpu;                    /* it has a GPU, whoever serves it */
    const struct vendor *vendor; /* vendor of the GPU; NVIDIA without a GPU; never NULL */
    bool looked_at;              /* a GPU detector has inspected it */
    size_t pool;
    struct assignment carried; /* assignment after the plan */
    bool removal;              /* of its stack only the toolkit's runtime configuration is left */
    struct assignment target;  /* assignment in the end; "": unknown or none */
    /* what the policy asks for; differs from the target if `back` */
    struct assignment policy_target;
    /* During an upgrade: why an operand does not come up, starting with the kubelet's reason; NULL:
     * no reason. */
    const char *trouble;
    /* Claimed: what happens next, and when the phase ends by itself (0: never); NULL: not claimed.
     */
    const char *next_text;
    int64_t next_s;
    bool evicts; /* pods leave the node, for a drain or before a reboot */
    /* Meanwhile: the pod whose eviction a PodDisruptionBudget last refused, and the message; NULL:
     * none. */
    const char *refused;
    struct assignment ran;     /* revisions that it runs well, or ran well before its claim */
    struct assignment claimed; /* the target of its claim */
    /* Claimed: its last stack, which configured its container runtime; no driver. */
    struct assignment last;
    enum first_toolkit first;
    bool retarget_pending; /* it waits for the images of a new target, then switches to it */
    bool moving;           /* claimed and not failed: it is changing from one revision to another */
    /* Its target is a known good revision, because the policy's revision failed or was given up
     * here. */
    bool falling_back;
    bool restoring;          /* it is returning to a known good revision */
    enum reason failed_with; /* why an upgrade failed there, from its claim; NONE: none failed */
    bool unhealthy;          /* it has the taint ostler.dev/unhealthy of Ostler's after the plan */
    struct health_fault fault;       /* of its GPUs; the caller that stores verdicts sets it */
    enum black_hole_step black_hole; /* what the pass did about pods that fail there at once */
    unsigned withheld;             /* GPUs with a fault, which the device plugin gives to no pod */
    enum repair_need repair;       /* in mode Repair */
    enum repair_kind repair_first; /* what Ostler tries first; REPAIR_KINDS: nothing */
    enum repair_refusal refusal;
    struct repair_end repaired; /* by the pass */
    bool repair_stays; /* claimed: without its claim it, or a user, would ask for a repair, too */
    enum health_level repair_level; /* what its repair is for, as in struct closing */
    int64_t repair_since_s;         /* since when, epoch seconds; the oldest goes first */
    /* When it entered its state, by the wall clock; 0: before Ostler started. The caller that
     * stores verdicts sets it. */
    int64_t since_s;
    unsigned wanted; /* bit for each operand that should be there */
    unsigned up;     /* bit for each wanted operand that is up */
};

/* One pass over one node: what its steps read and fill. */
struct node_pass {
    const struct node_input *in;
    struct arena *a; /* for texts */
    struct node_verdict *v;
    struct actions *actions;
};

/* The word of its reason; "": no reason. Borrowed. */
const char *verdict_word(const struct node_verdict *v);

#endif
