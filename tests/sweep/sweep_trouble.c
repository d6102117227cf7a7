/* For minutes the API server refuses, forgets or keeps silent, or the clock of one Ostler is not
 * that of the rest. */
#include "sim/world/process.h"
#include "tests/sweep/sweep.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

/* ---- the API server */

#define ANSWERS(code, ...)                                                                         \
    {                                                                                              \
        .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = (code),                           \
        .classes = FAULT_ALL_CLASSES, __VA_ARGS__                                                  \
    }

/* One kind of trouble: what it does, one after the other, and how long. */
static const struct trouble {
    const char *text;
    /* first it is away for so long, and has forgotten its history when it is back */
    int64_t away_ms;
    struct fault fault; /* strikes all that comes by */
    bool silent;        /* watches are accepted, stay open and bring nothing */
    int64_t for_ms;     /* of fault and silence */
} troubles[] = {
    { "everything is answered 429 for three minutes", .fault = ANSWERS(429),
      .for_ms = 3 * MINUTE_MS },
    { "everything is answered 429 without Retry-After for three minutes",
      .fault = ANSWERS(429, .retry_after_s = -1), .for_ms = 3 * MINUTE_MS },
    { "everything is answered 500 for three minutes", .fault = ANSWERS(500),
      .for_ms = 3 * MINUTE_MS },
    { "everything is answered 503 for three minutes", .fault = ANSWERS(503),
      .for_ms = 3 * MINUTE_MS },
    { "everything is answered 503 with Retry-After: 30 for three minutes",
      .fault = ANSWERS(503, .retry_after_s = 30), .for_ms = 3 * MINUTE_MS },
    { "everything is answered 429 with Retry-After: 3600 for ten seconds",
      .fault = ANSWERS(429, .retry_after_s = 3600), .for_ms = 10 * 1000 },
    { "the server is away for two minutes, has forgotten its history, and lists take 20 s",
      .away_ms = 2 * MINUTE_MS,
      .fault = { .point = FAULT_BEFORE,
                 .effect = FAULT_DELAY,
                 .delay_ms = 20 * 1000,
                 .classes = FAULT_CLASS(REQUEST_READ) },
      .for_ms = 2 * MINUTE_MS },
    { "watches are accepted, stay open and bring nothing for ten minutes", .silent = true,
      .for_ms = 10 * MINUTE_MS },
};

/* One case, while it goes on. */
struct trouble_case {
    const struct trouble *what;
    size_t nth; /* the write at which it begins */
    size_t writes;
    struct run *run;
    struct sim_event next;
};

static void on_thaw(void *arg)
{
    struct trouble_case *t = arg;
    wire_thaw(t->run->wire);
}

static void begin(struct trouble_case *t)
{
    struct run *r = t->run;
    int64_t until_ms = r->sim.now_ms + t->what->for_ms;
    r->plan->faults->until_ms = t->what->silent ? 0 : until_ms;
    if (t->what->silent) {
        wire_freeze(r->wire, NULL);
        t->next = (struct sim_event){ .fn = on_thaw, .arg = t };
        sim_at(&r->sim, &t->next, until_ms);
    }
    run_hold(r, until_ms);
}

static void on_back(void *arg)
{
    struct trouble_case *t = arg;
    wire_set_away(t->run->wire, false);
    wire_forget(t->run->wire);
    begin(t);
}

static void on_trouble_sent(struct run *r, const struct wire_client *c,
                            const struct request *request)
{
    (void) c;
    struct trouble_case *t = r->plan->arg;
    if (request->class != REQUEST_WRITE || ++t->writes != t->nth)
        return;
    t->run = r;
    r->result->counts.fired++;
    if (!t->what->away_ms) {
        begin(t);
        return;
    }
    wire_set_away(r->wire, true);
    t->next = (struct sim_event){ .fn = on_back, .arg = t };
    sim_after(&r->sim, &t->next, t->what->away_ms);
    run_hold(r, r->sim.now_ms + t->what->away_ms);
}

size_t trouble_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(troubles);
}

size_t trouble_run(const struct sweep_env *env, size_t index, struct counts *counts,
                   struct buf *out)
{
    struct trouble_case t = { .what = &troubles[index % ARRAY_LEN(troubles)],
                              .nth = index / ARRAY_LEN(troubles) + 1 },
                        fresh = t;
    struct fault fault = t.what->fault;
    CLEANUP_FREE char *what = xasprintf("from the sending of write %zu on %s", t.nth, t.what->text);
    struct run_plan plan = { .seed = 1,
                             .faults = &fault,
                             .fault_count = 1,
                             .on_sent = on_trouble_sent,
                             .arg = &t,
                             .fresh = &fresh,
                             .arg_size = sizeof t };
    return sweep_live(env, &plan, true, what, counts, out);
}

/* ---- clocks */

static const struct clock_row {
    const char *text;
    int64_t ahead_ms; /* of the clock that is wrong from then on */
    bool hands_over;  /* it is that of the other one, which takes over; else the leader's own */
} clock_rows[] = {
    { "the leader's clock jumps two minutes ahead", .ahead_ms = 2 * MINUTE_MS },
    { "the leader's clock jumps two minutes back", .ahead_ms = -2 * MINUTE_MS },
    { "the leader's clock jumps two hours ahead", .ahead_ms = 2 * HOUR_MS },
    { "the leader's clock jumps two hours back", .ahead_ms = -2 * HOUR_MS },
    { "one takes over whose clock is five minutes ahead", .ahead_ms = 5 * MINUTE_MS,
      .hands_over = true },
    { "one takes over whose clock is five minutes behind", .ahead_ms = -5 * MINUTE_MS,
      .hands_over = true },
};

struct clock_case {
    const struct clock_row *what;
    size_t nth; /* the write with which it happens */
    size_t writes;
};

static void on_clock_sent(struct run *r, const struct wire_client *c, const struct request *request)
{
    struct clock_case *t = r->plan->arg;
    if (request->class != REQUEST_WRITE || ++t->writes != t->nth)
        return;
    struct process *leader = run_sender(r, c),
                   *other = leader == r->ostlers[0] ? r->ostlers[1] : r->ostlers[0];
    process_set_clock(t->what->hands_over ? other : leader, t->what->ahead_ms);
    if (t->what->hands_over)
        process_kill(leader);
    r->result->counts.fired++;
}

size_t clocks_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(clock_rows);
}

size_t clocks_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct clock_case t = { .what = &clock_rows[index % ARRAY_LEN(clock_rows)],
                            .nth = index / ARRAY_LEN(clock_rows) + 1 },
                      fresh = t;
    CLEANUP_FREE char *what = xasprintf("when write %zu is sent %s", t.nth, t.what->text);
    struct run_plan plan = { .seed = 1,
                             .replicas = 2,
                             .on_sent = on_clock_sent,
                             .arg = &t,
                             .fresh = &fresh,
                             .arg_size = sizeof t };
    return sweep_live(env, &plan, true, what, counts, out);
}
