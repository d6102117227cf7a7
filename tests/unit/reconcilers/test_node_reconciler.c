/* What a node's pass goes by that others have written. */
#include "reconcilers/reconcilers.h"

#include <stdlib.h>

#include "base/json.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/cluster_budgets.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "runtime/loop.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

/* A pass asks how long nothing was heard of these. */
static const enum resource_id watched[] = { RESOURCE_NODE, RESOURCE_POD, RESOURCE_TASK };

struct fixture {
    struct testbed bed;
    struct loop *loop;
    bool soon; /* the policy's pass is asked for at once */
};

static void on_policy(void *arg, bool soon)
{
    ((struct fixture *) arg)->soon |= soon;
}

/* A policy without the finalizer. */
static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    CLEANUP_JSON json_t *policy = tree("{'metadata': {'finalizers': []}}");
    testbed_init(&f->bed, policy);
    f->bed.passes->policy = on_policy;
    f->bed.passes->arg = f;
    f->loop = loop_new(&quiet_clock);
    struct cluster *c = f->bed.cluster;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        const struct informer_options o = { .resource = watched[i] };
        c->informers[watched[i]] = informer_new(&o, &c->tables[watched[i]], NULL, f->loop, NULL,
                                                NULL);
    }
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

/* How many writes a pass over the node wants. */
static size_t pass(struct fixture *f)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    f->soon = false;
    node_reconcile(f->bed.passes, "gpu-1", &actions);
    return actions.len;
}

/* If the policy were deleted at that moment, no pass would remove the labels and taints of nodes.
 * This node only gets marked as another operator's, which needs nothing else first. */
static void marks_wait_for_the_finalizer(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *brief = tree(
        "{'labels': {'accelerator': 'nvidia', 'eks.amazonaws.com/compute-type': 'auto'}}");
    testbed_put(&f->bed, RESOURCE_NODE, testbed_node(brief));
    assert_int_equal(pass(f), 0);
    assert_true(f->soon);
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:[s]}}", "metadata", "finalizers",
                                           POLICY_FINALIZER);
    testbed_edit(&f->bed, RESOURCE_POLICY, POLICY_NAME, patch);
    assert_int_equal(pass(f), 1);
}

/* Since when the pass takes a node to be in its state that is reported with this time. `owner`: uid
 * of the node that the report was written for; NULL: this one's. */
static int64_t since(struct fixture *f, const char *time, const char *owner)
{
    CLEANUP_JSON json_t *brief = tree(
        "{'labels': {'accelerator': 'nvidia', 'eks.amazonaws.com/compute-type': 'auto'}}");
    testbed_put(&f->bed, RESOURCE_NODE, testbed_node(brief));
    const char *uid = owner ? owner : object_uid(testbed_get(&f->bed, RESOURCE_NODE, "gpu-1"));
    testbed_put(&f->bed, RESOURCE_GPU_NODE,
                json_pack("{s:{s:s, s:[{s:s, s:s}]}, s:{s:s, s:s}}", "metadata", "name", "gpu-1",
                          "ownerReferences", "kind", "Node", "uid", uid, "status", "state",
                          "Discovered", "since", time));
    pass(f);
    const struct node_slot *slot = map_get(&f->bed.cluster->slots, "gpu-1");
    assert_int_equal(slot->summary.state, NODE_DISCOVERED);
    return slot->summary.since_s;
}

static void state_goes_on_since_another_leader_saw_it(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(since(f, "2026-11-20T09:00:00Z", NULL), cluster_now_s(f->bed.cluster) - 3600);
}

/* A node of that name was there before, and was made again: its report says nothing of this one. */
static void state_of_another_node_of_its_name_does_not_go_on(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(since(f, "2026-11-20T09:00:00Z", "of-the-node-before"), 0);
}

/* What such a time is the beginning of, as of taking the toolkit out of a runtime, would last a day
 * longer. */
static void time_to_come_counts_as_now(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(since(f, "2026-11-21T10:00:00Z", NULL), cluster_now_s(f->bed.cluster));
}

