/* Reconciles the policy: its children and its status. */
#include <string.h>

#include "base/json.h"
#include "kube/object.h"
#include "reconcilers/cluster_brake.h"
#include "reconcilers/decide/detecting.h"
#include "reconcilers/decide/policy_plan.h"
#include "reconcilers/reconcilers.h"
#include "reconcilers/targets_sources.h"

/* A pass over every node takes less than this if no node must be written. */
enum { SETTLING_MS = 2000 };

/* While children are being written the status waits for the responses, but endless edits by others
 * must not hide it. */
enum { STATUS_PATIENCE_MS = 5000 };

/* During an upgrade counts change all the time: a change of counts alone is written no more often
 * than this. */
enum { STATUS_COUNTS_MS = 10 * 1000 };

/* Resources whose objects can be children. */
static const enum resource_id child_resources[] = {
    RESOURCE_DAEMONSET, RESOURCE_REVISION,     RESOURCE_SERVICE,
    RESOURCE_CONFIGMAP, RESOURCE_RUNTIMECLASS, RESOURCE_SERVICEMONITOR,
};

static const struct child **gather_children(const struct cluster *c, struct arena *a,
                                            size_t *ret_count)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(child_resources); i++)
        n += c->tables[child_resources[i]].records.len;
    const struct child **children = arena_alloc(a, n * sizeof *children + 1);
    n = 0;
    for (size_t i = 0; i < ARRAY_LEN(child_resources); i++) {
        MAP_EACH (e, &c->tables[child_resources[i]].records)
            children[n++] = e->value;
    }
    *ret_count = n;
    return children;
}

size_t policy_children(const struct cluster *c)
{
    CLEANUP_ARENA struct arena a = { 0 };
    size_t n, ours = 0;
    const struct child **children = gather_children(c, &a, &n);
    for (size_t i = 0; i < n; i++)
        ours += child_is_ours(children[i]);
    return ours;
}

/* Any node with a stack of Ostler's: the host facts that a follower needs are the same on all. If
 * they differ, the first by name decides, so that a restart decides the same. */
static const struct node_slot *any_stack_node(const struct cluster *c)
{
    const struct node_slot *first = NULL;
    MAP_EACH (e, &c->slots) {
        const struct node_slot *slot = e->value;
        if (slot->node && slot->summary.of[TIER_STACK].carried &&
            (!first || strcmp(slot->name, first->name) < 0))
            first = slot;
    }
    return first;
}

/* Its last line, because only one is shown. */
static const char *log_tail(void *arg, const char *name, struct arena *a)
{
    const struct cluster *c = arg;
    const struct node_slot *slot = map_get(&c->slots, name);
    const char *text = slot && slot->words ? slot->words->text : NULL;
    if (!text || !*text)
        return NULL;
    size_t end = strlen(text);
    while (end > 0 && text[end - 1] == '\n')
        end--;
    const char *before = memrchr(text, '\n', end), *line = before ? before + 1 : text;
    return end ? arena_printf(a, "%.*s", (int) (text + end - line), line) : NULL;
}

static int64_t counts_wait_ms(const struct reconcilers *r)
{
    int64_t left_ms = r->status_told_ms + STATUS_COUNTS_MS - clock_mono_ms(r->cluster->o.clock);
    return r->status_told_ms && left_ms > 0 ? left_ms : 0;
}

/* The rollout's result is of an earlier policy or absent. With it the status would report that all
 * is done before anything started. */
static bool awaits_rollout(const struct reconcilers *r, enum operating_mode mode)
{
    const struct cluster *c = r->cluster;
    return mode == MODE_MANAGE && object_has_finalizer(c->object, POLICY_FINALIZER) &&
           r->rollout_epoch != c->epoch;
}

/* Records when the last agent came up: an agent needs a moment to scan. */
static void take_agents(struct reconcilers *r, const struct cluster_view *v)
{
    const struct child *agents = detecting_agents(v);
    if (!agents || agents->silent)
        r->agents_up_s = 0;
    else if (!r->agents_up_s)
        r->agents_up_s = v->now_s;
}

