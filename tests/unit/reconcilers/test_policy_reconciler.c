/* What a pass over the policy does by itself, besides its plan. */
#include "reconcilers/reconcilers.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "kube/condition.h"
#include "runtime/loop.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

/* A pass asks for the state of these. */
static const enum resource_id watched[] = { RESOURCE_POLICY, RESOURCE_NODE, RESOURCE_POD,
                                            RESOURCE_GPU_NODE, RESOURCE_SERVICEMONITOR };

#define SERVED(name)                                                                               \
    "{'name': '" name "', 'labels': {'feature.node.kubernetes.io/pci-10de.present': 'true'}}"

struct fixture {
    struct testbed bed;
    struct loop *loop;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    CLEANUP_JSON json_t *policy = tree("{}");
    testbed_init(&f->bed, policy);
    f->loop = loop_new(&quiet_clock);
    struct cluster *c = f->bed.cluster;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        const struct informer_options o = { .resource = watched[i], .optional = true };
        c->informers[watched[i]] = informer_new(&o, &c->tables[watched[i]], NULL, f->loop, NULL,
                                                NULL);
    }
    f->bed.passes->rollout_epoch = c->epoch;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        informer_free(f->bed.cluster->informers[watched[i]]);
    testbed_clear(&f->bed);
    loop_free(f->loop);
    free(f);
    return 0;
}

/* The status of HealthBraked that a pass writes. `ret_again_ms`: when the next pass is. */
static const char *braked(struct fixture *f, char status[static 16], int64_t *ret_again_ms)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    policy_reconcile(f->bed.passes, POLICY_NAME, &actions);
    *ret_again_ms = actions.requeue_after_ms;
    for (size_t i = 0; i < actions.len; i++) {
        if (actions.items[i].verb != VERB_STATUS)
            continue;
        const char *text = actions.items[i].request.body;
        CLEANUP_JSON json_t *body = json_parse(text, strlen(text), NULL);
        const json_t *c = condition_find(json_at(body, "status.conditions"), "HealthBraked");
        strncpy(status, json_str_or_empty(c, "status"), 15);
    }
    return status;
}

/* Three nodes became unhealthy a minute ago: nothing but the pass itself says when the storm is
 * over. */
static void comes_again_when_the_brake_goes_off(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = f->bed.cluster;
    static const char *const names[] = { "gpu-1", "gpu-2", "gpu-3" };
    char before[16] = "", during[16] = "";
    int64_t again_ms;
    c->brake.looked = true;
    assert_string_equal(braked(f, before, &again_ms), "False");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        brake_list_add(&c->brake.closings, names[i], cluster_now_s(c) - 840);
    assert_string_equal(braked(f, during, &again_ms), "True");
    assert_int_equal(again_ms, 60 * 1000);
}

/* A member of the status that a pass writes. */
static int64_t written(struct fixture *f, const char *path)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    int64_t value = -1;
    f->bed.passes->status_waits_ms = 1; /* the status waits for no other write */
    policy_reconcile(f->bed.passes, POLICY_NAME, &actions);
    for (size_t i = 0; i < actions.len; i++) {
        if (actions.items[i].verb != VERB_STATUS)
            continue;
        const char *text = actions.items[i].request.body;
        CLEANUP_JSON json_t *body = json_parse(text, strlen(text), NULL);
        value = json_int(body, path, -1);
    }
    return value;
}

/* Two nodes wait for another driver. One goes after the rollout's last pass: the status that counts
 * one node does not say that two of them wait. */
static void a_status_counts_nodes_and_rollout_at_the_same_moment(void **state)
{
    struct fixture *f = *state;
    struct testbed *t = &f->bed;
    CLEANUP_JSON json_t *first = tree(SERVED("gpu-1")), *other = tree(SERVED("gpu-2")),
                        *driver = tree("{'spec': {'driver': {'version': '580.1'}, "
                                       "'rollout': {'paused': true}}}");
    testbed_put(t, RESOURCE_NODE, testbed_node(first));
    testbed_put(t, RESOURCE_NODE, testbed_node(other));
    testbed_settle(t, true, NULL);
    testbed_edit(t, RESOURCE_POLICY, POLICY_NAME, driver);
    testbed_settle(t, true, NULL);
    assert_int_equal(written(f, "status.rollout.pending"), 2);
    assert_int_equal(written(f, "status.nodes.gpu"), 2);
    testbed_remove(t, RESOURCE_NODE, "gpu-2");
    assert_int_equal(written(f, "status.nodes.gpu"), 1);
    assert_int_equal(written(f, "status.rollout.pending"), 1);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add_fixture(&s, "the policy's pass comes again when the storm brake goes off",
                      comes_again_when_the_brake_goes_off, set_up, tear_down);
    suite_add_fixture(&s, "a status counts nodes and the rollout's at the same moment",
                      a_status_counts_nodes_and_rollout_at_the_same_moment, set_up, tear_down);
    return suite_run(&s, "policy_reconciler");
}