/* The storm brake counts the node from its pass on. */
static void unhealthy_node_counts_for_the_brake(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *brief = tree(
        "{'labels': {'nvidia.com/gpu.present': 'true'}, 'boot': 'b'}");
    testbed_put(&f->bed, RESOURCE_NODE, testbed_node(brief));
    pass(f);
    CLEANUP_JSON json_t *report = tree(
        "{'metadata': {'name': 'gpu-1', 'ownerReferences': [{'kind': 'Node'}]}, 'status': "
        "{'inventory': {'bootId': 'b', 'faults': [{'address': '0000:65:00.0', 'xid': 79, 'count': "
        "1, 'first': '2026-11-20T09:00:00Z', 'last': '2026-11-20T09:00:00Z', 'bootId': 'b'}]}}}");
    json_set_at(json_array_get(json_at(report, "metadata.ownerReferences"), 0), "uid",
                json_string(object_uid(testbed_get(&f->bed, RESOURCE_NODE, "gpu-1"))));
    testbed_put(&f->bed, RESOURCE_GPU_NODE, json_incref(report));
    pass(f);
    const struct node_slot *slot = map_get(&f->bed.cluster->slots, "gpu-1");
    assert_int_equal(slot->unhealthy_s, cluster_now_s(f->bed.cluster));
    testbed_remove(&f->bed, RESOURCE_GPU_NODE, "gpu-1");
    pass(f);
    assert_int_equal(slot->unhealthy_s, 0);
}

/* A node whose other pods leave before its reboot. */
static void put_rebooting_node(struct fixture *f)
{
    CLEANUP_JSON json_t *policy = tree("{'metadata': {'finalizers': ['" POLICY_FINALIZER "']}, "
                                       "'spec': {'health': {'mode': 'Repair', 'reboot': 'Pod'}}}");
    CLEANUP_JSON json_t *node = tree(
        "{'gpus': 2, 'boot': 'b1', 'labels': {'nvidia.com/gpu.present': 'true'}, 'taints': "
        "[{'key': 'ostler.dev/upgrade', 'value': 'Repair', 'effect': 'NoSchedule'}]}");
    CLEANUP_JSON json_t *pod = tree(
        "{'name': 'shop/web-1', 'made': '2026-11-19T10:00:00Z', 'restartPolicy': 'Always', "
        "'owners': [{'kind': 'ReplicaSet', 'controller': true}]}");
    json_set_at(
        node, "annotations",
        json_pack("{s:s}", ANNOTATION_CLAIM,
                  "{\"v\":1,\"policy\":\"uid-default-1\",\"generation\":1,\"kind\":\"Repair\","
                  "\"phase\":\"Rebooting\",\"since\":\"2026-11-20T09:59:50Z\",\"claimed\":"
                  "\"2026-11-20T09:50:00Z\",\"attempt\":1,\"gpus\":2,\"driver\":\"d\",\"stack\":"
                  "\"s\",\"fromDriver\":\"d\",\"fromStack\":\"s\",\"reason\":\"\",\"boot\":"
                  "\"08a60307b54d7e7c\"}"));
    testbed_edit(&f->bed, RESOURCE_POLICY, POLICY_NAME, policy);
    f->bed.cluster->health.repairs = true;
    testbed_put(&f->bed, RESOURCE_NODE, testbed_node(node));
    testbed_put(&f->bed, RESOURCE_POD, testbed_pod(pod));
}

/* How many pods a pass evicts. */
static size_t evictions(struct fixture *f)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    size_t n = 0;
    node_reconcile(f->bed.passes, "gpu-1", &actions);
    for (size_t i = 0; i < actions.len; i++)
        n += actions.items[i].verb == VERB_EVICT;
    return n;
}

/* A budget that refuses is not asked in each pass, and the refusal is reported, in every phase. */
static void refusal_lasts_while_pods_leave(void **state)
{
    struct fixture *f = *state;
    put_rebooting_node(f);
    assert_int_equal(evictions(f), 1);
    struct node_slot *slot = map_get(&f->bed.cluster->slots, "gpu-1");
    assert_int_equal(slot->summary.state, NODE_REBOOTING);
    cluster_refused(f->bed.cluster, slot, xstrdup("pod/shop/web-1: no"));
    assert_int_equal(evictions(f), 0);
    assert_string_equal(slot->refused, "pod/shop/web-1: no");
    assert_string_equal(slot->summary.refused, "pod/shop/web-1: no");
    testbed_remove(&f->bed, RESOURCE_POD, "web-1");
    pass(f);
    assert_null(slot->refused);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add_fixture(&s, "a refusal lasts while pods leave", refusal_lasts_while_pods_leave,
                      set_up, tear_down);
    suite_add_fixture(&s, "marks wait for the finalizer", marks_wait_for_the_finalizer, set_up,
                      tear_down);
    suite_add_fixture(&s, "the state of another node of its name does not go on",
                      state_of_another_node_of_its_name_does_not_go_on, set_up, tear_down);
    suite_add_fixture(&s, "a state goes on since another leader saw it",
                      state_goes_on_since_another_leader_saw_it, set_up, tear_down);
    suite_add_fixture(&s, "an unhealthy node counts for the storm brake",
                      unhealthy_node_counts_for_the_brake, set_up, tear_down);
    suite_add_fixture(&s, "a time that is still to come counts as now", time_to_come_counts_as_now,
                      set_up, tear_down);
    return suite_run(&s, "node_reconciler");
}
