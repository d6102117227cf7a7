/* Syncs one node of a DaemonSet: creates, deletes or replaces its pod. */
#include "sim/actors/daemonset.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/events.h"
#include "sim/actors/fit.h"

/* Backoff for the replacement of pods that fail at once; doubles each time. */
enum { BACKOFF_MIN_MS = 1000, BACKOFF_MAX_MS = 15 * 60 * 1000 };

void daemon_mark(struct daemon *d, const char *node)
{
    struct daemon_node *n = MAP_MAKE(struct daemon_node, name, &d->nodes, node);
    if (n->dirty)
        return;
    n->dirty = true;
    d->dirty = xgrow(d->dirty, d->dirty_len, &d->dirty_cap, sizeof *d->dirty);
    d->dirty[d->dirty_len++] = n;
}

/* Whether the set wants a pod on a node; `ret_may_stay`: an existing pod may stay even if not. */
static bool daemon_should_run(const struct daemon *d, const json_t *node, bool *ret_may_stay)
{
    *ret_may_stay = false;
    const char *only = json_str(d->spec, "nodeName");
    if (!node || (only && *only && !str_eq(only, object_name(node))) ||
        !fit_affinity(d->spec, node))
        return false;
    const json_t *allowed = json_object_get(d->spec, "tolerations"),
                 *taints = json_at(node, "spec.taints");
    *ret_may_stay = !fit_untolerated(allowed, taints, TAINT_NO_EXECUTE);
    return !fit_untolerated(allowed, taints, TAINT_NO_SCHEDULE | TAINT_NO_EXECUTE);
}

bool daemon_node_is_news(const struct daemon *d, const json_t *node)
{
    if (!d->spec)
        return true;
    const struct daemon_node *n = map_get(&d->nodes, object_name(node));
    bool may_stay, should_run = daemon_should_run(d, node, &may_stay);
    CLEANUP_JSON json_t *list = daemon_pods_on(d, object_name(node));
    size_t pods = json_array_size(list);
    return (should_run && (pods == 0 || !n || n->sum.desired == 0)) || (!may_stay && pods > 0);
}

bool daemon_pod_is_updated(const struct daemon *d, const json_t *pod)
{
    return str_eq(object_label(pod, LABEL_REVISION_HASH), d->hash);
}

/* Bound pods first, then the oldest. */
static int compare_pods(const void *x, const void *y)
{
    const json_t *a = *(json_t *const *) x, *b = *(json_t *const *) y;
    bool a_bound = *json_str_or_empty(a, "spec.nodeName"),
         b_bound = *json_str_or_empty(b, "spec.nodeName");
    return a_bound != b_bound ? b_bound - a_bound : pod_compare_age(a, b);
}

json_t *daemon_pods_on(const struct daemon *d, const char *node)
{
    const struct index_set *on = index_pods_on(d->a->index, node);
    CLEANUP_FREE json_t **pods = xcalloc(on->len + 1, sizeof *pods);
    size_t len = 0;
    for (size_t i = 0; i < on->len; i++) {
        json_t *pod = on->items[i]->object;
        if (str_eq(on->items[i]->controller, d->uid) &&
            !(pod_is_finished(pod) && object_is_deleting(pod)))
            pods[len++] = pod;
    }
    qsort(pods, len, sizeof *pods, compare_pods);
    json_t *list = json_array();
    for (size_t i = 0; i < len; i++)
        json_array_append(list, pods[i]);
    return list;
}

void daemon_delete_pod(struct daemon *d, const json_t *pod)
{
    d->acted = true;
    pod_delete(d->a, DAEMONSET_USER, pod, -1);
}

void daemon_create_pod(struct daemon *d, const char *node)
{
    d->acted = true;
    if (d->burst-- <= 0) {
        /* The next sync does the rest. */
        daemon_mark(d, node);
        d->again_at_ms = d->a->sim->now_ms;
        return;
    }
    CLEANUP_JSON json_t *pod = pod_of_template(d->a->kinds.daemonset, d->object,
                                               json_at(d->object, "spec.template"));
    json_t *labels = json_at(pod, "metadata.labels"), *spec = json_copy(d->spec);
    const char *generation = object_annotation(d->object,
                                               "deprecated.daemonset.template.generation");
    json_object_set_new(labels, LABEL_REVISION_HASH, json_string(d->hash));
    if (generation)
        json_object_set_new(labels, "pod-template-generation", json_string(generation));
    /* The node's name replaces the template's terms, which have already been checked. */
    json_t *affinity = json_object_get(spec, "affinity")
                           ? json_deep_copy(json_object_get(spec, "affinity"))
                           : json_object();
    json_set_at(affinity, "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                json_pack("{s:[{s:[{s:s, s:s, s:[s]}]}]}", "nodeSelectorTerms", "matchFields",
                          "key", "metadata.name", "operator", "In", "values", node));
    json_object_set_new(spec, "affinity", affinity);
    json_object_set_new(pod, "spec", spec);
    if (events_create_pod(d->a, DAEMONSET_USER, "daemonset-controller", d->object, pod) < 0) {
        daemon_mark(d, node);
        d->refused = true;
    }
}

