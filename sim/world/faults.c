#include "sim/world/faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool strikes(struct fault_plan *plan, const struct fault *f)
{
    return f->nth ? f->seen == f->nth : f->one_in && rng_one_in(&plan->rng, f->one_in);
}

/* Whether this row strikes here: it starts now, which is recorded, or its duration has not
 * ended. */
static bool draw_row(struct fault_plan *plan, struct fault *f, int64_t now_ms, bool over)
{
    bool goes_on = now_ms < f->until_ms;
    if (goes_on || over || !strikes(plan, f))
        return goes_on;
    f->until_ms = now_ms + f->for_ms;
    plan->marks = xreallocarray(plan->marks, plan->mark_count + 1, sizeof *plan->marks);
    plan->marks[plan->mark_count++] = (struct fault_mark){ (size_t) (f - plan->rows), f->seen };
    return true;
}

const struct fault *fault_draw(struct fault_plan *plan, enum fault_point point,
                               enum request_class class, const char *path, int64_t now_ms)
{
    struct fault *struck = NULL;
    bool over = plan && plan->until_ms && now_ms >= plan->until_ms;
    for (size_t i = 0; plan && i < plan->count; i++) {
        struct fault *f = &plan->rows[i];
        bool aimed = !f->target || (path && strstr(path, f->target));
        if (f->point != point || !(f->classes & FAULT_CLASS(class)) || !aimed)
            continue;
        f->seen += !over;
        if (!struck && draw_row(plan, f, now_ms, over))
            struck = f;
    }
    if (!struck)
        return NULL;
    struck->fired++;
    struck->fired_ms = now_ms;
    return struck;
}

void fault_plan_clear(struct fault_plan *plan)
{
    free(plan->marks);
    plan->marks = NULL;
    plan->mark_count = 0;
}
