/* The cluster autoscaler: adds nodes for pods that wait for GPUs, and removes idle nodes. A node
 * that does not offer its GPUs yet counts as upcoming capacity. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/fit.h"
#include "sim/actors/kubelet.h"

#define USER "cluster-autoscaler"
#define DELETION_TAINT "ToBeDeletedByClusterAutoscaler"

enum {
    SCAN_MS = 10 * 1000,
    IDLE_MS = 10 * 60 * 1000,
    DRAIN_MS = 60 * 1000, /* from the taint to the removal of the node */
};

struct autoscaler {
    struct actors *a;
    const struct spec_autoscaler *spec;
    struct agenda scans; /* the scan for pending pods */
    struct agenda nodes; /* its own nodes that may be idle */
    struct agenda ends;  /* nodes to be removed */
    int made;
};

static const char *prefix_of(const struct autoscaler *s)
{
    return s->spec->prefix ? s->spec->prefix : s->spec->shape->name;
}

static bool is_own(const struct autoscaler *s, const char *node)
{
    const char *prefix = prefix_of(s);
    size_t len = strlen(prefix);
    return str_has_prefix(node, prefix) && node[len] == '-' && node[len + 1] &&
           strspn(node + len + 1, "0123456789") == strlen(node + len + 1);
}

/* A pod that fits only one node gains nothing from another node. */
static bool waits(const json_t *pod)
{
    const json_t *scheduled = condition_of(pod, "PodScheduled");
    return str_eq(json_str(scheduled, "reason"), "Unschedulable") && !object_is_deleting(pod) &&
           !*json_str_or_empty(pod, "spec.nodeName") &&
           !fit_pinned_node(json_object_get(pod, "spec")) && pod_devices(pod, RESOURCE_GPU) > 0;
}

static void autoscaler_commit(void *self, const struct api_commit *c)
{
    struct autoscaler *s = self;
    const json_t *any = c->after ? c->after : c->before;
    if (c->kind == s->a->kinds.node && c->after && !c->before && is_own(s, object_name(any)))
        agenda_note(&s->nodes, object_name(any));
    if (c->kind != s->a->kinds.pod)
        return;
    const char *node = json_str_or_empty(any, "spec.nodeName");
    if (c->after && waits(c->after))
        agenda_note(&s->scans, "");
    if (*node && is_own(s, node) &&
        (!c->after || (pod_is_finished(c->after) && !pod_is_finished(c->before))))
        agenda_note(&s->nodes, node);
}

/* ---- scale up */

/* GPUs of its own nodes that are not allocatable yet. */
static int64_t coming_gpus(const struct autoscaler *s, int *ret_nodes)
{
    const struct kubelet *k = s->a->selves[ACTOR_PLACE_KUBELET];
    int64_t coming = 0;
    *ret_nodes = 0;
    for (int i = 1; i <= s->made; i++) {
        CLEANUP_FREE char *name = xasprintf("%s-%d", prefix_of(s), i);
        if (!k || !map_get(&k->machines, name))
            continue;
        ++*ret_nodes;
        const json_t *node = api_get(s->a->api, s->a->kinds.node, "", name);
        const char *there = node ? json_key(json_at(node, "status.allocatable"), RESOURCE_GPU)
                                 : NULL;
        coming += !there || str_eq(there, "0") ? s->spec->shape->gpus : 0;
    }
    return coming;
}

static int64_t wanted_gpus(const struct autoscaler *s)
{
    int64_t wanted = 0;
    for (size_t i = 0; i < api_count(s->a->api, s->a->kinds.pod); i++) {
        const json_t *pod = api_at(s->a->api, s->a->kinds.pod, i);
        wanted += waits(pod) ? pod_devices(pod, RESOURCE_GPU) : 0;
    }
    return wanted;
}

static void scan(void *self, const char *key)
{
    struct autoscaler *s = self;
    int nodes;
    int64_t missing = wanted_gpus(s), gpus = s->spec->shape->gpus;
    if (missing == 0 || gpus <= 0)
        return;
    missing -= coming_gpus(s, &nodes);
    for (; missing > 0 && nodes < s->spec->max; missing -= gpus, nodes++) {
        CLEANUP_FREE char *name = xasprintf("%s-%d", prefix_of(s), ++s->made);
        kubelet_add_node(s->a, &(struct spec_node){ .name = name, .shape = s->spec->shape }, false);
    }
    /* Checks pods that still wait again, as long as more nodes are possible. */
    if (missing > 0 && nodes > 0)
        agenda_after(&s->scans, key, IDLE_MS);
}

/* ---- scale down */

/* Whether only pods of DaemonSets run there. */
static bool is_idle(const struct autoscaler *s, const char *node)
{
    const struct index_set *pods = index_pods_on(s->a->index, node);
    for (size_t i = 0; i < pods->len; i++) {
        const json_t *pod = pods->items[i]->object, *controller = object_controller(pod);
        if (pods->items[i]->bound && !pod_is_finished(pod) &&
            !str_eq(json_str(controller, "kind"), "DaemonSet"))
            return false;
    }
    return true;
}

static void autoscaler_look_at_node(void *self, const char *name)
{
    struct autoscaler *s = self;
    const json_t *node = api_get(s->a->api, s->a->kinds.node, "", name);
    if (!node || fit_taint(node, DELETION_TAINT, NULL) || !is_idle(s, name))
        return;
    /* As core/scaledown/eligibility of the cluster autoscaler 1.34 reads it. */
    if (str_eq(object_annotation(node, "cluster-autoscaler.kubernetes.io/scale-down-disabled"),
               "true")) {
        agenda_note(&s->nodes, name);
        return;
    }
    json_t *taints = json_at(node, "spec.taints") ? json_copy(json_at(node, "spec.taints"))
                                                  : json_array();
    json_array_append_new(
        taints,
        json_pack("{s:s, s:o, s:s}", "key", DELETION_TAINT, "value",
                  json_textf("%lld", (long long) (clock_wall_us(&s->a->sim->clock) / 1000000)),
                  "effect", "NoSchedule"));
    node_set_spec(s->a, USER, node, json_pack("{s:o}", "taints", taints), NULL);
    agenda_after(&s->ends, name, DRAIN_MS);
}

static void end_node(void *self, const char *name)
{
    struct autoscaler *s = self;
    kubelet_remove_node(s->a, name);
}

static void autoscaler_begin(void *self)
{
    struct autoscaler *s = self;
    s->spec = &s->a->world.autoscaler;
    int64_t scan_ms = s->spec->scan_ms ? s->spec->scan_ms : SCAN_MS,
            idle_ms = s->spec->idle_ms ? s->spec->idle_ms : IDLE_MS;
    s->scans.delay = (struct spec_delay){ scan_ms, scan_ms };
    s->nodes.delay = (struct spec_delay){ idle_ms, idle_ms };
}

const struct actor autoscaler_actor = {
    .size = sizeof(struct autoscaler),
    .agendas = { AGENDA(struct autoscaler, scans, "autoscaler", controller, scan),
                 AGENDA(struct autoscaler, nodes, "autoscaler nodes", controller,
                        autoscaler_look_at_node),
                 AGENDA(struct autoscaler, ends, "autoscaler ends", controller, end_node) },
    .begin = autoscaler_begin,
    .commit = autoscaler_commit,
};
