/* Faults of GPUs: what an agent reports of them, what ends them, those that come by themselves. */
#include "sim/api/builtin.h"
#include "tests/unit/sim_actors/operands.h"
#include "tests/unit/support/sanitized.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS, LOOK_MS = 75 * 1000 };

#define NODE "gpu-1"
#define DRIVER "580.178.04"

/* ---- a world */

static void create_agents(struct little *w, bool kernel_log)
{
    CLEANUP_JSON json_t *set = operand("node-agent", "daemonset", "1", "d1");
    CLEANUP_REFUSAL struct refusal r = { 0 };
    json_t *args = json_object_get(json_array_get(json_at(set, "spec.template.spec.containers"), 0),
                                   "args");
    if (kernel_log)
        json_array_append_new(args, json_string("--kernel-log"));
    if (api_create(w->api, "test", kind_named("daemonsets"), set, &r) < 0)
        fail_msg("%s", r.message);
}

static void prepare(struct little *w, size_t nodes)
{
    CLEANUP_ERR struct err e = { 0 };
    little_init(w, nodes);
    w->shape.host_driver = DRIVER;
    w->shape.host_plugin = true;
    w->shape.gpu_health = true;
    w->shape.boot = (struct spec_delay){ 3 * SECOND_MS, 3 * SECOND_MS };
    if (builtin_install(w->api, "test", "ostler-system", "ostler-operands", &e) < 0)
        fail_msg("%s", err_msg(&e));
}

static void start(struct little *w, bool kernel_log)
{
    little_begin(w);
    create_agents(w, kernel_log);
    little_pass(w, MINUTE_MS);
}

static void begin(struct little *w)
{
    prepare(w, 1);
    start(w, true);
}

static bool try_action(struct little *w, enum spec_verb verb, const struct spec_gpu_fault *fault)
{
    CLEANUP_JSON json_t *body = json_object();
    return actors_do(
        w->actors,
        &(struct spec_action){ .verb = verb,
                               .name = NODE,
                               .body = fault ? body : NULL,
                               .fault = fault ? *fault : (struct spec_gpu_fault){ 0 } },
        NULL);
}

static void do_to_gpu(struct little *w, enum spec_verb verb, const struct spec_gpu_fault *fault)
{
    assert_true(try_action(w, verb, fault));
    little_pass(w, LOOK_MS);
}

static void hit(struct little *w, struct spec_gpu_fault fault)
{
    do_to_gpu(w, SPEC_GPU_FAULT, &fault);
}

static const json_t *inventory(const struct little *w)
{
    return json_at(little_get(w, "gpunodes", "", NODE), "status.inventory");
}

static const json_t *health(const struct little *w, size_t gpu)
{
    return json_array_get(json_object_get(inventory(w), "health"), gpu);
}

static const json_t *faults(const struct little *w)
{
    return json_object_get(inventory(w), "faults");
}

static const json_t *newest(const struct little *w)
{
    return json_array_get(faults(w), json_array_size(faults(w)) - 1);
}

static struct actors_machine machine(const struct little *w, const char *name)
{
    struct actors_machine m;
    assert_true(actors_machine(w->actors, name, &m));
    return m;
}

static const char *bus(const struct little *w, size_t gpu)
{
    return json_str(json_array_get(json_object_get(inventory(w), "gpus"), gpu), "bus");
}

/* ---- reports */

