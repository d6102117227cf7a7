#include "tests/unit/sim_actors/little_world.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000 };

static void begin_with(struct little *w, const struct spec_image *images,
                       const struct spec_program *programs)
{
    little_init(w, 1);
    w->world.images = images;
    w->world.image_count = images ? 1 : 0;
    w->world.programs = programs;
    w->world.program_count = programs ? 1 : 0;
    little_begin(w);
}

static const char *state_of(const struct little *w, const char *path)
{
    return little_state(w, "default", "p", false, path);
}

static int64_t restarts(const struct little *w)
{
    return json_int(json_array_get(little_of_pod(w, "p", "status.containerStatuses"), 0),
                    "restartCount", -1);
}

static void becomes_ready(void **state)
{
    (void) state;
    struct little w;
    begin_with(&w, NULL, NULL);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 500);
    assert_string_equal(json_string_value(little_of_pod(&w, "p", "status.phase")), "Pending");
    assert_string_equal(state_of(&w, "state.waiting.reason"), "ContainerCreating");
    const json_t *ready = condition_find(little_of_pod(&w, "p", "status.conditions"), "Ready");
    assert_string_equal(json_str(ready, "reason"), "ContainersNotReady");
    assert_string_equal(json_str(ready, "message"), "containers with unready status: [main]");
    little_pass(&w, 30 * SECOND_MS);
    assert_string_equal(json_string_value(little_of_pod(&w, "p", "status.phase")), "Running");
    assert_non_null(state_of(&w, "state.running.startedAt"));
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_end(&w);
}

static void missing_image(void **state)
{
    (void) state;
    static const struct spec_image images[] = {
        { .pattern = "registry.example/*", .missing = true, .pull = { 1000, 1000 } }
    };
    struct little w;
    begin_with(&w, images, NULL);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 2 * SECOND_MS);
    assert_string_equal(state_of(&w, "state.waiting.reason"), "ErrImagePull");
    assert_string_equal(state_of(&w, "state.waiting.message"),
                        "failed to pull and unpack image \"registry.example/main:1\": failed to "
                        "resolve reference \"registry.example/main:1\": "
                        "registry.example/main:1: not found");
    little_pass(&w, 12 * SECOND_MS + 2 * SECOND_MS);
    little_pass(&w, 12 * SECOND_MS);
    assert_string_equal(state_of(&w, "state.waiting.reason"), "ImagePullBackOff");
    assert_true(
        str_has_prefix(state_of(&w, "state.waiting.message"),
                       "Back-off pulling image \"registry.example/main:1\": ErrImagePull: "));
    const struct spec_image none = { 0 };
    actors_change(w.actors, &(struct spec_change){ .images = &none });
    little_pass(&w, 5 * MINUTE_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_end(&w);
}

static void image_behind_a_secret(void **state)
{
    (void) state;
    static const struct spec_image images[] = { { .pattern = "registry.example/*",
                                                  .secret = "ngc" } };
    struct little w;
    begin_with(&w, images, NULL);
    little_make_pod(&w, "p", "{'imagePullSecrets': [{'name': 'other'}]}");
    little_make_pod(&w, "knows", "{'imagePullSecrets': [{'name': 'other'}, {'name': 'ngc'}]}");
    little_pass(&w, 10 * SECOND_MS);
    assert_string_equal(state_of(&w, "state.waiting.reason"), "ErrImagePull");
    assert_true(str_has_suffix(state_of(&w, "state.waiting.message"), "401 Unauthorized"));
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "knows")));
    little_end(&w);
}

static void image_for_another_node(void **state)
{
    (void) state;
    static const struct spec_image images[] = {
        { .pattern = "*", .node = "gpu-2", .missing = true }
    };
    struct little w;
    begin_with(&w, images, NULL);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 30 * SECOND_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_end(&w);
}

/* A container whose command is in no image is made, and cannot be started. */
static void command_of_no_image(void **state)
{
    (void) state;
    struct little w;
    begin_with(&w, NULL, NULL);
    little_make_pod(&w, "p",
                    "{'restartPolicy': 'Never', 'containers': [{'name': 'main', 'image': "
                    "'registry.example/main:1', 'command': "
                    "['/ostler-runs-nothing-here']}]}");
    little_pass(&w, 30 * SECOND_MS);
    assert_string_equal(json_string_value(little_of_pod(&w, "p", "status.phase")), "Failed");
    assert_string_equal(state_of(&w, "state.terminated.reason"), "StartError");
    assert_string_equal(state_of(&w, "imageID"), "registry.example/main:1");
    little_end(&w);
}

