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
    &gitops_actor,    &events_actor,     &gpu_faults_actor, &kured_actor,
};

/* Defaults for zero latencies. */
#define USUAL(member, low, high)                                                                   \
    {                                                                                              \
        offsetof(struct spec_latencies, member),                                                   \
        {                                                                                          \
            low, high                                                                              \
        }                                                                                          \
    }

static const struct {
    size_t place;
    struct spec_delay delay;
} usual[] = {
    USUAL(controller, 10, 50),
    USUAL(scheduler, 5, 30),
    USUAL(kubelet, 20, 200),
    USUAL(collector, 50, 500),
    USUAL(pull, 1000, 8000),
    USUAL(start, 200, 900),
    USUAL(stop, 100, 1500),
    USUAL(driver_build, 60000, 240000),
    USUAL(toolkit, 6000, 15000),
    USUAL(plugin, 1000, 3000),
    USUAL(device_update, 1000, 10000),
};

enum { NODE_GRACE_MS = 50000 };

static void fill_latencies(struct spec_latencies *l)
{
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        struct spec_delay *delay = (void *) ((char *) l + usual[i].place);
        if (delay->high_ms == 0)
            *delay = usual[i].delay;
    }
    if (l->node_grace_ms == 0)
        l->node_grace_ms = NODE_GRACE_MS;
}

static void actors_report(void *arg, const struct api_commit *c)
{
    struct actors *a = arg;
    /* First, because all others query it. */
    index_commit(a->index, c);
    for (size_t i = 0; i < ACTOR_COUNT; i++)
        if (a->selves[i] && everybody[i]->commit)
            everybody[i]->commit(a->selves[i], c);
}

/* Reports existing objects to the actors as commits. */
static void report_existing(struct actors *a)
{
    for (size_t k = 0; k < kind_count(); k++)
        for (size_t i = 0; i < api_count(a->api, kind_at(k)); i++)
            actors_report(a, &(struct api_commit){ .rv = api_rv(a->api),
                                                   .kind = kind_at(k),
                                                   .after = api_at(a->api, kind_at(k), i),
                                                   .user = "",
                                                   .subresource = "" });
}

static void make_objects(struct actors *a, const struct actors_options *options)
{
    JSON_EACH (object, a->world.objects) {
        CLEANUP_REFUSAL struct refusal refusal = { 0 };
        const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"),
                                       json_str_or_empty(object, "kind"));
        int rc = k ? api_create(a->api, "kubectl", k, object, &refusal)
                   : refuse_generic(&refusal, 404, "there is no such kind");
        if (rc < 0 && options->refused)
            options->refused(options->arg, object, &refusal);
    }
}

/* Actors that the world does not have, as bits. */
static unsigned absent(const struct spec_world *w)
{
    return (w->autoscaler.shape ? 0 : ACTOR_AUTOSCALER) | (w->labeller ? 0 : ACTOR_LABELLER) |
           (w->other_operator.name ? 0 : ACTOR_OTHER_OPERATOR) |
           (w->gitops.object ? 0 : ACTOR_GITOPS) | (spec_has_faults(w) ? 0 : ACTOR_GPU_FAULTS) |
           (w->kured.after.high_ms ? 0 : ACTOR_KURED);
}

static void *actor_new(struct actors *a, const struct actor *actor)
{
    void *self = xcalloc(1, actor->size);
    *(struct actors **) self = a;
    for (const struct actor_agenda *g = actor->agendas; g->purpose; g++) {
        const struct spec_delay *delay = (const void *) ((const char *) &a->world.latencies +
                                                         g->delay);
        agenda_init((void *) ((char *) self + g->place), a->sim, g->purpose, *delay, g->look, self);
    }
    if (actor->begin)
        actor->begin(self);
    return self;
}

static void actor_free(void *self, const struct actor *actor)
{
    for (const struct actor_agenda *g = actor->agendas; self && g->purpose; g++)
        agenda_clear((void *) ((char *) self + g->place));
    if (self && actor->end)
        actor->end(self);
    free(self);
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
    unsigned without = options->without | absent(&a->world) | (options->events ? 0 : ACTOR_EVENTS);
    for (size_t i = 0; i < ACTOR_COUNT; i++)
        if (!(without & (1u << i)))
            a->selves[i] = actor_new(a, everybody[i]);
    report_existing(a);
    api_on_commit(api, actors_report, a);
    make_objects(a, options);
    for (size_t i = 0; i < a->world.node_count; i++)
        kubelet_add_node(a, &a->world.nodes[i], true);
    return a;
}

void actors_free(struct actors *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < ACTOR_COUNT; i++)
        actor_free(a->selves[i], everybody[i]);
    index_free(a->index);
    free(a);
}

void actors_change(struct actors *a, const struct spec_change *c)
{
    struct spec_world *w = &a->world;
    if (c->images) {
        w->images = c->images;
        w->image_count = c->image_count;
    }
    if (c->drivers) {
        w->drivers = c->drivers;
        w->driver_count = c->driver_count;
    }
    if (c->programs) {
        w->programs = c->programs;
        w->program_count = c->program_count;
    }
}

void actors_set_latencies(struct actors *a, const struct spec_latencies *latencies)
{
    a->world.latencies = *latencies;
    fill_latencies(&a->world.latencies);
}