static void reports_what_nvml_and_the_log_say(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    assert_int_equal(json_array_size(json_object_get(inventory(&w), "health")), 8);
    assert_tree(health(&w, 2), "{'address': '0000:19:00.0', 'serial': '1651200000002', "
                               "'recovery': 'None', 'remapPending': false, 'remapFailed': false, "
                               "'doubleBitErrors': 0, 'sramExceeded': false}");
    assert_tree(faults(&w), "[]");
    hit(&w, (struct spec_gpu_fault){ .gpu = 2, .kind = SPEC_FAULT_DOUBLE_BIT });
    assert_tree(health(&w, 2), "{'address': '0000:19:00.0', 'serial': '1651200000002', "
                               "'recovery': 'Reset', 'remapPending': true, 'remapFailed': false, "
                               "'doubleBitErrors': 1, 'sramExceeded': false}");
    assert_string_equal(json_str(health(&w, 1), "recovery"), "None");
    assert_int_equal(json_array_size(faults(&w)), 2);
    const json_t *xid = json_array_get(faults(&w), 0);
    assert_int_equal(json_int(xid, "xid", 0), 48);
    assert_string_equal(json_str(xid, "address"), "0000:19:00.0");
    assert_string_equal(json_str(xid, "bootId"), json_str(inventory(&w), "bootId"));
    assert_string_equal(json_str(xid, "first"), json_str(xid, "last"));
    assert_null(json_object_get(xid, "fatal"));
    assert_int_equal(json_int(newest(&w), "xid", 0), 154);
    assert_string_equal(json_str(newest(&w), "recovery"), "Reset");
    size_t commits = w.commits;
    little_pass(&w, HOUR_MS);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

static void reports_no_more_than_it_was_asked_for(void **state)
{
    (void) state;
    struct little w;
    prepare(&w, 1);
    w.shape.gpu_health = false;
    start(&w, false);
    hit(&w, (struct spec_gpu_fault){ .kind = SPEC_FAULT_DOUBLE_BIT });
    assert_null(json_object_get(inventory(&w), "health"));
    assert_null(json_object_get(inventory(&w), "faults"));
    little_end(&w);
}

/* Before 565 a driver logs no recovery action, and before 570 it reports none. */
static void older_drivers_report_no_recovery(void **state)
{
    (void) state;
    struct little w;
    prepare(&w, 1);
    w.shape.host_driver = "550.90.07";
    start(&w, true);
    hit(&w, (struct spec_gpu_fault){ .kind = SPEC_FAULT_UNCONTAINED });
    assert_int_equal(json_array_size(faults(&w)), 1);
    assert_int_equal(json_int(newest(&w), "xid", 0), 95);
    assert_null(json_object_get(health(&w, 0), "recovery"));
    assert_int_equal(json_int(health(&w, 0), "doubleBitErrors", 0), 1);
    little_end(&w);
    prepare(&w, 1);
    w.shape.host_driver = "565.57.01";
    start(&w, true);
    hit(&w, (struct spec_gpu_fault){ .kind = SPEC_FAULT_UNCONTAINED });
    assert_int_equal(json_int(newest(&w), "xid", 0), 154);
    assert_null(json_object_get(health(&w, 0), "recovery"));
    little_end(&w);
}

static void counts_by_gpu_and_number(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .gpu = 1, .xid = 31, .times = 4, .lasts_ms = 1 });
    hit(&w, (struct spec_gpu_fault){ .gpu = 3, .xid = 31, .lasts_ms = 1 });
    hit(&w, (struct spec_gpu_fault){ .gpu = 1, .xid = 31, .lasts_ms = 1 });
    assert_int_equal(json_array_size(faults(&w)), 2);
    assert_int_equal(json_int(newest(&w), "count", 0), 5);
    assert_string_equal(json_str(newest(&w), "address"), "0000:18:00.0");
    assert_true(strcmp(json_str(newest(&w), "first"), json_str(newest(&w), "last")) < 0);
    hit(&w, (struct spec_gpu_fault){ .kind = SPEC_FAULT_NVLINK5 });
    assert_true(json_bool(json_array_get(faults(&w), 2), "fatal", false));
    hit(&w, (struct spec_gpu_fault){ .xid = 144, .lasts_ms = 1 });
    assert_false(json_bool(newest(&w), "fatal", true));
    hit(&w, (struct spec_gpu_fault){ .kind = SPEC_FAULT_NVSWITCH });
    assert_true(json_bool(newest(&w), "nvswitch", false));
    assert_string_equal(json_str(newest(&w), "address"), "0000:c1:00.0");
    little_end(&w);
}

