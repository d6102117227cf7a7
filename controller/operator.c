#include "controller/operator.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/process.h"
#include "base/signals.h"
#include "client/session.h"
#include "client/tls_memory.h"
#include "controller/engine/engine.h"
#include "controller/fleet.h"
#include "controller/fleet_files.h"
#include "controller/fleet_source.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/names.h"
#include "runtime/loop_http.h"
#include "serve/server.h"

/* A turn longer than this is stuck: the process aborts, with a core dump if enabled. */
enum { WATCHDOG_S = 30 };
/* Buffers of libcurl and OpenSSL have 16 KiB. */
enum { LARGE_BYTES = 12 << 10, SPARE_BYTES = 64 << 10, GROWTH_BYTES = 16 << 10 };

struct ostler {
    const struct options *o;
    struct session session;
    /* "namespace/name" of this process's pod, if any: the pod's host name is its name */
    char *own_pod;
    char *identity; /* of this process, in the lease and in Events */
    struct loop *loop;
    struct loop_http loop_http;
    int signal_fd;
    struct manifests *manifests;
    struct engine *engine;
    struct server *server;
    struct health_check ready_checks[5];
    struct fleet_engine fleet_engine;
    struct fleet *fleet; /* NULL: no page is served */
    bool finished;
    int exit_code;

    struct metrics *metrics;
    struct process_metrics process_metrics;
    struct metric *requests;
};

/* Nothing may be sent any longer, not even data in a socket's buffer. */
static void operator_on_lost(void *arg)
{
    (void) arg;
    _exit(1);
}

/* A different number for each process. */
static uint64_t unique(const struct ostler *op)
{
    return (uint64_t) clock_wall_us(&op->session.clock) ^ (uint64_t) getpid() << 44;
}

static void on_shown(void *arg, const char *name)
{
    struct ostler *op = arg;
    fleet_changed(op->fleet, name);
}

static void on_finished(void *arg, int exit_code)
{
    struct ostler *op = arg;
    op->finished = true;
    op->exit_code = exit_code;
}

static int set_up_client(struct ostler *op, struct err *e)
{
    const struct session_options o = { op->o->kubeconfig, op->o->context, "ostler",
                                       ostler_version };
    if (session_open(&op->session, &o, e) < 0)
        return -1;
    log_info("starting", "version", ostler_version, "cluster", op->session.config.description);
    return 0;
}

static const char *lease_namespace(const struct ostler *op)
{
    if (op->o->namespace)
        return op->o->namespace;
    return getenv("KUBERNETES_SERVICE_HOST") && !op->o->kubeconfig ? op->session.config.namespace
                                                                   : OSTLER_NAMESPACE;
}

/* ---- stopping */

static void operator_on_signal(void *arg)
{
    struct ostler *op = arg;
    struct signalfd_siginfo info;
    while (read(op->signal_fd, &info, sizeof info) == (ssize_t) sizeof info) {
        log_info("stopping", "signal", info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
        engine_stop(op->engine, op->o->command == COMMAND_CLEANUP ? 1 : 0);
    }
}

static int set_up_signals(struct ostler *op, struct err *e)
{
    signal(SIGPIPE, SIG_IGN);
    op->signal_fd = signals_open(0, e);
    if (op->signal_fd < 0)
        return -1;
    loop_add_fd(op->loop, op->signal_fd, operator_on_signal, op);
    return 0;
}

/* ---- turns of the loop */

static void on_alarm(int signal_number)
{
    (void) signal_number;
    static const char message[] =
        "ostler: the event loop is stuck; exiting, the state is in the API server\n";
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        _exit(1);
    abort();
}

static void turn(void *arg)
{
    struct ostler *op = arg;
    alarm(WATCHDOG_S);
    loop_turn(op->loop);
    alarm(0);
}

/* ---- metrics and probes */

static void add_metrics(struct ostler *op)
{
    static const char *const by_request[] = { "code", "method", "host", NULL };
    static const char *const by_version[] = { "version", NULL };
    op->metrics = metrics_new(1024);
    op->process_metrics = process_metrics_add(op->metrics);
    op->requests = metrics_counter(op->metrics, "rest_client_requests_total",
                                   "Requests to the API server by status, method and host.",
                                   by_request);
    struct metric *build = metrics_gauge(op->metrics, "ostler_build_info",
                                         "1; the labels have the version of this build.",
                                         by_version);
    metric_set(build, (const char *const[]){ ostler_version }, 1);
}

static void count_request(void *arg, const char *method, int status)
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
    fleet_update_metrics(op->fleet);
    metrics_text(op->metrics, out);
}

static void log_port(const char *message, int number)
{
    char port[16];
    snprintf(port, sizeof port, "%d", number);
    log_info(message, "port", port);
}

