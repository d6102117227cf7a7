/* What is known of the cluster: a table per resource, the index from nodes to their pods, the decoded policy and the sums. The
 * only reader and writer of the tables; reconcilers ask it for snapshots. */
#ifndef OSTLER_RECONCILERS_CLUSTER_H
#define OSTLER_RECONCILERS_CLUSTER_H

#include "base/clock.h"
#include "reconcilers/model/child.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/rollout_spec.h"
#include "reconcilers/model/prerequisites.h"
#include "reconcilers/decide/node_plan.h"
#include "reconcilers/decide/rollout.h"
#include "reconcilers/decide/intents.h"
#include "reconcilers/decide/tally.h"
#include "runtime/informer.h"
#include "runtime/table.h"

/* What of a node the rollout looks at again and again. */
struct node_reading {
    bool done;                  /* since the node last changed */
    bool closed;                /* by the upgrade's taint */
    bool held;                  /* by the label */
    struct assignment_ref assigned; /* parts of its labels; "": none */
    struct claim *claim;        /* that it bears; NULL: none that can be read. Owned */
};

/* Whether a node without a stack may get its first toolkit, as toolkit_pass() has found. */
struct toolkit_turn {
    bool granted;
    int64_t at_s;     /* when it last got its turn, seconds of the epoch; 0: never */
    char *stopped_by; /* the node whose failure keeps it from its turn; NULL: none does. Owned */
};

/* A node's place: there is one for each Node and for each name that pods are bound to. */
struct node_slot {
    char *name;
    struct node *node;   /* NULL: pods are bound to it, but there is no such Node (any more) */
    struct pod *pods;    /* list through next_on_node */
    struct node_reading read;
    struct node_summary summary;
    uint32_t epoch;      /* the epoch in which it was last looked at */
    uint32_t pods_epoch; /* the epoch in which `busy` and `jobs` were last counted; 0: not since its pods changed */
    int64_t free_s;      /* since when its claim waits and no job is on it, seconds of the epoch; 0: it does not, or one is */
    int64_t stays_s;     /* since when nobody is about to remove it any more, seconds of the epoch; 0: nobody was */
    unsigned busy;       /* GPU pods that run */
    unsigned jobs;       /* pods that a drain would wait for … */
    unsigned processes;  /* … of which so many are none, but processes that have a GPU open */
    int64_t entered_ms;  /* mono: when it was last seen to enter another state; 0: it was not */
    int64_t untold_ms;   /* mono: since when its state is told to nobody, since it does not last; 0: it is */
    int64_t turn_ms;     /* mono: since when it has been seen to wait for its turn in the rollout; 0: it does not */
    struct node_stages stages; /* what it has passed on its way to being ready */
    struct toolkit_turn toolkit;
    int64_t told_ms;     /* mono: when its condition was last written; 0: not by this process */
    uint32_t budgets_eased; /* what the cluster's count was when its pods were last asked to leave */
    uint64_t holders_looked; /* while its driver is to change: node_holders_hash() of those who were looked for; 0: of none */
    uint64_t told_image; /* hash of the image of which people were told that the node cannot get it; 0: of none */
    char *refused;       /* which pod's eviction the server last refused for a budget, and in which words; NULL: none. Owned */
    int64_t refused_ms;  /* mono: when that was */
    enum rollout_hold hold; /* why the rollout does not take it next, as waiting_turn() has it */
    struct log_tail *words; /* of the container that last failed there, once they were asked for; NULL: nobody did. Owned */
};

/* Who is told that something must be looked at. */
struct cluster_listener {
    void (*node)(void *arg, const char *name);
    /* `soon`: at once; otherwise when the dust has settled. */
    void (*policy)(void *arg, bool soon);
    void *arg;
    /* What decisions of the rollout rest on has changed. May be NULL. */
    void (*rollout)(void *arg);
    /* What is said of a node may not be true any more. `soon`: nothing of it is, and somebody waits for it to go. May be NULL. */
    void (*report)(void *arg, const char *name, bool soon);
};

struct cluster_options {
    const char *operand_namespace;
    struct policy_limits limits;      /* of the policy */
    const char *agent_image;          /* of the node agent; NULL: it runs nowhere */
    int64_t absent_grace_ms;          /* how long no policy must be seen before marks come off */
    bool remove_all;                  /* `ostler cleanup`: as if the policy were being deleted */
    bool force_removal;               /* then: as if it had the annotation that skips the wait for GPU pods */
    const char *node_name;            /* on which this Ostler runs; NULL: not known, or on none */
    const char *own_pod;              /* "namespace/name" of the one that this Ostler is in; NULL: not known, or none */
    bool all_labels;                  /* all labels of pods are kept: somebody asks them for the selectors of budgets */
    const struct prerequisites *prerequisites; /* what is wrong with what Ostler stands on; NULL: nothing is known to be */
    const struct clock *clock;
    struct cluster_listener listener;
};

struct cluster {
    struct cluster_options o;
    struct intern *strings;
    struct table tables[RESOURCE_COUNT];
    struct informer *informers[RESOURCE_COUNT]; /* NULL where nothing is watched; kept by the manager */
    struct map slots;                 /* struct node_slot by name */
    struct node_slot **by_name;       /* the same in the order of their names */
    size_t node_count;
    size_t pending;                   /* nodes not looked at in this epoch */
    uint32_t epoch;
    int64_t epoch_began_ms;           /* mono */
    struct server_clock server_clock; /* what the lists told of the API server's */
    int64_t own_began_us;             /* what this machine's wall clock showed when the monotonic one was at 0 */
    int64_t began_us;                 /* the same of the API server's, where that is known to be another time */
    int64_t watched_since_ms;         /* mono: since when every watch has been well */
    bool looked_through;              /* every node has been looked at in this epoch; those that join later come one by one */
    struct tally tally;

