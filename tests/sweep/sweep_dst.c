/* Random faults from the whole list, then a quiet phase. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/rng.h"
#include "tests/sweep/sweep.h"
#include "tests/sweep/trace.h"

enum {
    FAULTS_MS = 30 * 1000,
    SHRINK_RUNS = 200,
};

#define ANY_REQUEST (FAULT_ALL_CLASSES & ~FAULT_CLASS(REQUEST_WATCH))

/* Each with the chance that it has in a run that has it at all. */
static const struct fault menu[] = {
    { .point = FAULT_BEFORE, .effect = FAULT_DIE, .classes = FAULT_ALL_CLASSES, .one_in = 60 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DIE, .classes = ANY_REQUEST, .one_in = 60 },
    { .point = FAULT_ANSWERED, .effect = FAULT_DIE, .classes = ANY_REQUEST, .one_in = 60 },
    { .point = FAULT_BEFORE, .effect = FAULT_DROP, .classes = ANY_REQUEST, .one_in = 20 },
    { .point = FAULT_BEFORE, .effect = FAULT_RESET, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_BEFORE, .effect = FAULT_DELAY, .delay_ms = 3000, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_BEFORE,
      .effect = FAULT_STATUS,
      .status = 409,
      .classes = FAULT_CLASS(REQUEST_WRITE) | FAULT_CLASS(REQUEST_LEASE),
      .one_in = 10 },
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 429, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 500, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 503, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DROP, .classes = ANY_REQUEST, .one_in = 20 },
    { .point = FAULT_COMMITTED, .effect = FAULT_RESET, .classes = ANY_REQUEST, .one_in = 10 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DELAY, .delay_ms = 8000, .classes = ANY_REQUEST, .one_in = 10 },
    { .point = FAULT_COMMITTED, .effect = FAULT_STATUS, .status = 504, .classes = ANY_REQUEST, .one_in = 10 },
    { .point = FAULT_COMMITTED, .effect = FAULT_HALF, .classes = ANY_REQUEST, .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_DELAY, .delay_ms = 2000, .classes = FAULT_ALL_CLASSES, .one_in = 5 },
    { .point = FAULT_FRAMES, .effect = FAULT_CLOSE, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_RESET, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_GONE, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_FRAMES, .effect = FAULT_SILENCE, .classes = FAULT_ALL_CLASSES, .one_in = 30 },
    { .point = FAULT_FRAMES, .effect = FAULT_DUPLICATE, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
};

size_t dst_cases(const struct sweep_env *env)
{
    (void) env;
    return SWEEP_SEEDS;
}

/* ---- a failing seed, made short */

/* The same run with the faults that fired, each at its place rather than by chance. */
static void fill_in_marks(const struct fault *rows, const struct fault_mark *marks, size_t n, struct fault *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = rows[marks[i].row];
        out[i].nth = marks[i].nth;
        out[i].seen = out[i].fired = 0;
    }
}

/* A run with these faults alone; the number of its findings. */
static size_t live_with(const struct sweep_env *env, const struct run_plan *plan, const struct fault_mark *marks, size_t n,
                        struct run_result *ret)
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

static bool are_enough(const struct sweep_env *env, const struct run_plan *plan, const struct fault_mark *marks, size_t n)
{
    struct run_result result;
    bool found = live_with(env, plan, marks, n, &result) > 0;
    run_result_clear(&result);
    return found;
}

/* Leaves out a part of the faults after another, from the last ones on, smaller and smaller parts, as long as the rest is enough.
 * Returns how many are left. */
static size_t shrink(const struct sweep_env *env, const struct run_plan *plan, struct fault_mark *marks, size_t n)
{
    CLEANUP_FREE struct fault_mark *rest = xcalloc(n + 1, sizeof *rest);
    int runs = 0;
    for (size_t part = n; part > 0 && runs < SHRINK_RUNS; part = part == 1 ? 0 : (part + 1) / 2) {
        for (size_t end = n; end > 0 && runs < SHRINK_RUNS; runs++) {
            size_t at = end > part ? end - part : 0, left = n - (end - at);
            memcpy(rest, marks, at * sizeof *rest);
            memcpy(rest + at, marks + end, (n - end) * sizeof *rest);
            end = at;
            if (!are_enough(env, plan, rest, left))
                continue;
            memcpy(marks, rest, left * sizeof *rest);
            n = left;
        }
    }
    return n;
}

/* Lives only as many phases as it takes. */
static void cut(const struct sweep_env *env, struct run_plan *plan, const struct fault_mark *marks, size_t n)
{
    do
        plan->phases++;
    while (plan->phases < env->life->phases && !are_enough(env, plan, marks, n));
}

/* The short run beside one of the same seed without faults: what is found, and the first other write. */
static void tell_short(const struct sweep_env *env, const struct run_plan *plan, const struct fault_mark *marks, size_t n,
                       struct buf *out)
{
    struct run_plan calm = *plan;
    calm.fault_count = 0;
    struct run_result result, reference;
    live_with(env, plan, marks, n, &result);
    run_life(env->life, &calm, &reference);
    buf_printf(out, " are enough: %zu, in %zu of %zu phases\n", n, plan->phases, env->life->phases);
    for (size_t i = 0; i < n; i++) {
        const struct fault *f = &plan->faults[marks[i].row];
        buf_printf(out, "    number %llu of its kind: %s (%d)\n", (unsigned long long) marks[i].nth, fault_text(f), f->status);
    }
    buf_str(out, buf_text(&result.findings));
    trace_tell(&reference, &result, out);
    run_result_clear(&reference);
    run_result_clear(&result);
}

/* Makes a failing seed short: the faults and phases that are enough for a finding. */
static void tell_shortest(const struct sweep_env *env, struct run_plan *plan, struct buf *out)
{
    struct run_result result;
    plan->verbose = false;
    for (size_t i = 0; i < plan->fault_count; i++)
        plan->faults[i].seen = plan->faults[i].fired = 0;
    run_life(env->life, plan, &result);
    size_t n = result.mark_count;
    buf_printf(out, "made short: of %zu faults that struck", n);
    if (are_enough(env, plan, result.marks, n)) {
        cut(env, plan, result.marks, n);
        n = shrink(env, plan, result.marks, n);
        plan->keep_text = true;
        tell_short(env, plan, result.marks, n, out);
    } else {
        buf_str(out, " all are needed, and their chances\n");
    }
    run_result_clear(&result);
}

size_t dst_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct rng rng = rng_of(index + 1);
    struct fault faults[ARRAY_LEN(menu)];
    size_t n = 0;
    /* A few kinds at a time: with all of them at once nothing ever happens. */
    for (size_t i = 0; i < ARRAY_LEN(menu); i++)
        if (rng_one_in(&rng, 4))
            faults[n++] = menu[i];
    char what[64];
    snprintf(what, sizeof what, "seed %zu with %zu kinds of faults", index, n);
    struct run_plan plan = { .seed = index + 1,
                             .second_pass = 1 + index % env->life->phases,
                             .faults = faults,
                             .fault_count = n,
                             .faults_ms = FAULTS_MS,
                             .replicas = rng_one_in(&rng, 4) ? 2 : 1 };
    size_t found = sweep_live(env, &plan, true, what, counts, out);
    if (found && env->single)
        tell_shortest(env, &plan, out);
    return found;
}