/* Programs can cause as many as they like: they push out no others. */
static void a_full_list_loses_what_is_worth_least(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .xid = 62, .lasts_ms = 1 });
    hit(&w, (struct spec_gpu_fault){ .xid = 31, .lasts_ms = 1 });
    for (int i = 0; i < 31; i++)
        hit(&w, (struct spec_gpu_fault){ .xid = 200 + i, .lasts_ms = 1 });
    assert_int_equal(json_array_size(faults(&w)), 32);
    assert_int_equal(json_int(json_array_get(faults(&w), 0), "xid", 0), 62);
    assert_int_equal(json_int(json_array_get(faults(&w), 1), "xid", 0), 200);
    do_to_gpu(&w, SPEC_REBOOT, NULL);
    assert_int_equal(json_array_size(faults(&w)), 32);
    hit(&w, (struct spec_gpu_fault){ .xid = 31, .lasts_ms = 1 });
    assert_int_equal(json_array_size(faults(&w)), 32);
    assert_int_equal(json_int(json_array_get(faults(&w), 0), "xid", 0), 200);
    assert_int_equal(json_int(newest(&w), "xid", 0), 31);
    little_end(&w);
}

static void worst_of_several(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .recovery = SPEC_RECOVERY_REBOOT, .double_bit_errors = 2 });
    hit(&w, (struct spec_gpu_fault){ .recovery = SPEC_RECOVERY_DRAIN_AND_RESET,
                                     .double_bit_errors = 3,
                                     .fabric = SPEC_FABRIC_LIMITED });
    assert_string_equal(json_str(health(&w, 0), "recovery"), "Reboot");
    assert_string_equal(json_str(health(&w, 0), "fabric"), "Limited");
    assert_int_equal(json_int(health(&w, 0), "doubleBitErrors", 0), 5);
    assert_int_equal(machine(&w, NODE).faulty, 1);
    little_end(&w);
}

static void a_gpu_that_is_lost(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .gpu = 4, .kind = SPEC_FAULT_OFF_THE_BUS });
    assert_string_equal(bus(&w, 4), "Silent");
    assert_string_equal(bus(&w, 3), "Answers");
    assert_tree(health(&w, 4), "{'address': '0000:1b:00.0', 'lost': true}");
    assert_int_equal(json_int(newest(&w), "xid", 0), 79);
    do_to_gpu(&w, SPEC_REBOOT, NULL);
    assert_string_equal(bus(&w, 4), "Answers");
    assert_false(json_bool(health(&w, 4), "lost", false));
    assert_int_equal(json_int(newest(&w), "xid", 0), 79);
    assert_string_not_equal(json_str(newest(&w), "bootId"), json_str(inventory(&w), "bootId"));
    /* After a boot the driver does not find it: it logs that, and NVML does not know the GPU. */
    hit(&w, (struct spec_gpu_fault){
                .gpu = 7, .kind = SPEC_FAULT_OFF_THE_BUS, .cure = SPEC_CURE_REPLACEMENT });
    do_to_gpu(&w, SPEC_REBOOT, NULL);
    assert_string_equal(bus(&w, 7), "Silent");
    assert_null(health(&w, 7));
    assert_int_equal(json_int(newest(&w), "xid", 0), 79);
    assert_string_equal(json_str(newest(&w), "address"), "0000:1e:00.0");
    assert_string_equal(json_str(newest(&w), "bootId"), json_str(inventory(&w), "bootId"));
    assert_int_equal(machine(&w, NODE).gpus, 7);
    little_end(&w);
}

static void nvml_that_hangs(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .gpu = 1, .kind = SPEC_FAULT_HANG });
    assert_tree(health(&w, 1), "{'address': '0000:18:00.0', 'hangs': true}");
    assert_tree(faults(&w), "[]");
    little_end(&w);
}

/* ---- cures */

