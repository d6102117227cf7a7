/* The members of the operator's process, shared by operator.c and operator_serve.c. */
#ifndef OSTLER_OPERATOR_STATE_H
#define OSTLER_OPERATOR_STATE_H

#include "base/log.h"
#include "base/metrics.h"
#include "base/process.h"
#include "client/session.h"
#include "controller/engine/engine.h"
#include "controller/options.h"
#include "reconcilers/manifests/render.h"
#include "runtime/loop_http.h"
#include "serve/server.h"

struct ostler {
    const struct options *o;
    struct session session;
    /* "namespace/name" of this process's pod, if any: the pod's host name is its name */
    char *own_pod;
    char *identity; /* of this process, in the lease and in Events */
    struct loop *loop;
    struct loop_http loop_http;
    loop_fn *turn; /* one turn of the loop, under the watchdog */
    int signal_fd;
    struct manifests *manifests;
    struct engine *engine;
    struct server *server;
    struct health_check ready_checks[5];
    bool finished;
    int exit_code;

    struct metrics *metrics;
    struct process_metrics process_metrics;
    struct metric *requests;
};

/* Registers the process's metrics. */
void operator_metrics_add(struct ostler *op);
/* Counts a response; status 0: none. */
void operator_count_request(void *op, const char *method, int status);
/* Starts the server with the loop inside it; no effect without --listen or in a cleanup. */
int operator_serve(struct ostler *op, struct err *e);

#endif
