/* A cluster in which people, jobs and hosts do what they do, in every order of a few events and in
 * many random orders of many: it always comes to rest, a driver never goes from under a job, and
 * what others set on the node is as they left it (each write is held against that, see
 * support/testbed_writes.c). At rest all is as the last wish says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/chance.h"
#include "tests/unit/support/sanitized.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

/* Under the sanitizer the random orders have the pairs of events. */
enum { EXHAUSTIVE_DEPTH = SANITIZED ? 1 : 2, WALKS = SANITIZED ? 20 : 80, WALK_LENGTH = 25 };

#define NODE "gpu-1"
#define JOB "job"

static void edit_node(struct testbed *t, const char *patch)
{
    CLEANUP_JSON json_t *p = tree(patch);
    testbed_edit(t, RESOURCE_NODE, NODE, p);
}

static void edit_policy(struct testbed *t, const char *patch)
{
    CLEANUP_JSON json_t *p = tree(patch);
    if (testbed_get(t, RESOURCE_POLICY, POLICY_NAME))
        testbed_edit(t, RESOURCE_POLICY, POLICY_NAME, p);
}

/* A job comes where the device plugin is, as the scheduler would have it. */
static void job_comes(struct testbed *t)
{
    const char *stack = object_label(testbed_get(t, RESOURCE_NODE, NODE), LABEL_STACK);
    CLEANUP_FREE char *plugin = xasprintf("device-plugin-%s-" NODE, str_or_empty(stack));
    CLEANUP_JSON json_t *brief = tree("{'name': 'ml/" JOB "', 'gpus': 1}");
    if (testbed_get(t, RESOURCE_POD, plugin) && !testbed_get(t, RESOURCE_POD, JOB))
        testbed_put(t, RESOURCE_POD, testbed_pod(brief));
}

static void job_goes(struct testbed *t)
{
    if (testbed_get(t, RESOURCE_POD, JOB))
        testbed_remove(t, RESOURCE_POD, JOB);
}

static void person_releases(struct testbed *t)
{
    edit_node(t, "{'metadata': {'labels': {'ostler.dev/managed': 'false'}}}");
}

static void person_takes_back(struct testbed *t)
{
    edit_node(t, "{'metadata': {'labels': {'ostler.dev/managed': null}}}");
}

static void person_removes_marks(struct testbed *t)
{
    edit_node(t, "{'metadata': {'labels': {'nvidia.com/gpu.present': null, 'ostler.dev/stack': "
                 "null}}, 'spec': {'taints': []}}");
}

static void person_writes_nonsense(struct testbed *t)
{
    edit_node(t, "{'metadata': {'labels': {'ostler.dev/driver': 'nonsense'}}}");
}

static void person_sets_own_marks(struct testbed *t)
{
    edit_node(t, "{'metadata': {'labels': {'team': 'a'}}, 'spec': {'taints': [{'key': 'dedicated', "
                 "'effect': 'NoExecute'}]}}");
}

static void person_forgets_annotation(struct testbed *t)
{
    edit_node(t, "{'metadata': {'annotations': {'ostler.dev/marks': null}}}");
}

static void person_removes_claim(struct testbed *t)
{
    edit_node(t, "{'metadata': {'annotations': {'ostler.dev/claim': null}}}");
}

static void person_removes_taints(struct testbed *t)
{
    edit_node(t, "{'spec': {'taints': null}}");
}

static void person_holds(struct testbed *t)
{
    edit_node(t, "{'metadata': {'labels': {'ostler.dev/hold': 'true'}}}");
}

static void person_lets_go_on(struct testbed *t)
{
    edit_node(t, "{'metadata': {'labels': {'ostler.dev/hold': null}}}");
}

static void person_cordons(struct testbed *t)
{
    edit_node(t, "{'spec': {'unschedulable': true}}");
}

static void host_is_updated(struct testbed *t)
{
    edit_node(t, "{'status': {'nodeInfo': {'osImage': 'Ubuntu 22.04.4 LTS'}}}");
}

static void node_goes_down(struct testbed *t)
{
    edit_node(t, "{'status': {'conditions': [{'type': 'Ready', 'status': 'Unknown'}]}}");
}

static void node_comes_up(struct testbed *t)
{
    edit_node(t, "{'status': {'conditions': [{'type': 'Ready', 'status': 'True'}]}}");
}

static void policy_wants_host(struct testbed *t)
{
    edit_policy(t, "{'spec': {'driver': {'source': 'Host'}}}");
}

static void policy_wants_another_version(struct testbed *t)
{
    edit_policy(t, "{'spec': {'driver': {'source': 'Auto', 'version': '570.1'}}}");
}

static void policy_wants_the_first_version(struct testbed *t)
{
    edit_policy(t, "{'spec': {'driver': {'source': 'Auto', 'version': null}}}");
}

static void policy_is_deleted(struct testbed *t)
{
    edit_policy(t, "{'metadata': {'deletionTimestamp': '2026-11-20T09:00:00Z'}}");
}

static void policy_comes_back(struct testbed *t)
{
    if (!testbed_get(t, RESOURCE_POLICY, POLICY_NAME))
        testbed_put(t, RESOURCE_POLICY,
                    tree("{'apiVersion': 'ostler.dev/v1alpha1', 'kind': 'GpuClusterPolicy', "
                         "'metadata': {'name': 'default'}}"));
}

