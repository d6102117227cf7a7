#include "reconcilers/fleet_metrics.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/repair_end.h"
#include "reconcilers/decide/stages.h"
#include "reconcilers/decide/upgrade_phases.h"

/* The newest numbers of NVIDIA's catalogue are below 180. */
enum { XID_SHOWN_MAX = 255 };

/* From steps that take a moment to jobs that take a day. */
static const double state_buckets[] = { 1,   2,   5,    10,   30,   60,    120,
                                        300, 600, 1800, 3600, 7200, 21600, 86400 };

static const char *const by_state[] = { "state", NULL }, *const by_state_and_pool[] = { "state",
                                                                                        "pool",
                                                                                        NULL };
static const char *const by_outcome[] = { "outcome", NULL },
                         *const by_reason[] = { "reason", NULL },
                         *const by_pool[] = { "pool", NULL };
static const char *const by_stage[] = { "stage", NULL };
static const char *const by_budget[] = { "budget", NULL }, *const by_word[] = { "word", NULL };
static const char *const by_fault[] = { "xid", "level", NULL }, *const by_level[] = { "level",
                                                                                      NULL };
static const char *const by_repair[] = { "kind", "result", NULL };
static const char *const by_condition[] = { "condition", "status", "reason", NULL };

static struct metric *add_seconds(struct metrics *registry, const char *name, const char *help,
                                  const char *const *labels)
{
    return metrics_add(registry, &(struct metric_desc){ name, help, METRIC_HISTOGRAM, labels,
                                                        state_buckets, ARRAY_LEN(state_buckets) });
}

static void add_repair(struct fleet_metrics *m, const struct repair_end *end, double times)
{
    const char *const labels[] = { end->kind == REPAIR_RESET ? "reset" : "reboot",
                                   repair_result_name(end->result) };
    metric_add(m->repairs, labels, times);
}

/* Repairs are rare: their series are there from the start, so that the first one counts as a
 * growth. */
static void add_health(struct fleet_metrics *m, struct metrics *registry)
{
    m->faults = metrics_counter(registry, "ostler_gpu_faults_total",
                                "GPU faults (Xids) in the kernel logs of nodes, by number and by "
                                "what they ask for.",
                                by_fault);
    m->repairs = metrics_counter(registry, "ostler_gpu_repairs_total",
                                 "Attempts to repair the GPUs of a node that have ended, by kind "
                                 "and result.",
                                 by_repair);
    m->health = metrics_gauge(registry, "ostler_nodes_health",
                              "Nodes by what the worst fault of their GPUs asks for.", by_level);
    m->brake = metrics_gauge(registry, "ostler_health_brake",
                             "1 while so many nodes become unhealthy that Ostler closes no more.",
                             NULL);
    m->closed_seconds = metrics_counter(
        registry, "ostler_nodes_closed_seconds_total",
        "Seconds that nodes were closed for faults of their GPUs, of all nodes together.", NULL);
    for (int kind = 0; kind < REPAIR_KINDS; kind++)
        for (int result = REPAIR_GOES_ON + 1; result < REPAIR_RESULTS; result++)
            add_repair(
                m, &(struct repair_end){ (enum repair_result) result, (enum repair_kind) kind }, 0);
}

