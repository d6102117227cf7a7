/* One node: which state it is in, and the one write that it needs, if any. Everything is computed from what is seen now. */
#ifndef OSTLER_RECONCILERS_DECIDE_NODE_PLAN_H
#define OSTLER_RECONCILERS_DECIDE_NODE_PLAN_H

#include "base/arena.h"
#include "kube/actions.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/node.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/rollout_spec.h"
#include "reconcilers/decide/targets.h"

/* id, name as the status shows it, whether Ostler serves the node (it should have operands) */
#define NODE_STATES(X)                                                                             \
    X(UNMANAGED, "Unmanaged", false)       /* no GPU, or not for us: nothing of ours is there */   \
    X(DISCOVERED, "Discovered", true)      /* a GPU was found; what it needs is being made ready */\
    X(INSTALLING, "Installing", true)      /* assigned; operands are not all up yet */             \
    X(WAITING, "Waiting", true)            /* claimed: no new GPU pods, its jobs run to their end */\
    X(DRAINING, "Draining", true)          /* claimed: GPU pods are asked to leave */              \
    X(UNLOADING, "Unloading", true)        /* claimed: stack, then driver come off */              \
    X(VALIDATING, "Validating", true)      /* all is up: whether a GPU works */                    \
    X(READY, "Ready", true)                /* driver, toolkit and device plugin are up */           \
    X(FAILED, "Failed", true)              /* an operand says why it does not come up */           \
    X(LOST, "Lost", false)                 /* the node itself is down */                           \
    X(FOREIGN, "ForeignStack", false)      /* somebody else serves it */                           \
    X(UNSUPPORTED, "Unsupported", true)    /* no driver or runtime is known for this host */       \
    X(REMOVING, "Removing", false)         /* what is ours comes off */

enum node_state {
#define X(id, ...) NODE_##id,
    NODE_STATES(X)
#undef X
    NODE_STATE_COUNT
};

/* What people read of a node that is ready: its verdict has no message of its own. */
#define NODE_READY_MESSAGE "every operand of the node is up"

/* As the status and reports show it. */
const char *node_state_name(enum node_state s);
/* Whether the node should have operands and is up: these nodes decide whether the policy is Ready. */
bool node_state_served(enum node_state s);

/* What may be done to nodes at all. */
enum operating_mode {
    MODE_HOLD,   /* not known well enough what is wanted: touch nothing */
    MODE_MANAGE, /* a valid policy */
    MODE_REMOVE, /* the policy goes, or has been gone for long enough: everything of ours comes off */
};

/* Names of GPU pods that are remembered for a message. */
enum { GPU_PODS_NAMED = 3 };

/* The pods on a node, summed up. All borrowed. */
struct node_pods {
    struct {
        bool present;        /* there is one, in whatever state, terminating included */
        bool ready;          /* it is up: Ready, not being deleted */
        bool going;          /* it is being deleted */
        bool running;        /* its container runs: its image is there */
        uint32_t made_s;     /* of one that is: when it was made, seconds of the epoch; 0: not known */
        const char *revision; /* hash of its revision, or NULL */
        const char *reason;  /* first word of its problem, or NULL */
        const char *problem; /* or NULL */
        const char *key;     /* "namespace/name" */
    } of[OPERANDS_MAX];
    bool host_driver;        /* the driver pod says that the host has a driver */
    size_t gpu_pods;         /* pods that use a GPU */
    const char *gpu_pod[GPU_PODS_NAMED];
    size_t gpus_taken;       /* devices that these asked for */
    bool agent;              /* the pod of the node's agent is up */
    struct {
        bool present;        /* in whatever state */
        const char *ready;   /* the hash of whose stack it has taken out; NULL: it has not */
        const char *problem; /* or NULL */
    } removal;               /* the pod that takes the toolkit's configuration out of the container runtime */
    bool proof;              /* a pod is there that proves a GPU, in whatever state */
    const struct sign *foreign; /* another operator's driver or device plugin is there: */
    const char *foreign_pod;    /* its pod; NULL: what it publishes says so: */
    const char *foreign_slice;  /* name of the ResourceSlice */
};

