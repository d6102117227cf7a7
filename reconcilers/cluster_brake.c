#include "reconcilers/cluster_brake.h"

#include "base/str.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/decide/closing_known.h"
#include "reconcilers/model/fault_record.h"
#include "reconcilers/model/names.h"

/* A node counts as a GPU node from this age on, so that nodes of an autoscaler do not move the
 * limit at once; how long a count of all nodes holds. */
enum { KNOWN_S = 600, COUNT_MS = 60 * 1000 };

/* Whether Ostler serves the node. Before its first pass, the marks of an earlier Ostler say so. */
static bool is_ours(const struct node_slot *slot)
{
    return slot->summary.counted ? node_state_taken(slot->summary.state)
                                 : cluster_bears_ours(slot->node);
}

/* ---- how many GPU nodes there are */

static bool is_known(const struct node_slot *slot, int64_t now_s)
{
    return slot->node && is_ours(slot) && now_s - slot->served_s >= KNOWN_S;
}

static size_t gpu_nodes(struct cluster *c)
{
    struct cluster_brake *b = &c->brake;
    int64_t now_ms = clock_mono_ms(c->o.clock), now_s = cluster_now_s(c);
    if (b->counted_ms && now_ms - b->counted_ms < COUNT_MS)
        return b->gpu_nodes;
    b->counted_ms = now_ms;
    b->gpu_nodes = 0;
    MAP_EACH (e, &c->slots)
        b->gpu_nodes += is_known(e->value, now_s);
    return b->gpu_nodes;
}

/* ---- the verdict */

/* Whether Ostler closes nodes. */
static bool acts(const struct cluster *c)
{
    return c->policy_valid && c->health.mode != HEALTH_MODE_OBSERVE;
}

static void enqueue_unhealthy(const struct cluster *c)
{
    for (size_t i = 0; i < c->brake.unhealthy.len; i++)
        c->o.listener.node(c->o.listener.arg, c->brake.unhealthy.nodes[i].name);
}

static void judge(struct cluster *c)
{
    struct cluster_brake *b = &c->brake;
    bool was_on = b->now.on;
    int64_t now_s = cluster_now_s(c);
    b->now = (struct brake_verdict){ 0 };
    brake_list_correct(&b->closings, now_s);
    if (acts(c) && b->closings.len) {
        brake_judge(&b->closings, &c->health.brake, gpu_nodes(c), now_s, &b->now);
        brake_list_drop(&b->closings, b->now.first);
        b->now.first = 0;
    }
    if (b->now.on == was_on)
        return;
    enqueue_unhealthy(c);
    c->o.listener.policy(c->o.listener.arg, true);
}

int64_t cluster_brake_review(struct cluster *c)
{
    judge(c);
    int64_t left_s = c->brake.now.until_s - cluster_now_s(c);
    return c->brake.now.on ? left_s * 1000 : 0;
}

bool cluster_brake_holds(const struct cluster *c, const struct node_slot *slot)
{
    const struct cluster_brake *b = &c->brake;
    if (slot->node->claim && !brake_list_has(&b->closings, slot->name))
        return brake_is_full(&b->closings, &b->now, &c->health.brake, cluster_now_s(c));
    return brake_holds(&b->closings, &b->now, slot->name);
}

/* ---- which nodes are unhealthy */

/* `since_s`: 0: it is healthy. Returns whether that is news. */
static bool set_since(struct cluster *c, struct node_slot *slot, int64_t since_s)
{
    if (slot->unhealthy_s == since_s)
        return false;
    brake_list_remove(&c->brake.unhealthy, slot->name);
    slot->unhealthy_s = since_s;
    if (since_s)
        brake_list_add(&c->brake.unhealthy, slot->name, since_s);
    return true;
}

/* Since when a node is unhealthy that was not so before. When this process sees it for the first
 * time, its report has the time that an earlier Ostler wrote. */
static int64_t began_s(const struct node_slot *slot, const struct health_input *health)
{
    const struct health_status *told = health->concluded;
    bool known = !slot->summary.counted && told && told->level >= HEALTH_CLOSE && told->since_s;
    return known && told->since_s < health->now_s ? told->since_s : health->now_s;
}

/* Whether a user wants nothing to be done about faults of the node. */
static bool is_ignored(const struct cluster *c, const struct node_slot *slot)
{
    const struct node_view view = cluster_view(c, slot->node);
    return node_ignores_faults(&view);
}

