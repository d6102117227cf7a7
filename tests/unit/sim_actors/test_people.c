/* People and programs that write to the cluster: actions of a scenario, autoscaler, labeller,
 * another operator, GitOps. */
#include "tests/unit/sim_actors/operands.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000 };

static const char plain_pod[] = "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p', "
                                "'namespace': 'default'}, 'spec': {'containers': "
                                "[{'name': 'c', 'image': 'i'}]}}";

static void assert_taints(const struct little *w, const char *want)
{
    assert_tree(json_at(little_get(w, "nodes", "", "gpu-1"), "spec.taints"), want);
}

static void actions_at_their_times(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_JSON json_t *label = tree("{'team': 'a', 'kubernetes.io/os': null}");
    CLEANUP_JSON json_t *taint = tree("{'key': 'x', 'value': '1', 'effect': 'NoSchedule'}");
    CLEANUP_JSON json_t *again = tree("{'key': 'x', 'value': '2', 'effect': 'NoSchedule'}");
    CLEANUP_JSON json_t *pod = tree(plain_pod);
    CLEANUP_JSON json_t *edit = tree("{'metadata': {'labels': {'edited': 'yes'}}}");
    const struct spec_action actions[] = {
        { .at_ms = 10 * SECOND_MS, .verb = SPEC_CORDON, .name = "gpu-1" },
        { .at_ms = 20 * SECOND_MS, .verb = SPEC_UNCORDON, .name = "gpu-1" },
        { .at_ms = 30 * SECOND_MS,
          .verb = SPEC_LABEL,
          .kind = "nodes",
          .name = "gpu-1",
          .body = label },
        { .at_ms = 40 * SECOND_MS, .verb = SPEC_TAINT, .name = "gpu-1", .body = taint },
        { .at_ms = 41 * SECOND_MS, .verb = SPEC_TAINT, .name = "gpu-1", .body = again },
        { .at_ms = 50 * SECOND_MS, .verb = SPEC_UNTAINT, .name = "gpu-1", .body = again },
        { .at_ms = 60 * SECOND_MS, .verb = SPEC_CREATE, .body = pod },
        { .at_ms = 61 * SECOND_MS,
          .verb = SPEC_EDIT,
          .kind = "pods",
          .ns = "default",
          .name = "p",
          .body = edit },
        { .at_ms = 90 * SECOND_MS,
          .verb = SPEC_DELETE,
          .kind = "pods",
          .ns = "default",
          .name = "p" },
        { .at_ms = 90 * SECOND_MS,
          .verb = SPEC_DELETE,
          .kind = "pods",
          .ns = "default",
          .name = "not-there" },
    };
    little_init(&w, 1);
    w.world.actions = actions;
    w.world.action_count = ARRAY_LEN(actions);
    little_begin(&w);
    little_pass(&w, 11 * SECOND_MS);
    assert_true(json_bool(little_get(&w, "nodes", "", "gpu-1"), "spec.unschedulable", false));
    little_pass(&w, 10 * SECOND_MS);
    assert_false(json_bool(little_get(&w, "nodes", "", "gpu-1"), "spec.unschedulable", false));
    little_pass(&w, 10 * SECOND_MS);
    assert_string_equal(object_label(little_get(&w, "nodes", "", "gpu-1"), "team"), "a");
    assert_null(object_label(little_get(&w, "nodes", "", "gpu-1"), "kubernetes.io/os"));
    little_pass(&w, 11 * SECOND_MS);
    assert_taints(&w, "[{'key': 'x', 'value': '2', 'effect': 'NoSchedule'}]");
    little_pass(&w, 10 * SECOND_MS);
    assert_int_equal(json_array_size(json_at(little_get(&w, "nodes", "", "gpu-1"), "spec.taints")),
                     0);
    little_pass(&w, 10 * SECOND_MS);
    assert_string_equal(object_label(little_get(&w, "pods", "default", "p"), "edited"), "yes");
    little_pass(&w, 60 * SECOND_MS);
    assert_null(little_get(&w, "pods", "default", "p"));
    little_end(&w);
}

/* An action with `every` happens at its time and then again and again; others once. */
static void actions_that_repeat(void **state)
{
    (void) state;
    struct little w;
    const struct spec_action actions[] = {
        { .at_ms = 10 * SECOND_MS,
          .every_ms = 60 * SECOND_MS,
          .verb = SPEC_CORDON,
          .name = "gpu-1" },
        { .at_ms = 20 * SECOND_MS,
          .every_ms = 60 * SECOND_MS,
          .verb = SPEC_UNCORDON,
          .name = "gpu-1" },
        { .at_ms = 10 * SECOND_MS, .verb = SPEC_CORDON, .name = "gpu-2" },
        { .at_ms = 20 * SECOND_MS, .verb = SPEC_UNCORDON, .name = "gpu-2" },
    };
    little_init(&w, 2);
    w.world.actions = actions;
    w.world.action_count = ARRAY_LEN(actions);
    little_begin(&w);
    for (int i = 0; i < 3; i++) {
        little_pass(&w, 15 * SECOND_MS);
        assert_true(json_bool(little_get(&w, "nodes", "", "gpu-1"), "spec.unschedulable", false));
        assert_int_equal(
            json_bool(little_get(&w, "nodes", "", "gpu-2"), "spec.unschedulable", false), i == 0);
        little_pass(&w, 45 * SECOND_MS);
        assert_false(json_bool(little_get(&w, "nodes", "", "gpu-1"), "spec.unschedulable", false));
    }
    little_end(&w);
}

