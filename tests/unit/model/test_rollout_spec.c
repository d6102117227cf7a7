#include "reconcilers/model/rollout_spec.h"

#include "base/json.h"
#include "reconcilers/model/policy.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* A policy's effective spec, with this as spec.rollout. New reference. */
static json_t *spec_of(const char *rollout)
{
    struct policy p;
    struct policy_problems problems = { 0 };
    CLEANUP_JSON json_t *object = json_pack("{s:s, s:s, s:{s:s}, s:{s:o}}", "apiVersion",
                                            POLICY_API_VERSION, "kind", POLICY_KIND, "metadata",
                                            "name", POLICY_NAME, "spec", "rollout", tree(rollout));
    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        0);
    json_t *spec = json_incref(p.spec);
    policy_clear(&p);
    policy_problems_clear(&problems);
    return spec;
}

static void assert_count(struct rollout_count got, bool percent, int64_t value)
{
    assert_int_equal(got.percent, percent);
    assert_int_equal(got.value, value);
}

static void check_defaults(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *spec = spec_of("{}");
    struct rollout_spec s;
    rollout_spec_decode(spec, &s);
    assert_false(s.paused);
    assert_false(s.manual);
    assert_count(s.max_parallel, false, 1);
    assert_count(s.max_unavailable, true, 25);
    assert_count(s.max_unavailable_gpus, false, -1);
    assert_count(s.failure_threshold, false, 1);
    assert_null(s.topology_key);
    assert_int_equal(s.order, ROLLOUT_IDLE_FIRST);
    assert_int_equal(s.canary_nodes, 1);
    assert_int_equal(s.canary_soak_s, 15 * 60);
    assert_int_equal(s.soak_s, 0);
    assert_int_equal(s.on_failure, ROLLOUT_ROLLBACK);
    assert_int_equal(s.window_count, 0);
    assert_int_equal(s.drain.mode, DRAIN_GPU_PODS);
    assert_int_equal(s.drain.wait_for_jobs_s, -1);
    assert_int_equal(s.drain.timeout_s, 15 * 60);
    assert_int_equal(s.drain.on_timeout, DRAIN_RELEASE);
    assert_true(s.drain.delete_empty_dir);
    assert_false(s.drain.force);
    assert_int_equal(s.install_timeout_s, 30 * 60);
    assert_int_equal(s.validation_timeout_s, 10 * 60);
}

static void check_everything_set(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *spec = spec_of(
        "{'paused':true,'approval':'Manual','maxParallel':'10%','maxUnavailable':7,'"
        "maxUnavailableGpus':'50%',"
        "'topologyKey':'zone',"
        "'order':'Name','canary':{'nodes':3,'soak':'1h'},'soak':'90s','failureThreshold':'20%','"
        "onFailure':'Pause',"
        "'windows':[{'schedule':'0 2 * * "
        "6','duration':'4h','timeZone':'Asia/Tokyo'},{'schedule':'0 0 * * "
        "*','duration':'1m'}],"
        "'drain':{'mode':'AllPods','waitForJobs':'1500ms','timeout':'1h','onTimeout':'Delete','"
        "deleteEmptyDir':false,"
        "'force':true,'podSelector':{'matchLabels':{'a':'b'}}},'timeouts':{'install':'1h','"
        "validation':'20m'}}");
    struct rollout_spec s;
    rollout_spec_decode(spec, &s);
    assert_true(s.paused);
    assert_true(s.manual);
    assert_count(s.max_parallel, true, 10);
    assert_count(s.max_unavailable, false, 7);
    assert_count(s.max_unavailable_gpus, true, 50);
    assert_count(s.failure_threshold, true, 20);
    assert_string_equal(s.topology_key, "zone");
    assert_int_equal(s.order, ROLLOUT_BY_NAME);
    assert_int_equal(s.canary_nodes, 3);
    assert_int_equal(s.canary_soak_s, 3600);
    assert_int_equal(s.soak_s, 90);
    assert_int_equal(s.on_failure, ROLLOUT_PAUSE);
    assert_int_equal(s.window_count, 2);
    assert_int_equal(s.windows[0].duration_s, 4 * 3600);
    assert_non_null(s.windows[0].zone);
    assert_int_equal(s.windows[1].duration_s, 60);
    assert_int_equal(s.drain.mode, DRAIN_ALL_PODS);
    assert_int_equal(s.drain.wait_for_jobs_s, 2); /* rounded up */
    assert_int_equal(s.drain.timeout_s, 3600);
    assert_int_equal(s.drain.on_timeout, DRAIN_DELETE);
    assert_false(s.drain.delete_empty_dir);
    assert_true(s.drain.force);
    assert_tree(json_object_get(s.drain.pod_selector, "matchLabels"), "{'a':'b'}");
    assert_int_equal(s.install_timeout_s, 3600);
    assert_int_equal(s.validation_timeout_s, 20 * 60);
}

