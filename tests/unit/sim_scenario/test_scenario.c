#include "sim/scenario/scenario.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"

#define SHAPES "shapes: [{name: a, gpus: 8}, {name: b}]\n"

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
    { "a key that is none", "node: []\n", "x.yaml:1: node: unknown; here may be name, about, seed," },
    { "a shape that is not there", SHAPES "nodes:\n- {name: node, shape: c}\n",
      "x.yaml:3: nodes[0].shape: must be the name of one of the shapes" },
    { "a row without what it must have", SHAPES "nodes:\n- {name: node}\n", "x.yaml:3: nodes[0].shape: is missing" },
    { "a list that is none", "nodes: 3\n", "x.yaml:1: nodes: must be a list" },
    { "a row that is none", "images:\n- a\n", "x.yaml:2: images[0]: must be an object" },
    { "a number that is text", "shapes:\n- name: a\n  gpus: many\n",
      "x.yaml:3: shapes[0].gpus: must be a whole number from 0 on" },
    { "a number below zero", "shapes:\n- {name: a, gpus: -1}\n", "x.yaml:2: shapes[0].gpus: must be a whole number from 0 on" },
    { "a duration without a unit", "latencies: {pull: '5'}\n",
      "x.yaml:1: latencies.pull: must be a duration (\"90s\") or a span" },
    { "a span that ends before it begins", "latencies: {pull: 5s..1s}\n", "x.yaml:1: latencies.pull: must be a duration" },
    { "a word that is not among the choices", "drivers:\n- {outcome: Breaks}\n",
      "x.yaml:2: drivers[0].outcome: must be one of Works, FailsBuild, Hangs, NeedsReboot" },
    { "a truth that is text", "labeller: maybe\n", "x.yaml:1: labeller: must be true or false" },
    { "an empty name", "shapes:\n- {name: ''}\n", "x.yaml:2: shapes[0].name: must be text that is not empty" },
    { "more nodes than can be", SHAPES "nodes:\n- {name: node, shape: a, count: 30000}\n",
      "x.yaml:3: nodes[0].count: more than 20000" },
    { "a mistake in a change", "changes:\n- at: 1s\n  images:\n  - {pull: 1s}\n",
      "x.yaml:4: changes[0].images[0].image: is missing" },
    { "two documents", "seed: 1\n---\nseed: 2\n", "x.yaml:1: a scenario is one YAML document, not 2" },
    { "no YAML", "a: [", "x.yaml" },
};

static void check_bad(void **state)
{
    const struct bad_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(row->text, &e);
    assert_null(s);
    assert_int_equal(strncmp(err_msg(&e), row->message, strlen(row->message)), 0);
}

static void a_count_makes_that_many_nodes_with_numbers(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse(SHAPES "nodes:\n- {name: node, shape: a, count: 3, labels: {x: z}}\n- {name: other, shape: b}\n",
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
    struct scenario *s = parse("actions: [{at: 1m30s, do: Label, node: node, with: {a: null}}]\n", &e);
    assert_non_null(s);
    const struct spec_action *a = &s->world.actions[0];
    assert_int_equal(a->at_ms, 90000);
    assert_int_equal(a->deed, SPEC_LABEL);
    assert_string_equal(a->kind, "nodes");
    assert_string_equal(a->name, "node");
    assert_true(json_is_null(json_object_get(a->body, "a")));
    scenario_free(s);
}

static void a_change_leaves_alone_what_it_does_not_name(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = parse("changes: [{at: 1s, images: []}]\n", &e);
    assert_non_null(s);
    assert_true(s->changes[0].has_images);
    assert_false(s->changes[0].has_drivers);
    scenario_free(s);
}

static void the_example_of_the_readme_is_whole(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    struct scenario *s = scenario_read("sim/scenarios/fleet.yaml", &e);
    assert_string_equal(err_msg(&e), "");
    assert_non_null(s);
    assert_true(s->world.node_count > 24);
    scenario_free(s);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_bad, bad);
    suite_add(&s, "a count makes that many nodes, with numbers", a_count_makes_that_many_nodes_with_numbers, NULL);
    suite_add(&s, "an action may name a node for short", an_action_may_name_a_node_for_short, NULL);
    suite_add(&s, "a change leaves alone what it does not name", a_change_leaves_alone_what_it_does_not_name, NULL);
    suite_add(&s, "the scenario of `make run` is whole", the_example_of_the_readme_is_whole, NULL);
    return suite_run(&s, "scenario");
}
