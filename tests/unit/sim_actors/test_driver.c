#include "tests/unit/sim_actors/operands.h"

enum { MINUTE_MS = 60 * 1000, INSTALLED_MS = 10 * MINUTE_MS };

#define TAG "580.178.04-ubuntu24.04"
#define GPU_POD                                                                                    \
    "{'containers': [{'name': 'main', 'image': 'cuda:1', 'resources': {'limits': "                 \
    "{'nvidia.com/gpu': '1'}}}]}"

static void begin_installed(struct little *w, size_t nodes)
{
    little_init(w, nodes);
    little_begin(w);
    operands_create_all(w, TAG, "d1");
    little_pass(w, INSTALLED_MS);
}

static void delete_operand(struct little *w, const char *app, const char *node)
{
    const json_t *pod = little_pod(w, app, node);
    assert_non_null(pod);
    little_delete(w, "pods", "ops", object_name(pod));
}

static void change_driver(struct little *w, const char *tag, const char *digest)
{
    CLEANUP_JSON json_t *set = operand("driver", "container", tag, digest);
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:O}}", "spec", "template",
                                           json_at(set, "spec.template"));
    assert_int_equal(
        api_merge(w->api, "test", kind_named("daemonsets"), "ops", "driver", "", patch, NULL), 0);
}

static void serves_gpus(void **state)
{
    (void) state;
    struct little w;
    begin_installed(&w, 2);
    struct actors_machine m = operands_machine(&w, "gpu-1");
    assert_string_equal(m.module, TAG);
    assert_string_equal(m.digest, "d1");
    assert_int_equal(m.gpus, 8);
    assert_int_equal(m.module_users, 2);
    assert_string_equal(operands_gpus(&w, "gpu-1", "allocatable"), "8");
    assert_string_equal(operands_gpus(&w, "gpu-2", "capacity"), "8");
    assert_int_equal(little_ready(&w, "driver") + little_ready(&w, "toolkit") +
                         little_ready(&w, "device-plugin") + little_ready(&w, "exporter"),
                     8);
    little_end(&w);
}

static void waits_in_order(void **state)
{
    (void) state;
    struct little w;
    struct spec_driver drivers[] = { { .version = "580.*", .outcome = SPEC_DRIVER_HANGS } };
    little_init(&w, 1);
    w.world.drivers = drivers;
    w.world.driver_count = 1;
    little_begin(&w);
    operands_create_all(&w, TAG, "d1");
    little_pass(&w, INSTALLED_MS);
    const json_t *toolkit = little_pod(&w, "toolkit", "gpu-1");
    assert_non_null(json_at(json_array_get(json_at(toolkit, "status.initContainerStatuses"), 0),
                            "state.running"));
    /* Without the handler of their class the others have no sandbox. */
    const json_t *plugin = little_pod(&w, "device-plugin", "gpu-1");
    assert_string_equal(json_str(json_array_get(json_at(plugin, "status.initContainerStatuses"), 0),
                                 "state.waiting.reason"),
                        "PodInitializing");
    assert_null(operands_gpus(&w, "gpu-1", "allocatable"));
    assert_int_equal(little_ready(&w, "driver"), 0);
    little_end(&w);
}

static void build_fails(void **state)
{
    (void) state;
    struct little w;
    struct spec_driver drivers[] = { { .version = "580.*",
                                       .kernel = "6.8.*",
                                       .outcome = SPEC_DRIVER_FAILS_BUILD,
                                       .build = { 20000, 20000 },
                                       .exit_code = 3,
                                       .message = "no kernel headers" } };
    little_init(&w, 1);
    w.world.drivers = drivers;
    w.world.driver_count = 1;
    little_begin(&w);
    operands_create(&w, "driver", "container", TAG, "d1");
    little_pass(&w, 2 * MINUTE_MS);
    const json_t *status = json_array_get(
        json_at(little_pod(&w, "driver", "gpu-1"), "status.containerStatuses"), 0);
    assert_string_equal(json_str(status, "lastState.terminated.message"), "no kernel headers");
    assert_int_equal(json_int(status, "lastState.terminated.exitCode", 0), 3);
    assert_true(json_int(status, "restartCount", 0) >= 2);
    /* A driver that gets better is tried again by itself. */
    const struct spec_driver none = { 0 };
    actors_change(w.actors, &(struct spec_change){ .drivers = &none });
    little_pass(&w, 15 * MINUTE_MS);
    assert_int_equal(little_ready(&w, "driver"), 1);
    little_end(&w);
}

