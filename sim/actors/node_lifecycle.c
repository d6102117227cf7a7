/* The node lifecycle controller with its taint manager, and the pod garbage collector: silent nodes
 * become Unknown, conditions become taints, taints evict pods, and pods of deleted nodes are
 * deleted. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/fit.h"
#include "sim/actors/objects.h"

#define USER "system:serviceaccount:kube-system:node-controller"
#define COLLECTOR "system:serviceaccount:kube-system:pod-garbage-collector"
#define NOT_READY "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

/* Time before the pods of a deleted node are collected: a quarantine of 40 s, checked every 20
 * s. */
static const struct spec_delay quarantine = { 40000, 60000 };

struct node_lifecycle {
    struct actors *a;
    struct agenda silent; /* nodes that may have fallen silent */
    struct agenda nodes;  /* nodes whose taints may have to change */
    struct agenda pods;   /* pods that taints may evict */
    struct agenda evict;  /* pods to be evicted, unless their taints go first */
    struct agenda gone;   /* nodes that may be deleted */
};

/* ---- commits */

static void note_pods_of(struct node_lifecycle *l, const char *node)
{
    const struct index_set *pods = index_pods_on(l->a->index, node);
    for (size_t i = 0; i < pods->len; i++)
        if (pods->items[i]->bound)
            agenda_note_object(&l->pods, pods->items[i]->object);
}

static void note_node(struct node_lifecycle *l, const struct api_commit *c)
{
    if (!c->after) {
        agenda_after(&l->gone, object_name(c->before), agenda_draw(&l->gone, quarantine));
        return;
    }
    if (!c->before ||
        !json_equal(json_object_get(c->before, "spec"), json_object_get(c->after, "spec")) ||
        !json_equal(json_at(c->before, "status.conditions"),
                    json_at(c->after, "status.conditions")))
        agenda_note(&l->nodes, object_name(c->after));
    if (!json_equal(json_at(c->before, "spec.taints"), json_at(c->after, "spec.taints")))
        note_pods_of(l, object_name(c->after));
}

static void node_lifecycle_commit(void *self, const struct api_commit *c)
{
    struct node_lifecycle *l = self;
    if (c->kind == l->a->kinds.node) {
        note_node(l, c);
    } else if (c->kind == l->a->kinds.pod && c->after) {
        const char *node = json_str_or_empty(c->after, "spec.nodeName");
        bool is_new_there = *node && !*json_str_or_empty(c->before, "spec.nodeName");
        const json_t *object = is_new_there ? api_get(l->a->api, l->a->kinds.node, "", node) : NULL;
        if (is_new_there && !object)
            agenda_after(&l->gone, node, agenda_draw(&l->gone, quarantine));
        else if (is_new_there && json_array_size(json_at(object, "spec.taints")) > 0)
            agenda_note_object(&l->pods, c->after);
    }
}

void node_lifecycle_watch(struct actors *a, const char *node)
{
    struct node_lifecycle *l = a->selves[ACTOR_PLACE_NODE_LIFECYCLE];
    if (l)
        agenda_after(&l->silent, node, a->world.latencies.node_grace_ms);
}

/* ---- silence */

/* Pods of a node that is not ready are not ready either, whatever their kubelet last reported. */
static void mark_pods_not_ready(struct node_lifecycle *l, const char *node, const char *now)
{
    const struct index_set *pods = index_pods_on(l->a->index, node);
    for (size_t i = 0; i < pods->len; i++) {
        const json_t *pod = pods->items[i]->object;
        if (!pods->items[i]->bound || !condition_is_true(pod, "Ready"))
            continue;
        object_set_status(l->a, USER, l->a->kinds.pod, pod,
                          json_pack("{s:o}", "conditions",
                                    conditions_with(json_at(pod, "status.conditions"), "Ready",
                                                    "False", NULL, NULL, now)));
        pods = index_pods_on(l->a->index, node);
    }
}

