/* The same seed gives the same run, and the life without faults is as it should be under any seed. */
#include <inttypes.h>

#include "tests/sweep/sweep.h"

size_t same_cases(const struct sweep_env *env)
{
    (void) env;
    return SWEEP_SEEDS;
}

size_t same_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    struct run_plan plan = { .seed = index + 1, .calm = true, .second_pass_each = true, .verbose = env->verbose };
    struct run_result first, second;
    size_t found = 0;
    run_life(env->life, &plan, &first);
    plan.verbose = false;
    run_life(env->life, &plan, &second);
    if (first.trace != second.trace) {
        buf_printf(out, "the seed's two runs are not the same: %016" PRIx64 " and %016" PRIx64 "\n", first.trace, second.trace);
        found++;
    }
    buf_str(out, buf_text(&first.findings));
    found += first.finding_count;
    counts_add(counts, &first.counts);
    counts_add(counts, &second.counts);
    run_result_clear(&first);
    run_result_clear(&second);
    return found;
}