/* ---- which nodes are to be closed */

/* Whether the node would be closed now if the brake were off. Not while a user holds it or while it
 * is claimed: then it counts later. */
static bool closes(const struct cluster *c, const struct node_slot *slot,
                   const struct fault_record *r, const struct health_input *health)
{
    CLEANUP_ARENA struct arena a = { 0 };
    const struct node_view view = cluster_view(c, slot->node);
    const struct closing_input in = { .health = health, .record = *r, .boot = slot->node->boot };
    struct closing_known known;
    if (!acts(c) || slot->node->claim || node_is_held(&view) || fault_state_closes(r->state))
        return false;
    closing_know(&in, &a, &known);
    return closing_is_due(&in, &known);
}

/* A node counts once, as long as its first time does. */
static bool count_closing(struct cluster *c, const struct node_slot *slot, int64_t since_s)
{
    if (brake_list_has(&c->brake.closings, slot->name))
        return false;
    brake_list_add(&c->brake.closings, slot->name, since_s);
    return true;
}

/* Takes over what an earlier Ostler did. */
static bool count_record(struct cluster *c, struct node_slot *slot, const struct fault_record *r)
{
    bool counts = !slot->record_counted && !slot->summary.counted &&
                  (r->state == FAULT_CLOSED || r->state == FAULT_BRAKED);
    slot->record_counted = true;
    return counts && count_closing(c, slot, r->since_s);
}

static struct fault_record record_of(const struct cluster *c, const struct node_slot *slot)
{
    const struct node_view view = cluster_view(c, slot->node);
    struct fault_record r;
    fault_record_of(&view, &r);
    return r;
}

static bool look(struct cluster *c, struct node_slot *slot, const struct health_input *health)
{
    bool was = slot->closes;
    slot->closes = false;
    if (!is_ours(slot) || is_ignored(c, slot))
        return set_since(c, slot, 0);
    struct fault_record r = record_of(c, slot);
    bool news = count_record(c, slot, &r), asks = health && health_level_of(health) >= HEALTH_CLOSE;
    slot->closes = asks && closes(c, slot, &r, health);
    if (slot->closes && !was)
        news |= count_closing(c, slot, health->now_s);
    if (!asks && !fault_state_closes(r.state))
        return set_since(c, slot, 0) || news;
    if (slot->unhealthy_s)
        return news;
    return set_since(c, slot, asks ? began_s(slot, health) : r.since_s) || news;
}

/* The first decision rests on all nodes, in whatever order they get their passes, and so does the
 * first one of a policy that closes nodes. */
static bool look_at_all(struct cluster *c)
{
    struct cluster_brake *b = &c->brake;
    bool news = false, needed = !b->looked || (acts(c) && !b->acted);
    struct health_input health;
    b->looked = true;
    b->acted = acts(c);
    for (size_t i = 0; needed && i < c->slots.len; i++) {
        struct node_slot *slot = c->by_name[i];
        if (slot->node && cluster_health(c, slot, &health))
            news |= look(c, slot, &health);
    }
    return news;
}

static void tell(struct cluster *c)
{
    judge(c);
    c->o.listener.policy(c->o.listener.arg, false);
}

void cluster_brake_look(struct cluster *c, struct node_slot *slot,
                        const struct health_input *health)
{
    bool news = look_at_all(c);
    if (look(c, slot, health) || news)
        tell(c);
}

/* Whether the decision ends the node's claim and closes it for a fault, for the first time. */
static bool closes_at_release(const struct cluster *c, const struct node_slot *slot,
                              enum node_state state)
{
    const struct fault_record r = record_of(c, slot);
    return acts(c) && slot->node->claim && state == NODE_UNHEALTHY && !fault_state_closes(r.state);
}

void cluster_brake_decided(struct cluster *c, struct node_slot *slot, enum node_state state)
{
    if (closes_at_release(c, slot, state) && count_closing(c, slot, cluster_now_s(c)))
        tell(c);
    bool served = slot->summary.counted && node_state_taken(slot->summary.state);
    if (!served && node_state_taken(state))
        slot->served_s = c->looked_through ? cluster_now_s(c) : 0;
    if (!node_state_taken(state))
        cluster_brake_forget(c, slot);
}

void cluster_brake_forget(struct cluster *c, struct node_slot *slot)
{
    slot->closes = slot->record_counted = false;
    if (set_since(c, slot, 0))
        tell(c);
}
