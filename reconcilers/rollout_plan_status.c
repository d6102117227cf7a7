#include "reconcilers/rollout_plan_status.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"

enum {
    /* What the event loop can spare, some 25 ms: 400 nodes one at a time, or 5,000 in waves of
     * 100. */
    LOOKS = 400 * 1000,
    APART_S = 60, /* jobs come and go: minimum time between two plans */
};

/* ---- the plan, from the cluster state */

/* Whether GPU pods would have to leave it. */
static bool would_be_drained(const struct rollout_node *n)
{
    return assignment_drains(n->now, n->target) && !n->cordoned && !n->held && !n->gave_up;
}

/* The pods of each node that a drain now would concern. */
static struct drain *drains_of(const struct cluster *c, const struct rollout_gathering *g,
                               struct arena *a)
{
    struct drain *drains = arena_alloc(a, g->in.node_count * sizeof *drains);
    for (size_t i = 0; i < g->in.node_count; i++) {
        const struct claim *claim = g->in.nodes[i].claim;
        if (!would_be_drained(&g->in.nodes[i]))
            continue;
        drain_look(&(struct drain_input){ .pods = g->slots[i]->pods,
                                          .node_uid = RECORD_UID(&g->slots[i]->node->head),
                                          .strings = c->strings,
                                          .spec = &c->rollout.drain,
                                          .jobs_may_go = c->rollout.drain.wait_for_jobs_s == 0,
                                          .closed_s = claim ? drain_closed_s(claim) : 0,
                                          .now_s = g->in.now_s,
                                          .holders = cluster_holders(c, g->slots[i]) },
                   a, &drains[i]);
    }
    return drains;
}

/* The known problems of claimed nodes with an operand that does not come up. */
static const char **troubles_of(const struct rollout_gathering *g, struct arena *a)
{
    const char **troubles = arena_alloc(a, g->in.node_count * sizeof *troubles);
    for (size_t i = 0; i < g->in.node_count; i++) {
        const struct node_summary *s = &g->slots[i]->summary;
        bool failed = s->state == NODE_FAILED && s->failed;
        if (g->in.nodes[i].claim)
            troubles[i] = s->trouble   ? s->trouble
                          : s->refused ? s->refused
                          : failed     ? s->message
                                       : NULL;
    }
    return troubles;
}

json_t *rollout_plan(const struct cluster *c, const struct rollout_gathering *g,
                     const struct rollout_pace pace[static TIERS], size_t looks,
                     const struct rollout_plan_limits *limits,
                     const struct blocking_budgets *blocking)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_simulation simulation;
    rollout_simulate(&g->in, pace, looks, &a, &simulation);
    return rollout_plan_json(&(struct rollout_plan_input){ .rollout = &g->in,
                                                           .simulation = &simulation,
                                                           .pace = pace,
                                                           .drains = drains_of(c, g, &a),
                                                           .troubles = troubles_of(g, &a),
                                                           .blocking = blocking,
                                                           .strings = c->strings,
                                                           .limits = limits });
}

/* ---- pace */

/* A stand-in for a claim that a user removed has no policy. */
static bool is_under_way(const struct claim *c)
{
    return c && *c->policy && claim_phase_has_slot(c->phase);
}

/* Only a node whose start was seen can be measured. A retried node takes longer, so it is not. */
static void note_begin(struct rollout_plan_status *k, const struct rollout_grant *g, int64_t now_s)
{
    const struct rollout_node *n = g->node;
    if (g->kind != GRANT_CLAIM_WAITING && g->kind != GRANT_RETRY)
        json_object_set_new(
            k->under_way, n->name,
            json_pack("[I, i]", (json_int_t) now_s, assignment_changes_by(n->now, n->target)));
}

/* The first node of a new plan starts a new pace. */
static void add_pace(struct rollout_plan_status *k, enum tier tier, int64_t took_s,
                     const char *plan)
{
    struct rollout_pace *p = &k->pace[tier];
    if (*plan && !str_eq(k->pace_of, plan)) {
        memset(k->pace, 0, sizeof k->pace);
        memcpy(k->pace_of, plan, strlen(plan) + 1);
    }
    p->node_s = (p->node_s * (int64_t) p->nodes + took_s) / (int64_t) (p->nodes + 1);
    p->nodes++;
}

static void note_end(struct rollout_plan_status *k, const struct rollout_node *n, int64_t now_s,
                     const char *plan)
{
    const json_t *begun = json_object_get(k->under_way, n->name);
    int64_t took_s = now_s - json_integer_value(json_array_get(begun, 0));
    bool arrived = !n->claim && assignment_same(n->now, n->target);
    /* At least one second: a pace of 0 means that it is not known. */
    if (begun && arrived && took_s >= 0)
        add_pace(k, (enum tier) json_integer_value(json_array_get(begun, 1)), took_s ? took_s : 1,
                 plan);
    json_object_del(k->under_way, n->name);
}

