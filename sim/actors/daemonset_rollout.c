/* RollingUpdate: replaces pods of older templates, a few at a time. */
#include "sim/actors/daemonset.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

/* A node's state in a rollout. */
struct stand {
    /* its pods of the current and of an older template that are not being deleted */
    const json_t *fresh, *old;
    bool unclear; /* more than one of either */
};

static const json_t *rolling(const struct daemon *d, const char *field)
{
    return json_object_get(json_at(d->object, "spec.updateStrategy.rollingUpdate"), field);
}

bool daemon_surges(const struct daemon *d)
{
    return str_eq(json_str(d->object, "spec.updateStrategy.type"), "RollingUpdate") &&
           scaled_value(rolling(d, "maxSurge"), 100, true, 0) > 0;
}

static struct stand stand_of(const struct daemon *d, const char *node)
{
    struct stand s = { 0 };
    CLEANUP_JSON json_t *pods = daemon_pods_on(d, node);
    JSON_EACH (pod, pods) {
        const json_t **place = daemon_pod_is_updated(d, pod) ? &s.fresh : &s.old;
        if (object_is_deleting(pod))
            continue;
        s.unclear = s.unclear || *place;
        *place = pod;
    }
    return s;
}

static bool is_available(const struct daemon *d, const json_t *pod)
{
    return pod_is_available(d->a, pod, json_int(d->object, "spec.minReadySeconds", 0), NULL);
}

/* Chosen pods or nodes; those that need no budget come first. */
struct chosen {
    const void **items;
    size_t len, sure;
};

static void daemonset_rollout_choose(struct chosen *c, const void *item, bool sure)
{
    c->items[c->len++] = item;
    if (!sure)
        return;
    const void *other = c->items[c->sure];
    c->items[c->sure++] = item;
    if (c->sure < c->len)
        c->items[c->len - 1] = other;
}

static size_t daemonset_rollout_take(const struct chosen *c, int64_t room)
{
    int64_t more = (int64_t) (c->len - c->sure);
    more = room < more ? room : more;
    return c->sure + (size_t) (more > 0 ? more : 0);
}

/* All nodes with pods of the set, by name. */
static size_t nodes_in_order(const struct daemon *d, const struct daemon_node ***ret)
{
    const struct kind *k = d->a->kinds.node;
    *ret = xcalloc(api_count(d->a->api, k) + 1, sizeof **ret);
    size_t len = 0;
    for (size_t i = 0; i < api_count(d->a->api, k); i++) {
        const struct daemon_node *n = map_get(&d->nodes, object_name(api_at(d->a->api, k, i)));
        if (n && n->sum.current + n->sum.misscheduled > 0)
            (*ret)[len++] = n;
    }
    return len;
}

/* Deletes old pods within maxUnavailable, in which each node without an available pod counts. */
static void daemonset_rollout_replace(struct daemon *d, const struct daemon_node **nodes,
                                      size_t len, int64_t max_unavailable)
{
    struct chosen c = { .items = xcalloc(len + 1, sizeof *c.items) };
    int64_t unavailable = 0;
    for (size_t i = 0; i < len; i++) {
        struct stand s = stand_of(d, nodes[i]->name);
        if (s.unclear || !s.fresh == !s.old)
            unavailable++;
        else if (s.fresh)
            unavailable += !is_available(d, s.fresh);
        else if (is_available(d, s.old))
            daemonset_rollout_choose(&c, s.old, false);
        else {
            daemonset_rollout_choose(&c, s.old, true);
            unavailable++;
        }
    }
    size_t count = daemonset_rollout_take(&c, max_unavailable - unavailable);
    for (size_t i = 0; i < count; i++)
        daemon_delete_pod(d, c.items[i]);
    free(c.items);
}

/* Creates new pods beside old ones, and deletes old ones once the new ones are available. */
static void surge(struct daemon *d, const struct daemon_node **nodes, size_t len, int64_t max_surge)
{
    struct chosen c = { .items = xcalloc(len + 1, sizeof *c.items) };
    int64_t surging = 0;
    for (size_t i = 0; i < len; i++) {
        struct stand s = stand_of(d, nodes[i]->name);
        if (s.unclear || (s.old && s.fresh && !is_available(d, s.fresh)))
            surging++;
        else if (s.old && !s.fresh)
            daemonset_rollout_choose(&c, nodes[i]->name, !is_available(d, s.old));
        else if (s.old)
            daemon_delete_pod(d, s.old);
    }
    size_t count = daemonset_rollout_take(&c, max_surge - surging);
    for (size_t i = 0; i < count; i++)
        daemon_create_pod(d, c.items[i]);
    free(c.items);
}

void daemon_roll(struct daemon *d)
{
    if (d->sum.outdated == 0)
        return;
    const struct daemon_node **nodes;
    size_t len = nodes_in_order(d, &nodes);
    int64_t max_unavailable = scaled_value(rolling(d, "maxUnavailable"), d->sum.desired, true, 1);
    int64_t max_surge = scaled_value(rolling(d, "maxSurge"), d->sum.desired, true, 0);
    if (max_unavailable == 0 && max_surge == 0)
        max_unavailable = 1;
    if (max_surge > 0)
        surge(d, nodes, len, max_surge);
    else
        daemonset_rollout_replace(d, nodes, len, max_unavailable);
    free(nodes);
}
