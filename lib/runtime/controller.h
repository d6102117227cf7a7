/* A controller: a queue of keys and a function that turns a key into a plan. The plan goes to the executor; its outcome decides
 * when the key comes back. */
#ifndef OSTLER_RUNTIME_CONTROLLER_H
#define OSTLER_RUNTIME_CONTROLLER_H

#include "base/metrics.h"
#include "runtime/executor.h"
#include "runtime/queue.h"

struct controller;

/* Fills the plan for a key from what is known now. No I/O. */
typedef void reconcile_fn(void *arg, const char *key, struct actions *actions);

/* Metrics that all controllers share; names as controller-runtime has them. */
struct controller_metrics {
    struct metric *reconcile_total;   /* controller, result */
    struct metric *reconcile_errors;  /* controller */
    struct metric *reconcile_seconds; /* controller */
    struct metric *depth;             /* name */
    struct metric *adds;              /* name */
    struct metric *retries;           /* name */
};
/* Makes the metrics in a registry, for all controllers that show themselves there. */
void controller_metrics_add(struct controller_metrics *m, struct metrics *registry);

struct controller_options {
    const char *name; /* static text */
    reconcile_fn *reconcile;
    void *arg;
    struct loop *loop;
    struct executor *executor;
    const struct controller_metrics *metrics;
    const struct clock *clock;
    int64_t backoff_max_ms; /* at most this between failures of a key; 0: as queue.h has it */
    /* How a key's plan came out. May be NULL. */
    void (*outcome)(void *arg, const char *key, const struct executor_result *result);
    /* An Event that a plan asks for. */
    void (*notice)(void *arg, const struct notice *n);
};

/* Owned by the caller. What `o` points to is borrowed and outlives it. Keys that come gather until controller_start(). */
struct controller *controller_new(const struct controller_options *o);
/* Look at this key as soon as may be. */
void controller_add(struct controller *c, const char *key);
/* Look at this key in at most delay_ms. */
void controller_add_after(struct controller *c, const char *key, int64_t delay_ms);
/* From here on keys are worked on; before, they only gather. */
void controller_start(struct controller *c);
/* Nothing is begun any more. */
void controller_stop(struct controller *c);
/* Whether keys are waiting or being worked on. */
size_t controller_busy(const struct controller *c);
/* Failures in a row of a key, for status messages. */
int controller_failures(const struct controller *c, const char *key);
/* Brings the gauges up to date, before they are shown. */
void controller_update_metrics(struct controller *c);
/* Ends it; plans on their way are the executor's. NULL is none. */
void controller_free(struct controller *c);

#endif
