/* Whole objects from short forms. */
#include "tests/unit/support/testbed.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "reconcilers/model/names.h"

/* Sets what the short form has, or a default (NULL: none). */
static void take(json_t *object, const char *path, const json_t *brief, const char *key,
                 const char *fallback)
{
    json_t *value = json_object_get(brief, key);
    if (value)
        json_set_at(object, path, json_deep_copy(value));
    else if (fallback)
        json_set_at(object, path, json_string(fallback));
}

static json_t *condition(const char *type, bool holds)
{
    return json_pack("[{s:s, s:s}]", "type", type, "status", holds ? "True" : "False");
}

json_t *testbed_node(const json_t *brief)
{
    json_t *node = json_pack("{s:s, s:s, s:{s:{s:s, s:s}, s:{s:s}}, s:{s:s}}", "apiVersion", "v1",
                             "kind", "Node", "metadata", "labels", "kubernetes.io/arch", "amd64",
                             "kubernetes.io/os", "linux", "annotations", "example.com/rack", "7",
                             "spec", "podCIDR", "10.0.0.0/24");
    take(node, "metadata.name", brief, "name", "gpu-1");
    take(node, "spec.taints", brief, "taints", NULL);
    take(node, "status.nodeInfo.osImage", brief, "os", "Ubuntu 24.04.1 LTS");
    take(node, "status.nodeInfo.kernelVersion", brief, "kernel", "6.8.0-49-generic");
    take(node, "status.nodeInfo.containerRuntimeVersion", brief, "runtime", "containerd://2.1.4");
    take(node, "status.nodeInfo.kubeletVersion", brief, "kubelet", "v1.34.1");
    take(node, "status.nodeInfo.bootID", brief, "boot", NULL);
    take(node, "status.nodeInfo.architecture", brief, "architecture", "amd64");
    json_merge(json_at(node, "metadata.labels"), json_object_get(brief, "labels"));
    json_merge(json_at(node, "metadata.annotations"), json_object_get(brief, "annotations"));
    json_t *allocatable = json_pack("{s:s, s:o}", "cpu", "64", RESOURCE_GPU,
                                    json_textf("%d", (int) json_int(brief, "gpus", 0)));
    json_set_at(node, "status.allocatable", allocatable);
    json_merge(allocatable, json_object_get(brief, "allocatable"));
    take(node, "status.capacity", brief, "capacity", NULL);
    json_set_at(node, "status.conditions", condition("Ready", json_bool(brief, "ready", true)));
    if (json_object_get(brief, "upSince"))
        json_object_set(json_array_get(json_at(node, "status.conditions"), 0), "lastTransitionTime",
                        json_object_get(brief, "upSince"));
    take(node, "spec.unschedulable", brief, "cordoned", NULL);
    if (json_bool(brief, "deleting", false))
        json_set_at(node, "metadata.deletionTimestamp", json_string(TESTBED_NOW));
    return node;
}

static void fill_operand(json_t *pod, const json_t *brief)
{
    json_set_at(pod, "metadata.namespace", json_string(TESTBED_NAMESPACE));
    json_set_at(pod, "metadata.ownerReferences",
                json_pack("[{s:s, s:b}]", "kind", "DaemonSet", "controller", 1));
    json_t *labels = json_at(pod, "metadata.labels");
    json_object_set_new(labels, LABEL_MANAGED_BY, json_string(MANAGED_BY));
    json_object_set(labels, LABEL_COMPONENT, json_object_get(brief, "operand"));
    if (json_object_get(brief, "revision"))
        json_object_set(labels, LABEL_REVISION, json_object_get(brief, "revision"));
}

