/* Which pods have to leave a node before its driver can, and what is done about each: asked to leave or waited for. */
#ifndef OSTLER_RECONCILERS_DECIDE_DRAIN_H
#define OSTLER_RECONCILERS_DECIDE_DRAIN_H

#include "base/arena.h"
#include "base/intern.h"
#include "kube/actions.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/node_holders.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/model/reason.h"
#include "reconcilers/model/rollout_spec.h"

/* What becomes of a pod in a drain; those that a person has to do something about come first. id,
 * what it is to the drain, why it is in waitingFor, and what is said of it */
#define DRAIN_FATES(X)                                                                             \
    X(STAYS, DRAIN_FREE, NONE, "") /* it uses no GPU, or is an operand of ours */                  \
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
    X(LEAVES, DRAIN_MOVES, EVICTION_REQUESTED, "asked to leave")                                   \
    X(GOING, DRAIN_MOVES, TERMINATING, "being deleted")

enum drain_effect {
    DRAIN_FREE,  /* the node is drained with it */
    DRAIN_MOVES, /* it is on its way out */
    /* It ends by itself, or somebody has to end it: while there is one nobody is asked to leave, as it would help nobody. */
    DRAIN_STUCK,
};

enum drain_fate {
#define X(id, ...) DRAIN_##id,
    DRAIN_FATES(X)
#undef X
    DRAIN_FATE_COUNT
};

/* What a drain looks at. All borrowed. */
struct drain_input {
    const struct pod *pods;       /* of the node: a list through next_on_node */
    const char *node_uid;         /* the node's; NULL: there is none */
    const struct intern *strings; /* that the pods' ids name */
    const struct drain_spec *spec;
    bool jobs_may_go;             /* the time that jobs are waited for is over */
    /* Since when the node is closed and its pods may be asked to leave; 0: it is not, or nobody has been asked yet. */
    int64_t closed_s;
    int64_t now_s;
    /* Who has a GPU of the node open, as the agent there sees it: pods among them use one though they did not ask for it. NULL:
     * nobody knows. */
    const struct node_holders *holders;
};

/* A pod that is in the way. */
struct drain_found {
    const struct pod *pod;
    enum drain_fate fate;
    bool unasked; /* it uses a GPU, and did not ask for one */
};

/* A node's pods, summed up for one drain. */
struct drain {
    size_t of[DRAIN_FATE_COUNT];
    size_t waiting;             /* pods that keep the node from being drained */
    size_t stuck;               /* of those, what no eviction gets out of the way; and `host_count` */
    const struct host_holder *hosts; /* what is no pod's and has a GPU open: nobody but a person ends it */
    size_t host_count;
    const struct drain_found *found; /* `waiting` pods, by fate and name; from the arena */
    int64_t again_s;            /* in how long the first of those that came back is asked again; 0: none did */
    const struct pod **leaving; /* of[DRAIN_LEAVES] pods, by name; from the arena */
    const char *message;        /* whom it waits for, by name, and what to do about it; from the arena; NULL: nobody */
};

enum {
    DRAIN_ASK_AGAIN_S = 600, /* what comes back to a closed node is asked to leave again after this time */
    /* So long the scheduler may bind pods to a node on which it has not seen the taint yet, in whole seconds. */
    SCHEDULER_BEHIND_S = 6,
};

/* `closed_s` of a claimed node. */
int64_t drain_closed_s(const struct claim *c);
/* What is said of a pod, and why it is in waitingFor. */
const char *drain_fate_text(enum drain_fate fate);
enum reason drain_fate_reason(enum drain_fate fate);
/* Whether nobody keeps the node from being drained. */
bool drain_is_done(const struct drain *d);
/* Whether jobs keep the node from being drained, and nobody else does. */
bool drain_waits_for_jobs_alone(const struct drain *d);
/* Whether jobs keep the node from being drained, and everybody else could leave. */
bool drain_is_stuck_by_jobs(const struct drain *d);
/* What is in the way of draining a node, of all its pods: who leaves, who stays, and whom it waits for. Lists and texts are from
 * the arena. */
void drain_look(const struct drain_input *in, struct arena *a, struct drain *ret);
/* Adds the requests that ask pods to leave: where `dry_run_first`, first each of them as a dry run, so that none is sent when one
 * is refused (the plan ends at the first refusal); then each in earnest. None while somebody is stuck. */
void drain_evict(const struct drain *d, bool dry_run_first, struct actions *actions);
/* Adds the requests that delete those pods, whatever their budgets say: for drain.onTimeout Delete. None while somebody
 * is stuck. */
void drain_delete(const struct drain *d, struct actions *actions);

#endif
