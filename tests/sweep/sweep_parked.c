/* From the nth write to a node on the API server answers each write to that node with 429 and
 * Retry-After: 3600, for a quarter of an hour. Its key is parked, and the node keeps its places in
 * the budgets: the other nodes go on, and it follows. */
#include "tests/sweep/sweep.h"

#define SCENARIO "tests/sweep/steps/parked.yaml"
#define NODE_PATH "/nodes/gpu-2?"

enum {
    WRITES = 9, /* to the node in a life without faults */
    PARKED_MS = 15 * 60 * 1000,
};

size_t parked_cases(const struct sweep_env *env)
{
    (void) env;
    return WRITES;
}

static size_t live(const struct sweep_env *env, size_t nth, struct life *life,
                   struct expectations *x, struct counts *counts, struct buf *out)
{
    struct fault fault = { .point = FAULT_BEFORE,
                           .effect = FAULT_STATUS,
                           .status = 429,
                           .retry_after_s = 3600,
                           .classes = FAULT_CLASS(REQUEST_WRITE),
                           .target = NODE_PATH,
                           .nth = nth,
                           .for_ms = PARKED_MS };
    size_t found = rollouts_live(
        env, life, x, &(struct rollouts_watch){ .faults = &fault, .fault_count = 1 }, counts, out);
    if (fault.fired == 0) {
        buf_printf(out, "there is no write %zu to the node\n", nth);
        found++;
    }
    return found;
}

size_t parked_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct life life;
    struct expectations *x = NULL;
    CLEANUP_ERR struct err e = { 0 };
    size_t found = 1;
    buf_printf(out, "from write %zu to the node on:\n", index + 1);
    if (life_load_by_clock(&life, SCENARIO, &e) == 0)
        x = expectations_new(life.scenario->expect, &e);
    if (x)
        found = live(env, index + 1, &life, x, counts, out);
    else
        buf_printf(out, "%s\n", err_msg(&e));
    expectations_free(x);
    if (life.scenario)
        life_clear(&life);
    return found;
}
