/* Ostler's agent on a machine: what it says of it, when, and what it may be made to say. */
#include "sim/api/builtin.h"
#include "tests/unit/sim_actors/operands.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * 1000, HALF_AN_HOUR_MS = 30 * MINUTE_MS };

#define NODE "gpu-1"

static void begin(struct little *w, int gpus)
{
    CLEANUP_ERR struct err e = { 0 };
    little_init(w, 1);
    w->shape.gpus = gpus;
    if (builtin_install(w->api, "test", "ostler-system", "ostler-operands", &e) < 0)
        fail_msg("%s", err_msg(&e));
    little_begin(w);
    operands_create(w, "node-agent", "daemonset", "1", "d1");
    little_pass(w, MINUTE_MS);
}

static const json_t *said(const struct little *w)
{
    return json_at(little_get(w, "gpunodes", "", NODE), "status.inventory");
}

static size_t gpus_said(const struct little *w)
{
    return json_array_size(json_object_get(said(w), "gpus"));
}

static void tell(struct little *w, const json_t *patch)
{
    assert_true(actors_do(
        w->actors, &(struct spec_action){ .verb = SPEC_AGENT_SAYS, .name = NODE, .body = patch },
        NULL));
}

static void says_what_it_sees(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 8);
    assert_int_equal(gpus_said(&w), 8);
    assert_string_equal(json_str(said(&w), "bootId"),
                        json_str(little_get(&w, "nodes", "", NODE), "status.nodeInfo.bootID"));
    size_t commits = w.commits;
    little_pass(&w, 3 * HALF_AN_HOUR_MS);
    assert_int_equal(w.commits, commits);
    little_end(&w);
}

static void a_machine_without_gpus_gets_no_word(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 0);
    assert_null(little_get(&w, "gpunodes", "", NODE));
    little_end(&w);
}

static void counts_looks_that_find_none(void **state)
{
    (void) state;
    struct little w;
    begin(&w, 8);
    little_do(&w, SPEC_GPUS_OUT, NODE);
    for (int looks = 1; looks <= 3; looks++) {
        little_pass(&w, looks == 1 ? 3 * SECOND_MS : 20 * SECOND_MS);
        assert_int_equal(json_int(said(&w), "absentLooks", 0), looks);
    }
    little_do(&w, SPEC_GPUS_IN, NODE);
    little_pass(&w, 3 * SECOND_MS);
    assert_null(json_object_get(said(&w), "absentLooks"));
    assert_int_equal(gpus_said(&w), 8);
    /* It begins anew with each start of the machine. */
    little_do(&w, SPEC_GPUS_OUT, NODE);
    little_pass(&w, 30 * SECOND_MS);
    assert_int_equal(json_int(said(&w), "absentLooks", 0), 2);
    little_do(&w, SPEC_REBOOT, NODE);
    for (int i = 0; i < 300 && json_int(said(&w), "absentLooks", 0) == 2; i++)
        little_pass(&w, SECOND_MS);
    assert_int_equal(json_int(said(&w), "absentLooks", 0), 1);
    little_end(&w);
}

static void silent_agents_say_nothing(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_JSON json_t *truth = json_object();
    begin(&w, 8);
    little_do(&w, SPEC_AGENT_SILENT, NODE);
    little_do(&w, SPEC_GPUS_OUT, NODE);
    little_pass(&w, 2 * HALF_AN_HOUR_MS);
    assert_int_equal(gpus_said(&w), 8);
    tell(&w, truth);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(json_int(said(&w), "absentLooks", 0), 3);
    little_end(&w);
}

static void lies_are_told_of(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_JSON json_t *lie = tree(
        "{'gpus': [], 'hostDriver': {'installed': true}, 'kernel': null, 'odd': 1}");
    CLEANUP_JSON json_t *truth = json_object();
    struct actors_machine m;
    begin(&w, 8);
    assert_true(actors_machine(w.actors, NODE, &m));
    assert_int_equal(m.seen, 8);
    assert_false(m.lies);
    tell(&w, lie);
    little_pass(&w, MINUTE_MS);
    assert_true(actors_machine(w.actors, NODE, &m));
    assert_int_equal(m.seen, 0);
    assert_int_equal(m.built_in, 8);
    assert_true(m.lies);
    assert_int_equal(json_int(said(&w), "absentLooks", 0), 3);
    assert_true(json_bool(said(&w), "hostDriver.installed", false));
    assert_null(json_object_get(said(&w), "kernel"));
    assert_null(json_object_get(said(&w), "odd")); /* the schema has no such field */
    tell(&w, truth);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(gpus_said(&w), 8);
    little_end(&w);
}

static void what_no_schema_takes_is_refused(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_JSON json_t *garbage = tree("{'gpus': 'many', 'bootId': 7}");
    begin(&w, 8);
    CLEANUP_JSON json_t *before = json_deep_copy(said(&w));
    tell(&w, garbage);
    little_pass(&w, HALF_AN_HOUR_MS);
    assert_true(json_equal(said(&w), before));
    little_end(&w);
}

static void the_word_of_another_is_mended(void **state)
{
    (void) state;
    struct little w;
    CLEANUP_JSON json_t *forged = tree("{'status': {'inventory': {'gpus': [], 'absentLooks': 3}}}");
    const struct spec_action action = {
        .verb = SPEC_EDIT_STATUS, .kind = "gpunodes", .name = NODE, .body = forged
    };
    begin(&w, 8);
    assert_true(actors_do(w.actors, &action, NULL));
    little_pass(&w, MINUTE_MS);
    assert_int_equal(json_int(said(&w), "absentLooks", 0), 3);
    little_pass(&w, HALF_AN_HOUR_MS);
    assert_int_equal(gpus_said(&w), 8);
    assert_null(json_object_get(said(&w), "absentLooks"));
    /* A start of its own mends it at once. */
    assert_true(actors_do(w.actors, &action, NULL));
    little_do(&w, SPEC_AGENT_RESTART, NODE);
    little_pass(&w, MINUTE_MS);
    assert_int_equal(gpus_said(&w), 8);
    assert_int_equal(little_ready(&w, "node-agent"), 1);
    little_end(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "says what it sees, and nothing at rest", says_what_it_sees, NULL);
    suite_add(&s, "a machine without GPUs gets no GpuNode", a_machine_without_gpus_gets_no_word,
              NULL);
    suite_add(&s, "counts looks in a row that find none", counts_looks_that_find_none, NULL);
    suite_add(&s, "silence", silent_agents_say_nothing, NULL);
    suite_add(&s, "lies", lies_are_told_of, NULL);
    suite_add(&s, "what no schema takes is refused", what_no_schema_takes_is_refused, NULL);
    suite_add(&s, "the word of another is mended", the_word_of_another_is_mended, NULL);
    return suite_run(&s, "node_agent");
}