static const struct cure_row {
    const char *name;
    enum spec_fault_kind kind;
    enum spec_cure cure;
    bool reset, reboot; /* what ends it, besides another GPU */
} cure_rows[] = {
    { "by a reset", SPEC_FAULT_DOUBLE_BIT, SPEC_CURE_USUAL, true, true },
    { "a pending remap, by a reset", SPEC_FAULT_REMAP, SPEC_CURE_USUAL, true, true },
    { "by a boot", SPEC_FAULT_HANG, SPEC_CURE_USUAL, false, true },
    { "off the bus, by a boot", SPEC_FAULT_OFF_THE_BUS, SPEC_CURE_USUAL, false, true },
    { "a failed remap, by another GPU", SPEC_FAULT_NO_REMAP, SPEC_CURE_USUAL, false, false },
    { "a sticky one, by another GPU", SPEC_FAULT_DOUBLE_BIT, SPEC_CURE_REPLACEMENT, false, false },
    { "a scenario says what", SPEC_FAULT_NO_REMAP, SPEC_CURE_RESET, true, true },
};

static void check_cure(void **state)
{
    const struct cure_row *row = *state;
    const struct {
        enum spec_verb verb;
        bool ends;
    } tries[] = { { SPEC_GPU_RESET, row->reset },
                  { SPEC_REBOOT, row->reboot },
                  { SPEC_GPU_REPLACE, true } };
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        struct little w;
        begin(&w);
        hit(&w, (struct spec_gpu_fault){ .gpu = 3, .kind = row->kind, .cure = row->cure });
        assert_int_equal(machine(&w, NODE).faulty, 1);
        do_to_gpu(&w, tries[i].verb, NULL);
        assert_int_equal(machine(&w, NODE).faulty, tries[i].ends ? 0 : 1);
        bool well = str_eq(json_str(health(&w, 3), "recovery"), "None") &&
                    !json_bool(health(&w, 3), "remapPending", true) &&
                    str_eq(bus(&w, 3), "Answers");
        assert_int_equal(well, tries[i].ends);
        little_end(&w);
    }
}

static void a_reset_is_of_one_gpu(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .gpu = 3, .kind = SPEC_FAULT_GSP });
    hit(&w, (struct spec_gpu_fault){ .gpu = 4, .kind = SPEC_FAULT_GSP });
    do_to_gpu(&w, SPEC_GPU_RESET, &(struct spec_gpu_fault){ .gpu = 4 });
    assert_string_equal(json_str(health(&w, 3), "recovery"), "Reset");
    assert_string_equal(json_str(health(&w, 4), "recovery"), "None");
    little_end(&w);
}

/* The driver of the next boot meets it again. */
static void a_sticky_fault_is_logged_after_a_boot(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .kind = SPEC_FAULT_NO_REMAP });
    do_to_gpu(&w, SPEC_REBOOT, NULL);
    assert_int_equal(json_array_size(faults(&w)), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(str_eq(json_str(json_array_get(faults(&w), i), "bootId"),
                                json_str(inventory(&w), "bootId")),
                         i >= 2);
    little_end(&w);
}

