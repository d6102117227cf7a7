/* What the rollout's pass remembers between passes, and when it forgets that. */
#include "reconcilers/reconcilers.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "reconcilers/model/policy.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

static int set_up(void **state)
{
    struct testbed *t = xcalloc(1, sizeof *t);
    CLEANUP_JSON json_t *policy = tree("{'spec': {}}");
    testbed_init(t, policy);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct testbed *t = *state;
    free(t->passes->pull_refused);
    testbed_clear(t);
    free(t);
    return 0;
}

/* The server's answer to a write of one kind of object. */
static void answer(struct testbed *t, enum resource_id resource, enum err_kind error,
                   const char *message)
{
    const struct action action = { .request.resource = resource };
    rollout_outcome(t->passes, POLICY_NAME,
                    &(struct executor_result){ .error = error,
                                               .message = message,
                                               .actions = &(struct actions){ 0 },
                                               .failed = &action });
}

static void a_refused_pod_is_remembered_until_one_is_taken(void **state)
{
    struct testbed *t = *state;
    answer(t, RESOURCE_NODE, ERR_INVALID, "no such node");
    assert_null(t->passes->pull_refused);
    answer(t, RESOURCE_TASK, ERR_INVALID, "exceeded quota");
    assert_string_equal(t->passes->pull_refused, "exceeded quota");
    answer(t, RESOURCE_TASK, ERR_CONFLICT, "another client was faster");
    assert_string_equal(t->passes->pull_refused, "exceeded quota");
    answer(t, RESOURCE_TASK, ERR_NONE, NULL);
    assert_null(t->passes->pull_refused);
}

static void a_refused_pod_is_forgotten_with_the_policy(void **state)
{
    struct testbed *t = *state;
    CLEANUP_ACTIONS struct actions actions = { 0 };
    answer(t, RESOURCE_TASK, ERR_INVALID, "exceeded quota");
    rollout_reconcile(t->passes, POLICY_NAME, &actions);
    assert_string_equal(t->passes->pull_refused, "exceeded quota");
    CLEANUP_JSON json_t *deletion = tree(
        "{'metadata': {'deletionTimestamp': '2026-11-20T10:00:00Z'}}");
    testbed_edit(t, RESOURCE_POLICY, POLICY_NAME, deletion);
    rollout_reconcile(t->passes, POLICY_NAME, &actions);
    assert_null(t->passes->pull_refused);
}

static void count(void *arg, bool soon)
{
    (void) soon;
    ++*(int *) arg;
}

/* The status of a policy waits for it, also where it finds what it found before. */
static void the_first_look_under_a_policy_is_told_of(void **state)
{
    struct testbed *t = *state;
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_JSON json_t *edit = tree("{'metadata': {'finalizers': ['" POLICY_FINALIZER "']}}");
    int told = 0;
    testbed_edit(t, RESOURCE_POLICY, POLICY_NAME, edit);
    t->passes->policy = count;
    t->passes->arg = &told;
    for (int i = 0; i < 2; i++) {
        rollout_reconcile(t->passes, POLICY_NAME, &actions);
        assert_int_equal(told, i + 1);
        rollout_reconcile(t->passes, POLICY_NAME, &actions);
        assert_int_equal(told, i + 1);
        cluster_new_epoch(t->cluster);
    }
}

#define SERVED(name)                                                                               \
    "{'name': '" name "', 'labels': {'feature.node.kubernetes.io/pci-10de.present': 'true'}}"

static void edit(struct testbed *t, enum resource_id resource, const char *name, const char *patch)
{
    CLEANUP_JSON json_t *p = tree(patch);
    testbed_edit(t, resource, name, p);
}

/* How many writes a pass wants. */
static size_t pass(struct testbed *t)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    testbed_pass_rollout(t, &actions);
    return actions.len;
}

/* The nodes' passes write nothing, but until then Ostler does not know what the nodes must run. */
static void look_at_nodes(struct testbed *t)
{
    static const char *const names[] = { "gpu-1", "gpu-2" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP_ARENA struct arena a = { 0 };
        CLEANUP_ACTIONS struct actions actions = { 0 };
        struct node_verdict v;
        testbed_pass_node(t, &a, names[i], &v, &actions);
        assert_int_equal(actions.len, 0);
    }
}

/* The first node has the new driver and the other one waits. The record does not say since when. */
static void soak_behind_a_canary(struct testbed *t)
{
    CLEANUP_JSON json_t *first = tree(SERVED("gpu-1")), *other = tree(SERVED("gpu-2"));
    edit(t, RESOURCE_POLICY, POLICY_NAME,
         "{'metadata': {'finalizers': ['" POLICY_FINALIZER
         "']}, 'spec': {'driver': {'version': '570.1'}}}");
    testbed_put(t, RESOURCE_NODE, testbed_node(first));
    testbed_put(t, RESOURCE_NODE, testbed_node(other));
    testbed_settle(t, true, NULL);
    edit(t, RESOURCE_POLICY, POLICY_NAME, "{'spec': {'driver': {'version': '580.1'}}}");
    testbed_settle(t, true, NULL);
    CLEANUP_FREE char *record = xasprintf("driver-%s",
                                          testbed_target(t, "gpu-1")->runs.hash[TIER_DRIVER]);
    edit(t, RESOURCE_REVISION, record,
         "{'metadata': {'annotations': {'ostler.dev/canary-default': null}}}");
}

