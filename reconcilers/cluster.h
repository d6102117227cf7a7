/* The cluster state: a table for each resource, the index from nodes to pods, the decoded policy
 * and the sums. Only this code reads and writes the tables; reconcilers get snapshots. */
#ifndef OSTLER_RECONCILERS_CLUSTER_H
#define OSTLER_RECONCILERS_CLUSTER_H

#include "base/clock.h"
#include "reconcilers/model/child.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/rollout_spec.h"
#include "reconcilers/model/prerequisites.h"
#include "reconcilers/decide/black_hole.h"
#include "reconcilers/decide/brake.h"
#include "reconcilers/decide/health.h"
#include "reconcilers/decide/node_types.h"
#include "reconcilers/decide/rollout_report.h"
#include "reconcilers/decide/rollout_types.h"
#include "reconcilers/decide/intents.h"
#include "reconcilers/decide/tally.h"
#include "reconcilers/recent_events.h"
#include "runtime/informer.h"
#include "runtime/table.h"

/* Cached values of a node that the rollout needs again and again. */
struct node_reading {
    bool done;                      /* valid since the node last changed */
    bool closed;                    /* by the upgrade taint */
    bool unhealthy;                 /* it has the taint of unhealthy GPUs */
    bool held;                      /* by the label */
    struct assignment_ref assigned; /* parts of its labels; "": none */
    struct claim *claim;            /* its claim; NULL: none, or it cannot be parsed. Owned */
};

/* Whether a node without a stack may get its first toolkit, set by toolkit_pass(). */
struct toolkit_turn {
    int64_t at_s;     /* when it last got its turn, epoch seconds; 0: never */
    char *stopped_by; /* the node whose failure stops its turn; NULL: none. Owned */
    bool granted;
};

/* The slot of a node: one for each Node and each node name that pods are bound to. There are
 * thousands: members of one size are together, so that no bytes between them are lost. */
struct node_slot {
    char *name;        /* in the same block, after the slot */
    struct node *node; /* NULL: pods are bound to the name, but there is no such Node */
    struct pod *pods;  /* list through next_on_node */
    struct node_reading read;
    struct node_summary summary;
    /* Since when its claim waits without a job on the node, epoch seconds; 0: it does not. */
    int64_t free_s;
    int64_t stays_s; /* when its removal was called off, epoch seconds; 0: no removal */
    /* Monotonic: when it last entered another state, as seen, or was reported in a step of its
     * claim; 0: never. */
    int64_t entered_ms;
    /* Monotonic: since when its state is not reported, because states change quickly; 0: it is
     * reported. */
    int64_t untold_ms;
    /* Monotonic: since when it waits for a slot in the rollout, as seen; 0: it does not. */
    int64_t turn_ms;
    int64_t told_ms; /* monotonic: when its condition was last written; 0: not by this process */
    int64_t health_told_ms; /* the same of a report with the health of its GPUs */
    /* Since when its GPUs have asked for CLOSE or more, or it is closed, epoch seconds; 0: it is
     * healthy. */
    int64_t unhealthy_s;
    /* Since when Ostler serves it, epoch seconds; 0: it was there before this process started. */
    int64_t served_s;
    struct toolkit_turn toolkit;
    struct health_driver driver;
    struct black_hole *hole; /* pods that failed there at once; NULL: none. Owned */
    uint64_t nvml_boot;      /* the boot in which NVML last reported of its GPUs; 0: none */
    uint64_t told_boot;      /* the same of what status.health showed then */
    /* While its driver is about to change: node_holders_hash() of the holders that were looked up;
     * 0: none. */
    uint64_t holders_looked;
    uint64_t told_image; /* hash of the image that was reported as not pullable; 0: none */
    /* The pod whose eviction a PodDisruptionBudget last refused, and the message; NULL: none.
     * Owned. */
    char *refused;
    int64_t refused_ms; /* monotonic: when that was */
    /* Log tail of the container that last failed there, once requested; NULL: not requested.
     * Owned. */
    struct log_tail *words;
    struct health_quiet quiet; /* when its driver is, or was, being changed */
    struct node_stages stages; /* stages that it has passed on its way to ready */
    uint32_t epoch;            /* epoch of its last reconcile */
    /* Epoch in which `busy` and `jobs` were last counted; 0: not since its pods changed. */
    uint32_t pods_epoch;
    uint32_t budgets_eased; /* the cluster's count at the last eviction of its pods */
    unsigned used;          /* GPUs that its pods request */
    unsigned busy;          /* running GPU pods */
    unsigned jobs;          /* pods that a drain would wait for … */
    unsigned processes;     /* … of which this many are processes that hold a GPU open */
    uint16_t bad_shown;     /* cluster_bad_gpus() when the fleet page was last told of them */
    enum drain_mode pods_mode : 8; /* the drain for which `busy` and `jobs` were counted */
    enum rollout_hold hold : 8;    /* why the rollout does not take it next, from waiting_turn() */
    bool idle;                     /* a drain would wait for nothing */
    bool unclear; /* rollout_unclear.h: it is not known what became of a write of its claim */
    bool closes;  /* it was to be closed at the last look, and no record says so yet */
    bool record_counted; /* what an earlier Ostler did about its fault counts for the brake */
};