/* Everything that is known, except what is gathered into an arena. */
static struct cluster_view view_of(const struct reconcilers *r, enum operating_mode mode,
                                   const struct node_facts *facts, const char *now)
{
    struct cluster *c = r->cluster;
    int64_t epoch_ms = clock_mono_ms(c->o.clock) - c->epoch_began_ms;
    bool settled = c->pending == 0 && !awaits_rollout(r, mode);
    return (struct cluster_view){
        .object = c->object,
        .policy = c->policy_valid ? &c->policy : NULL,
        .problems = c->problem_text,
        .problem_list = c->problem_text ? &c->problems : NULL,
        .mode = mode,
        .targets = mode == MODE_MANAGE ? cluster_targets(c) : NULL,
        .tally = &c->tally,
        .settled = settled,
        .settling = (!settled || r->rollout_early) && epoch_ms < SETTLING_MS,
        .status_overdue = r->status_waits_ms &&
                          clock_mono_ms(c->o.clock) - r->status_waits_ms > STATUS_PATIENCE_MS,
        .counts_wait_ms = counts_wait_ms(r),
        .confirmed = cluster_confirmed,
        .log_tail = log_tail,
        .arg = c,
        .prerequisites = c->o.prerequisites,
        .blocked = c->blocked,
        .failure = r->failure.kind != ERR_NONE ? &r->failure : NULL,
        .rollout = &r->rollout,
        .plan = r->plans.plan,
        .pace = r->plans.pace,
        .reports = mode == MODE_REMOVE ? cluster_reports(c) : 0,
        .monitors_exist = informer_state(c->informers[RESOURCE_SERVICEMONITOR]).present,
        .any_gpu_node = facts,
        .manifests = r->manifests,
        .intents = &c->intents,
        .operand_namespace = c->o.operand_namespace,
        .agent_image = c->o.agent_image,
        .now = now,
        .now_s = cluster_now_s(c),
    };
}

/* Stores the mode. When the grace period without a policy ends, no event enqueues the nodes. */
static enum operating_mode set_mode(struct cluster *c, struct actions *actions)
{
    int64_t again_ms;
    enum operating_mode mode = cluster_mode(c, &again_ms);
    if (again_ms)
        actions_requeue(actions, again_ms);
    if (mode == MODE_REMOVE && c->mode != mode && !c->object)
        cluster_new_epoch(c);
    c->mode = mode;
    return mode;
}

/* Looks for a CRD that may be installed after Ostler starts. */
static void look_for(const struct cluster *c, enum resource_id resource, struct actions *actions)
{
    if (informer_state(c->informers[resource]).present)
        return;
    informer_look_again(c->informers[resource], INFORMER_ABSENT_RETRY_MS);
    actions_requeue(actions, INFORMER_ABSENT_RETRY_MS);
}

/* For the CRD of monitors only if the policy wants monitors. */
static void look_for_crds(const struct cluster *c, struct actions *actions)
{
    if (c->policy_valid && json_bool(c->policy.spec, "exporter.serviceMonitor.enabled", false))
        look_for(c, RESOURCE_SERVICEMONITOR, actions);
    look_for(c, RESOURCE_GPU_NODE, actions);
}

/* ConfigMaps are watched only for a policy that takes the device plugin's configuration from
 * one. */
static void look_for_configs(const struct cluster *c)
{
    if (c->policy_valid && json_str(c->policy.spec, "devicePlugin.config.name"))
        informer_start(c->informers[RESOURCE_CONFIGMAP]);
}

/* The status reports the failure, and no event ends it. */
static void forget_failure(struct reconcilers *r)
{
    if (r->failure.kind == ERR_NONE)
        return;
    err_clear(&r->failure);
    r->policy(r->arg, true);
}

/* Whether the plan deletes revisions. */
static bool deletes_revisions(const struct actions *actions)
{
    for (size_t i = 0; i < actions->len; i++) {
        const struct request *r = &actions->items[i].request;
        if (request_deletes(r) &&
            (r->resource == RESOURCE_DAEMONSET || r->resource == RESOURCE_REVISION))
            return true;
    }
    return false;
}

