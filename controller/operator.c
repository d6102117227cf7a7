#include "operator.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/str.h"
#include "client/http.h"
#include "operator_state.h"

enum {
    /* Time that writes on their way have to come back after SIGTERM; with the release of the lease it stays under 2 s. */
    DRAIN_MS = 1000,
    RELEASE_MS = 700,
    /* A lease that nobody renews is over after 15 s; one that is not ours after this time is being renewed. */
    CLEANUP_PATIENCE_MS = 20 * 1000,
    /* The policy is one key: no event tells of rights or a namespace that came back, so it is tried again this often. */
    POLICY_BACKOFF_MAX_MS = 15 * 1000,
    /* What has changed is looked at together after this time, and not more often than each second. */
    SETTLE_MS = 50,
    SETTLE_APART_MS = 1000,
    /* A turn that takes longer than this is stuck: the process ends, with a core where those are wanted. */
    WATCHDOG_S = 30,
};

/* Lease-less operation (--leader-elect=false): nothing ever forbids a write. */
static int64_t fence(void *arg)
{
    const struct ostler *op = arg;
    if (op->stopping && !op->drain_writes)
        return INT64_MIN;
    return op->lease ? lease_write_fence(op->lease) : INT64_MAX;
}

/* ---- who must look at what */

static void want_node(void *arg, const char *name)
{
    struct ostler *op = arg;
    controller_add(op->nodes, name);
}

static void work_when_ready(void *arg);

static void want_policy(void *arg, bool soon)
{
    struct ostler *op = arg;
    if (soon) {
        controller_add(op->policies, POLICY_NAME);
        return;
    }
    int64_t now = loop_now(op->loop), apart = op->policy_looked_ms + SETTLE_APART_MS - now;
    controller_add_after(op->policies, POLICY_NAME, apart > SETTLE_MS ? apart : SETTLE_MS);
}

static void reconcile_policy(void *arg, const char *key, struct plan *plan)
{
    struct ostler *op = arg;
    op->policy_looked_ms = loop_now(op->loop);
    policy_reconcile(&op->reconcilers, key, plan);
    work_when_ready(op); /* the policy may have asked for a watch that nobody needed before */
    if (op->o->command == COMMAND_CLEANUP && op->reconcilers.cleaned) {
        log_info("clean", "message", "nothing of Ostler's is left in the cluster");
        operator_stop(op, 0);
    }
}

static void on_policy_outcome(void *arg, const char *key, const struct executor_result *result)
{
    (void) key;
    struct ostler *op = arg;
    policy_outcome(&op->reconcilers, result);
}

static void reconcile_node(void *arg, const char *key, struct plan *plan)
{
    struct ostler *op = arg;
    node_reconcile(&op->reconcilers, key, plan);
}

static void on_notice(void *arg, const struct notice *n)
{
    struct ostler *op = arg;
    recorder_event(op->recorder, &(struct event){ .regarding = { n->resource, n->name, n->uid }, .warning = n->warning,
                                                  .reason = n->reason, .action = n->action, .note = n->note });
}

static void on_written(void *arg, enum resource_id resource, const json_t *object)
{
    struct ostler *op = arg;
    cluster_written(&op->cluster, resource, object);
}

static void on_answered(void *arg, const struct request *request, int status)
{
    struct ostler *op = arg;
    operator_count_request(op, request->method, status);
}

/* ---- starting */

static bool watches_are_well(const struct ostler *op)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (op->cluster.informers[i] && informer_problem(op->cluster.informers[i]))
            return false;
    return cluster_synced(&op->cluster);
}

/* Decisions are made only while we lead and every watch is well: never on a view that may be old. When all is well (again), everything
 * is looked at. */
static void work_when_ready(void *arg)
{
    struct ostler *op = arg;
    bool ready = op->leading && !op->stopping && watches_are_well(op);
    if (ready == op->working)
        return;
    op->working = ready;
    log_info(ready ? "working" : "holding still", "leading", op->leading ? "true" : "false");
    if (ready) {
        controller_start(op->nodes);
        controller_start(op->policies);
        cluster_new_epoch(&op->cluster);
    } else {
        controller_stop(op->nodes);
        controller_stop(op->policies);
    }
}

static void on_leading(void *arg)
{
    struct ostler *op = arg;
    op->leading = true;
    work_when_ready(op);
}

static void on_suspended(void *arg)
{
    struct ostler *op = arg;
    op->leading = false;
    work_when_ready(op);
}