/* The storm brake, of cluster_brake.c. */
struct cluster_brake {
    struct brake_list unhealthy; /* nodes with `unhealthy_s` */
    /* Nodes that were to be closed within the window or the storm, since the first time; also those
     * that have healed or are gone. */
    struct brake_list closings;
    struct brake_verdict now;
    size_t gpu_nodes;   /* as last counted */
    int64_t counted_ms; /* monotonic: when that was; 0: never */
    bool looked;        /* at all nodes, once */
    bool acted;         /* the policy closed nodes at the last look */
};

/* Callbacks that enqueue reconciles. */
struct cluster_listener {
    void (*node)(void *arg, const char *name);
    /* `soon`: at once; otherwise after changes have settled. */
    void (*policy)(void *arg, bool soon);
    void *arg;
    /* Inputs of rollout decisions have changed. May be NULL. */
    void (*rollout)(void *arg);
    /* A node's agent reports other facts about the health of its GPUs than `before`. May be
     * NULL. */
    void (*health)(void *arg, const struct node_slot *slot, const struct gpu_node *before,
                   const struct gpu_node *after);
    /* The report of a node may be stale. `soon`: all of it is wrong, and something waits for its
     * removal. May be NULL. */
    void (*report)(void *arg, const char *name, bool soon);
    /* What the fleet page shows of a node may have changed; NULL: of the policy. May be NULL, if no
     * page is served. It is called amid changes: read nothing before the turn of the loop ends. */
    void (*shown)(void *arg, const char *name);
};

struct cluster_options {
    const char *operand_namespace;
    struct policy_limits limits; /* limits of the policy */
    const char *agent_image;     /* of the node agent; NULL: no agent runs */
    int64_t absent_grace_ms;     /* how long without a policy before Ostler removes everything */
    bool remove_all;             /* `ostler cleanup`: as if the policy were being deleted */
    /* With remove_all: as if the policy had the annotation that skips the wait for GPU pods. */
    bool force_removal;
    const char *node_name; /* node that this Ostler runs on; NULL: not known, or none */
    const char *own_pod;   /* "namespace/name" of this Ostler's pod; NULL: not known, or none */
    bool all_labels;       /* keep all labels of pods, for the selectors of budgets */
    const struct prerequisites *prerequisites; /* those with problems; NULL: none known */
    const struct clock *clock;
    struct cluster_listener listener;
};

struct cluster {
    struct cluster_options o;
    struct intern *strings;
    struct label_reads *reads; /* labels of nodes that a pass has asked for */
    struct table tables[RESOURCE_COUNT];
    struct informer *informers[RESOURCE_COUNT]; /* NULL if nothing is watched; set by the manager */
    struct map slots;                           /* struct node_slot by name */
    struct node_slot **by_name;                 /* the same, sorted by name */
    size_t node_count;
    size_t pending; /* nodes not reconciled in this epoch */
    uint32_t epoch;
    int64_t epoch_began_ms;           /* monotonic */
    struct server_clock server_clock; /* the API server's clock, as observed in lists */
    int64_t own_began_us;             /* this machine's wall clock when the monotonic clock was 0 */
    int64_t began_us;                 /* the API server's clock at that time, if known to differ */
    int64_t watched_since_ms;         /* monotonic: since when all watches have been well */
    bool looked_through; /* all nodes were reconciled in this epoch; later ones come singly */
    struct tally tally;

