#include "reconcilers/rollout_gathering.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/decide/drain.h"
#include "reconcilers/decide/marks.h"
#include "reconcilers/decide/records.h"
#include "reconcilers/decide/retry.h"
#include "reconcilers/decide/upgrade_target.h"
#include "reconcilers/rollout_images.h"

/* Caches whether the record of a revision exists: most nodes want the same one. */
struct record_look {
    const char *hash; /* last one looked up; NULL: none */
    bool there;
};

/* State of one gathering. Everything lives in the arena or the cluster. */
struct gathering {
    const struct cluster *c;
    struct arena *a;
    struct rollout_node *nodes;
    struct node_slot **slots; /* of `nodes`, in their order */
    size_t count;
    struct record_look last[TIERS];
    bool early; /* some record is missing */
};

/* ---- nodes */

/* Stands for a claim that a user removed: the node holds its slot until its own pass has written
 * the result. */
static const struct claim given_up = { .kind = CLAIM_ROLLBACK, .phase = CLAIM_UNLOADING };

static struct claim *rollout_gathering_read_claim(const char *text)
{
    struct claim claim;
    if (!text || !claim_parse(text, &claim, NULL))
        return NULL;
    struct claim *copy = xcalloc(1, sizeof *copy);
    *copy = claim;
    return copy;
}

static struct assignment_ref read_labels(const struct node_view *view)
{
    struct assignment_ref now = node_assigned(view);
    for (enum tier t = 0; t < TIERS; t++)
        now.hash[t] = str_or_empty(now.hash[t]);
    return now;
}

static bool is_closed_for_a_fault(const struct node_view *view)
{
    const char *taints = intern_text(view->strings, view->node->taints);
    return taints && strstr(taints, TAINT_UNHEALTHY) && marks_have_taint(view, TAINT_UNHEALTHY);
}

/* Parsed once for as long as the node does not change, because most nodes do not between passes. */
static const struct node_reading *rollout_gathering_read_node(const struct gathering *g,
                                                              struct node_slot *slot)
{
    const struct node_view view = cluster_view(g->c, slot->node);
    if (!slot->read.done)
        slot->read = (struct node_reading){
            .done = true,
            .closed = marks_closed(&view),
            .unhealthy = is_closed_for_a_fault(&view),
            .held = node_is_held(&view),
            .assigned = read_labels(&view),
            .claim = rollout_gathering_read_claim(intern_text(g->c->strings, slot->node->claim)),
        };
    return &slot->read;
}

/* The node's claim; NULL: none of this policy's. `ret_foreign`: it has another policy's, which must
 * not be replaced. */
static const struct claim *claim_of(const struct gathering *g, const struct node_slot *slot,
                                    bool *ret_foreign)
{
    const struct node_reading *read = &slot->read;
    bool ours = read->claim && str_eq(read->claim->policy, g->c->policy.uid);
    *ret_foreign = slot->node->claim && !ours;
    if (!slot->node->claim && read->closed)
        return &given_up;
    return ours ? read->claim : NULL;
}

/* Counts the node's pods once for as long as they and the wanted state do not change. */
static void look_at_pods(const struct gathering *g, struct node_slot *slot, enum drain_mode mode)
{
    struct drain d;
    struct drain_spec spec = g->c->rollout.drain;
    spec.mode = mode;
    drain_look(&(struct drain_input){ .pods = slot->pods,
                                      .node_uid = RECORD_UID(&slot->node->head),
                                      .strings = g->c->strings,
                                      .spec = &spec,
                                      .holders = cluster_holders(g->c, slot) },
               g->a, &d);
    slot->busy = 0;
    for (const struct pod *p = slot->pods; p; p = p->next_on_node)
        slot->busy += p->gpus > 0 && !p->deleting && p->running;
    slot->idle = drain_is_done(&d);
    slot->jobs = (unsigned) d.stuck;
    slot->processes = (unsigned) d.host_count;
    slot->pods_epoch = g->c->epoch;
    slot->pods_mode = mode;
}

/* Which pods would have to leave. A claim of another kind does not become a repair before it
 * fails. */
static enum drain_mode mode_of(const struct gathering *g, const struct node_slot *slot,
                               const struct rollout_node *n)
{
    bool repairs = n->claim && n->claim->phase != CLAIM_FAILED ? claim_kinds[n->claim->kind].repairs
                                                               : n->repair != REPAIR_NOTHING;
    return repairs ? drain_mode_of_repair(&g->c->rollout.drain, &g->c->health,
                                          slot->summary.repair_first)
                   : g->c->rollout.drain.mode;
}

