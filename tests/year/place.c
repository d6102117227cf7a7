/* A node from a fault until it is back in service: what is lost meanwhile. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "tests/year/year.h"

enum {
    SOON_MS = 10 * 1000,
    LATER_MS = 60 * 1000,
    BUSY_MS = 15 * 60 * 1000,     /* so long after a fault each look comes soon */
    AT_LEAST_MS = 20 * 60 * 1000, /* peers act within this time */
};

/* As GpuReplace wants it: all GPUs. */
void place_do(struct place *p, enum spec_verb verb)
{
    actors_do(p->fleet->actors, &(struct spec_action){ .verb = verb, .name = p->name }, NULL);
}

static bool has_taint(const json_t *node)
{
    JSON_EACH (taint, json_at(node, "spec.taints"))
        if (!str_eq(json_str(taint, "key"), "nvidia.com/gpu"))
            return true;
    return false;
}

/* Whether no new pod gets there. */
static bool is_closed(const json_t *node)
{
    return has_taint(node) || json_bool(node, "spec.unschedulable", false) ||
           !str_eq(condition_status(json_at(node, "status.conditions"), "Ready"), "True");
}

/* What is wrong with a node when it is closed. A repair may have ended that at the next look. */
void place_write(struct place *p, const json_t *node)
{
    struct actors_machine machine;
    if (!p->active || p->closed_once)
        return;
    bool was = p->closing.known;
    p->closing.known = is_closed(node);
    if (!p->closing.known || was)
        return;
    p->closing.faults = p->closing.broken = 0;
    actors_machine(p->fleet->actors, p->name, &machine);
    for (size_t i = 0; i < p->trouble_count; i++) {
        const struct year_fault *f = p->troubles[i].fault;
        bool there = machine.faulty_gpus >> f->gpu & 1;
        p->closing.faults += there;
        p->closing.broken += there && f->kind->breaks;
    }
}

static void see(struct place *p)
{
    struct fleet *f = p->fleet;
    const json_t *node = api_get(f->api, kind_named("nodes"), NULL, p->name);
    int64_t given = 0;
    str_parse_int(str_or_empty(json_key(json_at(node, "status.allocatable"), "nvidia.com/gpu")), 0,
                  GPUS, &given);
    actors_machine(f->actors, p->name, &p->machine);
    p->given = p->machine.up ? (int) given : 0;
    p->closed = !p->machine.up || is_closed(node);
}

