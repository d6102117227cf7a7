/* A row more in the table of vendors (rows.h), and nothing else: what the operator makes of a node
 * with GPUs of that vendor. The program is linked with a table of its own; all other objects are
 * those of every build. */
#include "base/vendor.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/split.h"
#include "reconcilers/projections.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/node_inventory.h"
#include "reconcilers/model/policy.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

#define NFD "feature.node.kubernetes.io/"

/* ---- what a node comes to */

#define AMD_GPU(address, driver)                                                                   \
    "{'vendor': '1002', 'address': '" address "', 'bus': 'Answers', 'driver': '" driver "'}"
#define NVIDIA_GPU_AT(address) "{'address': '" address "', 'bus': 'Answers', 'driver': 'nvidia'}"
#define AMD_TAINT "[{'key': 'amd.com/gpu', 'value': 'present', 'effect': 'NoSchedule'}]"

static const struct node_row {
    const char *name, *node, *inventory, *policy;
    enum node_state state;
    const char *vendor; /* NULL: it has no GPU */
    const char *taints;
    const char *message; /* a part of it; NULL: any */
} node_rows[] = {
    { "the label that Node Feature Discovery gives a processing accelerator",
      "{'labels': {'" NFD "pci-1200_1002.present': 'true'}}", NULL, "{}", NODE_UNSUPPORTED, "AMD",
      AMD_TAINT, "no device plugin for GPUs of AMD" },
    { "the label of any device", "{'labels': {'" NFD "pci-1002.present': 'true'}}", NULL, "{}",
      NODE_UNSUPPORTED, "AMD", AMD_TAINT, NULL },
    { "a cloud's label", "{'labels': {'karpenter.k8s.aws/instance-gpu-manufacturer': 'amd'}}", NULL,
      "{}", NODE_UNSUPPORTED, "AMD", AMD_TAINT, NULL },
    { "the vendor's own sign", "{'labels': {'" NFD "amd-gpu': 'true'}}", NULL, "{}",
      NODE_UNSUPPORTED, "AMD", AMD_TAINT, NULL },
    { "another value of that label", "{'labels': {'" NFD "amd-gpu': 'maybe'}}", NULL, "{}",
      NODE_UNMANAGED, NULL, NULL, NULL },
    { "a class that is no GPU", "{'labels': {'" NFD "pci-0680_1002.present': 'true'}}", NULL, "{}",
      NODE_UNMANAGED, NULL, NULL, NULL },
    { "the label that a person sets", "{'labels': {'amd.com/gpu.present': 'true'}}", NULL, "{}",
      NODE_UNSUPPORTED, "AMD", AMD_TAINT, NULL },
    { "a label that names the vendor, before one that names none",
      "{'labels': {'k8s.amazonaws.com/accelerator': 'x', 'accelerator': 'amd'}}", NULL, "{}",
      NODE_UNSUPPORTED, "AMD", AMD_TAINT, NULL },
    { "what the agent sees", "{'boot': 'b'}",
      "{'bootId': 'b', 'gpus': [" AMD_GPU("0000:01:00.0", "amdgpu") "]}", "{}", NODE_UNSUPPORTED,
      "AMD", AMD_TAINT, NULL },
    { "what the agent sees, whatever a label says",
      "{'boot': 'b', 'labels': {'" NFD "pci-10de.present': 'true'}}",
      "{'bootId': 'b', 'gpus': [" AMD_GPU("0000:01:00.0", "amdgpu") "]}", "{}", NODE_UNSUPPORTED,
      "AMD", AMD_TAINT, NULL },
    { "GPUs for virtual machines", "{'boot': 'b'}",
      "{'bootId': 'b', 'gpus': [" AMD_GPU("0000:01:00.0", "vfio-pci") "]}", "{}", NODE_UNMANAGED,
      NULL, NULL, NULL },
    { "a vendor that only a newer agent knows", "{'boot': 'b'}",
      "{'bootId': 'b', 'gpus': [{'vendor': '8086', 'address': '0000:01:00.0', 'bus': 'Answers'}]}",
      "{}", NODE_UNMANAGED, NULL, NULL, NULL },
    { "what the kubelet offers: a device plugin runs there",
      "{'allocatable': {'amd.com/gpu': '8'}}", NULL, "{}", NODE_FOREIGN, "AMD", NULL,
      "it can allocate amd.com/gpu already" },
    { "with the taint, where the policy says so", "{'allocatable': {'amd.com/gpu': '8'}}", NULL,
      "{'spec': {'nodes': {'taint': {'foreign': true}}}}", NODE_FOREIGN, "AMD", AMD_TAINT, NULL },
    { "a taint that the policy names", "{'labels': {'" NFD "amd-gpu': 'true'}}", NULL,
      "{'spec': {'nodes': {'taint': {'key': 'a.example/gpu'}}}}", NODE_UNSUPPORTED, "AMD",
      "[{'key': 'a.example/gpu', 'value': 'present', 'effect': 'NoSchedule'}]", NULL },
    { "network cards of that vendor", "{'allocatable': {'amd.com/nic': '8'}}", NULL, "{}",
      NODE_UNMANAGED, NULL, NULL, NULL },
    { "NVIDIA's GPUs go on being NVIDIA's", "{'labels': {'" NFD "pci-10de.present': 'true'}}", NULL,
      "{}", NODE_INSTALLING, "NVIDIA", NULL, NULL },
    { "GPUs of both vendors in one machine: the first row's", "{'boot': 'b'}",
      "{'bootId': 'b', 'gpus': [" AMD_GPU("0000:01:00.0",
                                          "amdgpu") ", " NVIDIA_GPU_AT("0000:02:00.0") "]}",
      "{}", NODE_INSTALLING, "NVIDIA", NULL, NULL },
};

