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

static bool is_aimed_at(const struct fault *f, const char *path)
{
    return !f->target || (path && strstr(path, f->target));
}

const struct fault *fault_draw(struct fault_plan *plan, enum fault_point point,
                               enum request_class class, const char *path, int64_t now_ms)
{
    struct fault *struck = NULL;
    bool over = plan && plan->until_ms && now_ms >= plan->until_ms;
    for (size_t i = 0; plan && i < plan->count; i++) {
        struct fault *f = &plan->rows[i];
        if (f->point != point || !(f->classes & FAULT_CLASS(class)) || !is_aimed_at(f, path))
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

void fault_rewind(struct fault *f)
{
    f->seen = f->fired = 0;
    f->until_ms = 0;
}

uint64_t fault_total(const struct fault_plan *plan)
{
    uint64_t n = 0;
    for (size_t i = 0; i < plan->count; i++)
        n += plan->rows[i].fired;
    return n;
}

void fault_plan_clear(struct fault_plan *plan)
{
    free(plan->marks);
    plan->marks = NULL;
    plan->mark_count = 0;
}

const char *fault_text(const struct fault *f)
{
    static const char *const texts[][FAULT_DUPLICATE + 1] = {
        [FAULT_BEFORE] = { [FAULT_DIE] = "the process dies before it reaches the server",
                           [FAULT_DROP] = "it is lost on its way",
                           [FAULT_RESET] = "the connection breaks on the way",
                           [FAULT_DELAY] = "it is late",
                           [FAULT_STATUS] = "it is refused" },
        [FAULT_COMMITTED] = { [FAULT_DIE] =
                                  "the process dies after it was carried out, before the answer",
                              [FAULT_DROP] = "its answer is lost",
                              [FAULT_RESET] = "the connection breaks before the answer",
                              [FAULT_DELAY] = "its answer is late",
                              [FAULT_STATUS] = "it is carried out and answered with an error",
                              [FAULT_HALF] = "half of its answer comes" },
        [FAULT_ANSWERED] = { [FAULT_DIE] = "the process dies after its answer" },
        [FAULT_FRAMES] = { [FAULT_DIE] = "the process dies",
                           [FAULT_RESET] = "the connection breaks",
                           [FAULT_DELAY] = "news is late",
                           [FAULT_CLOSE] = "the server ends the stream",
                           [FAULT_GONE] = "the server says that the version is too old",
                           [FAULT_FORGET] = "the server ends the stream and forgets what was",
                           [FAULT_SILENCE] = "nothing comes any more",
                           [FAULT_DUPLICATE] = "the last event comes twice" },
    };
    const char *text = texts[f->point][f->effect];
    return text ? text : "nothing";
}