static void comes_and_goes(void **state)
{
    (void) state;
    struct little w;
    const struct spec_gpu_fault flap = { .kind = SPEC_FAULT_GSP,
                                         .lasts_ms = 10 * MINUTE_MS,
                                         .again_ms = 20 * MINUTE_MS };
    const struct spec_gpu_fault once = { .gpu = 1,
                                         .kind = SPEC_FAULT_GSP,
                                         .lasts_ms = 10 * MINUTE_MS };
    begin(&w);
    hit(&w, flap);
    hit(&w, once);
    for (int turn = 1; turn <= 3; turn++) {
        assert_string_equal(json_str(health(&w, 0), "recovery"), "Reset");
        assert_string_equal(json_str(health(&w, 1), "recovery"), turn == 1 ? "Reset" : "None");
        assert_int_equal(json_int(json_array_get(faults(&w), turn == 1 ? 0 : 2), "count", 0),
                         3 * turn);
        little_pass(&w, 12 * MINUTE_MS);
        assert_string_equal(json_str(health(&w, 0), "recovery"), "None");
        assert_string_equal(json_str(health(&w, 1), "recovery"), "None");
        little_pass(&w, 18 * MINUTE_MS);
    }
    do_to_gpu(&w, SPEC_GPU_RESET, NULL);
    size_t commits = w.commits;
    little_pass(&w, HOUR_MS);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

static void a_boot_that_never_returns(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .kind = SPEC_FAULT_OFF_THE_BUS, .no_boot = true });
    assert_true(machine(&w, NODE).up);
    do_to_gpu(&w, SPEC_REBOOT, NULL);
    little_do(&w, SPEC_NODE_UP, NODE);
    little_pass(&w, HOUR_MS);
    assert_false(machine(&w, NODE).up);
    do_to_gpu(&w, SPEC_GPU_REPLACE, NULL);
    assert_true(machine(&w, NODE).up);
    assert_int_equal(machine(&w, NODE).faulty, 0);
    little_end(&w);
}

/* ---- the device plugin */

static void the_plugin_withholds_a_gpu_until_it_restarts(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    hit(&w, (struct spec_gpu_fault){ .gpu = 1, .kind = SPEC_FAULT_PAGE_FAULT });
    assert_string_equal(operands_gpus(&w, NODE, "allocatable"), "8");
    hit(&w, (struct spec_gpu_fault){ .gpu = 1, .kind = SPEC_FAULT_REMAP });
    hit(&w, (struct spec_gpu_fault){ .gpu = 1, .kind = SPEC_FAULT_DOUBLE_BIT });
    hit(&w, (struct spec_gpu_fault){ .gpu = 5, .kind = SPEC_FAULT_OFF_THE_BUS });
    assert_string_equal(operands_gpus(&w, NODE, "allocatable"), "6");
    assert_string_equal(operands_gpus(&w, NODE, "capacity"), "8");
    assert_int_equal(machine(&w, NODE).withheld, 2);
    do_to_gpu(&w, SPEC_GPU_RESET, NULL);
    assert_string_equal(operands_gpus(&w, NODE, "allocatable"), "6");
    do_to_gpu(&w, SPEC_REBOOT, NULL);
    assert_string_equal(operands_gpus(&w, NODE, "allocatable"), "8");
    little_end(&w);
}

/* ---- faults that come by themselves */

enum { NODES = 8 };

static int faulty_nodes(const struct little *w)
{
    int count = 0;
    for (size_t i = 0; i < w->world.node_count; i++)
        count += machine(w, w->names[i]).faulty > 0;
    return count;
}

/* Lines of a number in all reports; 0: of any but 154. */
static int64_t lines_of(const struct little *w, int64_t xid)
{
    int64_t count = 0;
    for (size_t i = 0; i < w->world.node_count; i++)
        JSON_EACH (fault,
                   json_at(little_get(w, "gpunodes", "", w->names[i]), "status.inventory.faults")) {
            int64_t number = json_int(fault, "xid", 0);
            if (xid ? number == xid : number != 154)
                count += json_int(fault, "count", 0);
        }
    return count;
}

static void begin_random(struct little *w, const struct spec_gpu_faults *spec, uint64_t seed)
{
    prepare(w, NODES);
    sim_clear(&w->sim);
    api_free(w->api);
    sim_init(&w->sim, seed);
    w->api = api_new(&w->sim.clock);
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(builtin_install(w->api, "test", "ostler-system", "ostler-operands", &e), 0);
    api_on_commit(w->api, little_count_commit, w);
    w->world.gpu_faults = *spec;
    start(w, true);
}

/* 64 GPUs, 500 faults in a million GPU-days, 2,000 times as fast: 64 a day. */
static const struct spec_fault_share only_page_faults[] = { { SPEC_FAULT_PAGE_FAULT, 1 } };
static const struct spec_gpu_faults page_faults = {
    .rate = 500, .speed_up = 2000, .mix = only_page_faults, .mix_count = 1
};

