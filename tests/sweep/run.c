#include "tests/sweep/faults_told.h"
#include "tests/sweep/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "sim/api/access.h"

#define AGENT_IMAGE "registry.example/ostler:1"

enum {
    FINDINGS_MAX = 16 << 20,
    FINDINGS_KEPT = 20,
    CRD_MS = 500, /* Ostler is there before its CRD */
    RESTART_MS = 1000,
    ABSENT_GRACE_MS = 10 * 60 * 1000,
    DEADLINE_MS = 10 * 60 * 1000,     /* longer than any step of an upgrade may take */
    PHASE_LIMIT_MS = 4 * 3600 * 1000, /* a phase that is not quiet then never will be */
    LATENCY_MIN_MS = 1,
    LATENCY_MAX_MS = 9,
    SPLIT_ONE_IN = 8,
    DAY_MS = 24 * 3600 * 1000,
    BRAKE_MIN = 20, /* longer than the cooldown of the storm brake */
    /* what a client waits for what a watch does not bring, and then some */
    SILENT_MS = 200 * 1000,
    AGAIN_MS = 60 * 1000, /* it asks again that late after many refusals */
};

/* A call that is still to come. */
struct run_later {
    struct sim_event event;
    struct run *run;
    struct run_later *next;
    sim_fn *fn, *drop;
    void *arg;
};

/* Something of the scenario that happens in a phase. */
struct edit {
    struct sim_event event;
    struct run *run;
    const struct spec_action *action;
    const struct spec_change *change;
};

void run_finding(struct run *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    struct run_result *result = r->result;
    if (result->findings.data && strstr(result->findings.data, text))
        return;
    if (++result->finding_count <= FINDINGS_KEPT)
        buf_printf(&result->findings, "phase %zu, %" PRId64 ".%03d s: %s\n", r->phase,
                   r->sim.now_ms / 1000, (int) (r->sim.now_ms % 1000), text);
}

void run_hold(struct run *r, int64_t until_ms)
{
    if (until_ms > r->changed_ms)
        r->changed_ms = until_ms;
}

struct process *run_sender(const struct run *r, const struct wire_client *c)
{
    for (size_t i = 0; i < r->replicas; i++)
        if (process_owns(r->ostlers[i], c))
            return r->ostlers[i];
    return NULL;
}

struct process *run_leader(const struct run *r)
{
    for (size_t i = 0; i < r->replicas; i++)
        if (process_engine(r->ostlers[i]) && engine_working(process_engine(r->ostlers[i])))
            return r->ostlers[i];
    return NULL;
}

/* ---- what is seen */

static bool is_quiet_kind(const struct kind *k)
{
    return strcmp(k->plural, "leases") == 0 || strcmp(k->plural, "events") == 0;
}

/* Whether the node is being changed, or is tried again within minutes, as after the first drain
 * that took too long. */
static bool is_under_way(const json_t *node)
{
    const char *text = object_annotation(node, ANNOTATION_CLAIM);
    struct claim c;
    if (!text || !claim_parse(text, &c, NULL))
        return false;
    bool retried = c.phase == CLAIM_FAILED && claim_reason(&c) == REASON_DRAIN_TIMEOUT &&
                   c.attempt <= 1;
    return retried || claim_phase_has_slot(c.phase);
}

static void note_node(struct run *r, const struct api_commit *c)
{
    const char *name = object_name(c->after);
    if (strcmp(c->kind->plural, "nodes") == 0 && !map_get(&r->marked, name)) {
        char *key = xstrdup(name);
        map_put(&r->marked, key, key);
        r->result->counts.nodes++;
    }
}

bool run_is_step(const struct api_commit *c)
{
    return str_eq(c->user, OSTLER_USER) && strcmp(c->kind->plural, "nodes") == 0 && c->before &&
           c->after && !*c->subresource &&
           (object_annotation(c->before, ANNOTATION_CLAIM) ||
            object_annotation(c->after, ANNOTATION_CLAIM));
}

