#include "reconcilers/model/health_spec.h"

#include "base/json.h"
#include "reconcilers/model/policy.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* Decodes a policy with this as spec.health. */
static struct health_spec spec_of(const char *health)
{
    struct policy p;
    struct policy_problems problems = { 0 };
    CLEANUP_JSON json_t *object = json_pack("{s:s, s:s, s:{s:s}, s:{s:o}}", "apiVersion",
                                            POLICY_API_VERSION, "kind", POLICY_KIND, "metadata",
                                            "name", POLICY_NAME, "spec", "health", tree(health));
    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        0);
    struct health_spec spec;
    health_spec_decode(p.spec, true, &spec);
    policy_clear(&p);
    policy_problems_clear(&problems);
    return spec;
}

static void check_defaults(void **state)
{
    (void) state;
    struct health_spec s = spec_of("{}");
    assert_int_equal(s.mode, HEALTH_MODE_CLOSE);
    assert_int_equal(s.wait_for_jobs_s, -1);
    assert_int_equal(s.reboot, HEALTH_REBOOT_NONE);
    assert_int_equal(s.brake.window_s, 10 * 60);
    assert_true(s.brake.max_nodes.percent);
    assert_int_equal(s.brake.max_nodes.value, 20);
    assert_int_equal(s.brake.floor, 2);
    assert_int_equal(s.brake.cooldown_s, 15 * 60);
    assert_int_equal(s.resets, 1);
    assert_int_equal(s.reboots, 2);
    assert_int_equal(s.attempts_per_s, 7 * 24 * 3600);
}

static void check_all(void **state)
{
    (void) state;
    struct health_spec s = spec_of(
        "{'mode': 'Repair', 'afterJobs': 'Drain', 'drainAfter': '90m', 'reboot': 'Pod', 'brake': "
        "{'window': '5m', 'maxNodes': 3, 'floor': 1, 'cooldown': '1h'}, 'attempts': {'reset': 2, "
        "'reboot': 0, 'per': '24h'}}");
    assert_int_equal(s.mode, HEALTH_MODE_REPAIR);
    assert_int_equal(s.wait_for_jobs_s, 90 * 60);
    assert_int_equal(s.reboot, HEALTH_REBOOT_POD);
    assert_int_equal(s.brake.window_s, 5 * 60);
    assert_false(s.brake.max_nodes.percent);
    assert_int_equal(s.brake.max_nodes.value, 3);
    assert_int_equal(s.brake.floor, 1);
    assert_int_equal(s.brake.cooldown_s, 3600);
    assert_int_equal(s.resets, 2);
    assert_int_equal(s.reboots, 0);
    assert_int_equal(s.attempts_per_s, 24 * 3600);
}

static const struct word_row {
    const char *name, *health;
    enum health_mode mode;
    int64_t wait_s;
    enum health_reboot reboot;
} word_rows[] = {
    { "mode: Observe", "{'mode': 'Observe'}", HEALTH_MODE_OBSERVE, -1, HEALTH_REBOOT_NONE },
    { "mode: Close", "{'mode': 'Close'}", HEALTH_MODE_CLOSE, -1, HEALTH_REBOOT_NONE },
    { "drainAfter counts only with Drain", "{'drainAfter': '1h'}", HEALTH_MODE_CLOSE, -1,
      HEALTH_REBOOT_NONE },
    { "Drain without a time waits four hours", "{'afterJobs': 'Drain'}", HEALTH_MODE_CLOSE,
      4 * 3600, HEALTH_REBOOT_NONE },
    { "reboot: Sentinel", "{'reboot': 'Sentinel'}", HEALTH_MODE_CLOSE, -1, HEALTH_REBOOT_SENTINEL },
};

static void check_word(void **state)
{
    const struct word_row *row = *state;
    struct health_spec s = spec_of(row->health);
    assert_int_equal(s.mode, row->mode);
    assert_int_equal(s.wait_for_jobs_s, row->wait_s);
    assert_int_equal(s.reboot, row->reboot);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "the defaults", check_defaults, NULL);
    suite_add(&s, "every field", check_all, NULL);
    SUITE_ROWS(&s, check_word, word_rows);
    return suite_run(&s, "health spec");
}
