#include "sim/world/process.h"

#include <stdlib.h>

#include "base/metrics.h"
#include "controller/engine/engine.h"

enum { METRIC_SERIES_MAX = 512 };

/* How a run ends; the process is removed after its turn. */
enum ending { ENDING_NONE, ENDING_KILLED, ENDING_LOST, ENDING_FINISHED };

struct process {
    struct process_options o;
    struct process_counts counts;
    struct clock clock; /* its machine's: virtual time with a different wall time */
    int64_t ahead_ms;
    /* State of one run; `engine` is NULL between runs. */
    char *identity;
    struct loop *loop;
    struct metrics *metrics;
    struct wire_client *client;
    struct engine *engine;
    struct sim_event turn, restart;
    enum ending ending;
    bool in_turn, paused, stopping;
};

static void report_running(const struct process *p, bool begins)
{
    if (p->o.running)
        p->o.running(p->o.arg, begins);
}

static void process_leave(struct process *p)
{
    sim_cancel(p->o.sim, &p->turn);
    engine_free(TAKE(p->engine));
    wire_client_free(TAKE(p->client));
    metrics_free(TAKE(p->metrics));
    loop_free(TAKE(p->loop));
    free(TAKE(p->identity));
}

static void process_end(struct process *p, enum ending ending)
{
    p->counts.kills += ending == ENDING_KILLED;
    p->counts.losses += ending == ENDING_LOST;
    p->counts.ends += ending == ENDING_FINISHED;
    process_leave(p);
    if (p->o.restart_ms >= 0 && ending != ENDING_FINISHED && !p->stopping)
        sim_after(p->o.sim, &p->restart, p->o.restart_ms);
}

/* If its own code is running, it ends after its turn, and sends nothing until then. */
static void end_soon(struct process *p, enum ending ending)
{
    if (!p->in_turn) {
        process_end(p, ending);
        return;
    }
    wire_client_cut(p->client);
    if (p->ending == ENDING_NONE)
        p->ending = ending;
}

static void schedule(struct process *p)
{
    int64_t at = loop_deadline(p->loop);
    if (p->paused || at == INT64_MAX)
        sim_cancel(p->o.sim, &p->turn);
    else
        sim_at(p->o.sim, &p->turn, at);
}

static void on_turn(void *arg)
{
    struct process *p = arg;
    p->counts.turns++;
    p->in_turn = true;
    report_running(p, true);
    loop_turn(p->loop);
    report_running(p, false);
    p->in_turn = false;
    enum ending ending = p->ending == ENDING_NONE && wire_client_is_cut(p->client) ? ENDING_KILLED
                                                                                   : p->ending;
    p->ending = ENDING_NONE;
    if (ending != ENDING_NONE)
        process_end(p, ending);
    else
        schedule(p);
}

static void process_on_begin(void *arg)
{
    struct process *p = arg;
    wire_client_deliver(p->client);
}

static void on_news(void *arg)
{
    struct process *p = arg;
    if (!p->paused)
        sim_at(p->o.sim, &p->turn, p->o.sim->now_ms);
}

static void on_die(void *arg)
{
    process_kill(arg);
}

static void process_on_lost(void *arg)
{
    end_soon(arg, ENDING_LOST);
}

static void on_finished(void *arg, int exit_code)
{
    struct process *p = arg;
    p->counts.exit_code = exit_code;
    end_soon(p, ENDING_FINISHED);
}

static void set_up_engine(struct process *p)
{
    struct engine_options e = p->o.engine;
    e.transport = wire_client_transport(p->client);
    e.loop = p->loop;
    e.clock = &p->clock;
    e.metrics = p->metrics;
    e.identity = p->identity;
    e.seed = p->counts.starts;
    e.lost = process_on_lost;
    e.finished = on_finished;
    e.arg = p;
    p->engine = engine_new(&e);
}

void process_start(struct process *p)
{
    if (p->engine)
        return;
    p->counts.starts++;
    p->paused = p->stopping = false;
    report_running(p, true);
    p->identity = xasprintf("%s_%llu", p->o.name, (unsigned long long) p->counts.starts);
    p->loop = loop_new_virtual(&p->clock);
    p->metrics = metrics_new(METRIC_SERIES_MAX);
    p->client = wire_client_new(p->o.wire,
                                &(struct wire_client_options){ .user = p->o.user,
                                                               .user_agent = "ostler/simulated",
                                                               .news = on_news,
                                                               .die = on_die,
                                                               .arg = p });
    loop_on_begin(p->loop, process_on_begin, p);
    set_up_engine(p);
    engine_start(p->engine);
    report_running(p, false);
    sim_at(p->o.sim, &p->turn, p->o.sim->now_ms);
}

static void on_restart(void *arg)
{
    process_start(arg);
}

static int64_t mono_ms(void *self)
{
    const struct process *p = self;
    return p->o.sim->now_ms;
}

static int64_t wall_us(void *self)
{
    const struct process *p = self;
    return sim_wall_us(p->o.sim, p->o.sim->now_ms) + p->ahead_ms * 1000;
}

void process_set_clock(struct process *p, int64_t ahead_ms)
{
    p->ahead_ms = ahead_ms;
}

struct process *process_new(const struct process_options *o)
{
    struct process *p = xcalloc(1, sizeof *p);
    *p = (struct process){ .o = *o,
                           .clock = { mono_ms, wall_us, p },
                           .turn = { .fn = on_turn, .arg = p },
                           .restart = { .fn = on_restart, .arg = p } };
    return p;
}

void process_free(struct process *p)
{
    if (!p)
        return;
    sim_cancel(p->o.sim, &p->restart);
    process_leave(p);
    free(p);
}

void process_kill(struct process *p)
{
    if (p->engine)
        end_soon(p, ENDING_KILLED);
}

void process_stop(struct process *p)
{
    sim_cancel(p->o.sim, &p->restart);
    p->stopping = true;
    if (!p->engine)
        return;
    engine_stop(p->engine, 0);
    on_news(p); /* a signal wakes it too */
}

void process_pause(struct process *p)
{
    p->paused = true;
    sim_cancel(p->o.sim, &p->turn);
}

void process_resume(struct process *p)
{
    p->paused = false;
    if (p->engine)
        sim_at(p->o.sim, &p->turn, p->o.sim->now_ms);
}

bool process_is_running(const struct process *p)
{
    return p->engine && !p->paused;
}

const struct engine *process_engine(const struct process *p)
{
    return p->engine;
}

bool process_owns(const struct process *p, const struct wire_client *c)
{
    return p->client && p->client == c;
}

const struct process_counts *process_counts(const struct process *p)
{
    return &p->counts;
}