static void on_commit(void *arg, const struct api_commit *c)
{
    struct run *r = arg;
    bool ours = str_eq(c->user, OSTLER_USER), lease = strcmp(c->kind->plural, "leases") == 0;
    if (!is_quiet_kind(c->kind))
        run_hold(r, r->sim.now_ms);
    r->changes += ours && !is_quiet_kind(c->kind);
    if (ours && !lease) {
        r->result->counts.writes++;
        if (c->after)
            note_node(r, c);
    }
    r->result->counts.steps += run_is_step(c);
    if (strcmp(c->kind->plural, "nodes") == 0)
        r->under_way += (size_t) is_under_way(c->after) - (size_t) is_under_way(c->before);
    oracle_commit(r->oracle, c);
    if (r->plan->verbose && !is_quiet_kind(c->kind))
        printf("%8" PRId64 " %-8s %s %s/%s%s%s\n", r->sim.now_ms, ours ? "ostler" : "others",
               !c->before  ? "create"
               : !c->after ? "remove"
                           : "change",
               c->kind->plural, object_name(c->after ? c->after : c->before),
               *c->subresource ? " " : "", c->subresource);
    if (r->plan->on_commit)
        r->plan->on_commit(r, c);
    invariants_commit(r->invariants, c);
}

static void on_sent(void *arg, struct wire_client *c, const struct request *request)
{
    struct run *r = arg;
    if (r->plan->on_sent)
        r->plan->on_sent(r, c, request);
    invariants_sent(r->invariants, c, request);
}

static void add_line(struct run *r, bool fault, char *text_steal)
{
    struct run_result *result = r->result;
    result->lines = xreallocarray(result->lines, result->line_count + 1, sizeof *result->lines);
    result->lines[result->line_count++] = (struct run_line){ r->sim.now_ms, fault, text_steal };
}

/* Faults that have struck since the last line. */
static void add_faults(struct run *r)
{
    for (; r->faults_told < r->faults.mark_count; r->faults_told++) {
        const struct fault_mark *m = &r->faults.marks[r->faults_told];
        add_line(r, true,
                 xasprintf("%s (number %llu of its kind)", fault_text(&r->faults.rows[m->row]),
                           (unsigned long long) m->nth));
    }
}

/* How an Ostler began and ended since the last look. */
static void print_turns(struct run *r, size_t i)
{
    const struct process_counts *now = process_counts(r->ostlers[i]);
    struct process_counts *seen = &r->seen[i];
    const struct {
        uint64_t news;
        const char *text;
    } rows[] = {
        { now->kills - seen->kills, "dies" },
        { now->losses - seen->losses, "loses the lease" },
        { now->starts - seen->starts, "starts" },
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (rows[k].news)
            printf("%8" PRId64 " ostler %zu %s\n", r->sim.now_ms, i, rows[k].text);
    *seen = *now;
}

/* Faults that have struck, Ostlers that have begun and ended since the last look. */
static void print_news(struct run *r)
{
    for (; r->faults_printed < r->faults.mark_count; r->faults_printed++)
        printf("%8" PRId64 " fault: %s\n", r->sim.now_ms,
               fault_text(&r->faults.rows[r->faults.marks[r->faults_printed].row]));
    for (size_t i = 0; i < r->replicas; i++)
        print_turns(r, i);
}

static void on_taken(void *arg, const struct wire_client *c, const struct wire_taken *t)
{
    struct run *r = arg;
    invariants_taken(r->invariants, c, t);
}

static void on_arrived(void *arg, struct wire_client *c, const struct request *request)
{
    (void) c;
    struct run *r = arg;
    struct run_result *result = r->result;
    if (r->plan->keep_text)
        add_faults(r);
    if (r->plan->plant && r->faults.mark_count >= r->plan->plant)
        run_finding(r, "planted: %zu faults have struck", r->plan->plant);
    if (request->class != REQUEST_WRITE)
        return;
    result->write_count++;
    r->own_writes += request->resource == RESOURCE_NODE || request->resource == RESOURCE_POLICY;
    if (r->plan->keep_text)
        add_line(r, false, xasprintf("%s %s", request->method, request->path));
    if (r->plan->verbose)
        printf("%8" PRId64 " write %zu: %s %s %s\n", r->sim.now_ms, result->write_count,
               request->method, request->path, str_or_empty(request->body));
}

/* ---- setting up */

static void create(struct run *r, const json_t *object)
{
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"),
                                   json_str_or_empty(object, "kind"));
    if (!k || api_create(r->api, ADMIN, k, object, &refusal) < 0)
        run_finding(r, "the world cannot be set up: %s",
                    k ? refusal.message : "a kind that is not there");
}

static void on_refused(void *arg, const json_t *object, const struct refusal *refusal)
{
    run_finding(arg, "the world cannot be set up: %s: %s",
                json_str_or_empty(object, "metadata.name"), refusal->message);
}

static void create_namespaces(struct run *r)
{
    static const char *const namespaces[] = { OSTLER_NAMESPACE, OPERAND_NAMESPACE };
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        CLEANUP_JSON json_t *ns = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind",
                                            "Namespace", "metadata", "name", namespaces[i]);
        create(r, ns);
    }
}