/* Whether to delete a failed pod now, or later because of earlier failures there. */
static bool may_replace_failed(struct daemon *d, struct daemon_node *n)
{
    int64_t now = d->a->sim->now_ms;
    if (n->backoff_ms && now < n->backoff_since_ms + n->backoff_ms) {
        int64_t at = n->backoff_since_ms + n->backoff_ms;
        daemon_mark(d, n->name);
        if (d->again_at_ms < 0 || at < d->again_at_ms)
            d->again_at_ms = at;
        return false;
    }
    if (now - n->backoff_since_ms > 2 * BACKOFF_MAX_MS)
        n->backoff_ms = 0;
    n->backoff_ms = agenda_backoff(n->backoff_ms, BACKOFF_MIN_MS, BACKOFF_MAX_MS);
    n->backoff_since_ms = now;
    return true;
}

/* Deletes surplus pods of the sorted running ones. With a surge, one old and one new pod may
 * stay. */
static void prune(struct daemon *d, const json_t *running)
{
    json_t *newest = NULL, *oldest = NULL;
    bool surges = daemon_surges(d);
    JSON_EACH (pod, running) {
        json_t **place = surges && daemon_pod_is_updated(d, pod) ? &newest : &oldest;
        if (*place)
            daemon_delete_pod(d, pod);
        else
            *place = pod;
    }
    if (newest && oldest &&
        (!condition_is_true(oldest, "Ready") ||
         pod_is_available(d->a, newest, json_int(d->object, "spec.minReadySeconds", 0), NULL)))
        daemon_delete_pod(d, oldest);
}

/* For a node that may keep one pod: deletes finished and surplus ones. */
static void keep_one(struct daemon *d, struct daemon_node *n, const json_t *pods)
{
    CLEANUP_JSON json_t *running = json_array();
    JSON_EACH (pod, pods) {
        const char *phase = json_str_or_empty(pod, "status.phase");
        if (object_is_deleting(pod))
            continue;
        if (str_eq(phase, "Failed") ? may_replace_failed(d, n) : str_eq(phase, "Succeeded"))
            daemon_delete_pod(d, pod);
        else if (!pod_is_finished(pod))
            json_array_append(running, pod);
    }
    prune(d, running);
}

static struct daemon_sum daemonset_node_count(struct daemon *d, bool should_run, const json_t *pods)
{
    const json_t *first = json_array_get(pods, 0);
    struct daemon_sum s = { .desired = should_run, .misscheduled = !should_run && first };
    if (!should_run || !first)
        return s;
    int64_t at = -1;
    s.current = 1;
    s.ready = condition_is_true(first, "Ready");
    s.available = pod_is_available(d->a, first, json_int(d->object, "spec.minReadySeconds", 0),
                                   &at);
    s.updated = daemon_pod_is_updated(d, first);
    JSON_EACH (pod, pods)
        s.outdated |= !daemon_pod_is_updated(d, pod);
    if (at >= 0 && (d->again_at_ms < 0 || at < d->again_at_ms))
        d->again_at_ms = at;
    return s;
}

static void add_sum(struct daemon_sum *to, const struct daemon_sum *s, int sign)
{
    to->desired += sign * s->desired;
    to->current += sign * s->current;
    to->misscheduled += sign * s->misscheduled;
    to->ready += sign * s->ready;
    to->available += sign * s->available;
    to->updated += sign * s->updated;
    to->outdated += sign * s->outdated;
}

/* Deletes a node's pods. If the node is gone, only unbound ones: the pod garbage collector deletes
 * the others. */
static void drop_all(struct daemon *d, bool node_exists, const json_t *pods)
{
    JSON_EACH (pod, pods)
        if (!object_is_deleting(pod) && (node_exists || !*json_str_or_empty(pod, "spec.nodeName")))
            daemon_delete_pod(d, pod);
}

static void sync_node(struct daemon *d, struct daemon_node *n)
{
    const json_t *node = api_get(d->a->api, d->a->kinds.node, "", n->name);
    bool may_stay, should_run = daemon_should_run(d, node, &may_stay);
    CLEANUP_JSON json_t *pods = daemon_pods_on(d, n->name);
    add_sum(&d->sum, &n->sum, -1);
    n->sum = node ? daemonset_node_count(d, should_run, pods) : (struct daemon_sum){ 0 };
    add_sum(&d->sum, &n->sum, 1);
    if (n->sum.available < n->sum.ready)
        daemon_mark(d, n->name);
    if (should_run && json_array_size(pods) == 0)
        daemon_create_pod(d, n->name);
    else if (may_stay)
        keep_one(d, n, pods);
    else
        drop_all(d, node != NULL, pods);
}

void daemon_sync_nodes(struct daemon *d)
{
    /* Nodes marked meanwhile are for the next sync. */
    struct daemon_node **nodes = TAKE(d->dirty);
    size_t len = d->dirty_len;
    d->dirty_len = d->dirty_cap = 0;
    for (size_t i = 0; i < len; i++)
        nodes[i]->dirty = false;
    for (size_t i = 0; i < len; i++)
        sync_node(d, nodes[i]);
    free(nodes);
}