static void as_many_as_the_rate_says(void **state)
{
    (void) state;
    enum { DAYS = SANITIZED ? 5 : 30 };
    struct little w;
    begin_random(&w, &page_faults, 1);
    little_pass(&w, (int64_t) DAYS * 24 * HOUR_MS);
    int64_t lines = lines_of(&w, 31);
    assert_int_equal(lines, lines_of(&w, 0));
    assert_in_range(lines, DAYS * 64 - 150, DAYS * 64 + 150); /* more than three deviations */
    little_end(&w);
}

static uint64_t trace_of(const struct spec_gpu_faults *spec, uint64_t seed)
{
    struct little w;
    begin_random(&w, spec, seed);
    little_pass(&w, 12 * HOUR_MS);
    assert_true(lines_of(&w, 0) > 0);
    uint64_t trace = w.sim.trace;
    little_end(&w);
    return trace;
}

static void the_same_seed_gives_the_same_faults(void **state)
{
    (void) state;
    const struct spec_gpu_faults spec = { .rate = 500,
                                          .speed_up = 5000,
                                          .sticky = 20,
                                          .flapping = 20,
                                          .no_boot = 5,
                                          .repairs = { HOUR_MS, 2 * HOUR_MS } };
    assert_true(trace_of(&spec, 3) == trace_of(&spec, 3));
    assert_true(trace_of(&spec, 3) != trace_of(&spec, 4));
}

static void none_before_they_begin_and_after_they_end(void **state)
{
    (void) state;
    struct little w;
    struct spec_gpu_faults spec = page_faults;
    spec.waits = true;
    begin_random(&w, &spec, 1);
    little_pass(&w, 24 * HOUR_MS);
    assert_int_equal(lines_of(&w, 0), 0);
    little_do(&w, SPEC_FAULTS_BEGIN, NULL);
    little_pass(&w, 24 * HOUR_MS);
    little_do(&w, SPEC_FAULTS_END, NULL);
    little_pass(&w, LOOK_MS);
    int64_t lines = lines_of(&w, 0);
    assert_true(lines > 0);
    little_pass(&w, 24 * HOUR_MS);
    assert_int_equal(lines_of(&w, 0), lines);
    little_end(&w);
}

static void a_storm_hits_many_nodes_at_once(void **state)
{
    (void) state;
    struct little w;
    const struct spec_fault_storm storms[] = { { .after_ms = 10 * MINUTE_MS,
                                                 .within_ms = 2 * MINUTE_MS,
                                                 .nodes = 5,
                                                 .kind = SPEC_FAULT_NVLINK } };
    begin_random(&w, &(struct spec_gpu_faults){ .storms = storms, .storm_count = 1 }, 1);
    little_pass(&w, 8 * MINUTE_MS);
    assert_int_equal(faulty_nodes(&w), 0);
    little_pass(&w, 4 * MINUTE_MS);
    assert_int_equal(faulty_nodes(&w), 5);
    assert_int_equal(lines_of(&w, 74), 5);
    little_pass(&w, 24 * HOUR_MS);
    assert_int_equal(faulty_nodes(&w), 5);
    little_end(&w);
}

static void a_driver_with_a_bug(void **state)
{
    (void) state;
    const struct spec_fault_bug other[] = {
        { .version = "590.*", .kind = SPEC_FAULT_GSP, .every = { HOUR_MS, 2 * HOUR_MS } }
    };
    struct spec_fault_bug bugs[] = {
        { .version = "580.*", .kind = SPEC_FAULT_GSP, .every = { HOUR_MS, 2 * HOUR_MS } }
    };
    struct little w;
    begin_random(&w, &(struct spec_gpu_faults){ .bugs = other, .bug_count = 1 }, 1);
    little_pass(&w, 24 * HOUR_MS);
    assert_int_equal(lines_of(&w, 0), 0);
    little_end(&w);
    begin_random(&w, &(struct spec_gpu_faults){ .bugs = bugs, .bug_count = 1 }, 1);
    little_pass(&w, 24 * HOUR_MS);
    assert_int_equal(faulty_nodes(&w), NODES);
    assert_int_equal(lines_of(&w, 0), lines_of(&w, 119));
    /* three lines for each of 12 to 24 times on each node */
    assert_in_range(lines_of(&w, 119), 3 * NODES * 11, 3 * NODES * 24);
    little_end(&w);
}

