/* A plan: the requests that a pass wants to send, each with a reason. It is data: Ostler can
 * print it, compare it or drop it. */
#ifndef OSTLER_KUBE_ACTIONS_H
#define OSTLER_KUBE_ACTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "kube/request.h"

struct buf;

/* The verb of an action and its text in logs. */
#define VERBS(X)                                                                                   \
    X(LOOK, "Look") /* lists objects; the rest of the plan needs the result */                     \
    X(APPLY, "Apply")                                                                              \
    X(CREATE, "Create")                                                                            \
    X(DELETE, "Delete")                                                                            \
    X(REPAIR, "Repair")      /* reverts another field manager's change */                          \
    X(MARK, "Mark")          /* labels, taints and annotations of a Node */                        \
    X(CLAIM, "Claim")        /* the same, at the start of an upgrade of the Node */                \
    X(TRY_EVICT, "TryEvict") /* an eviction as a dry run */                                        \
    X(EVICT, "Evict")                                                                              \
    X(STATUS, "Status")                                                                            \
    X(CONDITION, "Condition") /* one condition of a status that other writers own */               \
    X(FINALIZER, "Finalizer")

enum verb {
#define X(id, text) VERB_##id,
    VERBS(X)
#undef X
};

/* What Ostler knows of an action's object after its request. */
enum action_effect {
    ACTION_NOT_SENT,
    ACTION_REFUSED, /* the request had no effect */
    /* The request may have been carried out, or the object is not as the plan took it to be. */
    ACTION_UNCLEAR,
    ACTION_SHOWN, /* the response had the object, or the whole list that a look asked for */
};

/* One request and its reason. */
struct action {
    struct request request;
    enum verb verb;
    char *target;       /* "node/gpu-1"; owned */
    const char *reason; /* static CamelCase text: in logs and as a metric label */
    int why;            /* the reason's number in its caller's table; 0: none */
    char *message;      /* one sentence; owned */
    bool accepted;      /* by the API server; set during execution, as the next */
    enum action_effect effect;
};

/* Events of each share have limits of their own: a flood in one displaces none in another. */
enum event_share {
    EVENTS_OF_NODES,
    EVENTS_OF_ROLLOUTS, /* as a whole */
    EVENTS_OF_FAULTS,   /* of GPUs, and what follows */
    EVENT_SHARES,
};

/* An Event to write, on transitions only. */
struct notice {
    enum resource_id resource; /* of the object that it is about; cluster-scoped */
    char *name, *uid;          /* of that object; owned */
    bool warning;
    enum event_share share;
    const char *reason; /* static CamelCase text */
    const char *action; /* static CamelCase text: the action taken */
    char *note;         /* the sentence; owned */
    /* The action that it reports, counted from 1: only an accepted action yields an Event. 0: no
     * action. */
    size_t of_action;
};

/* Zero-initialised = nothing to do. */
struct actions {
    struct action *items; /* sent in this order, one after another */
    size_t len;
    /* The actions are independent: a failure ends only its own action, otherwise the whole plan. A
     * look that fails or has news ends every plan. */
    bool keep_going;
    struct notice *notices;
    size_t notice_count;
    int64_t requeue_after_ms; /* reconcile again after this time; 0: no need */
    /* The epoch of the desired state at the decision. In another epoch no further action starts;
     * 0: any epoch. */
    uint32_t epoch;
};

#define CLEANUP_ACTIONS CLEANUP(actions_clear)

/* The verb's text in logs. Static text. */
const char *verb_text(enum verb v);
/* Appends an action; takes the request. Formats the message. */
void actions_add(struct actions *p, struct request request_steal, enum verb verb,
                 const char *target, const char *reason, const char *fmt, ...) PRINTF(6, 7);
/* Appends an Event to write; name, uid and note are copied. */
void actions_add_notice(struct actions *p, const struct notice *n);
/* Reconciles again in at most this time. */
void actions_requeue(struct actions *p, int64_t after_ms);
/* Writes one line per action: "Verb target Reason: message"; for dry runs and tests. */
void actions_text(const struct actions *p, struct buf *out);
/* Frees all actions and notices and empties the plan. */
void actions_clear(struct actions *p);

#endif
