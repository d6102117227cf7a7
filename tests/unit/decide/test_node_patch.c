/* The guard of a node's write, operation by operation. What it is good for is in test_node_cases.c:
 * it holds each case's write against writes of others in between. */
#include "reconcilers/decide/node_patch.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define TEST(path, value) "{'op': 'test', 'path': '" path "', 'value': " value "}, "
#define ALIVE TEST("/metadata/uid", "'u1'") TEST("/metadata/deletionTimestamp", "null")
#define LABEL(key) "/metadata/labels/" key
#define ANNOTATION(key) "/metadata/annotations/" key
#define DECISIVE(driver)                                                                           \
    TEST(LABEL("ostler.dev~1driver"), driver)                                                      \
    TEST(LABEL("ostler.dev~1stack"), "null")                                                       \
    TEST(LABEL("ostler.dev~1managed"), "null")                                                     \
    TEST(LABEL("nvidia.com~1gpu.deploy.operands"), "null")                                         \
    TEST(LABEL("ostler.dev~1hold"), "null")
#define MARKS(marks)                                                                               \
    TEST(ANNOTATION("ostler.dev~1marks"), marks)                                                   \
    TEST(ANNOTATION("ostler.dev~1claim"), "null") TEST(ANNOTATION("ostler.dev~1gave-up"), "null")
#define NO_MARKS MARKS("null")
#define NODE(labels, annotations, taints)                                                          \
    "{'metadata': {'name': 'n', 'uid': 'u1', 'labels': {" labels "}, 'annotations': {" annotations \
    "}}, 'spec': {'taints': [" taints "]}}"
#define PLAIN NODE("'a': 'b'", "'c': 'd'", "")

static const struct row {
    const char *name, *node, *change, *operations; /* NULL: no patch */
} rows[] = {
    { "no change", PLAIN, "{'labels': {}, 'annotations': {}}", NULL },
    { "a label that was not there", PLAIN, "{'labels': {'x/y': 'v'}}",
      "[" ALIVE DECISIVE("null") TEST(LABEL("x~1y"), "null") NO_MARKS
      "{'op': 'add', 'path': '/metadata/labels/x~1y', "
      "'value': 'v'}]" },
    { "a label that changes", PLAIN, "{'labels': {'a': 'v'}}",
      "[" ALIVE DECISIVE("null") TEST(LABEL("a"), "'b'") NO_MARKS
      "{'op': 'add', 'path': '/metadata/labels/a', 'value': 'v'}]" },
    { "a label that goes", PLAIN, "{'labels': {'a': null}}",
      "[" ALIVE DECISIVE("null") TEST(LABEL("a"), "'b'") NO_MARKS
      "{'op': 'remove', 'path': '/metadata/labels/a'}]" },
    { "what decides is tested as it was read",
      NODE("'ostler.dev/driver': 'h'", "'ostler.dev/marks': 'm'", ""), "{'labels': {'x': 'v'}}",
      "[" ALIVE DECISIVE("'h'") TEST(LABEL("x"), "null")
          MARKS("'m'") "{'op': 'add', 'path': '/metadata/labels/x', 'value': 'v'}]" },
    { "what decides and changes is tested once", NODE("'ostler.dev/driver': 'h'", "'c': 'd'", ""),
      "{'labels': {'ostler.dev/driver': 'i'}}",
      "[" ALIVE TEST(LABEL("ostler.dev~1stack"), "null") TEST(LABEL("ostler.dev~1managed"), "null")
          TEST(LABEL("nvidia.com~1gpu.deploy.operands"), "null")
              TEST(LABEL("ostler.dev~1hold"), "null") TEST(LABEL("ostler.dev~1driver"), "'h'")
                  NO_MARKS "{'op': 'add', 'path': '/metadata/labels/ostler.dev~1driver', "
                           "'value': 'i'}]" },
    { "the patch does not test unreadable marks", NODE("", "'ostler.dev/marks': 'm\\u0000'", ""),
      "{'annotations': {'ostler.dev/marks': 'w'}}",
      "[" ALIVE TEST("/metadata/labels", "null") TEST(ANNOTATION("ostler.dev~1claim"), "null")
          TEST(ANNOTATION("ostler.dev~1gave-up"),
               "null") "{'op': 'add', 'path': '/metadata/annotations/ostler.dev~1marks', "
                       "'value': 'w'}]" },
    { "the patch does not test an unreadable claim and given-up target",
      NODE("", "'ostler.dev/claim': 'm\\u0000', 'ostler.dev/gave-up': 1", ""),
      "{'annotations': {'ostler.dev/marks': 'w'}}",
      "[" ALIVE TEST("/metadata/labels", "null")
          TEST(ANNOTATION("ostler.dev~1marks"),
               "null") "{'op': 'add', 'path': '/metadata/annotations/ostler.dev~1marks', 'value': "
                       "'w'}]" },
    { "the first label and the first annotation of a node",
      "{'metadata': {'name': 'n', 'uid': 'u1'}, 'spec': {}}", /* an API server has no empty maps */
      "{'labels': {'x/y': 'v'}, 'annotations': {'z': 'w'}}",
      "[" ALIVE TEST("/metadata/labels", "null")
          TEST("/metadata/annotations",
               "null") "{'op': 'add', 'path': '/metadata/labels', 'value': {'x/y': 'v'}}, {'op': "
                       "'add', 'path': '/metadata/annotations', 'value': "
                       "{'z': 'w'}}]" },
    { "an annotation that goes", PLAIN, "{'annotations': {'z': null}}",
      "[" ALIVE DECISIVE("null") NO_MARKS "{'op': 'remove', 'path': '/metadata/annotations/z'}]" },
    { "the first taint", PLAIN, "{'taints': [{'key': 'k'}]}",
      "[" ALIVE DECISIVE("null") NO_MARKS TEST(
          "/spec/taints", "null") "{'op': 'add', 'path': '/spec/taints', 'value': [{'key': "
                                  "'k'}]}]" },
    { "the last taint", NODE("'a': 'b'", "'c': 'd'", "{'key': 'k', 'timeAdded': 't'}"),
      "{'taints': []}",
      "[" ALIVE DECISIVE("null") NO_MARKS TEST(
          "/spec/taints", "[{'key': 'k', 'timeAdded': 't'}]") "{'op': 'add', 'path': "
                                                              "'/spec/taints', 'value': []}]" },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct intern *strings = intern_new();
    CLEANUP_JSON json_t *object = tree(row->node);
    CLEANUP_JSON json_t *change = tree(row->change);
    struct node *node = node_project(strings, object);
    const struct node_change wanted = { .labels = json_object_get(change, "labels"),
                                        .annotations = json_object_get(change, "annotations"),
                                        .taints = json_object_get(change, "taints") };
    CLEANUP_JSON json_t *operations = node_patch(&(struct node_view){ node, strings, NULL },
                                                 &wanted);
    if (row->operations)
        assert_tree(operations, row->operations);
    else
        assert_null(operations);
    node_free(strings, node);
    intern_free(strings);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "node_patch");
}
