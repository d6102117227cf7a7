/* What the decision about a rollout takes and gives: nodes, budgets, what holds nodes back, grants.
 */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_TYPES_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_TYPES_H

#include "base/arena.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/rollout_spec.h"
#include "reconcilers/decide/health.h"
#include "reconcilers/decide/images.h"
#include "reconcilers/decide/node_types.h"

/* A node that the policy wants to serve. All borrowed. */
struct rollout_node {
    const char *name;
    size_t pool;
    struct assignment_ref now;    /* current assignment; "": none */
    struct assignment_ref target; /* assignment in the end; "": none */
    /* What the policy asks for, even if the node rolls back or a user gave it up; NULL: the
     * target. */
    struct assignment_ref policy_target;
    const struct claim *claim; /* NULL: no claim of Ostler's */
    const char *domain;        /* value of the policy's topologyKey; "": none */
    struct images images;      /* state of the target's images; only for nodes in service */
    unsigned gpus; /* GPUs of the node, also while its kubelet offers none without a driver */
    unsigned busy; /* running GPU pods */
    /* GPU pods that Ostler does not evict: jobs that it waits for, and pods that a user must end;
     * `processes` of these are outside pods. */
    unsigned jobs, processes;
    bool idle; /* no pod uses a GPU, or would be drained */
    /* What it asks for because of its GPUs, and since when. */
    enum repair_need repair;
    int64_t repair_since_s;
    bool up;        /* Ready in Kubernetes */
    bool cordoned;  /* spec.unschedulable, set by a user */
    bool unhealthy; /* closed, or about to be, for a fault of its GPUs */
    bool held;      /* label ostler.dev/hold, or a claim of another policy */
    bool closed;    /* it has the upgrade taint without a claim of this policy */
    int64_t free_s; /* it waits, and has had no job since then; 0: not known, or it has one */
    bool retarget_pending; /* under way, and switches to its target when the images are pulled */
    /* Ostler no longer manages it: it keeps its place in the budgets until its claim is removed. */
    bool let_go;
    /* It is being removed: released, and out of service until it is gone. It takes no maxParallel
     * slot and is no failure. */
    bool leaving;
    bool gave_up;              /* a user removed its claim for what the policy wants */
    bool settled;              /* all assigned operands are up, and it runs its target */
    bool runs_ostler;          /* Ostler runs on it, so it goes last */
    struct health_fault fault; /* of its GPUs */
    int64_t driver_s;          /* since when it has its driver, epoch seconds; 0: not known */
};

/* With `soak`: nodes of the current wave are under way, or were at the last pass. */
enum { ROLLOUT_WAVE_RUNNING = -1 };

/* The state of one revision in one pool, from its record's annotations. */
struct rollout_revision {
    const char *hash;
    const char *name;    /* title for users; NULL: the hash */
    const char *failure; /* "gpu-1 CrashLoopBackOff": first failure; NULL: not known */
    const char *retry;   /* value of the policy's annotation that retries it; NULL: its hash */
    size_t pool;
    /* Since when all its canary nodes have been well, moved later by any time when they were not.
     * 0: not since the canary last restarted; below 0: not now, but they were for that many
     * seconds. */
    int64_t canary_s;
    int64_t wave_s;     /* when the last wave was up; 0: there was none; ROLLOUT_WAVE_RUNNING */
    int64_t forgiven_s; /* when a user asked for a retry: earlier failures do not count; 0: never */
    bool failed;        /* recorded as failed: it gets no new claims */
    bool known_good;    /* a rollout of it was completed in the pool, so it needs no canary */
};

struct rollout_input {
    const struct rollout_spec *spec;
    const struct health_spec *health;
    const struct rollout_node *nodes; /* unique names */
    size_t node_count;
    const struct rollout_revision *revisions; /* a revision that is not listed is new */
    size_t revision_count;
    const char *const *pool_names;
    int64_t now_s; /* epoch seconds, by a monotonic clock */
    int64_t set_s; /* how far the wall clock was set forward since; windows follow the wall clock */
    const char *pull_refused; /* error of the last refused pull pod; NULL: it was not refused */
    const char *approved;     /* hash of the plan that a user approved; NULL: none */
};

/* What a node may do now. */
enum rollout_grant_kind {
    /* A claim in phase Waiting, until jobs end or the node returns; no slot of maxParallel. On a
     * node whose drain timed out: one more attempt from now on. */
    GRANT_CLAIM_WAITING,
    GRANT_CLAIM, /* a claim that starts at once: Draining, or Unloading for only a stack change */
    GRANT_DRAIN, /* a waiting claim gets its slot and starts */
    /* A failed claim restarts to its current target: attempt 1 for another target, else the next
     * attempt. */
    GRANT_RETRY,
};

struct rollout_grant {
    const struct rollout_node *node;
    enum rollout_grant_kind kind;
    /* It failed with another target and returns to a known good revision. If that fails too, the
     * revision is not to blame. */
    bool restores;
    bool repairs;             /* its GPUs are repaired */
    struct assignment_ref to; /* what the node will run */
    const char *message;      /* a sentence; from the arena */
};

