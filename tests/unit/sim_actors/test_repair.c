/* One-off pods that reset GPUs and reboot a machine, and kured. */
#include "sim/api/builtin.h"
#include "tests/unit/sim_actors/operands.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

#define NODE "gpu-1"
#define DRIVER "580.178.04"

/* ---- a world */

static void prepare(struct little *w, size_t nodes, const char *host_driver)
{
    little_init(w, nodes);
    w->shape.host_driver = host_driver;
    w->shape.boot = (struct spec_delay){ 3 * SECOND_MS, 3 * SECOND_MS };
}

static void start(struct little *w)
{
    little_begin(w);
    little_pass(w, MINUTE_MS);
}

static void begin(struct little *w, const char *host_driver)
{
    prepare(w, 1, host_driver);
    start(w);
}

static void hit(const struct little *w, const char *node, struct spec_gpu_fault fault)
{
    CLEANUP_JSON json_t *body = json_object();
    assert_true(actors_do(
        w->actors,
        &(struct spec_action){ .verb = SPEC_GPU_FAULT, .name = node, .body = body, .fault = fault },
        NULL));
}

/* Runs a one-off pod for so long; `args` is a list. */
static void run_task(struct little *w, const char *task, const char *node, const char *args,
                     int64_t ms)
{
    CLEANUP_FREE char *name = xasprintf("%s-%s", task, node);
    CLEANUP_JSON json_t *pod = json_pack(
        "{s:{s:s, s:s, s:{s:s}}, s:{s:s, s:s, s:[{s:s, s:s, s:[s], s:o}]}}", "metadata",
        "namespace", "ops", "name", name, "labels", "ostler.dev/task", task, "spec", "nodeName",
        node, "restartPolicy", "Never", "containers", "name", task, "image", "ostler:1", "command",
        "/usr/bin/ostler-node", "args", tree(args));
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_create(w->api, "test", kind_named("pods"), pod, &r) < 0)
        fail_msg("%s", r.message);
    little_pass(w, ms);
}

static const json_t *task_pod(const struct little *w, const char *task)
{
    CLEANUP_FREE char *name = xasprintf("%s-%s", task, NODE);
    return little_get(w, "pods", "ops", name);
}

static void assert_task(const struct little *w, const char *task, const char *phase,
                        const char *message)
{
    const json_t *pod = task_pod(w, task);
    const json_t *status = json_array_get(json_at(pod, "status.containerStatuses"), 0);
    assert_string_equal(json_str_or_empty(pod, "status.phase"), phase);
    assert_string_equal(json_str_or_empty(status, "state.terminated.message"), message);
}

static bool is_cordoned(const struct little *w, const char *node)
{
    return json_bool(little_get(w, "nodes", "", node), "spec.unschedulable", false);
}

/* ---- reset */

static void resets_the_gpus_that_it_is_given(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL);
    for (int gpu = 1; gpu <= 3; gpu++)
        hit(&w, NODE, (struct spec_gpu_fault){ .gpu = gpu, .kind = SPEC_FAULT_DOUBLE_BIT });
    run_task(&w, "reset", NODE, "['reset', '0000:18:00.0', '0000:1a:00.0']", MINUTE_MS);
    assert_task(&w, "reset", "Succeeded", "the GPUs are reset");
    assert_int_equal(operands_machine(&w, NODE).faulty, 1);
    assert_int_equal(operands_machine(&w, NODE).resets, 1);
    assert_int_equal(operands_machine(&w, NODE).boots, 1);
    little_end(&w);
}

static const struct refusal_row {
    const char *name, *host_driver, *args, *message;
    enum spec_fault_kind kind;
} refusals[] = {
    { "no reset while the driver is loaded", DRIVER, "['reset', '0000:17:00.0']",
      "the module nvidia is loaded: no GPU can be reset", SPEC_FAULT_DOUBLE_BIT },
    { "no reset of a GPU that is not there", NULL, "['reset', '0000:17:00.0', '0000:1f:00.0']",
      "0000:1f:00.0: there is no such GPU", SPEC_FAULT_DOUBLE_BIT },
    { "no reset of a GPU off the bus", NULL, "['reset', '0000:17:00.0']",
      "0000:17:00.0: the GPU does not respond", SPEC_FAULT_OFF_THE_BUS },
    { "no reset of nothing", NULL, "['reset']", "no address is given", SPEC_FAULT_DOUBLE_BIT },
};

