/* When the status gets another plan, and how the pace of nodes becomes known. */
#include "reconcilers/rollout_plan_status.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { NODES = 3, NOON_S = 1795262400 };

static const char *const pool_names[] = { "default" };

/* Nodes a, b and c that go from driver d1 to d2, one after the other, and what Ostler knows of
 * them. */
struct fleet {
    struct cluster cluster;
    struct rollout_node nodes[NODES];
    struct node objects[NODES];
    struct node_slot slots[NODES];
    struct node_slot *listed[NODES];
    struct claim claims[NODES];
    struct rollout_gathering gathered;
    struct rollout_plan_status keeper;
};

static int set_up(void **state)
{
    static const char *const names[] = { "a", "b", "c" };
    struct fleet *f = xcalloc(1, sizeof *f);
    f->cluster.strings = intern_new();
    f->cluster.object = tree("{'metadata':{'generation':1}}");
    f->cluster.rollout = (struct rollout_spec){ .max_parallel = { .value = 1 },
                                                .max_unavailable = { .value = NODES },
                                                .max_unavailable_gpus = { .value = -1 },
                                                .failure_threshold = { .value = NODES },
                                                .drain = { .wait_for_jobs_s = -1 } };
    for (size_t i = 0; i < NODES; i++) {
        f->nodes[i] = (struct rollout_node){ .name = names[i],
                                             .now = { { "d1", "s1" } },
                                             .target = { { "d2", "s1" } },
                                             .domain = "",
                                             .gpus = 1,
                                             .up = true,
                                             .settled = true };
        f->slots[i].node = &f->objects[i];
        f->listed[i] = &f->slots[i];
    }
    f->gathered = (struct rollout_gathering){ .in = { .spec = &f->cluster.rollout,
                                                      .nodes = f->nodes,
                                                      .node_count = NODES,
                                                      .pool_names = pool_names,
                                                      .now_s = NOON_S },
                                              .slots = f->listed };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fleet *f = *state;
    rollout_plan_status_clear(&f->keeper);
    json_decref(f->cluster.object);
    intern_free(f->cluster.strings);
    free(f);
    return 0;
}

/* A pass: decides, tells the keeper, and carries out the grants. Whether the keeper has news. */
static bool pass(struct fleet *f, int64_t *ret_again_s)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_decision d;
    rollout_decide(&f->gathered.in, &a, &d);
    bool news = rollout_plan_status_take(&f->keeper, &f->cluster, &f->gathered, &d, ret_again_s);
    for (size_t k = 0; k < d.grant_count; k++) {
        size_t i = (size_t) (d.grants[k].node - f->nodes);
        f->claims[i] = (struct claim){
            .policy = "u", .phase = CLAIM_UNLOADING, .since_s = f->gathered.in.now_s, .attempt = 1
        };
        snprintf(f->claims[i].to.hash[TIER_DRIVER], REVISION_HASH_MAX, "d2");
        snprintf(f->claims[i].to.hash[TIER_STACK], REVISION_HASH_MAX, "s1");
        snprintf(f->claims[i].from.hash[TIER_DRIVER], REVISION_HASH_MAX, "d1");
        snprintf(f->claims[i].from.hash[TIER_STACK], REVISION_HASH_MAX, "s1");
        f->nodes[i].claim = &f->claims[i];
    }
    return news;
}

static void release(struct fleet *f, size_t i, int64_t after_s)
{
    f->gathered.in.now_s += after_s;
    f->nodes[i].claim = NULL;
    f->nodes[i].now.hash[TIER_DRIVER] = "d2";
}

static void check_one_plan(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    assert_true(pass(f, &again_s));
    assert_int_equal(json_int(f->keeper.plan, "nodes", 0), NODES);
    CLEANUP_JSON json_t *made = json_deep_copy(f->keeper.plan);
    for (size_t i = 0; i < NODES - 1; i++) {
        release(f, i, 100);
        assert_false(pass(f, &again_s));
        assert_int_equal(again_s, 0);
    }
    assert_true(json_equal(f->keeper.plan, made));
    release(f, NODES - 1, 100);
    assert_true(pass(f, &again_s));
    assert_null(f->keeper.plan);
}

