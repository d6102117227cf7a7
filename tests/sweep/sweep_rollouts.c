/* Case files: each is a scenario, and what must come of it (`expect`). All invariants are checked
 * after every write, as in every sweep; at the end an Ostler that starts anew must find nothing to
 * do. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "tests/sweep/expect.h"
#include "tests/sweep/sweep.h"

#define FILES "tests/rollouts/*.yaml"
#define PLATFORM_FILES "tests/platforms/*.yaml"
#define LARGE_FILES "tests/rollouts/large/*.yaml"

enum { DAY_MS = 24 * 3600 * 1000 };

/* One case while it is lived. */
struct rollout_case {
    struct expectations *expectations;
    struct journal *journal;
    const struct rollouts_watch *watch;
};

/* The files but the large ones; their names in order. The caller calls globfree(). */
static void find_small(glob_t *ret)
{
    *ret = (glob_t){ 0 };
    glob(FILES, 0, NULL, ret);
    glob(PLATFORM_FILES, GLOB_APPEND, NULL, ret);
}

/* All files, large ones last. The caller calls globfree(). */
static void find_files(glob_t *ret)
{
    find_small(ret);
    glob(LARGE_FILES, GLOB_APPEND, NULL, ret);
}

size_t rollouts_small(void)
{
    glob_t files;
    find_small(&files);
    size_t n = files.gl_pathc;
    globfree(&files);
    return n;
}

size_t rollouts_cases(const struct sweep_env *env)
{
    glob_t files;
    find_files(&files);
    size_t n = env->file ? 1 : files.gl_pathc;
    globfree(&files);
    return n;
}

static void on_begin(struct run *r)
{
    const struct rollout_case *c = r->plan->arg;
    expectations_begin(c->expectations, r, c->journal);
}

static void on_commit(struct run *r, const struct api_commit *commit)
{
    const struct rollout_case *c = r->plan->arg;
    journal_commit(c->journal, commit);
    if (c->watch && c->watch->on_commit)
        c->watch->on_commit(r, commit, c->watch->arg);
}

static void on_quiet(struct run *r)
{
    const struct rollout_case *c = r->plan->arg;
    expectations_end(c->expectations);
}

size_t rollouts_live(const struct sweep_env *env, struct life *life, struct expectations *x,
                     const struct rollouts_watch *watch, struct counts *counts, struct buf *out)
{
    struct rollout_case c = { .expectations = x, .journal = journal_new(), .watch = watch };
    life->until_ms = expectations_until(x);
    struct run_plan plan = { .seed = life->scenario->seed,
                             .calm = true,
                             .alone = life->until_ms > DAY_MS,
                             .faults = watch ? watch->faults : NULL,
                             .fault_count = watch ? watch->fault_count : 0,
                             .verbose = env->verbose,
                             .plant = env->plant,
                             .on_begin = on_begin,
                             .on_commit = on_commit,
                             .on_quiet = on_quiet,
                             .second_pass_each = true,
                             .arg = &c };
    struct run_result result;
    run_life(life, &plan, &result);
    size_t found = result.finding_count;
    buf_str(out, buf_text(&result.findings));
    result.counts.expected = expectations_count(x);
    counts_add(counts, &result.counts);
    run_result_clear(&result);
    journal_free(c.journal);
    return found;
}

static size_t live_file(const struct sweep_env *env, const char *file, struct counts *counts,
                        struct buf *out)
{
    struct life life;
    struct expectations *x = NULL;
    CLEANUP_ERR struct err e = { 0 };
    size_t found = 1;
    if (life_load_by_clock(&life, file, &e) == 0)
        x = expectations_new(life.scenario->expect, &e);
    if (x && expectations_count(x) > 0)
        found = rollouts_live(env, &life, x, NULL, counts, out);
    else
        buf_printf(out, "%s\n", x ? "nothing is expected of it" : err_msg(&e));
    expectations_free(x);
    if (life.scenario)
        life_clear(&life);
    return found;
}

size_t rollouts_run(const struct sweep_env *env, size_t index, struct counts *counts,
                    struct buf *out)
{
    glob_t files;
    find_files(&files);
    const char *file = env->file ? env->file : files.gl_pathv[index];
    buf_printf(out, "%s:\n", file);
    size_t found = live_file(env, file, counts, out);
    globfree(&files);
    return found;
}