static void on_lost(void *arg)
{
    (void) arg;
    /* Nothing more may be written, not even a lease: the next leader may be at work already. */
    log_error("lease lost", "message", "another replica may lead by now: exiting at once");
    _exit(1);
}

static int set_up_client(struct ostler *op, struct err *e)
{
    if (config_load(op->o->kubeconfig, &op->config, e) < 0)
        return -1;
    op->config_loaded = true;
    free(op->config.user_agent);
    op->config.user_agent = xasprintf("ostler/%s", ostler_version);
    log_info("starting", "version", ostler_version, "cluster", op->config.description);
    op->http = http_new(&op->config, &op->clock, e);
    if (!op->http)
        return -1;
    op->transport = http_transport(op->http);
    return 0;
}

static void on_http(void *arg)
{
    struct ostler *op = arg;
    http_turn(op->http);
}

/* At the end of each turn: the client's own deadline becomes a timer. */
static void arm_http(void *arg)
{
    struct ostler *op = arg;
    int64_t at = http_deadline(op->http);
    if (at == INT64_MAX)
        loop_timer_cancel(op->loop, &op->http_due);
    else
        loop_timer_set(op->loop, &op->http_due, at);
}

static void set_up_informers(struct ostler *op)
{
    struct informer_options rows[RESOURCE_COUNT];
    size_t n = cluster_informers(&op->cluster, rows);
    for (size_t i = 0; i < n; i++)
        op->cluster.informers[rows[i].resource] =
            informer_new(&rows[i], &op->cluster.tables[rows[i].resource], &op->transport, op->loop, work_when_ready, op);
}

static void set_up_controllers(struct ostler *op)
{
    struct executor_options ex = { .transport = &op->transport, .loop = op->loop, .fence = fence, .written = on_written,
                                   .answered = on_answered, .arg = op };
    op->executor = executor_new(&ex);
    /* The policy's first: it is one key that a thousand nodes must not keep waiting. */
    struct controller_options c = { .name = "policy", .reconcile = reconcile_policy, .outcome = on_policy_outcome, .arg = op,
                                    .loop = op->loop, .executor = op->executor, .metrics = &op->controller_metrics,
                                    .clock = &op->clock, .backoff_max_ms = POLICY_BACKOFF_MAX_MS, .notice = on_notice };
    op->policies = controller_new(&c);
    c.name = "node";
    c.reconcile = reconcile_node;
    c.outcome = NULL;
    c.backoff_max_ms = 0;
    op->nodes = controller_new(&c);
    struct recorder_options r = { .transport = &op->transport, .loop = op->loop, .clock = &op->clock, .instance = op->identity,
                                  .fence = fence, .arg = op };
    op->recorder = recorder_new(&r);
}

static const char *lease_namespace(const struct ostler *op)
{
    if (op->o->namespace)
        return op->o->namespace;
    return getenv("KUBERNETES_SERVICE_HOST") && !op->o->kubeconfig ? op->config.namespace : "ostler-system";
}

/* `cleanup` is for where Ostler does not run any more. */
static void on_not_leading(void *arg)
{
    struct ostler *op = arg;
    if (op->leading)
        return;
    log_error("cannot clean up", "err", "an Ostler that runs holds the lease: stop it first (helm uninstall, or scale it to 0)");
    operator_stop(op, 1);
}

static void set_up_lease(struct ostler *op)
{
    if (!op->o->leader_elect)
        return;
    struct lease_options l = { .ns = lease_namespace(op), .name = "ostler", .me = op->identity, .transport = &op->transport,
                               .loop = op->loop, .clock = &op->clock, .on_leading = on_leading, .on_suspended = on_suspended,
                               .on_lost = on_lost, .arg = op };
    op->lease = lease_new(&l);
    op->patience = (struct timer){ .fn = on_not_leading, .arg = op };
    if (op->o->command == COMMAND_CLEANUP)
        loop_timer_set(op->loop, &op->patience, loop_now(op->loop) + CLEANUP_PATIENCE_MS);
}

/* ---- stopping */

static void finish(void *arg)
{
    struct ostler *op = arg;
    op->finished = true;
}

static void release(void *arg)
{
    struct ostler *op = arg;
    if (op->releasing)
        return;
    op->releasing = true;
    op->drain_writes = false;
    op->drain_due.fn = finish;
    loop_timer_set(op->loop, &op->drain_due, loop_now(op->loop) + RELEASE_MS);
    if (op->lease)
        lease_release(op->lease, finish, op);
    else
        finish(op);
}