static void check_marks(const json_t *node, const struct node_row *row)
{
    EACH_VENDOR (v) {
        bool is_its = str_eq(row->vendor, v->name);
        if (is_its != (object_label(node, v->present) != NULL))
            fail_msg("%s is %s", v->present, is_its ? "missing" : "there");
    }
    if (str_eq(row->vendor, "AMD")) {
        assert_null(object_label(node, "ostler.dev/driver"));
        assert_null(object_label(node, "ostler.dev/stack"));
    }
    CLEANUP_JSON json_t *none = json_array();
    const json_t *taints = json_at(node, "spec.taints");
    if (row->taints)
        assert_tree(taints ? taints : none, row->taints);
    else if (!str_eq(row->vendor, "NVIDIA"))
        assert_int_equal(json_array_size(taints), 0);
}

static void check_node(void **state)
{
    const struct node_row *row = *state;
    CLEANUP_JSON json_t *policy = tree(row->policy), *brief = tree(row->node);
    CLEANUP_ARENA struct arena a = { 0 };
    struct actions actions = { 0 };
    struct testbed t;
    struct node_verdict v;
    testbed_init(&t, policy);
    testbed_put(&t, RESOURCE_NODE, testbed_node(brief));
    if (row->inventory)
        testbed_put(&t, RESOURCE_GPU_NODE,
                    json_pack("{s:{s:s}, s:{s:o}}", "metadata", "name", "gpu-1", "status",
                              GPU_NODE_INVENTORY, tree(row->inventory)));
    testbed_settle(&t, false, NULL);
    testbed_pass_node(&t, &a, "gpu-1", &v, &actions);
    assert_int_equal(v.gpu, row->vendor != NULL);
    assert_string_equal(node_state_name(v.state), node_state_name(row->state));
    if (row->vendor)
        assert_string_equal(v.vendor->name, row->vendor);
    if (row->message)
        assert_non_null(strstr(str_or_empty(v.message), row->message));
    check_marks(testbed_get(&t, RESOURCE_NODE, "gpu-1"), row);
    actions_clear(&actions);
    testbed_clear(&t);
}

/* ---- resources */

