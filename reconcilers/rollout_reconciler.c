#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/plan/drain.h"
#include "reconcilers/plan/marks.h"
#include "reconcilers/plan/records.h"
#include "reconcilers/plan/rollout_grants.h"
#include "reconcilers/reconcilers.h"

/* What one pass gathers. Everything lives in the arena or in the cluster. */
struct gathering {
    const struct cluster *c;
    struct arena *a;
    struct rollout_node *nodes;
    const struct node_slot **slots; /* of `nodes`, in their order */
    size_t count;
};

/* ---- nodes */

/* Stands for a claim that somebody took off: the node holds its slot until its own pass has written what becomes of it. */
static const struct claim given_up = { .kind = CLAIM_ROLLBACK, .phase = CLAIM_UNLOADING };

/* The claim that the node bears; NULL: none that is this policy's. `ret_foreign`: it bears one that is not, and which is not to be replaced. */
static const struct claim *claim_of(const struct gathering *g, const struct node_slot *slot, bool *ret_foreign)
{
    const struct node_view view = { slot->node, g->c->strings };
    const char *text = intern_text(g->c->strings, slot->node->claim);
    *ret_foreign = text != NULL;
    if (!text)
        return marks_closed(&view) ? &given_up : NULL;
    struct claim *claim = arena_alloc(g->a, sizeof *claim);
    if (!claim_parse(text, claim, NULL) || !str_eq(claim->policy, g->c->policy.uid))
        return NULL;
    *ret_foreign = false;
    return claim;
}

/* Pods that would keep the node from being drained: as the drain will see them, as long as jobs are waited for. */
static void count_pods(const struct gathering *g, const struct node_slot *slot, struct rollout_node *n)
{
    for (const struct pod *p = slot->pods; p; p = p->next_on_node)
        n->busy += p->gpus > 0 && !p->deleting && p->running;
    if (!n->claim && str_eq(n->driver, n->target_driver))
        return;
    struct drain d;
    drain_look(&(struct drain_input){ .pods = slot->pods, .strings = g->c->strings, .spec = &g->c->rollout.drain }, g->a, &d);
    n->jobs = (unsigned) d.stuck;
}

/* What it should run in the end: what it runs now, where it gets its target without a claim, or where what it takes is not there yet. */
static void take_target(const struct gathering *g, const struct node_summary *s, struct rollout_node *n)
{
    n->target_driver = n->driver;
    n->target_stack = n->stack;
    bool assigned = n->claim || *n->stack;
    if (!assigned || !s->target_stack || !cluster_record_of(g->c, "stack", s->target_stack->hash))
        return;
    if (s->target_driver && !cluster_record_of(g->c, "driver", s->target_driver->hash))
        return;
    n->target_driver = s->target_driver ? s->target_driver->hash : "";
    n->target_stack = s->target_stack->hash;
}

static bool is_set(const struct node_view *view, const char *label)
{
    const char *value = node_label(view, label);
    return value && !str_eq(value, "false");
}

static bool gave_up(const struct gathering *g, const struct node_slot *slot, const struct rollout_node *n)
{
    const char *target = arena_printf(g->a, "%s/%s", n->target_driver, n->target_stack);
    return str_eq(intern_text(g->c->strings, slot->node->gave_up), target);
}

static void add_node(struct gathering *g, const struct node_slot *slot)
{
    const struct node_view view = { slot->node, g->c->strings };
    const struct node_summary *s = &slot->summary;
    const char *key = g->c->rollout.topology_key;
    bool foreign;
    struct rollout_node n = {
        .name = slot->name,
        .pool = s->pool,
        .driver = str_or_empty(node_label(&view, LABEL_DRIVER)),
        .stack = str_or_empty(node_label(&view, LABEL_STACK)),
        .claim = claim_of(g, slot, &foreign),
        .domain = str_or_empty(key ? node_label(&view, key) : NULL),
        .gpus = (unsigned) slot->node->gpus,
        .up = slot->node->ready,
        .cordoned = slot->node->cordoned,
        .held = foreign || is_set(&view, LABEL_HOLD),
        .runs_ostler = str_eq(slot->name, g->c->o.node_name),
    };
    if (n.claim && n.claim->gpus > n.gpus)
        n.gpus = n.claim->gpus;
    take_target(g, s, &n);
    n.gave_up = gave_up(g, slot, &n);
    n.settled = s->state == NODE_READY && !n.claim && !s->outdated;
    count_pods(g, slot, &n);
    g->slots[g->count] = slot;
    g->nodes[g->count++] = n;
}

/* Nodes that the policy serves, or would if they were up. */
static bool is_served(const struct node_slot *slot)
{
    return slot->node && !slot->node->deleting && slot->summary.counted &&
           (node_state_served(slot->summary.state) || slot->summary.state == NODE_LOST);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct node_slot *const *) a)->name, (*(const struct node_slot *const *) b)->name);
}

