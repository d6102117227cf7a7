#include "tests/unit/sim_actors/little_world.h"

static const char no_schedule[] = "{'spec': {'taints': [{'key': 'x', 'effect': 'NoSchedule'}]}}";
static const char no_execute[] = "{'spec': {'taints': [{'key': 'x', 'effect': 'NoExecute'}]}}";
static const char second_image[] = "{'spec': {'template': {'spec': {'containers': [{'name': "
                                   "'main', 'image': 'registry.example/main:2'}]}}}}";

enum { SETTLED_MS = 30 * 1000 };

static void begin_with_set(struct little *w, size_t nodes, const char *more, const char *pod)
{
    little_init(w, nodes);
    little_begin(w);
    little_daemonset(w, "d", more, pod);
    little_pass(w, SETTLED_MS);
}

/* Pods of the set that have the second image. */
static size_t second_images(const struct little *w)
{
    const struct kind *k = kind_named("pods");
    size_t count = 0;
    for (size_t i = 0; i < api_count(w->api, k); i++)
        count += str_eq(
            json_str(json_array_get(json_at(api_at(w->api, k, i), "spec.containers"), 0), "image"),
            "registry.example/main:2");
    return count;
}

static void each_node_gets_one(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 3, NULL, NULL);
    assert_int_equal(little_ready(&w, "d"), 3);
    assert_non_null(little_pod(&w, "d", "gpu-2"));
    const json_t *pod = little_pod(&w, "d", "gpu-2");
    assert_tree(json_at(pod, "spec.affinity"),
                "{'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "
                "{'nodeSelectorTerms': [{'matchFields': [{'key': "
                "'metadata.name', 'operator': 'In', 'values': ['gpu-2']}]}]}}}");
    assert_string_equal(json_str(object_controller(pod), "kind"), "DaemonSet");
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 3);
    assert_int_equal(little_number(&w, "d", "numberAvailable"), 3);
    assert_int_equal(little_number(&w, "d", "updatedNumberScheduled"), 3);
    assert_int_equal(little_number(&w, "d", "observedGeneration"), 1);
    little_end(&w);
}

static void quiet_when_settled(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 3, NULL, NULL);
    size_t commits = w.commits;
    little_pass(&w, 24 * 3600 * 1000);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

static void follows_labels(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 2, NULL, "{'nodeSelector': {'gpu': 'yes'}}");
    assert_int_equal(little_count(&w, "pods", "app", "d"), 0);
    little_merge(&w, "nodes", "", "gpu-1", "{'metadata': {'labels': {'gpu': 'yes'}}}");
    little_pass(&w, SETTLED_MS);
    assert_non_null(little_pod(&w, "d", "gpu-1"));
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 1);
    little_merge(&w, "nodes", "", "gpu-1", "{'metadata': {'labels': {'gpu': null}}}");
    little_pass(&w, SETTLED_MS);
    assert_int_equal(little_count(&w, "pods", "app", "d"), 0);
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 0);
    little_end(&w);
}

static void no_schedule_keeps_what_runs(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 2, NULL, NULL);
    little_merge(&w, "nodes", "", "gpu-1", no_schedule);
    little_pass(&w, SETTLED_MS);
    assert_non_null(little_pod(&w, "d", "gpu-1"));
    /* The numbers follow at the next look, as with the real one. */
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 2);
    little_merge(&w, "daemonsets", "ops", "d", "{'metadata': {'annotations': {'touched': 'yes'}}}");
    little_pass(&w, SETTLED_MS);
    assert_int_equal(little_number(&w, "d", "numberMisscheduled"), 1);
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 1);
    little_delete(&w, "pods", "ops", object_name(little_pod(&w, "d", "gpu-1")));
    little_pass(&w, SETTLED_MS);
    assert_null(little_pod(&w, "d", "gpu-1"));
    little_end(&w);
}

