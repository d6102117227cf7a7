#include "tests/unit/sim_actors/little_world.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000 };

static bool has_taint(const struct little *w, const char *node, const char *key, const char *effect)
{
    size_t i;
    json_t *t;
    json_array_foreach (json_at(little_get(w, "nodes", "", node), "spec.taints"), i, t)
        if (str_eq(json_str(t, "key"), key) && str_eq(json_str(t, "effect"), effect))
            return true;
    return false;
}

static const char *ready_of(const struct little *w, const char *node)
{
    return condition_status(json_at(little_get(w, "nodes", "", node), "status.conditions"),
                            "Ready");
}

static void begin(struct little *w, size_t nodes)
{
    little_init(w, nodes);
    w->shape.boot = (struct spec_delay){ 60000, 60000 };
    little_begin(w);
}

static void silent_node(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 1);
    little_make_pod(&w, "p", NULL);
    little_daemonset(&w, "d", NULL, NULL);
    little_pass(&w, 30 * SECOND_MS);
    little_do(&w, SPEC_NODE_DOWN, "gpu-1");
    little_pass(&w, 49 * SECOND_MS);
    assert_string_equal(ready_of(&w, "gpu-1"), "True");
    little_pass(&w, 2 * SECOND_MS);
    assert_string_equal(ready_of(&w, "gpu-1"), "Unknown");
    const json_t *ready = condition_find(
        json_at(little_get(&w, "nodes", "", "gpu-1"), "status.conditions"), "Ready");
    assert_string_equal(json_str(ready, "reason"), "NodeStatusUnknown");
    assert_true(has_taint(&w, "gpu-1", "node.kubernetes.io/unreachable", "NoSchedule"));
    assert_true(has_taint(&w, "gpu-1", "node.kubernetes.io/unreachable", "NoExecute"));
    assert_false(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    assert_int_equal(little_number(&w, "d", "numberReady"), 0);
    /* Pods leave after five minutes, daemons stay. */
    little_pass(&w, 290 * SECOND_MS);
    assert_false(object_is_deleting(little_get(&w, "pods", "default", "p")));
    little_pass(&w, 12 * SECOND_MS);
    assert_true(object_is_deleting(little_get(&w, "pods", "default", "p")));
    const json_t *target = condition_find(little_of_pod(&w, "p", "status.conditions"),
                                          "DisruptionTarget");
    assert_string_equal(json_str(target, "reason"), "DeletionByTaintManager");
    assert_false(object_is_deleting(little_pod(&w, "d", "gpu-1")));
    /* No kubelet runs that could end it. */
    little_pass(&w, 60 * MINUTE_MS);
    assert_non_null(little_get(&w, "pods", "default", "p"));
    little_do(&w, SPEC_NODE_UP, "gpu-1");
    little_pass(&w, 2 * MINUTE_MS);
    assert_null(little_get(&w, "pods", "default", "p"));
    assert_string_equal(ready_of(&w, "gpu-1"), "True");
    assert_int_equal(json_array_size(json_at(little_get(&w, "nodes", "", "gpu-1"), "spec.taints")),
                     0);
    assert_int_equal(little_number(&w, "d", "numberReady"), 1);
    little_end(&w);
}

/* What runs there runs on; what the API server has said meanwhile is done when the way is free
 * again. */
static void node_that_is_cut_off(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 1);
    little_make_pod(
        &w, "stays",
        "{'tolerations': [{'operator': 'Exists'}], 'containers': [{'name': 'c', 'image': 'i'}]}");
    little_make_pod(
        &w, "goes",
        "{'tolerations': [{'operator': 'Exists'}], 'containers': [{'name': 'c', 'image': 'i'}]}");
    little_pass(&w, 30 * SECOND_MS);
    little_do(&w, SPEC_NODE_CUT_OFF, "gpu-1");
    little_pass(&w, 55 * SECOND_MS);
    assert_string_equal(ready_of(&w, "gpu-1"), "Unknown");
    assert_false(little_pod_is_ready(little_get(&w, "pods", "default", "stays")));
    little_delete(&w, "pods", "default", "goes");
    little_pass(&w, 10 * MINUTE_MS);
    assert_non_null(little_get(&w, "pods", "default", "goes"));
    little_do(&w, SPEC_NODE_REJOIN, "gpu-1");
    little_pass(&w, MINUTE_MS);
    assert_string_equal(ready_of(&w, "gpu-1"), "True");
    assert_null(little_get(&w, "pods", "default", "goes"));
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "stays")));
    const json_t *status = json_array_get(little_of_pod(&w, "stays", "status.containerStatuses"),
                                          0);
    assert_int_equal(json_int(status, "restartCount", -1), 0);
    struct actors_machine m;
    assert_true(actors_machine(w.actors, "gpu-1", &m));
    assert_int_equal(m.boots, 1);
    little_end(&w);
}