/* A value may be read elsewhere at that moment: on the object itself, or on another one. */
static void values_that_are_read(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_JSON json_t *pairs = tree("{'own': '=metadata.name', 'other': '=nodes/gpu-2 "
                                      "status.nodeInfo.machineID', 'none': '=spec.nothing', "
                                      "'plain': 'a=b'}");
    const struct spec_action action = {
        .verb = SPEC_ANNOTATE, .kind = "nodes", .name = "gpu-1", .body = pairs
    };
    little_init(&w, 2);
    little_begin(&w);
    assert_true(actors_do(w.actors, &action, NULL));
    const json_t *node = little_get(&w, "nodes", "", "gpu-1");
    assert_string_equal(object_annotation(node, "own"), "gpu-1");
    assert_string_equal(object_annotation(node, "other"), "gpu-2");
    assert_string_equal(object_annotation(node, "none"), "");
    assert_string_equal(object_annotation(node, "plain"), "a=b");
    little_end(&w);
}

static void actions_that_cannot_be_done(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 1);
    little_begin(&w);
    for (int verb = 0; verb < SPEC_VERB_COUNT; verb++) {
        const struct spec_action nothing = { .verb = (enum spec_verb) verb };
        const struct spec_action unknown = { .verb = (enum spec_verb) verb,
                                             .kind = "nodes",
                                             .name = "not-there" };
        bool always = verb == SPEC_LABELLER_RESTART;
        assert_int_equal(actors_do(w.actors, &nothing, NULL), always);
        assert_int_equal(actors_do(w.actors, &unknown, NULL), always);
    }
    little_end(&w);
}

static void autoscaler(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 0);
    w.world.autoscaler = (struct spec_autoscaler){ .shape = &w.shape, .prefix = "pool", .max = 3 };
    little_begin(&w);
    operands_create_all(&w, "580.1", "d1");
    for (int i = 0; i < 3; i++) {
        CLEANUP_FREE char *name = xasprintf("p%d", i);
        little_make_pod(&w, name,
                        "{'tolerations': [{'operator': 'Exists'}], 'containers': [{'name': 'c', "
                        "'image': 'cuda', 'resources': {'limits': "
                        "{'nvidia.com/gpu': '6'}}}]}");
    }
    little_pass(&w, 20 * MINUTE_MS);
    assert_int_equal(little_count(&w, "nodes", NULL, NULL), 3);
    assert_int_equal(little_ready(&w, "p0") + little_ready(&w, "p1") + little_ready(&w, "p2"), 3);
    for (int i = 0; i < 3; i++) {
        CLEANUP_FREE char *name = xasprintf("p%d", i);
        little_delete(&w, "pods", "default", name);
    }
    little_pass(&w, 30 * MINUTE_MS);
    assert_int_equal(little_count(&w, "nodes", NULL, NULL), 0);
    assert_int_equal(little_count(&w, "pods", NULL, NULL), 0);
    little_end(&w);
}

static void labeller(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 1);
    w.world.labeller = true;
    little_begin(&w);
    little_pass(&w, MINUTE_MS);
    const json_t *node = little_get(&w, "nodes", "", "gpu-1");
    static const char *const want[][2] = {
        { "pci-10de.present", "true" },
        { "kernel-version.full", "6.8.0-45-generic" },
        { "kernel-version.major", "6" },
        { "kernel-version.minor", "8" },
        { "system-os_release.ID", "ubuntu" },
        { "system-os_release.VERSION_ID", "24.04" },
        { "system-os_release.VERSION_ID.major", "24" },
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        CLEANUP_FREE char *key = xasprintf("feature.node.kubernetes.io/%s", want[i][0]);
        assert_string_equal(object_label(node, key), want[i][1]);
    }
    /* The labeller restores a removed label. */
    little_merge(&w, "nodes", "", "gpu-1",
                 "{'metadata': {'labels': {'feature.node.kubernetes.io/pci-10de.present': null}}}");
    little_pass(&w, 2 * MINUTE_MS);
    assert_non_null(object_label(little_get(&w, "nodes", "", "gpu-1"),
                                 "feature.node.kubernetes.io/pci-10de.present"));
    little_do(&w, SPEC_LABELLER_RESTART, NULL);
    assert_null(object_label(little_get(&w, "nodes", "", "gpu-1"),
                             "feature.node.kubernetes.io/pci-10de.present"));
    little_pass(&w, 6 * SECOND_MS);
    assert_non_null(object_label(little_get(&w, "nodes", "", "gpu-1"),
                                 "feature.node.kubernetes.io/pci-10de.present"));
    little_end(&w);
}

