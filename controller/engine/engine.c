#include "controller/engine/engine.h"

#include <stdlib.h>

#include "base/log.h"
#include "controller/engine/engine_state.h"
#include "reconcilers/fault_news.h"
#include "reconcilers/projections.h"
#include "reconcilers/log_tail.h"
#include "reconcilers/model/names.h"

enum {
    /* No watch event reports a restored permission or namespace, so the policy is retried this
     * often. */
    POLICY_BACKOFF_MAX_MS = 15 * 1000,
    /* Changes are collected for this time, and a pass runs at most once per second. */
    SETTLE_MS = 50,
    SETTLE_APART_MS = 1000,
    /* Shorter for the rollout, whose next step should follow at once. */
    ROLLOUT_SETTLE_MS = 10,
    ROLLOUT_APART_MS = 50,
    /* Reports may be this late, so that short states are not reported. They use few of the
     * requests in flight, so that other work comes first. */
    REPORT_SETTLE_MS = 3000,
    REPORTS_IN_FLIGHT = 2,
    /* While this many nodes wait for a pass, as after a start, reports are postponed. */
    REPORT_BUSY = 2 * EXECUTOR_IN_FLIGHT,
    REPORT_BUSY_MS = 500,
    /* Multiplies the lease times: after a minute of silence another installation may take the
     * cluster. */
    CLAIM_SLOWNESS = 4,
};

/* A decision from before a watch failure must not start: it may rest on stale data. After
 * recovery, Ostler decides again. Without leader election, only this fence prevents writes. */
static int64_t fence(void *arg)
{
    const struct engine *en = arg;
    if (en->stopping ? !en->drain_writes : en->mode == ENGINE_STILL)
        return INT64_MIN;
    if (!en->lease)
        return INT64_MAX;
    int64_t own = lease_write_fence(en->lease),
            cluster_lease = lease_write_fence(en->cluster_lease);
    return own < cluster_lease ? own : cluster_lease;
}

/* ---- triggers of passes */

static void want_node(void *arg, const char *name)
{
    struct engine *en = arg;
    controller_add(en->passes[PASS_NODE], name);
}

static void want_rollout(void *arg)
{
    struct engine *en = arg;
    int64_t now = loop_now(en->o.loop), apart = en->rollout_looked_ms + ROLLOUT_APART_MS - now;
    controller_add_after(en->passes[PASS_ROLLOUT], POLICY_NAME,
                         apart > ROLLOUT_SETTLE_MS ? apart : ROLLOUT_SETTLE_MS);
}

static void want_report(void *arg, const char *name, bool soon)
{
    struct engine *en = arg;
    controller_add_after(en->passes[PASS_REPORT], name, soon ? 0 : REPORT_SETTLE_MS);
}

static void want_policy(void *arg, bool soon)
{
    struct engine *en = arg;
    if (soon) {
        controller_add(en->passes[PASS_POLICY], POLICY_NAME);
        return;
    }
    int64_t now = loop_now(en->o.loop), apart = en->policy_looked_ms + SETTLE_APART_MS - now;
    controller_add_after(en->passes[PASS_POLICY], POLICY_NAME,
                         apart > SETTLE_MS ? apart : SETTLE_MS);
}

/* ---- modes */

static bool watches_are_well(const struct engine *en)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (en->cluster.informers[i] && cluster_rests_on((enum resource_id) i) &&
            informer_state(en->cluster.informers[i]).problem)
            return false;
    return cluster_synced(&en->cluster);
}

/* Whether it can be reported what is missing: the policy is known. A list of nodes that is under
 * way comes first, as it may be the one of a new leader. */
static bool may_report(const struct engine *en)
{
    struct informer_state policies = informer_state(en->cluster.informers[RESOURCE_POLICY]),
                          nodes = informer_state(en->cluster.informers[RESOURCE_NODE]);
    return policies.synced && !policies.problem && (nodes.synced || nodes.problem);
}

/* Ostler decides only while it leads, all watches work and all prerequisites hold, never on
 * stale data. It reports missing prerequisites. */
static enum engine_mode mode_now(const struct engine *en)
{
    if (!en->leading || en->stopping || !en->look.known)
        return ENGINE_STILL;
    bool well = watches_are_well(en);
    if (prerequisites_blocking(&en->prerequisites, well))
        return may_report(en) ? ENGINE_REPORTING : ENGINE_STILL;
    return well ? ENGINE_WORKING : ENGINE_STILL;
}

void engine_stop_passes(struct engine *en)
{
    for (size_t i = 0; i < PASS_COUNT; i++)
        controller_stop(en->passes[i]);
}