    const struct prerequisite_problem *blocked; /* why nothing is done, and the policy's status says so; NULL: work goes on */
    json_t *object;                   /* the policy; NULL: there is none */
    struct policy policy;             /* the newest valid one */
    bool policy_valid;                /* `policy` holds one */
    struct rollout_spec rollout;      /* of `policy` */
    bool all_pods;                    /* it wants all pods to leave a node: so all are kept */
    struct selector pod_selector;     /* its drain.podSelector: labels of pods are kept where it asks for them */
    struct policy_problems problems;  /* of `object` */
    char *problem_text;               /* NULL: none */
    struct targets *targets;          /* of `policy` */
    bool saw_deletion;                /* the last policy went through a deletion */
    enum operating_mode mode;               /* of the policy's last pass */
    struct map refused;               /* struct node_slot by name: those with `refused` */
    struct map slices;                /* struct slice by node: lists through next_on_node */
    uint32_t budgets_eased;           /* how often a PodDisruptionBudget became one that may let a pod go */
    int64_t absent_since;             /* mono ms; 0: a policy is there or nothing is known */
    bool deleting;                    /* deletions of DaemonSets or records are on their way */
    struct map confirmed;             /* struct confirmation by resource and key */
    struct intents intents;           /* what children should be like under `policy` */
};

/* A cluster of which nothing is known yet. What `o` points to is borrowed and outlives it. */
void cluster_init(struct cluster *c, const struct cluster_options *o);
/* Frees all that it owns; informers and the listener are others' matter. */
void cluster_clear(struct cluster *c);
/* Frees a slot and what it owns; it is in no table any more. */
void cluster_slot_free(struct cluster *c, struct node_slot *slot);
/* The resources that are watched, with the options of their informers; returns how many. */
size_t cluster_informers(const struct cluster *c, struct informer_options out[static RESOURCE_COUNT]);
/* Whether every list that was asked for has come. */
bool cluster_synced(const struct cluster *c);
/* Every watch is well (again): from here on nothing is missed. Everything is looked at. */
void cluster_begin(struct cluster *c);
/* Everything is to be looked at anew, since what is wanted has changed. */
void cluster_new_epoch(struct cluster *c);
/* Every node is to be looked at, though what is wanted is the same. */
void cluster_enqueue_nodes(struct cluster *c);
/* What may be done to nodes now; `ret_again_ms` is when to ask again though nothing happens (0: no need). */
enum operating_mode cluster_mode(const struct cluster *c, int64_t *ret_again_ms);
/* An answer to one of our writes. */
void cluster_written(struct cluster *c, enum resource_id resource, const json_t *object);
/* An object that was looked for and found, in a list of this version; whether that was news. */
bool cluster_seen(struct cluster *c, enum resource_id resource, const json_t *object, uint64_t list_rv);
/* Whether a child is as it was when the server last confirmed our own write to it. */
bool cluster_confirmed(const struct cluster *c, const struct child *child);
/* That is forgotten of the child that is called "plural/name". */
void cluster_doubt(struct cluster *c, enum resource_id resource, const char *target);
/* Fills in since when what is known of nodes and pods has been kept up to date without a gap, and how old it may be by now. */
void cluster_watched(const struct cluster *c, struct node_input *ret);
/* Seconds of the epoch: the wall clock as it was when Ostler began, and what has passed since. Nobody sets this one, so that what
 * was written down by it is not over before its time. A machine's clock that was wrong then is not followed: it is the API
 * server's time. */
int64_t cluster_now_s(const struct cluster *c);
/* Microseconds of the epoch, for text that is shown and for windows: as cluster_now_s(), and set when somebody sets the machine's
 * clock. */
int64_t cluster_wall_us(const struct cluster *c);
/* The pods of a slot, summed up; strings are borrowed. */
void cluster_node_pods(const struct cluster *c, const struct node_slot *slot, struct node_pods *ret);
/* Whether the agent on a node is up: what one that is not does not say any more may be otherwise by now. */
bool cluster_agent_is_up(const struct node_slot *slot);
/* What the agent on a node has seen; NULL: it was silent so far. What was said of another node of the name is not of this one. */
const struct node_inventory *cluster_inventory(const struct cluster *c, const struct node_slot *slot);
/* Who has a GPU of a node open, as its agent says that is up and has looked since the machine started; NULL: nobody is known. */
const struct node_holders *cluster_holders(const struct cluster *c, const struct node_slot *slot);
/* The record of a revision, or NULL; one that is being deleted does not count. */
const struct child *cluster_record_of(const struct cluster *c, const char *tier, const char *hash);
/* The inputs that the record of a revision holds, or NULL. For struct node_input. */
const json_t *cluster_record(void *arg, enum tier tier, const char *hash);
/* Something that decisions of the rollout rest on has changed. */
void cluster_enqueue_rollout(const struct cluster *c);
/* What is said of a node is to be looked at. */
void cluster_enqueue_report(const struct cluster *c, const char *name);
/* The same for all nodes. */
void cluster_enqueue_reports(const struct cluster *c);
/* Reports that are still there, and nodes that bear something of ours: all of it goes before Ostler does, but that of nodes which
 * are down. What a pass has decided is not there yet: its write may be lost. */
size_t cluster_reports(const struct cluster *c);
/* Whether a node bears our condition or our marks. */
bool cluster_bears_ours(const struct node *n);
/* The record of a node was looked at: with the last one of an epoch the policy's pass is due. */
void cluster_node_seen(struct cluster *c, struct node_slot *slot);

#endif
