/* A controller: a queue of keys and a function that turns a key into a plan. The executor runs
 * the plan; the result decides when to reconcile the key again. */
#ifndef OSTLER_RUNTIME_CONTROLLER_H
#define OSTLER_RUNTIME_CONTROLLER_H

#include "base/metrics.h"
#include "runtime/executor.h"
#include "runtime/queue.h"

struct controller;

/* Fills the plan for a key from the current state. No I/O. */
typedef void reconcile_fn(void *arg, const char *key, struct actions *actions);

/* Metrics shared by all controllers, with controller-runtime's names. */
struct controller_metrics {
    struct metric *reconcile_total;   /* controller, result */
    struct metric *reconcile_errors;  /* controller */
    struct metric *reconcile_seconds; /* controller */
    struct metric *depth;             /* name */
    struct metric *adds;              /* name */
    struct metric *retries;           /* name */
};
/* Registers the metrics for all controllers of a registry. */
void controller_metrics_add(struct controller_metrics *m, struct metrics *registry);

struct controller_options {
    const char *name; /* static text */
    reconcile_fn *reconcile;
    void *arg;
    struct loop *loop;
    struct executor *executor;
    const struct controller_metrics *metrics;
    const struct clock *clock;
    int64_t backoff_max_ms; /* most milliseconds between retries of a key; 0: as in queue.h */
    /* The result of a key's plan. May be NULL. */
    void (*outcome)(void *arg, const char *key, const struct executor_result *result);
    /* An Event that a plan requests. */
    void (*notice)(void *arg, const struct notice *n);
};

/* Owned by the caller. `o`'s pointers are borrowed and must outlive the controller. It queues
 * keys until controller_start(). */
struct controller *controller_new(const struct controller_options *o);
/* Reconciles this key as soon as possible. */
void controller_add(struct controller *c, const char *key);
/* Reconciles this key in at most delay_ms. */
void controller_add_after(struct controller *c, const char *key, int64_t delay_ms);
/* Starts work on keys; until then they only queue. */
void controller_start(struct controller *c);
/* Starts no further work. */
void controller_stop(struct controller *c);
/* Number of keys that wait or are in progress. */
size_t controller_busy(const struct controller *c);
/* Consecutive failures of a key, for status messages. */
int controller_failures(const struct controller *c, const char *key);
/* Updates the gauges before a scrape. */
void controller_update_metrics(struct controller *c);
/* Frees the controller; the executor keeps running plans. NULL has no effect. */
void controller_free(struct controller *c);

#endif