static void create_crds(void *arg)
{
    struct run *r = arg;
    size_t i;
    json_t *crd;
    json_array_foreach (r->life->crds, i, crd)
        create(r, crd);
}

static void set_up_access(struct run *r)
{
    if (r->plan->deny_verb) {
        r->access = life_access(NULL);
        access_deny(r->access, r->plan->deny_verb, r->plan->deny_resource);
    }
    api_set_access(r->api, r->access ? r->access : r->life->access);
}

static void call_now(void *later)
{
    struct run_later *l = later;
    struct run_later **at = &l->run->later;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    struct run_later call = *l;
    free(l);
    call.fn(call.arg);
}

void run_call(struct run *r, int64_t delay_ms, sim_fn *fn, void *arg, sim_fn *drop)
{
    struct run_later *l = xcalloc(1, sizeof *l);
    *l = (struct run_later){ { .fn = call_now, .arg = l }, r, r->later, fn, drop, arg };
    r->later = l;
    sim_after(&r->sim, &l->event, delay_ms);
}

static void drop_calls(struct run *r)
{
    for (struct run_later *l = r->later, *next; l; l = next) {
        next = l->next;
        if (l->drop)
            l->drop(l->arg);
        free(l);
    }
}

static void set_up_ostlers(struct run *r)
{
    static const char *const names[REPLICAS_MAX] = { "ostler-a", "ostler-b" };
    r->replicas = r->plan->replicas ? r->plan->replicas : 1;
    struct process_options o = {
        .sim = &r->sim,
        .wire = r->wire,
        .engine.manifests = r->life->manifests,
        .user = OSTLER_USER,
        .engine.lease_namespace = OSTLER_NAMESPACE,
        .engine.cluster.operand_namespace = OPERAND_NAMESPACE,
        .engine.cluster.limits = { POLICY_IMAGE_PREFIXES, "*", NULL, false, true },
        .engine.cluster.agent_image = r->life->scenario->agents ? AGENT_IMAGE : NULL,
        .engine.cluster.absent_grace_ms = ABSENT_GRACE_MS,
        .restart_ms = RESTART_MS,
        .engine.leader_elect = !r->plan->alone
    };
    for (size_t i = 0; i < r->replicas; i++) {
        o.name = names[i];
        r->ostlers[i] = process_new(&o);
        process_set_clock(r->ostlers[i], r->plan->ahead_ms[i]);
        process_start(r->ostlers[i]);
    }
}

static void set_up(struct run *r)
{
    const struct run_plan *plan = r->plan;
    sim_init(&r->sim, plan->seed);
    if (r->life->scenario->begins_us)
        r->sim.epoch_us = r->life->scenario->begins_us;
    r->oracle = oracle_new(plan->loose);
    r->invariants = invariants_new(r);
    r->faults = (struct fault_plan){ .rows = plan->faults,
                                     .count = plan->fault_count,
                                     .rng = rng_fork(&r->sim.rng, "faults") };
    r->api = api_new(&r->sim.clock);
    api_share_schemas(r->api, r->life->schemas);
    api_on_commit(r->api, on_commit, r);
    r->wire = wire_new(&(struct wire_options){ .sim = &r->sim,
                                               .api = r->api,
                                               .faults = &r->faults,
                                               .latency_min_ms = LATENCY_MIN_MS,
                                               .latency_max_ms = LATENCY_MAX_MS,
                                               .split_one_in = SPLIT_ONE_IN,
                                               .sent = on_sent,
                                               .arrived = on_arrived,
                                               .taken = on_taken,
                                               .arg = r });
    create_namespaces(r);
    run_call(r, CRD_MS, create_crds, r, NULL);
    struct spec_world *world = &r->world;
    *world = r->life->scenario->world;
    world->action_count = 0; /* phase by phase */
    r->actors = actors_new(
        &r->sim, r->api,
        &(struct actors_options){ .world = world, .refused = on_refused, .arg = r });
    set_up_access(r);
    if (plan->on_begin)
        plan->on_begin(r);
    set_up_ostlers(r);
}

static void tear_down(struct run *r)
{
    size_t cursor = 0;
    const struct map_entry *e;
    for (size_t i = 0; i < r->replicas; i++)
        process_free(r->ostlers[i]);
    actors_free(r->actors);
    wire_free(r->wire);
    sim_clear(&r->sim);
    drop_calls(r);
    api_free(r->api);
    if (r->access)
        access_free(r->access);
    invariants_free(r->invariants);
    oracle_free(r->oracle);
    while ((e = map_next(&r->marked, &cursor)))
        free(e->value);
    map_clear(&r->marked);
}

