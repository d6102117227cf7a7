/* Faults of GPUs that come by themselves: at random, in storms, and by drivers with a bug. The same
 * seed gives the same faults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/fit.h"
#include "sim/actors/kubelet.h"

#define DAY_MS INT64_C(86400000)
#define MILLION INT64_C(1000000)
/* Key of the beginning, when the machines of the world are there. */
#define BEGIN "begin"

struct gpu_faults {
    struct actors *a;
    const struct spec_gpu_faults *spec;
    bool on;
    struct agenda chances; /* the next random fault, or the beginning */
    struct agenda storms;  /* "<storm> <number>": a node is hit */
    struct agenda bugs;    /* "<bug> <node>": the driver's next fault there */
    struct agenda repairs; /* nodes */
};

/* The usual weights of the kinds. */
static const struct spec_fault_share usual_mix[] = {
#define X(id, name, weight) { SPEC_FAULT_##id, weight },
    SPEC_FAULTS(X)
#undef X
};

/* ---- chance */

/* A random duration with this mean, as the time between events that come independently of each
 * other: exponential, by comparisons of integers alone (J. von Neumann, 1951). */
static int64_t draw_between_events(struct rng *r, int64_t mean_ms)
{
    for (uint64_t whole = 0;; whole++) {
        uint64_t first = rng_next(r) >> 32, last = first, next;
        bool odd = true;
        while ((next = rng_next(r) >> 32) < last) {
            last = next;
            odd = !odd;
        }
        if (odd)
            return (int64_t) (((unsigned __int128) mean_ms * (whole << 32 | first)) >> 32);
    }
}

static bool has_chance(struct rng *r, int percent)
{
    return (int64_t) rng_below(r, 100) < percent;
}

static struct machine *machine_of(const struct gpu_faults *g, const char *node)
{
    const struct kubelet *k = g->a->selves[ACTOR_PLACE_KUBELET];
    return k ? map_get(&k->machines, node) : NULL;
}

/* A random machine, in proportion to `weight` of each; NULL: all have none. */
static struct machine *gpu_faults_pick(struct gpu_faults *g, struct rng *r, const char *pattern,
                                       int64_t (*weight)(const struct machine *m))
{
    struct machine *picked = NULL;
    int64_t sum = 0;
    for (size_t i = 0; i < api_count(g->a->api, g->a->kinds.node); i++) {
        const char *name = object_name(api_at(g->a->api, g->a->kinds.node, i));
        struct machine *m = machine_of(g, name);
        int64_t part = m && fit_pattern(pattern, name) ? weight(m) : 0;
        sum += part;
        if (part && (int64_t) rng_below(r, (uint64_t) sum) < part)
            picked = m;
    }
    return picked;
}

static int64_t number_of_gpus(const struct machine *m)
{
    return m->shape->gpus;
}

static int64_t is_well(const struct machine *m)
{
    return m->up && m->shape->gpus && !gpus_faulty(m);
}

static int64_t all_gpus(const struct gpu_faults *g)
{
    int64_t gpus = 0;
    for (size_t i = 0; i < api_count(g->a->api, g->a->kinds.node); i++) {
        const struct machine *m = machine_of(g,
                                             object_name(api_at(g->a->api, g->a->kinds.node, i)));
        gpus += m ? number_of_gpus(m) : 0;
    }
    return gpus;
}

static enum spec_fault_kind pick_kind(const struct gpu_faults *g, struct rng *r)
{
    const struct spec_fault_share *mix = g->spec->mix ? g->spec->mix : usual_mix;
    size_t n = g->spec->mix ? g->spec->mix_count : ARRAY_LEN(usual_mix), i = 0;
    int64_t sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += mix[k].weight;
    int64_t left = (int64_t) rng_below(r, (uint64_t) sum);
    while (i + 1 < n && left >= mix[i].weight)
        left -= mix[i++].weight;
    return mix[i].kind;
}

/* ---- faults */

static void strike(struct gpu_faults *g, struct machine *m, struct spec_gpu_fault *f)
{
    f->gpu = (int) rng_below(&g->chances.rng, (uint64_t) m->shape->gpus);
    if (!m->up || !gpus_fault(m, f))
        return;
    if (g->spec->repairs.high_ms)
        agenda_after(&g->repairs, m->name, agenda_draw(&g->repairs, g->spec->repairs));
}

static void plan_next(struct gpu_faults *g)
{
    int64_t speed_up = g->spec->speed_up ? g->spec->speed_up : 1, gpus = all_gpus(g);
    int64_t a_day = g->spec->rate * speed_up * (gpus ? gpus : 1); /* of a million days */
    if (g->spec->rate)
        agenda_after(&g->chances, "",
                     1 + draw_between_events(&g->chances.rng, DAY_MS * MILLION / a_day));
}