/* `null` is as good as not there. */
static void check_nulls(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *spec = spec_of("{'maxUnavailableGpus':null,'topologyKey':null,'drain':{'"
                                        "waitForJobs':null,'podSelector':null}}");
    struct rollout_spec s;
    rollout_spec_decode(spec, &s);
    assert_int_equal(rollout_count_of(&s.max_unavailable_gpus, 1000), SIZE_MAX);
    assert_null(s.topology_key);
    assert_int_equal(s.drain.wait_for_jobs_s, -1);
}

/* What got past every check makes windows that are closed, not a policy without windows, which
 * would be always open. */
static void check_windows_that_never_open(void **state)
{
    (void) state;
    static const char *const specs[] = {
        ("{'rollout':{'windows':[{'schedule':'* * * * "
         "*','duration':'1h','timeZone':'Nowhere/Else'}]}}"),
        "{'rollout':{'windows':[{'schedule':'noon','duration':'1h','timeZone':'UTC'}]}}",
        "{'rollout':{'windows':[7]}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        CLEANUP_JSON json_t *spec = tree(specs[i]);
        struct rollout_spec s;
        int64_t change_s;
        rollout_spec_decode(spec, &s);
        assert_int_equal(s.window_count, 1);
        assert_false(windows_open(s.windows, s.window_count, 1795262400, &change_s));
        assert_true(change_s == INT64_MAX);
    }
}

static const struct count_row {
    const char *name;
    struct rollout_count count;
    size_t all, want;
} count_rows[] = {
    { "a number is that number", { .value = 7 }, 3, 7 },
    { "no limit", { .value = -1 }, 3, SIZE_MAX },
    { "a share of nothing", { .percent = true, .value = 25 }, 0, 0 },
    { "one of a hundred", { .percent = true, .value = 1 }, 100, 1 },
    { "one percent of one is one", { .percent = true, .value = 1 }, 1, 1 },
    { "a share is rounded up", { .percent = true, .value = 25 }, 5, 2 },
    { "a share that is whole", { .percent = true, .value = 25 }, 8, 2 },
    { "just over a whole share", { .percent = true, .value = 10 }, 101, 11 },
    { "all of them", { .percent = true, .value = 100 }, 5000, 5000 },
    { "all of very many", { .percent = true, .value = 100 }, SIZE_MAX, SIZE_MAX },
};

static void check_count(void **state)
{
    const struct count_row *row = *state;
    assert_true(rollout_count_of(&row->count, row->all) == row->want);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "the defaults", check_defaults, NULL);
    suite_add(&s, "everything set", check_everything_set, NULL);
    suite_add(&s, "nulls", check_nulls, NULL);
    suite_add(&s, "windows that never open", check_windows_that_never_open, NULL);
    SUITE_ROWS(&s, check_count, count_rows);
    return suite_run(&s, "rollout spec");
}
