/* Who has a turn for the first toolkit of a pool, from pass to pass. */
#include "reconcilers/toolkit_pass.h"

#include <stdlib.h>

#include "base/json.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

#define NODE(name)                                                                                 \
    "{'name': '" name                                                                              \
    "', 'boot': 'b', 'labels': {'feature.node.kubernetes.io/pci-10de.present': 'true'}}"

/* Two nodes wait for a turn, and no pass has granted one yet. */
static int set_up(void **state)
{
    struct testbed *t = xcalloc(1, sizeof *t);
    CLEANUP_JSON json_t *policy = tree("{'spec': {'driver': {'source': 'Host'}}}"),
                        *a = tree(NODE("gpu-1")), *b = tree(NODE("gpu-2"));
    testbed_init(t, policy);
    t->toolkit_waits = t->unsettled = true;
    testbed_put(t, RESOURCE_NODE, testbed_node(a));
    testbed_put(t, RESOURCE_NODE, testbed_node(b));
    testbed_settle(t, false, NULL);
    t->unsettled = false;
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct testbed *t = *state;
    testbed_clear(t);
    free(t);
    return 0;
}

static void rollout(struct testbed *t)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    testbed_pass_rollout(t, &actions);
}

static void look_at_node(struct testbed *t, const char *name, bool write)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct node_verdict v;
    testbed_pass_node(t, &a, name, &v, &actions);
    assert_int_equal(actions.len, 1);
    if (write)
        testbed_carry_out(t, &actions);
}

static bool has_turn(const struct testbed *t, const char *name)
{
    const struct node_slot *slot = map_get(&t->cluster->slots, name);
    return slot->toolkit.granted;
}

static void one_of_two_has_a_turn(void **state)
{
    struct testbed *t = *state;
    assert_false(has_turn(t, "gpu-1"));
    rollout(t);
    assert_true(has_turn(t, "gpu-1"));
    assert_false(has_turn(t, "gpu-2"));
}

/* Its own pass has decided, and the server's answer has not come. */
static void no_other_has_one_while_its_label_is_on_its_way(void **state)
{
    struct testbed *t = *state;
    rollout(t);
    look_at_node(t, "gpu-1", false);
    rollout(t);
    assert_true(has_turn(t, "gpu-1"));
    assert_false(has_turn(t, "gpu-2"));
}

static void no_other_has_one_while_its_toolkit_comes_up(void **state)
{
    struct testbed *t = *state;
    rollout(t);
    look_at_node(t, "gpu-1", true);
    rollout(t);
    assert_false(has_turn(t, "gpu-1"));
    assert_false(has_turn(t, "gpu-2"));
}

/* What does not come up because a GPU is broken shows nothing about the toolkit. */
static void a_bad_gpu_keeps_no_turn_from_others(void **state)
{
    struct testbed *t = *state;
    rollout(t);
    look_at_node(t, "gpu-1", true);
    testbed_put(t, RESOURCE_GPU_NODE,
                tree("{'metadata': {'name': 'gpu-1'}, 'status': {'inventory': {'bootId': 'b', "
                     "'gpus': [{'address': '0000:65:00.0', 'bus': 'Gone'}]}}}"));
    look_at_node(t, "gpu-1", true);
    rollout(t);
    assert_true(has_turn(t, "gpu-2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_of_two_has_a_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_other_has_one_while_its_label_is_on_its_way, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_other_has_one_while_its_toolkit_comes_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_bad_gpu_keeps_no_turn_from_others, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("toolkit pass", tests, NULL, NULL);
}