/* A tainted, waiting, unchanged node: its claim is removed, and it serves until its turn comes. */
struct rollout_return {
    const struct rollout_node *node;
    /* Idle node that may start then; NULL: its turn is not within minutes. */
    const char *makes_room_for;
    const char *message; /* a sentence; from the arena */
};

/* What a revision's record must say and does not yet. Written before any grant, so that a restart
 * in between loses nothing. */
struct rollout_note {
    const char *hash;
    size_t pool;
    int64_t canary_s, wave_s;          /* as in struct rollout_revision */
    const struct rollout_node *failed; /* it has just failed: the first failed node; NULL: not */
    const char *failed_with;           /* why; from the arena, or borrowed from the node */
};

/* Why no (further) node starts: the first reason that applies, for the status and `ostler plan`.
 * Columns: id, reason */
#define ROLLOUT_HOLDS(X)                                                                           \
    X(NONE, NONE)       /* no node is left that could start: the last are under way */             \
    X(DONE, UP_TO_DATE) /* every node runs its target */                                           \
    X(PAUSED, PAUSED)   /* spec.rollout.paused */                                                  \
    X(APPROVAL, WAITING_FOR_APPROVAL) /* the plan's hash is not approved */                        \
    X(WINDOW, WAITING_FOR_WINDOW)                                                                  \
    X(FAILED, REVISION_FAILED)    /* the failure threshold was reached */                          \
    X(IMAGES, WAITING_FOR_IMAGES) /* nodes that could start lack the images of their target */     \
    X(CANARY, CANARY_RUNNING)                                                                      \
    X(SOAK, SOAKING)                                                                               \
    X(PARALLEL, MAX_PARALLEL)                                                                      \
    X(UNAVAILABLE, MAX_UNAVAILABLE)                                                                \
    X(GPUS, MAX_UNAVAILABLE_GPUS)                                                                  \
    X(DOMAIN, OTHER_DOMAIN) /* another domain of topologyKey is being changed */                   \
    X(BACKOFF, WAITING_TO_RETRY)                                                                   \
    X(JOBS, WAITING_FOR_JOBS) /* the remaining nodes are tainted and wait for jobs */              \
    X(DOWN, NODES_DOWN)       /* the remaining nodes are down */                                   \
    X(SKIPPED, NODES_SKIPPED) /* users cordoned, held or gave up the rest */

enum rollout_hold {
#define X(id, ...) ROLLOUT_HOLD_##id,
    ROLLOUT_HOLDS(X)
#undef X
        ROLLOUT_HOLD_COUNT
};

/* Its reason in status, reports and Events, from the table above. */
enum reason rollout_hold_reason(enum rollout_hold h);

/* One limit of spec.rollout and its use. */
struct budget_line {
    /* Used may exceed max after a policy change or when nodes go down. max SIZE_MAX: no limit. */
    size_t used, max;
};

/* A revision that the policy still asks for and that failed. All from the arena. */
struct rollout_failure {
    /* "driver 580.1 failed in pool default, on gpu-1 with NoAllocatableGpus"; NULL: none failed */
    const char *message;
    const char *node;  /* first node that failed; NULL: not known */
    const char *retry; /* value of the policy's annotation that retries it */
};

struct rollout_decision {
    struct rollout_note *notes; /* from the arena; write them before the grants */
    size_t note_count;
    struct rollout_grant *grants; /* from the arena; in the order of their writes */
    size_t grant_count;
    struct rollout_return *returns; /* from the arena; none of these nodes has a grant */
    size_t return_count;
    /* Nodes that must pull the images of their target, in order; from the arena. */
    const struct rollout_node **pulls;
    size_t pull_count;
    enum rollout_hold hold; /* why there are no more grants */
    int64_t until_s;        /* when that ends by itself, by the wall clock; 0: not known */
    const char *message;    /* the sentence for it; from the arena */
    struct rollout_failure failure;
    /* For each input node: why it gets no grant; NONE: it gets one or needs none. From the
     * arena. */
    enum rollout_hold *refused;
    int64_t again_s; /* decide again at this time even without an event; 0: not needed */
    /* Numbers of nodes before the grants; the sum is all nodes. */
    size_t pending, active, waiting, failed, skipped, done;
    /* maxParallel, maxUnavailable and maxUnavailableGpus, with the grants */
    struct budget_line slots, out, out_gpus;
    /* Hash of what the policy asks for, for the kinds of nodes in each pool; "" if every node runs
     * its target, also if some are to be repaired. It changes only with the policy, or when the
     * first node of a kind joins or the last one leaves. So an approved plan stays approved when
     * half of it is done, or when a node fails, rolls back or is skipped. */
    char plan_hash[REVISION_HASH_MAX];
};

/* Delay between a failed attempt and the next. */
int64_t rollout_backoff_s(unsigned attempt);

#endif
