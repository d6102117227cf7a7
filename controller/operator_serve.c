/* The process's metrics and probes. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "controller/operator_state.h"

void operator_metrics_add(struct ostler *op)
{
    static const char *const by_request[] = { "code", "method", "host", NULL };
    static const char *const by_version[] = { "version", NULL };
    op->metrics = metrics_new(1024);
    op->process_metrics = process_metrics_add(op->metrics);
    op->requests = metrics_add(
        op->metrics,
        &(struct metric_desc){ "rest_client_requests_total",
                               "Requests to the API server by status, method and host.",
                               METRIC_COUNTER, by_request, NULL, 0 });
    struct metric *build = metrics_add(
        op->metrics, &(struct metric_desc){ "ostler_build_info", "The build that runs.",
                                            METRIC_GAUGE, by_version, NULL, 0 });
    metric_set(build, (const char *const[]){ ostler_version }, 1);
}

void operator_count_request(void *arg, const char *method, int status)
{
    struct ostler *op = arg;
    char code[16];
    snprintf(code, sizeof code, status ? "%d" : "<error>", status);
    metric_add(op->requests, (const char *const[]){ code, method, op->session.config.server.host },
               1);
}

static void write_metrics(void *arg, struct buf *out)
{
    struct ostler *op = arg;
    engine_update_metrics(op->engine);
    process_metrics_update(&op->process_metrics);
    metrics_text(op->metrics, out);
}

int operator_serve(struct ostler *op, struct err *e)
{
    if (!*op->o->listen || op->o->command == COMMAND_CLEANUP)
        return 0;
    const struct health_check ready[] = {
        { "watches", engine_why_watches_fail, op->engine },
        { "lease", engine_why_lease_fails, op->engine },
        { "rights", engine_why_writes_fail, op->engine },
        { "installation", engine_why_prerequisites_fail, op->engine },
        { "shutdown", engine_why_stopping, op->engine },
    };
    memcpy(op->ready_checks, ready, sizeof ready);
    struct server_options so = { .listen = op->o->listen,
                                 .healthz = { .name = "healthz" },
                                 .readyz = { "readyz", op->ready_checks,
                                             ARRAY_LEN(op->ready_checks) },
                                 .metrics = write_metrics,
                                 .metrics_arg = op };
    op->server = server_new(&so, e);
    if (!op->server)
        return -1;
    char port[16];
    snprintf(port, sizeof port, "%d", server_port(op->server));
    log_info("listening", "port", port);
    return server_adopt(op->server, loop_fd(op->loop), op->turn, op, e);
}