/* Reports why nothing is done. The rest of the status stays from before. */
static void report_blocked(const struct reconcilers *r, struct actions *actions)
{
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(cluster_wall_us(r->cluster), now);
    struct cluster_view v = { .object = r->cluster->object,
                              .blocked = r->cluster->blocked,
                              .now = now };
    policy_plan_blocked(&v, actions);
}

/* Nothing else says when the brake goes off. */
static void take_brake(struct cluster *c, struct cluster_view *v, struct actions *actions)
{
    int64_t again_ms = cluster_brake_review(c);
    if (again_ms)
        actions_requeue(actions, again_ms);
    v->unhealthy = &c->brake.unhealthy;
    v->closings = &c->brake.closings;
    v->brake = c->brake.now;
    v->health = c->policy_valid ? &c->health : NULL;
}

/* Stores when the plan writes the status, or since when that waits for other writes. */
static void time_status(struct reconcilers *r, const struct actions *actions)
{
    int64_t now_ms = clock_mono_ms(r->cluster->o.clock);
    bool tells = actions->len && actions->items[actions->len - 1].verb == VERB_STATUS;
    if (tells)
        r->status_told_ms = now_ms;
    if (actions->len == 0 || tells)
        r->status_waits_ms = 0;
    else if (!r->status_waits_ms)
        r->status_waits_ms = now_ms;
}

static void plan_policy(struct reconcilers *r, struct actions *actions)
{
    struct cluster *c = r->cluster;
    look_for_configs(c);
    enum operating_mode mode = set_mode(c, actions);
    if (!cluster_synced(c) || (mode == MODE_HOLD && !c->object))
        return;
    look_for_crds(c, actions);
    CLEANUP_ARENA struct arena a = { 0 };
    char now[CLOCK_TEXT_MAX];
    clock_rfc3339(cluster_wall_us(c), now);
    const struct node_slot *some = any_stack_node(c);
    struct node_view view = cluster_view(c, some ? some->node : NULL);
    struct node_facts facts = some ? node_facts(&view) : (struct node_facts){ 0 };
    facts.inventory = some ? cluster_inventory(c, some) : NULL;
    struct cluster_view v = view_of(r, mode, some ? &facts : NULL, now);
    v.children = gather_children(c, &a, &v.child_count);
    take_agents(r, &v);
    v.agents_up_s = r->agents_up_s;
    cluster_look_at_control_plane(c, &v);
    take_brake(c, &v, actions);
    struct rollout_report review = { 0 };
    if (rollout_review(r, &review))
        v.rollout = &review; /* its counts are of the same moment as the states of nodes */
    actions->epoch = c->epoch;
    r->cleaned = policy_plan(&v, &a, actions) && actions->len == 0;
    rollout_report_clear(&review);
    c->deleting = deletes_revisions(actions);
    time_status(r, actions);
    if (actions->len == 0)
        forget_failure(r); /* nothing is left to do, so what was refused has happened */
}

void policy_reconcile(void *arg, const char *key, struct actions *actions)
{
    (void) key;
    struct reconcilers *r = arg;
    if (r->cluster->blocked)
        report_blocked(r, actions);
    else
        plan_policy(r, actions);
}

/* A repaired child looks right, but Ostler owns all its fields only after the apply. */
static void doubt_unapplied(struct cluster *c, const struct actions *actions)
{
    for (size_t i = 0; i < actions->len; i++)
        if (actions->items[i].verb == VERB_APPLY && !actions->items[i].accepted)
            cluster_doubt(c, actions->items[i].request.resource, actions->items[i].target);
}

void policy_outcome(void *arg, const char *key, const struct executor_result *result)
{
    (void) key;
    struct reconcilers *r = arg;
    doubt_unapplied(r->cluster, result->actions);
    if (r->cluster->deleting) {
        r->cluster->deleting = false;
        cluster_enqueue_nodes(r->cluster);
    }
    /* A concurrent write by another client is no failure: the next pass sees it. */
    if (result->error == ERR_NONE || result->error == ERR_CONFLICT) {
        forget_failure(r);
        return;
    }
    err_set(&r->failure, result->error, "%s", result->message);
}