static void start_controllers(struct engine *en)
{
    controller_start(en->passes[PASS_POLICY]);
    if (en->mode == ENGINE_REPORTING) {
        want_policy(en, true);
        return;
    }
    controller_start(en->passes[PASS_NODE]);
    controller_start(en->passes[PASS_ROLLOUT]);
    controller_start(en->passes[PASS_REPORT]);
    cluster_begin(&en->cluster);
}

static void set_blocked(struct engine *en)
{
    bool telling = en->mode == ENGINE_REPORTING;
    const struct prerequisite_problem *p = telling ? prerequisites_blocking(&en->prerequisites,
                                                                            watches_are_well(en))
                                                   : NULL;
    free(TAKE(en->blocked.message));
    if (p)
        en->blocked = (struct prerequisite_problem){ .reason = p->reason,
                                                     .message = xstrdup(p->message),
                                                     .stops = p->stops };
    en->cluster.blocked = p ? &en->blocked : NULL;
}

/* Starts a pass over everything when all watches work (again). */
static void work_when_ready(void *arg)
{
    static const char *const words[] = {
        [ENGINE_STILL] = "changing nothing until all watches work",
        [ENGINE_REPORTING] = "changing nothing, and reporting why in the policy's status",
        [ENGINE_WORKING] = "working",
    };
    struct engine *en = arg;
    enum engine_mode mode = mode_now(en);
    if (en->leading && !watches_are_well(en))
        engine_prerequisites_check(en); /* a deleted namespace, with its Roles, may be the cause */
    if (mode == en->mode)
        return;
    engine_stop_passes(en);
    en->mode = mode;
    set_blocked(en);
    if (mode == ENGINE_REPORTING)
        cluster_new_epoch(&en->cluster); /* earlier decisions do not start */
    log_info(words[mode], "leading", en->leading ? "true" : "false");
    if (mode != ENGINE_STILL)
        start_controllers(en);
}

/* A changed CRD ends the watches of its objects. */
static void on_policies(void *arg)
{
    struct engine *en = arg;
    engine_prerequisites_check(en);
    work_when_ready(en);
}

void engine_on_prerequisites(struct engine *en)
{
    work_when_ready(en);
    set_blocked(en);
    cluster_enqueue_reports(&en->cluster); /* their CRD may have more or fewer fields now */
    want_policy(en, false);
}

/* If the reports' CRD is new, all reports are due, and a policy that is being deleted waits for
 * the list of reports. */
static void on_reports(void *arg)
{
    struct engine *en = arg;
    work_when_ready(en);
    cluster_enqueue_reports(&en->cluster);
    want_policy(en, false);
}

/* What is known of nodes may lack the last claims of the leader before, since a watch can be silent
 * for minutes. A list from before that leader had gone is not enough. */
static void list_nodes_anew(struct engine *en)
{
    struct informer *nodes = en->cluster.informers[RESOURCE_NODE];
    int64_t listed_ms = informer_state(nodes).listed_ms;
    if (en->lease &&
        (listed_ms < lease_free_ms(en->lease) || listed_ms < lease_free_ms(en->cluster_lease)))
        informer_list_anew(nodes);
}

static void on_leading(void *arg)
{
    struct engine *en = arg;
    en->leading = !en->lease ||
                  (lease_is_leading(en->lease) && lease_is_leading(en->cluster_lease));
    if (en->leading) {
        list_nodes_anew(en);
        engine_prerequisites_check(en);
    }
    work_when_ready(en);
}

/* The leading replica of an installation competes for the cluster's lease. */
static void on_leading_here(void *arg)
{
    struct engine *en = arg;
    if (!en->cluster_lease_begun)
        lease_start(en->cluster_lease);
    en->cluster_lease_begun = true;
    on_leading(en);
}

static void on_suspended(void *arg)
{
    struct engine *en = arg;
    en->leading = false;
    work_when_ready(en);
}

static void engine_on_lost(void *arg)
{
    struct engine *en = arg;
    /* Write nothing more, not even a lease: the next leader may already work. */
    log_error("lease lost", "message", "another replica may lead by now: exiting at once");
    en->o.lost(en->o.arg);
}

/* ---- passes; they get the reconcilers of their engine */

static struct engine *engine_of(void *reconcilers)
{
    return container_of(reconcilers, struct engine, reconcilers);
}

static void reconcile_policy(void *arg, const char *key, struct actions *actions)
{
    struct engine *en = engine_of(arg);
    en->policy_looked_ms = loop_now(en->o.loop);
    policy_reconcile(arg, key, actions);
    work_when_ready(en); /* the policy may need a watch that was not needed before */
    engine_cleanup_look(en);
}

static void reconcile_rollout(void *arg, const char *key, struct actions *actions)
{
    struct engine *en = engine_of(arg);
    en->rollout_looked_ms = loop_now(en->o.loop);
    rollout_reconcile(arg, key, actions);
}

