/* Time goes by without Ostler: the leader stands still while another one takes over, or the API
 * server is away. */
#include <stdio.h>

#include "tests/sweep/sweep.h"

/* One case, while it goes on. */
struct time_case {
    size_t nth; /* the write at which it begins */
    int64_t for_ms;
    size_t writes;
    struct run *run;
    struct process *paused;
    struct sim_event end;
};

static const int64_t pauses_ms[] = { 9 * 1000, 16 * 1000, 40 * 1000 };
static const int64_t outages_ms[] = { 10 * 60 * 1000, 2 * 3600 * 1000 };

/* ---- two leaders */

static void on_resume(void *arg)
{
    struct time_case *t = arg;
    process_resume(t->paused);
}

static void on_leader_sent(struct run *r, const struct wire_client *c,
                           const struct request *request)
{
    struct time_case *t = r->plan->arg;
    if (request->class != REQUEST_WRITE || ++t->writes != t->nth)
        return;
    t->paused = run_sender(r, c);
    t->end = (struct sim_event){ .fn = on_resume, .arg = t };
    process_pause(t->paused);
    sim_after(&r->sim, &t->end, t->for_ms);
    run_hold(r, r->sim.now_ms + t->for_ms);
    r->result->counts.fired++;
}

size_t leaders_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(pauses_ms);
}

size_t leaders_run(const struct sweep_env *env, size_t index, struct counts *counts,
                   struct buf *out)
{
    struct time_case t = { .nth = index / ARRAY_LEN(pauses_ms) + 1,
                           .for_ms = pauses_ms[index % ARRAY_LEN(pauses_ms)] },
                     fresh = t;
    char what[128];
    snprintf(what, sizeof what, "the leader stands still for %d s when it sends write %zu",
             (int) (t.for_ms / 1000), t.nth);
    struct run_plan plan = { .seed = 1,
                             .replicas = 2,
                             .on_sent = on_leader_sent,
                             .arg = &t,
                             .fresh = &fresh,
                             .arg_size = sizeof t };
    return sweep_live(env, &plan, true, what, counts, out);
}

/* ---- the API server is away */

static void on_back(void *arg)
{
    struct time_case *t = arg;
    wire_set_away(t->run->wire, false);
}

static void on_outage_sent(struct run *r, const struct wire_client *c,
                           const struct request *request)
{
    (void) c;
    struct time_case *t = r->plan->arg;
    if (request->class != REQUEST_WRITE || ++t->writes != t->nth)
        return;
    t->run = r;
    t->end = (struct sim_event){ .fn = on_back, .arg = t };
    wire_set_away(r->wire, true);
    sim_after(&r->sim, &t->end, t->for_ms);
    run_hold(r, r->sim.now_ms + t->for_ms);
    r->result->counts.fired++;
}

size_t outage_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(outages_ms);
}

size_t outage_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct time_case t = { .nth = index / ARRAY_LEN(outages_ms) + 1,
                           .for_ms = outages_ms[index % ARRAY_LEN(outages_ms)] },
                     fresh = t;
    char what[128];
    snprintf(what, sizeof what, "the API server is away for %d min when write %zu is sent",
             (int) (t.for_ms / 60000), t.nth);
    struct run_plan plan = {
        .seed = 1, .on_sent = on_outage_sent, .arg = &t, .fresh = &fresh, .arg_size = sizeof t
    };
    return sweep_live(env, &plan, true, what, counts, out);
}