/* Counts pods that would block a drain, as the drain will see them, while it waits for jobs. */
static void count_pods(const struct gathering *g, struct node_slot *slot, struct rollout_node *n)
{
    enum drain_mode mode = mode_of(g, slot, n);
    if (slot->pods_epoch != g->c->epoch || slot->pods_mode != mode)
        look_at_pods(g, slot, mode);
    n->busy = slot->busy;
    n->idle = slot->idle;
    if (n->claim || n->repair != REPAIR_NOTHING || assignment_drains(n->now, n->target)) {
        n->jobs = slot->jobs;
        n->processes = slot->processes;
    }
}

/* Since when it is tainted without jobs. This is not stored, so it starts again after a restart. */
static int64_t free_since_s(const struct gathering *g, struct node_slot *slot,
                            const struct rollout_node *n)
{
    if (!n->claim || n->claim->phase != CLAIM_WAITING || n->jobs)
        slot->free_s = 0;
    else if (!slot->free_s)
        slot->free_s = cluster_now_s(g->c);
    return slot->free_s;
}

static bool is_recorded(struct gathering *g, enum tier tier, const char *hash)
{
    struct record_look *last = &g->last[tier];
    if (!str_eq(last->hash, hash))
        *last = (struct record_look){ .hash = hash,
                                      .there = cluster_record_of(g->c, tiers[tier].name, hash) };
    return last->there;
}

/* The target: what it runs now, if it gets its target without a claim or the target's record does
 * not exist yet. */
static void take_target(struct gathering *g, const struct node_summary *s, struct rollout_node *n)
{
    n->target = n->now;
    bool assigned = n->claim || *n->now.hash[TIER_STACK] || s->first != FIRST_NONE;
    if (!assigned || !s->of[TIER_STACK].target)
        return;
    for (enum tier t = 0; t < TIERS; t++)
        if (s->of[t].target && !is_recorded(g, t, s->of[t].target->hash)) {
            g->early = true;
            return;
        }
    for (enum tier t = 0; t < TIERS; t++)
        n->target.hash[t] = s->of[t].target ? s->of[t].target->hash : "";
}

/* The node's own pass removes the annotation when the policy wants something else. During a
 * rollback the node is not skipped yet. */
static bool gave_up(const struct gathering *g, const struct node_slot *slot,
                    const struct rollout_node *n)
{
    const char *text = intern_text(g->c->strings, slot->node->gave_up);
    return n->claim ? upgrade_names(text, n->target) : text != NULL;
}

/* Nodes that the policy serves, or would if they were up. */
static bool is_served(const struct node_slot *slot)
{
    return node_state_taken(slot->summary.state);
}

/* A node that leaves Ostler's management is under way until its own pass has written that: its
 * claim is removed with the stack. A node that is being removed is out of service until it is
 * gone. */
static bool takes_place(const struct gathering *g, struct node_slot *slot)
{
    bool foreign;
    if (!slot->node || !slot->summary.counted)
        return false;
    if (slot->node->leaving) {
        const struct node_reading *read = rollout_gathering_read_node(g, slot);
        return !assignment_is_empty(read->assigned) || claim_of(g, slot, &foreign);
    }
    if (is_served(slot))
        return true;
    const struct claim *claim = slot->node->claim && rollout_gathering_read_node(g, slot)
                                    ? claim_of(g, slot, &foreign)
                                    : NULL;
    return claim && claim->phase != CLAIM_FAILED;
}

