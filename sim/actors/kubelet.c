#include "sim/actors/kubelet.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/actors.h"

void kubelet_note(struct kubelet *k, const json_t *pod)
{
    CLEANUP_FREE char *key = xasprintf("%s %s/%s", object_uid(pod), object_namespace(pod),
                                       object_name(pod));
    agenda_note(&k->pods, key);
}

int64_t kubelet_draw(struct kubelet *k, struct spec_delay delay)
{
    return agenda_draw(&k->draws, delay);
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

static void kubelet_end(void *self)
{
    struct kubelet *k = self;
    const struct map_entry *first;
    while ((first = map_after(&k->machines, NULL)) != NULL)
        machine_free(first->value);
    map_clear(&k->machines);
    map_clear(&k->boxes);
}

const struct actor kubelet_actor = {
    .size = sizeof(struct kubelet),
    .agendas = { AGENDA(struct kubelet, draws, "kubelet", kubelet, NULL),
                 AGENDA(struct kubelet, pods, "kubelet pods", kubelet, kubelet_look_at_pod),
                 AGENDA(struct kubelet, nodes, "kubelet nodes", kubelet, kubelet_look_at_node) },
    .commit = kubelet_commit,
    .end = kubelet_end,
};

/* ---- actions on machines */

struct machine *machine_named(const struct actors *a, const char *name)
{
    const struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    return k && name ? map_get(&k->machines, name) : NULL;
}

const struct spec_shape *kubelet_shape(const struct actors *a, const char *node)
{
    const struct machine *m = machine_named(a, node);
    return m ? m->shape : NULL;
}

bool kubelet_is_silent(const struct actors *a, const char *node)
{
    const struct machine *m = machine_named(a, node);
    return m && !machine_talks(m);
}

void kubelet_add_node(struct actors *a, const struct spec_node *node, bool at_once)
{
    struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    if (k && !map_get(&k->machines, node->name))
        machine_on(machine_new(k, node->name, node->shape, node->labels), at_once);
}

void kubelet_remove_node(struct actors *a, const char *name)
{
    struct machine *m = machine_named(a, name);
    if (m)
        machine_free(m);
    api_delete(a->api, "cloud-controller-manager", a->kinds.node, "", name, NULL, -1, NULL);
}

static void switch_on(struct machine *m)
{
    machine_on(m, false);
}

static void restart_kubelet(struct machine *m)
{
    machine_cut_off(m);
    machine_rejoin(m);
}

static void take_gpus_out(struct machine *m)
{
    machine_set_gpus(m, 0);
}

static void put_gpus_in(struct machine *m)
{
    machine_set_gpus(m, m->shape->gpus);
}

static void (*const action_fns[SPEC_VERB_COUNT])(struct machine *m) = {
    [SPEC_REBOOT] = machine_reboot,       [SPEC_NODE_DOWN] = machine_off,
    [SPEC_NODE_UP] = switch_on,           [SPEC_NODE_CUT_OFF] = machine_cut_off,
    [SPEC_NODE_REJOIN] = machine_rejoin,  [SPEC_GPUS_OUT] = take_gpus_out,
    [SPEC_GPUS_IN] = put_gpus_in,         [SPEC_AGENT_SILENT] = agent_silence,
    [SPEC_AGENT_RESTART] = agent_restart, [SPEC_KUBELET_RESTART] = restart_kubelet,
};

/* ---- actions with a body */

static bool say(struct machine *m, const struct spec_action *action)
{
    agent_report(m, action->body);
    return true;
}

static bool break_gpu(struct machine *m, const struct spec_action *action)
{
    return gpus_fault(m, &action->fault);
}

/* The GPU that an action names; -1: all. */
static int gpu_of(const struct spec_action *action)
{
    return action->body ? action->fault.gpu : -1;
}

static bool reset_gpu(struct machine *m, const struct spec_action *action)
{
    gpus_reset(m, gpu_of(action));
    return true;
}

static bool replace_gpu(struct machine *m, const struct spec_action *action)
{
    gpus_replace(m, gpu_of(action));
    return true;
}

/* False: it cannot be done on this machine. */
static bool (*const body_fns[SPEC_VERB_COUNT])(struct machine *m, const struct spec_action *a) = {
    [SPEC_AGENT_SAYS] = say,
    [SPEC_GPU_FAULT] = break_gpu,
    [SPEC_GPU_RESET] = reset_gpu,
    [SPEC_GPU_REPLACE] = replace_gpu,
};

bool kubelet_do(const struct actors *a, const struct spec_action *action)
{
    struct machine *m = machine_named(a, action->name);
    if (m && body_fns[action->verb])
        return body_fns[action->verb](m, action);
    if (m)
        action_fns[action->verb](m);
    return m != NULL;
}

void kubelet_crash(const struct actors *a, const json_t *pod, int exit_code, const char *message)
{
    const struct kubelet *k = a->selves[ACTOR_PLACE_KUBELET];
    struct pod_box *p = k ? map_get(&k->boxes, object_uid(pod)) : NULL;
    for (size_t i = p ? p->init_count : 0; p && i < p->box_count; i++)
        box_end(&p->boxes[i], exit_code, message);
}

/* ---- the true state */

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
        .gpus = m->devices - gpus_withheld(m),
        .withheld = gpus_withheld(m),
        .faulty = __builtin_popcountll(gpus_faulty(m)),
        .faulty_gpus = gpus_faulty(m),
        .foreign = m->shape->host_plugin || has_foreign_plugin(m),
        .configured = m->handler && !m->shape->host_toolkit,
        .modules_unloaded = m->modules_unloaded,
        .unloads_under_use = m->unloads_under_use,
        .resets = m->resets,
        .reboots_asked = m->reboots_asked,
    };
    return true;
}

bool actors_has_image(const struct actors *a, const char *name, const char *image)
{
    const struct machine *m = machine_named(a, name);
    return m && machine_has_image(m, image);
}