static void other_operator(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 2);
    w.world.other_operator = (struct spec_other_operator){ .name = "care.example",
                                                           .period = { 1000, 5000 },
                                                           .until_ms = 10 * MINUTE_MS };
    little_begin(&w);
    for (int i = 0; i < 300; i++) {
        little_pass(&w, SECOND_MS);
        CLEANUP_FREE char *text = xasprintf(
            "{'metadata': {'labels': {'mine-%d': 'x'}}, 'spec': {'taints': [{'key': 'mine', "
            "'value': '%d', 'effect': 'NoSchedule'}]}}",
            i, i);
        little_merge(&w, "nodes", "", "gpu-1", text);
    }
    const json_t *node = little_get(&w, "nodes", "", "gpu-1");
    assert_non_null(object_label(node, "care.example/state"));
    assert_non_null(object_annotation(node, "care.example/last"));
    /* It never undoes what others write. */
    for (int i = 0; i < 300; i++) {
        CLEANUP_FREE char *key = xasprintf("mine-%d", i);
        assert_non_null(object_label(node, key));
    }
    little_pass(&w, 10 * MINUTE_MS);
    size_t commits = w.commits;
    little_pass(&w, 60 * MINUTE_MS);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

static void gitops(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_JSON json_t *object = tree(
        "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'c', 'namespace': "
        "'default'}, 'data': {'a': '1'}}");
    little_init(&w, 0);
    w.world.gitops = (struct spec_gitops){ .object = object, .kind = "configmaps" };
    little_begin(&w);
    little_pass(&w, SECOND_MS);
    assert_non_null(little_get(&w, "configmaps", "default", "c"));
    little_merge(&w, "configmaps", "default", "c", "{'data': {'a': '2', 'b': '3'}}");
    little_pass(&w, MINUTE_MS);
    assert_string_equal(json_str(little_get(&w, "configmaps", "default", "c"), "data.a"), "2");
    little_pass(&w, 3 * MINUTE_MS);
    assert_string_equal(json_str(little_get(&w, "configmaps", "default", "c"), "data.a"), "1");
    assert_string_equal(json_str(little_get(&w, "configmaps", "default", "c"), "data.b"), "3");
    little_delete(&w, "configmaps", "default", "c");
    little_pass(&w, 4 * MINUTE_MS);
    assert_non_null(little_get(&w, "configmaps", "default", "c"));
    little_end(&w);
}

/* A busy world, run from a seed: what happened, as a hash. */
static uint64_t run_of(uint64_t seed)
{
    static const struct spec_program programs[] = {
        { .image = "cuda*", .run = { 30000, 90000 }, .exit_code = 0 }
    };
    struct little w;
    CLEANUP_JSON json_t *job = tree(
        "{'metadata': {'name': 'j', 'namespace': 'default'}, 'spec': {'completions': 4, "
        "'parallelism': 2, 'template': {'spec': "
        "{'restartPolicy': 'Never', 'containers': [{'name': 'main', 'image': 'cuda:1'}]}}}}");
    little_init(&w, 4);
    w.sim.rng = rng_of(seed);
    w.world.programs = programs;
    w.world.program_count = 1;
    w.world.labeller = true;
    w.world.other_operator = (struct spec_other_operator){ .name = "care.example",
                                                           .period = { 5000, 60000 } };
    w.world.autoscaler = (struct spec_autoscaler){ .shape = &w.shape, .prefix = "pool", .max = 2 };
    little_begin(&w);
    operands_create_all(&w, "580.1", "d1");
    assert_int_equal(api_create(w.api, "test", kind_named("jobs"), job, NULL), 0);
    little_pass(&w, 5 * MINUTE_MS);
    little_do(&w, SPEC_REBOOT, "gpu-2");
    little_do(&w, SPEC_NODE_DOWN, "gpu-3");
    little_pass(&w, 10 * MINUTE_MS);
    uint64_t trace = w.sim.trace;
    little_end(&w);
    return trace;
}

static void same_seed_same_world(void **state)
{
    (void) state;
    assert_int_equal(run_of(7), run_of(7));
    assert_int_not_equal(run_of(7), run_of(8));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "actions happen at their times", actions_at_their_times, NULL);
    suite_add(&s, "actions repeat where they say so", actions_that_repeat, NULL);
    suite_add(&s, "values are read elsewhere", values_that_are_read, NULL);
    suite_add(&s, "actions that cannot be done say so", actions_that_cannot_be_done, NULL);
    suite_add(&s, "the autoscaler makes nodes for waiting pods and removes idle ones", autoscaler,
              NULL);
    suite_add(&s, "the labeller labels, restores and restarts", labeller, NULL);
    suite_add(&s, "another operator writes and loses nothing of others", other_operator, NULL);
    suite_add(&s, "GitOps puts back what is in Git", gitops, NULL);
    suite_add(&s, "the same seed gives the same world", same_seed_same_world, NULL);
    return suite_run(&s, "people");
}
