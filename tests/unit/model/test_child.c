#include "reconcilers/model/child.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/operand.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static struct child *project(enum resource_id resource, const char *text)
{
    json_t *object = tree(text);
    struct child *c = child_project(resource, object);
    json_decref(object);
    return c;
}

static void check_daemonset(void **state)
{
    (void) state;
    struct child *c = project(
        RESOURCE_DAEMONSET,
        "{'metadata': {'name': 'exporter', 'namespace': 'ns', 'uid': 'u', 'generation': 3, "
        "'deletionTimestamp': 'x', "
        "'labels': {'ostler.dev/policy-uid': 'p', 'ostler.dev/revision': 'h'}, 'annotations': "
        "{'ostler.dev/intent': 'i', 'ostler.dev/inputs': '{\\u0022a\\u0022:1}'}}, 'status': "
        "{'observedGeneration': 3, 'desiredNumberScheduled': 5, 'updatedNumberScheduled': 4}}");
    assert_string_equal(c->head.key, "ns/exporter");
    assert_string_equal(child_name(c), "exporter");
    assert_string_equal(RECORD_UID(&c->head), "u");
    assert_string_equal(c->intent, "i");
    assert_string_equal(c->policy_uid, "p");
    assert_string_equal(c->revision, "h");
    assert_int_equal(c->generation, 3);
    assert_int_equal(c->desired, 5);
    assert_int_equal(c->updated, 4);
    assert_true(c->counted);
    assert_true(c->deleting && child_is_ours(c));
    assert_tree(c->inputs, "{'a': 1}");
    assert_null(c->annotations);
    child_free(c);
}

static void check_record(void **state)
{
    (void) state;
    struct child *c = project(
        RESOURCE_REVISION,
        "{'metadata': {'name': 'driver-h', 'namespace': 'ns', 'annotations': {'a': 'b'}}, "
        "'data': {'tier': 'driver'}}");
    assert_tree(c->inputs, "{'tier': 'driver'}");
    assert_tree(c->annotations, "{'a': 'b'}");
    assert_false(child_is_ours(c));
    child_free(c);
}

static void check_cluster_scoped(void **state)
{
    (void) state;
    struct child *c = project(RESOURCE_RUNTIMECLASS,
                              "{'metadata': {'name': 'nvidia'}, 'handler': 'nvidia'}");
    assert_string_equal(c->head.key, "nvidia");
    assert_string_equal(child_name(c), "nvidia");
    assert_null(c->inputs);
    child_free(c);
}

static void check_garbage(void **state)
{
    (void) state;
    struct child *c = project(
        RESOURCE_DAEMONSET,
        "{'metadata': {'annotations': {'ostler.dev/inputs': '[not JSON'}}, 'status': []}");
    assert_string_equal(c->head.key, "");
    assert_null(c->inputs);
    child_free(c);
}

#define SET(metadata, status)                                                                      \
    "{'metadata': {'name': 'd', 'namespace': 'ns', 'generation': 1" metadata                       \
    "}, 'status': {" status "}}"
#define AGENTS(made, ready)                                                                        \
    "{'metadata': {'name': 'node-agent', 'namespace': 'ns', 'generation': 1, 'labels': {"          \
    "'app.kubernetes.io/component': 'node-agent'}" made                                            \
    "}, 'status': {'observedGeneration': 1, 'desiredNumberScheduled': 2, "                         \
    "'numberReady': " #ready "}}"
#define RECORD(annotations)                                                                        \
    "{'metadata': {'name': 'r', 'namespace': 'ns', 'annotations': {" annotations "}}, 'data': {}}"
