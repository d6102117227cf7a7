#include "tests/sweep/sweep.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "tests/sweep/faults_told.h"
#include "tests/sweep/least.h"
#include "tests/sweep/options.h"
#include "tests/sweep/pool.h"
#include "tests/sweep/regressions.h"
#include "tests/sweep/trace.h"
#include "tests/sweep/workers.h"

enum {
    CASES_SHOWN = 10,
    NUMBER_MAX = 32,
    TRIES_TEXT_MAX = 1 << 16,
    CASE_LIMIT_S = 120,
    LARGE_LIMIT_S = 4 * 3600
};

#define AGENTS "tests/sweep/agents.yaml"
#define AGENTS_ACTO "tests/sweep/agents-acto.yaml"
#define UPGRADE "sim/scenarios/upgrade.yaml"
#define HEALTH "tests/sweep/health.yaml"
#define CLOSE "tests/sweep/health-close.yaml"
#define REPAIR "tests/sweep/health-repair.yaml"
#define HEALTH_LIFE "tests/sweep/health-life.yaml"
#define SHORT_LIFE "tests/sweep/short.yaml"
#define STEPS "tests/sweep/steps/life.yaml"
#define AGENT_STEPS "tests/sweep/steps/agents-life.yaml"

static const struct sweep sweeps[] = {
    { "crash-sweep", "the process dies at every write, at three moments", crash_cases, crash_run,
      NULL, EXACT, 12 },
    { "lost-response-sweep",
      "every write is lost, refused, or committed with its response lost, broken or wrong",
      lost_cases, lost_run, NULL, EXACT, 12 },
    { "stale-sweep", "from every notification on Ostler's cache is stale, in four ways",
      stale_cases, stale_run, NULL, LOOSE, 8 },
    { "unobserved-sweep", "every event that a later one of its object follows is hidden",
      unobserved_cases, unobserved_run, NULL, EXACT, 8 },
    { "two-leaders", "the leader hangs at every write, and another one takes over", leaders_cases,
      leaders_run, NULL, EXACT, 6 },
    { "outage", "the API server is down for 10 minutes and 2 hours at every write", outage_cases,
      outage_run, NULL, EXACT, 4 },
    { "server-trouble",
      "for minutes at every write the API server refuses, forgets, or its watches are silent",
      trouble_cases, trouble_run, NULL, EXACT, 6 },
    { "clocks", "the clock of one Ostler is wrong from every write on", clocks_cases, clocks_run,
      NULL, LOOSE, 6 },
    { "rbac-matrix", "each permission of Ostler is missing", rights_cases, rights_run, NULL, EXACT,
      21 },
    { "dst", "random faults of all kinds in a life of upgrades, then quiet; one case for each seed",
      dst_cases, dst_run, "tests/sweep/dst.yaml", LOOSE, 16 },
    { "dst-short", "the same in the shortest life, for very many seeds", dst_cases, short_run,
      SHORT_LIFE, LOOSE, 40 },
    { "dst-life", "the same in the long life", dst_cases, dst_run, NULL, LOOSE, 6 },
    { "acto",
      "every field of the policy changed to good, bad and hostile values and back, from every "
      "phase",
      acto_cases, acto_run, "tests/sweep/acto.yaml", LOOSEST, 3 },
    { "foreign-writers", "other clients write the same objects between Ostler's read and write",
      writers_cases, writers_run, NULL, LOOSEST, 5 },
    { "same", "every seed runs twice, without faults: both runs are the same, without findings",
      same_cases, same_run, NULL, EXACT, 1 },
    /* The same in a life where no client labels nodes: Ostler's agents report the hardware. */
    { "agents-same", "same, with agents instead of labels", same_cases, same_run, AGENTS, EXACT,
      1 },
    { "agents-crash", "crash-sweep, with agents", crash_cases, crash_run, AGENTS, EXACT, 10 },
    { "agents-stale", "stale-sweep, with agents", stale_cases, stale_run, AGENTS, LOOSE, 8 },
    { "agents-lost-response", "lost-response-sweep, with agents", lost_cases, lost_run, AGENTS,
      EXACT, 10 },
    { "agents-unobserved", "unobserved-sweep, with agents", unobserved_cases, unobserved_run,
      AGENTS, EXACT, 8 },
    { "agents-two-leaders", "two-leaders, with agents", leaders_cases, leaders_run, AGENTS, EXACT,
      6 },
    { "agents-outage", "outage, with agents", outage_cases, outage_run, AGENTS, EXACT, 6 },
    { "agents-rights", "rbac-matrix, with agents", rights_cases, rights_run, AGENTS, EXACT, 10 },
    { "agents-writers", "foreign-writers, with agents", writers_cases, writers_run, AGENTS, LOOSEST,
      5 },
    { "agents-acto", "acto, with agents", acto_cases, acto_run, AGENTS_ACTO, LOOSEST, 4 },
    { "agents-dst", "dst, with agents", dst_cases, dst_run, AGENTS, LOOSE, 8 },
    { "agents-steps", "a node's agent hangs, lies or restarts at every step of an upgrade",
      agents_cases, agents_run, AGENT_STEPS, LOOSEST, 16 },
    /* The same in a life in which nodes that are in use are upgraded. */
    { "upgrade-same", "same, in a life of upgrades", same_cases, same_run, UPGRADE, EXACT, 1 },
    { "upgrade-crash", "crash-sweep, in a life of upgrades", crash_cases, crash_run, UPGRADE, EXACT,
      18 },
    { "upgrade-lost-response", "lost-response-sweep, in a life of upgrades", lost_cases, lost_run,
      UPGRADE, EXACT, 16 },
    { "upgrade-stale", "stale-sweep, in a life of upgrades", stale_cases, stale_run, UPGRADE, LOOSE,
      16 },
    { "upgrade-unobserved", "unobserved-sweep, in a life of upgrades", unobserved_cases,
      unobserved_run, UPGRADE, EXACT, 12 },
    { "upgrade-two-leaders", "two-leaders, in a life of upgrades", leaders_cases, leaders_run,
      UPGRADE, EXACT, 12 },
    { "upgrade-outage", "outage, in a life of upgrades", outage_cases, outage_run, UPGRADE, EXACT,
      8 },
    { "upgrade-server-trouble", "server-trouble, in a life of upgrades", trouble_cases, trouble_run,
      UPGRADE, EXACT, 8 },
    { "upgrade-clocks", "clocks, in a life of upgrades", clocks_cases, clocks_run, UPGRADE, LOOSE,
      6 },
    { "upgrade-rights", "rbac-matrix, in a life of upgrades", rights_cases, rights_run, UPGRADE,
      EXACT, 0 },
    { "upgrade-writers", "foreign-writers, in a life of upgrades", writers_cases, writers_run,
      UPGRADE, LOOSEST, 10 },
    { "rollouts", "case files of tests/rollouts and tests/platforms; --life FILE runs only one",
      rollouts_cases, rollouts_run, NULL, UNCOMPARED, 0 },
    { "upgrade-people", "a user labels or edits a node at every step of its upgrade", people_cases,
      people_run, STEPS, LOOSEST, 16 },
    { "upgrade-policy", "the policy changes at every step of a node's upgrade", policy_cases,
      policy_run, STEPS, LOOSEST, 16 },
    { "upgrade-nodes", "a node is deleted, added, rebooted or down at every step of its upgrade",
      nodes_cases, nodes_run, STEPS, LOOSEST, 16 },
    { "upgrade-older-crds",
      "the API server has older CRDs, and drops fields, for a while from every write on",
      older_cases, older_run, UPGRADE, EXACT, 6 },
    { "upgrade-jobs",
      "a job of two weeks lands on an idle node up to 250 ms before or after it is claimed",
      jobs_cases, jobs_run, NULL, UNCOMPARED, 3 },
    { "upgrade-parked",
      "from each write to a node on, the API server answers such writes with 429 for minutes and "
      "Retry-After: 3600",
      parked_cases, parked_run, NULL, UNCOMPARED, 5 },
    { "health-observe", "same, in a life in which GPUs fail by hand, at random and in storms",
      same_cases, same_run, HEALTH, EXACT, 2 },
    { "health-close", "the same with mode Close, while drivers are upgraded", same_cases, same_run,
      CLOSE, EXACT, 2 },
    { "health-repair", "the same with mode Repair", same_cases, same_run, REPAIR, EXACT, 2 },
    /* Each disturbance of the others in a short life in which GPUs fail. */
    { "health-crash", "crash-sweep, while GPUs fail", crash_cases, crash_run, HEALTH_LIFE, LOOSE,
      3 },
    { "health-lost-response", "lost-response-sweep, while GPUs fail", lost_cases, lost_run,
      HEALTH_LIFE, LOOSE, 3 },
    { "health-stale", "stale-sweep, while GPUs fail", stale_cases, stale_run, HEALTH_LIFE, LOOSE,
      2 },
    { "health-unobserved", "unobserved-sweep, while GPUs fail", unobserved_cases, unobserved_run,
      HEALTH_LIFE, LOOSE, 2 },
    { "health-two-leaders", "two-leaders, while GPUs fail", leaders_cases, leaders_run, HEALTH_LIFE,
      LOOSE, 2 },
    { "health-outage", "outage, while GPUs fail", outage_cases, outage_run, HEALTH_LIFE, LOOSE, 1 },
    { "health-dst", "dst, while GPUs fail", dst_cases, dst_run, HEALTH_LIFE, LOOSE, 3 },
    { "upgrade-dst", "dst, in a life of upgrades", dst_cases, dst_run, UPGRADE, LOOSE, 12 },
};