static void finds_no_gpu(void **state)
{
    (void) state;
    struct little w;
    struct spec_driver drivers[] = { { .version = "580.*", .outcome = SPEC_DRIVER_FINDS_NO_GPU } };
    little_init(&w, 1);
    w.world.drivers = drivers;
    w.world.driver_count = 1;
    little_begin(&w);
    operands_create_all(&w, TAG, "d1");
    little_pass(&w, 10 * MINUTE_MS);
    assert_int_equal(little_ready(&w, "driver") + little_ready(&w, "device-plugin"), 2);
    assert_string_equal(operands_gpus(&w, "gpu-1", "allocatable"), "0");
    little_end(&w);
}

static void needs_reboot(void **state)
{
    (void) state;
    struct little w;
    struct spec_driver drivers[] = { { .outcome = SPEC_DRIVER_NEEDS_REBOOT,
                                       .build = { 5000, 5000 },
                                       .message = "reboot to load it" } };
    little_init(&w, 1);
    w.world.drivers = drivers;
    w.world.driver_count = 1;
    little_begin(&w);
    operands_create(&w, "driver", "container", TAG, "d1");
    little_pass(&w, INSTALLED_MS);
    assert_int_equal(little_ready(&w, "driver"), 0);
    little_do(&w, SPEC_REBOOT, "gpu-1");
    little_pass(&w, INSTALLED_MS);
    assert_int_equal(little_ready(&w, "driver"), 1);
    little_end(&w);
}

static void host_driver(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 1);
    w.shape.host_driver = "570.86.15";
    little_begin(&w);
    operands_create(&w, "driver", "container", TAG, "d1");
    little_pass(&w, INSTALLED_MS);
    const json_t *status = json_array_get(
        json_at(little_pod(&w, "driver", "gpu-1"), "status.initContainerStatuses"), 0);
    assert_true(
        str_has_prefix(json_str_or_empty(status, "lastState.terminated.message"), "HostDriver: "));
    assert_string_equal(operands_machine(&w, "gpu-1").module, "570.86.15");
    assert_int_equal(operands_machine(&w, "gpu-1").modules_unloaded, 0);
    little_end(&w);
}

static void idle_driver_is_replaced(void **state)
{
    (void) state;
    struct little w;
    little_init(&w, 1);
    little_begin(&w);
    operands_create(&w, "driver", "container", TAG, "d1");
    little_pass(&w, INSTALLED_MS);
    change_driver(&w, "590.1-ubuntu24.04", "d2");
    little_pass(&w, MINUTE_MS);
    assert_string_equal(operands_machine(&w, "gpu-1").digest, "d1");
    delete_operand(&w, "driver", "gpu-1");
    little_pass(&w, INSTALLED_MS);
    struct actors_machine m = operands_machine(&w, "gpu-1");
    assert_string_equal(m.module, "590.1-ubuntu24.04");
    assert_string_equal(m.digest, "d2");
    assert_int_equal(m.modules_unloaded, 1);
    little_end(&w);
}

static void busy_driver_stays(void **state)
{
    (void) state;
    struct little w;
    begin_installed(&w, 1);
    little_make_pod(&w, "user", GPU_POD);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(operands_machine(&w, "gpu-1").module_users, 3);
    change_driver(&w, "590.1-ubuntu24.04", "d2");
    delete_operand(&w, "driver", "gpu-1");
    /* It waits for the kill at the end of its grace. */
    little_pass(&w, MINUTE_MS);
    assert_true(object_is_deleting(little_pod(&w, "driver", "gpu-1")));
    little_pass(&w, 2 * MINUTE_MS);
    const json_t *pod = little_pod(&w, "driver", "gpu-1");
    assert_false(object_is_deleting(pod));
    const json_t *unload = json_array_get(json_at(pod, "status.initContainerStatuses"), 1);
    const json_t *end = json_at(unload, "state.terminated")
                            ? json_at(unload, "state.terminated")
                            : json_at(unload, "lastState.terminated");
    assert_true(str_has_prefix(json_str_or_empty(end, "message"), "DriverInUse: "));
    struct actors_machine m = operands_machine(&w, "gpu-1");
    assert_string_equal(m.digest, "d1");
    assert_int_equal(m.unloads_under_use, 0);
    /* Users gone, the next attempt goes through. */
    little_delete(&w, "pods", "default", "user");
    little_delete(&w, "daemonsets", "ops", "device-plugin");
    little_delete(&w, "daemonsets", "ops", "exporter");
    little_pass(&w, 15 * MINUTE_MS);
    assert_string_equal(operands_machine(&w, "gpu-1").digest, "d2");
    assert_int_equal(operands_machine(&w, "gpu-1").unloads_under_use, 0);
    little_end(&w);
}