static void quick_reboot_is_not_noticed(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 1);
    w.shape.boot = (struct spec_delay){ 30000, 30000 };
    little_begin(&w);
    little_pass(&w, SECOND_MS);
    little_do(&w, SPEC_REBOOT, "gpu-1");
    for (int i = 0; i < 120; i++) {
        little_pass(&w, SECOND_MS);
        assert_string_equal(ready_of(&w, "gpu-1"), "True");
    }
    little_end(&w);
}

static void back_in_time_keeps_pods(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 1);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 30 * SECOND_MS);
    little_do(&w, SPEC_NODE_DOWN, "gpu-1");
    little_pass(&w, 3 * MINUTE_MS);
    little_do(&w, SPEC_NODE_UP, "gpu-1");
    little_pass(&w, 20 * MINUTE_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_end(&w);
}

static void cordon_is_a_taint(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 1);
    little_merge(
        &w, "nodes", "", "gpu-1",
        "{'spec': {'unschedulable': true, 'taints': [{'key': 'mine', 'effect': 'NoSchedule'}]}}");
    little_pass(&w, SECOND_MS);
    assert_true(has_taint(&w, "gpu-1", "node.kubernetes.io/unschedulable", "NoSchedule"));
    assert_true(has_taint(&w, "gpu-1", "mine", "NoSchedule"));
    little_merge(&w, "nodes", "", "gpu-1", "{'spec': {'unschedulable': null}}");
    little_pass(&w, SECOND_MS);
    assert_false(has_taint(&w, "gpu-1", "node.kubernetes.io/unschedulable", "NoSchedule"));
    assert_true(has_taint(&w, "gpu-1", "mine", "NoSchedule"));
    little_end(&w);
}

static const struct taint_case {
    const char *name, *tolerations;
    int64_t stays_s; /* -1: for good */
} taint_cases[] = {
    { "a pod without a toleration leaves a NoExecute taint at once", "[]", 0 },
    { "a pod that tolerates it stays", "[{'key': 'x', 'operator': 'Exists'}]", -1 },
    { "a pod that tolerates it for 100 s leaves then",
      "[{'key': 'x', 'operator': 'Exists', 'tolerationSeconds': 100, 'effect': 'NoExecute'}]",
      100 },
    { "the shortest of two tolerations counts",
      "[{'key': 'x', 'operator': 'Exists', 'tolerationSeconds': 300, 'effect': 'NoExecute'},"
      " {'operator': 'Exists', 'tolerationSeconds': 20, 'effect': 'NoExecute'}]",
      20 },
};

static void check_taint(void **state)
{
    const struct taint_case *c = *state;
    struct little w;
    begin(&w, 1);
    CLEANUP_FREE char *spec = xasprintf("{'tolerations': %s}", c->tolerations);
    little_make_pod(&w, "p", spec);
    little_pass(&w, 30 * SECOND_MS);
    little_merge(&w, "nodes", "", "gpu-1",
                 "{'spec': {'taints': [{'key': 'x', 'effect': 'NoExecute'}]}}");
    int64_t since = w.sim.now_ms;
    while (w.sim.now_ms < since + 10 * MINUTE_MS &&
           !object_is_deleting(little_get(&w, "pods", "default", "p")))
        little_pass(&w, 100);
    if (c->stays_s < 0)
        assert_false(object_is_deleting(little_get(&w, "pods", "default", "p")));
    else
        assert_in_range(w.sim.now_ms - since, c->stays_s * SECOND_MS, c->stays_s * SECOND_MS + 300);
    little_end(&w);
}

static void pods_of_deleted_nodes_go(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 1);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 30 * SECOND_MS);
    little_do(&w, SPEC_NODE_REMOVE, "gpu-1");
    little_pass(&w, 39 * SECOND_MS);
    assert_non_null(little_get(&w, "pods", "default", "p"));
    little_pass(&w, 25 * SECOND_MS);
    assert_null(little_get(&w, "pods", "default", "p"));
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a silent node becomes Unknown, and its pods leave", silent_node, NULL);
    suite_add(&s, "a node that is cut off runs on, unheard", node_that_is_cut_off, NULL);
    suite_add(&s, "a quick reboot is not noticed", quick_reboot_is_not_noticed, NULL);
    suite_add(&s, "a node that is back in time keeps its pods", back_in_time_keeps_pods, NULL);
    suite_add(&s, "a cordon is a taint", cordon_is_a_taint, NULL);
    SUITE_ROWS(&s, check_taint, taint_cases);
    suite_add(&s, "pods of nodes that are gone go", pods_of_deleted_nodes_go, NULL);
    return suite_run(&s, "node_lifecycle");
}