void operator_stop(struct ostler *op, int exit_code)
{
    if (op->stopping)
        return;
    op->stopping = op->drain_writes = true;
    op->exit_code = exit_code;
    controller_stop(op->nodes);
    controller_stop(op->policies);
    op->drain_due = (struct timer){ .fn = release, .arg = op };
    loop_timer_set(op->loop, &op->drain_due, loop_now(op->loop) + DRAIN_MS);
}

/* At the end of each turn: the lease is given back as soon as no write is on its way any more. */
static void stop_when_drained(void *arg)
{
    struct ostler *op = arg;
    if (op->stopping && !op->releasing && executor_pending(op->executor) == 0)
        release(op);
}

static void on_signal(void *arg)
{
    struct ostler *op = arg;
    struct signalfd_siginfo info;
    while (read(op->signal_fd, &info, sizeof info) == (ssize_t) sizeof info) {
        log_info("stopping", "signal", info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
        operator_stop(op, op->o->command == COMMAND_CLEANUP ? 1 : 0);
    }
}

static void set_up_signals(struct ostler *op)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    op->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    loop_add_fd(op->loop, op->signal_fd, on_signal, op);
}

/* ---- all of it */

static void on_alarm(int signal_number)
{
    (void) signal_number;
    static const char message[] = "ostler: the event loop is stuck; exiting, the state is in the API server\n";
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

static int set_up(struct ostler *op, struct err *e)
{
    char host[64] = "ostler";
    gethostname(host, sizeof host - 1);
    op->identity = xasprintf("%s_%llx", host, (unsigned long long) clock_wall_us(&op->clock) ^ (unsigned long long) getpid() << 44);
    srandom((unsigned) clock_wall_us(&op->clock) ^ (unsigned) getpid());
    if (set_up_client(op, e) < 0)
        return -1;
    op->manifests = manifests_new(e);
    if (!op->manifests)
        return -1;
    op->loop = loop_new(&op->clock);
    set_up_signals(op);
    operator_metrics_add(op);
    struct cluster_options c = { .operand_namespace = op->o->operand_namespace, .image_prefixes = op->o->image_prefixes,
                                 .absent_grace_ms = op->o->absent_policy_grace_ms, .remove_all = op->o->command == COMMAND_CLEANUP,
                                 .clock = &op->clock, .listener = { want_node, want_policy, op } };
    cluster_init(&op->cluster, &c);
    op->reconcilers = (struct reconcilers){ .cluster = &op->cluster, .manifests = op->manifests, .policy = want_policy, .arg = op };
    set_up_controllers(op);
    set_up_informers(op);
    set_up_lease(op);
    op->http_due = (struct timer){ .fn = on_http, .arg = op };
    loop_add_fd(op->loop, http_fd(op->http), on_http, op);
    loop_on_turn(op->loop, stop_when_drained, op);
    loop_on_turn(op->loop, arm_http, op);
    return operator_serve(op, e);
}

static void start(struct ostler *op)
{
    signal(SIGALRM, on_alarm);
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (op->cluster.informers[i] && i != RESOURCE_CONFIGMAP) /* that one waits for a policy that needs it */
            informer_start(op->cluster.informers[i]);
    if (op->lease)
        lease_start(op->lease);
    else
        on_leading(op);
    turn(op);
}

static void wait_and_turn(struct ostler *op)
{
    if (op->server) {
        if (server_run_once(op->server, -1) < 0)
            op->finished = true;
        return;
    }
    struct epoll_event event;
    epoll_wait(op->wait_fd, &event, 1, -1);
    turn(op);
}

static void tear_down(struct ostler *op)
{
    server_free(op->server);
    controller_free(op->nodes);
    controller_free(op->policies);
    executor_free(op->executor);
    recorder_free(op->recorder);
    lease_free(op->lease);
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        informer_free(op->cluster.informers[i]);
    http_free(op->http); /* after all who may cancel a request of theirs */
    if (op->cluster.strings)
        cluster_clear(&op->cluster);
    free(op->reconcilers.failure);
    manifests_free(op->manifests);
    metrics_free(op->metrics);
    loop_free(op->loop);
    if (op->config_loaded)
        config_clear(&op->config);
    free(op->identity);
}

int operator_run(const struct options *o)
{
    struct ostler op = { .o = o, .clock = clock_system(), .turn = turn };
    CLEANUP_ERR struct err e = { 0 };
    if (set_up(&op, &e) < 0) {
        log_error("cannot start", "err", err_msg(&e));
        return 1;
    }
    start(&op);
    while (!op.finished)
        wait_and_turn(&op);
    log_info("stopped");
    tear_down(&op);
    return op.exit_code;
}
