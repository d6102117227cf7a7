#include "simulated_world.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"

/* Images of what stands for users' pods: a job ends when jobs do, all else runs on. */
#define IMAGE_JOB "simulated/job:1"
#define IMAGE_SERVICE "simulated/service:1"
/* By which the pods of one owner are known. */
#define LABEL_OWNER "simulated-owner"
#define USER "snapshot"

/* ---- machines */

/* GPUs that the node has, also while its driver is off. */
static int gpus_of(const struct cluster *c, const struct node *node)
{
    struct claim claim;
    const char *text = intern_text(c->strings, node->claim);
    bool claimed = text && claim_parse(text, &claim, NULL);
    return claimed && (int) claim.gpus > node->gpus ? (int) claim.gpus : node->gpus;
}

static struct spec_shape shape_of(const struct cluster *c, const struct node_slot *slot)
{
    const struct node *n = slot->node;
    const struct node_view view = { n, c->strings };
    bool own_driver = !node_label(&view, LABEL_DRIVER) && node_label(&view, LABEL_STACK);
    bool own_toolkit = c->policy_valid && !json_bool(c->policy.spec, "toolkit.enabled", true);
    return (struct spec_shape){
        .name = slot->name,
        .os_image = intern_text(c->strings, n->os_image),
        .kernel = intern_text(c->strings, n->kernel),
        .architecture = intern_text(c->strings, n->architecture),
        .runtime = intern_text(c->strings, n->runtime),
        .kubelet = intern_text(c->strings, n->kubelet),
        .gpus = gpus_of(c, n),
        .host_driver = own_driver ? "host" : NULL,
        .host_toolkit = own_toolkit,
    };
}

/* Nodes that are down have no machine: they stay as they are. Those that Ostler does not serve are left out. */
static bool has_machine(const struct node_slot *slot)
{
    return slot->node && slot->node->ready && slot->summary.counted && node_state_served(slot->summary.state);
}

static void make_machines(struct simulated_world *w)
{
    const struct map *slots = &w->cluster->slots;
    size_t cursor = 0;
    const struct map_entry *e;
    w->nodes = xcalloc(slots->len, sizeof *w->nodes);
    w->shapes = xcalloc(slots->len, sizeof *w->shapes);
    while ((e = map_next(slots, &cursor))) {
        const struct node_slot *slot = e->value;
        if (!has_machine(slot))
            continue;
        size_t i = w->world.node_count++;
        w->shapes[i] = shape_of(w->cluster, slot);
        w->nodes[i] = (struct spec_node){ .name = slot->name, .shape = &w->shapes[i] };
    }
}

void simulated_world_make(const struct cluster *c, const json_t *objects, const struct options *o, struct simulated_world *ret)
{
    *ret = (struct simulated_world){ .cluster = c, .objects = objects };
    make_machines(ret);
    ret->program = (struct spec_program){ .image = IMAGE_JOB, .run = { o->jobs_end_after_ms, o->jobs_end_after_ms } };
    ret->world.nodes = ret->nodes;
    ret->world.programs = &ret->program;
    ret->world.program_count = 1;
}

void simulated_world_clear(struct simulated_world *w)
{
    free(w->nodes);
    free(w->shapes);
}

/* ---- what is there before */

/* Whether an object is one of a node that is served, or one that nodes' revisions rest on. */
static bool is_restored(const struct simulated_world *w, const json_t *object)
{
    const char *kind = json_str_or_empty(object, "kind");
    if (!str_eq(kind, "Node"))
        return str_eq(kind, "ControllerRevision") || str_eq(kind, "ConfigMap") || str_eq(kind, "PodDisruptionBudget");
    const struct node_slot *slot = map_get(&w->cluster->slots, object_name(object));
    return slot && slot->summary.counted && (node_state_served(slot->summary.state) || slot->summary.state == NODE_LOST);
}

static bool is_there(struct api *api, const struct kind *k, const json_t *object)
{
    return api_get(api, k, object_namespace(object), object_name(object)) != NULL;
}

void simulated_world_restore(const struct simulated_world *w, struct api *api)
{
    size_t i;
    json_t *object;
    json_array_foreach (w->objects, i, object) {
        const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"), json_str_or_empty(object, "kind"));
        if (k && is_restored(w, object) && !is_there(api, k, object))
            api_restore(api, k, object);
    }
}

/* ---- pods */