/* The nodes matter more than the page: Ostler works without it. */
static void serve_fleet(struct ostler *op)
{
    CLEANUP_ERR struct err e = { 0 };
    op->fleet_engine = (struct fleet_engine){ op->engine, ostler_version, op->identity };
    const struct fleet_options fo = { .listen = op->o->fleet_listen,
                                      .hosts = op->o->fleet_hosts,
                                      .files = fleet_files,
                                      .file_count = fleet_file_count,
                                      .holder = op->identity,
                                      .server = op->server,
                                      .loop = op->loop,
                                      .metrics = op->metrics,
                                      .texts = fleet_texts_of(&op->fleet_engine) };
    op->fleet = fleet_new(&fo, &e);
    if (op->fleet)
        log_port("listening for the fleet page", fleet_port(op->fleet));
    else
        log_warn("no fleet page is served", "err", err_msg(&e));
}

static int serve(struct ostler *op, struct err *e)
{
    if ((!*op->o->listen && !*op->o->fleet_listen) || op->o->command == COMMAND_CLEANUP)
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
    if (*op->o->listen)
        log_port("listening", server_port(op->server));
    if (*op->o->fleet_listen)
        serve_fleet(op);
    return server_adopt(op->server, loop_fd(op->loop), turn, op, e);
}

/* ---- main */

/* Large blocks get pages of their own, which return to the system when they are freed. Otherwise
 * each buffer of a connection or a list leaves a hole between records that stay. */
static void return_pages_early(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
    mallopt(M_TOP_PAD, GROWTH_BYTES);
}

static void set_up_engine(struct ostler *op)
{
    struct engine_options o = {
        .transport = &op->session.transport,
        .loop = op->loop,
        .clock = &op->session.clock,
        .manifests = op->manifests,
        .metrics = op->metrics,
        .identity = op->identity,
        .lease_namespace = lease_namespace(op),
        .cluster = { .operand_namespace = op->o->operand_namespace,
                     .limits = op->o->limits,
                     .agent_image = op->o->agent_image,
                     .node_name = op->o->node_name,
                     .own_pod = op->own_pod,
                     .absent_grace_ms = op->o->absent_policy_grace_ms },
        .seed = unique(op),
        .leader_elect = op->o->leader_elect,
        .cleanup = op->o->command == COMMAND_CLEANUP,
        .wishes = op->o->wishes,
        .lost = operator_on_lost,
        .finished = on_finished,
        .arg = op,
        .viewer = { on_shown, op },
    };
    op->engine = engine_new(&o);
}

static int set_up(struct ostler *op, struct err *e)
{
    char host[64] = "ostler";
    gethostname(host, sizeof host - 1);
    if (set_up_client(op, e) < 0)
        return -1;
    op->identity = xasprintf("%s_%llx", host, (unsigned long long) unique(op));
    op->own_pod = xasprintf("%s/%s", lease_namespace(op), host);
    op->manifests = manifests_new(e);
    if (!op->manifests)
        return -1;
    op->loop = loop_new(&op->session.clock);
    if (set_up_signals(op, e) < 0)
        return -1;
    add_metrics(op);
    http_on_answer(op->session.http, (struct http_answers){ count_request, op });
    set_up_engine(op);
    loop_http_add(&op->loop_http, op->loop, op->session.http);
    return serve(op, e);
}

static void operator_start(struct ostler *op)
{
    signal(SIGALRM, on_alarm);
    engine_start(op->engine);
    turn(op);
}

static void wait_and_turn(struct ostler *op)
{
    if (op->server) {
        if (server_run_once(op->server, -1) < 0) {
            log_error("cannot wait for events");
            on_finished(op, 1);
        }
        return;
    }
    struct epoll_event event;
    epoll_wait(loop_fd(op->loop), &event, 1, -1);
    turn(op);
}

static void operator_tear_down(struct ostler *op)
{
    server_free(op->server);
    fleet_free(TAKE(op->fleet)); /* before the engine, which tells it of changes */
    engine_free(op->engine);
    session_close(&op->session); /* last: the others may cancel their requests */
    manifests_free(op->manifests);
    metrics_free(op->metrics);
    loop_free(op->loop);
    free(op->identity);
    free(op->own_pod);
}

int operator_run(const struct options *o)
{
    struct ostler op = { .o = o };
    CLEANUP_ERR struct err e = { 0 };
    return_pages_early();
    tls_memory_without_texts();
    if (set_up(&op, &e) < 0) {
        log_error("cannot start", "err", err_msg(&e));
        return 1;
    }
    operator_start(&op);
    while (!op.finished)
        wait_and_turn(&op);
    log_info("stopped");
    operator_tear_down(&op);
    return op.exit_code;
}
