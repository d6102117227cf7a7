/* Random faults from the whole list, then a quiet phase. */
#include <string.h>

#include "base/clock.h"
#include "sim/world/rng.h"
#include "tests/sweep/sweep.h"
#include "tests/sweep/faults_told.h"
#include "tests/sweep/trace.h"

enum {
    FAULTS_MS = 30 * 1000,
    FAULTS_SHORT_MS = 8 * 1000,
    SHORTEN_LIVES = 200,
    MINUTE_MS = 60 * 1000,
    /* within ten minutes clocks of different machines may differ (base/clock.h) */
    CLOCKS_DIFFER_MS = 9 * MINUTE_MS,
};

#define ANY_REQUEST (FAULT_ALL_CLASSES & ~FAULT_CLASS(REQUEST_WATCH))

/* Each with the chance that it has in a run that has it at all. */
static const struct fault menu[] = {
    { .point = FAULT_BEFORE, .effect = FAULT_DIE, .classes = FAULT_ALL_CLASSES, .one_in = 60 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DIE, .classes = ANY_REQUEST, .one_in = 60 },
    { .point = FAULT_ANSWERED, .effect = FAULT_DIE, .classes = ANY_REQUEST, .one_in = 60 },
    { .point = FAULT_BEFORE, .effect = FAULT_DROP, .classes = ANY_REQUEST, .one_in = 20 },
    { .point = FAULT_BEFORE, .effect = FAULT_RESET, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_BEFORE,
      .effect = FAULT_DELAY,
      .delay_ms = 3000,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 10 },
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 409,
      .classes = FAULT_CLASS(REQUEST_WRITE) | FAULT_CLASS(REQUEST_LEASE),
      .one_in = 10 },
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 429,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 10 },
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 500,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 10 },
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 503,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 10 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DROP, .classes = ANY_REQUEST, .one_in = 20 },
    { .point = FAULT_COMMITTED, .effect = FAULT_RESET, .classes = ANY_REQUEST, .one_in = 10 },
    { .point = FAULT_COMMITTED,
      .effect = FAULT_DELAY,
      .delay_ms = 8000,
      .classes = ANY_REQUEST,
      .one_in = 10 },
    { .point = FAULT_COMMITTED,
      .effect = FAULT_STATUS,
      .status = 504,
      .classes = ANY_REQUEST,
      .one_in = 10 },
    { .point = FAULT_COMMITTED, .effect = FAULT_HALF, .classes = ANY_REQUEST, .one_in = 10 },
    { .point = FAULT_FRAMES,
      .effect = FAULT_DELAY,
      .delay_ms = 2000,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 5 },
    { .point = FAULT_FRAMES, .effect = FAULT_CLOSE, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_RESET, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_GONE, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_SILENCE, .classes = FAULT_ALL_CLASSES, .one_in = 30 },
    { .point = FAULT_FRAMES,
      .effect = FAULT_DUPLICATE,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_FORGET, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    /* For minutes; once in a phase or so. */
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 429,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 100,
      .for_ms = 2 * MINUTE_MS },
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 500,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 100,
      .for_ms = 2 * MINUTE_MS },
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 503,
      .retry_after_s = 30,
      .classes = FAULT_ALL_CLASSES,
      .one_in = 100,
      .for_ms = 2 * MINUTE_MS },
    { .point = FAULT_BEFORE,
      .effect = FAULT_DELAY,
      .delay_ms = 20 * 1000,
      .classes = FAULT_CLASS(REQUEST_READ),
      .one_in = 30,
      .for_ms = MINUTE_MS },
    { .point = FAULT_BEFORE,
      .effect = FAULT_RESET,
      .classes = FAULT_CLASS(REQUEST_WATCH),
      .one_in = 10,
      .for_ms = MINUTE_MS },
};

size_t dst_cases(const struct sweep_env *env)
{
    (void) env;
    return SWEEP_SEEDS;
}

/* What a seed is: a few kinds of faults at a time, since with all of them at once nothing ever
 * happens. */
struct seed {
    struct fault faults[ARRAY_LEN(menu)];
    size_t count;
    struct run_plan plan;
};

static void plan_seed(const struct sweep_env *env, size_t index, struct seed *ret)
{
    struct rng rng = rng_of(index + 1);
    *ret = (struct seed){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(menu); i++) {
        if (!rng_one_in(&rng, 4))
            continue;
        struct fault *f = &ret->faults[ret->count++];
        *f = menu[i];
        /* Where faults go on for a shorter time, one that lasts does, too. */
        if (env->faults_ms && f->for_ms > 2 * env->faults_ms)
            f->for_ms = 2 * env->faults_ms;
    }
    ret->plan = (struct run_plan){ .seed = index + 1,
                                   .second_pass = 1 + index % env->life->phases,
                                   .faults = ret->faults,
                                   .fault_count = ret->count,
                                   .faults_ms = env->faults_ms ? env->faults_ms : FAULTS_MS,
                                   .replicas = rng_one_in(&rng, 4) ? 2 : 1,
                                   .loose = env->loose,
                                   .plant = env->plant };
    for (size_t i = 0; i < REPLICAS_MAX; i++)
        if (rng_one_in(&rng, 4))
            ret->plan.ahead_ms[i] = rng_between(&rng, -CLOCKS_DIFFER_MS, CLOCKS_DIFFER_MS);
}

size_t dst_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct seed seed;
    plan_seed(env, index, &seed);
    CLEANUP_FREE char *what = xasprintf("seed %zu with %zu kinds of faults", index, seed.count);
    return sweep_live(env, &seed.plan, true, what, counts, out);
}