static void check_pace(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    pass(f, &again_s);
    release(f, 0, 100);
    pass(f, &again_s);
    release(f, 1, 200);
    pass(f, &again_s);
    assert_int_equal(f->keeper.pace[TIER_DRIVER].nodes, 2);
    assert_int_equal(f->keeper.pace[TIER_DRIVER].node_s, 150);
    assert_int_equal(f->keeper.pace[TIER_STACK].nodes, 0);
}

/* Between two whole seconds. */
static void check_quick_pace(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    pass(f, &again_s);
    release(f, 0, 0);
    pass(f, &again_s);
    assert_int_equal(f->keeper.pace[TIER_DRIVER].nodes, 1);
    assert_int_equal(f->keeper.pace[TIER_DRIVER].node_s, 1);
}

/* A node that failed, or whose claim a person took off, tells of no pace; nor does one that was on
 * its way before this process. */
static void check_no_pace(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    pass(f, &again_s);
    f->gathered.in.now_s += 50;
    f->nodes[0].claim = NULL;
    f->nodes[0].gave_up = true;
    pass(f, &again_s);
    f->claims[1].phase = CLAIM_FAILED;
    pass(f, &again_s);
    release(f, 1, 50);
    rollout_plan_status_clear(&f->keeper);
    pass(f, &again_s);
    release(f, 2, 70);
    rollout_plan_status_clear(&f->keeper);
    pass(f, &again_s);
    assert_int_equal(f->keeper.pace[TIER_DRIVER].nodes, 0);
}

static void check_at_rest(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    f->cluster.rollout.paused = true;
    assert_true(pass(f, &again_s));
    assert_int_equal(json_array_size(json_object_get(f->keeper.plan, "stay")), 0);
    f->nodes[1].held = true;
    f->gathered.in.now_s += 20;
    assert_false(pass(f, &again_s));
    assert_int_equal(again_s, 40);
    f->gathered.in.now_s += again_s;
    assert_true(pass(f, &again_s));
    assert_tree(json_object_get(f->keeper.plan, "stay"),
                "[{'reason':'NodesSkipped','nodes':1,'names':['b']}]");
    f->gathered.in.now_s += 3600;
    assert_false(pass(f, &again_s)); /* times alone are no news */
}

static void check_restart(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    f->cluster.rollout.paused = true;
    pass(f, &again_s);
    CLEANUP_JSON json_t *told = json_deep_copy(f->keeper.plan);
    json_set_at(f->cluster.object, "status.observedGeneration", json_integer(1));
    json_set_at(f->cluster.object, "status.rollout.plan", json_deep_copy(told));
    json_set_at(f->cluster.object, "status.rollout.pace.driver",
                tree("{'secondsPerNode':90,'nodes':4}"));
    rollout_plan_status_clear(&f->keeper);
    f->gathered.in.now_s += 3600;
    pass(f, &again_s);
    assert_int_equal(f->keeper.pace[TIER_DRIVER].node_s, 90);
    assert_string_equal(json_str(f->keeper.plan, "hash"), json_str(told, "hash"));
    rollout_plan_status_clear(&f->keeper);
    json_object_del(json_at(f->cluster.object, "status.rollout"), "pace");
    assert_false(pass(f, &again_s));
    assert_true(json_equal(f->keeper.plan, told));
}

static void check_another_wish(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    pass(f, &again_s);
    assert_false(pass(f, &again_s));
    json_set_at(f->cluster.object, "metadata.generation", json_integer(2));
    f->cluster.rollout.max_parallel.value = NODES;
    assert_true(pass(f, &again_s));
    assert_int_equal(json_int(f->keeper.plan, "underWay", 0), 1);
    assert_int_equal(json_int(f->keeper.plan, "waveCount", 0), 1);
}

/* 200 s for a node. */
static void know_pace(struct fleet *f)
{
    json_set_at(f->cluster.object, "status.rollout.pace.driver",
                tree("{'secondsPerNode':200,'nodes':5}"));
}

