/* A cluster that lives for days takes no more memory than after its first hours. */
#include <malloc.h>

#include "tests/unit/sim_actors/little_world.h"
#include "tests/unit/support/sanitized.h"

enum {
    MINUTE_MS = 60 * 1000,
    HISTORY_MS = 5 * MINUTE_MS,
    PODS = 6,
    WARM_HOURS = 30, /* by then what is shared has come and gone */
    HOURS = 102,
    GROWTH_MAX = 16 << 10, /* bytes in all those hours, in which hundreds of pods come and go */
};

/* An hour in which a Job comes, and its pods go with it. */
static void pass_an_hour(struct little *w)
{
    little_create(w, "jobs",
                  "{'metadata': {'namespace': 'default', 'name': 'j'}, 'spec': {'parallelism': 6, "
                  "'completions': 6, 'template': {'spec': {'restartPolicy': 'Never', 'containers': "
                  "[{'name': 'main', 'image': 'registry.example/train:1'}]}}}}");
    for (int minute = 0; minute < 60; minute++) {
        little_pass(w, MINUTE_MS);
        api_forget_older(w->api, w->sim.now_ms, HISTORY_MS);
        if (minute == 30)
            little_delete(w, "jobs", "default", "j");
    }
    assert_int_equal(api_count(w->api, kind_named("pods")), 0);
}

static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void check_days(void **state)
{
    (void) state;
    if (SANITIZED)
        skip(); /* its allocator does not count */
    struct little w;
    little_init(&w, 2);
    w.options.events = true;
    api_share_parts(w.api);
    little_begin(&w);
    for (int hour = 0; hour < WARM_HOURS; hour++)
        pass_an_hour(&w);
    size_t before = bytes_in_use(), commits = w.commits;
    for (int hour = WARM_HOURS; hour < HOURS; hour++)
        pass_an_hour(&w);
    size_t after = bytes_in_use();
    assert_true(w.commits > commits + PODS * (HOURS - WARM_HOURS));
    if (after > before + GROWTH_MAX)
        fail_msg("%zu bytes more after %d hours", after - before, HOURS - WARM_HOURS);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "days later it takes no more memory", check_days, NULL);
    return suite_run(&s, "sim_actors/memory");
}
