#include "commands/simulation.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/policy.h"
#include "sim/actors/actors.h"
#include "sim/api/builtin.h"
#include "sim/world/process.h"
#include "commands/simulated_world.h"
#include "commands/simulation_story.h"

#define USER "system:serviceaccount:ostler-system:ostler"
#define PERSON "planner"
#define NAMESPACE "ostler-system"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    STANDS_MS = 4 * MINUTE_MS, /* until then the snapshot's state is rebuilt */
    BEGINS_MS = 5 * MINUTE_MS, /* then the policy applies: this is the simulated present */
    /* Without progress for this time plus the policy's and the jobs' own waits, the rollout is
     * stuck. */
    QUIET_MS = 2 * 60 * MINUTE_MS,
    REPORTS_MS = 30 * SECOND_MS, /* reports follow changes of nodes a little later */
    LATENCY_MIN_MS = 1,
    LATENCY_MAX_MS = 5,
    INSTANT_MS = 50,
    DRIVER_TAKES_MS = 3 * MINUTE_MS,
    FORGET_MS = 2 * MINUTE_MS, /* by then every watch had a bookmark */
};

struct simulation {
    const struct options *o;
    const struct rollout_spec *spec;
    struct sim sim;
    struct api *api;
    struct simulated_world world;
    struct actors *actors;
    struct wire *wire;
    struct manifests *manifests;
    struct process *ostler;
    struct story *story;
    struct sim_event forgetting;
    uint64_t seen_rv; /* resourceVersion at the last compaction */
};

/* While the world is built, every step takes an instant. */
static const struct spec_latencies instant = {
    .pull = { INSTANT_MS, INSTANT_MS },
    .driver_build = { INSTANT_MS, INSTANT_MS },
    .toolkit = { INSTANT_MS, INSTANT_MS },
    .plugin = { INSTANT_MS, INSTANT_MS },
    .device_update = { INSTANT_MS, INSTANT_MS },
};

int64_t simulation_driver_takes_ms(const struct options *o, const struct rollout_spec *spec)
{
    int64_t half_ms = spec->install_timeout_s * SECOND_MS / 2;
    if (o->driver_takes_ms >= 0)
        return o->driver_takes_ms;
    return half_ms < DRIVER_TAKES_MS ? half_ms : DRIVER_TAKES_MS;
}

/* ---- the world */

/* History takes most of a large world's memory. */
static void simulation_forget(void *arg)
{
    struct simulation *s = arg;
    if (s->seen_rv)
        api_compact(s->api, s->seen_rv);
    s->seen_rv = api_rv(s->api);
    sim_after(&s->sim, &s->forgetting, FORGET_MS);
}

/* The policy is paused until the world is built. */
static void restore_policy(const struct simulation *s, const json_t *policy)
{
    CLEANUP_JSON json_t *waiting = json_deep_copy(policy);
    json_object_del(waiting, "status");
    json_set_at(waiting, "spec.rollout.paused", json_true());
    api_restore(s->api, kind_named("gpuclusterpolicies"), waiting);
}

static void let_everybody_begin(struct simulation *s)
{
    s->world.world.latencies = instant;
    /* The garbage collector would delete objects whose owners are not in the snapshot. */
    s->actors = actors_new(
        &s->sim, s->api,
        &(struct actors_options){ .world = &s->world.world, .without = ACTOR_COLLECTOR });
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .latency_min_ms = LATENCY_MIN_MS,
                                               .latency_max_ms = LATENCY_MAX_MS });
    s->ostler = process_new(
        &(struct process_options){ .sim = &s->sim,
                                   .wire = s->wire,
                                   .engine.manifests = s->manifests,
                                   .name = "ostler",
                                   .user = USER,
                                   .engine.lease_namespace = NAMESPACE,
                                   .engine.cluster.operand_namespace = s->o->operand_namespace,
                                   .engine.cluster.limits = s->o->limits,
                                   .engine.cluster.absent_grace_ms = QUIET_MS,
                                   .restart_ms = -1 });
    process_start(s->ostler);
}

static int set_up(struct simulation *s, const struct cluster *c, const json_t *objects,
                  const json_t *policy, struct err *e)
{
    s->manifests = manifests_new(e);
    if (!s->manifests)
        return -1;
    sim_init(&s->sim, 1);
    s->sim.epoch_us = clock_wall_us(c->o.clock) - INT64_C(1000) * BEGINS_MS;
    s->api = api_new(&s->sim.clock);
    if (builtin_install(s->api, PERSON, NAMESPACE, s->o->operand_namespace, e) < 0)
        return -1;
    simulated_world_make(c, objects, s->o, &s->world);
    simulated_world_restore(&s->world, s->api);
    restore_policy(s, policy);
    let_everybody_begin(s);
    s->forgetting = (struct sim_event){ .fn = simulation_forget, .arg = s };
    sim_after(&s->sim, &s->forgetting, FORGET_MS);
    return 0;
}

static void simulation_tear_down(struct simulation *s)
{
    story_free(s->story);
    process_free(s->ostler);
    if (s->wire)
        wire_free(s->wire);
    actors_free(s->actors);
    if (s->api)
        api_free(s->api);
    simulated_world_clear(&s->world);
    sim_clear(&s->sim);
    manifests_free(s->manifests);
}

/* ---- run */

/* The admin's approval is assumed. */
static void begin_rollout(struct simulation *s)
{
    int64_t driver_ms = simulation_driver_takes_ms(s->o, s->spec), pull_ms = s->o->pull_takes_ms;
    const struct spec_latencies real = { .pull = { pull_ms, pull_ms },
                                         .driver_build = { driver_ms, driver_ms } };
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:b, s:s}}}", "spec", "rollout", "paused", 0,
                                           "approval", "Automatic");
    actors_set_latencies(s->actors, &real);
    s->story = story_new(s->api, &s->sim, s->spec);
    api_merge(s->api, PERSON, kind_named("gpuclusterpolicies"), "", POLICY_NAME, "", patch, NULL);
}

/* The sum of all waits that the policy allows for a node. */
static int64_t waits_ms(const struct rollout_spec *r)
{
    int64_t jobs_s = r->drain.wait_for_jobs_s > 0 ? r->drain.wait_for_jobs_s : 0;
    return SECOND_MS * (r->canary_soak_s + r->soak_s + jobs_s + r->drain.timeout_s +
                        r->install_timeout_s + r->validation_timeout_s);
}

/* Runs to the end of the rollout, or until it is stuck. */
static void play(struct simulation *s)
{
    int64_t until_ms = BEGINS_MS + s->o->simulated_ms,
            quiet_ms = QUIET_MS + s->o->jobs_end_after_ms + waits_ms(s->spec);
    while (s->sim.now_ms < until_ms && !story_is_over(s->story, quiet_ms))
        if (!sim_step(&s->sim, until_ms))
            break;
    sim_run_until(&s->sim, s->sim.now_ms + REPORTS_MS);
}

json_t *simulation_run(const struct options *o, const struct cluster *c, const json_t *objects,
                       const json_t *policy, struct err *e)
{
    struct simulation s = { .o = o, .spec = &c->rollout };
    json_t *told = NULL;
    if (set_up(&s, c, objects, policy, e) == 0) {
        sim_run_until(&s.sim, STANDS_MS);
        simulated_pods_add(&s.world, s.api);
        sim_run_until(&s.sim, BEGINS_MS);
        begin_rollout(&s);
        play(&s);
        told = story_print(s.story);
    }
    simulation_tear_down(&s);
    return told;
}