static void reconcile_report(void *arg, const char *key, struct actions *actions)
{
    struct engine *en = engine_of(arg);
    if (controller_busy(en->passes[PASS_NODE]) > REPORT_BUSY)
        actions_requeue(actions, REPORT_BUSY_MS);
    else
        report_reconcile(arg, key, actions);
}

static void on_notice(void *arg, const struct notice *n)
{
    struct engine *en = engine_of(arg);
    recorder_event(en->recorder, n);
    if (en->o.viewer.changed)
        recent_events_add(&en->cluster.recent, n, cluster_now_s(&en->cluster));
}

static void on_health(void *arg, const struct node_slot *slot, const struct gpu_node *before,
                      const struct gpu_node *after)
{
    struct engine *en = arg;
    int64_t again_ms;
    bool tells = en->mode == ENGINE_WORKING && cluster_mode(&en->cluster, &again_ms) == MODE_MANAGE;
    fault_news(&en->reconcilers, slot, before, after, tells);
}

static void on_shown(void *arg, const char *name)
{
    const struct engine *en = arg;
    en->o.viewer.changed(en->o.viewer.arg, name);
}

static void read_text(void *arg, const char *key, struct request request_steal)
{
    struct engine *en = arg;
    text_reader_ask(en->reader, key, request_steal);
}

static void on_text(void *arg, const char *key, const char *bytes, size_t len)
{
    struct engine *en = arg;
    log_tail_take(&en->reconcilers, key, bytes, len);
}

static uint32_t epoch(void *arg)
{
    const struct engine *en = arg;
    return en->cluster.epoch;
}

static void on_written(void *arg, enum resource_id resource, const json_t *object)
{
    struct engine *en = arg;
    cluster_written(&en->cluster, resource, object);
}

static bool on_seen(void *arg, enum resource_id resource, const json_t *object, uint64_t list_rv)
{
    struct engine *en = arg;
    return cluster_seen(&en->cluster, resource, object, list_rv);
}

static void on_answered(void *arg, const struct request *request, int status, const struct err *e)
{
    struct engine *en = arg;
    engine_take_right(en, request, e);
    if (e->kind == ERR_FORBIDDEN)
        /* the operands' namespace may be deleted, and its Roles with it */
        engine_prerequisites_check(en);
    fleet_metrics_answered(&en->fleet_metrics, request, e);
    if (en->o.answered)
        en->o.answered(en->o.arg, request, status);
}

/* ---- construction */

static void set_up_controllers(struct engine *en)
{
    const struct engine_options *o = &en->o;
    struct executor_options ex = { .transport = o->transport,
                                   .loop = o->loop,
                                   .fence = fence,
                                   .epoch = epoch,
                                   .written = on_written,
                                   .seen = on_seen,
                                   .view = projection_view,
                                   .answered = on_answered,
                                   .arg = en };
    en->executor = executor_new(&ex);
    ex.in_flight = REPORTS_IN_FLIGHT;
    en->report_executor = executor_new(&ex);
    /* The policy's controller comes first: a thousand nodes must not delay its one key. */
    const struct {
        const char *name;
        reconcile_fn *reconcile;
        executor_done_fn *outcome;
        struct executor *executor;
        int64_t backoff_max_ms;
    } rows[PASS_COUNT] = {
        [PASS_POLICY] = { "policy", reconcile_policy, policy_outcome, en->executor,
                          POLICY_BACKOFF_MAX_MS },
        [PASS_ROLLOUT] = { "rollout", reconcile_rollout, rollout_outcome, en->executor,
                           POLICY_BACKOFF_MAX_MS },
        [PASS_NODE] = { "node", node_reconcile, node_outcome, en->executor, 0 },
        [PASS_REPORT] = { "report", reconcile_report, NULL, en->report_executor, 0 },
    };
    for (size_t i = 0; i < PASS_COUNT; i++)
        en->passes[i] = controller_new(
            &(struct controller_options){ .name = rows[i].name,
                                          .reconcile = rows[i].reconcile,
                                          .outcome = rows[i].outcome,
                                          .arg = &en->reconcilers,
                                          .loop = o->loop,
                                          .executor = rows[i].executor,
                                          .metrics = &en->controller_metrics,
                                          .clock = o->clock,
                                          .backoff_max_ms = rows[i].backoff_max_ms,
                                          .notice = on_notice });
    struct recorder_options r = { .transport = o->transport,
                                  .loop = o->loop,
                                  .clock = o->clock,
                                  .instance = o->identity,
                                  .fence = fence,
                                  .arg = en };
    en->recorder = recorder_new(&r);
    en->reader = text_reader_new(
        &(struct text_reader_options){ .transport = o->transport, .text = on_text, .arg = en });
}

