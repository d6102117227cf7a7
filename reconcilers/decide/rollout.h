/* Who may be taken out of service next. The only place where budgets are counted: one pass looks at all nodes of the policy as
 * they are on the server, answers to its own last writes included, and says which nodes get a claim, and which claimed ones may
 * begin to drain. */
#ifndef OSTLER_RECONCILERS_DECIDE_ROLLOUT_H
#define OSTLER_RECONCILERS_DECIDE_ROLLOUT_H

#include "base/arena.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/rollout_spec.h"
#include "reconcilers/decide/images.h"

/* One node that the policy wants to serve. All borrowed. */
struct rollout_node {
    const char *name;
    size_t pool;
    struct assignment_ref now;                /* what it is assigned now; "": none */
    struct assignment_ref target;             /* what it should run in the end; "": none */
    /* What the policy says for it, also where it goes back or was given up; NULL: its target. */
    struct assignment_ref wish;
    const struct claim *claim;                /* NULL: none of ours */
    const char *domain;                       /* value of the policy's topologyKey; "" without */
    struct images images;                     /* of what its target brings; asked of nodes in service alone */
    unsigned gpus;                            /* that it has, also while its kubelet offers none because its driver is off */
    unsigned busy;                            /* GPU pods on it that run */
    /* GPU pods that nobody asks to leave: jobs that are waited for, and what a person has to end, of which `processes` are no
     * pod's. */
    unsigned jobs, processes;
    bool up;                                  /* Ready in Kubernetes' sense */
    bool cordoned;                            /* a person's: spec.unschedulable */
    bool held;                                /* label ostler.dev/hold, or a claim that is not this policy's */
    bool closed;                              /* it bears the upgrade's taint without a claim of this policy's */
    int64_t free_s;                           /* it waits, and since then no job is seen on it; 0: not seen, or one is */
    bool turns;                               /* under way, and turns to its target when it has the images of that */
    bool let_go;                              /* a person took it out of our hands: it takes its place until its claim is off */
    /* Somebody removes it: let go of, and out of service until it is gone; it holds no place of maxParallel, and no failure. */
    bool leaving;
    bool gave_up;                             /* a person took the claim of what the policy wants off it */
    bool settled;                             /* all that it is assigned is up and its target is what it runs */
    bool runs_ostler;                         /* goes last */
};

/* With `soak`: nodes of the revision's present wave are under way, or were when anybody last looked. */
enum { ROLLOUT_WAVE_RUNNING = -1 };

/* How one revision fares in one pool, from its record's annotations. */
struct rollout_revision {
    const char *hash;
    const char *name;    /* what people call it; NULL: by its hash */
    const char *failure; /* "gpu-1 CrashLoopBackOff": where it failed first, and with what; NULL: not known */
    const char *retry;   /* what the policy's annotation has to say to have it tried again; NULL: its hash */
    size_t pool;
    /* Since when its canary nodes have all been well, later by as long as they were not meanwhile; 0: they never were; below 0:
     * they are not now, and were for so many seconds. */
    int64_t canary_s;
    int64_t wave_s;      /* since when the last wave has been up; 0: there was none; ROLLOUT_WAVE_RUNNING */
    int64_t forgiven_s;  /* when a person asked to try again: failures before that do not count; 0: never */
    bool failed;         /* recorded: no new claims for it */
    bool known_good;     /* a rollout of it was completed in the pool: it needs no canary */
};

struct rollout_input {
    const struct rollout_spec *spec;
    const struct rollout_node *nodes; /* no two of one name */
    size_t node_count;
    const struct rollout_revision *revisions; /* what is not listed is new */
    size_t revision_count;
    const char *const *pool_names;
    int64_t now_s;               /* seconds of the epoch, by a clock that nobody sets */
    int64_t set_s;               /* by so much the wall clock was set forward in the meantime: windows go by that */
    const char *pull_refused;    /* in which words the server last refused a pod that was to pull images; NULL: it did not */
    const char *approved;        /* hash of the plan that a person approved; NULL: none */
};

/* What one node may do now. */
enum rollout_grant_kind {
    /* A claim in phase Waiting: its jobs are waited for, or its return; no slot of maxParallel. On a node whose drain timed out:
     * one more attempt, from now on. */
    GRANT_CLAIM_WAITING,
    GRANT_CLAIM,          /* a claim that begins at once (Draining, or Unloading where only the stack changes) */
    GRANT_DRAIN,          /* a claim that waited gets its slot and begins */
    /* A failed one begins again, to its present target: attempt 1 where that is another one, else one more. */
    GRANT_RETRY,
};

struct rollout_grant {
    const struct rollout_node *node;
    enum rollout_grant_kind kind;
    /* It failed with another target, and gets what is known good again: where that fails too, the revision is not to blame. */
    bool restores;
    const char *message;  /* one sentence; from the arena */
};

