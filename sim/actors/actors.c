#include "sim/actors/actors.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "sim/actors/actor.h"

/* In the order of enum actor_bit. */
static const struct actor *const everybody[ACTOR_COUNT] = {
    &daemonset_actor, &scheduler_actor,  &kubelet_actor,    &node_lifecycle_actor,
    &collector_actor, &job_actor,        &replicaset_actor, &disruption_actor,
    &person_actor,    &autoscaler_actor, &labeller_actor,   &other_operator_actor,
    &gitops_actor,    &events_actor,
};

/* Defaults for zero latencies. */
static const struct spec_latencies usual = {
    .controller = { 10, 50 },
    .scheduler = { 5, 30 },
    .kubelet = { 20, 200 },
    .collector = { 50, 500 },
    .pull = { 1000, 8000 },
    .start = { 200, 900 },
    .stop = { 100, 1500 },
    .driver_build = { 60000, 240000 },
    .toolkit = { 6000, 15000 },
    .plugin = { 1000, 3000 },
    .device_update = { 1000, 10000 },
    .node_grace_ms = 50000,
};

static void fill_latencies(struct spec_latencies *l)
{
    const struct {
        struct spec_delay *to;
        struct spec_delay from;
    } rows[] = {
        { &l->controller, usual.controller },
        { &l->scheduler, usual.scheduler },
        { &l->kubelet, usual.kubelet },
        { &l->collector, usual.collector },
        { &l->pull, usual.pull },
        { &l->start, usual.start },
        { &l->ready, usual.ready },
        { &l->stop, usual.stop },
        { &l->driver_build, usual.driver_build },
        { &l->toolkit, usual.toolkit },
        { &l->plugin, usual.plugin },
        { &l->device_update, usual.device_update },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].to->high_ms == 0)
            *rows[i].to = rows[i].from;
    if (l->node_grace_ms == 0)
        l->node_grace_ms = usual.node_grace_ms;
}

static void actors_tell(void *arg, const struct api_commit *c)
{
    struct actors *a = arg;
    /* First, because all others query it. */
    index_commit(a->index, c);
    for (size_t i = 0; i < ACTOR_COUNT; i++)
        if (a->selves[i])
            everybody[i]->commit(a->selves[i], c);
}

/* Reports existing objects to the actors as commits. */
static void tell_what_is_there(struct actors *a)
{
    for (size_t k = 0; k < kind_count(); k++)
        for (size_t i = 0; i < api_count(a->api, kind_at(k)); i++)
            actors_tell(a, &(struct api_commit){ .rv = api_rv(a->api),
                                                 .kind = kind_at(k),
                                                 .after = api_at(a->api, kind_at(k), i),
                                                 .user = "",
                                                 .subresource = "" });
}

static void make_objects(struct actors *a, const struct actors_options *options)
{
    size_t i;
    json_t *object;
    json_array_foreach (a->world.objects, i, object) {
        CLEANUP_REFUSAL struct refusal refusal = { 0 };
        const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"),
                                       json_str_or_empty(object, "kind"));
        int rc = k ? api_create(a->api, "kubectl", k, object, &refusal)
                   : refuse_generic(&refusal, 404, "there is no such kind");
        if (rc < 0 && options->refused)
            options->refused(options->arg, object, &refusal);
    }
}

struct actors *actors_new(struct sim *sim, struct api *api, const struct actors_options *options)
{
    struct actors *a = xcalloc(1, sizeof *a);
    a->sim = sim;
    a->api = api;
    a->world = *options->world;
    a->done = options->done;
    a->arg = options->arg;
    fill_latencies(&a->world.latencies);
    a->kinds = (struct actor_kinds){
        .budget = kind_named("poddisruptionbudgets"),
        .configmap = kind_named("configmaps"),
        .daemonset = kind_named("daemonsets"),
        .deployment = kind_named("deployments"),
        .job = kind_named("jobs"),
        .node = kind_named("nodes"),
        .pod = kind_named("pods"),
        .replicaset = kind_named("replicasets"),
        .revision = kind_named("controllerrevisions"),
        .runtimeclass = kind_named("runtimeclasses"),
    };
    a->index = index_new();
    unsigned without = options->without | (options->events ? 0 : ACTOR_EVENTS);
    for (size_t i = 0; i < ACTOR_COUNT; i++)
        if (!(without & (1u << i)))
            a->selves[i] = everybody[i]->begin(a);
    tell_what_is_there(a);
    api_on_commit(api, actors_tell, a);
    make_objects(a, options);
    for (size_t i = 0; i < a->world.node_count; i++)
        kubelet_begin_node(a, &a->world.nodes[i]);
    return a;
}

void actors_free(struct actors *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < ACTOR_COUNT; i++)
        if (a->selves[i])
            everybody[i]->end(a->selves[i]);
    index_free(a->index);
    free(a);
}

void actors_set_images(struct actors *a, const struct spec_image *images, size_t count)
{
    a->world.images = images;
    a->world.image_count = count;
}

void actors_set_drivers(struct actors *a, const struct spec_driver *drivers, size_t count)
{
    a->world.drivers = drivers;
    a->world.driver_count = count;
}

void actors_set_programs(struct actors *a, const struct spec_program *programs, size_t count)
{
    a->world.programs = programs;
    a->world.program_count = count;
}

void actors_set_latencies(struct actors *a, const struct spec_latencies *latencies)
{
    a->world.latencies = *latencies;
    fill_latencies(&a->world.latencies);
}