const struct sweep *sweep_table(size_t *ret_count)
{
    *ret_count = ARRAY_LEN(sweeps);
    return sweeps;
}

/* ---- one case */

static size_t live(const struct sweep_env *env, const struct run_plan *plan, bool compare,
                   struct counts *counts)
{
    struct run_result result;
    run_life(env->life, plan, &result);
    if (compare)
        run_compare(&env->reference, &result);
    size_t found = result.finding_count;
    counts_add(counts, &result.counts);
    run_result_clear(&result);
    return found;
}

/* What a run changes of its plan is as it was before. */
static void rewind_plan(const struct run_plan *plan)
{
    if (plan->fresh)
        memcpy(plan->arg, plan->fresh, plan->arg_size);
    for (size_t i = 0; i < plan->fault_count; i++)
        fault_rewind(&plan->faults[i]);
}

size_t sweep_live(const struct sweep_env *env, struct run_plan *plan, bool compare,
                  const char *what, struct counts *counts, struct buf *out)
{
    plan->verbose = env->verbose;
    plan->loose = env->loose;
    plan->plant = env->plant;
    size_t found = live(env, plan, compare, counts);
    if (!found)
        return 0;
    log_setup(LOG_SILENT, false);
    buf_printf(out, "%s:\n", what);
    struct run_plan again = *plan, calm = {
        .seed = 1, .loose = env->loose, .keep_text = true, .phases = plan->phases
    };
    struct run_result reference, result;
    again.keep_text = true;
    again.verbose = false;
    rewind_plan(plan);
    run_life(env->life, &calm, &reference);
    run_life(env->life, &again, &result);
    if (compare)
        run_compare(&reference, &result);
    buf_str(out, buf_text(&result.findings));
    /* Random faults are made short first. */
    if (env->single && again.seed == calm.seed && !again.faults_ms)
        trace_tell(&reference, &result, out);
    run_result_clear(&result);
    run_result_clear(&reference);
    return found;
}

