/* Passes of the operator over what a testbed holds. */
#include "tests/unit/support/testbed.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/decide/node_plan.h"
#include "reconcilers/cluster_foreign.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/inventory.h"
#include "reconcilers/reconcilers.h"
#include "reconcilers/targets_sources.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/quiet.h"

/* More passes than anything takes that ends. */
enum { PASSES_MAX = 60 };

struct node_slot *testbed_slot(const struct testbed *t, const char *name)
{
    struct node_slot *slot = map_get(&t->cluster->slots, name);
    if (!slot || !slot->node)
        fail_msg("there is no node %s", name);
    return slot;
}

const struct target *testbed_target(struct testbed *t, const char *node)
{
    struct node_slot *slot = testbed_slot(t, node);
    struct node_view view = { slot->node, t->cluster->strings, NULL };
    struct node_facts facts = node_facts(&view);
    facts.inventory = cluster_inventory(t->cluster, slot);
    struct node_pods pods;
    cluster_node_pods(t->cluster, slot, &pods);
    size_t pool = policy_pool_of(&t->cluster->policy, node_label, &view);
    struct node_input in = { .view = view,
                             .pods = &pods,
                             .inventory = facts.inventory,
                             .record = cluster_record,
                             .arg = t->cluster };
    facts.own_toolkit = inventory_has_own_toolkit(&in);
    return targets_for(cluster_targets(t->cluster), pool, &facts, node_host_driver(&in, &facts));
}

void testbed_forget_targets(struct testbed *t)
{
    targets_free(TAKE(t->cluster->targets));
}

enum operating_mode testbed_stance(const struct testbed *t)
{
    int64_t again_ms;
    if (t->hold)
        return MODE_HOLD;
    if (t->cluster->object)
        return cluster_mode(t->cluster, &again_ms);
    return t->cluster->saw_deletion || t->absent_for_long ? MODE_REMOVE : MODE_HOLD;
}

void testbed_pass_node(struct testbed *t, struct arena *a, const char *name, struct node_verdict *v,
                       struct actions *actions)
{
    struct cluster *c = t->cluster;
    struct node_slot *slot = testbed_slot(t, name);
    enum operating_mode mode = testbed_stance(t);
    struct node_pods pods;
    cluster_node_pods(c, slot, &pods);
    struct node_input in = {
        .view = { slot->node, c->strings, NULL },
        .pods = &pods,
        .inventory = cluster_inventory(c, slot),
        .holders = cluster_holders(c, slot),
        .holders_new = t->holders_new,
        .mode = mode,
        .force_removal = object_annotation(c->object, POLICY_FORCE_REMOVAL) != NULL,
        .deleting = t->deleting,
        .toolkit_turn = !t->toolkit_waits || slot->toolkit.granted,
        .toolkit_stopped_by = t->toolkit_stopped_by,
        .may_mark = object_has_finalizer(c->object, POLICY_FINALIZER),
        .policy = mode == MODE_MANAGE ? &c->policy : NULL,
        .targets = mode == MODE_MANAGE ? cluster_targets(c) : NULL,
        .rollout = mode == MODE_MANAGE ? &c->rollout : NULL,
        .health_spec = mode == MODE_MANAGE ? &c->health : NULL,
        .braked = t->braked,
        .suspicion = slot->hole,
        .manifests = t->manifests,
        .operand_namespace = TESTBED_NAMESPACE,
        .pod_list = slot->pods,
        .refused = t->not_evicted,
        .ask_in_ms = t->ask_in_ms,
        .generation = object_generation(c->object),
        .now_s = QUIET_WALL_US / 1000000,
        .discovered_since_s = QUIET_WALL_US / 1000000 - t->discovered_s,
        .foreign = cluster_foreign(c, &(struct node_view){ slot->node, c->strings, NULL }),
        .removing_since_s = QUIET_WALL_US / 1000000 - t->removing_s,
        .watched_since_s = t->watched_s ? QUIET_WALL_US / 1000000 - t->watched_s : 0,
        .age_s = t->age_s,
        .tasks_age_s = t->tasks_age_s,
        .record = cluster_record,
        .arg = c,
    };
    struct health_input health;
    in.health = cluster_health(c, slot, &health) ? &health : NULL;
    health.now_s = in.now_s;
    health.nvml_spoke = health.nvml_told = t->nvml_spoke;
    health.driver_s = t->driver_s ? (uint32_t) (in.now_s - t->driver_s) : health.driver_s;
    in.unhealthy_since_s = t->unhealthy_s ? in.now_s - t->unhealthy_s : in.now_s;
    node_plan(&in, a, v, actions);
    tally_set(&c->tally, &slot->summary, v);
    cluster_node_seen(c, slot);
}