static void same_digest_leaves_module(void **state)
{
    (void) state;
    struct little w;
    begin_installed(&w, 1);
    little_make_pod(&w, "user", GPU_POD);
    little_pass(&w, MINUTE_MS);
    delete_operand(&w, "driver", "gpu-1");
    little_pass(&w, 5 * MINUTE_MS);
    assert_int_equal(little_ready(&w, "driver"), 1);
    assert_int_equal(operands_machine(&w, "gpu-1").modules_unloaded, 0);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "user")));
    little_end(&w);
}

static void plugin_gone_leaves_zero(void **state)
{
    (void) state;
    struct little w;
    begin_installed(&w, 1);
    little_delete(&w, "daemonsets", "ops", "device-plugin");
    little_pass(&w, MINUTE_MS);
    assert_string_equal(operands_gpus(&w, "gpu-1", "allocatable"), "0");
    assert_string_equal(operands_gpus(&w, "gpu-1", "capacity"), "8");
    little_pass(&w, 5 * MINUTE_MS);
    assert_string_equal(operands_gpus(&w, "gpu-1", "capacity"), "0");
    assert_string_equal(operands_gpus(&w, "gpu-1", "allocatable"), "0");
    little_end(&w);
}

static void reboot_loses_all_but_disk(void **state)
{
    (void) state;
    struct little w;
    begin_installed(&w, 1);
    CLEANUP_FREE char *boot = xstrdup(
        json_str(little_get(&w, "nodes", "", "gpu-1"), "status.nodeInfo.bootID"));
    little_make_pod(&w, "user", GPU_POD);
    little_pass(&w, MINUTE_MS);
    little_do(&w, SPEC_REBOOT, "gpu-1");
    little_pass(&w, 1000);
    assert_null(operands_machine(&w, "gpu-1").module);
    assert_int_equal(operands_machine(&w, "gpu-1").module_users, 0);
    little_pass(&w, 3 * MINUTE_MS);
    assert_string_not_equal(
        json_str(little_get(&w, "nodes", "", "gpu-1"), "status.nodeInfo.bootID"), boot);
    /* Bound before the plugin has registered: refused for good. */
    assert_string_equal(json_str(little_get(&w, "pods", "default", "user"), "status.reason"),
                        "UnexpectedAdmissionError");
    assert_string_equal(json_string_value(little_of_pod(&w, "user", "status.phase")), "Failed");
    little_pass(&w, INSTALLED_MS);
    assert_string_equal(operands_gpus(&w, "gpu-1", "allocatable"), "8");
    assert_int_equal(little_ready(&w, "driver"), 1);
    little_end(&w);
}

static void pods_take_gpus(void **state)
{
    (void) state;
    struct little w;
    begin_installed(&w, 1);
    static const char nine[] = "{'containers': [{'name': 'main', 'image': 'cuda:1', 'resources': "
                               "{'limits': {'nvidia.com/gpu': '5'}}}]}";
    little_make_pod(&w, "first", nine);
    little_make_pod(&w, "second", nine);
    little_pass(&w, MINUTE_MS);
    size_t running = little_pod_is_ready(little_get(&w, "pods", "default", "first")) +
                     little_pod_is_ready(little_get(&w, "pods", "default", "second"));
    assert_int_equal(running, 1);
    const char *up = little_pod_is_ready(little_get(&w, "pods", "default", "first")) ? "first"
                                                                                     : "second";
    little_delete(&w, "pods", "default", up);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(little_ready(&w, "first") + little_ready(&w, "second"), 1);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "operands become ready one after another and serve GPUs", serves_gpus, NULL);
    suite_add(&s, "toolkit and plugin wait for the driver", waits_in_order, NULL);
    suite_add(&s, "a build that fails crash-loops with its last words", build_fails, NULL);
    suite_add(&s, "a driver that finds no GPU leaves the plugin without any", finds_no_gpu, NULL);
    suite_add(&s, "a driver that needs a reboot works after one", needs_reboot, NULL);
    suite_add(&s, "the host's own driver is found and left alone", host_driver, NULL);
    suite_add(&s, "an idle driver is replaced when its pod is deleted", idle_driver_is_replaced,
              NULL);
    suite_add(&s, "a busy driver keeps its module until its users go", busy_driver_stays, NULL);
    suite_add(&s, "a pod of the same digest leaves the module and its users alone",
              same_digest_leaves_module, NULL);
    suite_add(&s, "a plugin that is gone leaves 0, and the key", plugin_gone_leaves_zero, NULL);
    suite_add(&s, "a reboot loses module, signs and devices", reboot_loses_all_but_disk, NULL);
    suite_add(&s, "GPUs are taken and given back", pods_take_gpus, NULL);
    return suite_run(&s, "driver");
}
