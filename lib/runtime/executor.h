/* Carries out plans: the actions of one plan in order, at most EXECUTOR_IN_FLIGHT requests at a time over all plans. Holds the
 * lease fence: no write is begun after it. Each action is logged with its reason; answers go to the store as if the watch had
 * brought them. */
#ifndef OSTLER_RUNTIME_EXECUTOR_H
#define OSTLER_RUNTIME_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#include "kube/actions.h"
#include "kube/transport.h"
#include "runtime/loop.h"

enum { EXECUTOR_IN_FLIGHT = 8 };

struct executor;

/* How a plan came out. */
struct executor_result {
    enum err_kind error;      /* ERR_NONE: every action was accepted */
    const char *message;      /* of the error; borrowed */
    int64_t retry_after_ms;   /* what the server asked for, or what a PodDisruptionBudget takes at least; -1: nothing */
    const struct actions *actions;  /* borrowed; its requests are spent */
    const struct action *failed; /* of the plan: the one that the error is about; NULL without one, or where none was begun */
};

typedef void executor_done_fn(void *arg, const char *key, const struct executor_result *result);

struct executor_options {
    const struct transport *transport; /* borrowed */
    struct loop *loop;                 /* borrowed */
    /* The moment after which no write may begin (loop time); INT64_MIN while not leading. */
    int64_t (*fence)(void *arg);
    /* The epoch of what is wanted now. NULL: no plan has one. */
    uint32_t (*epoch)(void *arg);
    /* An accepted write's answer: the object as the server has it now. Not of dry runs and evictions, whose answers are none. */
    void (*written)(void *arg, enum resource_id resource, const json_t *object);
    /* An object that a look of a plan brought, in a list of version `list_rv` (0: it has none). Whether that was news: then the
     * plan ends, since it was made without it. */
    bool (*seen)(void *arg, enum resource_id resource, const json_t *object, uint64_t list_rv);
    /* What that looks at. NULL: at all. */
    const struct split_view *(*view)(enum resource_id resource);
    /* Every answer: HTTP status or 0, and what became of the request (`e` without an error: accepted). May be NULL. */
    void (*answered)(void *arg, const struct request *request, int status, const struct err *e);
    void *arg;
    size_t in_flight; /* at most so many requests at a time; 0: EXECUTOR_IN_FLIGHT */
};

/* Owned by the caller; sends nothing before executor_submit(). */
struct executor *executor_new(const struct executor_options *o);
/* Takes the plan; `done` is called exactly once: from a later turn, or before this returns when the fence forbids to begin.
 * `key` is copied. */
void executor_submit(struct executor *ex, const char *key, struct actions *actions_steal, executor_done_fn *done, void *arg);
/* Requests that are on their way or wait for their turn. */
size_t executor_pending(const struct executor *ex);
/* Ends everything; done functions are not called. */
void executor_free(struct executor *ex);

#endif