static bool confirmed(void *arg, const struct child *child)
{
    return cluster_confirmed(arg, child);
}

static const struct child **gather(const struct cluster *c, size_t *ret_count)
{
    static const enum resource_id resources[] = { RESOURCE_DAEMONSET,    RESOURCE_REVISION,
                                                  RESOURCE_SERVICE,      RESOURCE_CONFIGMAP,
                                                  RESOURCE_RUNTIMECLASS, RESOURCE_SERVICEMONITOR };
    const struct child **children = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        size_t cursor = 0;
        const struct map_entry *e;
        while ((e = map_next(&c->tables[resources[i]].records, &cursor))) {
            children = xreallocarray(children, *ret_count + 1, sizeof *children);
            children[(*ret_count)++] = e->value;
        }
    }
    return children;
}

static const struct node_slot *any_stack_node(const struct cluster *c)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(&c->slots, &cursor)))
        if (((const struct node_slot *) e->value)->node &&
            ((const struct node_slot *) e->value)->summary.of[TIER_STACK].carried)
            return e->value;
    return NULL;
}

bool testbed_pass_policy(struct testbed *t, struct actions *actions)
{
    struct cluster *c = t->cluster;
    CLEANUP_ARENA struct arena a = { 0 };
    const struct node_slot *some = any_stack_node(c);
    struct node_view view = { some ? some->node : NULL, c->strings, NULL };
    struct node_facts facts = some ? node_facts(&view) : (struct node_facts){ 0 };
    enum operating_mode mode = testbed_stance(t);
    struct cluster_view v = {
        .object = c->object,
        .policy = c->policy_valid ? &c->policy : NULL,
        .problems = c->problem_text,
        .problem_list = c->problem_text ? &c->problems : NULL,
        .mode = mode,
        .targets = mode == MODE_MANAGE ? cluster_targets(c) : NULL,
        .tally = &c->tally,
        .settled = c->pending == 0 && !t->unsettled,
        .confirmed = confirmed,
        .arg = c,
        .rollout = &t->passes->rollout,
        .prerequisites = &t->prerequisites,
        .failure = t->refused.kind != ERR_NONE ? &t->refused : NULL,
        .monitors_exist = t->monitors_exist,
        .agent_image = t->agent_image,
        .any_gpu_node = some ? &facts : NULL,
        .manifests = t->manifests,
        .intents = &c->intents,
        .operand_namespace = TESTBED_NAMESPACE,
        .now = TESTBED_NOW,
        .now_s = QUIET_WALL_US / 1000000,
    };
    if (mode == MODE_HOLD && !c->object)
        return false;
    const struct child **children = gather(c, &v.child_count);
    v.children = children;
    cluster_look_at_control_plane(c, &v);
    bool done = policy_plan(&v, &a, actions);
    free(children);
    return done;
}

void testbed_pass_rollout(struct testbed *t, struct actions *actions)
{
    if (testbed_stance(t) == MODE_MANAGE && !t->unsettled)
        rollout_reconcile(t->passes, POLICY_NAME, actions);
}

/* One round over everything; false when there was nothing to do. */
static bool round_of_passes(struct testbed *t, struct buf *log)
{
    bool any = false;
    size_t i;
    json_t *node;
    CLEANUP_JSON json_t *nodes = testbed_list(t, RESOURCE_NODE);
    json_array_foreach (nodes, i, node) {
        CLEANUP_ARENA struct arena a = { 0 };
        CLEANUP_ACTIONS struct actions actions = { 0 };
        struct node_verdict v;
        testbed_pass_node(t, &a, object_name(node), &v, &actions);
        testbed_carry_out(t, &actions);
        actions_text(&actions, log);
        any |= actions.len > 0;
    }
    CLEANUP_ACTIONS struct actions grants = { 0 };
    testbed_pass_rollout(t, &grants);
    actions_text(&grants, log);
    testbed_carry_out(t, &grants);
    any |= grants.len > 0;
    CLEANUP_ACTIONS struct actions actions = { 0 };
    testbed_pass_policy(t, &actions);
    actions_text(&actions, log);
    testbed_carry_out(t, &actions);
    return any || actions.len > 0;
}

void testbed_settle(struct testbed *t, bool follow, struct buf *log)
{
    CLEANUP_BUF struct buf unread = BUF_INIT(1 << 24);
    for (int i = 0; i < PASSES_MAX; i++) {
        bool acted = round_of_passes(t, log ? log : &unread);
        if (acted)
            buf_str(log ? log : &unread, "\n");
        bool followed = follow && testbed_follow(t);
        if (!acted && !followed)
            return;
    }
    fail_msg("no end after %d passes:\n%s", PASSES_MAX, buf_text(log ? log : &unread));
}