static void image_is_pulled_once(void **state)
{
    (void) state;
    static const struct spec_image images[] = { { .pattern = "*", .pull = { 60000, 60000 } } };
    struct little w;
    begin_with(&w, images, NULL);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 59 * SECOND_MS);
    assert_false(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_pass(&w, 5 * SECOND_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_make_pod(&w, "second", NULL);
    little_pass(&w, 5 * SECOND_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "second")));
    little_end(&w);
}

static void crash_loop(void **state)
{
    (void) state;
    static const struct spec_program programs[] = {
        { .image = "*", .run = { 1000, 1000 }, .exit_code = 7, .message = "boom" }
    };
    struct little w;
    begin_with(&w, NULL, programs);
    little_make_pod(&w, "p", NULL);
    while (restarts(&w) < 1)
        little_pass(&w, 100);
    little_pass(&w, 5 * SECOND_MS);
    assert_string_equal(state_of(&w, "state.waiting.reason"), "CrashLoopBackOff");
    CLEANUP_FREE char *want = xasprintf(
        "back-off 10s restarting failed container=main pod=p_default(%s)",
        object_uid(little_get(&w, "pods", "default", "p")));
    assert_string_equal(state_of(&w, "state.waiting.message"), want);
    assert_string_equal(state_of(&w, "lastState.terminated.message"), "boom");
    assert_int_equal(json_int(json_array_get(little_of_pod(&w, "p", "status.containerStatuses"), 0),
                              "lastState.terminated.exitCode", 0),
                     7);
    /* Between two restarts: the wait, a start of less than 1 s, a run of 1 s. */
    static const int64_t waits[] = { 10, 20, 40, 80, 160, 300, 300, 300 };
    int64_t since = w.sim.now_ms - 5 * SECOND_MS;
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        while (restarts(&w) < (int64_t) i + 2)
            little_pass(&w, 100);
        assert_in_range(w.sim.now_ms - since, (waits[i] + 1) * SECOND_MS,
                        (waits[i] + 2) * SECOND_MS + 500);
        since = w.sim.now_ms;
    }
    little_pass(&w, 10 * SECOND_MS);
    assert_true(str_has_prefix(state_of(&w, "state.waiting.message"), "back-off 5m0s "));
    little_end(&w);
}

static void init_containers_in_order(void **state)
{
    (void) state;
    static const struct spec_program programs[] = { { .image = "init*", .run = { 10000, 10000 } } };
    struct little w;
    begin_with(&w, NULL, programs);
    little_make_pod(&w, "p",
                    "{'initContainers': [{'name': 'one', 'image': 'init:1'}, {'name': 'two', "
                    "'image': 'init:1'}]}");
    little_pass(&w, 15 * SECOND_MS);
    const json_t *list = little_of_pod(&w, "p", "status.initContainerStatuses");
    assert_non_null(json_at(json_array_get(list, 0), "state.terminated"));
    assert_true(json_bool(json_array_get(list, 0), "ready", false));
    const json_t *initialized = condition_find(little_of_pod(&w, "p", "status.conditions"),
                                               "Initialized");
    assert_string_equal(json_str(initialized, "message"),
                        "containers with incomplete status: [two]");
    assert_string_equal(state_of(&w, "state.waiting.reason"), "PodInitializing");
    little_pass(&w, 30 * SECOND_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_end(&w);
}

static void init_container_fails(void **state)
{
    (void) state;
    static const struct spec_program programs[] = {
        { .image = "init*", .run = { 100, 100 }, .exit_code = 1 }
    };
    struct little w;
    begin_with(&w, NULL, programs);
    little_make_pod(&w, "p", "{'initContainers': [{'name': 'one', 'image': 'init:1'}]}");
    little_make_pod(
        &w, "never",
        "{'restartPolicy': 'Never', 'initContainers': [{'name': 'one', 'image': 'init:1'}]}");
    little_pass(&w, 20 * SECOND_MS);
    assert_string_equal(little_state(&w, "default", "p", true, "state.waiting.reason"),
                        "CrashLoopBackOff");
    assert_string_equal(json_string_value(little_of_pod(&w, "p", "status.phase")), "Pending");
    assert_string_equal(json_string_value(little_of_pod(&w, "never", "status.phase")), "Failed");
    little_end(&w);
}

static const struct restart_case {
    const char *name, *policy;
    int exit_code;
    const char *want_phase;
    bool want_restarts;
} restart_cases[] = {
    { "Never and success", "Never", 0, "Succeeded", false },
    { "Never and failure", "Never", 2, "Failed", false },
    { "OnFailure and success", "OnFailure", 0, "Succeeded", false },
    { "OnFailure and failure", "OnFailure", 2, "Running", true },
    { "Always and success", "Always", 0, "Running", true },
};

static void check_restart(void **state)
{
    const struct restart_case *c = *state;
    const struct spec_program programs[] = {
        { .image = "*", .run = { 1000, 1000 }, .exit_code = c->exit_code }
    };
    struct little w;
    begin_with(&w, NULL, programs);
    CLEANUP_FREE char *spec = xasprintf("{'restartPolicy': '%s'}", c->policy);
    little_make_pod(&w, "p", spec);
    little_pass(&w, 20 * SECOND_MS);
    assert_string_equal(json_string_value(little_of_pod(&w, "p", "status.phase")), c->want_phase);
    assert_int_equal(restarts(&w) > 0, c->want_restarts);
    little_end(&w);
}

/* How long a deleted pod is still there, in ms. */
static int64_t end_takes(const struct spec_program *programs, const char *spec)
{
    struct little w;
    begin_with(&w, NULL, programs);
    little_make_pod(&w, "p", spec);
    little_pass(&w, 30 * SECOND_MS);
    little_delete(&w, "pods", "default", "p");
    int64_t since = w.sim.now_ms;
    while (little_get(&w, "pods", "default", "p") && w.sim.now_ms < since + 10 * MINUTE_MS)
        little_pass(&w, 10);
    int64_t took = w.sim.now_ms - since;
    little_end(&w);
    return took;
}

static void ends_gracefully(void **state)
{
    (void) state;
    static const struct spec_program quick[] = { { .image = "*", .stop = { 3000, 3000 } } };
    static const struct spec_program deaf[] = { { .image = "*", .ignores_term = true } };
    static const struct spec_program stuck[] = { { .image = "*", .unkillable = true } };
    assert_in_range(end_takes(quick, NULL), 3000, 3600);
    assert_in_range(end_takes(deaf, "{'terminationGracePeriodSeconds': 60}"), 60000, 60600);
    assert_in_range(end_takes(stuck, NULL), 10 * MINUTE_MS, 11 * MINUTE_MS);
}

static void reboot_frees_what_is_stuck(void **state)
{
    (void) state;
    static const struct spec_program stuck[] = { { .image = "*", .unkillable = true } };
    struct little w;
    begin_with(&w, NULL, stuck);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 30 * SECOND_MS);
    little_delete(&w, "pods", "default", "p");
    little_pass(&w, 5 * MINUTE_MS);
    assert_non_null(little_get(&w, "pods", "default", "p"));
    little_do(&w, SPEC_REBOOT, "gpu-1");
    little_pass(&w, 5 * MINUTE_MS);
    assert_null(little_get(&w, "pods", "default", "p"));
    little_end(&w);
}