/* ---- the program */

struct report {
    const struct options *options;
    struct counts counts;
    size_t cases, failed, first; /* the first that failed */
};

/* Whether there is no life that all its cases are compared with. */
static bool has_own_lives(const struct sweep *s)
{
    return s->loose == UNCOMPARED;
}

static void on_done(void *arg, size_t index, const struct counts *counts, size_t findings,
                    const char *text)
{
    struct report *r = arg;
    counts_add(&r->counts, counts);
    r->cases++;
    if (!findings)
        return;
    if (r->failed++ == 0)
        r->first = index;
    if (r->failed > CASES_SHOWN)
        return;
    const struct options *o = r->options;
    printf("FAIL %s case %zu, %s    replay: build/release/sweep %s --case %zu", o->sweep->name,
           index, text, o->sweep->name, index);
    if (o->life)
        printf(" --life %s", o->life);
    if (o->plant)
        printf(" --plant %zu", o->plant);
    printf("\n");
    /* With another life it would be another case, and what was planted is none. */
    if (o->only == SIZE_MAX && !o->life && !o->plant && !has_own_lives(o->sweep) &&
        regressions_add(o->sweep->name, index, text))
        printf("    kept in " REGRESSIONS "\n");
    fflush(stdout);
}

/* What more there is to tell of a case that is lived alone. */
static void on_more(void *arg, const char *text)
{
    (void) arg;
    printf("%s", text);
    fflush(stdout);
}