static void check_refusal(void **state)
{
    const struct refusal_row *row = *state;
    struct little w;
    begin(&w, row->host_driver);
    hit(&w, NODE, (struct spec_gpu_fault){ .kind = row->kind });
    run_task(&w, "reset", NODE, row->args, MINUTE_MS);
    assert_task(&w, "reset", "Failed", row->message);
    assert_int_equal(operands_machine(&w, NODE).faulty, 1);
    assert_int_equal(operands_machine(&w, NODE).resets, 1);
    little_end(&w);
}

/* Lines of the kernel log that the agent reports with this number. */
static int64_t lines_of(const struct little *w, int64_t xid)
{
    int64_t count = 0;
    JSON_EACH (fault, json_at(little_get(w, "gpunodes", "", NODE), "status.inventory.faults"))
        if (json_int(fault, "xid", 0) == xid)
            count += json_int(fault, "count", 0);
    return count;
}

/* A reset does not end it: the driver that is loaded afterwards reports it once more. */
static void a_sticky_fault_comes_back_with_the_driver(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_ERR struct err e = { 0 };
    prepare(&w, 1, NULL);
    if (builtin_install(w.api, "test", "ostler-system", "ostler-operands", &e) < 0)
        fail_msg("%s", err_msg(&e));
    little_begin(&w);
    CLEANUP_JSON json_t *agents = operand("node-agent", "daemonset", "1", "d1");
    json_array_append_new(
        json_object_get(json_array_get(json_at(agents, "spec.template.spec.containers"), 0),
                        "args"),
        json_string("--kernel-log"));
    assert_int_equal(api_create(w.api, "test", kind_named("daemonsets"), agents, NULL), 0);
    operands_create(&w, "driver", "container", DRIVER, "d1");
    little_pass(&w, 10 * MINUTE_MS);
    hit(&w, NODE,
        (struct spec_gpu_fault){ .kind = SPEC_FAULT_UNCONTAINED, .cure = SPEC_CURE_REPLACEMENT });
    little_pass(&w, MINUTE_MS);
    assert_int_equal(lines_of(&w, 95), 1);
    little_delete(&w, "daemonsets", "ops", "driver");
    little_pass(&w, MINUTE_MS);
    assert_null(operands_machine(&w, NODE).module);
    run_task(&w, "reset", NODE, "['reset', '0000:17:00.0']", MINUTE_MS);
    assert_task(&w, "reset", "Succeeded", "the GPUs are reset");
    assert_int_equal(operands_machine(&w, NODE).faulty, 1);
    assert_int_equal(lines_of(&w, 95), 1);
    operands_create(&w, "driver", "container", DRIVER, "d1");
    little_pass(&w, 10 * MINUTE_MS);
    assert_int_equal(lines_of(&w, 95), 2);
    little_end(&w);
}

/* ---- reboot */

static void reboots_the_machine(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL);
    CLEANUP_FREE char *boot = xstrdup(
        json_str(little_get(&w, "nodes", "", NODE), "status.nodeInfo.bootID"));
    little_make_pod(&w, "program", NULL);
    little_pass(&w, MINUTE_MS);
    hit(&w, NODE, (struct spec_gpu_fault){ .kind = SPEC_FAULT_OFF_THE_BUS });
    run_task(&w, "reboot", NODE, "['reboot', 'pod']", 2 * MINUTE_MS);
    assert_task(&w, "reboot", "Failed", "");
    struct actors_machine m = operands_machine(&w, NODE);
    assert_int_equal(m.boots, 2);
    assert_int_equal(m.faulty, 0);
    assert_int_equal(m.reboots_asked, 1);
    assert_string_not_equal(json_str(little_get(&w, "nodes", "", NODE), "status.nodeInfo.bootID"),
                            boot);
    assert_true(little_pod_is_ready(little_get(&w, "pods", "default", "program")));
    little_pass(&w, HOUR_MS);
    assert_int_equal(operands_machine(&w, NODE).boots, 2);
    little_end(&w);
}