void fleet_metrics_add(struct fleet_metrics *m, struct metrics *registry)
{
    m->nodes = metrics_gauge(registry, "ostler_nodes", "Nodes by state and pool.",
                             by_state_and_pool);
    m->agents = metrics_gauge(registry, "ostler_agents",
                              "Nodes by the freshness of their agent's report.", by_word);
    m->state_seconds = add_seconds(registry, "ostler_node_state_seconds",
                                   "Seconds that nodes spent in a state, by state.", by_state);
    m->stage_seconds = add_seconds(
        registry, "ostler_node_stage_seconds",
        "Seconds that new nodes spent in each stage until they were ready.", by_stage);
    m->ready_seconds = add_seconds(
        registry, "ostler_node_ready_seconds",
        "Seconds from when Ostler saw a new GPU node until it was ready.", NULL);
    m->state_oldest = metrics_gauge(
        registry, "ostler_node_state_oldest_seconds",
        "Seconds that the oldest node of each state has been in it, by state.", by_state);
    m->evictions = metrics_counter(
        registry, "ostler_evictions_total",
        "Evictions that Ostler requested, by the answer of the API server.", by_outcome);
    m->failures = metrics_counter(registry, "ostler_upgrade_failures_total",
                                  "Upgrades that failed on a node, by reason.", by_reason);
    m->rollbacks = metrics_counter(registry, "ostler_rollbacks_total",
                                   "Nodes that Ostler began to roll back.", by_pool);
    m->rollout_nodes = metrics_gauge(registry, "ostler_rollout_nodes",
                                     "Nodes of the rollout, by progress.", by_state);
    m->rollout_state = metrics_gauge(registry, "ostler_rollout_state",
                                     "1 for the reason that no other node begins its upgrade.",
                                     by_reason);
    m->used = metrics_gauge(registry, "ostler_rollout_used",
                            "Nodes or GPUs that upgrades use of each limit in spec.rollout.",
                            by_budget);
    m->limit = metrics_gauge(registry, "ostler_rollout_limit",
                             "Limits in spec.rollout, in nodes or GPUs.", by_budget);
    m->failed_revisions = metrics_gauge(registry, "ostler_rollout_failed_revisions",
                                        "Revisions that failed and are not tried again, by pool.",
                                        by_pool);
    m->gpus = metrics_gauge(registry, "ostler_gpus", "GPUs of nodes that Ostler serves.", by_state);
    add_health(m, registry);
    m->conditions = metrics_gauge(registry, "ostler_policy_condition",
                                  "1 for the status of each condition.", by_condition);
}

/* ---- events */

const char *fleet_metrics_pool(const struct cluster *c, enum node_state state, size_t pool)
{
    bool none = state == NODE_UNMANAGED || state == NODE_REMOVING || !c->policy_valid ||
                pool >= c->policy.pools_len;
    return none ? "" : c->policy.pools[pool].name;
}

/* Counts a state only if its start was seen. The start of a state that a node already had when this
 * process started is not known. */
static void leave_state(struct fleet_metrics *m, const struct node_summary *before, int64_t now_s)
{
    const char *name = node_state_name(before->state);
    if (before->since_s && now_s >= before->since_s)
        metric_observe(m->state_seconds, &name, (double) (now_s - before->since_s));
}

/* Adds the time since the last change or scrape, in which as many nodes were closed as now. */
static void count_closed(struct fleet_metrics *m, int64_t now_s)
{
    if (m->closed && now_s > m->closed_s)
        metric_add(m->closed_seconds, NULL, (double) m->closed * (double) (now_s - m->closed_s));
    m->closed_s = now_s;
}

static void take_closed(struct fleet_metrics *m, const struct node_summary *before, bool closed,
                        int64_t now_s)
{
    bool was = before->counted && before->unhealthy;
    if (was == closed)
        return;
    count_closed(m, now_s);
    if (closed)
        m->closed++;
    else
        m->closed -= m->closed > 0;
}

/* A pass that is made again before its write is seen ends the same attempt. */
static void take_repaired(struct fleet_metrics *m, const struct node_summary *before,
                          const struct node_verdict *v)
{
    bool told = before->counted && before->repaired.result == v->repaired.result &&
                before->repaired.kind == v->repaired.kind;
    if (v->repaired.result != REPAIR_GOES_ON && !told)
        add_repair(m, &v->repaired, 1);
}

void fleet_metrics_node(struct fleet_metrics *m, const char *pool,
                        const struct node_summary *before, const struct node_verdict *v,
                        int64_t now_s)
{
    take_closed(m, before, v->unhealthy, now_s);
    take_repaired(m, before, v);
    if (!before->counted)
        return;
    if (before->state != v->state)
        leave_state(m, before, now_s);
    /* A claim is an annotation that other clients may write: all words outside the table count as
     * one. */
    const char *failure = v->failed_with ? reason_text(v->failed_with) : NULL;
    if (failure && !before->failed)
        metric_add(m->failures, &failure, 1);
    if (v->restoring && !before->restoring)
        metric_add(m->rollbacks, &pool, 1);
}

void fleet_metrics_ready(struct fleet_metrics *m, const struct node_stages *stages)
{
    if (stages->missed)
        return;
    for (int i = 0; i < STAGE_COUNT; i++) {
        const char *name = node_stage_name((enum node_stage) i);
        int64_t lasted_s = stages_lasted_s(stages, (enum node_stage) i);
        if (lasted_s >= 0)
            metric_observe(m->stage_seconds, &name, (double) lasted_s);
    }
    metric_observe(m->ready_seconds, NULL, (double) (stages->reached[STAGE_PROVEN] - 1));
}

