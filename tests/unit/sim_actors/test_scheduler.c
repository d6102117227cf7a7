#include "tests/unit/sim_actors/little_world.h"

/* Sentences are those of a real scheduler (v1.36) for the same nodes and pods. */
static const char nodes[] =
    "[{'metadata': {'name': 'n1', 'labels': {'a': 'b'}}, 'spec': {}, 'status': {'allocatable': "
    "{'cpu': "
    "'4', 'memory': '8Gi', 'pods': '110', "
    "'nvidia.com/gpu': '2'}}},"
    " {'metadata': {'name': 'n2'}, 'spec': {'unschedulable': true}, 'status': {'allocatable': "
    "{'cpu': "
    "'4', 'memory': '8Gi', 'pods': '110'}}},"
    " {'metadata': {'name': 'n3'}, 'spec': {'taints': [{'key': 'x', 'value': 'y', 'effect': "
    "'NoSchedule'}]}, 'status': {'allocatable': {'cpu': '4', "
    "'memory': '8Gi', 'pods': '1', 'nvidia.com/gpu': '0'}}}]";

#define PINNED                                                                                     \
    "'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "             \
    "{'nodeSelectorTerms': [{'matchFields': "                                                      \
    "[{'key': 'metadata.name', 'operator': 'In', 'values': ['n3']}]}]}}}"

static const struct fit_case {
    const char *name, *spec;
    const char *node; /* where it goes; NULL: nowhere */
    const char *want; /* the sentence then */
} fit_cases[] = {
    { "a pod without wishes", "{}", "n1", NULL },
    { "GPUs that are there",
      "{'containers': [{'name': 'c', 'image': 'i', 'resources': {'limits': {'nvidia.com/gpu': "
      "'2'}}}]}",
      "n1", NULL },
    { "more GPUs than any node has",
      "{'containers': [{'name': 'c', 'image': 'i', 'resources': {'limits': {'nvidia.com/gpu': "
      "'3'}}}]}",
      NULL,
      "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s), "
      "1 node(s) were unschedulable. "
      "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not "
      "helpful for scheduling." },
    { "a label that no node has", "{'nodeSelector': {'zz': '1'}}", NULL,
      "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had "
      "untolerated taint(s), 1 "
      "node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are "
      "available: 3 Preemption is not helpful "
      "for scheduling." },
    { "a toleration",
      "{'nodeSelector': null, 'tolerations': [{'key': 'x', 'operator': 'Exists'}]," PINNED "}",
      "n3", NULL },
    { "a daemon's node that has a taint", "{" PINNED "}", NULL,
      "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy "
      "plugin(s) [NodeAffinity]. no new "
      "claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for "
      "scheduling." },
    { "a daemon that asks for too much",
      "{'tolerations': [{'operator': 'Exists'}], 'containers': [{'name': 'c', 'image': 'i', "
      "'resources': {'requests': {'cpu': "
      "'3900m', 'memory': "
      "'9Gi'}}}]," PINNED "}",
      NULL,
      "0/3 nodes are available: 1 Insufficient memory, 2 node(s) didn't satisfy plugin(s) "
      "[NodeAffinity]. no new claims to "
      "deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for "
      "scheduling." },
    { "a pod of another scheduler", "{'schedulerName': 'mine'}", NULL, NULL },
};

static void begin_with_nodes(struct little *w)
{
    little_init(w, 0);
    w->options.without = ACTOR_NODE_LIFECYCLE | ACTOR_KUBELET;
    little_begin(w);
    CLEANUP_JSON json_t *list = tree(nodes);
    size_t i;
    json_t *node;
    json_array_foreach (list, i, node) {
        assert_int_equal(api_create(w->api, "test", kind_named("nodes"), node, NULL), 0);
        /* Without the taint that new nodes are given until they are ready. */
        json_t *taints = json_at(node, "spec.taints");
        CLEANUP_JSON json_t *patch = json_pack("{s:{s:O?}}", "spec", "taints",
                                               taints ? taints : json_null());
        assert_int_equal(
            api_merge(w->api, "test", kind_named("nodes"), "", object_name(node), "", patch, NULL),
            0);
        assert_int_equal(api_merge(w->api, "test", kind_named("nodes"), "", object_name(node),
                                   "status", node, NULL),
                         0);
    }
}

static const char *scheduled(const struct little *w, const char *name, const char *field)
{
    return json_str(condition_find(little_of_pod(w, name, "status.conditions"), "PodScheduled"),
                    field);
}

