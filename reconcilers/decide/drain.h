/* Which pods must leave a node before its driver can, and whether Ostler evicts or waits for
 * each. */
#ifndef OSTLER_RECONCILERS_DECIDE_DRAIN_H
#define OSTLER_RECONCILERS_DECIDE_DRAIN_H

#include "base/arena.h"
#include "base/intern.h"
#include "kube/actions.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/health_spec.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/repair_try.h"
#include "reconcilers/model/rollout_spec.h"

/* What happens to a pod in a drain; fates that need a user's action come first. Columns: id, effect
 * on the drain, reason in waitingFor, text */
#define DRAIN_FATES(X)                                                                             \
    X(STAYS, DRAIN_FREE, NONE, "") /* it uses no GPU, or is an operand */                          \
    X(STATIC, DRAIN_STUCK, STATIC_POD, "static pod: remove its manifest from the node")            \
    X(DAEMON, DRAIN_STUCK, DAEMON_SET_POD,                                                         \
      "of a DaemonSet that tolerates the upgrade's taint and would recreate it: remove the "       \
      "toleration")                                                                                \
    X(RETURNED, DRAIN_STUCK, RECREATED,                                                            \
      "came back to the tainted node, because of a toleration of the upgrade's taint or a "        \
      "nodeName: remove that")                                                                     \
    X(LEFT_OUT, DRAIN_STUCK, POD_NOT_SELECTED,                                                     \
      "left out by drain.podSelector: end it or change the selector")                              \
    X(BARE, DRAIN_STUCK, NO_CONTROLLER,                                                            \
      "no controller would recreate it: delete it or set drain.force")                             \
    X(DATA, DRAIN_STUCK, EMPTY_DIR,                                                                \
      "its emptyDir would be lost: end it or set drain.deleteEmptyDir")                            \
    X(JOB, DRAIN_STUCK, JOB, "a job: Ostler waits until it ends")                                  \
    X(TIMED_JOB, DRAIN_STUCK, JOB,                                                                 \
      "a job: Ostler waits until it ends or drain.waitForJobs is over")                            \
    X(SICK_JOB, DRAIN_STUCK, JOB,                                                                  \
      "a job: Ostler waits until it ends or health.drainAfter is over")                            \
    X(LEAVES, DRAIN_MOVES, EVICTION_REQUESTED, "to be evicted")                                    \
    X(GOING, DRAIN_MOVES, TERMINATING, "being deleted")

enum drain_effect {
    DRAIN_FREE,  /* does not block the drain */
    DRAIN_MOVES, /* it is leaving */
    /* It must end by itself, or a user must end it. While such a pod exists, Ostler evicts no pod
     * of the node, because the eviction would gain nothing. */
    DRAIN_STUCK,
};

enum drain_fate {
#define X(id, ...) DRAIN_##id,
    DRAIN_FATES(X)
#undef X
        DRAIN_FATE_COUNT
};

/* Input of a drain. All borrowed. */
struct drain_input {
    const struct pod *pods;       /* of the node: a list through next_on_node */
    const char *node_uid;         /* uid of the node; NULL: no node */
    const struct intern *strings; /* string table of the pods' ids */
    const struct drain_spec *spec;
    bool jobs_may_go; /* the wait for jobs is over */
    /* Since when the node is tainted and its pods may be evicted; 0: it is not, or no pod was
     * evicted yet. */
    int64_t closed_s;
    int64_t now_s;
    /* Processes and pods that hold a GPU open, by the agent's report. Such a pod uses a GPU even if
     * it did not request one. NULL: not known. */
    const struct node_holders *holders;
};

/* A pod that blocks the drain. */
struct drain_found {
    const struct pod *pod;
    enum drain_fate fate;
    bool unasked; /* it uses a GPU without a request */
};

/* The pods of a node, counted for one drain. */
struct drain {
    size_t of[DRAIN_FATE_COUNT];
    size_t waiting; /* pods that keep the node from being drained */
    size_t stuck;   /* of those, pods that no eviction removes; plus `host_count` */
    /* Processes outside pods that hold a GPU open; only a user can end them. */
    const struct host_holder *hosts;
    size_t host_count;
    const struct drain_found *found; /* `waiting` pods, by fate and name; from the arena */
    bool reboots;                    /* its node is about to reboot; the caller sets it */
    int64_t again_s; /* seconds until the first returned pod is evicted again; 0: none returned */
    const struct pod **leaving; /* of[DRAIN_LEAVES] pods, by name; from the arena */
    /* The pods that it waits for, and what to do; NULL: none; from the arena. */
    const char *message;
};

enum {
    /* A pod that returns to a tainted node is evicted again after this time. */
    DRAIN_ASK_AGAIN_S = 600,
    /* Seconds in which the scheduler may still bind pods to a node because it has not seen the
     * taint yet. */
    SCHEDULER_BEHIND_S = 6,
};

/* Which pods leave a node that is repaired, and on which Ostler tries `next` first: all before a
 * reboot by a pod, which kills them. kured drains the node itself. */
enum drain_mode drain_mode_of_repair(const struct drain_spec *spec,
                                     const struct health_spec *health, enum repair_kind next);
/* The policy's drain for a claimed node. Jobs of one that is repaired have the time of
 * health.drainAfter. */
struct drain_spec drain_of_claim(const struct drain_spec *spec, const struct health_spec *health,
                                 const struct claim *c, enum repair_kind next);
/* `closed_s` of a claimed node. */
int64_t drain_closed_s(const struct claim *c);
/* The text for a pod, and its reason in waitingFor. */
const char *drain_fate_text(enum drain_fate fate);
enum reason drain_fate_reason(enum drain_fate fate);
/* Whether the wait for jobs is over on a node claimed at that time. `ret_left_s`: seconds left; -1:
 * no limit. */
bool drain_jobs_may_go(const struct drain_spec *spec, int64_t claimed_s, int64_t now_s,
                       int64_t *ret_left_s);
/* Whether the node is drained. */
bool drain_is_done(const struct drain *d);
/* Whether only jobs keep the node from being drained. */
bool drain_waits_for_jobs_alone(const struct drain *d);
/* Whether jobs keep the node from being drained, and all other pods could leave. */
bool drain_is_stuck_by_jobs(const struct drain *d);
/* Finds which pods block the drain of a node: which leave, which stay, which Ostler waits for.
 * Lists and texts are from the arena. */
void drain_look(const struct drain_input *in, struct arena *a, struct drain *ret);
/* Adds the evictions. With `dry_run_first`, dry runs of all of them come first, so that none is
 * sent if one is refused (a plan ends at the first refusal). Adds none while a pod is stuck. */
void drain_evict(const struct drain *d, bool dry_run_first, struct actions *actions);
/* Adds requests that delete those pods despite their budgets, for drain.onTimeout Delete. Adds none
 * while a pod is stuck. */
void drain_delete(const struct drain *d, struct actions *actions);

#endif