/* In the order of their names, so that equal facts give equal decisions. */
static void gather_nodes(struct gathering *g)
{
    size_t cursor = 0, n = 0;
    const struct map_entry *e;
    CLEANUP_FREE const struct node_slot **all = xcalloc(g->c->slots.len, sizeof *all);
    while ((e = map_next(&g->c->slots, &cursor)))
        if (is_served(e->value))
            all[n++] = e->value;
    qsort(all, n, sizeof *all, by_name);
    g->nodes = arena_alloc(g->a, n * sizeof *g->nodes);
    g->slots = arena_alloc(g->a, n * sizeof *g->slots);
    for (size_t i = 0; i < n; i++)
        add_node(g, all[i]);
}

/* ---- revisions */

static struct rollout_revision revision_of(const struct child *record, const struct policy *policy, size_t pool)
{
    const char *name = policy->pools[pool].name;
    return (struct rollout_revision){
        .hash = record->revision,
        .pool = pool,
        .canary_s = record_time_s(record, ANNOTATION_CANARY, name),
        .wave_s = record_wave_s(record, name),
        .forgiven_s = record_time_s(record, ANNOTATION_RETRIED, name),
        .failed = record_has_failed(record, name),
        .known_good = record_time_s(record, ANNOTATION_COMPLETED, name) > 0,
    };
}

static const struct rollout_revision *gather_revisions(const struct gathering *g, size_t *ret_count)
{
    const struct map *records = &g->c->tables[RESOURCE_REVISION].records;
    struct rollout_revision *all = arena_alloc(g->a, records->len * g->c->policy.pools_len * sizeof *all);
    size_t cursor = 0, n = 0;
    const struct map_entry *e;
    while ((e = map_next(records, &cursor))) {
        const struct child *record = e->value;
        for (size_t i = 0; record->revision && child_is_ours(record) && i < g->c->policy.pools_len; i++)
            all[n++] = revision_of(record, &g->c->policy, i);
    }
    *ret_count = n;
    return all;
}

static const char *const *pool_names(const struct gathering *g)
{
    const char **names = arena_alloc(g->a, g->c->policy.pools_len * sizeof *names);
    for (size_t i = 0; i < g->c->policy.pools_len; i++)
        names[i] = g->c->policy.pools[i].name;
    return names;
}

/* ---- the pass */

static void plan_grants(const struct gathering *g, const struct rollout_decision *d, int64_t now_s, struct plan *plan)
{
    struct claimant by = { .policy = g->c->policy.uid, .generation = object_generation(g->c->object), .now_s = now_s };
    plan->keep_going = true;
    for (size_t i = 0; i < d->grant_count; i++) {
        const struct node_slot *slot = g->slots[d->grants[i].node - g->nodes];
        struct node_view view = { slot->node, g->c->strings };
        grant_plan(&d->grants[i], &view, &by, slot->summary.back, plan);
    }
}

static void forget(struct reconcilers *r)
{
    if (!r->rollout.known)
        return;
    rollout_report_clear(&r->rollout);
    r->policy(r->arg, false);
}

void rollout_reconcile(void *arg, const char *key, struct plan *plan)
{
    (void) key;
    struct reconcilers *r = arg;
    const struct cluster *c = r->cluster;
    int64_t again_ms;
    plan->epoch = c->epoch;
    if (cluster_stance(c, &again_ms) != STANCE_MANAGE || !object_has_finalizer(c->object, POLICY_FINALIZER)) {
        forget(r);
        return;
    }
    /* Until every node has been looked at under this policy, nobody knows what they are to run. */
    if (c->pending)
        return;
    CLEANUP_ARENA struct arena a = { 0 };
    struct gathering g = { .c = c, .a = &a };
    struct rollout_decision d;
    struct rollout_input in = { .spec = &c->rollout, .now_s = clock_wall_us(c->o.clock) / 1000000,
                                .approved = object_annotation(c->object, POLICY_APPROVED) };
    gather_nodes(&g);
    in.nodes = g.nodes;
    in.node_count = g.count;
    in.revisions = gather_revisions(&g, &in.revision_count);
    in.pool_names = pool_names(&g);
    rollout_decide(&in, &a, &d);
    if (rollout_report_take(&r->rollout, &d, in.pool_names))
        r->policy(r->arg, d.note_count > 0);
    /* What the records must say is said first. */
    if (!d.note_count)
        plan_grants(&g, &d, in.now_s, plan);
    if (d.again_s)
        plan_requeue(plan, d.again_s > in.now_s ? (d.again_s - in.now_s) * 1000 : 1000);
}