static void add_sample(struct year_sums *s, bool back, double seconds)
{
    double **list = back ? &s->until_back_s : &s->until_closed_s;
    size_t *count = back ? &s->until_back_count : &s->until_closed_count;
    *list = xreallocarray(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = seconds;
}

/* Faults that have ended, by the truth of the simulator. */
static void drop_ended(struct place *p)
{
    for (size_t i = p->trouble_count; i-- > 0;)
        if (!(p->machine.faulty_gpus >> p->troubles[i].fault->gpu & 1)) {
            p->trouble_count--;
            memmove(&p->troubles[i], &p->troubles[i + 1],
                    (p->trouble_count - i) * sizeof *p->troubles);
        }
}

/* GPUs that the device plugin withholds: those with a fault. */
static bool is_offered(const struct place *p, const struct trouble *t)
{
    return !p->closed && p->given > GPUS - place_broken(p) && t->fault->kind->breaks;
}

static void note_closing(struct place *p)
{
    struct year_sums *s = &p->fleet->sums;
    double now = (double) p->fleet->sim.now_ms;
    for (size_t i = 0; i < p->trouble_count; i++) {
        struct trouble *t = &p->troubles[i];
        if (t->offered && !is_offered(p, t)) {
            t->offered = false;
            add_sample(s, false, (now - (double) t->fault->at_ms) / 1000);
        }
    }
    if (!p->closed || p->closed_once)
        return;
    p->closed_once = true;
    if (!p->closing.known) {
        p->closing.faults = p->trouble_count;
        p->closing.broken = (size_t) place_broken(p);
    }
    s->closings++;
    s->closed_early += p->closing.faults > 0 && p->closing.broken == 0;
    s->closed_falsely += p->closing.faults == 0;
}

/* How many GPUs do no work at the moment. */
static void set_rates(struct place *p)
{
    int idle = GPUS - jobs_running(p) * (p->whole ? GPUS : 1), broken = place_broken(p);
    int withheld = GPUS - p->given;
    int fails = p->closed || (p->whole && withheld > 0) ? 0 : broken - withheld;
    if (!p->closed && (place_is_poisoned(p) || (p->whole && fails > 0)))
        fails = idle;
    p->open_rate = fails > 0 ? fails : 0;
    p->closed_rate = idle - p->open_rate;
    /* Between two jobs of a healthy node. */
    if (p->whole && !p->closed && broken == 0 && withheld == 0)
        p->closed_rate = 0;
}

static bool is_over(const struct place *p)
{
    return p->fleet->sim.now_ms - p->since_ms > AT_LEAST_MS && !p->closed && p->given == GPUS &&
           place_broken(p) == 0 && p->hands.step == HANDS_IDLE;
}

static void end(struct place *p)
{
    if (p->was_broken)
        add_sample(&p->fleet->sums, true, (double) (p->fleet->sim.now_ms - p->since_ms) / 1000);
    jobs_end(p);
    p->active = false;
    p->trouble_count = 0;
    p->hands = (struct hands){ 0 };
}

void place_count(struct place *p)
{
    struct fleet *f = p->fleet;
    double hours = (double) (f->sim.now_ms - p->at_ms) / (double) HOUR_MS;
    f->sums.open_h += p->open_rate / GPUS * hours;
    *(p->hands.step == HANDS_AWAY ? &f->sums.part_h : &f->sums.closed_h) += p->closed_rate / GPUS *
                                                                            hours;
    p->at_ms = f->sim.now_ms;
}

static void look(void *arg)
{
    struct place *p = arg;
    struct fleet *f = p->fleet;
    place_count(p);
    see(p);
    drop_ended(p);
    note_closing(p);
    jobs_look(p);
    hands_look(p);
    set_rates(p);
    if (is_over(p)) {
        end(p);
        return;
    }
    sim_after(&f->sim, &p->event, f->sim.now_ms - p->since_ms < BUSY_MS ? SOON_MS : LATER_MS);
}

static void begin(struct place *p, const struct year_fault *f)
{
    p->active = true;
    p->since_ms = p->at_ms = p->fleet->sim.now_ms;
    p->rng = rng_of(f->seed);
    p->closed_once = p->was_broken = p->closing.known = false;
    p->open_rate = p->closed_rate = 0;
    p->event = (struct sim_event){ .fn = look, .arg = p };
    see(p);
    jobs_begin(p);
}

void place_fault(struct place *p, const struct year_fault *f)
{
    struct fleet *fleet = p->fleet;
    struct spec_action action = { .verb = SPEC_GPU_FAULT,
                                  .name = p->name,
                                  .fault = f->kind->fault };
    action.fault.gpu = f->gpu;
    action.fault.cure = f->sticky ? SPEC_CURE_REPLACEMENT : SPEC_CURE_USUAL;
    if (!p->active)
        begin(p, f);
    if (p->trouble_count < TROUBLES_MAX && f->kind->fault.lasts_ms == 0 && f->kind->hardware)
        p->troubles[p->trouble_count++] = (struct trouble){ f, f->kind->breaks };
    p->was_broken |= f->kind->breaks;
    actors_do(fleet->actors, &action, NULL);
    if (f->kind->kills)
        jobs_hit(p, f->gpu);
    hands_fault(p, f->kind);
    sim_cancel(&fleet->sim, &p->event);
    sim_after(&fleet->sim, &p->event, SOON_MS);
}