/* The record of a pod that runs on a machine and goes on running; NULL: it does not. */
static const struct pod *pod_record(const struct simulated_world *w, const json_t *object)
{
    CLEANUP_FREE char *key = table_key(object);
    const struct pod *p = str_eq(json_str(object, "kind"), "Pod")
                              ? (const struct pod *) table_get(&w->cluster->tables[RESOURCE_POD], key)
                              : NULL;
    const char *node = p ? intern_text(w->cluster->strings, p->node) : NULL;
    const struct node_slot *slot = node ? map_get(&w->cluster->slots, node) : NULL;
    return slot && has_machine(slot) && !p->deleting ? p : NULL;
}

static json_t *containers_of(const struct pod *p)
{
    return json_pack("[{s:s, s:s, s:{s:{s:o}}}]", "name", "main", "image", p->ends ? IMAGE_JOB : IMAGE_SERVICE, "resources",
                     "limits", "nvidia.com/gpu", json_textf("%u", p->gpus));
}

static json_t *spec_of(const struct pod *p, const json_t *object)
{
    json_t *spec = json_pack("{s:o, s:s}", "containers", containers_of(p), "restartPolicy",
                             p->ends ? "Never" : "Always");
    const json_t *tolerations = json_at(object, "spec.tolerations");
    if (tolerations)
        json_object_set(spec, "tolerations", (json_t *) tolerations);
    if (p->scratch)
        json_object_set_new(spec, "volumes", json_pack("[{s:s, s:{}}]", "name", "scratch", "emptyDir"));
    return spec;
}

/* Whether somebody makes another one in its place wherever there is room. */
static bool is_made_again(const struct pod *p)
{
    return !p->ends && !p->bare && !p->daemon && !p->fixed;
}

static json_t *labels_of(const json_t *object, const char *owner)
{
    json_t *labels = json_deep_copy(json_at(object, "metadata.labels"));
    if (!labels)
        labels = json_object();
    json_object_set_new(labels, LABEL_OWNER, json_string(owner));
    return labels;
}

/* Who makes the pod again; there is one for each owner that the pods of a namespace have. Its uid is borrowed. */
static const char *owner_uid(struct api *api, const struct pod *p, const json_t *object, const char *owner)
{
    const struct kind *k = kind_named("replicasets");
    const char *ns = object_namespace(object);
    const json_t *there = api_get(api, k, ns, owner);
    if (!there) {
        CLEANUP_JSON json_t *set = json_pack("{s:{s:s, s:s}, s:{s:i, s:{s:{s:s}}, s:{s:{s:o}, s:o}}}", "metadata", "name", owner,
                                             "namespace", ns, "spec", "replicas", 0, "selector", "matchLabels", LABEL_OWNER,
                                             owner, "template", "metadata", "labels", labels_of(object, owner), "spec",
                                             spec_of(p, object));
        api_create(api, USER, k, set, NULL);
        there = api_get(api, k, ns, owner);
    }
    CLEANUP_JSON json_t *one_more = json_pack("{s:{s:I}}", "spec", "replicas",
                                              (json_int_t) json_int(there, "spec.replicas", 0) + 1);
    api_merge(api, USER, k, ns, owner, "", one_more, NULL);
    return object_uid(api_get(api, k, ns, owner));
}

static void add_namespace(struct api *api, const char *name)
{
    const struct kind *k = kind_named("namespaces");
    CLEANUP_JSON json_t *ns = json_pack("{s:{s:s}}", "metadata", "name", name);
    if (!api_get(api, k, "", name))
        api_create(api, USER, k, ns, NULL);
}

static json_t *owner_reference(struct api *api, const struct pod *p, const json_t *object)
{
    const json_t *owner = object_controller(object);
    const char *name = json_str_or_empty(owner, "name");
    if (is_made_again(p))
        return json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "apps/v1", "kind", "ReplicaSet", "name", name, "uid",
                         owner_uid(api, p, object, name), "controller", 1);
    return owner ? json_pack("[O]", owner) : json_array();
}

static void add_pod(struct api *api, const struct pod *p, const json_t *object)
{
    add_namespace(api, object_namespace(object));
    const char *owner = json_str_or_empty(object_controller(object), "name");
    json_t *spec = spec_of(p, object);
    json_object_set(spec, "nodeName", json_at(object, "spec.nodeName"));
    CLEANUP_JSON json_t *pod = json_pack("{s:{s:s, s:s, s:o, s:o}, s:o}", "metadata", "name", object_name(object), "namespace",
                                         object_namespace(object), "labels", labels_of(object, owner), "ownerReferences",
                                         owner_reference(api, p, object), "spec", spec);
    api_create(api, USER, kind_named("pods"), pod, NULL);
}

void simulated_world_add_pods(const struct simulated_world *w, struct api *api)
{
    size_t i;
    json_t *object;
    json_array_foreach (w->objects, i, object) {
        const struct pod *p = pod_record(w, object);
        if (p)
            add_pod(api, p, object);
    }
}