/* What finds that out, where the sweep has it. */
static sweep_tell_fn *teller(const struct sweep *s)
{
    return s->run == dst_run ? dst_tell : s->run == short_run ? short_tell : NULL;
}

/* The first case that failed, lived alone: more is found out about it. */
static void on_told(void *arg, size_t index, const struct counts *counts, size_t findings,
                    const char *text)
{
    (void) counts;
    (void) findings;
    const struct report *r = arg;
    printf("\n%s case %zu alone, %s", r->options->sweep->name, index, text);
    fflush(stdout);
}

static void tell_first(struct report *r, struct sweep_env *env)
{
    env->single = true;
    struct workers_job job = { .sweep = r->options->sweep,
                               .env = env,
                               .cases = &r->first,
                               .count = 1,
                               .processes = 1,
                               .limit_s = CASE_LIMIT_S,
                               .done = on_told,
                               .tell = teller(r->options->sweep),
                               .more = on_more,
                               .arg = r };
    workers_run(&job);
    printf("\n");
}

/* Whether its cases are files, which are no row of which some can be left out. */
static bool has_files(const struct sweep *s)
{
    return s->run == rollouts_run;
}

/* How many besides those. */
static size_t how_many(const struct options *o, size_t all)
{
    size_t small = has_files(o->sweep) ? rollouts_small() : o->sweep->small;
    size_t n = o->full ? all : o->count ? o->count : small ? small : all;
    return n < all ? n : all;
}

/* Which cases, spread evenly over all; of seeds one after another. */
static size_t *choose(const struct options *o, size_t all, size_t *ret_count)
{
    size_t *cases = NULL, n = how_many(o, all);
    size_t known = o->only == SIZE_MAX && n < all && !has_own_lives(o->sweep)
                       ? regressions_read(o->sweep->name, all, &cases)
                       : 0;
    if (o->only != SIZE_MAX)
        n = 1;
    cases = xreallocarray(cases, known + n + 1, sizeof *cases);
    for (size_t i = 0; i < n; i++)
        cases[known + i] = o->only != SIZE_MAX   ? o->only
                           : all >= SWEEP_SEEDS  ? o->first + i
                           : has_files(o->sweep) ? i
                                                 : (size_t) ((unsigned __int128) i * all / n);
    *ret_count = known + n;
    return cases;
}

