#include "sim/scenario/host.h"
#include "sim/scenario/scenario.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

#define SHAPES "shapes: [{name: a, gpus: 8}, {name: b}]\n"
/* Two nodes, m-1 and m-2, and one action in line 3. */
#define ACTION(row)                                                                                \
    SHAPES "nodes: [{name: m, shape: a, count: 2}]\n"                                              \
           "actions: [{at: 1s, " row "}]\n"

static struct scenario *parse(const char *text, struct err *e)
{
    return scenario_parse("x.yaml", text, strlen(text), e);
}

/* What is wrong in a file, and what is said about it. */
static const struct bad_row {
    const char *name;
    const char *text;
    const char *message;
} bad[] = {
    { "a key that is none", "node: []\n",
      "x.yaml:1: node: unknown; allowed here: name, about, seed," },
    { "a shape that is not there", SHAPES "nodes:\n- {name: node, shape: c}\n",
      "x.yaml:3: nodes[0].shape: must be the name of one of the shapes" },
    { "a row without what it must have", SHAPES "nodes:\n- {name: node}\n",
      "x.yaml:3: nodes[0].shape: is missing" },
    { "a list that is none", "nodes: 3\n", "x.yaml:1: nodes: must be a list" },
    { "a row that is none", "images:\n- a\n", "x.yaml:2: images[0]: must be an object" },
    { "a number that is text", "shapes:\n- name: a\n  gpus: many\n",
      "x.yaml:3: shapes[0].gpus: must be an integer of at least 0" },
    { "a number below zero", "shapes:\n- {name: a, gpus: -1}\n",
      "x.yaml:2: shapes[0].gpus: must be an integer of at least 0" },
    { "a duration without a unit", "latencies: {pull: '5'}\n",
      "x.yaml:1: latencies.pull: must be a duration (\"90s\") or a span" },
    { "a span that ends before it begins", "latencies: {pull: 5s..1s}\n",
      "x.yaml:1: latencies.pull: must be a duration" },
    { "a word that is not among the choices", "drivers:\n- {outcome: Breaks}\n",
      "x.yaml:2: drivers[0].outcome: must be one of Works, FailsBuild, Hangs, " },
    { "a beginning that is no time", "begins: tomorrow\n",
      "x.yaml:1: begins: must be a time, as \"2026-11-20T10:00:00Z\", in quotes" },
    { "a truth that is text", "labeller: maybe\n", "x.yaml:1: labeller: must be true or false" },
    { "an empty name", "shapes:\n- {name: ''}\n",
      "x.yaml:2: shapes[0].name: must be text that is not empty" },
    { "more nodes than can be", SHAPES "nodes:\n- {name: node, shape: a, count: 30000}\n",
      "x.yaml:3: nodes[0].count: more than 20000" },
    { "a mistake in a change", "changes:\n- at: 1s\n  images:\n  - {pull: 1s}\n",
      "x.yaml:4: changes[0].images[0].image: is missing" },
    { "two documents", "seed: 1\n---\nseed: 2\n",
      "x.yaml:1: a scenario must be one YAML document, not 2" },
    { "no YAML", "a: [", "x.yaml" },
    { "an action on a node without one", ACTION("do: Cordon"),
      "x.yaml:3: actions[0].node: is missing; Cordon needs the name of a node" },
    { "an action on a node that is never there", ACTION("do: NodeDown, name: m-3"),
      "x.yaml:3: actions[0].name: neither `nodes` nor a NodeAdd gives a node m-3" },
    { "a label for a node that is never there", ACTION("do: Label, node: m-3, with: {a: b}"),
      "x.yaml:3: actions[0].node: neither `nodes` nor a NodeAdd gives a node m-3" },
    { "a machine without a shape", ACTION("do: NodeAdd, name: late"),
      "x.yaml:3: actions[0].shape: is missing; NodeAdd needs the name of one of the shapes" },
    { "a machine of a shape that is not there", ACTION("do: NodeAdd, name: late, shape: c"),
      "x.yaml:3: actions[0].shape: must be the name of one of the shapes" },
    { "a label that is not said", ACTION("do: Label, node: m-1"),
      "x.yaml:3: actions[0].with: is missing; Label needs the keys and their values" },
    { "a label that is no text", ACTION("do: Label, node: m-1, with: {k: false}"),
      "x.yaml:3: actions[0].with: the value of k must be text (in quotes, as \"false\") or null" },
    { "a creation of nothing", ACTION("do: Create, kind: pods"),
      "x.yaml:3: actions[0].with: is missing; Create needs the object" },
    { "an edit without a patch", ACTION("do: Edit, kind: pods, name: p"),
      "x.yaml:3: actions[0].with: is missing; Edit needs the merge patch" },
    { "an edit of no object", ACTION("do: Edit, with: {}"),
      "x.yaml:3: actions[0].kind: is missing; Edit needs a kind and a name, or a node" },
    { "a status without a patch", ACTION("do: EditStatus, kind: gpunodes, name: m-1"),
      "x.yaml:3: actions[0].with: is missing; EditStatus needs the merge patch" },
    { "an agent that is not told what to say", ACTION("do: AgentSays, node: m-1"),
      "x.yaml:3: actions[0].with: is missing; AgentSays needs the merge patch" },
    { "an agent of no node", ACTION("do: AgentSilent"),
      "x.yaml:3: actions[0].node: is missing; AgentSilent needs the name of a node" },
    { "GPUs of a node that is never there", ACTION("do: GpusOut, node: m-3"),
      "x.yaml:3: actions[0].node: neither `nodes` nor a NodeAdd gives a node m-3" },
    { "a fault that is not said", ACTION("do: GpuFault, node: m-1"),
      "x.yaml:3: actions[0].with: is missing; GpuFault needs the fault" },
    { "a fault of a kind that is none", ACTION("do: GpuFault, node: m-1, with: {kind: Dust}"),
      "x.yaml:3: actions[0].with.kind: must be one of Plain, Program, PageFault, " },
    { "a fault with a key that is none", ACTION("do: GpuFault, node: m-1, with: {card: 1}"),
      "x.yaml:3: actions[0].with.card: unknown; allowed here: gpu, kind, xid, " },
    { "a reset of a GPU without its number", ACTION("do: GpuReset, node: m-1, with: {}"),
      "x.yaml:3: actions[0].with.gpu: is missing" },
    { "a new GPU with a fault", ACTION("do: GpuReplace, node: m-1, with: {gpu: 0, xid: 79}"),
      "x.yaml:3: actions[0].with.xid: unknown; allowed here: gpu" },
    { "more than all faults", "gpuFaults: {rate: 1, sticky: 101}\n",
      "x.yaml:1: gpuFaults.sticky: must be a percentage" },
    { "a mix of nothing", "gpuFaults: {rate: 1, mix: [{kind: Gsp, weight: 0}]}\n",
      "x.yaml:1: gpuFaults.mix: one weight must be more than 0" },
    { "more faults than can be", "gpuFaults: {rate: 2000000}\n",
      "x.yaml:1: gpuFaults.rate: must be at most 1000000" },
    { "faults that are sped up too much", "gpuFaults: {rate: 1, speedUp: 200000}\n",
      "x.yaml:1: gpuFaults.speedUp: must be at most 100000" },
    { "a taint that is not said", ACTION("do: Taint, node: m-1"),
      "x.yaml:3: actions[0].with: is missing; Taint needs the taint" },
    { "a taint with an effect that is none",
      ACTION("do: Taint, node: m-1, with: {key: k, effect: NoRun}"),
      "x.yaml:3: actions[0].with.effect: must be one of NoSchedule, PreferNoSchedule, NoExecute" },
    { "a shape's taint with an effect that is none",
      "shapes:\n- {name: a, taints: [{key: k, effect: x}]}\n",
      "x.yaml:2: shapes[0].taints[0].effect: must be one of NoSchedule" },
    { "a kind in the singular", ACTION("do: Delete, kind: DaemonSet, name: d"),
      "x.yaml:3: actions[0].kind: \"DaemonSet\" is not a plural kind; did you mean "
      "daemonsets?" },
    { "a short name of a kind", ACTION("do: Delete, kind: po, name: p"),
      "x.yaml:3: actions[0].kind: \"po\" is not a plural kind; did you mean pods?" },
    { "a kind that is none", ACTION("do: Delete, kind: boats, name: b"),
      "x.yaml:3: actions[0].kind: \"boats\" is not a plural kind; the kinds are namespaces, "
      "nodes," },
    { "a node twice", SHAPES "nodes:\n- {name: m, shape: a, count: 2}\n- {name: m-2, shape: a}\n",
      "x.yaml:4: nodes[1].name: the node m-2 already exists" },
    { "a node's name that is none", SHAPES "nodes:\n- {name: Big_Node, shape: a}\n",
      "x.yaml:3: nodes[0].name: \"Big_Node\" is not a name: use lowercase letters" },
    { "an added node's name that is none", ACTION("do: NodeAdd, name: Late, shape: a"),
      "x.yaml:3: actions[0].name: \"Late\" is not a name" },
    { "an object without an apiVersion", "objects:\n- {kind: Pod, metadata: {name: p}}\n",
      "x.yaml:2: objects[0].apiVersion: is missing" },
    { "an object without a kind", "objects:\n- {apiVersion: v1, metadata: {name: p}}\n",
      "x.yaml:2: objects[0].kind: is missing" },
    { "an object without a name", "objects:\n- {apiVersion: v1, kind: Pod}\n",
      "x.yaml:2: objects[0].metadata.name: is missing" },
    { "an object of a kind that is not there",
      "objects:\n- {apiVersion: v1, kind: Boat, metadata: {name: b}}\n",
      "x.yaml:2: objects[0].kind: the simulator has no Boat in v1" },
    { "a created object of a kind that is not there",
      ACTION("do: Create, with: {apiVersion: v2, kind: Pod, metadata: {name: p}}"),
      "x.yaml:3: actions[0].with.kind: the simulator has no Pod in v2" },
};