static void no_execute_takes_it_off(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 2, NULL, NULL);
    little_merge(&w, "nodes", "", "gpu-1", no_execute);
    little_pass(&w, SETTLED_MS);
    assert_null(little_pod(&w, "d", "gpu-1"));
    assert_int_equal(little_count(&w, "pods", "app", "d"), 1);
    little_end(&w);
}

static void tolerates(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 2, NULL, "{'tolerations': [{'operator': 'Exists'}]}");
    little_merge(&w, "nodes", "", "gpu-1", no_execute);
    little_merge(&w, "nodes", "", "gpu-2", "{'spec': {'unschedulable': true}}");
    little_pass(&w, SETTLED_MS);
    assert_int_equal(little_ready(&w, "d"), 2);
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 2);
    little_end(&w);
}

static void cordoned_nodes_get_pods(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 1);
    little_begin(&w);
    little_merge(&w, "nodes", "", "gpu-1", "{'spec': {'unschedulable': true}}");
    little_pass(&w, SETTLED_MS);
    little_daemonset(&w, "d", NULL, NULL);
    little_pass(&w, SETTLED_MS);
    assert_int_equal(little_ready(&w, "d"), 1);
    little_end(&w);
}

static void on_delete_waits_for_deletion(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 3, "{'updateStrategy': {'type': 'OnDelete'}}", NULL);
    little_merge(&w, "daemonsets", "ops", "d", second_image);
    little_pass(&w, SETTLED_MS);
    assert_int_equal(second_images(&w), 0);
    assert_int_equal(little_number(&w, "d", "updatedNumberScheduled"), 0);
    assert_int_equal(little_number(&w, "d", "observedGeneration"), 2);
    assert_int_equal(little_count(&w, "controllerrevisions", NULL, NULL), 2);
    little_delete(&w, "pods", "ops", object_name(little_pod(&w, "d", "gpu-1")));
    little_pass(&w, SETTLED_MS);
    assert_int_equal(second_images(&w), 1);
    assert_int_equal(little_number(&w, "d", "updatedNumberScheduled"), 1);
    little_end(&w);
}

static void rolls_one_at_a_time(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 5, NULL, NULL);
    little_merge(&w, "daemonsets", "ops", "d", second_image);
    size_t least = 5;
    for (int i = 0; i < 3000; i++) {
        little_pass(&w, 100);
        size_t ready = little_ready(&w, "d");
        least = ready < least ? ready : least;
    }
    assert_int_equal(least, 4);
    assert_int_equal(second_images(&w), 5);
    assert_int_equal(little_number(&w, "d", "updatedNumberScheduled"), 5);
    little_end(&w);
}

static void rolls_by_percentage(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(
        &w, 5,
        "{'updateStrategy': {'type': 'RollingUpdate', 'rollingUpdate': {'maxUnavailable': '40%'}}}",
        NULL);
    little_merge(&w, "daemonsets", "ops", "d", second_image);
    little_pass(&w, 1000);
    assert_int_equal(little_ready(&w, "d") + 2 >= 5, true);
    assert_int_equal(second_images(&w) + little_ready(&w, "d") >= 3, true);
    little_pass(&w, 5 * SETTLED_MS);
    assert_int_equal(second_images(&w), 5);
    little_end(&w);
}

/* As in 1.36: an older pod that is not available leaves no room for another one. */
static void what_is_down_counts(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 3, NULL, NULL);
    little_do(&w, SPEC_NODE_DOWN, "gpu-1");
    little_pass(&w, 2 * 60 * 1000);
    assert_int_equal(little_number(&w, "d", "numberAvailable"), 2);
    little_merge(&w, "daemonsets", "ops", "d", second_image);
    little_pass(&w, SETTLED_MS);
    assert_int_equal(second_images(&w), 0);
    little_do(&w, SPEC_NODE_UP, "gpu-1");
    little_pass(&w, 5 * 60 * 1000);
    assert_int_equal(second_images(&w), 3);
    little_end(&w);
}

