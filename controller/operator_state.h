/* What the operator's process is made of. Shared by operator.c and operator_serve.c. */
#ifndef OSTLER_OPERATOR_STATE_H
#define OSTLER_OPERATOR_STATE_H

#include "base/log.h"
#include "base/metrics.h"
#include "base/process.h"
#include "client/config.h"
#include "client/http.h"
#include "options.h"
#include "reconcilers/cluster.h"
#include "reconcilers/reconcilers.h"
#include "runtime/controller.h"
#include "runtime/lease.h"
#include "runtime/recorder.h"
#include "serve/server.h"

struct ostler {
    const struct options *o;
    struct clock clock;
    char *identity; /* of this process, in the lease and in events */
    struct config config;
    bool config_loaded;
    struct http *http;
    struct transport transport;
    struct timer http_due;
    struct loop *loop;
    loop_fn *turn; /* one turn of the loop, under the watchdog */
    int signal_fd;
    int wait_fd; /* the loop's descriptor, where no server waits for it */
    struct manifests *manifests;
    struct cluster cluster;
    struct reconcilers reconcilers;
    struct executor *executor;
    struct controller *nodes, *policies;
    struct recorder *recorder;
    struct lease *lease; /* NULL with --leader-elect=false */
    struct server *server;
    struct health_check ready_checks[3];
    int64_t policy_looked_ms;
    bool leading;  /* we may write */
    bool working;  /* the controllers have started */
    bool stopping, drain_writes, releasing, finished;
    struct timer drain_due;
    struct timer patience; /* of `cleanup`, with another Ostler that leads */
    int exit_code;

    struct metrics *metrics;
    struct controller_metrics controller_metrics;
    struct process_metrics process_metrics;
    struct metric *requests, *leader, *node_states, *cache_objects, *watch_restarts, *events_dropped;
};

/* Begins to stop: what is on its way may come back, then the lease is released. */
void operator_stop(struct ostler *op, int exit_code);
/* Registers the metrics. */
void operator_metrics_add(struct ostler *op);
/* Counts an answer; status 0: none came. */
void operator_count_request(struct ostler *op, const char *method, int status);
/* Starts the server (--listen), or lets the loop be waited for by itself. */
int operator_serve(struct ostler *op, struct err *e);

#endif