static void reboot_starts_containers_again(void **state)
{
    (void) state;
    struct little w;
    begin_with(&w, NULL, NULL);
    little_make_pod(&w, "p", "{'initContainers': [{'name': 'one', 'image': 'init:1'}]}");
    little_make_pod(&w, "never", "{'restartPolicy': 'Never'}");
    little_pass(&w, 30 * SECOND_MS);
    assert_int_equal(restarts(&w), 0);
    little_do(&w, SPEC_REBOOT, "gpu-1");
    little_pass(&w, 4 * MINUTE_MS);
    assert_int_equal(restarts(&w), 1);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    assert_int_equal(json_int(json_array_get(little_of_pod(&w, "p", "status.containerStatuses"), 0),
                              "lastState.terminated.exitCode", 0),
                     255);
    assert_string_equal(json_string_value(little_of_pod(&w, "never", "status.phase")), "Failed");
    little_end(&w);
}

static void forced_deletion_leaves_containers(void **state)
{
    (void) state;
    static const struct spec_program deaf[] = { { .image = "*", .ignores_term = true } };
    struct little w;
    begin_with(&w, NULL, deaf);
    /* A GPU user holds the module for as long as it really runs. */
    w.shape.host_driver = "570";
    little_pass(&w, SECOND_MS);
    little_do(&w, SPEC_REBOOT, "gpu-1");
    little_pass(&w, 4 * MINUTE_MS);
    CLEANUP_JSON json_t *devices = tree("{'status': {'allocatable': {'nvidia.com/mig-1g.10gb': "
                                        "'1'}, 'capacity': {'nvidia.com/mig-1g.10gb': '1'}}}");
    assert_int_equal(
        api_merge(w.api, "test", kind_named("nodes"), "", "gpu-1", "status", devices, NULL), 0);
    little_make_pod(&w, "p",
                    "{'containers': [{'name': 'main', 'image': 'x', 'resources': {'limits': "
                    "{'nvidia.com/mig-1g.10gb': '1'}}}]}");
    little_pass(&w, 30 * SECOND_MS);
    struct actors_machine m;
    assert_true(actors_machine(w.actors, "gpu-1", &m));
    assert_int_equal(m.module_users, 1);
    assert_int_equal(api_delete(w.api, "test", kind_named("pods"), "default", "p", NULL, 0, NULL),
                     0);
    little_pass(&w, 10 * SECOND_MS);
    assert_null(little_get(&w, "pods", "default", "p"));
    assert_true(actors_machine(w.actors, "gpu-1", &m));
    assert_int_equal(m.module_users, 1);
    little_pass(&w, 30 * SECOND_MS);
    assert_true(actors_machine(w.actors, "gpu-1", &m));
    assert_int_equal(m.module_users, 0);
    little_end(&w);
}