/* The first node takes 150 s, which is the pace of this plan, the second one much longer. */
static void check_end_that_passes_on_the_way(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    know_pace(f);
    pass(f, &again_s);
    assert_string_equal(json_str(f->keeper.plan, "ends"), "2026-11-21T12:10:00Z");
    assert_false(pass(f, &again_s));
    assert_int_equal(again_s, 600);
    release(f, 0, 150);
    assert_false(pass(f, &again_s));
    f->gathered.in.now_s = NOON_S + 600;
    assert_true(pass(f, &again_s));
    assert_string_equal(json_str(f->keeper.plan, "madeAt"), "2026-11-21T12:10:00Z");
    assert_int_equal(json_int(f->keeper.plan, "nodes", 0), 2);
    assert_string_equal(json_str(f->keeper.plan, "ends"), "2026-11-21T12:12:30Z");
}

static void check_no_end_of_what_stands_still(void **state)
{
    struct fleet *f = *state;
    int64_t again_s, news = 0;
    know_pace(f);
    pass(f, &again_s);
    pass(f, &again_s);
    for (int i = 0; i < 120; i++) {
        f->gathered.in.now_s += again_s;
        news += pass(f, &again_s);
        assert_in_range(again_s, 0, 600);
    }
    assert_true(f->gathered.in.now_s > NOON_S + 3600);
    /* the first counts the node that is under way, the second says that no end is known */
    assert_int_equal(news, 2);
    assert_null(json_object_get(f->keeper.plan, "ends"));
    release(f, 0, 60);
    assert_true(pass(f, &again_s));
    assert_non_null(json_object_get(f->keeper.plan, "ends"));
}

static void check_no_end_of_what_is_paused(void **state)
{
    struct fleet *f = *state;
    int64_t again_s, news = 0;
    know_pace(f);
    f->cluster.rollout.paused = true;
    pass(f, &again_s);
    assert_string_equal(json_str(f->keeper.plan, "ends"), "2026-11-21T12:10:00Z");
    for (int i = 0; i < 120; i++) {
        f->gathered.in.now_s += 60;
        news += pass(f, &again_s);
    }
    assert_int_equal(news, 1);
    assert_null(json_object_get(f->keeper.plan, "ends"));
}

/* `ends` follows the wall clock, elapsed time the monotonic clock. */
static void check_end_by_a_clock_that_was_set(void **state)
{
    struct fleet *f = *state;
    int64_t again_s;
    know_pace(f);
    f->gathered.in.set_s = 3600;
    pass(f, &again_s);
    assert_string_equal(json_str(f->keeper.plan, "ends"), "2026-11-21T13:10:00Z");
    assert_false(pass(f, &again_s));
    assert_int_equal(again_s, 600);
    f->gathered.in.set_s = 7200;
    f->gathered.in.now_s += 60;
    assert_true(pass(f, &again_s));
    assert_string_equal(json_str(f->keeper.plan, "ends"), "2026-11-21T14:07:40Z");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add_fixture(&s, "there is one plan for all steps, until all is done", check_one_plan,
                      set_up, tear_down);
    suite_add_fixture(&s, "the pace is the mean over the nodes that went", check_pace, set_up,
                      tear_down);
    suite_add_fixture(&s, "a node that took less than a second counts as one second",
                      check_quick_pace, set_up, tear_down);
    suite_add_fixture(&s, "who did not come through, or was not seen to begin, has no pace",
                      check_no_pace, set_up, tear_down);
    suite_add_fixture(&s, "at rest a plan is made anew, but not each moment", check_at_rest, set_up,
                      tear_down);
    suite_add_fixture(&s, "another process goes on with what the status says", check_restart,
                      set_up, tear_down);
    suite_add_fixture(&s, "another policy is another plan, also in the middle", check_another_wish,
                      set_up, tear_down);
    suite_add_fixture(&s, "a rollout that takes longer than its plan gets a new end",
                      check_end_that_passes_on_the_way, set_up, tear_down);
    suite_add_fixture(&s, "a node that does not come through: no end, and no write for each minute",
                      check_no_end_of_what_stands_still, set_up, tear_down);
    suite_add_fixture(&s, "a paused rollout whose end has passed names none",
                      check_no_end_of_what_is_paused, set_up, tear_down);
    suite_add_fixture(&s, "the end passes by the wall clock", check_end_by_a_clock_that_was_set,
                      set_up, tear_down);
    return suite_run(&s, "plan keeper");
}