static void look_at_silent(void *self, const char *name)
{
    static const char *const types[] = { "MemoryPressure", "DiskPressure", "PIDPressure", "Ready" };
    struct node_lifecycle *l = self;
    const json_t *node = api_get(l->a->api, l->a->kinds.node, "", name);
    if (!node || !kubelet_is_silent(l->a, name))
        return;
    char now[CLOCK_TEXT_MAX];
    actors_now(l->a, now);
    json_t *conditions = json_incref(json_at(node, "status.conditions"));
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        json_t *next = conditions_with(conditions, types[i], "Unknown", "NodeStatusUnknown",
                                       "Kubelet stopped posting node status.", now);
        json_decref(conditions);
        conditions = next;
    }
    object_set_status(l->a, USER, l->a->kinds.node, node,
                      json_pack("{s:o}", "conditions", conditions));
    mark_pods_not_ready(l, name, now);
}

/* ---- taints */

/* Taints that follow from a node's state. */
static const struct {
    const char *key, *effect;
    bool timed;
} own_taints[] = {
    { NOT_READY, "NoSchedule", false },     { NOT_READY, "NoExecute", true },
    { UNREACHABLE, "NoSchedule", false },   { UNREACHABLE, "NoExecute", true },
    { UNSCHEDULABLE, "NoSchedule", false },
};

static bool node_lifecycle_is_wanted(const json_t *node, const char *key)
{
    const char *ready = condition_status(json_at(node, "status.conditions"), "Ready");
    if (str_eq(key, UNSCHEDULABLE))
        return json_bool(node, "spec.unschedulable", false);
    return str_eq(ready, str_eq(key, NOT_READY) ? "False" : "Unknown");
}

static bool is_unwanted(const json_t *node, const json_t *taint)
{
    for (size_t i = 0; i < ARRAY_LEN(own_taints); i++)
        if (str_eq(json_str(taint, "key"), own_taints[i].key) &&
            str_eq(json_str(taint, "effect"), own_taints[i].effect))
            return !node_lifecycle_is_wanted(node, own_taints[i].key);
    return false;
}

static json_t *new_taint(const struct node_lifecycle *l, size_t row)
{
    json_t *taint = json_pack("{s:s, s:s}", "key", own_taints[row].key, "effect",
                              own_taints[row].effect);
    char now[CLOCK_TEXT_MAX];
    actors_now(l->a, now);
    if (own_taints[row].timed)
        json_object_set_new(taint, "timeAdded", json_string(now));
    return taint;
}

/* A node that has not reported yet gets no taint, because its state is unknown. */
static void node_lifecycle_look_at_node(void *self, const char *name)
{
    struct node_lifecycle *l = self;
    CLEANUP_JSON json_t *node = json_incref(api_get(l->a->api, l->a->kinds.node, "", name));
    if (!node)
        return;
    json_t *taints = json_array();
    bool differs = false;
    JSON_EACH (taint, json_at(node, "spec.taints")) {
        differs = differs || is_unwanted(node, taint);
        if (!is_unwanted(node, taint))
            json_array_append(taints, taint);
    }
    for (size_t row = 0; row < ARRAY_LEN(own_taints); row++) {
        if (!node_lifecycle_is_wanted(node, own_taints[row].key) ||
            fit_taint(node, own_taints[row].key, own_taints[row].effect))
            continue;
        differs = true;
        json_array_append_new(taints, new_taint(l, row));
    }
    if (differs)
        node_set_spec(l->a, USER, node, json_pack("{s:O}", "taints", taints), NULL);
    json_decref(taints);
}

/* ---- eviction by taint */

/* How long a pod tolerates a taint, in ms: INT64_MAX for ever, 0 not at all. */
static int64_t tolerated_ms(const json_t *pod, const json_t *taint)
{
    int64_t shortest = -1;
    JSON_EACH (toleration, json_at(pod, "spec.tolerations")) {
        if (!fit_tolerates(toleration, taint))
            continue;
        bool ends = json_object_get(toleration, "tolerationSeconds");
        int64_t ms = ends ? json_int(toleration, "tolerationSeconds", 0) * 1000 : INT64_MAX;
        ms = ms < 0 ? 0 : ms;
        shortest = shortest < 0 || ms < shortest ? ms : shortest;
    }
    return shortest < 0 ? 0 : shortest;
}