static const struct offer_row {
    const char *name, *allocatable, *capacity;
    const char *vendor, *device; /* device NULL: there is none to have */
    int gpus;
    bool has_served;
} offer_rows[] = {
    { "whole GPUs", "{'amd.com/gpu': '8'}", "{}", "AMD", "amd.com/gpu", 8, true },
    { "partitions of GPUs", "{'amd.com/cpx_nps4': '64'}", "{}", "AMD", "amd.com/cpx_nps4", 64,
      true },
    { "what is called otherwise under the vendor's name", "{'amd.com/nic': '8'}",
      "{'amd.com/nic': '8'}", "NVIDIA", NULL, 0, false },
    { "devices that have gone", "{}", "{'amd.com/gpu': '0'}", "AMD", NULL, 0, true },
    { "of two vendors the first one that has any", "{'amd.com/gpu': '8', 'nvidia.com/gpu': '2'}",
      "{}", "NVIDIA", "nvidia.com/gpu", 2, true },
    { "of two vendors the one that has any", "{'amd.com/gpu': '8', 'nvidia.com/gpu': '0'}",
      "{'nvidia.com/gpu': '0'}", "AMD", "amd.com/gpu", 8, true },
};

/* Through what is kept of a Node's text, too: there resources of others are left out. */
static void check_offer(void **state)
{
    const struct offer_row *row = *state;
    struct intern *strings = intern_new();
    CLEANUP_JSON json_t *whole = json_pack("{s:{s:s}, s:{s:o, s:o}}", "metadata", "name", "n",
                                           "status", "allocatable", tree(row->allocatable),
                                           "capacity", tree(row->capacity));
    CLEANUP_FREE char *text = json_compact(whole);
    CLEANUP_JSON json_t *kept = split_object(text, strlen(text), projection_view(RESOURCE_NODE),
                                             NULL);
    struct node *n = node_project(strings, kept);
    assert_string_equal(vendors[n->vendor].name, row->vendor);
    assert_int_equal(n->gpus, row->gpus);
    assert_int_equal(n->has_served, row->has_served);
    if (row->device)
        assert_string_equal(intern_text(strings, n->device), row->device);
    else
        assert_null(intern_text(strings, n->device));
    node_free(strings, n);
    intern_free(strings);
}

static void check_view(void **state)
{
    (void) state;
    static const char node[] = "{\"status\":{\"allocatable\":{\"amd.com/"
                               "gpu\":\"8\",\"cpu\":\"64\",\"nvidia.com/gpu\":\"0\"}}}";
    CLEANUP_JSON json_t *kept = split_object(node, strlen(node), projection_view(RESOURCE_NODE),
                                             NULL);
    assert_tree(kept, "{'status': {'allocatable': {'amd.com/gpu': '8', 'nvidia.com/gpu': '0'}}}");
}

static void check_pod_counts(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *pod = tree("{'spec': {'containers': [{'resources': {'limits': "
                                    "{'amd.com/gpu': '2', 'amd.com/nic': '1'}}}]}}");
    assert_int_equal(pod_gpus(pod), 2);
}

static void check_mixed(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *inventory = tree(
        "{'gpus': [" AMD_GPU("0000:01:00.0", "amdgpu") ", " NVIDIA_GPU_AT("0000:02:00.0") "]}");
    struct node_inventory *i = node_inventory_read(inventory);
    assert_int_equal(i->vendor, VENDOR_NVIDIA);
    assert_int_equal(i->gpus, 1);
    assert_int_equal(i->driven, 1);
    free(i);
}

/* ---- the policy */

static void check_policy(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = tree(
        "{'metadata': {'name': 'default'}, 'spec': {'nodes': {'labels': {'amd.com/gpu.present': "
        "'true'}, 'selector': {'matchExpressions': [{'key': 'amd.com/gpu.present', 'operator': "
        "'DoesNotExist'}]}}}}");
    struct policy p = { 0 };
    struct policy_problems problems = { 0 };
    assert_int_equal(
        policy_decode(object,
                      &(struct policy_limits){ POLICY_IMAGE_PREFIXES, "*", NULL, true, true }, &p,
                      &problems),
        -1);
    assert_int_equal(problems.len, 2);
    policy_problems_clear(&problems);
    policy_clear(&p);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_node, node_rows);
    SUITE_ROWS(&s, check_offer, offer_rows);
    suite_add(&s, "of a node's resources those of both vendors are kept", check_view, NULL);
    suite_add(&s, "of a machine with GPUs of both those of the first row count", check_mixed, NULL);
    suite_add(&s, "a pod that asks for its GPUs", check_pod_counts, NULL);
    suite_add(&s, "the policy can neither set the label nor select by it", check_policy, NULL);
    return suite_run(&s, "second vendor");
}
