/* What may be done to nodes, by what is known of the policy and since when. */
#include "reconcilers/cluster.h"

#include "base/json.h"
#include "base/log.h"
#include "runtime/loop.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/tree.h"

enum { GRACE_MS = 10 * 60 * 1000 };

#define POLICY(generation, metadata, spec)                                                         \
    "{'apiVersion': 'ostler.dev/v1alpha1', 'kind': 'GpuClusterPolicy', 'metadata': {'name': "      \
    "'default', 'uid': 'u', "                                                                      \
    "'resourceVersion': '2', 'generation': " #generation metadata "}, 'spec': {" spec "}}"

struct fixture {
    struct cluster cluster;
    struct clock clock;
    struct loop *loop;
    int64_t mono_ms, wall_us;
};

static int64_t mono(void *self)
{
    return ((const struct fixture *) self)->mono_ms;
}

static int64_t wall(void *self)
{
    return ((const struct fixture *) self)->wall_us;
}

/* A cluster whose watches are all well and have brought nothing. */
static int set_up(void **state)
{
    log_setup(LOG_SILENT, false);
    struct fixture *f = xcalloc(1, sizeof *f);
    f->mono_ms = 5000;
    f->wall_us = QUIET_WALL_US;
    f->clock = (struct clock){ .mono_ms = mono, .wall_us = wall, .self = f };
    cluster_init(&f->cluster,
                 &(struct cluster_options){ .operand_namespace = "operands",
                                            .limits = { "nvcr.io/nvidia", "*", NULL, true, true },
                                            .clock = &f->clock,
                                            .absent_grace_ms = GRACE_MS,
                                            .listener = quiet_listener });
    f->loop = loop_new(&f->clock);
    struct informer_options o = { .resource = RESOURCE_POLICY };
    f->cluster.informers[RESOURCE_POLICY] = informer_new(&o, &f->cluster.tables[RESOURCE_POLICY],
                                                         NULL, f->loop, NULL, NULL);
    cluster_new_epoch(&f->cluster);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    informer_free(f->cluster.informers[RESOURCE_POLICY]);
    cluster_clear(&f->cluster);
    loop_free(f->loop);
    free(f);
    return 0;
}

static void put(struct fixture *f, const char *text, bool deleted)
{
    quiet_event(&f->cluster, RESOURCE_POLICY, text, deleted);
}

static void expect(const struct fixture *f, enum operating_mode mode, int64_t again_ms)
{
    int64_t got_ms;
    assert_int_equal(cluster_mode(&f->cluster, &got_ms), mode);
    assert_int_equal(got_ms, again_ms);
}

static void a_policy_that_was_never_there_is_waited_for(void **state)
{
    struct fixture *f = *state;
    expect(f, MODE_HOLD, GRACE_MS);
    f->mono_ms += GRACE_MS - 1;
    expect(f, MODE_HOLD, 1);
    f->mono_ms++;
    expect(f, MODE_REMOVE, 0);
}

static void a_clock_that_is_set_forward_shortens_no_wait(void **state)
{
    struct fixture *f = *state;
    f->wall_us += INT64_C(1000) * 1000 * 86400;
    expect(f, MODE_HOLD, GRACE_MS);
    put(f, POLICY(1, "", ""), false);
    put(f, POLICY(1, "", ""), true);
    f->wall_us += INT64_C(1000) * 1000 * 86400;
    expect(f, MODE_HOLD, GRACE_MS);
}

static void what_was_written_down_is_held_against_the_monotonic_clock(void **state)
{
    struct fixture *f = *state;
    const int64_t began_s = 1795168800;
    assert_int_equal(cluster_now_s(&f->cluster), began_s);
    f->wall_us += INT64_C(1000) * 1000 * 86400;
    assert_int_equal(cluster_now_s(&f->cluster), began_s);
    f->mono_ms += 7000;
    assert_int_equal(cluster_now_s(&f->cluster), began_s + 7);
}

static void a_policy_that_vanishes_is_waited_for(void **state)
{
    struct fixture *f = *state;
    put(f, POLICY(1, "", ""), false);
    expect(f, MODE_MANAGE, 0);
    f->mono_ms += 2 * GRACE_MS;
    put(f, POLICY(1, "", ""), true);
    expect(f, MODE_HOLD, GRACE_MS);
}

static void a_policy_that_was_deleted_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    put(f, POLICY(1, "", ""), false);
    put(f, POLICY(1, ", 'deletionTimestamp': '2026-11-20T10:00:00Z'", ""), false);
    expect(f, MODE_REMOVE, 0);
    put(f, POLICY(1, ", 'deletionTimestamp': '2026-11-20T10:00:00Z'", ""), true);
    expect(f, MODE_REMOVE, 0);
}

/* Another policy may have come since, of which a silent watch has not told. */
static void a_deletion_seen_while_standing_by_is_waited_for(void **state)
{
    struct fixture *f = *state;
    put(f, POLICY(1, ", 'deletionTimestamp': '2026-11-20T10:00:00Z'", ""), false);
    put(f, POLICY(1, ", 'deletionTimestamp': '2026-11-20T10:00:00Z'", ""), true);
    f->mono_ms += 85000;
    cluster_begin(&f->cluster);
    expect(f, MODE_HOLD, GRACE_MS - 85000);
}

static void what_was_valid_goes_on(void **state)
{
    struct fixture *f = *state;
    put(f, POLICY(1, "", "'driver': {'version': 1}"), false);
    expect(f, MODE_HOLD, 0);
    put(f, POLICY(2, "", ""), false);
    expect(f, MODE_MANAGE, 0);
    put(f, POLICY(3, "", "'driver': {'version': 1}"), false);
    assert_non_null(f->cluster.problem_text);
    expect(f, MODE_MANAGE, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_policy_that_was_never_there_is_waited_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_forward_shortens_no_wait, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_was_written_down_is_held_against_the_monotonic_clock,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_policy_that_vanishes_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_policy_that_was_deleted_is_not_waited_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_deletion_seen_while_standing_by_is_waited_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_was_valid_goes_on, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("stance", tests, NULL, NULL);
}
