/* The fleet with an Ostler in virtual time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/policy.h"
#include "sim/api/builtin.h"
#include "sim/scenario/scenario.h"
#include "tests/year/year.h"

#define ADMIN "kubernetes-admin"
#define OSTLER_USER "system:serviceaccount:ostler-system:ostler"

enum { SETTLED_MS = 3 * 3600 * 1000 };

/* Servers with eight GPUs boot slowly. */
static const char world[] =
    "name: year\n"
    "agents: true\n"
    "shapes:\n"
    "  - {name: gpu, osImage: Ubuntu 24.04.1 LTS, osID: ubuntu, osVersion: '24.04',\n"
    "     kernel: 6.8.0-49-generic, gpus: 8, gpuProduct: NVIDIA-H100-80GB-HBM3,\n"
    "     gpuHealth: true, boot: 8m..15m}\n"
    "nodes: [{name: gpu, shape: gpu, count: %zu}]\n";

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "year: %s: %s\n", what, why);
    exit(2);
}

static void create_policy(struct fleet *f)
{
    static const char *const modes[WAYS] = { "Observe", "Close", "Repair", "Observe", "Observe" };
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    CLEANUP_JSON json_t *policy = json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:{s:s}, s:{s:s, s:s, s:b}, s:{s:s, s:s, s:{s:i}}}}", "apiVersion",
        "ostler.dev/v1alpha1", "kind", "GpuClusterPolicy", "metadata", "name", POLICY_NAME, "spec",
        "driver", "version", "580.178.04", "health", "mode", modes[f->options.way], "reboot", "Pod",
        "kernelLog", 1, "rollout", "maxParallel", "5%", "maxUnavailable", "25%", "canary", "nodes",
        0);
    if (api_create(f->api, ADMIN, kind_named("gpuclusterpolicies"), policy, &refusal) < 0)
        fail("the policy", refusal.message);
}

static void set_up_world(struct fleet *f)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FREE char *text = xasprintf(world, f->options.nodes);
    f->scenario = scenario_parse("year", text, strlen(text), &e);
    f->manifests = f->scenario ? manifests_new(&e) : NULL;
    if (!f->manifests)
        fail("the world", err_msg(&e));
    sim_init(&f->sim, f->options.seed);
    f->api = api_new(&f->sim.clock);
    f->wire = wire_new(&(struct wire_options){
        .sim = &f->sim, .api = f->api, .latency_min_ms = 1, .latency_max_ms = 5 });
    if (builtin_install(f->api, ADMIN, "ostler-system", "ostler-operands", &e) < 0)
        fail("the CRDs", err_msg(&e));
    f->actors = actors_new(&f->sim, f->api,
                           &(struct actors_options){ .world = &f->scenario->world });
}

/* Without a lease: no renewal every two seconds. */
static void set_up_ostler(struct fleet *f)
{
    f->ostler = process_new(&(struct process_options){
        .sim = &f->sim,
        .wire = f->wire,
        .engine.manifests = f->manifests,
        .name = "ostler",
        .user = OSTLER_USER,
        .engine.lease_namespace = "ostler-system",
        .engine.cluster.operand_namespace = "ostler-operands",
        .engine.cluster.limits = { POLICY_IMAGE_PREFIXES, "*", NULL, false, true },
        .engine.cluster.agent_image = "registry.example/ostler:1",
        .engine.cluster.absent_grace_ms = 600 * 1000,
        .restart_ms = 1000 });
    process_start(f->ostler);
    create_policy(f);
}

static void tear_down(struct fleet *f)
{
    for (size_t i = 0; i < f->options.nodes; i++) {
        sim_cancel(&f->sim, &f->places[i].event);
        free(f->places[i].name);
    }
    free(f->places);
    free(f->faults);
    process_free(f->ostler);
    actors_free(f->actors);
    wire_free(f->wire);
    sim_clear(&f->sim);
    api_free(f->api);
    manifests_free(f->manifests);
    scenario_free(f->scenario);
}

static void plan_fault(struct fleet *f)
{
    if (f->next_fault < f->fault_count)
        sim_at(&f->sim, &f->fault_event, f->faults[f->next_fault].at_ms);
}

static void on_fault(void *arg)
{
    struct fleet *f = arg;
    const struct year_fault *fault = &f->faults[f->next_fault++];
    place_fault(&f->places[fault->node], fault);
    plan_fault(f);
}

static void on_commit(void *arg, const struct api_commit *c)
{
    struct fleet *f = arg;
    if (c->kind != kind_named("nodes") || !c->after)
        return;
    for (size_t i = 0; i < f->options.nodes; i++)
        if (str_eq(f->places[i].name, object_name(c->after)))
            place_write(&f->places[i], c->after);
}

static void set_up_places(struct fleet *f)
{
    f->places = xcalloc(f->options.nodes, sizeof *f->places);
    for (size_t i = 0; i < f->options.nodes; i++)
        f->places[i] = (struct place){
            .fleet = f,
            .whole = i % 2 == 0,
            .name = f->options.nodes == 1 ? xstrdup("gpu") : xasprintf("gpu-%zu", i + 1),
        };
    f->faults = year_faults(&f->options, SETTLED_MS, SETTLED_MS + f->options.days * DAY_MS,
                            &f->fault_count);
    api_on_commit(f->api, on_commit, f);
    f->fault_event = (struct sim_event){ .fn = on_fault, .arg = f };
    plan_fault(f);
}

static bool is_ready(const struct fleet *f)
{
    const json_t *policy = api_get(f->api, kind_named("gpuclusterpolicies"), NULL, POLICY_NAME);
    return str_eq(condition_status(json_at(policy, "status.conditions"), "Ready"), "True");
}

void fleet_live(const struct year_options *o, struct year_sums *ret)
{
    struct fleet f = { .options = *o };
    set_up_world(&f);
    set_up_ostler(&f);
    sim_run_until(&f.sim, SETTLED_MS);
    if (!is_ready(&f))
        fail("the fleet", "it is not ready after hours");
    set_up_places(&f);
    sim_run_until(&f.sim, SETTLED_MS + o->days * DAY_MS);
    for (size_t i = 0; i < o->nodes; i++)
        if (f.places[i].active)
            place_count(&f.places[i]);
    *ret = f.sums;
    tear_down(&f);
}
