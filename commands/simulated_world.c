#include "commands/simulated_world.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "base/vendor.h"
#include "kube/object.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/proof.h"
#include "reconcilers/targets_sources.h"
#include "commands/snapshot.h"

/* ---- machines */

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The node's GPUs. If its driver is off or it has just booted, those that its claim or last
 * validation records; if unknown, one. */
static int simulated_world_gpus_of(const struct cluster *c, const struct node *node)
{
    struct claim claim;
    struct proof proof;
    const char *claimed = intern_text(c->strings, node->claim),
               *proven = intern_text(c->strings, node->proof);
    int gpus = node->gpus;
    if (claimed && claim_parse(claimed, &claim, NULL))
        gpus = larger(gpus, (int) claim.gpus);
    if (!gpus && proven && proof_parse(proven, &proof))
        gpus = (int) proof.gpus;
    return larger(gpus, 1);
}

/* The resource of which the node has most (without any GPU now, one that its kubelet knows), and
 * the others as {name: number}, NULL: none. New reference. */
static json_t *devices_of(const struct simulated_world *w, const struct node_slot *slot,
                          const char **ret_first)
{
    CLEANUP_FREE char *key = snapshot_key("Node", slot->name);
    const json_t *node = json_object_get(w->objects, key);
    CLEANUP_JSON json_t *devices = json_object();
    int64_t most = 0;
    *ret_first = NULL;
    JSON_EACH_MEMBER (name, value, json_at(node, "status.allocatable")) {
        int64_t n;
        if (!vendor_of_resource(name) ||
            !str_parse_int(str_or_empty(json_string_value(value)), 0, INT32_MAX, &n))
            continue;
        if (n)
            json_object_set_new(devices, name, json_integer(n));
        if (n > most || !*ret_first)
            *ret_first = name;
        most = n > most ? n : most;
    }
    if (json_object_size(devices) < 2)
        return NULL;
    json_object_del(devices, *ret_first);
    return json_incref(devices);
}

/* The sum of the other resources. */
static int sum_of(const json_t *devices)
{
    int64_t sum = 0;
    JSON_EACH_MEMBER (name, number, devices)
        sum += json_integer_value(number);
    return (int) sum;
}

/* Whether the host has its own driver: Ostler has none there and will not install one. */
static bool brings_driver(const struct node_slot *slot, const struct node_view *view)
{
    bool to_come = slot->summary.of[TIER_DRIVER].target || !slot->summary.of[TIER_STACK].target;
    return !node_label(view, LABEL_DRIVER) && (node_label(view, LABEL_STACK) || !to_come);
}

/* Whether the host has its own toolkit: what the node runs, or will run, contains none. */
static bool brings_toolkit(const struct cluster *c, const struct node_slot *slot,
                           const struct node_view *view)
{
    const json_t *spec = targets_spec(cluster_targets((struct cluster *) c), slot->summary.pool);
    const char *stack = node_label(view, LABEL_STACK);
    const json_t *inputs = stack ? cluster_record((void *) c, TIER_STACK, stack) : NULL;
    return toolkit_wish_of(spec) == TOOLKIT_OF_HOST || !json_bool(inputs, "toolkit.enabled", true);
}

static struct spec_shape shape_of(struct simulated_world *w, const struct node_slot *slot)
{
    const struct cluster *c = w->cluster;
    const struct node *n = slot->node;
    const struct node_view view = { n, c->strings, NULL };
    const char *resource;
    json_t *more = devices_of(w, slot, &resource);
    if (more)
        json_array_append_new(w->devices, more);
    return (struct spec_shape){
        .name = slot->name,
        .os_image = intern_text(c->strings, n->os_image),
        .kernel = intern_text(c->strings, n->kernel),
        .architecture = intern_text(c->strings, n->architecture),
        .runtime = intern_text(c->strings, n->runtime),
        .kubelet = intern_text(c->strings, n->kubelet),
        .gpus = simulated_world_gpus_of(c, n) - sum_of(more),
        .resource = resource,
        .more = more,
        .host_driver = brings_driver(slot, &view) ? "host" : NULL,
        .host_toolkit = brings_toolkit(c, slot, &view),
    };
}

/* A node that is down stays down. A node that Ostler does not manage is not simulated. */
bool simulated_world_has_machine(const struct node_slot *slot)
{
    return slot->node && slot->node->ready && slot->summary.counted &&
           node_state_served(slot->summary.state);
}

static void make_machines(struct simulated_world *w)
{
    const struct map *slots = &w->cluster->slots;
    w->nodes = xcalloc(slots->len, sizeof *w->nodes);
    w->shapes = xcalloc(slots->len, sizeof *w->shapes);
    MAP_EACH (e, slots) {
        const struct node_slot *slot = e->value;
        if (!simulated_world_has_machine(slot))
            continue;
        size_t i = w->world.node_count++;
        w->shapes[i] = shape_of(w, slot);
        w->nodes[i] = (struct spec_node){ .name = slot->name, .shape = &w->shapes[i] };
    }
}

void simulated_world_make(const struct cluster *c, const json_t *objects, const struct options *o,
                          struct simulated_world *ret)
{
    *ret = (struct simulated_world){ .cluster = c, .objects = objects, .devices = json_array() };
    make_machines(ret);
    ret->program = (struct spec_program){ .image = SIMULATED_JOB,
                                          .run = { o->jobs_end_after_ms, o->jobs_end_after_ms } };
    ret->world.nodes = ret->nodes;
    ret->world.programs = &ret->program;
    ret->world.program_count = 1;
}

void simulated_world_clear(struct simulated_world *w)
{
    free(w->nodes);
    free(w->shapes);
    json_decref(w->devices);
}

/* ---- initial state */

/* Whether an object is a managed node, or needed for revisions or budgets. */
static bool is_restored(const struct simulated_world *w, const json_t *object)
{
    const char *kind = json_str_or_empty(object, "kind");
    if (!str_eq(kind, "Node"))
        return str_eq(kind, "ControllerRevision") || str_eq(kind, "ConfigMap") ||
               str_eq(kind, "PodDisruptionBudget");
    const struct node_slot *slot = map_get(&w->cluster->slots, object_name(object));
    return slot && slot->summary.counted && node_state_taken(slot->summary.state);
}

void simulated_world_restore(const struct simulated_world *w, struct api *api)
{
    JSON_EACH_MEMBER (key, object, w->objects) {
        const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"),
                                       json_str_or_empty(object, "kind"));
        if (k && is_restored(w, object) &&
            !api_get(api, k, object_namespace(object), object_name(object)))
            api_restore(api, k, object);
    }
}