static void check_fit(void **state)
{
    const struct fit_case *c = *state;
    struct little w;
    begin_with_nodes(&w);
    little_make_pod(&w, "p", c->spec);
    little_pass(&w, 5000);
    const char *node = json_string_value(little_of_pod(&w, "p", "spec.nodeName"));
    if (c->node)
        assert_string_equal(node, c->node);
    else
        assert_null(node);
    if (c->want) {
        assert_string_equal(scheduled(&w, "p", "message"), c->want);
        assert_string_equal(scheduled(&w, "p", "reason"), "Unschedulable");
        assert_string_equal(scheduled(&w, "p", "status"), "False");
    }
    little_end(&w);
}

static void full_node(void **state)
{
    (void) state;
    struct little w;
    begin_with_nodes(&w);
    little_make_pod(&w, "first", "{'tolerations': [{'operator': 'Exists'}]," PINNED "}");
    little_pass(&w, 1000);
    little_make_pod(&w, "p", "{'tolerations': [{'operator': 'Exists'}]," PINNED "}");
    little_pass(&w, 5000);
    assert_string_equal(scheduled(&w, "p", "message"),
                        "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't satisfy "
                        "plugin(s) [NodeAffinity]. no new claims to "
                        "deallocate, preemption: 0/3 nodes are available: 1 No preemption victims "
                        "found for incoming pod, 2 Preemption is not "
                        "helpful for scheduling.");
    /* Room that becomes free is used, after the backoff at the latest. */
    assert_int_equal(
        api_delete(w.api, "test", kind_named("pods"), "default", "first", NULL, 0, NULL), 0);
    little_pass(&w, 12000);
    assert_string_equal(json_string_value(little_of_pod(&w, "p", "spec.nodeName")), "n3");
    little_end(&w);
}

static void waits_for_devices(void **state)
{
    (void) state;
    struct little w;
    begin_with_nodes(&w);
    little_make_pod(&w, "p",
                    "{'containers': [{'name': 'c', 'image': 'i', 'resources': {'limits': "
                    "{'nvidia.com/gpu': '4'}}}]}");
    little_pass(&w, 60000);
    assert_null(little_of_pod(&w, "p", "spec.nodeName"));
    size_t commits = w.commits;
    little_pass(&w, 3600 * 1000);
    assert_int_equal(w.commits, commits);
    CLEANUP_JSON json_t *more = tree("{'status': {'allocatable': {'nvidia.com/gpu': '8'}}}");
    assert_int_equal(api_merge(w.api, "test", kind_named("nodes"), "", "n1", "status", more, NULL),
                     0);
    little_pass(&w, 1000);
    assert_string_equal(json_string_value(little_of_pod(&w, "p", "spec.nodeName")), "n1");
    assert_string_equal(scheduled(&w, "p", "status"), "True");
    little_end(&w);
}

static void never_overbooks(void **state)
{
    (void) state;
    struct little w;
    begin_with_nodes(&w);
    for (int i = 0; i < 6; i++) {
        CLEANUP_FREE char *name = xasprintf("p%d", i);
        little_make_pod(&w, name,
                        "{'containers': [{'name': 'c', 'image': 'i', 'resources': {'limits': "
                        "{'nvidia.com/gpu': '1'}}}]}");
    }
    little_pass(&w, 60000);
    size_t bound = 0;
    for (size_t i = 0; i < api_count(w.api, kind_named("pods")); i++)
        bound += json_at(api_at(w.api, kind_named("pods"), i), "spec.nodeName") != NULL;
    assert_int_equal(bound, 2);
    little_end(&w);
}

static void spreads(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 4);
    little_begin(&w);
    for (int i = 0; i < 8; i++) {
        CLEANUP_FREE char *name = xasprintf("p%d", i);
        little_make_pod(&w, name, NULL);
        little_pass(&w, 100);
    }
    size_t on[4] = { 0 };
    for (size_t i = 0; i < api_count(w.api, kind_named("pods")); i++)
        on[json_str(api_at(w.api, kind_named("pods"), i), "spec.nodeName")[4] - '1']++;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(on[i], 2);
    little_end(&w);
}

static void no_nodes(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 0);
    little_begin(&w);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 1000);
    assert_string_equal(scheduled(&w, "p", "message"), "no nodes available to schedule pods");
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_fit, fit_cases);
    suite_add(&s, "a node that is full, until it is not", full_node, NULL);
    suite_add(&s, "a pod waits for devices, in silence", waits_for_devices, NULL);
    suite_add(&s, "a device is given once", never_overbooks, NULL);
    suite_add(&s, "pods spread over nodes", spreads, NULL);
    suite_add(&s, "no nodes at all", no_nodes, NULL);
    return suite_run(&s, "scheduler");
}