/* A one-off pod of Ostler's on gpu-1. */
static void fill_task(json_t *pod, const json_t *brief)
{
    static const char affinity[] =
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms";
    const char *kind = json_str(brief, "task"), *resource = json_str(brief, "resource");
    const json_t *ended = json_object_get(brief, "ended"),
                 *words = json_object_get(brief, "unschedulable");
    json_t *labels = json_at(pod, "metadata.labels"),
           *container = json_array_get(json_at(pod, "spec.containers"), 0);
    json_object_set_new(labels, LABEL_MANAGED_BY, json_string(MANAGED_BY));
    json_object_set_new(labels, LABEL_TASK, json_string(kind));
    take(pod, "metadata.creationTimestamp", brief, "created", TESTBED_NOW);
    const char *policy = json_str(brief, "policy");
    json_object_set_new(labels, LABEL_POLICY_UID,
                        json_string(policy ? policy : "uid-" POLICY_NAME "-1"));
    json_object_set(labels, LABEL_REVISION, json_object_get(brief, "purpose"));
    json_set_at(container, "resources.limits",
                json_pack("{s:s}", resource ? resource : RESOURCE_GPU, "1"));
    json_set_at(pod, affinity,
                json_pack("[{s:[{s:s, s:s, s:[s]}]}]", "matchFields", "key", "metadata.name",
                          "operator", "In", "values", "gpu-1"));
    take(pod, "status.phase", brief, "phase", "Pending");
    take(pod, "status.startTime", brief, "started", TESTBED_NOW);
    if (ended)
        json_set_at(pod, "status.containerStatuses",
                    json_pack("[{s:O, s:{s:O}}]", "name", json_object_get(container, "name"),
                              "state", "terminated", ended));
    if (json_object_get(brief, "running"))
        json_set_at(pod, "status.containerStatuses",
                    json_pack("[{s:O, s:{s:O}}]", "name", json_object_get(container, "name"),
                              "state", "running", json_object_get(brief, "running")));
    take(pod, "status.reason", brief, "reason", NULL);
    take(pod, "status.message", brief, "message", NULL);
    if (words) {
        json_object_del(json_object_get(pod, "spec"), "nodeName");
        json_set_at(pod, "status.conditions",
                    json_pack("[{s:s, s:s, s:s, s:O}]", "type", "PodScheduled", "status", "False",
                              "reason", "Unschedulable", "message", words));
    }
}

json_t *testbed_pod(const json_t *brief)
{
    const char *key = json_str(brief, "name");
    CLEANUP_FREE char *made = xasprintf(TESTBED_NAMESPACE "/%s-x",
                                        json_str_or_empty(brief, "operand"));
    if (!key)
        key = made;
    const char *slash = strchr(key, '/');
    json_t *pod = json_pack("{s:s, s:s, s:{s:s%, s:s, s:{}}, s:{s:[{s:s}]}}", "apiVersion", "v1",
                            "kind", "Pod", "metadata", "namespace", key, (size_t) (slash - key),
                            "name", slash + 1, "labels", "spec", "containers", "name", "main");
    json_t *container = json_array_get(json_at(pod, "spec.containers"), 0);
    take(pod, "spec.nodeName", brief, "node", "gpu-1");
    take(container, "name", brief, "container", NULL);
    take(container, "image", brief, "image", "example.com/app:1");
    json_merge(json_at(pod, "metadata.labels"), json_object_get(brief, "labels"));
    if (json_object_get(brief, "operand"))
        fill_operand(pod, brief);
    if (json_int(brief, "gpus", 0))
        json_set_at(
            container, "resources.limits",
            json_pack("{s:o}", RESOURCE_GPU, json_textf("%d", (int) json_int(brief, "gpus", 0))));
    take(pod, "metadata.uid", brief, "uid", NULL);
    take(pod, "metadata.ownerReferences", brief, "owners", NULL);
    take(pod, "metadata.creationTimestamp", brief, "made", NULL);
    take(pod, "spec.volumes", brief, "volumes", NULL);
    take(pod, "spec.tolerations", brief, "tolerations", NULL);
    take(pod, "spec.restartPolicy", brief, "restartPolicy", NULL);
    take(pod, "status.phase", brief, "phase", NULL);
    if (json_object_get(brief, "initImage"))
        json_set_at(pod, "spec.initContainers",
                    json_pack("[{s:O}]", "image", json_object_get(brief, "initImage")));
    json_set_at(pod, "status.conditions", condition("Ready", json_bool(brief, "ready", false)));
    if (json_object_get(brief, "waiting"))
        json_set_at(
            pod, "status.containerStatuses",
            json_pack("[{s:{s:O}}]", "state", "waiting", json_object_get(brief, "waiting")));
    if (json_object_get(brief, "said"))
        json_set_at(pod, "status.initContainerStatuses",
                    json_pack("[{s:{s:{s:i, s:s, s:O}}}]", "state", "terminated", "exitCode", 1,
                              "reason", "Error", "message", json_object_get(brief, "said")));
    if (json_object_get(brief, "initStatus"))
        json_set_at(pod, "status.initContainerStatuses",
                    json_pack("[O]", json_object_get(brief, "initStatus")));
    if (json_object_get(brief, "task"))
        fill_task(pod, brief);
    if (json_bool(brief, "deleting", false))
        json_set_at(pod, "metadata.deletionTimestamp", json_string(TESTBED_NOW));
    return pod;
}

json_t *testbed_record(const char *hash, const json_t *inputs)
{
    struct render_context ctx = {
        .operand_namespace = TESTBED_NAMESPACE, .policy_uid = "uid", .inputs = inputs, .hash = hash
    };
    return render_revision(&ctx);
}
