/* What the operator's process is made of. Shared by operator.c and operator_serve.c. */
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
    char *own_pod;  /* "namespace/name" of the pod that it is in, where it is in one: its host is named like it */
    char *identity; /* of this process, in the lease and in events */
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

/* Registers the metrics of the process. */
void operator_metrics_add(struct ostler *op);
/* Counts an answer; status 0: none came. */
void operator_count_request(void *op, const char *method, int status);
/* Starts the server (--listen), or lets the loop be waited for by itself. */
int operator_serve(struct ostler *op, struct err *e);

#endif
