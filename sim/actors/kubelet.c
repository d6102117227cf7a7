#include "sim/actors/kubelet.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

void kubelet_note(struct kubelet *k, const json_t *pod)
{
    CLEANUP_FREE char *key = xasprintf("%s %s/%s", object_uid(pod), object_namespace(pod),
                                       object_name(pod));
    agenda_note(&k->pods, key);
}

int64_t kubelet_draw(struct kubelet *k, struct spec_delay delay)
{
    return delay.high_ms > delay.low_ms ? rng_between(&k->rng, delay.low_ms, delay.high_ms)
                                        : delay.low_ms;
}

static struct machine *machine_of(const struct kubelet *k, const json_t *pod)
{
    const char *node = json_str(json_object_get(pod, "spec"), "nodeName");
    return node ? map_get(&k->machines, node) : NULL;
}

static void kubelet_commit(void *self, const struct api_commit *c)
{
    struct kubelet *k = self;
    const json_t *any = c->after ? c->after : c->before;
    if (c->kind == k->a->kinds.node && (!c->before || !c->after)) {
        agenda_note(&k->nodes, object_name(any));
        return;
    }
    /* The kubelet's own status writes need no sync, except a deletion. */
    bool own = c->after && str_eq(c->user, KUBELET_USER) && str_eq(c->subresource, "status");
    if (c->kind == k->a->kinds.pod && !own && machine_of(k, any))
        kubelet_note(k, any);
}

static void kubelet_look_at_pod(void *self, const char *agenda_text)
{
    struct kubelet *k = self;
    const char *key = strchr(agenda_text, ' ') + 1;
    CLEANUP_FREE char *uid = xstrndup(agenda_text, (size_t) (key - agenda_text) - 1);
    CLEANUP_JSON json_t *object = json_incref(object_of_key(k->a, k->a->kinds.pod, key));
    struct pod_box *p = map_get(&k->boxes, uid);
    bool is_it = object && str_eq(object_uid(object), uid);
    if (p && !p->machine->cut_off) {
        pod_box_sync(p, is_it ? object : NULL);
        return;
    }
    struct machine *m = is_it ? machine_of(k, object) : NULL;
    if (p || !m || !machine_talks(m) || pod_is_finished(object))
        return;
    p = pod_box_new(m, object);
    pod_note_status(p);
    pod_box_sync(p, object);
}

static void kubelet_look_at_node(void *self, const char *name)
{
    struct kubelet *k = self;
    struct machine *m = map_get(&k->machines, name);
    if (!api_get(k->a->api, k->a->kinds.node, "", name))
        return;
    if (!m && k->a->world.others)
        machine_on(machine_new(k, name, k->a->world.others, NULL), true);
    else if (m && m->up)
        node_post_ready(m);
}

void kubelet_begin_node(struct actors *a, const struct spec_node *node)
{
    struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    if (k && !map_get(&k->machines, node->name))
        machine_on(machine_new(k, node->name, node->shape, node->labels), true);
}

const struct spec_shape *kubelet_shape(const struct actors *a, const char *node)
{
    const struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    const struct machine *m = k ? map_get(&k->machines, node) : NULL;
    return m ? m->shape : NULL;
}

bool kubelet_is_silent(const struct actors *a, const char *node)
{
    const struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    const struct machine *m = k ? map_get(&k->machines, node) : NULL;
    return m && !machine_talks(m);
}

static void *kubelet_begin(struct actors *a)
{
    struct kubelet *k = xcalloc(1, sizeof *k);
    k->a = a;
    k->rng = rng_fork(&a->sim->rng, "kubelet");
    agenda_init(&k->pods, a->sim, "kubelet pods", a->world.latencies.kubelet, kubelet_look_at_pod,
                k);
    agenda_init(&k->nodes, a->sim, "kubelet nodes", a->world.latencies.kubelet,
                kubelet_look_at_node, k);
    return k;
}

static void kubelet_end(void *self)
{
    struct kubelet *k = self;
    agenda_clear(&k->pods);
    agenda_clear(&k->nodes);
    size_t cursor = 0;
    const struct map_entry *entry;
    while ((entry = map_next(&k->machines, &cursor)) != NULL) {
        machine_free(entry->value);
        cursor = 0;
    }
    map_clear(&k->machines);
    map_clear(&k->boxes);
    free(k);
}

const struct actor kubelet_actor = { kubelet_begin, kubelet_commit, kubelet_end };

/* ---- hooks */

static struct machine *machine_named(const struct actors *a, const char *name)
{
    const struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    return k ? map_get(&k->machines, name) : NULL;
}

void actors_node_add(struct actors *a, const char *name, const struct spec_shape *shape)
{
    struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    if (k && !map_get(&k->machines, name))
        machine_on(machine_new(k, name, shape, NULL), false);
}

void actors_node_remove(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_free(m);
    api_delete(a->api, "cloud-controller-manager", a->kinds.node, "", name, NULL, -1, NULL);
}

void actors_node_down(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_off(m);
}

void actors_node_up(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_on(m, false);
}

void actors_node_cut_off(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_cut_off(m);
}

void actors_node_rejoin(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_rejoin(m);
}

void actors_kubelet_restart(struct actors *a, const char *name)
{
    actors_node_cut_off(a, name);
    actors_node_rejoin(a, name);
}

void actors_node_reboot(struct actors *a, const char *name)
{
    actors_node_down(a, name);
    actors_node_up(a, name);
}

void actors_pod_crash(struct actors *a, const char *ns, const char *name, int exit_code,
                      const char *message)
{
    const struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    const json_t *pod = api_get(a->api, a->kinds.pod, ns, name);
    struct pod_box *p = k && pod ? map_get(&k->boxes, object_uid(pod)) : NULL;
    for (size_t i = p ? p->init_count : 0; p && i < p->box_count; i++)
        box_end(&p->boxes[i], exit_code, message);
}

void actors_gpus_out(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_set_gpus(m, 0);
}

void actors_gpus_in(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_set_gpus(m, m->shape->gpus);
}

void actors_agent_says(struct actors *a, const char *name, const json_t *patch)
{
    struct machine *m = machine_named(a, name);
    if (m)
        agent_tell(m, patch);
}

void actors_agent_silent(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        agent_silence(m);
}

void actors_agent_restart(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        agent_restart(m);
}

static bool has_foreign_plugin(const struct machine *m)
{
    for (size_t i = 0; i < m->pod_count; i++)
        for (size_t k = 0; k < m->pods[i]->box_count; k++)
            if (operand_is_foreign_plugin(&m->pods[i]->boxes[k]))
                return true;
    return false;
}

bool actors_machine(const struct actors *a, const char *name, struct actors_machine *ret)
{
    const struct machine *m = machine_named(a, name);
    if (!m)
        return false;
    *ret = (struct actors_machine){
        .up = m->up,
        .boots = m->boots,
        .module = m->module,
        .digest = m->digest,
        .module_users = m->users,
        .built_in = m->gpus,
        .seen = agent_sees(m),
        .lies = json_object_size(m->agent_says) > 0,
        .gpus = m->devices,
        .foreign = m->shape->host_plugin || has_foreign_plugin(m),
        .configured = m->handler && !m->shape->host_toolkit,
        .modules_unloaded = m->modules_unloaded,
        .unloads_under_use = m->unloads_under_use,
    };
    return true;
}

bool actors_has_image(const struct actors *a, const char *name, const char *image)
{
    const struct machine *m = machine_named(a, name);
    return m && machine_has_image(m, image);
}