static void a_reboot_may_never_return(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL);
    hit(&w, NODE, (struct spec_gpu_fault){ .kind = SPEC_FAULT_OFF_THE_BUS, .no_boot = true });
    run_task(&w, "reboot", NODE, "['reboot', 'pod']", HOUR_MS);
    assert_false(operands_machine(&w, NODE).up);
    assert_int_equal(operands_machine(&w, NODE).boots, 1);
    little_end(&w);
}

static void an_unknown_kind_of_reboot_fails(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL);
    run_task(&w, "reboot", NODE, "['reboot', 'now']", MINUTE_MS);
    assert_task(&w, "reboot", "Failed", "reboot: pod, sentinel or withdraw");
    assert_int_equal(operands_machine(&w, NODE).boots, 1);
    assert_int_equal(operands_machine(&w, NODE).reboots_asked, 0);
    little_end(&w);
}

/* ---- kured */

static void without_kured_the_file_does_nothing(void **state)
{
    (void) state;
    struct little w;
    begin(&w, NULL);
    run_task(&w, "reboot", NODE, "['reboot', 'sentinel']", HOUR_MS);
    assert_task(&w, "reboot", "Succeeded", "/var/run/reboot-required is written");
    assert_int_equal(operands_machine(&w, NODE).boots, 1);
    assert_int_equal(operands_machine(&w, NODE).reboots_asked, 1);
    little_end(&w);
}

static void kured_reboots_one_machine_at_a_time(void **state)
{
    (void) state;
    struct little w;
    prepare(&w, 2, NULL);
    w.shape.boot = (struct spec_delay){ MINUTE_MS, MINUTE_MS };
    w.world.kured.after = (struct spec_delay){ MINUTE_MS, MINUTE_MS };
    start(&w);
    run_task(&w, "reboot", NODE, "['reboot', 'sentinel']", 0);
    run_task(&w, "reboot", "gpu-2", "['reboot', 'sentinel']", 30 * SECOND_MS);
    assert_false(is_cordoned(&w, NODE) || is_cordoned(&w, "gpu-2"));
    little_pass(&w, MINUTE_MS);
    struct actors_machine one = operands_machine(&w, NODE), two = operands_machine(&w, "gpu-2");
    assert_int_equal(one.up + two.up, 1);
    assert_int_equal(is_cordoned(&w, NODE), !one.up);
    assert_int_equal(is_cordoned(&w, "gpu-2"), !two.up);
    little_pass(&w, 10 * MINUTE_MS);
    assert_int_equal(operands_machine(&w, NODE).boots, 2);
    assert_int_equal(operands_machine(&w, "gpu-2").boots, 2);
    assert_false(is_cordoned(&w, NODE) || is_cordoned(&w, "gpu-2"));
    little_end(&w);
}

/* The file is gone after a boot, whoever rebooted the machine. */
static void kured_forgets_a_machine_that_has_booted(void **state)
{
    (void) state;
    struct little w;
    prepare(&w, 1, NULL);
    w.world.kured.after = (struct spec_delay){ 5 * MINUTE_MS, 5 * MINUTE_MS };
    start(&w);
    run_task(&w, "reboot", NODE, "['reboot', 'sentinel']", MINUTE_MS);
    little_do(&w, SPEC_REBOOT, NODE);
    little_pass(&w, HOUR_MS);
    assert_int_equal(operands_machine(&w, NODE).boots, 2);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "resets the GPUs that it is given", resets_the_gpus_that_it_is_given, NULL);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        suite_add(&s, refusals[i].name, check_refusal, &refusals[i]);
    suite_add(&s, "a sticky fault comes back with the driver",
              a_sticky_fault_comes_back_with_the_driver, NULL);
    suite_add(&s, "reboots the machine", reboots_the_machine, NULL);
    suite_add(&s, "a reboot may never return", a_reboot_may_never_return, NULL);
    suite_add(&s, "an unknown kind of reboot fails", an_unknown_kind_of_reboot_fails, NULL);
    suite_add(&s, "without kured the file does nothing", without_kured_the_file_does_nothing, NULL);
    suite_add(&s, "kured reboots one machine at a time", kured_reboots_one_machine_at_a_time, NULL);
    suite_add(&s, "kured forgets a machine that has booted",
              kured_forgets_a_machine_that_has_booted, NULL);
    return suite_run(&s, "repair");
}
