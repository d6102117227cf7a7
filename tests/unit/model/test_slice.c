/* What is kept of a ResourceSlice, and of which. */
#include "reconcilers/model/foreign.h"

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define SLICE(spec) "{'metadata': {'name': 's', 'uid': 'u'}, 'spec': {" spec "}}"
#define OURS "'driver': 'gpu.nvidia.com', "

static const struct row {
    const char *name, *object, *node; /* node: NULL: nothing is kept */
} rows[] = {
    { "slice: GPUs of a node", SLICE(OURS "'nodeName': 'n', 'devices': [{'name': 'gpu-0'}]"), "n" },
    { "slice: without devices", SLICE(OURS "'nodeName': 'n', 'devices': []"), NULL },
    { "slice: without a list of devices", SLICE(OURS "'nodeName': 'n'"), NULL },
    { "slice: of several nodes", SLICE(OURS "'allNodes': true, 'devices': [{}]"), NULL },
    { "slice: of another driver",
      SLICE("'driver': 'compute-domain.nvidia.com', 'nodeName': 'n', 'devices': [{}]"), NULL },
    { "slice: of no driver", SLICE("'nodeName': 'n', 'devices': [{}]"), NULL },
    { "slice: of another shape", SLICE(OURS "'nodeName': 7, 'devices': {}"), NULL },
    { "slice: nothing", "{}", NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *object = tree(row->object);
    struct slice *s = slice_project(object);
    assert_string_equal(str_or_empty(s ? s->node : NULL), str_or_empty(row->node));
    assert_int_equal(s != NULL, row->node != NULL);
    if (s)
        assert_string_equal(s->head.key, "s");
    slice_free(s);
}

/* Another node: the one before has to hear of it, too. */
static void check_same(void **state)
{
    (void) state;
    struct slice a = { .node = "n" }, b = { .node = "n" }, c = { .node = "other" };
    assert_true(slice_same(&a, &b));
    assert_false(slice_same(&a, &c));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "slice: of another node is another", check_same, NULL);
    return suite_run(&s, "slices");
}