static void new_node_settles(void **state)
{
    (void) state;
    struct little w;
    begin_with(&w, NULL, NULL);
    assert_true(actors_do(
        w.actors, &(struct spec_action){ .verb = SPEC_NODE_ADD, .name = "late", .shape = &w.shape },
        NULL));
    while (!little_get(&w, "nodes", "", "late"))
        little_pass(&w, SECOND_MS);
    assert_in_range(w.sim.now_ms, 60 * SECOND_MS, 121 * SECOND_MS);
    const json_t *node = little_get(&w, "nodes", "", "late");
    assert_string_equal(condition_status(json_at(node, "status.conditions"), "Ready"), "False");
    little_pass(&w, 20 * SECOND_MS);
    node = little_get(&w, "nodes", "", "late");
    assert_string_equal(condition_status(json_at(node, "status.conditions"), "Ready"), "True");
    assert_string_equal(json_str(node, "status.nodeInfo.osImage"), "Ubuntu 24.04.1 LTS");
    assert_int_equal(json_array_size(json_at(node, "spec.taints")), 0);
    little_end(&w);
}

static void nodes_of_others(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 0);
    w.world.others = &w.shape;
    little_begin(&w);
    little_create(&w, "nodes",
                  "{'metadata': {'name': 'mine', 'labels': {'kubernetes.io/hostname': 'mine'}}}");
    little_make_pod(&w, "p", NULL);
    little_pass(&w, MINUTE_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_end(&w);
}

static void missing_configmap(void **state)
{
    (void) state;
    struct little w;
    begin_with(&w, NULL, NULL);
    little_make_pod(&w, "p", "{'volumes': [{'name': 'v', 'configMap': {'name': 'settings'}}]}");
    little_pass(&w, MINUTE_MS);
    assert_string_equal(state_of(&w, "state.waiting.reason"), "ContainerCreating");
    little_create(&w, "configmaps", "{'metadata': {'name': 'settings', 'namespace': 'default'}}");
    little_pass(&w, MINUTE_MS);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "p")));
    little_end(&w);
}

static void crash_by_hand(void **state)
{
    (void) state;
    struct little w;
    begin_with(&w, NULL, NULL);
    little_make_pod(&w, "p", NULL);
    little_pass(&w, 30 * SECOND_MS);
    CLEANUP_JSON json_t *crash = tree("{'exitCode': 139, 'message': 'segmentation fault'}");
    const struct spec_action action = {
        .verb = SPEC_CRASH, .ns = "default", .name = "p", .body = crash
    };
    assert_true(actors_do(w.actors, &action, NULL));
    little_pass(&w, 10 * SECOND_MS);
    assert_int_equal(restarts(&w), 1);
    assert_string_equal(state_of(&w, "lastState.terminated.message"), "segmentation fault");
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a pod is created, runs and becomes ready", becomes_ready, NULL);
    suite_add(&s, "an image that is missing, until it is there", missing_image, NULL);
    suite_add(&s, "an image that needs a secret", image_behind_a_secret, NULL);
    suite_add(&s, "an image that is missing for another node", image_for_another_node, NULL);
    suite_add(&s, "a command that no image has", command_of_no_image, NULL);
    suite_add(&s, "an image is pulled once for each node", image_is_pulled_once, NULL);
    suite_add(&s, "a crash loop backs off as kubelets do", crash_loop, NULL);
    suite_add(&s, "init containers run one after another", init_containers_in_order, NULL);
    suite_add(&s, "an init container that fails", init_container_fails, NULL);
    SUITE_ROWS(&s, check_restart, restart_cases);
    suite_add(&s, "the end takes what it takes, at most its grace", ends_gracefully, NULL);
    suite_add(&s, "a reboot frees what nothing can kill", reboot_frees_what_is_stuck, NULL);
    suite_add(&s, "a reboot starts containers again", reboot_starts_containers_again, NULL);
    suite_add(&s, "a forced deletion leaves containers behind for a while",
              forced_deletion_leaves_containers, NULL);
    suite_add(&s, "a new node is not ready at once", new_node_settles, NULL);
    suite_add(&s, "Node objects of others get a machine", nodes_of_others, NULL);
    suite_add(&s, "a pod waits for its ConfigMap", missing_configmap, NULL);
    suite_add(&s, "a crash by hand", crash_by_hand, NULL);
    return suite_run(&s, "kubelet");
}