static void surges(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 3,
                   "{'updateStrategy': {'type': 'RollingUpdate', 'rollingUpdate': "
                   "{'maxUnavailable': 0, 'maxSurge': 1}}}",
                   NULL);
    little_merge(&w, "daemonsets", "ops", "d", second_image);
    size_t least = 3, most = 3;
    for (int i = 0; i < 1500; i++) {
        little_pass(&w, 100);
        size_t ready = little_ready(&w, "d"), all = little_count(&w, "pods", "app", "d");
        least = ready < least ? ready : least;
        most = all > most ? all : most;
    }
    assert_int_equal(least, 3);
    assert_true(most > 3);
    assert_int_equal(second_images(&w), 3);
    assert_int_equal(little_count(&w, "pods", "app", "d"), 3);
    little_end(&w);
}

static void revisions(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 2, "{'revisionHistoryLimit': 1}", NULL);
    const json_t *first = api_at(w.api, kind_named("controllerrevisions"), 0);
    assert_int_equal(json_int(first, "revision", 0), 1);
    const char *hash = object_label(first, "controller-revision-hash");
    assert_string_equal(object_label(little_pod(&w, "d", "gpu-1"), "controller-revision-hash"),
                        hash);
    CLEANUP_FREE char *first_hash = xstrdup(hash);
    little_merge(&w, "daemonsets", "ops", "d", second_image);
    little_pass(&w, 4 * SETTLED_MS);
    assert_int_equal(little_count(&w, "controllerrevisions", NULL, NULL), 2);
    little_merge(
        &w, "daemonsets", "ops", "d",
        "{'spec': {'template': {'spec': {'containers': [{'name': 'main', 'image': 'third'}]}}}}");
    little_pass(&w, 4 * SETTLED_MS);
    assert_int_equal(little_count(&w, "controllerrevisions", NULL, NULL), 2);
    assert_int_equal(
        little_count(&w, "controllerrevisions", "controller-revision-hash", first_hash), 0);
    /* Back to the second: its revision becomes the newest. */
    little_merge(&w, "daemonsets", "ops", "d", second_image);
    little_pass(&w, 4 * SETTLED_MS);
    assert_int_equal(little_count(&w, "controllerrevisions", NULL, NULL), 2);
    assert_int_equal(second_images(&w), 2);
    little_end(&w);
}

/* Makes the set's pod fail; how long it is left there, in ms. */
static int64_t left_alone(struct little *w)
{
    CLEANUP_FREE char *name = xstrdup(object_name(little_pod(w, "d", NULL)));
    CLEANUP_JSON json_t *failed = tree("{'status': {'phase': 'Failed', 'reason': 'Evicted'}}");
    assert_int_equal(
        api_merge(w->api, "test", kind_named("pods"), "ops", name, "status", failed, NULL), 0);
    int64_t since = w->sim.now_ms;
    while (little_get(w, "pods", "ops", name) && w->sim.now_ms < since + 60 * 1000)
        little_pass(w, 1);
    little_pass(w, 100);
    return w->sim.now_ms - 100 - since;
}

static void failed_pods_come_again(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 1, NULL, NULL);
    assert_in_range(left_alone(&w), 0, 50);
    assert_in_range(left_alone(&w), 800, 1000);
    assert_in_range(left_alone(&w), 1800, 2000);
    assert_in_range(left_alone(&w), 3800, 4000);
    little_end(&w);
}

static void claims(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 1, NULL, NULL);
    CLEANUP_FREE char *name = xstrdup(object_name(little_pod(&w, "d", "gpu-1")));
    little_merge(&w, "pods", "ops", name, "{'metadata': {'labels': {'app': 'mine'}}}");
    little_pass(&w, SETTLED_MS);
    /* Let go, and another one made. */
    assert_null(object_controller(little_get(&w, "pods", "ops", name)));
    assert_int_equal(little_ready(&w, "d"), 1);
    little_delete(&w, "pods", "ops", object_name(little_pod(&w, "d", "gpu-1")));
    little_merge(&w, "pods", "ops", name, "{'metadata': {'labels': {'app': 'd'}}}");
    little_pass(&w, 2 * SETTLED_MS);
    /* The old one is adopted, and the youngest of two goes. */
    assert_int_equal(little_count(&w, "pods", "app", "d"), 1);
    assert_string_equal(json_str(object_controller(little_pod(&w, "d", "gpu-1")), "name"), "d");
    little_end(&w);
}