struct node_input {
    struct node_view view;
    const struct node_pods *pods;
    const struct node_inventory *inventory; /* what the agent there has seen; NULL: it was silent so far */
    const struct node_holders *holders; /* who has a GPU open, as an agent that is up sees it; NULL: nobody is known to */
    bool holders_new;            /* nobody has looked yet which pods they are */
    enum operating_mode mode;
    bool force_removal;          /* do not wait for GPU pods */
    /* Revisions that no node carried are being deleted: none may be given to a node before it is known which are left. */
    bool deleting;
    bool toolkit_turn;           /* a node without a stack: it may get its first toolkit, if that is given in turn */
    const char *toolkit_stopped_by; /* such a node: whose failure with that toolkit keeps it from its turn; NULL: nobody's */
    bool may_mark;               /* the policy has our finalizer: what we put on nodes can be taken off again */
    const struct policy *policy; /* with MODE_MANAGE; NULL otherwise */
    struct targets *targets;     /* the same */
    const struct rollout_spec *rollout; /* the same */
    const struct manifests *manifests;
    const char *operand_namespace;
    const char *agent_image;     /* of Ostler's own containers; NULL: not known */
    const struct pod *pod_list;  /* the pods of `pods` one by one, through next_on_node */
    const char *refused;         /* whose eviction the server last refused for a budget, and in which words; NULL: nobody's */
    int64_t ask_in_ms;           /* nobody is asked to leave before that, since the refusal is so new; 0: at once */
    int64_t generation;          /* of the policy */
    int64_t now_s;               /* seconds of the epoch, for what claims say */
    const struct foreign *foreign; /* a DaemonSet of somebody else that would serve the node; NULL: none */
    int64_t discovered_since_s;  /* since when the node waits to be taken; 0: it was there before Ostler looked */
    int64_t removing_since_s;    /* since when Ostler lets go of the node; 0: it does not, or nobody knows */
    int64_t watched_since_s;     /* since then all that is known has been kept up to date without a gap; by the clock of now_s */
    int64_t stays_since_s;       /* since when nobody is about to remove the node any more, by the same clock; 0: nobody was */
    int64_t age_s;               /* what is known of nodes and their pods may be as old as this */
    int64_t tasks_age_s;         /* and what is known of pods that prove a GPU, as this */
    /* The inputs that the record of a revision holds; NULL when there is no record. */
    const json_t *(*record)(void *arg, enum tier tier, const char *hash);
    void *arg;
};

/* How a node stands that has no stack yet and gets its first toolkit in turn (toolkit_turns.h). */
enum first_toolkit {
    FIRST_NONE,  /* it has a stack, or waits for no turn */
    FIRST_LATER, /* its driver is not up yet */
    FIRST_TURN,  /* it waits for its turn */
};

/* What was decided, for the status. Strings live in the arena or are static. */
struct node_verdict {
    enum node_state state;
    enum reason reason;  /* NONE when there is nothing to say */
    const char *word;    /* of a kubelet, to the reason OTHER */
    const char *message; /* the sentence to the reason, or NULL */
    enum operand cause; /* the operand that the reason is about, or OPERAND_NONE */
    const char *pod;      /* "namespace/name" that shows it, or NULL */
    bool gpu;             /* it has a GPU, whoever serves it */
    const struct vendor *vendor; /* the GPU's; NVIDIA without a GPU; never NULL */
    bool looked_at;       /* some detector has looked at it */
    size_t pool;
    struct assignment carried; /* what it carries, after the plan */
    bool removal;         /* of that stack nothing is left but its toolkit's configuration of the container runtime, which goes */
    struct assignment target;  /* what it should carry in the end; "" unknown or none */
    struct assignment wish;    /* what the policy says for it; not its target where `back` */
    /* On its way to a revision: why an operand does not come up, beginning with the kubelet's word
     * for it; NULL: none says so. */
    const char *trouble;
    const char *refused; /* it drains: whose eviction was last refused for a budget, and in which words; NULL: nobody's */
    struct assignment ran;     /* what it is known to run well, or ran so before its claim */
    struct assignment claimed; /* what its claim is for */
    /* Claimed: the stack that it bore last, which configured its container runtime; no driver. */
    struct assignment last;
    enum first_toolkit first;
    bool turns;      /* it waits for the images of its target by now, and turns to that when it has them */
    bool moving;     /* claimed, and not given up: it is on its way from one revision to another */
    bool back;       /* its target is what is known good, since what the policy says failed or was given up here */
    bool restoring;  /* it is on its way back, to what is known good */
    enum reason failed_with; /* why an upgrade failed there, as its claim says; NONE: none did */
    /* When it was seen to enter its state, by the wall clock; 0: before anybody looked. Filled in by whoever keeps verdicts. */
    int64_t since_s;
    unsigned wanted; /* bit per component: it should be there */
    unsigned up;     /* bit per component: it is wanted and up */
};

/* The word of its reason, as it is shown; "" when there is nothing to say. Borrowed. */
const char *verdict_word(const struct node_verdict *v);
/* One pass over a node: what it comes to, and the requests that it needs, if any. Texts of the verdict are static, from the arena
 * or borrowed from the input. */
void node_plan(const struct node_input *in, struct arena *a, struct node_verdict *v, struct actions *actions);

#endif