/* The rollout's pass finds that the canary has soaked, and the policy's pass records that: the next
 * pass wants to claim the other node. */
static void record_says_why(struct testbed *t)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    soak_behind_a_canary(t);
    edit(t, RESOURCE_POLICY, POLICY_NAME, "{'spec': {'rollout': {'canary': {'soak': '0s'}}}}");
    look_at_nodes(t);
    assert_int_equal(pass(t), 0);
    testbed_pass_policy(t, &actions);
    assert_true(actions.len > 0);
    testbed_carry_out(t, &actions);
    look_at_nodes(t);
}

/* If the claim were written first and the record lost, Ostler would not know since when the canary
 * runs it, and would soak it again. */
static void no_node_is_claimed_before_the_record_says_why_it_may_be(void **state)
{
    struct testbed *t = *state;
    record_says_why(t);
    assert_true(pass(t) > 0);
}

/* A pass whose requests have these effects, a letter each; returns the verbs that it wanted. */
static const char *pass_with(struct testbed *t, const char *effects, struct buf *ret)
{
    static const char letters[] = "-RUS";
    CLEANUP_ACTIONS struct actions actions = { 0 };
    testbed_pass_rollout(t, &actions);
    buf_reset(ret);
    for (size_t i = 0; i < actions.len; i++) {
        const char *letter = *effects ? strchr(letters, *effects++) : letters;
        actions.items[i].effect = (enum action_effect)(letter - letters);
        buf_printf(ret, "%s%s %s", i ? ", " : "", verb_text(actions.items[i].verb),
                   actions.items[i].target);
    }
    rollout_outcome(t->passes, POLICY_NAME,
                    &(struct executor_result){ .error = ERR_CONFLICT, .actions = &actions });
    return buf_text(ret);
}

#define CLAIM "Claim node/gpu-2"
#define LOOK_AND_CLAIM "Look node/gpu-2, " CLAIM

/* The effects of three passes, and what the fourth wants. The cache says nothing of a claim. */
static void no_claim_after_an_unclear_one_without_a_look(void **state)
{
    static const struct {
        const char *effects[3], *wants;
    } rows[] = {
        { { "-", "-", "-" }, CLAIM },
        { { "-", "-", "R" }, CLAIM },
        { { "-", "-", "U" }, LOOK_AND_CLAIM },
        { { "-", "U", "U-" }, LOOK_AND_CLAIM }, /* the look failed */
        { { "-", "U", "R-" }, LOOK_AND_CLAIM },
        { { "-", "U", "--" }, LOOK_AND_CLAIM }, /* another epoch, or the lease is lost */
        { { "-", "U", "S-" }, CLAIM },
        { { "-", "U", "SR" }, CLAIM },
        { { "-", "U", "SU" }, LOOK_AND_CLAIM },
        { { "U", "SU", "SS" }, CLAIM },
    };
    struct testbed *t = *state;
    CLEANUP_BUF struct buf text = BUF_INIT(1000);
    record_says_why(t);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t k = 0; k < ARRAY_LEN(rows[i].effects); k++)
            pass_with(t, rows[i].effects[k], &text);
        assert_string_equal(pass_with(t, *rows[i].wants == 'L' ? "SS" : "S", &text), rows[i].wants);
    }
}

/* What is unclear stays so over a pause, in which nothing is looked at. */
static void a_pause_makes_nothing_clear(void **state)
{
    struct testbed *t = *state;
    CLEANUP_BUF struct buf text = BUF_INIT(1000);
    record_says_why(t);
    assert_string_equal(pass_with(t, "U", &text), CLAIM);
    edit(t, RESOURCE_POLICY, POLICY_NAME, "{'spec': {'rollout': {'paused': true}}}");
    look_at_nodes(t);
    assert_string_equal(pass_with(t, "", &text), "");
    edit(t, RESOURCE_POLICY, POLICY_NAME, "{'spec': {'rollout': {'paused': false}}}");
    look_at_nodes(t);
    assert_string_equal(pass_with(t, "", &text), LOOK_AND_CLAIM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_refused_pod_is_remembered_until_one_is_taken, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_refused_pod_is_forgotten_with_the_policy, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_first_look_under_a_policy_is_told_of, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_node_is_claimed_before_the_record_says_why_it_may_be,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_claim_after_an_unclear_one_without_a_look, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_pause_makes_nothing_clear, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("rollout reconciler", tests, NULL, NULL);
}
