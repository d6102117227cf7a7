#include "tests/sweep/faults_told.h"

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
                           [FAULT_SILENCE] = "the stream goes silent",
                           [FAULT_DUPLICATE] = "the last event comes twice" },
    };
    const char *text = texts[f->point][f->effect];
    return text ? text : "nothing";
}