static void record_is_lost(struct testbed *t)
{
    CLEANUP_JSON json_t *records = testbed_list(t, RESOURCE_REVISION);
    if (json_array_size(records))
        testbed_remove(t, RESOURCE_REVISION, object_name(json_array_get(records, 0)));
}

static const struct event {
    const char *name;
    void (*happen)(struct testbed *t);
} events[] = {
    { "job comes", job_comes },
    { "job goes", job_goes },
    { "released", person_releases },
    { "taken back", person_takes_back },
    { "marks removed", person_removes_marks },
    { "nonsense", person_writes_nonsense },
    { "own marks", person_sets_own_marks },
    { "annotation lost", person_forgets_annotation },
    { "claim removed", person_removes_claim },
    { "taints removed", person_removes_taints },
    { "held", person_holds },
    { "not held", person_lets_go_on },
    { "cordoned", person_cordons },
    { "host updated", host_is_updated },
    { "down", node_goes_down },
    { "up", node_comes_up },
    { "source Host", policy_wants_host },
    { "another version", policy_wants_another_version },
    { "the first version", policy_wants_the_first_version },
    { "policy deleted", policy_is_deleted },
    { "policy back", policy_comes_back },
    { "record lost", record_is_lost },
};

static void start(struct testbed *t)
{
    CLEANUP_JSON json_t *policy = tree(
        "{'spec': {'validation': {'enabled': true}, 'nodes': {'startupTaint': {'enabled': "
        "true}}}}");
    CLEANUP_JSON json_t *node = tree(
        "{'labels': {'feature.node.kubernetes.io/pci-10de.present': 'true', 'theirs': 'x'}}");
    testbed_init(t, policy);
    testbed_put(t, RESOURCE_NODE, testbed_node(node));
    testbed_settle(t, true, NULL);
}

/* Some passes, not enough to come to rest: events come in the middle of things. */
static void some_passes(struct testbed *t, struct chance *c)
{
    for (uint32_t i = chance_below(c, 4); i > 0; i--) {
        CLEANUP_ARENA struct arena a = { 0 };
        CLEANUP_ACTIONS struct actions actions = { 0 };
        struct node_verdict v;
        uint32_t what = chance_below(c, 4);
        if (what == 0)
            testbed_pass_node(t, &a, NODE, &v, &actions);
        else if (what == 1)
            testbed_pass_policy(t, &actions);
        else if (what == 2)
            testbed_pass_rollout(t, &actions);
        else
            testbed_follow(t);
        testbed_carry_out(t, &actions);
    }
}

/* What must hold at rest. */
static void check_rest(struct testbed *t)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct node_verdict v;
    const json_t *node = testbed_get(t, RESOURCE_NODE, NODE);
    bool released = str_eq(object_label(node, LABEL_MANAGED), "false");
    bool job = testbed_get(t, RESOURCE_POD, JOB) != NULL;
    testbed_pass_node(t, &a, NODE, &v, &actions);
    assert_int_equal(actions.len, 0);
    assert_string_equal(object_label(node, "theirs"), "x");
    if (v.state == NODE_LOST)
        return;
    if (testbed_stance(t) == MODE_MANAGE && !released)
        assert_true(v.state == NODE_READY || job);
    else if (testbed_stance(t) != MODE_HOLD && !job)
        assert_null(object_label(node, LABEL_DRIVER));
}

/* True in a child process, which has its own copy of the testbed and ends with end_branch(): so the
 * way to a state is gone once. False in the parent after the child's end; fails if that failed. */
static bool branch(const char *name)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        return true;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("in or after: %s", name);
    return false;
}

static void end_branch(struct testbed *t)
{
    testbed_clear(t);
    exit(0);
}

/* Every order from here on. */
static void every_order_from(struct testbed *t, int depth)
{
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        if (!branch(events[i].name))
            continue;
        events[i].happen(t);
        testbed_settle(t, true, NULL);
        if (depth > 1)
            every_order_from(t, depth - 1);
        else
            check_rest(t);
        end_branch(t);
    }
}

static void every_order_of_a_few_events(void **state)
{
    (void) state;
    struct testbed t;
    start(&t);
    every_order_from(&t, EXHAUSTIVE_DEPTH);
    testbed_clear(&t);
}

static void many_random_orders(void **state)
{
    (void) state;
    struct testbed t;
    start(&t);
    for (uint64_t seed = 1; seed <= WALKS; seed++) {
        CLEANUP_FREE char *name = xasprintf("seed %d", (int) seed);
        if (!branch(name))
            continue;
        struct chance c = chance_of(seed);
        for (int i = 0; i < WALK_LENGTH; i++) {
            events[chance_below(&c, ARRAY_LEN(events))].happen(&t);
            some_passes(&t, &c);
        }
        testbed_settle(&t, true, NULL);
        check_rest(&t);
        free(TAKE(name));
        end_branch(&t);
    }
    testbed_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "every order of a few events comes to rest", every_order_of_a_few_events, NULL);
    suite_add(&s, "random orders of many events come to rest", many_random_orders, NULL);
    return suite_run(&s, "node walk");
}