/* ---- phases */

static void do_edit(void *arg)
{
    const struct edit *d = arg;
    struct actors *a = d->run->actors;
    if (d->action && !actors_do(a, d->action, NULL) && d->run->plan->calm)
        run_finding(d->run, "a edit of the life is refused: %s", str_or_empty(d->action->name));
    if (d->change)
        actors_change(a, d->change);
}

/* Sets a edit to its time, when it is of this phase. */
static void plan_edit(struct run *r, struct edit *d, int64_t at_ms)
{
    bool by_clock = r->life->by_clock;
    if (!by_clock && (size_t) (at_ms / LIFE_PHASE_MS) != r->phase)
        return;
    int64_t offset = by_clock ? at_ms : at_ms % LIFE_PHASE_MS;
    d->event = (struct sim_event){ .fn = do_edit, .arg = d };
    sim_after(&r->sim, &d->event, offset);
    run_hold(r, r->sim.now_ms + offset);
}

/* When the plan of the status ends, if that is soon: its end is taken out of the status then. -1:
 * it does not. */
static int64_t plan_over(const struct run *r, int64_t soon_ms)
{
    const struct kind *policies = kind_named("gpuclusterpolicies");
    const json_t *policy = api_count(r->api, policies) ? api_at(r->api, policies, 0) : NULL;
    int64_t ends_us = clock_parse_rfc3339(json_str_or_empty(policy, "status.rollout.plan.ends"));
    int64_t ends_ms = ends_us < 0 ? -1 : sim_ms_of_wall(&r->sim, ends_us);
    return ends_ms > soon_ms ? -1 : ends_ms;
}

/* When all is quiet, if nothing changes from now on: whoever waits for what was lost has given up
 * then, and tried again. */
static int64_t quiet_at(const struct run *r)
{
    int64_t lost = wire_counts(r->wire)->lost_until_ms,
            at = (lost > r->changed_ms ? lost : r->changed_ms) + RUN_QUIET_MS;
    for (size_t i = 0; i < r->faults.count; i++) {
        const struct fault *f = &r->faults.rows[i];
        int64_t silent_ms = f->effect == FAULT_SILENCE && f->fired ? f->fired_ms + SILENT_MS : 0,
                over_ms = f->until_ms > silent_ms ? f->until_ms : silent_ms;
        if (over_ms && over_ms + AGAIN_MS + RUN_QUIET_MS > at)
            at = over_ms + AGAIN_MS + RUN_QUIET_MS;
    }
    int64_t over = plan_over(r, at + RUN_QUIET_MS);
    if (over >= 0 && over + RUN_QUIET_MS > at)
        at = over + RUN_QUIET_MS;
    /* A node that is being changed has a deadline, by which something happens. */
    if (r->under_way && r->changed_ms + DEADLINE_MS > at)
        at = r->changed_ms + DEADLINE_MS;
    return at;
}

static void step(struct run *r, int64_t until_ms)
{
    int64_t next_ms = sim_next(&r->sim);
    invariants_pass(r->invariants, next_ms < until_ms ? next_ms : until_ms);
    sim_step(&r->sim, until_ms);
    invariants_time(r->invariants);
    if (r->plan->verbose)
        print_news(r);
}

void run_settle(struct run *r)
{
    int64_t limit = r->changed_ms + PHASE_LIMIT_MS, at;
    while (r->sim.now_ms < (at = quiet_at(r)) && r->sim.now_ms < limit)
        step(r, at);
    if (r->sim.now_ms >= limit)
        run_finding(r, "the cluster does not come to rest");
}

/* An Ostler that knows nothing finds nothing to do. It applies each child once, to learn what the
 * server makes of it; of nodes and the policy it sees all in what it reads. */
static void start_anew(struct run *r)
{
    uint64_t before = r->changes, own_writes = r->own_writes;
    for (size_t i = 0; i < r->replicas; i++)
        process_kill(r->ostlers[i]);
    run_hold(r, r->sim.now_ms);
    run_settle(r);
    if (r->changes != before)
        run_finding(r, "an Ostler that starts anew makes %llu changes where all was quiet",
                    (unsigned long long) (r->changes - before));
    if (r->own_writes != own_writes)
        run_finding(r,
                    "an Ostler that starts anew writes %llu times to nodes and the policy where "
                    "all was quiet",
                    (unsigned long long) (r->own_writes - own_writes));
}

/* While no client changes anything Ostler writes only its lease. It does not send writes that would
 * change nothing, either. The day begins when time has released the storm brake. */
