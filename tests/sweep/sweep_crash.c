/* The process dies at every write, and answers get lost at every write. */
#include <stdio.h>

#include "tests/sweep/sweep.h"

static const struct {
    const char *text;
    struct fault fault;
} deaths[] = {
    { "the process dies before it reaches the server",
      { .point = FAULT_BEFORE, .effect = FAULT_DIE } },
    { "the process dies after it was committed, before the answer",
      { .point = FAULT_COMMITTED, .effect = FAULT_DIE } },
    { "the process dies after its answer", { .point = FAULT_ANSWERED, .effect = FAULT_DIE } },
};

static const struct {
    const char *text;
    struct fault fault;
} losses[] = {
    { "its answer is lost", { .point = FAULT_COMMITTED, .effect = FAULT_DROP } },
    { "the connection breaks after it was committed",
      { .point = FAULT_COMMITTED, .effect = FAULT_RESET } },
    { "it is committed and answered with 504",
      { .point = FAULT_COMMITTED, .effect = FAULT_STATUS, .status = 504 } },
    { "half of its answer comes", { .point = FAULT_COMMITTED, .effect = FAULT_HALF } },
    { "it is lost on its way", { .point = FAULT_BEFORE, .effect = FAULT_DROP } },
    { "it is refused with 500", { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 500 } },
    { "it is refused with 409", { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 409 } },
    { "it is refused with 429", { .point = FAULT_BEFORE, .effect = FAULT_STATUS, .status = 429 } },
};

/* A life in which one fault strikes at one write. */
static size_t strike(const struct sweep_env *env, struct fault fault, size_t write,
                     const char *text, struct counts *counts, struct buf *out)
{
    char what[128];
    snprintf(what, sizeof what, "at write %zu %s", write, text);
    fault.classes = FAULT_CLASS(REQUEST_WRITE);
    fault.nth = write;
    struct run_plan plan = { .seed = 1, .faults = &fault, .fault_count = 1 };
    return sweep_live(env, &plan, true, what, counts, out);
}

size_t crash_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(deaths);
}

size_t crash_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    size_t i = index % ARRAY_LEN(deaths);
    return strike(env, deaths[i].fault, index / ARRAY_LEN(deaths) + 1, deaths[i].text, counts, out);
}

size_t lost_cases(const struct sweep_env *env)
{
    return env->writes * ARRAY_LEN(losses);
}

size_t lost_run(const struct sweep_env *env, size_t index, struct counts *counts, struct buf *out)
{
    size_t i = index % ARRAY_LEN(losses);
    return strike(env, losses[i].fault, index / ARRAY_LEN(losses) + 1, losses[i].text, counts, out);
}