static void min_ready_seconds(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 1, "{'minReadySeconds': 60}", NULL);
    assert_int_equal(little_number(&w, "d", "numberReady"), 1);
    assert_int_equal(little_number(&w, "d", "numberAvailable"), 0);
    little_pass(&w, 60 * 1000);
    assert_int_equal(little_number(&w, "d", "numberAvailable"), 1);
    little_end(&w);
}

static void new_node(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 1, NULL, NULL);
    assert_true(actors_do(
        w.actors, &(struct spec_action){ .verb = SPEC_NODE_ADD, .name = "late", .shape = &w.shape },
        NULL));
    little_pass(&w, 5 * 60 * 1000);
    assert_non_null(little_pod(&w, "d", "late"));
    assert_int_equal(little_number(&w, "d", "numberReady"), 2);
    /* The set hears of a node's end by the end of its pods. */
    little_do(&w, SPEC_NODE_REMOVE, "late");
    little_pass(&w, 1000);
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 2);
    little_pass(&w, 2 * 60 * 1000);
    assert_null(little_pod(&w, "d", "late"));
    assert_int_equal(little_number(&w, "d", "desiredNumberScheduled"), 1);
    little_end(&w);
}

/* They are asked for later and later, so that they come some time after what they need. */
static void refused_pods_come_later(void **state)
{
    (void) state;
    struct little w;
    begin_with_set(&w, 2, NULL, "{'runtimeClassName': 'late'}");
    assert_int_equal(little_count(&w, "pods", "app", "d"), 0);
    little_create(&w, "runtimeclasses", "{'metadata': {'name': 'late'}, 'handler': 'nvidia'}");
    little_pass(&w, 1000);
    assert_int_equal(little_count(&w, "pods", "app", "d"), 0);
    little_pass(&w, 60 * 1000);
    assert_int_equal(little_count(&w, "pods", "app", "d"), 2);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "each node that fits gets one pod", each_node_gets_one, NULL);
    suite_add(&s, "nothing is written when all is settled", quiet_when_settled, NULL);
    suite_add(&s, "pods follow labels of nodes", follows_labels, NULL);
    suite_add(&s, "NoSchedule keeps what runs and lets nothing new come",
              no_schedule_keeps_what_runs, NULL);
    suite_add(&s, "NoExecute takes pods off", no_execute_takes_it_off, NULL);
    suite_add(&s, "tolerations let pods stay", tolerates, NULL);
    suite_add(&s, "cordoned nodes get pods", cordoned_nodes_get_pods, NULL);
    suite_add(&s, "OnDelete replaces what is deleted, and nothing else",
              on_delete_waits_for_deletion, NULL);
    suite_add(&s, "RollingUpdate takes one at a time", rolls_one_at_a_time, NULL);
    suite_add(&s, "RollingUpdate by percentage", rolls_by_percentage, NULL);
    suite_add(&s, "RollingUpdate counts older pods that are not available", what_is_down_counts,
              NULL);
    suite_add(&s, "maxSurge makes the new pod first", surges, NULL);
    suite_add(&s, "revisions: one for each template, renewed, trimmed", revisions, NULL);
    suite_add(&s, "failed pods come again, later each time", failed_pods_come_again, NULL);
    suite_add(&s, "pods are let go and adopted by their labels", claims, NULL);
    suite_add(&s, "minReadySeconds", min_ready_seconds, NULL);
    suite_add(&s, "nodes that come and go", new_node, NULL);
    suite_add(&s, "pods that name a RuntimeClass come when it is there, late",
              refused_pods_come_later, NULL);
    return suite_run(&s, "daemonset");
}