/* How often each was tried; in the sweep's own life also how often it must be, or why it is not. */
static void print_tried(const struct report *r, bool judged, bool whole)
{
    const struct options *o = r->options;
    const struct counts *c = &r->counts;
    enum least_life life;
    bool known = judged && least_life_of(o->sweep->name, &life);
    for (int i = 0; i < INVARIANT_COUNT; i++) {
        enum invariant_id id = (enum invariant_id) i;
        printf("    %-16s %10" PRIu64 " times", invariant_name(id), c->tried[i]);
        if (known && least_reason(life, id))
            printf(" (%s)", least_reason(life, id));
        else if (known)
            printf(" (at least %" PRIu64 ")", least_of(life, id, c->runs, whole));
        printf(": %s\n", invariant_text(id));
    }
}

/* A check that was tried too seldom has shown nothing; returns for how many that is so. A case
 * alone, another life and a sweep that was ended early need not try everything. */
static size_t judge_tries(const struct report *r, bool whole)
{
    CLEANUP_BUF struct buf text = BUF_INIT(TRIES_TEXT_MAX);
    size_t failed = least_judge(r->options->sweep->name, &r->counts, whole, &text);
    printf("%s", buf_text(&text));
    return failed;
}

/* What this program's processes have computed so far, once they have ended. */
static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void print_figures(const struct report *r, double seconds)
{
    const struct counts *c = &r->counts;
    double cpu = cpu_seconds(), per = cpu > 0 ? 1 / cpu : 0;
    printf("%s: in %.1f s, and %.1f s of one core: per second of one core %.1f cases, %.1f runs, "
           "%.2f virtual hours, %.0f writes "
           "checked\n",
           r->options->sweep->name, seconds, cpu, (double) r->cases * per, (double) c->runs * per,
           (double) c->virtual_s / 3600 * per, (double) c->writes * per);
}