static void set_up_informers(struct engine *en)
{
    struct informer_options rows[RESOURCE_COUNT];
    size_t n = cluster_informers(&en->cluster, rows);
    for (size_t i = 0; i < n; i++) {
        rows[i].seed = en->o.seed + i;
        rows[i].outage = &en->outage;
        rows[i].clock = &en->cluster.server_clock;
        loop_fn *on_change = rows[i].resource == RESOURCE_GPU_NODE ? on_reports
                             : rows[i].resource == RESOURCE_POLICY ? on_policies
                                                                   : work_when_ready;
        en->cluster.informers[rows[i].resource] = informer_new(
            &rows[i], &en->cluster.tables[rows[i].resource], en->o.transport, en->o.loop, on_change,
            en);
    }
}

static void set_up_leases(struct engine *en)
{
    const struct engine_options *o = &en->o;
    if (!o->leader_elect)
        return;
    struct lease_options l = { .ns = o->lease_namespace,
                               .name = LEASE_NAME,
                               .me = o->identity,
                               .transport = o->transport,
                               .loop = o->loop,
                               .clock = o->clock,
                               .outage = &en->outage,
                               .on_leading = on_leading_here,
                               .on_suspended = on_suspended,
                               .on_lost = engine_on_lost,
                               .arg = en };
    en->lease = lease_new(&l);
    l.ns = CLUSTER_LEASE_NAMESPACE;
    l.name = CLUSTER_LEASE_NAME;
    l.me = o->lease_namespace;
    l.slowness = CLAIM_SLOWNESS;
    l.on_leading = on_leading;
    en->cluster_lease = lease_new(&l);
}

struct engine *engine_new(const struct engine_options *o)
{
    struct engine *en = xcalloc(1, sizeof *en);
    en->o = *o;
    engine_metrics_add(en);
    struct cluster_options c = o->cluster;
    c.remove_all = o->cleanup;
    c.force_removal = o->cleanup && o->wishes.force;
    c.prerequisites = &en->prerequisites;
    c.clock = o->clock;
    c.listener = (struct cluster_listener){ .node = want_node,
                                            .policy = want_policy,
                                            .arg = en,
                                            .rollout = want_rollout,
                                            .health = on_health,
                                            .report = want_report,
                                            .shown = o->viewer.changed ? on_shown : NULL };
    cluster_init(&en->cluster, &c);
    en->reconcilers = (struct reconcilers){ .cluster = &en->cluster,
                                            .manifests = o->manifests,
                                            .policy = want_policy,
                                            .arg = en,
                                            .metrics = &en->fleet_metrics,
                                            .read_text = read_text,
                                            .notice = on_notice };
    set_up_controllers(en);
    set_up_informers(en);
    set_up_leases(en);
    engine_stop_init(en);
    engine_prerequisites_init(en);
    engine_cleanup_init(en);
    return en;
}

void engine_start(struct engine *en)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        /* started on demand */
        if (en->cluster.informers[i] && i != RESOURCE_CONFIGMAP && i != RESOURCE_BUDGET)
            informer_start(en->cluster.informers[i]);
    engine_prerequisites_check(en);
    /* A cleanup must know first which installation owns the cluster. */
    en->cluster_lease_begun = en->o.cleanup;
    if (en->cluster_lease && en->cluster_lease_begun)
        lease_start(en->cluster_lease);
    if (en->lease)
        lease_start(en->lease);
    else
        on_leading(en);
}

void engine_free(struct engine *en)
{
    if (!en)
        return;
    engine_prerequisites_clear(en);
    engine_cleanup_clear(en);
    for (size_t i = 0; i < PASS_COUNT; i++)
        controller_free(en->passes[i]);
    executor_free(en->executor);
    executor_free(en->report_executor);
    recorder_free(en->recorder);
    text_reader_free(en->reader);
    lease_free(en->lease);
    lease_free(en->cluster_lease);
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        informer_free(en->cluster.informers[i]);
    cluster_clear(&en->cluster);
    err_clear(&en->reconcilers.failure);
    rollout_report_clear(&en->reconcilers.rollout);
    free(en->reconcilers.pull_failed);
    free(en->reconcilers.pull_refused);
    rollout_plan_status_clear(&en->reconcilers.plans);
    free(en->missing.sentence);
    free(en->blocked.message);
    loop_timer_cancel(en->o.loop, &en->drain_due);
    free(en);
}

bool engine_working(const struct engine *en)
{
    return en->mode == ENGINE_WORKING;
}

bool engine_leads(const struct engine *en)
{
    return en->leading;
}

const char *engine_leader(const struct engine *en)
{
    return en->lease ? lease_holder(en->lease) : NULL;
}

const struct cluster *engine_cluster(const struct engine *en)
{
    return &en->cluster;
}
