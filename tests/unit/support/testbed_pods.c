/* Who makes pods of what a testbed's DaemonSets want, and runs them: all at once, and all is well.
 */
#include "tests/unit/support/testbed.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/task.h"
#include "sim/actors/fit.h"

static bool wants_pod(const json_t *set, const json_t *node)
{
    const json_t *spec = json_at(set, "spec.template.spec");
    return fit_affinity(spec, node) &&
           !fit_untolerated(json_object_get(spec, "tolerations"), json_at(node, "spec.taints"),
                            TAINT_NO_SCHEDULE | TAINT_NO_EXECUTE);
}

/* The DaemonSet that has made a pod, by name; NULL: none of them has. */
static const char *owner_of(const json_t *pod)
{
    const json_t *owner = json_array_get(json_at(pod, "metadata.ownerReferences"), 0);
    const char *name = json_str_or_empty(owner, "name");
    return str_eq(json_str(owner, "kind"), "DaemonSet") && *name ? name : NULL;
}

/* What a kubelet does when a device plugin comes or goes. */
static void offer_gpus(struct testbed *t, const json_t *pod, const char *count)
{
    const char *node = json_str(pod, "spec.nodeName");
    bool plugin = str_eq(object_label(pod, LABEL_COMPONENT), operand_name(OPERAND_DEVICE_PLUGIN));
    if (!plugin || !testbed_get(t, RESOURCE_NODE, node))
        return;
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "status", "allocatable", RESOURCE_GPU,
                                           count);
    testbed_edit(t, RESOURCE_NODE, node, patch);
}

static bool remove_unwanted_pods(struct testbed *t)
{
    CLEANUP_JSON json_t *pods = testbed_list(t, RESOURCE_POD);
    bool changed = false;
    size_t i;
    json_t *pod;
    json_array_foreach (pods, i, pod) {
        const char *owner = owner_of(pod);
        const json_t *set = owner ? testbed_get(t, RESOURCE_DAEMONSET, owner) : NULL;
        const json_t *node = testbed_get(t, RESOURCE_NODE, json_str_or_empty(pod, "spec.nodeName"));
        if (!owner || (set && node && wants_pod(set, node)))
            continue;
        offer_gpus(t, pod, "0");
        testbed_remove(t, RESOURCE_POD, object_name(pod));
        changed = true;
    }
    return changed;
}

static bool add_pod(struct testbed *t, const json_t *set, const char *node)
{
    CLEANUP_FREE char *name = xasprintf("%s-%s", object_name(set), node);
    if (testbed_get(t, RESOURCE_POD, name))
        return false;
    CLEANUP_JSON json_t *brief = json_pack(
        "{s:o, s:s, s:O, s:b}", "name", json_textf(TESTBED_NAMESPACE "/%s", name), "node", node,
        "operand", json_object_get(json_at(set, "metadata.labels"), LABEL_COMPONENT), "ready", 1);
    if (object_label(set, LABEL_REVISION))
        json_object_set_new(brief, "revision", json_string(object_label(set, LABEL_REVISION)));
    json_t *pod = testbed_pod(brief);
    json_set_at(json_array_get(json_at(pod, "metadata.ownerReferences"), 0), "name",
                json_string(object_name(set)));
    offer_gpus(t, pod, "8");
    testbed_put(t, RESOURCE_POD, pod);
    return true;
}

/* What the DaemonSet controller says of a set that rolls: here it has rolled at once. Who says how
 * many are ready is believed. */
static bool count_pods(struct testbed *t, const json_t *set, const json_t *nodes)
{
    size_t i;
    json_t *node;
    json_int_t desired = 0;
    if (!str_eq(json_str(set, "spec.updateStrategy.type"), "RollingUpdate"))
        return false;
    json_array_foreach (nodes, i, node)
        desired += wants_pod(set, node);
    json_int_t ready = json_int(set, "status.numberReady", 0);
    CLEANUP_JSON json_t *patch = json_pack(
        "{s:{s:I, s:I, s:I, s:I}}", "status", "observedGeneration",
        (json_int_t) object_generation(set), "desiredNumberScheduled", desired,
        "updatedNumberScheduled", desired, "numberReady", ready ? ready : desired);
    if (!desired)
        /* the server shows no 0 */
        json_object_del(json_object_get(patch, "status"), "updatedNumberScheduled");
    CLEANUP_JSON json_t *counted = json_deep_copy(set);
    json_merge(counted, patch);
    if (json_equal(counted, set))
        return false;
    testbed_edit(t, RESOURCE_DAEMONSET, object_name(set), patch);
    return true;
}

/* Proofs come to their end, and all is well. */
static bool end_proofs(struct testbed *t)
{
    bool changed = false;
    size_t i;
    json_t *pod;
    CLEANUP_JSON json_t *tasks = testbed_list(t, RESOURCE_TASK);
    json_array_foreach (tasks, i, pod) {
        if (!str_eq(json_str(pod, "status.phase"), "Pending") ||
            !str_eq(object_label(pod, LABEL_TASK), task_kind_name(TASK_PROOF)))
            continue;
        CLEANUP_JSON json_t *end = json_pack("{s:{s:s, s:[{s:s, s:{s:{s:i}}}]}}", "status", "phase",
                                             "Succeeded", "containerStatuses", "name", "x", "state",
                                             "terminated", "exitCode", 0);
        testbed_edit(t, RESOURCE_TASK, object_name(pod), end);
        changed = true;
    }
    return changed;
}

bool testbed_follow(struct testbed *t)
{
    bool changed = remove_unwanted_pods(t);
    changed |= end_proofs(t);
    CLEANUP_JSON json_t *sets = testbed_list(t, RESOURCE_DAEMONSET),
                        *nodes = testbed_list(t, RESOURCE_NODE);
    size_t s, n;
    json_t *set, *node;
    json_array_foreach (sets, s, set) {
        changed |= count_pods(t, set, nodes);
        json_array_foreach (nodes, n, node)
            changed |= wants_pod(set, node) && add_pod(t, set, object_name(node));
    }
    return changed;
}