/* 3120 as "3,120". */
static void grouped(size_t number, struct buf *out)
{
    CLEANUP_FREE char *digits = xasprintf("%zu", number);
    for (size_t n = strlen(digits), i = 0; i < n; i++)
        buf_printf(out, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
}

/* How much of the sweep that was: "60 of 3,120 cases; crash-sweep-full lives all". */
static void print_share(const struct options *o, size_t lived, size_t all)
{
    CLEANUP_BUF struct buf text = BUF_INIT(NUMBER_MAX);
    grouped(all, &text);
    if (all >= SWEEP_SEEDS)
        printf("%s: %zu seed%s; --count N takes as many as one asks for\n", o->sweep->name, lived,
               lived == 1 ? "" : "s");
    else if (lived < all)
        printf("%s: %zu of %s cases; %s-full lives all\n", o->sweep->name, lived, buf_text(&text),
               o->sweep->name);
    else
        printf("%s: all %s cases\n", o->sweep->name, buf_text(&text));
}

/* The life without faults, silent unless it is what is asked for: what is told otherwise is about
 * cases. */
static void live_reference(struct sweep_env *env, bool verbose)
{
    struct fault passive = { .point = FAULT_BEFORE, .classes = FAULT_CLASS(REQUEST_WRITE) };
    struct run_plan calm = { .seed = 1,
                             .calm = true,
                             .loose = env->loose,
                             .verbose = verbose,
                             .faults = &passive,
                             .fault_count = 1,
                             .on_commit = view_count_notification,
                             .arg = &env->notifications };
    run_life(env->life, &calm, &env->reference);
    env->writes = passive.seen;
}

/* From here on cases are told at length, apart from the life without faults, of which only the
 * figure is said. */
static void begin_verbose(const struct options *o, const struct sweep_env *env)
{
    printf("---- the life without faults: %zu writes\n", env->reference.write_count);
    if (o->only != SIZE_MAX)
        printf("---- %s case %zu\n", o->sweep->name, o->only);
    fflush(stdout);
    log_setup(LOG_DEBUG, false);
}

static int sweep(const struct options *o, struct sweep_env *env)
{
    if (env->life)
        live_reference(env, o->reference);
    if (o->reference)
        return env->reference.finding_count ? 1 : 0;
    size_t all = o->sweep->cases(env);
    if (o->only != SIZE_MAX && o->only >= all) {
        fprintf(stderr, "sweep: %s has %zu cases, numbered from 0\n", o->sweep->name, all);
        return 2;
    }
    if (o->verbose)
        begin_verbose(o, env);
    if (env->reference.finding_count) {
        printf("FAIL the life without faults:\n%s", buf_text(&env->reference.findings));
        if (o->only == SIZE_MAX)
            return 1;
    }
    struct report report = { .options = o };
    size_t n;
    CLEANUP_FREE size_t *cases = choose(o, all, &n);
    struct clock clock = clock_system();
    int64_t began = clock_mono_ms(&clock);
    struct workers_job job = { .sweep = o->sweep,
                               .env = env,
                               .cases = cases,
                               .count = n,
                               .processes = o->processes,
                               .limit_s = has_own_lives(o->sweep) && (o->full || o->life)
                                              ? LARGE_LIMIT_S
                                              : CASE_LIMIT_S,
                               .done = on_done,
                               .tell = env->single ? teller(o->sweep) : NULL,
                               .more = on_more,
                               .arg = &report };
    workers_run(&job);
    if (report.failed && o->only == SIZE_MAX && env->life && !workers_ended_by())
        tell_first(&report, env);
    double seconds = (double) (clock_mono_ms(&clock) - began) / 1000;
    CLEANUP_FREE char *counts = counts_text(&report.counts);
    print_share(o, report.cases, all);
    printf("%s: %zu of %zu %s with findings; %s\n", o->sweep->name, report.failed, report.cases,
           report.cases == 1 ? "case" : "cases", counts);
    bool judged = o->only == SIZE_MAX && !o->life && !workers_ended_by();
    bool whole = o->full || n >= how_many(&(struct options){ .sweep = o->sweep }, all);
    print_tried(&report, judged, whole);
    print_figures(&report, seconds);
    if (workers_ended_by()) {
        printf("%s: ended early by signal %d, after %zu of %zu cases\n", o->sweep->name,
               workers_ended_by(), report.cases, n);
        return 1;
    }
    size_t failed = report.failed + (report.counts.runs == 0) /* nothing tried is nothing shown */
                    + (judged ? judge_tries(&report, whole) : 0);
    printf("%s: %zu passed, %zu failed\n", o->sweep->name, report.cases - report.failed, failed);
    return failed > 0;
}

int main(int argc, char **argv)
{
    mem_hook_jansson();
    pool_hook_jansson();
    log_setup(LOG_SILENT, false);
    struct options o;
    CLEANUP_ERR struct err e = { 0 };
    if (options_parse(argc, argv, &o, &e) < 0) {
        fprintf(stderr, "sweep: %s\n", err_msg(&e));
        return 2;
    }
    if (o.help) {
        options_help();
        return 0;
    }
    struct life life = { 0 };
    const char *file = o.life ? o.life : o.sweep->life ? o.sweep->life : "tests/sweep/life.yaml";
    if (!has_own_lives(o.sweep) && life_load(&life, file, &e) < 0) {
        fprintf(stderr, "sweep: %s\n", err_msg(&e));
        return 2;
    }
    struct sweep_env env = { .life = has_own_lives(o.sweep) ? NULL : &life,
                             .file = o.life,
                             .loose = o.sweep->loose,
                             .single = o.only != SIZE_MAX,
                             .verbose = o.verbose,
                             .plant = o.plant,
                             .shorten_s = (unsigned) o.shorten_s };
    workers_heed_signals();
    int rc = sweep(&o, &env);
    run_result_clear(&env.reference);
    if (env.life)
        life_clear(&life);
    fflush(stdout);
    if (workers_ended_by())
        raise(workers_ended_by()); /* who sent it sees that the sweep ended by it */
    return rc;
}