static void technician_repairs(void **state)
{
    (void) state;
    struct little w;
    const struct spec_fault_share mix[] = { { SPEC_FAULT_NO_REMAP, 1 } };
    struct spec_gpu_faults spec = { .rate = 500,
                                    .speed_up = 20000,
                                    .mix = mix,
                                    .mix_count = 1,
                                    .no_boot = 50,
                                    .repairs = { HOUR_MS, 2 * HOUR_MS },
                                    .waits = true };
    begin_random(&w, &spec, 1);
    little_do(&w, SPEC_FAULTS_BEGIN, NULL);
    little_pass(&w, HOUR_MS);
    little_do(&w, SPEC_FAULTS_END, NULL);
    assert_true(faulty_nodes(&w) > 0);
    little_pass(&w, 3 * HOUR_MS);
    assert_int_equal(faulty_nodes(&w), 0);
    for (size_t i = 0; i < NODES; i++)
        assert_true(machine(&w, w.names[i]).up);
    little_end(&w);
}

static void what_cannot_be_done(void **state)
{
    (void) state;
    struct little w;
    begin(&w);
    assert_false(try_action(&w, SPEC_GPU_FAULT, &(struct spec_gpu_fault){ .gpu = 8, .xid = 79 }));
    assert_false(try_action(&w, SPEC_FAULTS_BEGIN, NULL));
    assert_false(try_action(&w, SPEC_FAULTS_END, NULL));
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "what NVML and the kernel log say", reports_what_nvml_and_the_log_say, NULL);
    suite_add(&s, "no more than was asked for", reports_no_more_than_it_was_asked_for, NULL);
    suite_add(&s, "older drivers report no recovery action", older_drivers_report_no_recovery,
              NULL);
    suite_add(&s, "counts by GPU and number", counts_by_gpu_and_number, NULL);
    suite_add(&s, "a full list loses what is worth least", a_full_list_loses_what_is_worth_least,
              NULL);
    suite_add(&s, "the worst of several faults", worst_of_several, NULL);
    suite_add(&s, "a GPU that is lost", a_gpu_that_is_lost, NULL);
    suite_add(&s, "NVML that hangs", nvml_that_hangs, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cure_rows); i++)
        suite_add(&s, cure_rows[i].name, check_cure, &cure_rows[i]);
    suite_add(&s, "a reset is of one GPU", a_reset_is_of_one_gpu, NULL);
    suite_add(&s, "a sticky fault is logged after a boot", a_sticky_fault_is_logged_after_a_boot,
              NULL);
    suite_add(&s, "a fault comes and goes", comes_and_goes, NULL);
    suite_add(&s, "a boot that never returns", a_boot_that_never_returns, NULL);
    suite_add(&s, "the device plugin withholds a GPU until it restarts",
              the_plugin_withholds_a_gpu_until_it_restarts, NULL);
    suite_add(&s, "as many as the rate says", as_many_as_the_rate_says, NULL);
    suite_add(&s, "the same seed gives the same faults", the_same_seed_gives_the_same_faults, NULL);
    suite_add(&s, "none before they begin and after they end",
              none_before_they_begin_and_after_they_end, NULL);
    suite_add(&s, "a storm hits many nodes at once", a_storm_hits_many_nodes_at_once, NULL);
    suite_add(&s, "a driver with a bug", a_driver_with_a_bug, NULL);
    suite_add(&s, "a technician repairs", technician_repairs, NULL);
    suite_add(&s, "what cannot be done", what_cannot_be_done, NULL);
    return suite_run(&s, "gpu_faults");
}
