/* Random faults from the whole list, then a quiet phase. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/rng.h"
#include "tests/sweep/sweep.h"

enum {
    FAULTS_MS = 30 * 1000,
    /* What a client waits for what will not come, and then some. */
    LOST_MS = 100 * 1000,
    SILENT_MS = 200 * 1000,
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
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 409, .classes = FAULT_CLASS(REQUEST_WRITE) | FAULT_CLASS(REQUEST_LEASE), .one_in = 10 },
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

/* Whether these faults alone are enough for a finding. */
static bool are_enough(const struct sweep_env *env, const struct run_plan *plan, const struct fault_mark *marks, size_t n)
{
    CLEANUP_FREE struct fault *faults = xcalloc(n + 1, sizeof *faults);
    fill_in_marks(plan->faults, marks, n, faults);
    struct run_plan less = *plan;
    less.faults = faults;
    less.fault_count = n;
    struct run_result result;
    run_life(env->life, &less, &result);
    run_compare(&env->reference, &result);
    bool found = result.finding_count > 0;
    run_result_clear(&result);
    return found;
}

/* Leaves out a part of the faults after another, smaller and smaller ones, as long as the rest is enough. Returns how many are left. */
static size_t shrink(const struct sweep_env *env, const struct run_plan *plan, struct fault_mark *marks, size_t n)
{
    CLEANUP_FREE struct fault_mark *rest = xcalloc(n + 1, sizeof *rest);
    int runs = 0;
    for (size_t part = (n + 1) / 2; part > 0 && runs < SHRINK_RUNS; part = part == 1 ? 0 : (part + 1) / 2) {
        for (size_t at = 0; at < n && runs < SHRINK_RUNS; runs++) {
            size_t end = at + part < n ? at + part : n, left = n - (end - at);
            memcpy(rest, marks, at * sizeof *rest);
            memcpy(rest + at, marks + end, (n - end) * sizeof *rest);
            if (!are_enough(env, plan, rest, left)) {
                at = end;
                continue;
            }
            memcpy(marks, rest, left * sizeof *rest);
            n = left;
        }
    }
    return n;
}

/* Says which faults are enough for the findings of a seed. */
static void tell_shortest(const struct sweep_env *env, struct run_plan *plan, struct buf *out)
{
    struct run_result result;
    plan->verbose = false;
    for (size_t i = 0; i < plan->fault_count; i++)
        plan->faults[i].seen = plan->faults[i].fired = 0;
    run_life(env->life, plan, &result);
    size_t n = result.mark_count;
    buf_printf(out, "of %zu faults these are enough:\n", n);
    n = are_enough(env, plan, result.marks, n) ? shrink(env, plan, result.marks, n) : n;
    for (size_t i = 0; i < n; i++) {
        const struct fault *f = &plan->faults[result.marks[i].row];
        buf_printf(out, "    number %llu of its kind: %s (%d)\n", (unsigned long long) result.marks[i].nth, fault_text(f), f->status);
    }
    run_result_clear(&result);
}

/* How long nothing must change until nothing will. */
static int64_t quiet_ms(const struct fault *faults, size_t n)
{
    int64_t longest = RUN_QUIET_MS;
    for (size_t i = 0; i < n; i++) {
        int64_t wait = faults[i].effect == FAULT_SILENCE ? SILENT_MS : faults[i].effect == FAULT_DROP ? LOST_MS : 0;
        longest = wait > longest ? wait : longest;
    }
    return longest;
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
    struct run_plan plan = { .seed = index + 1, .second_pass = 1 + index % env->life->phases, .faults = faults, .fault_count = n, .faults_ms = FAULTS_MS,
                             .quiet_ms = quiet_ms(faults, n), .replicas = 1 + rng_below(&rng, 2) };
    size_t found = sweep_live(env, &plan, true, what, counts, out);
    if (found && env->single)
        tell_shortest(env, &plan, out);
    return found;
}