    /* Why nothing is done, which the policy's status reports; NULL: work goes on. */
    const struct prerequisite_problem *blocked;
    json_t *object;               /* the policy; NULL: there is none */
    struct policy policy;         /* the newest valid one */
    bool policy_valid;            /* `policy` is set */
    struct rollout_spec rollout;  /* of `policy` */
    struct health_spec health;    /* the same */
    bool all_pods;                /* the policy drains or reboots for all pods, so all are cached */
    struct selector pod_selector; /* its drain.podSelector: pod labels that it uses are kept */
    struct policy_problems problems; /* of `object` */
    char *problem_text;              /* NULL: no problem */
    struct targets *targets;         /* of `policy` */
    bool saw_deletion;               /* the last policy was deleted, and Ostler saw it */
    enum operating_mode mode;        /* of the policy's last pass */
    struct map refused;              /* struct node_slot by name: slots with `refused` */
    struct map slices;               /* struct slice by node: lists through next_on_node */
    uint32_t budgets_eased;          /* changes of PodDisruptionBudgets that may allow evictions */
    int64_t absent_since;            /* monotonic ms; 0: a policy exists, or nothing is known */
    bool deleting;                   /* deletions of DaemonSets or records are in progress */
    /* The version of each child, by resource and key, that the API server confirmed after Ostler's
     * write: its generation, or its resourceVersion if the kind has none. */
    json_t *confirmed;
    struct intents intents; /* cached intents of children under `policy` */
    struct cluster_brake brake;
    const struct rollout_report *rolled; /* the rollout's last pass; NULL: none yet. Borrowed */
    bool rollout_outdated;               /* its inputs have changed since that pass */
    struct recent_events recent;         /* Events that Ostler sent, for the fleet page */
};

/* ---- cluster_tables.c */

/* Initialises an empty cluster. Everything that `o` points to is borrowed and must outlive it. */
void cluster_init(struct cluster *c, const struct cluster_options *o);
/* Frees all that it owns, but not the informers and the listener. */
void cluster_clear(struct cluster *c);
/* The watched resources, with their informer options; returns the number. */
size_t cluster_informers(const struct cluster *c,
                         struct informer_options out[static RESOURCE_COUNT]);

/* A node with its labels, for passes and decisions: each label that they ask for is noted. */
struct node_view cluster_view(const struct cluster *c, const struct node *n);

/* ---- cluster.c */

/* Whether decisions depend on the resource and so wait for its list. Budgets only trigger
 * retries. */
bool cluster_rests_on(enum resource_id id);
/* Whether every requested list has arrived. */
bool cluster_synced(const struct cluster *c);
/* All watches are well (again), so no event is missed from now on. Enqueues everything. */
void cluster_begin(struct cluster *c);
/* Starts a new epoch and enqueues everything, because the wanted state has changed. */
void cluster_new_epoch(struct cluster *c);
/* Enqueues every node, although the wanted state is the same. */
void cluster_enqueue_nodes(struct cluster *c);
/* What Ostler may do to nodes now. `ret_again_ms`: when to ask again even without an event (0: not
 * needed). */
enum operating_mode cluster_mode(const struct cluster *c, int64_t *ret_again_ms);
/* Takes the response to one of Ostler's writes. */
void cluster_written(struct cluster *c, enum resource_id resource, const json_t *object);
/* Takes an object that was found in a list of this version. Returns whether it was new. */
bool cluster_seen(struct cluster *c, enum resource_id resource, const json_t *object,
                  uint64_t list_rv);
/* Whether a child is unchanged since the API server confirmed Ostler's own write to it. For struct
 * cluster_view: `arg` is the cluster. */
