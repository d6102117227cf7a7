#include "reconcilers/model/node.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NODE(metadata, spec, status)                                                               \
    "{'metadata': {'name': 'n', 'uid': 'u'" metadata "}, 'spec': {" spec "}, 'status': {" status   \
    "}}"
#define ALLOCATABLE(text) NODE("", "", "'allocatable': {" text "}")

/* ---- what is kept */

static void check_whole(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    json_t *object = tree(
        NODE(", 'labels': {'a': '1', 'b.c/d': ''}, 'annotations': {'ostler.dev/marks': 'm', "
             "'ostler.dev/host-driver': "
             "'true', 'ostler.dev/claim': 'c', "
             "'ostler.dev/gave-up': 'g'}, "
             "'deletionTimestamp': 'now'",
             "'unschedulable': true, 'taints': [{'key': 'k', 'effect': 'NoSchedule'}]",
             "'nodeInfo': {'osImage': 'os', 'kernelVersion': 'k', 'kubeletVersion': 'kl', "
             "'containerRuntimeVersion': 'r', "
             "'architecture': 'amd64'}, 'conditions': [{'type': 'MemoryPressure', 'status': "
             "'False'}, {'type': "
             "'Ready', 'status': 'True', 'lastTransitionTime': '2026-11-20T10:00:00Z'}]"));
    struct node *n = node_project(in, object);
    json_decref(object);
    struct node_view view = { n, in, NULL };
    struct node_facts facts = node_facts(&view);
    assert_string_equal(n->head.key, "n");
    assert_string_equal(RECORD_UID(&n->head), "u");
    assert_string_equal(intern_text(in, n->taints), "[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]");
    assert_string_equal(intern_text(in, n->marks), "m");
    assert_string_equal(intern_text(in, n->claim), "c");
    assert_string_equal(intern_text(in, n->gave_up), "g");
    assert_true(n->ready && n->deleting && n->host_driver && n->cordoned);
    assert_int_equal(n->up_since_s, 1795168800);
    assert_string_equal(node_label(&view, "a"), "1");
    assert_string_equal(node_label(&view, "b.c/d"), "");
    assert_null(node_label(&view, "b.c"));
    assert_null(node_label(&view, "absent"));
    assert_string_equal(facts.os_image, "os");
    assert_string_equal(facts.kernel_version, "k");
    assert_string_equal(facts.kubelet_version, "kl");
    assert_string_equal(facts.runtime_version, "r");
    assert_string_equal(facts.architecture, "amd64");
    assert_string_equal(facts.label(facts.labels, "a"), "1");
    node_free(in, n);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

/* ---- GPUs that can be allocated */

static const struct gpu_row {
    const char *name, *object;
    int32_t gpus;
    const char *slices;
    const char *device;
} gpu_rows[] = {
    { "gpus: none", ALLOCATABLE("'cpu': '8'"), 0, NULL, NULL },
    { "gpus: whole", ALLOCATABLE("'nvidia.com/gpu': '8'"), 8, NULL, "nvidia.com/gpu" },
    { "gpus: shared", ALLOCATABLE("'nvidia.com/gpu.shared': '40'"), 40, NULL,
      "nvidia.com/gpu.shared" },
    { "gpus: slices", ALLOCATABLE("'nvidia.com/mig-3g.20gb': '1', 'nvidia.com/mig-1g.5gb': '7'"), 8,
      "1g.5gb=7,3g.20gb=1", "nvidia.com/mig-1g.5gb" },
    { "gpus: slices, of a kind none",
      ALLOCATABLE("'nvidia.com/mig-3g.20gb': '0', 'nvidia.com/mig-1g.5gb': '7'"), 7, "1g.5gb=7",
      "nvidia.com/mig-1g.5gb" },
    { "gpus: slices whose names no resource has",
      ALLOCATABLE(
          "'nvidia.com/mig-a b!\xc3\xa9': '7', 'nvidia.com/mig-1,2g=3': '7', 'nvidia.com/mig-': "
          "'7', "
          "'nvidia.com/mig-x-': '7', 'nvidia.com/mig-a/b': '7', 'nvidia.com/mig-1g.5gb': '7'"),
      42, "1g.5gb=7", "nvidia.com/mig-1g.5gb" },
    { "gpus: no other name", ALLOCATABLE("'nvidia.com/mig-a b': '7', 'nvidia.com/gpu!': '1'"), 8,
      NULL, NULL },
    { "gpus: a whole one is asked for",
      ALLOCATABLE("'nvidia.com/gpu': '1', 'nvidia.com/gpu.shared': '1'"), 2, NULL,
      "nvidia.com/gpu" },
    { "gpus: none left", ALLOCATABLE("'nvidia.com/gpu': '0'"), 0, NULL, NULL },
    { "gpus: other devices", ALLOCATABLE("'nvidia.com/hostdev': '2', 'amd.com/gpu': '2'"), 0, NULL,
      NULL },
    { "gpus: nonsense",
      ALLOCATABLE("'nvidia.com/gpu': 'many', 'nvidia.com/gpu.shared': 3, 'nvidia.com/mig-x': null"),
      0, NULL, NULL },
    { "gpus: more than fit",
      ALLOCATABLE("'nvidia.com/gpu': '2147483647', 'nvidia.com/gpu.shared': '2147483647'"),
      INT32_MAX, NULL, "nvidia.com/gpu" },
    { "gpus: allocatable is no object", NODE("", "", "'allocatable': [1]"), 0, NULL, NULL },
};

static void check_gpus(void **state)
{
    const struct gpu_row *row = *state;
    struct intern *in = intern_new();
    json_t *object = tree(row->object);
    struct node *n = node_project(in, object);
    assert_int_equal(n->gpus, row->gpus);
    assert_true(str_eq(intern_text(in, n->slices), row->slices));
    assert_true(str_eq(intern_text(in, n->device), row->device));
    node_free(in, n);
    json_decref(object);
    intern_free(in);
}

/* ---- which changes count */

#define PLAIN NODE("", "", "")
#define OUR_CONDITION(status, reason, message, time)                                               \
    NODE("", "",                                                                                   \
         "'conditions': [{'type': 'GpuReady', 'status': '" status "', 'reason': '" reason          \
         "', 'message': '" message "', 'lastHeartbeatTime': '" time                                \
         "', 'lastTransitionTime': '" time "'}]")

static const struct same_row {
    const char *name, *before, *after;
    bool same;
} same_rows[] = {
    { "same: nothing there", PLAIN, PLAIN, true },
    { "same: heartbeat",
      NODE("", "", "'conditions': [{'type': 'Ready', 'status': 'True', 'lastHeartbeatTime': '1'}]"),
      NODE(", 'resourceVersion': '9'", "",
           "'conditions': [{'type': 'Ready', 'status': 'True', 'lastHeartbeatTime': '2'}]"),
      true },
    { "same: an annotation of others", NODE(", 'annotations': {'a': 'b'}", "", ""),
      NODE(", 'annotations': {'c': 'd'}", "", ""), true },
    { "differs: the first annotation", PLAIN, NODE(", 'annotations': {'a': 'b'}", "", ""), false },
    { "differs: cordoned", PLAIN, NODE("", "'unschedulable': true", ""), false },
    { "differs: a claim", PLAIN, NODE(", 'annotations': {'ostler.dev/claim': ''}", "", ""), false },
    { "differs: given up", PLAIN, NODE(", 'annotations': {'ostler.dev/gave-up': ''}", "", ""),
      false },
    { "differs: was down meanwhile",
      NODE("", "",
           "'conditions': [{'type': 'Ready', 'status': 'True', 'lastTransitionTime': "
           "'2026-11-20T10:00:00Z'}]"),
      NODE("", "",
           "'conditions': [{'type': 'Ready', 'status': 'True', 'lastTransitionTime': "
           "'2026-11-20T10:00:01Z'}]"),
      false },
    { "differs: our condition", PLAIN, OUR_CONDITION("True", "OperandsUp", "m", "1"), false },
    { "differs: our condition's status", OUR_CONDITION("True", "R", "m", "1"),
      OUR_CONDITION("False", "R", "m", "1"), false },
    { "differs: our condition's reason", OUR_CONDITION("True", "R", "m", "1"),
      OUR_CONDITION("True", "S", "m", "1"), false },
    { "differs: our condition's sentence", OUR_CONDITION("True", "R", "m", "1"),
      OUR_CONDITION("True", "R", "n", "1"), false },
    { "same: our condition's times", OUR_CONDITION("True", "R", "m", "1"),
      OUR_CONDITION("True", "R", "m", "2"), true },
    { "differs: a label", PLAIN, NODE(", 'labels': {'a': 'b'}", "", ""), false },
    { "differs: a label's value", NODE(", 'labels': {'a': 'a'}", "", ""),
      NODE(", 'labels': {'a': 'b'}", "", ""), false },
    { "differs: a taint", PLAIN, NODE("", "'taints': [{'key': 'k'}]", ""), false },
    { "differs: marks", PLAIN, NODE(", 'annotations': {'ostler.dev/marks': ''}", "", ""), false },
    { "differs: marks that cannot be read", NODE(", 'annotations': {'a': 'b'}", "", ""),
      NODE(", 'annotations': {'ostler.dev/marks': 'm\\u0000'}", "", ""), false },
    { "differs: a claim that cannot be read", NODE(", 'annotations': {'a': 'b'}", "", ""),
      NODE(", 'annotations': {'ostler.dev/claim': 'm\\u0000'}", "", ""), false },
    { "differs: a target given up that cannot be read", NODE(", 'annotations': {'a': 'b'}", "", ""),
      NODE(", 'annotations': {'ostler.dev/gave-up': 'm\\u0000'}", "", ""), false },
    { "differs: host driver", PLAIN,
      NODE(", 'annotations': {'ostler.dev/host-driver': 'true'}", "", ""), false },
    { "same: has not said yet whether it is ready", PLAIN,
      NODE("", "", "'conditions': [{'type': 'Ready', 'status': 'True'}]"), true },
    { "differs: not ready", PLAIN,
      NODE("", "", "'conditions': [{'type': 'Ready', 'status': 'False'}]"), false },
    { "differs: not heard of", PLAIN,
      NODE("", "", "'conditions': [{'type': 'Ready', 'status': 'Unknown'}]"), false },
    { "differs: deletion", PLAIN, NODE(", 'deletionTimestamp': 'x'", "", ""), false },
    { "differs: GPUs", PLAIN, ALLOCATABLE("'nvidia.com/gpu': '1'"), false },
    { "differs: slices", ALLOCATABLE("'nvidia.com/mig-1g.5gb': '1'"),
      ALLOCATABLE("'nvidia.com/mig-2g.10gb': '1'"), false },
    { "differs: kernel", PLAIN, NODE("", "", "'nodeInfo': {'kernelVersion': '6'}"), false },
    { "differs: system", PLAIN, NODE("", "", "'nodeInfo': {'osImage': 'x'}"), false },
    { "differs: runtime", PLAIN, NODE("", "", "'nodeInfo': {'containerRuntimeVersion': 'x'}"),
      false },
    { "differs: kubelet", PLAIN, NODE("", "", "'nodeInfo': {'kubeletVersion': 'x'}"), false },
};

static void check_same(void **state)
{
    const struct same_row *row = *state;
    struct intern *in = intern_new();
    json_t *objects[] = { tree(row->before), tree(row->after) };
    struct node *a = node_project(in, objects[0]), *b = node_project(in, objects[1]);
    assert_int_equal(node_same(a, b), row->same);
    assert_int_equal(node_same(b, a), row->same);
    node_free(in, a);
    node_free(in, b);
    json_decref(objects[0]);
    json_decref(objects[1]);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

/* ---- foreign bytes */

static const struct garbage_row {
    const char *name, *object;
} garbage_rows[] = {
    { "garbage: empty object", "{}" },
    { "garbage: a list", "[]" },
    { "garbage: members of other types", "{'metadata': [], 'spec': 7, 'status': 'x'}" },
    { "garbage: labels of other types", "{'metadata': {'name': 1, 'labels': {'a': 1, 'b': null, "
                                        "'': '', 'c': []}}, 'spec': {'taints': {}}}" },
    { "garbage: conditions of other types",
      "{'status': {'conditions': [1, null, {'type': 1}, {}], 'nodeInfo': []}}" },
};

static void check_garbage(void **state)
{
    const struct garbage_row *row = *state;
    struct intern *in = intern_new();
    json_t *object = tree(row->object);
    struct node *n = node_project(in, object);
    struct node_view view = { n, in, NULL };
    assert_true(n->ready);
    assert_int_equal(n->taints, INTERN_NONE);
    assert_null(node_label(&view, "x"));
    node_free(in, n);
    json_decref(object);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a whole node", check_whole, NULL);
    SUITE_ROWS(&s, check_gpus, gpu_rows);
    SUITE_ROWS(&s, check_same, same_rows);
    SUITE_ROWS(&s, check_garbage, garbage_rows);
    return suite_run(&s, "node");
}