static const struct same_row {
    const char *name;
    enum resource_id resource;
    const char *before, *after;
    bool same;
} same_rows[] = {
    { "same: a DaemonSet", RESOURCE_DAEMONSET, SET("", ""), SET("", ""), true },
    { "same: a label of others", RESOURCE_DAEMONSET, SET("", ""),
      SET(", 'labels': {'theirs': 'x'}", ""), true },
    { "same: what is not counted", RESOURCE_DAEMONSET, SET("", ""), SET("", "'numberReady': 3"),
      true },
    { "differs: generation", RESOURCE_DAEMONSET, SET("", ""),
      "{'metadata': {'name': 'd', 'namespace': 'ns', 'generation': 2}}", false },
    { "differs: intent", RESOURCE_DAEMONSET, SET("", ""),
      SET(", 'annotations': {'ostler.dev/intent': 'x'}", ""), false },
    { "differs: whose it is", RESOURCE_DAEMONSET, SET("", ""),
      SET(", 'labels': {'ostler.dev/policy-uid': 'x'}", ""), false },
    { "differs: revision", RESOURCE_DAEMONSET, SET("", ""),
      SET(", 'labels': {'ostler.dev/revision': 'x'}", ""), false },
    { "differs: deletion", RESOURCE_DAEMONSET, SET("", ""), SET(", 'deletionTimestamp': 'x'", ""),
      false },
    { "differs: foreign fields", RESOURCE_DAEMONSET, SET("", ""),
      SET(", 'managedFields': [{'manager': 'x', 'operation': 'Update', 'fieldsV1': {'f:spec': "
          "{}}}]",
          ""),
      false },
    { "differs: counts", RESOURCE_DAEMONSET, SET("", ""), SET("", "'desiredNumberScheduled': 1"),
      false },
    { "differs: counts of an older template", RESOURCE_DAEMONSET, SET("", ""),
      SET("", "'observedGeneration': 1"), false },
    { "same: no counts, and those of an older template", RESOURCE_DAEMONSET,
      "{'metadata': {'name': 'd', 'namespace': 'ns', 'generation': 2}}",
      "{'metadata': {'name': 'd', 'namespace': 'ns', 'generation': 2}, 'status': "
      "{'observedGeneration': 1}}",
      true },
    { "differs: when agents were sent out", RESOURCE_DAEMONSET, AGENTS("", 2),
      AGENTS(", 'creationTimestamp': '2026-11-20T10:00:00Z'", 2), false },
    { "differs: agents that are up", RESOURCE_DAEMONSET, AGENTS("", 2), AGENTS("", 1), false },
    { "same: a record", RESOURCE_REVISION, RECORD("'a': 'b'"), RECORD("'a': 'b'"), true },
    { "differs: a record's annotations", RESOURCE_REVISION, RECORD("'a': 'b'"), RECORD("'a': 'c'"),
      false },
};

static void check_same(void **state)
{
    const struct same_row *row = *state;
    struct child *a = project(row->resource, row->before), *b = project(row->resource, row->after);
    assert_int_equal(child_same(a, b), row->same);
    assert_int_equal(child_same(b, a), row->same);
    child_free(a);
    child_free(b);
}

/* A kind without generation shows a change by its version alone. */
static void check_version(void **state)
{
    (void) state;
    struct child *a = project(RESOURCE_CONFIGMAP,
                              "{'metadata': {'name': 'c', 'namespace': 'ns'}, 'data': {'k': 'a'}}");
    struct child *b = project(RESOURCE_CONFIGMAP,
                              "{'metadata': {'name': 'c', 'namespace': 'ns'}, 'data': {'k': 'b'}}");
    b->head.rv = a->head.rv + 1;
    assert_false(child_same(a, b));
    assert_tree(b->inputs, "{'k': 'b'}");
    child_free(a);
    child_free(b);
}

static void check_components(void **state)
{
    (void) state;
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        assert_ptr_equal(operand_get(o->id), o);
        if (o->name)
            assert_int_equal(operand_parse(operand_name(o->id)), o->id);
    }
    assert_int_equal(operand_parse("other"), OPERAND_NONE);
    assert_int_equal(operand_parse(NULL), OPERAND_NONE);
    assert_string_equal(operand_name(OPERAND_NONE), "");
    assert_string_equal(operand_tier_name(operand_get(OPERAND_DRIVER)), "driver");
    assert_string_equal(operand_tier_name(operand_get(OPERAND_TOOLKIT)), "stack");
    assert_string_equal(operand_tier_name(operand_get(OPERAND_DEVICE_PLUGIN)), "stack");
    assert_null(operand_tier_name(operand_get(OPERAND_EXPORTER)));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a DaemonSet", check_daemonset, NULL);
    suite_add(&s, "a record", check_record, NULL);
    suite_add(&s, "a cluster-scoped object", check_cluster_scoped, NULL);
    suite_add(&s, "garbage", check_garbage, NULL);
    SUITE_ROWS(&s, check_same, same_rows);
    suite_add(&s, "differs: a ConfigMap by its version", check_version, NULL);
    suite_add(&s, "components and their tiers", check_components, NULL);
    return suite_run(&s, "child");
}