/* A node that is closed, waits, and was not changed: its claim comes off, and it serves until its turn comes. */
struct rollout_return {
    const struct rollout_node *node;
    const char *makes_room_for; /* name of an idle node that may begin then; NULL: its turn cannot come within minutes */
    const char *message;        /* one sentence; from the arena */
};

/* What a revision's record must say, and does not yet. It is to be written before any grant, so that a restart between the two
 * forgets nothing. */
struct rollout_note {
    const char *hash;
    size_t pool;
    int64_t canary_s, wave_s;          /* as in struct rollout_revision */
    /* It has just failed here: the first node of those that did, its claim says why; NULL: no news. */
    const struct rollout_node *failed;
};

/* Why nothing (more) happens, the first that applies; for the status and `ostler plan`. id, reason */
#define ROLLOUT_HOLDS(X)                                                                           \
    X(NONE, NONE)       /* nobody is left who could go: the last ones are under way */             \
    X(DONE, UP_TO_DATE) /* every node runs its target */                                           \
    X(PAUSED, PAUSED)   /* spec.rollout.paused */                                                  \
    X(APPROVAL, WAITING_FOR_APPROVAL) /* the plan's hash is not approved */                        \
    X(WINDOW, WAITING_FOR_WINDOW)                                                                  \
    X(FAILED, REVISION_FAILED)    /* the threshold was reached */                                  \
    X(IMAGES, WAITING_FOR_IMAGES) /* who could go is without the images of its target */           \
    X(CANARY, CANARY_RUNNING)                                                                      \
    X(SOAK, SOAKING)                                                                               \
    X(PARALLEL, MAX_PARALLEL)                                                                      \
    X(UNAVAILABLE, MAX_UNAVAILABLE)                                                                \
    X(GPUS, MAX_UNAVAILABLE_GPUS)                                                                  \
    X(DOMAIN, OTHER_DOMAIN) /* another domain of topologyKey is being changed */                   \
    X(BACKOFF, WAITING_TO_RETRY)                                                                   \
    X(JOBS, WAITING_FOR_JOBS) /* what is left is closed and waits for its jobs */                  \
    X(DOWN, NODES_DOWN)       /* what is left is down */                                           \
    X(SKIPPED, NODES_SKIPPED) /* what is left is cordoned, held or given up by people */

enum rollout_hold {
#define X(id, ...) ROLLOUT_HOLD_##id,
    ROLLOUT_HOLDS(X)
#undef X
    ROLLOUT_HOLD_COUNT
};

/* The reason that status, reports and Events have for it, as in the table above. */
enum reason rollout_hold_reason(enum rollout_hold h);

/* One limit of spec.rollout, and what takes of it. */
struct budget_line {
    size_t used, max; /* used may be above max: the policy was changed, or nodes went down. max SIZE_MAX: there is no limit */
};

/* A revision that the policy still asks for and that failed. All from the arena. */
struct rollout_failure {
    const char *message; /* "driver 580.1 failed in pool default, on gpu-1 with NoAllocatableGpus"; NULL: none failed */
    const char *node;    /* where it failed first; NULL: not known */
    const char *retry;   /* value of the policy's annotation that has it tried again */
};

struct rollout_decision {
    struct rollout_note *notes;   /* from the arena; to be written before the grants */
    size_t note_count;
    struct rollout_grant *grants; /* from the arena; in the order in which they are to be written */
    size_t grant_count;
    struct rollout_return *returns; /* from the arena; none of these nodes has a grant */
    size_t return_count;
    const struct rollout_node **pulls; /* who is to pull the images of its target, in this order; from the arena */
    size_t pull_count;
    enum rollout_hold hold;       /* why there are no more grants than these */
    const char *message;          /* the sentence to it; from the arena */
    struct rollout_failure failure;
    /* Of each node of the input: why it gets no grant; NONE: it does, or needs none. From the arena. */
    enum rollout_hold *refused;
    int64_t again_s;              /* look again at this time though nothing happens; 0: no need */
    size_t pending, active, waiting, failed, skipped, done; /* nodes, before the grants; together all of them */
    struct budget_line slots, out, out_gpus; /* maxParallel, maxUnavailable and maxUnavailableGpus, with the grants */
    /* Of what the policy says for the kinds of nodes in each pool; "" where every node runs its target. It stays the same
     * until the policy says something else, or the first node of a kind comes, or the last one goes: a plan that was approved
     * is not a new one because half of it is done, or because a node failed, goes back, or is left alone. */
    char plan_hash[REVISION_HASH_MAX];
};

/* What the policy says for a node, also where its target is another revision. Borrowed. */
const char *rollout_wish(const struct rollout_node *n, enum tier tier);
/* How long after an attempt that failed the next one is due. */
int64_t rollout_backoff_s(unsigned attempt);
/* Decides for all nodes at once. To be asked again when the grants have been written. */
void rollout_decide(const struct rollout_input *in, struct arena *a, struct rollout_decision *ret);

#endif