static void let_a_day_pass(struct run *r)
{
    const struct kind *policies = kind_named("gpuclusterpolicies");
    for (int m = 0; m < BRAKE_MIN &&
                    condition_is_true(api_get(r->api, policies, NULL, POLICY_NAME), "HealthBraked");
         m++)
        sim_run_until(&r->sim, r->sim.now_ms + 60 * 1000);
    size_t before = r->result->write_count;
    sim_run_until(&r->sim, r->sim.now_ms + DAY_MS);
    r->result->counts.quiet_s += DAY_MS / 1000;
    if (r->result->write_count != before)
        run_finding(r, "Ostler sends %zu writes within a day of quiet",
                    r->result->write_count - before);
    invariants_day(r->invariants, r->result->write_count - before);
}

static void run_phase(struct run *r)
{
    const struct scenario *s = r->life->scenario;
    struct run_result *result = r->result;
    size_t n = s->world.action_count;
    CLEANUP_FREE struct edit *edits = xcalloc(n + s->change_count, sizeof *edits);
    r->changed_ms = r->sim.now_ms;
    run_hold(r, r->life->until_ms);
    for (size_t i = 0; i < n; i++) {
        edits[i] = (struct edit){ .run = r, .action = &s->world.actions[i] };
        plan_edit(r, &edits[i], s->world.actions[i].at_ms);
    }
    for (size_t i = 0; i < s->change_count; i++) {
        edits[n + i] = (struct edit){ .run = r, .change = &s->changes[i] };
        plan_edit(r, &edits[n + i], s->changes[i].at_ms);
    }
    if (r->plan->faults_ms) {
        r->faults.until_ms = r->sim.now_ms + r->plan->faults_ms;
        run_hold(r, r->faults.until_ms);
    }
    run_settle(r);
    if (r->plan->second_pass_each || r->phase + 1 == r->plan->second_pass)
        start_anew(r);
    if (r->phase + 1 == r->plan->quiet_day)
        let_a_day_pass(r);
    if (r->plan->on_quiet)
        r->plan->on_quiet(r);
    invariants_quiet(r->invariants);
    oracle_snapshot(r->oracle, r->api, r->plan->keep_text, &result->ends[r->phase]);
    result->phases = r->phase + 1;
}

static void count(struct run *r)
{
    struct counts *c = &r->result->counts;
    const struct wire_counts *w = wire_counts(r->wire);
    c->runs = 1;
    for (size_t i = 0; i < ARRAY_LEN(w->requests); i++)
        c->requests += w->requests[i];
    c->events = w->deliveries;
    c->fired += fault_total(&r->faults);
    c->virtual_s = (uint64_t) r->sim.now_ms / 1000;
    for (size_t i = 0; i < r->replicas; i++) {
        const struct process_counts *p = process_counts(r->ostlers[i]);
        c->starts += p->starts;
        c->kills += p->kills;
        c->losses += p->losses;
    }
    r->result->trace = r->sim.trace;
    r->result->mark_count = r->faults.mark_count;
    r->result->marks = TAKE(r->faults.marks);
}

void run_life(const struct life *life, const struct run_plan *plan, struct run_result *ret)
{
    *ret = (struct run_result){ .findings = BUF_INIT(FINDINGS_MAX) };
    ret->ends = xcalloc(life->phases, sizeof *ret->ends);
    struct run r = { .life = life, .plan = plan, .result = ret };
    set_up(&r);
    size_t phases = plan->phases && plan->phases < life->phases ? plan->phases : life->phases;
    for (; r.phase < phases && !r.over; r.phase++)
        run_phase(&r);
    count(&r);
    tear_down(&r);
}

void run_result_clear(struct run_result *r)
{
    buf_clear(&r->findings);
    for (size_t i = 0; i < r->phases; i++)
        snapshot_clear(&r->ends[i]);
    free(r->ends);
    for (size_t i = 0; i < r->line_count; i++)
        free(r->lines[i].text);
    free(r->lines);
    free(r->marks);
    *r = (struct run_result){ 0 };
}

void run_compare(const struct run_result *reference, struct run_result *got)
{
    for (size_t i = 0; i < got->phases && i < reference->phases && !got->incomparable; i++) {
        if (snapshot_same(&reference->ends[i], &got->ends[i], NULL))
            continue;
        buf_printf(&got->findings, "the end of phase %zu is another one than without faults\n", i);
        snapshot_same(&reference->ends[i], &got->ends[i], &got->findings);
        got->finding_count++;
        return; /* what comes after follows from it */
    }
}