static void check_bad(void **state)
{
    const struct bad_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(row->text, &e);
    assert_null(s);
    CLEANUP_FREE char *begin = xstrndup(err_msg(&e), strlen(row->message));
    assert_string_equal(begin, row->message);
}

static void a_count_makes_that_many_nodes_with_numbers(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(
        SHAPES
        "nodes:\n- {name: node, shape: a, count: 3, labels: {x: z}}\n- {name: other, shape: b}\n",
        &e);
    assert_non_null(s);
    assert_int_equal(s->world.node_count, 4);
    assert_string_equal(s->world.nodes[2].name, "node-3");
    assert_int_equal(s->world.nodes[2].shape->gpus, 8);
    assert_string_equal(json_str(s->world.nodes[0].labels, "x"), "z");
    assert_string_equal(s->world.nodes[3].name, "other");
    scenario_free(s);
}

static void an_action_may_name_a_node_for_short(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(
        SHAPES
        "nodes: [{name: node, shape: a}]\nactions: [{at: 1m30s, do: Label, node: node, with: {a: "
        "null}}]\n",
        &e);
    assert_non_null(s);
    const struct spec_action *a = &s->world.actions[0];
    assert_int_equal(a->at_ms, 90000);
    assert_int_equal(a->verb, SPEC_LABEL);
    assert_string_equal(a->kind, "nodes");
    assert_string_equal(a->name, "node");
    assert_true(json_is_null(json_object_get(a->body, "a")));
    scenario_free(s);
}

