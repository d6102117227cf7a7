/* What the process shows of itself: metrics and probes. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "operator_state.h"

void operator_metrics_add(struct ostler *op)
{
    static const char *const by_request[] = { "code", "method", "host", NULL };
    static const char *const by_name[] = { "name", NULL };
    static const char *const by_state[] = { "state", NULL };
    static const char *const by_resource[] = { "resource", NULL };
    static const char *const by_version[] = { "version", NULL };
    op->metrics = metrics_new(512);
    controller_metrics_add(&op->controller_metrics, op->metrics);
    op->process_metrics = process_metrics_add(op->metrics);
    const struct {
        struct metric **into;
        struct metric_desc desc;
    } rows[] = {
        { &op->requests, { "rest_client_requests_total", "Requests to the API server by status, method and host.", METRIC_COUNTER, by_request, NULL, 0 } },
        { &op->leader, { "leader_election_master_status", "Whether this replica leads.", METRIC_GAUGE, by_name, NULL, 0 } },
        { &op->node_states, { "ostler_nodes", "Nodes by state.", METRIC_GAUGE, by_state, NULL, 0 } },
        { &op->cache_objects, { "ostler_cache_objects", "Objects that are kept, by resource.", METRIC_GAUGE, by_resource, NULL, 0 } },
        { &op->watch_restarts, { "ostler_watch_failures_total", "Lists and watches that failed, by resource.", METRIC_COUNTER, by_resource, NULL, 0 } },
        { &op->events_dropped, { "ostler_events_dropped_total", "Events that were not written.", METRIC_COUNTER, NULL, NULL, 0 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        *rows[i].into = metrics_add(op->metrics, &rows[i].desc);
    struct metric *build = metrics_add(op->metrics, &(struct metric_desc){ "ostler_build_info", "The build that runs.", METRIC_GAUGE,
                                                                           by_version, NULL, 0 });
    metric_set(build, (const char *const[]){ ostler_version }, 1);
}

void operator_count_request(struct ostler *op, const char *method, int status)
{
    char code[16];
    snprintf(code, sizeof code, status ? "%d" : "<error>", status);
    metric_add(op->requests, (const char *const[]){ code, method, op->config.server.host }, 1);
}

static void update_metrics(struct ostler *op)
{
    metric_set(op->leader, (const char *const[]){ "ostler" }, op->leading);
    for (int i = 0; i < NODE_STATE_COUNT; i++)
        metric_set(op->node_states, (const char *const[]){ node_state_name((enum node_state) i) },
                   (double) op->cluster.tally.states[i]);
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        if (!op->cluster.informers[i])
            continue;
        const char *const labels[] = { resource_get((enum resource_id) i)->plural };
        metric_set(op->cache_objects, labels, (double) op->cluster.tables[i].records.len);
        metric_set(op->watch_restarts, labels, (double) informer_restarts(op->cluster.informers[i]));
    }
    metric_set(op->events_dropped, NULL, (double) recorder_dropped(op->recorder));
    controller_update_metrics(op->nodes);
    controller_update_metrics(op->policies);
    process_metrics_update(&op->process_metrics);
}

static void write_metrics(void *arg, struct buf *out)
{
    struct ostler *op = arg;
    update_metrics(op);
    metrics_text(op->metrics, out);
}

/* The first watch that fails says why; before the first list has come that is so too. */
static char *why_watches_fail(void *arg)
{
    const struct ostler *op = arg;
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        const struct informer *inf = op->cluster.informers[i];
        if (inf && informer_problem(inf))
            return xstrdup(informer_problem(inf));
    }
    return cluster_synced(&op->cluster) ? NULL : xstrdup("the first lists have not all come yet");
}

static char *why_lease_fails(void *arg)
{
    const struct ostler *op = arg;
    const char *problem = op->lease ? lease_problem(op->lease) : NULL;
    return problem ? xstrdup(problem) : NULL;
}

static char *why_stopping(void *arg)
{
    const struct ostler *op = arg;
    return op->stopping ? xstrdup("the process is stopping") : NULL;
}

int operator_serve(struct ostler *op, struct err *e)
{
    op->wait_fd = loop_fd(op->loop);
    if (!*op->o->listen || op->o->command == COMMAND_CLEANUP)
        return 0;
    const struct health_check ready[] = {
        { "watches", why_watches_fail, op },
        { "lease", why_lease_fails, op },
        { "shutdown", why_stopping, op },
    };
    memcpy(op->ready_checks, ready, sizeof ready);
    struct server_options so = { .listen = op->o->listen, .healthz = { .name = "healthz" },
                                 .readyz = { "readyz", op->ready_checks, ARRAY_LEN(op->ready_checks) },
                                 .metrics = write_metrics, .metrics_arg = op };
    op->server = server_new(&so, e);
    if (!op->server)
        return -1;
    char port[16];
    snprintf(port, sizeof port, "%d", server_port(op->server));
    log_info("listening", "port", port);
    return server_adopt(op->server, op->wait_fd, op->turn, op, e);
}