/* When the pod must leave its node; INT64_MAX: never. */
static int64_t leaves_at(const struct node_lifecycle *l, const json_t *pod, const json_t *node)
{
    int64_t at = INT64_MAX;
    JSON_EACH (taint, json_at(node, "spec.taints")) {
        int64_t stays = str_eq(json_str(taint, "effect"), "NoExecute") ? tolerated_ms(pod, taint)
                                                                       : INT64_MAX;
        if (stays == INT64_MAX)
            continue;
        int64_t added = actors_ms_of(l->a, json_str(taint, "timeAdded"));
        int64_t until = (added < 0 ? l->a->sim->now_ms : added) + stays;
        at = until < at ? until : at;
    }
    return at;
}

/* Writes the reason into the pod's status, then deletes the pod. */
static void disrupt(struct node_lifecycle *l, const char *user, json_t *pod, const char *phase,
                    const char *reason, const char *message, int grace_s)
{
    char now[CLOCK_TEXT_MAX];
    actors_now(l->a, now);
    CLEANUP_JSON json_t *held = json_incref(pod);
    json_t *status = json_pack("{s:o}", "conditions",
                               conditions_with(json_at(pod, "status.conditions"),
                                               "DisruptionTarget", "True", reason, message, now));
    if (phase)
        json_object_set_new(status, "phase", json_string(phase));
    object_set_status(l->a, user, l->a->kinds.pod, held, status);
    pod_delete(l->a, user, held, grace_s);
}

/* The pod of a key, and when it must leave its node; INT64_MAX: never. */
static json_t *pod_that_leaves(const struct node_lifecycle *l, const char *key, int64_t *ret_at)
{
    json_t *pod = object_of_key(l->a, l->a->kinds.pod, key);
    const json_t *node = pod ? api_get(l->a->api, l->a->kinds.node, "",
                                       json_str_or_empty(pod, "spec.nodeName"))
                             : NULL;
    *ret_at = node && !object_is_deleting(pod) ? leaves_at(l, pod, node) : INT64_MAX;
    return pod;
}

static void node_lifecycle_look_at_pod(void *self, const char *key)
{
    struct node_lifecycle *l = self;
    int64_t at;
    pod_that_leaves(l, key, &at);
    if (at == INT64_MAX)
        agenda_drop(&l->evict, key);
    else
        agenda_at(&l->evict, key, at);
}

static void node_lifecycle_evict(void *self, const char *key)
{
    struct node_lifecycle *l = self;
    int64_t at;
    json_t *pod = pod_that_leaves(l, key, &at);
    if (at < INT64_MAX)
        disrupt(l, USER, pod, NULL, "DeletionByTaintManager",
                "Taint manager: deleting due to NoExecute taint", -1);
}

/* ---- pods of deleted nodes */

static void look_at_gone(void *self, const char *name)
{
    struct node_lifecycle *l = self;
    if (api_get(l->a->api, l->a->kinds.node, "", name))
        return;
    CLEANUP_JSON json_t *pods = json_array();
    const struct index_set *set = index_pods_on(l->a->index, name);
    for (size_t i = 0; i < set->len; i++)
        if (set->items[i]->bound)
            json_array_append(pods, set->items[i]->object);
    JSON_EACH (pod, pods)
        disrupt(l, COLLECTOR, pod, pod_is_finished(pod) ? NULL : "Failed", "DeletionByPodGC",
                "PodGC: node no longer exists", 0);
}

const struct actor node_lifecycle_actor = {
    .size = sizeof(struct node_lifecycle),
    .agendas = { AGENDA(struct node_lifecycle, silent, "silent nodes", controller, look_at_silent),
                 AGENDA(struct node_lifecycle, nodes, "node taints", controller,
                        node_lifecycle_look_at_node),
                 AGENDA(struct node_lifecycle, pods, "taint evictions", controller,
                        node_lifecycle_look_at_pod),
                 AGENDA(struct node_lifecycle, evict, "evictions", controller,
                        node_lifecycle_evict),
                 AGENDA(struct node_lifecycle, gone, "gone nodes", controller, look_at_gone) },
    .commit = node_lifecycle_commit,
};