/* ---- a failing seed, made short */

/* How long that may go on: what is left then is as short as it has become. */
struct patience {
    struct clock clock;
    int64_t until_ms;
    int lives;
};

static bool is_over(const struct patience *p)
{
    return p->lives >= SHORTEN_LIVES || clock_mono_ms(&p->clock) >= p->until_ms;
}

/* The same run with the faults that fired, each at its place rather than by chance. */
static void fill_in_marks(const struct fault *rows, const struct fault_mark *marks, size_t n,
                          struct fault *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = rows[marks[i].row];
        out[i].nth = marks[i].nth;
        fault_rewind(&out[i]);
    }
}

/* A run with these faults alone; the number of its findings. */
static size_t live_with(const struct sweep_env *env, const struct run_plan *plan,
                        const struct fault_mark *marks, size_t n, struct run_result *ret)
{
    CLEANUP_FREE struct fault *faults = xcalloc(n + 1, sizeof *faults);
    fill_in_marks(plan->faults, marks, n, faults);
    struct run_plan less = *plan;
    less.faults = faults;
    less.fault_count = n;
    run_life(env->life, &less, ret);
    run_compare(&env->reference, ret);
    return ret->finding_count;
}

/* Whether a run with these faults alone finds something. When time is over it is not tried. */
static bool are_enough(const struct sweep_env *env, const struct run_plan *plan,
                       const struct fault_mark *marks, size_t n, struct patience *p)
{
    if (is_over(p))
        return false;
    p->lives++;
    struct run_result result;
    bool found = live_with(env, plan, marks, n, &result) > 0;
    run_result_clear(&result);
    return found;
}

/* Leaves out a part of the faults after another, from the last ones on, smaller and smaller parts,
 * as long as the rest is enough. Returns how many are left. */
static size_t shrink(const struct sweep_env *env, const struct run_plan *plan,
                     struct fault_mark *marks, size_t n, struct patience *p)
{
    CLEANUP_FREE struct fault_mark *rest = xcalloc(n + 1, sizeof *rest);
    for (size_t part = n; part > 0; part = part == 1 ? 0 : (part + 1) / 2) {
        for (size_t end = n; end > 0;) {
            size_t at = end > part ? end - part : 0, left = n - (end - at);
            memcpy(rest, marks, at * sizeof *rest);
            memcpy(rest + at, marks + end, (n - end) * sizeof *rest);
            end = at;
            if (!are_enough(env, plan, rest, left, p))
                continue;
            memcpy(marks, rest, left * sizeof *rest);
            n = left;
        }
    }
    return n;
}

/* Lives only as many phases as it takes. */
static void cut(const struct sweep_env *env, struct run_plan *plan, const struct fault_mark *marks,
                size_t n, struct patience *p)
{
    size_t all = env->life->phases;
    for (plan->phases = 1; plan->phases < all && !are_enough(env, plan, marks, n, p);
         plan->phases++)
        if (is_over(p))
            plan->phases = all - 1;
}

/* The short run beside one of the same seed without faults: what is found, and the first other
 * write. */
static void tell_short(const struct sweep_env *env, const struct run_plan *plan,
                       const struct fault_mark *marks, size_t n, struct buf *out)
{
    struct run_plan calm = *plan;
    calm.fault_count = 0;
    struct run_result result, reference;
    live_with(env, plan, marks, n, &result);
    run_life(env->life, &calm, &reference);
    buf_printf(out, " are enough: %zu, in %zu of %zu phases\n", n, plan->phases, env->life->phases);
    for (size_t i = 0; i < n; i++) {
        const struct fault *f = &plan->faults[marks[i].row];
        buf_printf(out, "    number %llu of its kind: %s (%d)\n", (unsigned long long) marks[i].nth,
                   fault_text(f), f->status);
    }
    buf_str(out, buf_text(&result.findings));
    trace_tell(&reference, &result, out);
    run_result_clear(&reference);
    run_result_clear(&result);
}

void dst_tell(const struct sweep_env *env, size_t index, struct buf *out)
{
    struct patience p = { .clock = clock_system() };
    p.until_ms = clock_mono_ms(&p.clock) + env->shorten_s * INT64_C(1000);
    struct seed seed;
    plan_seed(env, index, &seed);
    struct run_plan *plan = &seed.plan;
    struct run_result result;
    run_life(env->life, plan, &result);
    size_t n = result.mark_count;
    buf_printf(out, "made short: of %zu faults that struck", n);
    if (are_enough(env, plan, result.marks, n, &p)) {
        cut(env, plan, result.marks, n, &p);
        n = shrink(env, plan, result.marks, n, &p);
        plan->keep_text = true;
        tell_short(env, plan, result.marks, n, out);
    } else if (!is_over(&p)) {
        buf_str(out, " all are needed, and their chances\n");
    } else {
        buf_str(out, " it is not known which are needed\n");
    }
    if (is_over(&p))
        buf_printf(
            out,
            "    it was cut off at %d of %d lives and %u s (--shorten N): less may be enough\n",
            p.lives, SHORTEN_LIVES, env->shorten_s);
    run_result_clear(&result);
}

/* ---- the short life */

static struct sweep_env with_few_faults(const struct sweep_env *env)
{
    struct sweep_env few = *env;
    few.faults_ms = FAULTS_SHORT_MS;
    return few;
}

size_t short_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct sweep_env few = with_few_faults(env);
    return dst_run(&few, index, counts, out);
}

void short_tell(const struct sweep_env *env, size_t index, struct buf *out)
{
    struct sweep_env few = with_few_faults(env);
    dst_tell(&few, index, out);
}
