/* Executes plans: the actions of a plan in order, at most EXECUTOR_IN_FLIGHT requests at a time
 * over all plans. It enforces the lease fence: no write starts after it. It logs each action
 * with its reason and passes responses to the store like watch events. */
#ifndef OSTLER_RUNTIME_EXECUTOR_H
#define OSTLER_RUNTIME_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#include "kube/actions.h"
#include "kube/transport.h"
#include "runtime/loop.h"

enum { EXECUTOR_IN_FLIGHT = 8 };

struct executor;

/* The result of a plan. */
struct executor_result {
    enum err_kind error; /* ERR_NONE: the API server accepted every action */
    const char *message; /* of the error; borrowed */
    /* from the server, or the least wait for a PodDisruptionBudget; -1: none */
    int64_t retry_after_ms;
    const struct actions *actions; /* borrowed; its requests are used up */
    /* The action with the error; NULL if there is none or no action started. */
    const struct action *failed;
};

typedef void executor_done_fn(void *arg, const char *key, const struct executor_result *result);

struct executor_options {
    const struct transport *transport; /* borrowed */
    struct loop *loop;                 /* borrowed */
    /* The time after which no write may start (loop time); INT64_MIN while not leading. */
    int64_t (*fence)(void *arg);
    /* The current epoch of the desired state. NULL: plans have no epoch. */
    uint32_t (*epoch)(void *arg);
    /* An accepted write: the object as the server stored it. Not called for dry runs and
     * evictions, whose responses are no objects. */
    void (*written)(void *arg, enum resource_id resource, const json_t *object);
    /* An object from a plan's own list, of version `list_rv` (0: none). Returns whether it was
     * news; then the plan ends, since it was made without it. */
    bool (*seen)(void *arg, enum resource_id resource, const json_t *object, uint64_t list_rv);
    /* The view for such lists. NULL: everything. */
    const struct split_view *(*view)(enum resource_id resource);
    /* Called for every response: HTTP status or 0, and the outcome (`e` without an error:
     * accepted). May be NULL. */
    void (*answered)(void *arg, const struct request *request, int status, const struct err *e);
    void *arg;
    size_t in_flight; /* most concurrent requests; 0: EXECUTOR_IN_FLIGHT */
};

/* Owned by the caller; sends nothing before executor_submit(). */
struct executor *executor_new(const struct executor_options *o);
/* Takes the plan and calls `done` exactly once: from a later turn, or before this returns if the
 * fence forbids a start. Copies `key`. */
void executor_submit(struct executor *ex, const char *key, struct actions *actions_steal,
                     executor_done_fn *done, void *arg);
/* Number of requests in flight or queued. */
size_t executor_pending(const struct executor *ex);
/* Cancels everything without calling `done`. */
void executor_free(struct executor *ex);

#endif