static void take_pace(struct rollout_plan_status *k, const struct rollout_gathering *g,
                      const struct rollout_decision *d)
{
    for (size_t i = 0; i < g->in.node_count; i++)
        if (!is_under_way(g->in.nodes[i].claim))
            note_end(k, &g->in.nodes[i], g->in.now_s, d->plan_hash);
    /* If notes must be written first, the grants are made again later. */
    for (size_t i = 0; i < d->grant_count && !d->note_count; i++)
        note_begin(k, &d->grants[i], g->in.now_s);
}

/* ---- the plan of the status */

/* Times change even if nothing else does. */
static json_t *without_times(const json_t *plan)
{
    json_t *out = json_deep_copy(plan);
    json_object_del(out, "madeAt");
    json_object_del(out, "ends");
    json_object_del(out, "message"); /* apart from times, the other members repeat its content */
    JSON_EACH (wave, json_object_get(out, "waves")) {
        json_object_del(wave, "begins");
        json_object_del(wave, "notBefore");
    }
    return out;
}

static bool same_plan(const json_t *a, const json_t *b)
{
    CLEANUP_JSON json_t *x = without_times(a), *y = without_times(b);
    return json_equal(x, y);
}

/* Seconds until the plan's end time: 0 or less if it has passed, INT64_MAX if there is none. */
static int64_t left_of(const struct rollout_plan_status *k, const struct rollout_input *in)
{
    int64_t ends_us = clock_parse_rfc3339(json_str_or_empty(k->plan, "ends"));
    return ends_us < 0 ? INT64_MAX : ends_us / 1000000 - (in->now_s + in->set_s);
}

/* An unchanged plan whose end time has passed gets no new end time: that one would not hold either,
 * and each would cost a write. */
static bool rollout_plan_status_make(struct rollout_plan_status *k, const struct cluster *c,
                                     const struct rollout_gathering *g)
{
    json_t *plan = rollout_plan(c, g, k->pace, LOOKS, &rollout_plan_for_status, NULL);
    bool over = left_of(k, &g->in) <= 0, same = k->plan && plan && same_plan(k->plan, plan);
    k->made_s = g->in.now_s;
    k->generation = object_generation(c->object);
    if (same && !over) {
        json_decref(plan);
        return false;
    }
    if (same)
        json_object_del(plan, "ends");
    k->late = (over || k->late) && !json_object_get(plan, "ends");
    json_decref(k->plan);
    k->plan = plan;
    return true;
}

static bool rollout_plan_status_drop(struct rollout_plan_status *k)
{
    bool was = k->plan != NULL;
    json_decref(k->plan);
    k->plan = NULL;
    return was;
}

static bool is_another(const struct rollout_plan_status *k, const struct cluster *c,
                       const struct rollout_decision *d)
{
    return !k->plan || !str_eq(json_str(k->plan, "hash"), d->plan_hash) ||
           k->generation != object_generation(c->object);
}

static void rollout_plan_status_begin(struct rollout_plan_status *k, const struct cluster *c)
{
    const json_t *told = json_at(c->object, "status.rollout");
    const json_t *plan = json_object_get(told, "plan");
    k->begun = true;
    k->under_way = json_object();
    k->plan = json_is_object(plan) ? json_deep_copy(plan) : NULL;
    k->generation = json_int(json_object_get(c->object, "status"), "observedGeneration", -1);
    rollout_pace_parse(json_object_get(told, "pace"), k->pace);
}

/* Seconds until the next check: when the plan's end time comes, so that the status drops it. 0: not
 * needed. */
static int64_t look_again_s(const struct rollout_plan_status *k, const struct rollout_input *in)
{
    int64_t left_s = left_of(k, in);
    return left_s == INT64_MAX || left_s < 0 ? 0 : left_s;
}

/* While nodes are under way the plan stays, until it takes longer than planned. */
static bool is_followed(const struct rollout_plan_status *k, const struct rollout_input *in,
                        const struct rollout_decision *d)
{
    return (d->active || d->grant_count) && left_of(k, in) > 0 && !k->late;
}

bool rollout_plan_status_take(struct rollout_plan_status *k, const struct cluster *c,
                              const struct rollout_gathering *g, const struct rollout_decision *d,
                              int64_t *ret_again_s)
{
    *ret_again_s = 0;
    if (!k->begun)
        rollout_plan_status_begin(k, c);
    take_pace(k, g, d);
    if (!*d->plan_hash)
        return rollout_plan_status_drop(k);
    int64_t left_s = k->made_s && left_of(k, &g->in) > 0 ? k->made_s + APART_S - g->in.now_s : 0;
    bool another = is_another(k, c, d), followed = !another && is_followed(k, &g->in, d);
    bool made = (another || (!followed && left_s <= 0)) && rollout_plan_status_make(k, c, g);
    *ret_again_s = another || followed || left_s <= 0 ? look_again_s(k, &g->in) : left_s;
    return made;
}

void rollout_plan_status_clear(struct rollout_plan_status *k)
{
    json_decref(k->plan);
    json_decref(k->under_way);
    *k = (struct rollout_plan_status){ 0 };
}
