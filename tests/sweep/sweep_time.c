/* Time goes by without Ostler: the leader stands still while another one takes over, or the API
 * server is away. */
#include <stdio.h>

#include "tests/sweep/sweep.h"

/* One case, while it goes on. */
struct time_case {
    size_t nth; /* the write at which it begins */
    int64_t for_ms;
    bool silent;
    size_t writes;
    struct run *run;
    struct process *paused;
    struct sim_event end;
};

/* How the leader stands still. What the other one knows of nodes when it takes over may be older
 * than the leader's last writes. */
static const struct pause {
    int64_t for_ms;
    bool silent; /* from that write on, too, watches of nodes bring nothing */
    const char *text;
} pauses[] = {
    { 9 * 1000, false, "the leader stands still for 9 s" },
    { 16 * 1000, false, "the leader stands still for 16 s" },
    { 40 * 1000, false, "the leader stands still for 40 s" },
    { 40 * 1000, true, "the leader stands still for 40 s, and watches of nodes are silent" },
};
static const int64_t outages_ms[] = { 10 * 60 * 1000, 2 * 3600 * 1000 };

/* ---- two leaders */

static void on_resume(void *arg)
{
    struct time_case *t = arg;
    process_resume(t->paused);
    wire_thaw(t->run->wire);
}

static void on_leader_sent(struct run *r, const struct wire_client *c,
                           const struct request *request)
{
    struct time_case *t = r->plan->arg;
    if (request->class != REQUEST_WRITE || ++t->writes != t->nth)
        return;
    t->run = r;
    t->paused = run_sender(r, c);
    t->end = (struct sim_event){ .fn = on_resume, .arg = t };
    process_pause(t->paused);
    if (t->silent)
        wire_freeze(r->wire, kind_named("nodes"));
    sim_after(&r->sim, &t->end, t->for_ms);
    run_hold(r, r->sim.now_ms + t->for_ms);
    r->result->counts.fired++;
}

size_t leaders_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(pauses);
}

size_t leaders_run(const struct sweep_env *env, size_t index, struct counts *counts,
                   struct buf *out)
{
    const struct pause *pause = &pauses[index % ARRAY_LEN(pauses)];
    struct time_case t = { .nth = index / ARRAY_LEN(pauses) + 1,
                           .for_ms = pause->for_ms,
                           .silent = pause->silent },
                     fresh = t;
    char what[128];
    snprintf(what, sizeof what, "at write %zu %s", t.nth, pause->text);
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