/* Nodes that only come later may be named: of a NodeAdd, of a Node object, of the autoscaler. */
static void an_action_may_name_a_node_that_comes_later(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(SHAPES
                               "autoscaler: {shape: b, prefix: auto-, max: 2}\n"
                               "objects: [{apiVersion: v1, kind: Node, metadata: {name: hand}}]\n"
                               "actions:\n"
                               "- {at: 1s, do: NodeAdd, name: late, shape: a}\n"
                               "- {at: 2s, do: Cordon, node: late}\n"
                               "- {at: 2s, do: Cordon, node: hand}\n"
                               "- {at: 2s, do: Cordon, node: auto-1}\n"
                               "- {at: 2s, do: Untaint, node: late, with: {key: k}}\n",
                               &e);
    assert_string_equal(err_msg(&e), "");
    assert_non_null(s);
    scenario_free(s);
}

static void a_change_leaves_alone_what_it_does_not_name(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse("changes: [{at: 1s, images: []}]\n", &e);
    assert_non_null(s);
    assert_non_null(s->changes[0].images);
    assert_int_equal(s->changes[0].image_count, 0);
    assert_null(s->changes[0].drivers);
    scenario_free(s);
}

/* What the file has not is in its base; and when it begins it says itself. */
static void a_base_gives_what_is_left_out(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = scenario_read("tests/rollouts/window-dst-autumn.yaml", &e);
    assert_string_equal(err_msg(&e), "");
    assert_non_null(s);
    assert_true(s->world.labeller);
    assert_string_equal(s->world.nodes[0].shape->name, "h100");
    assert_int_equal(s->begins_us, INT64_C(1792882800000000));
    assert_true(json_array_size(s->expect) > 0);
    scenario_free(s);
}

