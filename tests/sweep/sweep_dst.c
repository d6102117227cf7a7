/* Random faults from the whole list, then a quiet phase. */
#include <stdio.h>

#include "sim/world/rng.h"
#include "tests/sweep/sweep.h"

enum {
    QUIET_MS = 330 * 1000, /* longer than any client waits for what will not come */
    FAULTS_MS = 20 * 60 * 1000,
};

#define ANY_REQUEST (FAULT_ALL_CLASSES & ~FAULT_CLASS(REQUEST_WATCH))

/* Each with the chance that it has in a run that has it at all. */
static const struct fault menu[] = {
    { .point = FAULT_BEFORE, .effect = FAULT_DIE, .classes = FAULT_ALL_CLASSES, .one_in = 200 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DIE, .classes = ANY_REQUEST, .one_in = 200 },
    { .point = FAULT_ANSWERED, .effect = FAULT_DIE, .classes = ANY_REQUEST, .one_in = 200 },
    { .point = FAULT_BEFORE, .effect = FAULT_DROP, .classes = ANY_REQUEST, .one_in = 40 },
    { .point = FAULT_BEFORE, .effect = FAULT_RESET, .classes = FAULT_ALL_CLASSES, .one_in = 20 },
    { .point = FAULT_BEFORE, .effect = FAULT_DELAY, .delay_ms = 3000, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 409, .classes = FAULT_CLASS(REQUEST_WRITE) | FAULT_CLASS(REQUEST_LEASE), .one_in = 20 },
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 429, .classes = FAULT_ALL_CLASSES, .one_in = 20 },
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 500, .classes = FAULT_ALL_CLASSES, .one_in = 20 },
    { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 503, .classes = FAULT_ALL_CLASSES, .one_in = 20 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DROP, .classes = ANY_REQUEST, .one_in = 40 },
    { .point = FAULT_COMMITTED, .effect = FAULT_RESET, .classes = ANY_REQUEST, .one_in = 20 },
    { .point = FAULT_COMMITTED, .effect = FAULT_DELAY, .delay_ms = 8000, .classes = ANY_REQUEST, .one_in = 10 },
    { .point = FAULT_COMMITTED, .effect = FAULT_STATUS, .status = 504, .classes = ANY_REQUEST, .one_in = 20 },
    { .point = FAULT_COMMITTED, .effect = FAULT_HALF, .classes = ANY_REQUEST, .one_in = 20 },
    { .point = FAULT_FRAMES, .effect = FAULT_DELAY, .delay_ms = 2000, .classes = FAULT_ALL_CLASSES, .one_in = 5 },
    { .point = FAULT_FRAMES, .effect = FAULT_CLOSE, .classes = FAULT_ALL_CLASSES, .one_in = 20 },
    { .point = FAULT_FRAMES, .effect = FAULT_RESET, .classes = FAULT_ALL_CLASSES, .one_in = 20 },
    { .point = FAULT_FRAMES, .effect = FAULT_GONE, .classes = FAULT_ALL_CLASSES, .one_in = 20 },
    { .point = FAULT_FRAMES, .effect = FAULT_SILENCE, .classes = FAULT_ALL_CLASSES, .one_in = 100 },
    { .point = FAULT_FRAMES, .effect = FAULT_DUPLICATE, .classes = FAULT_ALL_CLASSES, .one_in = 10 },
};

size_t dst_cases(const struct sweep_env *env)
{
    (void) env;
    return SWEEP_SEEDS;
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
    struct run_plan plan = { .seed = index + 1, .faults = faults, .fault_count = n, .faults_until_ms = FAULTS_MS, .quiet_ms = QUIET_MS,
                             .replicas = 1 + rng_below(&rng, 2) };
    return sweep_live(env, &plan, true, what, counts, out);
}