bool cluster_confirmed(void *arg, const struct child *child);
/* Forgets that confirmation for the child named "plural/name". */
void cluster_doubt(struct cluster *c, enum resource_id resource, const char *target);
/* Fills in since when nodes and pods have been watched without a gap, and the caches' maximum
 * age. */
void cluster_watched(const struct cluster *c, struct node_input *ret);
/* Epoch seconds: the wall clock at Ostler's start plus the time since. Nothing sets this clock, so
 * no recorded timeout ends early. If the machine's clock was wrong at the start, it is the API
 * server's time instead. */
int64_t cluster_now_s(const struct cluster *c);
/* Microseconds of the epoch, for displayed text and windows: like cluster_now_s(), but follows
 * later changes of the machine's clock. */
int64_t cluster_wall_us(const struct cluster *c);
/* The same of the moment up to which the tables are surely complete: now, or when a watch that has
 * a problem now last brought something. */
int64_t cluster_heard_us(const struct cluster *c);
/* Summarises the pods of a slot; strings are borrowed. */
void cluster_node_pods(const struct cluster *c, const struct node_slot *slot,
                       struct node_pods *ret);
/* Whether the agent on a node is up. If it is not, its last report may be stale. */
bool cluster_agent_is_up(const struct node_slot *slot);
/* The report about a node; NULL: none, or it is about another node with this name. */
const struct gpu_node *cluster_report(const struct cluster *c, const struct node_slot *slot);
/* The report of a node's agent; NULL: none yet. A report about another node with the same name does
 * not count. */
const struct node_inventory *cluster_inventory(const struct cluster *c,
                                               const struct node_slot *slot);
/* Processes and pods that hold a GPU of a node open, if its agent is up and has scanned since the
 * boot; NULL: not known. */
const struct node_holders *cluster_holders(const struct cluster *c, const struct node_slot *slot);
/* The record of a revision that is not being deleted, or NULL. */
const struct child *cluster_record_of(const struct cluster *c, const char *tier, const char *hash);
/* The inputs in the record of a revision, or NULL. For struct node_input. */
const json_t *cluster_record(void *arg, enum tier tier, const char *hash);
/* Inputs of rollout decisions have changed. */
void cluster_enqueue_rollout(struct cluster *c);
/* Enqueues the report of a node. */
void cluster_enqueue_report(const struct cluster *c, const char *name);
/* Enqueues the reports of all nodes. */
void cluster_enqueue_reports(const struct cluster *c);
/* Counts reports that still exist and nodes with labels, taints or conditions of Ostler's, except
 * for nodes that are down. All of these must go before Ostler does. A planned removal still counts,
 * because its write may fail. */
size_t cluster_reports(const struct cluster *c);
/* Whether a node has a condition of Ostler's or the annotation ostler.dev/marks. */
bool cluster_bears_ours(const struct node *n);
/* Marks a node as reconciled. After the last one of an epoch it enqueues the policy. */
void cluster_node_seen(struct cluster *c, struct node_slot *slot);

/* ---- tables: for the files of the cluster */

/* Defines FUNCTION, which projects an object for a table by this expression of `c` and `object`. */
#define CLUSTER_PROJECTION(function, projected)                                                    \
    static struct record *function(void *arg, const json_t *object)                                \
    {                                                                                              \
        struct cluster *c = arg;                                                                   \
        (void) c;                                                                                  \
        return (struct record *) (projected);                                                      \
    }
/* Defines TYPE_record_same() and TYPE_record_free(), which compare two records of struct TYPE for a
 * table by this function, and free one by this expression of `c` and `r`. */
#define CLUSTER_RECORD(type, is_same, release)                                                     \
    static bool type##_record_same(void *arg, const struct record *a, const struct record *b)      \
    {                                                                                              \
        (void) arg;                                                                                \
        return is_same((const struct type *) a, (const struct type *) b);                          \
    }                                                                                              \
    static void type##_record_free(void *arg, struct record *record)                               \
    {                                                                                              \
        struct cluster *c = arg;                                                                   \
        struct type *r = (struct type *) record;                                                   \
        (void) c;                                                                                  \
        release;                                                                                   \
    }

#endif