static void add_node(struct gathering *g, struct node_slot *slot)
{
    const struct node_view view = cluster_view(g->c, slot->node);
    const struct node_reading *read = rollout_gathering_read_node(g, slot);
    const struct node_summary *s = &slot->summary;
    const char *key = g->c->rollout.topology_key;
    bool foreign;
    struct rollout_node n = {
        .name = slot->name,
        .pool = s->pool,
        .now = read->assigned,
        /* Set even before its record exists, so that the plan's hash is right from the start. */
        .policy_target = assignment_ref(&s->policy_target),
        .claim = claim_of(g, slot, &foreign),
        .domain = str_or_empty(key ? node_label(&view, key) : NULL),
        .gpus = (unsigned) slot->node->gpus,
        .up = slot->node->ready,
        .cordoned = slot->node->cordoned,
        .unhealthy = s->unhealthy || read->unhealthy,
        .held = foreign || read->held,
        .repair = s->repair,
        .repair_since_s = s->repair_since_s,
        .retarget_pending = s->retarget_pending,
        .let_go = slot->node->leaving || !is_served(slot),
        .leaving = slot->node->leaving,
        .runs_ostler = str_eq(slot->name, g->c->o.node_name),
        .fault = s->fault,
        .driver_s = slot->driver.boot == slot->node->boot ? slot->driver.made_s : 0,
    };
    if (n.claim && n.claim->gpus > n.gpus)
        n.gpus = n.claim->gpus;
    n.closed = foreign && read->closed;
    take_target(g, s, &n);
    n.gave_up = gave_up(g, slot, &n);
    n.settled = s->state == NODE_READY && !n.claim && !s->outdated;
    n.images = rollout_images(g->c, slot, &n);
    count_pods(g, slot, &n);
    n.free_s = free_since_s(g, slot, &n);
    g->slots[g->count] = slot;
    g->nodes[g->count++] = n;
}

/* Sorted by name, so that the same facts give the same decision. */
static void gather_nodes(struct gathering *g)
{
    size_t n = g->c->slots.len;
    g->nodes = arena_alloc(g->a, n * sizeof *g->nodes);
    g->slots = arena_alloc(g->a, n * sizeof *g->slots);
    for (size_t i = 0; i < n; i++)
        if (takes_place(g, g->c->by_name[i]))
            add_node(g, g->c->by_name[i]);
}

/* ---- revisions */

/* Whether another revision for the same hosts has the same title. */
static bool has_namesake(const struct map *records, const struct child *record, const char *tier)
{
    MAP_EACH (e, records) {
        const struct child *other = e->value;
        if (other != record && other->revision && child_is_ours(other) &&
            str_eq(json_str(other->inputs, "tier"), tier) &&
            revision_same_title(other->inputs, record->inputs, tier) &&
            revision_same_host(other->inputs, record->inputs))
            return true;
    }
    return false;
}

static const char *name_of(const struct gathering *g, const struct child *record)
{
    const char *tier = json_str_or_empty(record->inputs, "tier");
    return revision_name(g->a, record->inputs, tier, record->revision,
                         has_namesake(&g->c->tables[RESOURCE_REVISION].records, record, tier));
}

static struct rollout_revision rollout_gathering_revision_of(const struct child *record,
                                                             const struct policy *policy,
                                                             size_t pool)
{
    const char *name = policy->pools[pool].name;
    return (struct rollout_revision){
        .hash = record->revision,
        .failure = record_failure(record, name),
        .pool = pool,
        .canary_s = record_canary_s(record, name),
        .wave_s = record_wave_s(record, name),
        .forgiven_s = retry_answered_s(record, name),
        .failed = record_has_failed(record, name),
        .known_good = record_time_s(record, ANNOTATION_COMPLETED, name) > 0,
    };
}

static const struct rollout_revision *gather_revisions(const struct gathering *g, size_t *ret_count)
{
    const struct map *records = &g->c->tables[RESOURCE_REVISION].records;
    struct rollout_revision *all = arena_alloc(g->a,
                                               records->len * g->c->policy.pools_len * sizeof *all);
    size_t n = 0;
    MAP_EACH (e, records) {
        const struct child *record = e->value;
        if (!record->revision || !child_is_ours(record))
            continue;
        const char *name = name_of(g, record);
        for (size_t i = 0; i < g->c->policy.pools_len; i++) {
            all[n] = rollout_gathering_revision_of(record, &g->c->policy, i);
            all[n].retry = all[n].failed ? retry_value(record->annotations, record->revision, g->a)
                                         : NULL;
            all[n++].name = name;
        }
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

void rollout_gather(const struct cluster *c, struct arena *a, struct rollout_gathering *ret)
{
    struct gathering g = { .c = c, .a = a };
    gather_nodes(&g);
    *ret = (struct rollout_gathering){
        .in = { .spec = &c->rollout,
                .health = &c->health,
                .nodes = g.nodes,
                .node_count = g.count,
                .pool_names = pool_names(&g),
                .now_s = cluster_now_s(c),
                .set_s = cluster_wall_us(c) / 1000000 - cluster_now_s(c),
                .approved = object_annotation(c->object, POLICY_APPROVED) },
        .slots = g.slots,
        .early = g.early
    };
    ret->in.revisions = gather_revisions(&g, &ret->in.revision_count);
}
