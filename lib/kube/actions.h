/* A plan: the requests that a pass wants to send, each with a reason. Data, not calls: it can be printed, compared and
 * thrown away. */
#ifndef OSTLER_KUBE_ACTIONS_H
#define OSTLER_KUBE_ACTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "kube/request.h"

struct buf;

/* What an action does, and the same as the log shows it. */
#define VERBS(X)                                                                                   \
    X(LOOK, "Look")           /* asks the server, so that what follows rests on its answer */      \
    X(APPLY, "Apply")                                                                              \
    X(CREATE, "Create")                                                                            \
    X(DELETE, "Delete")                                                                            \
    X(REPAIR, "Repair")       /* replaces what another field manager changed */                    \
    X(MARK, "Mark")           /* labels, taints and annotations of a Node */                       \
    X(CLAIM, "Claim")         /* the same, where an upgrade of the Node begins */                  \
    X(TRY_EVICT, "TryEvict")  /* the dry run of an eviction */                                     \
    X(EVICT, "Evict")                                                                              \
    X(STATUS, "Status")                                                                            \
    X(CONDITION, "Condition") /* one condition of a status that others write */                    \
    X(FINALIZER, "Finalizer")

enum verb {
#define X(id, text) VERB_##id,
    VERBS(X)
#undef X
};

/* One request and why. */
struct action {
    struct request request;
    enum verb verb;
    char *target;       /* "node/gpu-1"; owned */
    const char *reason; /* static CamelCase text: log line and metric label */
    int why;            /* the same as its caller's table numbers it; 0: it has none */
    char *message;      /* one sentence; owned */
    bool accepted;      /* by the server: filled in as the plan is carried out */
};

/* Something that people should read as an Event: on transitions only. */
struct notice {
    enum resource_id resource; /* of the object that it is about; cluster-scoped */
    char *name, *uid;          /* of that object; owned */
    bool warning;
    bool important;            /* it has a place among Events that others do not take from it */
    const char *reason;        /* static CamelCase text */
    const char *action;        /* static CamelCase text: what was done */
    char *note;                /* the sentence; owned */
    /* The action that it tells of, counted from 1: without the server's consent there is nothing to tell. 0: it tells of none. */
    size_t of_action;
};

/* Zero-initialised = nothing to do. */
struct actions {
    struct action *items; /* sent in this order, one after another */
    size_t len;
    bool keep_going;        /* the actions do not depend on each other: a failure ends only its own (otherwise the whole plan) */
    struct notice *notices;
    size_t notice_count;
    int64_t requeue_after_ms; /* look again after this time even if nothing happens; 0: no need */
    /* Of what is wanted, as it was decided on: in another one nothing more of the plan is begun; 0: it holds in all. */
    uint32_t epoch;
};

#define CLEANUP_ACTIONS CLEANUP(actions_clear)

/* As the log shows it. Static text. */
const char *verb_text(enum verb v);
/* Appends an action; takes the request. The message is formatted. */
void actions_add(struct actions *p, struct request request_steal, enum verb verb, const char *target,
              const char *reason, const char *fmt, ...) PRINTF(6, 7);
/* Appends an Event to write; name, uid and note are copied. */
void actions_add_notice(struct actions *p, const struct notice *n);
/* Look again in at most this time. */
void actions_requeue(struct actions *p, int64_t after_ms);
/* One line per action: "Verb target Reason: message"; for dry runs and tests. */
void actions_text(const struct actions *p, struct buf *out);
/* Frees all actions and notices; there is nothing to do afterwards. */
void actions_clear(struct actions *p);

#endif