/* Agents may report any number: those that NVIDIA has not given away count as one. */
void fleet_metrics_fault(struct fleet_metrics *m, const struct gpu_fault *fault,
                         enum health_level level, uint32_t times)
{
    char number[16] = "other";
    if (!fault->nvswitch && fault->xid <= XID_SHOWN_MAX)
        snprintf(number, sizeof number, "%u", fault->xid);
    const char *const labels[] = { number, health_level_name(level) };
    metric_add(m->faults, labels, times);
}

/* A dry run is counted only if it was refused. */
void fleet_metrics_answered(struct fleet_metrics *m, const struct request *request,
                            const struct err *e)
{
    if (!request->evicts || (request->dry_run && e->kind == ERR_NONE))
        return;
    const char *outcome = e->kind == ERR_NONE     ? "evicted"
                          : e->kind == ERR_BUDGET ? "refused"
                                                  : "error";
    metric_add(m->evictions, &outcome, 1);
}

/* ---- sums */

static void show_nodes(struct fleet_metrics *m, const struct cluster *c)
{
    metric_drop(m->nodes, NULL);
    for (size_t pool = 0; pool < TALLY_POOLS_MAX; pool++) {
        for (int i = 0; i < NODE_STATE_COUNT; i++) {
            size_t n = c->tally.pools[pool].states[i];
            const char *const labels[] = { node_state_name((enum node_state) i),
                                           fleet_metrics_pool(c, (enum node_state) i, pool) };
            if (n)
                metric_add(m->nodes, labels, (double) n);
        }
    }
}

/* NULL: there is neither an agent nor a report. */
static const char *word_of_agent(const struct cluster *c, const struct node_slot *slot)
{
    const struct node_inventory *said = cluster_inventory(c, slot);
    bool up = cluster_agent_is_up(slot);
    if (!said)
        return up ? "None" : NULL;
    if (!said->boot || said->boot != slot->node->boot)
        return "Old";
    return up ? "Current" : "Down";
}

static void show_agents(struct fleet_metrics *m, const struct cluster *c)
{
    metric_drop(m->agents, NULL);
    for (size_t i = 0; i < c->slots.len; i++) {
        const struct node_slot *slot = c->by_name[i];
        const char *word = slot->node ? word_of_agent(c, slot) : NULL;
        if (word)
            metric_add(m->agents, &word, 1);
    }
}

struct gpu_sums {
    size_t present, ready, lost;
};

/* The agent's report has the cards. Without a report the kubelet's devices count, if it offers
 * any. */
static void add_gpus(struct gpu_sums *sums, const struct cluster *c, const struct node_slot *slot)
{
    const struct node_inventory *said = cluster_inventory(c, slot);
    bool cards = said && said->gpus_known;
    size_t offered = slot->node->gpus > 0 ? (size_t) slot->node->gpus : 0;
    sums->present += cards ? (size_t) (said->gpus - said->passed_on) : offered;
    sums->lost += cards ? said->lost : 0;
    if (slot->summary.state == NODE_READY)
        sums->ready += cards ? said->driven : offered;
}

