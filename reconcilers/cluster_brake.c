#include "reconcilers/cluster_brake.h"

#include "base/str.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/model/names.h"

/* A node counts as a GPU node from this age on, so that nodes of an autoscaler do not move the
 * limit at once; how long a count of all nodes holds. */
enum { KNOWN_S = 600, COUNT_MS = 60 * 1000 };

static bool is_served(enum node_state state)
{
    return node_state_served(state) || state == NODE_LOST;
}

/* Whether Ostler serves the node. Before its first pass, the marks of an earlier Ostler say so. */
static bool is_ours(const struct node_slot *slot)
{
    return slot->summary.counted ? is_served(slot->summary.state) : cluster_bears_ours(slot->node);
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

static void enqueue_unhealthy(const struct cluster *c)
{
    for (size_t i = 0; i < c->brake.unhealthy.len; i++)
        c->o.listener.node(c->o.listener.arg, c->brake.unhealthy.nodes[i].name);
}

static void judge(struct cluster *c)
{
    struct cluster_brake *b = &c->brake;
    bool was_on = b->now.on, acts = c->policy_valid && c->health.mode != HEALTH_MODE_OBSERVE;
    b->now = (struct brake_verdict){ 0 };
    if (acts && b->unhealthy.len)
        brake_judge(&b->unhealthy, &c->health.brake, gpu_nodes(c), cluster_now_s(c), &b->now);
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
    return slot->unhealthy_s && brake_holds(&c->brake.unhealthy, &c->brake.now,
                                            (struct brake_node){ slot->name, slot->unhealthy_s });
}

/* ---- which nodes are unhealthy */

/* `since_s`: 0: it is not unhealthy. Returns whether that is news. */
static bool set_since(struct cluster *c, struct node_slot *slot, int64_t since_s)
{
    if (slot->unhealthy_s == since_s)
        return false;
    if (slot->unhealthy_s)
        brake_list_remove(&c->brake.unhealthy,
                          (struct brake_node){ slot->name, slot->unhealthy_s });
    slot->unhealthy_s = since_s;
    if (since_s)
        brake_list_add(&c->brake.unhealthy, (struct brake_node){ slot->name, since_s });
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
    const struct node_view view = { slot->node, c->strings };
    return str_eq(node_label(&view, LABEL_HEALTH), HEALTH_IGNORE);
}

static bool look(struct cluster *c, struct node_slot *slot, const struct health_input *health)
{
    if (!health || !is_ours(slot) || is_ignored(c, slot) || health_level_of(health) < HEALTH_CLOSE)
        return set_since(c, slot, 0);
    return !slot->unhealthy_s && set_since(c, slot, began_s(slot, health));
}

/* The first decision rests on all nodes, in whatever order they get their passes. */
static bool look_at_all(struct cluster *c)
{
    bool news = false;
    struct health_input health;
    c->brake.looked = true;
    for (size_t i = 0; i < c->slots.len; i++) {
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
    bool news = !c->brake.looked && look_at_all(c);
    if (look(c, slot, health) || news)
        tell(c);
}

void cluster_brake_decided(struct cluster *c, struct node_slot *slot, enum node_state state)
{
    bool served = slot->summary.counted && is_served(slot->summary.state);
    if (!served && is_served(state))
        slot->served_s = c->looked_through ? cluster_now_s(c) : 0;
    if (!is_served(state))
        cluster_brake_forget(c, slot);
}

void cluster_brake_forget(struct cluster *c, struct node_slot *slot)
{
    if (set_since(c, slot, 0))
        tell(c);
}