/* Whether nodes are labelled is its own, what happens is of its base, and who is there of the base
 * of that. */
static void a_base_may_have_a_base(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = scenario_read("tests/sweep/steps/agents-life.yaml", &e);
    assert_string_equal(err_msg(&e), "");
    assert_non_null(s);
    assert_true(s->agents);
    assert_false(s->world.labeller);
    assert_true(s->world.action_count > 0);
    assert_int_equal(s->world.node_count, 3);
    scenario_free(s);
}

/* A machine that is described by what an agent has found on one: what the shape does not say comes
 * from there. */
static void a_machine_may_be_one_that_an_agent_has_seen(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = scenario_read("tests/platforms/k3s.yaml", &e);
    assert_string_equal(err_msg(&e), "");
    const struct spec_shape *shape = s->world.nodes[0].shape;
    assert_string_equal(shape->os_image, "Ubuntu 24.04.1 LTS");
    assert_string_equal(shape->kernel, "6.8.0-49-generic");
    assert_int_equal(shape->gpus, 1);
    assert_null(shape->host_driver);
    assert_string_equal(
        json_str(json_array_get(json_object_get(shape->host, "runtimes"), 0), "distribution"),
        "k3s");
    scenario_free(s);
}

static void a_machine_that_no_agent_has_seen_is_an_error(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *root = json_pack("{s:[{s:s, s:s}]}", "shapes", "name", "x", "host",
                                          "nowhere.yaml");
    assert_int_equal(hosts_read("tests/platforms/x.yaml", root, &e), -1);
    assert_non_null(strstr(err_msg(&e), "tests/platforms/x.yaml: shapes: host: "));
    assert_non_null(strstr(err_msg(&e), "nowhere.yaml"));
}

static const json_t *policy_of(const struct scenario *s)
{
    const json_t *policy = json_find(s->world.objects, "kind", "GpuClusterPolicy");
    for (size_t i = 0; !policy && i < s->world.action_count; i++)
        if (str_eq(s->world.actions[i].kind, "gpuclusterpolicies"))
            policy = s->world.actions[i].body;
    return policy;
}

/* A scenario that the README names, and how many nodes it has at least. Whoever tries another
 * version in it does not wait for a quarter of an hour until it goes on behind the canary. */
static void check_example(const char *file, size_t nodes)
{
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = scenario_read(file, &e);
    assert_string_equal(err_msg(&e), "");
    assert_non_null(s);
    assert_true(s->world.node_count >= nodes);
    assert_int_equal(s->begins_us, 0);
    int64_t soak_ms = -1;
    assert_true(
        str_parse_duration(json_str_or_empty(policy_of(s), "spec.rollout.canary.soak"), &soak_ms));
    assert_in_range(soak_ms, 1, 30000);
    scenario_free(s);
}

static void the_examples_of_the_readme_are_whole(void **state)
{
    (void) state;
    check_example("sim/scenarios/demo.yaml", 104);
    check_example("sim/scenarios/fleet.yaml", 25);
    check_example("sim/scenarios/rollout.yaml", 6);
    check_example("sim/scenarios/dashboard.yaml", 6);
}