static void by_chance(struct gpu_faults *g)
{
    enum { FLAP_MIN_MS = 20 * 1000, FLAP_MAX_MS = 5 * 60 * 1000 };
    struct rng *r = &g->chances.rng;
    struct machine *m = gpu_faults_pick(g, r, NULL, number_of_gpus);
    struct spec_gpu_fault f = { .kind = pick_kind(g, r) };
    if (has_chance(r, g->spec->sticky))
        f.cure = SPEC_CURE_REPLACEMENT;
    if (has_chance(r, g->spec->flapping)) {
        f.lasts_ms = rng_between(r, FLAP_MIN_MS, FLAP_MAX_MS);
        f.again_ms = rng_between(r, FLAP_MIN_MS, FLAP_MAX_MS);
    }
    f.no_boot = has_chance(r, g->spec->no_boot);
    if (m)
        strike(g, m, &f);
    plan_next(g);
}

/* Prefers machines without a fault, so that the storm hits as many as it is to hit. */
static void in_storm(void *self, const char *key)
{
    struct gpu_faults *g = self;
    const struct spec_fault_storm *s = &g->spec->storms[strtoul(key, NULL, 10)];
    struct machine *m = gpu_faults_pick(g, &g->storms.rng, s->node, is_well);
    if (m)
        strike(g, m, &(struct spec_gpu_fault){ .kind = s->kind });
}

static void plan_bug(struct gpu_faults *g, size_t bug, const char *node)
{
    CLEANUP_FREE char *key = xasprintf("%zu %s", bug, node);
    agenda_after(&g->bugs, key, agenda_draw(&g->bugs, g->spec->bugs[bug].every));
}

static void by_driver(void *self, const char *key)
{
    struct gpu_faults *g = self;
    size_t bug = strtoul(key, NULL, 10);
    const char *node = strchr(key, ' ') + 1;
    struct machine *m = machine_of(g, node);
    if (!m)
        return;
    const struct spec_fault_bug *b = &g->spec->bugs[bug];
    if (m->shape->gpus && m->module && fit_pattern(b->version, m->module))
        strike(g, m, &(struct spec_gpu_fault){ .kind = b->kind });
    plan_bug(g, bug, node);
}

static void repair(void *self, const char *node)
{
    const struct gpu_faults *g = self;
    struct machine *m = machine_of(g, node);
    if (m)
        gpus_replace(m, -1);
}

/* ---- on and off */

static void plan_bugs_of(struct gpu_faults *g, const char *node)
{
    for (size_t i = 0; i < g->spec->bug_count; i++)
        plan_bug(g, i, node);
}

static void plan_storm(struct gpu_faults *g, size_t storm)
{
    const struct spec_fault_storm *s = &g->spec->storms[storm];
    for (int i = 0; i < s->nodes; i++) {
        char key[48];
        snprintf(key, sizeof key, "%zu %d", storm, i);
        agenda_after(&g->storms, key, s->after_ms + rng_between(&g->storms.rng, 0, s->within_ms));
    }
}

static void switch_on(struct gpu_faults *g)
{
    g->on = true;
    plan_next(g);
    for (size_t i = 0; i < g->spec->storm_count; i++)
        plan_storm(g, i);
    for (size_t i = 0; i < api_count(g->a->api, g->a->kinds.node); i++)
        plan_bugs_of(g, object_name(api_at(g->a->api, g->a->kinds.node, i)));
}

/* Repairs that are planned still come. */
static void switch_off(struct gpu_faults *g)
{
    g->on = false;
    agenda_clear(&g->chances);
    agenda_clear(&g->storms);
    agenda_clear(&g->bugs);
}

bool gpu_faults_switch(struct actors *a, bool on)
{
    struct gpu_faults *g = a->selves[ACTOR_PLACE_GPU_FAULTS];
    if (g && on != g->on)
        (on ? switch_on : switch_off)(g);
    return g != NULL;
}

static void gpu_faults_look(void *self, const char *key)
{
    struct gpu_faults *g = self;
    (str_eq(key, BEGIN) ? switch_on : by_chance)(g);
}

static void gpu_faults_begin(void *self)
{
    struct gpu_faults *g = self;
    g->spec = &g->a->world.gpu_faults;
    if (!g->spec->waits)
        agenda_at(&g->chances, BEGIN, g->a->sim->now_ms);
}

static void gpu_faults_commit(void *self, const struct api_commit *c)
{
    struct gpu_faults *g = self;
    if (g->on && c->kind == g->a->kinds.node && c->after && !c->before)
        plan_bugs_of(g, object_name(c->after));
}

const struct actor gpu_faults_actor = {
    .size = sizeof(struct gpu_faults),
    .agendas = { AGENDA(struct gpu_faults, chances, "gpu faults", controller, gpu_faults_look),
                 AGENDA(struct gpu_faults, storms, "gpu fault storms", controller, in_storm),
                 AGENDA(struct gpu_faults, bugs, "gpu fault bugs", controller, by_driver),
                 AGENDA(struct gpu_faults, repairs, "gpu repairs", controller, repair) },
    .begin = gpu_faults_begin,
    .commit = gpu_faults_commit,
};
