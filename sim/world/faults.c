#include "sim/world/faults.h"

static bool strikes(struct fault_plan *plan, const struct fault *f)
{
    return f->nth ? f->seen == f->nth : f->one_in && rng_one_in(&plan->rng, f->one_in);
}

const struct fault *fault_draw(struct fault_plan *plan, enum fault_point point, enum request_class class, int64_t now_ms)
{
    struct fault *struck = NULL;
    if (!plan || (plan->until_ms && now_ms >= plan->until_ms))
        return NULL;
    for (size_t i = 0; i < plan->count; i++) {
        struct fault *f = &plan->rows[i];
        if (f->point != point || !(f->classes & FAULT_CLASS(class)))
            continue;
        f->seen++;
        if (!struck && strikes(plan, f))
            struck = f;
    }
    if (struck)
        struck->fired++;
    return struck;
}

uint64_t fault_total(const struct fault_plan *plan)
{
    uint64_t n = 0;
    for (size_t i = 0; plan && i < plan->count; i++)
        n += plan->rows[i].fired;
    return n;
}