static void actions_that_repeat(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(SHAPES
                               "nodes: [{name: m, shape: a}]\n"
                               "actions:\n"
                               "- {at: 1s, every: 5m, about: it reboots, do: Reboot, node: m}\n"
                               "- {at: 2s, do: Reboot, node: m}\n",
                               &e);
    if (!s)
        fail_msg("%s", err_msg(&e));
    assert_int_equal(s->world.actions[0].every_ms, 5 * 60 * 1000);
    assert_string_equal(s->world.actions[0].about, "it reboots");
    assert_int_equal(s->world.actions[1].every_ms, 0);
    assert_null(s->world.actions[1].about);
    scenario_free(s);
}

static void faults_of_gpus(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(
        SHAPES
        "nodes: [{name: m, shape: a, count: 2}]\n"
        "gpuFaults: {rate: 470, speedUp: 100, mix: [{kind: Gsp, weight: 3}], repairs: 1h..2h,"
        " storms: [{after: 1m, within: 2m, node: 'm-*', nodes: 2, kind: NvLink}],"
        " driverBugs: [{version: '590*', kind: Hang, every: 5m}], noBoot: 7}\n"
        "actions:\n"
        "- {at: 1s, do: GpuFault, node: m-1, with: {gpu: 3, xid: 94, times: 2,"
        " recovery: DrainAndReset, cure: Replacement, lasts: 1m, again: 2m}}\n"
        "- {at: 2s, do: GpuReset, node: m-2, with: {gpu: 5}}\n"
        "- {at: 3s, do: FaultsBegin}\n",
        &e);
    if (!s)
        fail_msg("%s", err_msg(&e));
    const struct spec_gpu_faults *f = &s->world.gpu_faults;
    assert_true(spec_has_faults(&s->world));
    assert_int_equal(f->rate, 470);
    assert_int_equal(f->mix[0].kind, SPEC_FAULT_GSP);
    assert_int_equal(f->storms[0].within_ms, 2 * 60 * 1000);
    assert_int_equal(f->bugs[0].kind, SPEC_FAULT_HANG);
    assert_int_equal(f->repairs.high_ms, 2 * 3600 * 1000);
    assert_int_equal(f->no_boot, 7);
    const struct spec_gpu_fault *by_hand = &s->world.actions[0].fault;
    assert_int_equal(by_hand->gpu, 3);
    assert_int_equal(by_hand->xid, 94);
    assert_int_equal(by_hand->recovery, SPEC_RECOVERY_DRAIN_AND_RESET);
    assert_int_equal(by_hand->cure, SPEC_CURE_REPLACEMENT);
    assert_int_equal(by_hand->again_ms, 2 * 60 * 1000);
    assert_int_equal(s->world.actions[1].fault.gpu, 5);
    scenario_free(s);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_bad, bad);
    suite_add(&s, "a count makes that many nodes, with numbers",
              a_count_makes_that_many_nodes_with_numbers, NULL);
    suite_add(&s, "an action may name a node for short", an_action_may_name_a_node_for_short, NULL);
    suite_add(&s, "an action may name a node that comes later",
              an_action_may_name_a_node_that_comes_later, NULL);
    suite_add(&s, "a change leaves alone what it does not name",
              a_change_leaves_alone_what_it_does_not_name, NULL);
    suite_add(&s, "a base gives what a file leaves out", a_base_gives_what_is_left_out, NULL);
    suite_add(&s, "a base may have a base", a_base_may_have_a_base, NULL);
    suite_add(&s, "a machine may be one that an agent has seen",
              a_machine_may_be_one_that_an_agent_has_seen, NULL);
    suite_add(&s, "a machine that no agent has seen is an error",
              a_machine_that_no_agent_has_seen_is_an_error, NULL);
    suite_add(&s, "the scenarios of `make run` are whole", the_examples_of_the_readme_are_whole,
              NULL);
    suite_add(&s, "actions repeat, and say what they are", actions_that_repeat, NULL);
    suite_add(&s, "faults of GPUs", faults_of_gpus, NULL);
    return suite_run(&s, "scenario");
}
