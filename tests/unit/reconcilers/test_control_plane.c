/* Nodes of the control plane: nothing is brought there unless an administrator says so, and what
 * runs there already stays. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

#define GPU_NODE(name, more)                                                                       \
    "{'name': '" name "', 'labels': {'feature.node.kubernetes.io/pci-10de.present': 'true'" more   \
    "}}"
#define CONTROL_PLANE ", 'node-role.kubernetes.io/control-plane': ''"

static void put_node(struct testbed *t, const char *brief)
{
    CLEANUP_JSON json_t *node = tree(brief);
    testbed_put(t, RESOURCE_NODE, testbed_node(node));
}

/* A cluster with the agent, and a GPU node called `name` with these labels. */
static void begin(struct testbed *t, const char *brief)
{
    CLEANUP_JSON json_t *policy = tree("{'spec': {'driver': {'version': '580.178.04'}}}");
    testbed_init(t, policy);
    t->agent_image = "ostler:1";
    put_node(t, brief);
}

static bool is_served(const struct testbed *t, const char *node)
{
    return object_label(testbed_get(t, RESOURCE_NODE, node), LABEL_STACK) != NULL;
}

static bool keeps_off(const json_t *daemonset)
{
    const json_t *terms = json_at(
        daemonset, "spec.template.spec.affinity.nodeAffinity."
                   "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    size_t i, said = 0;
    json_t *term;
    json_array_foreach (terms, i, term) {
        const json_t *e = json_find(json_object_get(term, "matchExpressions"), "key",
                                    KUBERNETES_CONTROL_PLANE);
        said += str_eq(json_str(e, "operator"), "DoesNotExist");
    }
    return said > 0 && said == json_array_size(terms);
}

/* How many DaemonSets there are, and how many of them keep off. */
static void count(const struct testbed *t, size_t *ret_all, size_t *ret_off)
{
    size_t i;
    json_t *daemonset;
    CLEANUP_JSON json_t *daemonsets = testbed_list(t, RESOURCE_DAEMONSET);
    *ret_all = *ret_off = 0;
    json_array_foreach (daemonsets, i, daemonset) {
        ++*ret_all;
        *ret_off += keeps_off(daemonset);
    }
}

static void not_taken(void **state)
{
    (void) state;
    struct testbed t;
    size_t all, off;
    begin(&t, GPU_NODE("master", CONTROL_PLANE));
    put_node(&t, GPU_NODE("worker", ""));
    testbed_settle(&t, true, NULL);
    count(&t, &all, &off);
    assert_false(is_served(&t, "master"));
    assert_true(is_served(&t, "worker"));
    assert_true(all >= 4);
    assert_int_equal(off, all);
    testbed_clear(&t);
}

static void taken_where_allowed(void **state)
{
    (void) state;
    struct testbed t;
    size_t all, off;
    begin(&t, GPU_NODE("master", CONTROL_PLANE));
    t.cluster->o.limits.control_plane = true;
    testbed_settle(&t, true, NULL);
    count(&t, &all, &off);
    assert_true(is_served(&t, "master"));
    assert_int_equal(off, 0);
    testbed_clear(&t);
}

/* The DaemonSet controller ends pods at once on nodes that a DaemonSet's affinity leaves out. */
static void what_runs_goes_on(void **state)
{
    (void) state;
    struct testbed t;
    size_t all, off;
    begin(&t, GPU_NODE("master", CONTROL_PLANE));
    t.cluster->o.limits.control_plane = true;
    testbed_settle(&t, true, NULL);
    t.cluster->o.limits.control_plane = false;
    testbed_forget_targets(&t);
    testbed_settle(&t, true, NULL);
    count(&t, &all, &off);
    assert_true(is_served(&t, "master"));
    assert_int_equal(off, 0);
    testbed_remove(&t, RESOURCE_NODE, "master");
    put_node(&t, GPU_NODE("worker", ""));
    testbed_settle(&t, true, NULL);
    count(&t, &all, &off);
    assert_true(all >= 4);
    assert_int_equal(off, all);
    testbed_clear(&t);
}

/* A cluster of one node, without anything else that finds GPUs: no agent looks there. */
static void one_node_is_told_of(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "{'name': 'only', 'labels': {'node-role.kubernetes.io/control-plane': ''}}");
    testbed_settle(&t, true, NULL);
    const json_t *conditions = json_at(testbed_get(&t, RESOURCE_POLICY, "default"),
                                       "status.conditions");
    const char *said = json_str_or_empty(json_find(conditions, "type", "Ready"), "message");
    if (!strstr(said, "--control-plane-nodes"))
        fail_msg("%s", said);
    testbed_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a node of the control plane is not taken, and DaemonSets keep off it", not_taken,
              NULL);
    suite_add(&s, "where that is allowed it is like any other", taken_where_allowed, NULL);
    suite_add(&s, "what runs there goes on for as long as the node is there", what_runs_goes_on,
              NULL);
    suite_add(&s, "a cluster of one such node is told what to do", one_node_is_told_of, NULL);
    return suite_run(&s, "control plane");
}