static void show_gpus(struct fleet_metrics *m, const struct cluster *c)
{
    struct gpu_sums sums = { 0 };
    for (size_t i = 0; i < c->slots.len; i++) {
        const struct node_slot *slot = c->by_name[i];
        enum node_state state = slot->summary.state;
        if (slot->node && slot->summary.counted && node_state_taken(state))
            add_gpus(&sums, c, slot);
    }
    const struct {
        const char *state;
        size_t gpus;
    } rows[] = { { "present", sums.present }, { "ready", sums.ready }, { "lost", sums.lost } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        metric_set(m->gpus, &rows[i].state, (double) rows[i].gpus);
}

static void show_health(struct fleet_metrics *m, const struct cluster *c)
{
    size_t nodes[HEALTH_LEVELS] = { 0 };
    struct health_input facts;
    for (size_t i = 0; i < c->slots.len; i++) {
        const struct node_slot *slot = c->by_name[i];
        bool ours = slot->summary.counted && slot->summary.state != NODE_UNMANAGED;
        if (ours && cluster_health(c, slot, &facts))
            nodes[health_level_of(&facts)]++;
    }
    for (int i = HEALTH_EVENT; i < HEALTH_LEVELS; i++) {
        const char *level = health_level_name((enum health_level) i);
        metric_set(m->health, &level, (double) nodes[i]);
    }
}

/* Counts the closed nodes anew, too: one that was deleted gets no pass. */
static void show_closed(struct fleet_metrics *m, const struct cluster *c)
{
    count_closed(m, cluster_now_s(c));
    m->closed = 0;
    for (size_t i = 0; i < c->slots.len; i++)
        m->closed += c->by_name[i]->summary.counted && c->by_name[i]->summary.unhealthy;
    metric_set(m->brake, NULL, c->brake.now.on);
}

/* Other clients may write a status too: an unknown condition makes no series, and all reasons
 * outside the table count as one. */
static void show_conditions(struct fleet_metrics *m, const struct cluster *c)
{
    static const char *const types[] = { "Ready",    "Reconciling", "Stalled",
                                         "Degraded", "RollingOut",  "HealthBraked" };
    static const char *const statuses[] = { "True", "False", "Unknown" };
    const json_t *conditions = c->object ? json_object_get(json_object_get(c->object, "status"),
                                                           "conditions")
                                         : NULL;
    metric_drop(m->conditions, NULL);
    for (size_t t = 0; t < ARRAY_LEN(types); t++) {
        const char *reason = json_str(condition_find(conditions, types[t]), "reason");
        for (size_t s = 0; s < ARRAY_LEN(statuses); s++) {
            const char *const labels[] = { types[t], statuses[s],
                                           reason_text(reason_parse(reason)) };
            if (str_eq(condition_status(conditions, types[t]), statuses[s]))
                metric_set(m->conditions, labels, 1);
        }
    }
}

/* Visits every node, once per scrape. */
static void show_oldest(struct fleet_metrics *m, const struct cluster *c, int64_t now_s)
{
    int64_t oldest[NODE_STATE_COUNT] = { 0 };
    MAP_EACH (e, &c->slots) {
        const struct node_summary *s = &((const struct node_slot *) e->value)->summary;
        int64_t lasted = s->counted && s->since_s && now_s > s->since_s ? now_s - s->since_s : 0;
        if (lasted > oldest[s->state])
            oldest[s->state] = lasted;
    }
    for (int i = 0; i < NODE_STATE_COUNT; i++) {
        const char *name = node_state_name((enum node_state) i);
        metric_set(m->state_oldest, &name, (double) oldest[i]);
    }
}

static void show_rollout(struct fleet_metrics *m, const struct rollout_report *r)
{
    const struct {
        const char *state;
        size_t nodes;
    } rows[] = { { "pending", r->pending }, { "waiting", r->waiting }, { "active", r->active },
                 { "failed", r->failed },   { "skipped", r->skipped }, { "done", r->done } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        metric_set(m->rollout_nodes, &rows[i].state, (double) rows[i].nodes);
    const char *reason = reason_text(rollout_report_reason(r));
    metric_drop(m->rollout_state, NULL);
    if (r->known)
        metric_set(m->rollout_state, &reason, 1);
}

static void show_limits(struct fleet_metrics *m, const struct rollout_report *r)
{
    const struct {
        const char *budget;
        const struct budget_line *line;
    } rows[] = { { "maxParallel", &r->slots },
                 { "maxUnavailable", &r->out },
                 { "maxUnavailableGpus", &r->out_gpus } };
    metric_drop(m->limit, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        metric_set(m->used, &rows[i].budget, (double) rows[i].line->used);
        if (r->known && rows[i].line->max != SIZE_MAX)
            metric_set(m->limit, &rows[i].budget, (double) rows[i].line->max);
    }
}

static void show_failed_revisions(struct fleet_metrics *m, const struct cluster *c)
{
    const struct map *records = &c->tables[RESOURCE_REVISION].records;
    metric_drop(m->failed_revisions, NULL);
    MAP_EACH (e, records)
        for (size_t i = 0; c->policy_valid && i < c->policy.pools_len; i++)
            if (record_has_failed(e->value, c->policy.pools[i].name))
                metric_add(m->failed_revisions, (const char *const *) &c->policy.pools[i].name, 1);
}

void fleet_metrics_show(struct fleet_metrics *m, const struct cluster *c,
                        const struct rollout_report *rollout)
{
    show_nodes(m, c);
    show_agents(m, c);
    show_gpus(m, c);
    show_health(m, c);
    show_closed(m, c);
    show_conditions(m, c);
    show_oldest(m, c, cluster_now_s(c));
    show_rollout(m, rollout);
    show_limits(m, rollout);
    show_failed_revisions(m, c);
}
