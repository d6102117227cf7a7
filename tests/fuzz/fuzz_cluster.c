/* The whole view of the cluster: objects of every kind that Ostler watches come, change in random
 * ways and go, in the order that the input says, with passes over them in between whose plans are
 * carried out or not, and DaemonSets that are followed or not. The input is a series of edits, a
 * letter each with the bytes that it needs.
 * - Nothing crashes or leaks, and what is carried out keeps the rules of every write
 *   (tests/unit/support/testbed_writes.c).
 * - Two Ostlers that are told of the same objects in another order decide the same: plans, verdicts
 *   and status.
 * - When every object is gone, nothing is left of any. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "reconcilers/reconcilers.h"
#include "tests/unit/support/frame.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EDITS_MAX = 120, SAME_MAX = 6, TEXT_MAX = 8 << 20 };

/* Fails the run. */
#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

struct harness {
    const uint8_t *at, *end; /* of the input */
    struct testbed bed;
};

static unsigned take(struct harness *h, unsigned below)
{
    return h->at < h->end ? *h->at++ % below : 0;
}

/* ---- objects: how one of a kind begins, and what may become of it, as merge patches */

#define HASH "aaaaaaaaaa"
#define CLAIM(phase, more)                                                                         \
    "{'metadata': {'annotations': {'ostler.dev/claim': "                                           \
    "'{\\\"v\\\":1,\\\"policy\\\":\\\"uid-default-1\\\",\\\"generation\\\":1,"                     \
    "\\\"kind\\\":\\\"Upgrade\\\",\\\"phase\\\":\\\"" phase                                        \
    "\\\",\\\"since\\\":\\\"2026-11-20T09:50:00Z\\\","                                             \
    "\\\"claimed\\\":\\\"2026-11-20T09:40:00Z\\\",\\\"attempt\\\":1,\\\"gpus\\\":8,"               \
    "\\\"driver\\\":\\\"" HASH "\\\","                                                             \
    "\\\"stack\\\":\\\"bbbbbbbbbb\\\",\\\"fromDriver\\\":\\\"cccccccccc\\\",\\\"fromStack\\\":"    \
    "\\\"bbbbbbbbbb\\\"" more "}',"                                                                \
    " 'ostler.dev/marks': "                                                                        \
    "'{\\\"labels\\\":[],\\\"taints\\\":[\\\"ostler.dev/upgrade:NoSchedule\\\"]}'}},"              \
    " 'spec': {'taints': [{'key': 'ostler.dev/upgrade', 'value': 'Upgrade', 'effect': "            \
    "'NoSchedule'}]}}"
#define LABELS(text) "{'metadata': {'labels': {" text "}}}"
#define ANNOTATIONS(text) "{'metadata': {'annotations': {" text "}}}"
#define SPEC(text) "{'spec': {" text "}}"
#define STATUS(text) "{'status': {" text "}}"
#define ROLLOUT(text) "{'spec': {'rollout': {" text "}}}"
#define GOING "{'metadata': {'deletionTimestamp': '2026-11-20T09:59:00Z'}}"
/* What no server would send. */
#define NONSENSE                                                                                   \
    "{'status': []}", "{'status': null}", "{'spec': 'x'}",                                         \
        "{'status': {'conditions': [[], null, {'type': 7}]}}",                                     \
        "{'status': {'containerStatuses': [null, {'state': []}, {'name': {}}]}}",                  \
        "{'metadata': {'generation': -1}}",                                                        \
        "{'metadata': {'ownerReferences': [null, {'kind': 7}]}}",                                  \
        "{'metadata': {'labels': null, 'annotations': null}}"

static const char *const of_nodes[] = {
    LABELS("'ostler.dev/driver': '" HASH "', 'ostler.dev/stack': 'bbbbbbbbbb'"),
    LABELS("'ostler.dev/driver': 'cccccccccc'"),
    LABELS("'ostler.dev/driver': null, 'ostler.dev/stack': null"),
    LABELS("'ostler.dev/removal': 'bbbbbbbbbb'"),
    LABELS("'ostler.dev/hold': 'true'"),
    LABELS("'ostler.dev/managed': 'false'"),
    LABELS("'pool': 'blue', 'topology.kubernetes.io/zone': 'a'"),
    LABELS("'topology.kubernetes.io/zone': 'b', 'nvidia.com/gpu.product': 'H100', "
           "'nvidia.com/gfd.timestamp': '7'"),
    LABELS("'feature.node.kubernetes.io/pci-10de.present': null"),
    LABELS("'node-role.kubernetes.io/control-plane': ''"),
    LABELS("'nvidia.com/device-plugin.config': 'half', 'nvidia.com/gpu.deploy.operands': 'false'"),
    CLAIM("Waiting", ""),
    CLAIM("Draining", ""),
    CLAIM("Unloading", ""),
    CLAIM("Installing", ",\\\"lastStack\\\":\\\"dddddddddd\\\""),
    CLAIM("Validating", ""),
    CLAIM("Failed", ",\\\"reason\\\":\\\"ValidationFailed\\\""),
    CLAIM("Waiting", ",\\\"v2\\\":{\\\"x\\\":[1]}"),
    ANNOTATIONS("'ostler.dev/claim': 'x'"),
    ANNOTATIONS("'ostler.dev/claim': null, 'ostler.dev/marks': '{'"),
    ANNOTATIONS("'ostler.dev/proof': "
                "'{\\\"v\\\":1,\\\"by\\\":\\\"Pod\\\",\\\"gpus\\\":8,\\\"driver\\\":\\\"" HASH
                "\\\"}'"),
    ANNOTATIONS("'ostler.dev/gave-up': '" HASH " DrainTimeout', 'ostler.dev/host-driver': 'true'"),
    SPEC("'taints': [{'key': 'ostler.dev/gpu-not-ready', 'effect': 'NoSchedule'}]"),
    SPEC("'taints': [{'key': 'dedicated', 'value': 'ml', 'effect': 'NoExecute'}], 'unschedulable': "
         "true"),
    SPEC("'taints': null, 'unschedulable': null"),
    STATUS("'allocatable': {'nvidia.com/gpu': '0'}"),
    STATUS("'allocatable': {'nvidia.com/gpu': '8', 'nvidia.com/mig-1g.10gb': '7'}, 'capacity': "
           "{'nvidia.com/gpu': 'many'}"),
    STATUS("'conditions': [{'type': 'Ready', 'status': 'Unknown', 'lastTransitionTime': "
           "'2026-11-20T09:00:00Z'}]"),
    STATUS("'conditions': [{'type': 'Ready', 'status': 'True'}, {'type': 'GpuReady', 'status': "
           "'False', 'reason': 'X'}]"),
    STATUS("'nodeInfo': {'kernelVersion': '5.14.0', 'osImage': 'Red Hat Enterprise Linux 9.4 "
           "(Plow)', 'bootID': 'b2'}"),
    STATUS("'nodeInfo': {'osImage': 'Container-Optimized OS from Google', "
           "'containerRuntimeVersion': 'cri-o://1.30'}"),
    STATUS("'nodeInfo': {'bootID': 'b1'}"),
    STATUS("'nodeInfo': [], 'allocatable': 7, 'capacity': 'x', 'conditions': {}"),
    GOING,
};
static const char *const of_pods[] = {
    "{'spec': {'nodeName': 'gpu-1'}}",
    "{'spec': {'nodeName': 'no-such-node'}}",
    "{'spec': {'nodeName': null}}",
    "{'metadata': {'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'name': 'd', "
    "'uid': 'u',"
    " 'controller': true}]}}",
    "{'metadata': {'ownerReferences': [{'apiVersion': 'v1', 'kind': 'Node', 'name': 'gpu-1', "
    "'uid': 'u', 'controller': true}]}}",
    "{'metadata': {'ownerReferences': [{'apiVersion': 'batch/v1', 'kind': 'Job', 'name': 'j', "
    "'uid': 'u', 'controller': true}]}}",
    "{'spec': {'tolerations': [{'operator': 'Exists'}], 'restartPolicy': 'Never'}}",
    "{'spec': {'volumes': [{'name': 'v', 'emptyDir': {'medium': 'Memory'}}, {'name': 'w', "
    "'hostPath': {'type': ''}}]}}",
    "{'spec': {'resourceClaims': [{'name': 'gpu', 'resourceClaimName': 'g'}]}}",
    "{'spec': {'containers': [{'image': 'nvcr.io/nvidia/driver:580', 'resources': {'limits': "
    "{'nvidia.com/gpu': '8'}}}]}}",
    "{'spec': {'containers': [{'image': 'nvcr.io/nvidia/k8s-device-plugin:v0.17'}], "
    "'initContainers': [{'image': 'i'}]}}",
    "{'spec': {'containers': [null, 'x', {'resources': []}, {'resources': {'limits': "
    "{'nvidia.com/gpu': -3}}}]}}",
    STATUS("'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}]"),
    STATUS("'phase': 'Failed', 'reason': 'Evicted', 'message': 'no room'"),
    STATUS("'phase': 'Succeeded', 'conditions': []"),
    STATUS("'containerStatuses': [{'name': 'main', 'restartCount': 3, 'state': {'waiting': "
           "{'reason': 'CrashLoopBackOff'}},"
           " 'lastState': {'terminated': {'exitCode': 1, 'message': 'HostDriver: x'}}}]"),
    STATUS("'containerStatuses': [{'name': 'main', 'imageID': 'i', 'state': {'terminated': "
           "{'exitCode': 0,"
           " 'message': 'driver=1'}}}]"),
    STATUS("'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason': 'Unschedulable', "
           "'message': 'no room'}]"),
    LABELS("'ostler.dev/revision': '" HASH "', 'app': 'web'"),
    LABELS("'app.kubernetes.io/component': 'device-plugin'"),
    LABELS("'ostler.dev/task': 'Pull', 'ostler.dev/policy-uid': 'uid-default-1'"),
    "{'metadata': {'uid': '0b8d3c1e-1111-4222-8333-123456789abc'}}",
    GOING,
    NONSENSE,
};
static const char *const of_reports[] = {
    "{'metadata': {'ownerReferences': [{'apiVersion': 'v1', 'kind': 'Node', 'name': 'gpu-1', "
    "'uid': 'uid-gpu-1-2'}]}}",
    STATUS("'state': 'Failed', 'reason': 'ValidationFailed', 'since': '2026-11-20T09:30:00Z'"),
    STATUS("'state': 'Ready', 'since': '2099-01-01T00:00:00Z', 'timeToReady': {'seen': "
           "'2026-11-20T09:00:00Z', 'driver': 95}"),
    STATUS("'inventory': {'bootId': 'b1', 'gpus': [{'pciAddress': '0000:01:00.0', 'deviceId': "
           "'2330', 'driver': 'nvidia'}]}"),
    STATUS("'inventory': {'bootId': 'b1', 'gpus': []}"),
    STATUS("'inventory': {'bootId': 'b2', 'hostDriver': {'version': '570.1'}, 'gpus': "
           "[{'pciAddress': 'x'}]}"),
    STATUS("'inventory': {'bootId': 'b1', 'holdersComplete': true, 'holders': [{'podUid': "
           "'0b8d3c1e-1111-4222-8333-123456789abc', 'process': 'python3', 'processes': 1, "
           "'minors': [0]}]}"),
    STATUS("'inventory': {'bootId': 'b1', 'holders': [{'process': 'dcgm', 'unit': 'dcgm.service', "
           "'pid': 8, 'processes': 2}]}"),
    STATUS("'inventory': {'containerRuntime': {'name': 'crio'}, 'secureBoot': true, 'toolkit': "
           "{'installed': true}}"),
    STATUS("'inventory': ['x'], 'timeToReady': 7"),
    GOING,
    NONSENSE,
};
static const char *const of_children[] = {
    STATUS("'observedGeneration': 1, 'desiredNumberScheduled': 3, 'updatedNumberScheduled': 2, "
           "'numberReady': 1"),
    STATUS("'observedGeneration': 1, 'desiredNumberScheduled': 0, 'currentNumberScheduled': 0, "
           "'numberReady': 0"),
    STATUS("'observedGeneration': -7, 'desiredNumberScheduled': 'x'"),
    LABELS("'ostler.dev/policy-uid': 'uid-default-1', 'ostler.dev/revision': '" HASH
           "', 'ostler.dev/tier': 'driver'"),
    LABELS("'ostler.dev/policy-uid': 'another', 'app.kubernetes.io/component': 'driver'"),
    LABELS("'ostler.dev/policy-uid': null"),
    ANNOTATIONS("'ostler.dev/intent': 'x'"),
    ANNOTATIONS("'ostler.dev/target-default': '2026-11-20T09:00:00Z', 'ostler.dev/ran-default': "
                "'2026-11-20T09:10:00Z'"),
    ANNOTATIONS("'ostler.dev/completed-default': '2026-11-20T09:20:00Z', "
                "'ostler.dev/canary-default': '2026-11-20T09:15:00Z'"),
    ANNOTATIONS("'ostler.dev/failed-default': '2026-11-20T08:00:00Z gpu-1 ValidationFailed'"),
    ANNOTATIONS("'ostler.dev/failed-blue': 'soon', 'ostler.dev/wave-default': 'Running', "
                "'ostler.dev/known-good': 'true'"),
    ANNOTATIONS("'ostler.dev/retried-default': '2099-01-01T00:00:00Z'"),
    SPEC("'updateStrategy': {'type': 'RollingUpdate'}"),
    "{'metadata': {'managedFields': [{'manager': 'carol', 'operation': 'Update', 'fieldsV1': "
    "{'f:spec': {}}}, 7]}}",
    "{'metadata': {'generation': 9}}",
    "{'data': {'half': 'sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: "
    "4}]}}', 'tier': 'driver'}}",
    GOING,
    NONSENSE,
};
static const char *const of_budgets[] = {
    STATUS("'disruptionsAllowed': 0, 'observedGeneration': 1"),
    STATUS("'disruptionsAllowed': 1, 'observedGeneration': 2"),
    STATUS("'disruptionsAllowed': -1"),
    "{'metadata': {'generation': 2}}",
    GOING,
    NONSENSE,
};
static const char *const of_foreign[] = {
    "{'metadata': {'namespace': 'gpu-operator', 'generation': 2}}",
    ("{'metadata': {'generation': 3}, 'spec': {'template': {'spec': {'nodeSelector': "
     "{'nvidia.com/gpu.deploy.driver': 'true'}}}}}"),
    "{'metadata': {'generation': 4}, 'spec': {'template': {'metadata': {'labels': null}}}}",
    GOING,
    NONSENSE,
};
static const char *const of_slices[] = {
    SPEC("'nodeName': 'gpu-2'"),
    SPEC("'nodeName': null, 'allNodes': true"),
    SPEC("'devices': []"),
    SPEC("'devices': {}"),
    SPEC("'driver': 'compute-domain.nvidia.com'"),
    GOING,
    NONSENSE,
};
static const char *const of_policies[] = {
    SPEC("'driver': {'version': '570.86.15'}"),
    SPEC("'driver': {'version': '580.65.06', 'precompiled': true}"),
    SPEC("'driver': {'version': null, 'precompiled': null}"),
    SPEC("'driver': {'source': 'Host'}"),
    SPEC("'driver': {'source': null}"),
    SPEC("'toolkit': {'enabled': false}, 'exporter': {'enabled': false}"),
    SPEC("'toolkit': {'version': 'v1.18.0'}, 'devicePlugin': {'version': 'v0.17.0'}"),
    SPEC("'devicePlugin': {'config': {'name': 'config-1', 'default': 'half'}}"),
    SPEC("'exporter': {'enabled': true, 'serviceMonitor': {'enabled': true}}"),
    SPEC("'validation': {'enabled': true}, 'nodes': {'startupTaint': {'enabled': true}}"),
    SPEC("'nodes': {'selector': {'matchLabels': {'pool': 'blue'}}, 'labels': {'example.com/gpu': "
         "'true'}}"),
    SPEC("'pools': [{'name': 'blue', 'nodeSelector': {'pool': 'blue'}, 'driver': {'version': "
         "'570.86.15'}}]"),
    SPEC("'pools': null, 'nodes': {'selector': null}"),
    SPEC("'driver': {'version': 580}"),
    ROLLOUT("'paused': true"),
    ROLLOUT("'taintKey': 'status-taint.cluster-autoscaler.kubernetes.io/gpu-upgrade'"),
    ROLLOUT("'taintKey': null"),
    ROLLOUT("'paused': null, 'approval': 'Manual'"),
    ROLLOUT("'maxParallel': '50%', 'maxUnavailable': 3, 'failureThreshold': '10%'"),
    ROLLOUT(
        "'maxUnavailableGpus': 4, 'topologyKey': 'topology.kubernetes.io/zone', 'order': 'Name'"),
    ROLLOUT("'canary': {'nodes': 0, 'soak': '0s'}, 'soak': '1h'"),
    ROLLOUT("'windows': [{'schedule': '0 2 * * 6', 'duration': '4h', 'timeZone': 'Asia/Tokyo'}]"),
    ROLLOUT("'drain': {'mode': 'AllPods', 'onTimeout': 'Delete', 'timeout': '1m', 'force': true}"),
    ROLLOUT("'drain': {'mode': null, 'waitForJobs': '1m', 'podSelector': {'matchLabels': {'app': "
            "'web'}}}, 'onFailure': 'Pause'"),
    ANNOTATIONS("'ostler.dev/retry': '1', 'ostler.dev/approved': 'x'"),
    ANNOTATIONS("'ostler.dev/force-removal': 'true'"),
    "{'metadata': {'finalizers': null}}",
    "{'metadata': {'finalizers': ['ostler.dev/cleanup', 'example.com/other']}}",
    GOING,
};

static const struct kind {
    enum resource_id resource;
    /* "%" stands for a digit; a short form of testbed_node() or testbed_pod() where they make them
     */
    const char *base;
    const char *const *parts;
    size_t part_count;
} kinds[] = {
#define PARTS(parts) parts, ARRAY_LEN(parts)
    { RESOURCE_NODE,
      "{'name': 'gpu-%', 'gpus': 8, 'boot': 'b1', 'labels': "
      "{'feature.node.kubernetes.io/pci-10de.present': 'true'"
      "}}",
      PARTS(of_nodes) },
    { RESOURCE_POD, "{'name': 'ml/job-%', 'node': 'gpu-%', 'gpus': 1}", PARTS(of_pods) },
    { RESOURCE_POD,
      "{'name': 'ostler-operands/op-%', 'operand': 'driver', 'node': 'gpu-%', 'revision': '" HASH
      "', 'ready': true"
      "}",
      PARTS(of_pods) },
    { RESOURCE_TASK,
      "{'name': 'ostler-operands/task-%', 'task': 'Proof', 'node': 'gpu-1', 'purpose': '" HASH "'}",
      PARTS(of_pods) },
    { RESOURCE_GPU_NODE, "{'metadata': {'name': 'gpu-%'}}", PARTS(of_reports) },
    { RESOURCE_DAEMONSET, "{'metadata': {'name': 'set-%', 'namespace': '" TESTBED_NAMESPACE "'}}",
      PARTS(of_children) },
    { RESOURCE_REVISION, "{'metadata': {'name': 'record-%', 'namespace': '" TESTBED_NAMESPACE "'}}",
      PARTS(of_children) },
    { RESOURCE_SERVICE, "{'metadata': {'name': 'service-%', 'namespace': '" TESTBED_NAMESPACE "'}}",
      PARTS(of_children) },
    { RESOURCE_CONFIGMAP,
      "{'metadata': {'name': 'config-%', 'namespace': '" TESTBED_NAMESPACE "'}}",
      PARTS(of_children) },
    { RESOURCE_RUNTIMECLASS, "{'metadata': {'name': 'class-%'}}", PARTS(of_children) },
    { RESOURCE_SERVICEMONITOR,
      "{'metadata': {'name': 'monitor-%', 'namespace': '" TESTBED_NAMESPACE "'}}",
      PARTS(of_children) },
    { RESOURCE_BUDGET, "{'metadata': {'name': 'budget-%', 'namespace': 'ml', 'generation': 1}}",
      PARTS(of_budgets) },
    { RESOURCE_FOREIGN,
      "{'metadata': {'name': 'plugin-%', 'namespace': 'kube-system', 'generation': 1}, 'spec': "
      "{'template': {"
      "'metadata': {'labels': {'k8s-app': 'nvidia-gpu-device-plugin'}}, 'spec': {'volumes': "
      "[{'hostPath': {}}]}"
      "}}}",
      PARTS(of_foreign) },
    { RESOURCE_SLICE,
      "{'metadata': {'name': 'slice-%'}, 'spec': {'driver': 'gpu.nvidia.com', 'nodeName': 'gpu-1', "
      "'devices': ["
      "{'name': 'gpu-0'}]}}",
      PARTS(of_slices) },
    { RESOURCE_POLICY,
      "{'metadata': {'name': 'default', 'finalizers': ['ostler.dev/cleanup']}, 'spec': {}}",
      PARTS(of_policies) },
};

static json_t *begun(const struct kind *k, unsigned number)
{
    CLEANUP_FREE char *text = xstrdup(k->base);
    for (char *p = text; (p = strchr(p, '%')); p++)
        *p = (char) ('0' + number);
    CLEANUP_JSON json_t *object = tree(text);
    if (k->resource == RESOURCE_NODE)
        return testbed_node(object);
    if (k->resource == RESOURCE_POD || k->resource == RESOURCE_TASK)
        return testbed_pod(object);
    return json_incref(object);
}

/* The name of the object of a resource at a place, NULL where there is none. Owned by the caller.
 */
static char *name_at(const struct harness *h, enum resource_id resource, unsigned place)
{
    CLEANUP_JSON json_t *objects = testbed_list(&h->bed, resource);
    size_t count = json_array_size(objects);
    return count ? xstrdup(object_name(json_array_get(objects, place % count))) : NULL;
}

/* ---- edits */

static const struct kind *any_kind(struct harness *h)
{
    return &kinds[take(h, ARRAY_LEN(kinds))];
}

static void edit_put(struct harness *h)
{
    const struct kind *k = any_kind(h);
    testbed_put(&h->bed, k->resource, begun(k, take(h, SAME_MAX)));
}

/* A pod that Ostler made comes to the node that it was made for, and to no other. */
static void keep_place(const json_t *before, json_t *object)
{
    const char *node = json_str(before, "spec.nodeName");
    if (!str_has_prefix(object_name(object), "ostler-"))
        return;
    if (node)
        json_set_at(object, "spec.nodeName", json_string(node));
    else
        json_object_del(json_at(object, "spec"), "nodeName");
}

/* Of who has no labels, plans could not be carried out. */
static void edit(struct harness *h, const struct kind *k, const char *name, const char *patch)
{
    CLEANUP_JSON json_t *p = tree(patch);
    const json_t *before = testbed_get(&h->bed, k->resource, name);
    json_t *object = json_deep_copy(before);
    frame_merge(object, p);
    keep_place(before, object);
    testbed_put(&h->bed, k->resource, object);
}

static void edit_edit(struct harness *h)
{
    const struct kind *k = any_kind(h);
    CLEANUP_FREE char *name = name_at(h, k->resource, take(h, 256));
    if (name)
        edit(h, k, name, k->parts[take(h, (unsigned) k->part_count)]);
}

static void edit_remove(struct harness *h)
{
    const struct kind *k = any_kind(h);
    CLEANUP_FREE char *name = name_at(h, k->resource, take(h, 256));
    if (name)
        testbed_remove(&h->bed, k->resource, name);
}

/* What a pass goes by besides objects. */
static void edit_circumstance(struct harness *h)
{
    struct testbed *t = &h->bed;
    unsigned bits = take(h, 256);
    t->absent_for_long = bits & 1;
    t->hold = (bits & 6) == 6;
    t->deleting = bits & 8;
    t->not_evicted =
        bits & 16 ? "ml/job-1: Cannot evict pod as it would violate the pod's disruption budget."
                  : NULL;
    t->ask_in_ms = bits & 16 ? 5000 : 0;
    t->holders_new = bits & 32;
    t->monitors_exist = bits & 64;
    t->agent_image = bits & 128 ? "registry.example/ostler:1" : NULL;
    t->watched_s = take(h, 4) * 100;
    t->age_s = take(h, 4) * 50;
    t->tasks_age_s = take(h, 4) * 50;
    t->removing_s = take(h, 8) * 300;
}

/* One round over these nodes and all else: what it comes to, in words. */
static void pass(struct testbed *t, const json_t *nodes, bool carry_out, struct buf *out)
{
    size_t n;
    json_t *node;
    json_array_foreach (nodes, n, node) {
        const char *name = object_name(node);
        CLEANUP_ARENA struct arena a = { 0 };
        CLEANUP_ACTIONS struct actions actions = { 0 };
        struct node_verdict v;
        testbed_pass_node(t, &a, name, &v, &actions);
        buf_printf(out, "%s %s %s: %s\n", name, node_state_name(v.state), verdict_word(&v),
                   str_or_empty(v.message));
        actions_text(&actions, out);
        if (carry_out)
            testbed_carry_out(t, &actions);
    }
    CLEANUP_ACTIONS struct actions grants = { 0 }, actions = { 0 };
    testbed_pass_rollout(t, &grants);
    actions_text(&grants, out);
    if (carry_out)
        testbed_carry_out(t, &grants);
    testbed_pass_policy(t, &actions);
    actions_text(&actions, out);
    for (size_t i = 0; i < actions.len; i++)
        buf_printf(out, "%s\n", str_or_empty(actions.items[i].request.body));
    if (carry_out)
        testbed_carry_out(t, &actions);
}

static void edit_pass(struct harness *h)
{
    CLEANUP_BUF struct buf unread = BUF_INIT(TEXT_MAX);
    CLEANUP_JSON json_t *nodes = testbed_list(&h->bed, RESOURCE_NODE);
    pass(&h->bed, nodes, take(h, 4) > 0, &unread);
}

static void edit_follow(struct harness *h)
{
    testbed_follow(&h->bed);
}

static const struct edit {
    char letter;
    void (*fn)(struct harness *h);
} edits[] = {
    { 'p', edit_put },          { 'e', edit_edit }, { 'r', edit_remove },
    { 'c', edit_circumstance }, { 'w', edit_pass }, { 'f', edit_follow },
};

static void next_edit(struct harness *h)
{
    unsigned letter = take(h, 256);
    const struct edit *d = &edits[letter % ARRAY_LEN(edits)];
    for (size_t i = 0; i < ARRAY_LEN(edits); i++)
        if ((unsigned) edits[i].letter == letter)
            d = &edits[i];
    d->fn(h);
}

/* ---- what must hold */

/* Tells another Ostler of every object of a resource, the first one first, or last. */
static void tell(struct testbed *t, const struct testbed *from, enum resource_id resource,
                 bool back)
{
    CLEANUP_JSON json_t *objects = testbed_list(from, resource);
    size_t count = json_array_size(objects);
    for (size_t i = 0; i < count; i++)
        table_event(&t->cluster->tables[resource],
                    json_array_get(objects, back ? count - 1 - i : i), false);
}

/* What an Ostler decides that has just heard of everything. The policy and reports come first,
 * since which pods are kept follows from them: a policy that comes later has pods listed anew, and
 * who has a GPU open is looked for. */
static char *decided(const struct testbed *from, bool back)
{
    struct testbed t;
    struct buf out = BUF_INIT(TEXT_MAX);
    testbed_init(&t, NULL);
    t.absent_for_long = from->absent_for_long;
    t.hold = from->hold;
    t.deleting = from->deleting;
    t.not_evicted = from->not_evicted;
    t.ask_in_ms = from->ask_in_ms;
    t.holders_new = from->holders_new;
    t.monitors_exist = from->monitors_exist;
    t.agent_image = from->agent_image;
    t.watched_s = from->watched_s;
    t.age_s = from->age_s;
    t.tasks_age_s = from->tasks_age_s;
    t.removing_s = from->removing_s;
    tell(&t, from, RESOURCE_POLICY, back);
    tell(&t, from, RESOURCE_GPU_NODE, back);
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        enum resource_id resource = (enum resource_id)(back ? RESOURCE_COUNT - 1 - i : i);
        if (resource != RESOURCE_POLICY && resource != RESOURCE_GPU_NODE &&
            t.cluster->tables[resource].ops.project)
            tell(&t, from, resource, back);
    }
    CLEANUP_JSON json_t *nodes = testbed_list(from, RESOURCE_NODE);
    pass(&t, nodes, false, &out);
    pass(&t, nodes, false, &out); /* with what the first one came to */
    free(t.passes->pull_failed);
    free(t.passes->pull_refused);
    testbed_clear(&t);
    return buf_take(&out);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The lines of a text in their order: what does not rest on each other may be sent in any. */
static char *sorted(char *text_steal)
{
    CLEANUP_FREE char *text = text_steal;
    size_t count = 0;
    CLEANUP_FREE char **lines = xcalloc(strlen(text) + 1, sizeof *lines);
    for (char *at, *rest = text; (at = strsep(&rest, "\n"));)
        lines[count++] = at;
    qsort(lines, count, sizeof *lines, compare_lines);
    struct buf out = BUF_INIT(TEXT_MAX);
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s\n", lines[i]);
    return buf_take(&out);
}

static void check_order(const struct testbed *t)
{
    CLEANUP_FREE char *there = sorted(decided(t, false)), *back = sorted(decided(t, true));
    if (str_eq(there, back))
        return;
    fprintf(stderr, "in this order:\n%s\nin the other one:\n%s\n", there, back);
    abort();
}

static void check_nothing_left(struct testbed *t)
{
    struct cluster *c = t->cluster;
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        if (!c->tables[i].ops.project)
            continue;
        table_list_begin(&c->tables[i]);
        table_list_end(&c->tables[i], 0);
        DEMAND(c->tables[i].records.len == 0);
    }
    DEMAND(c->slots.len == 0 && c->node_count == 0 && c->pending == 0 && c->refused.len == 0 &&
           !c->object && !c->policy_valid);
    DEMAND(intern_count(c->strings) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct harness h = { .at = data, .end = data + size };
    CLEANUP_JSON json_t *policy = tree("{'spec': {}}");
    log_setup(LOG_SILENT, false);
    testbed_init(&h.bed, policy);
    h.bed.may_refuse = true;
    for (int i = 0; i < EDITS_MAX && h.at < h.end; i++)
        next_edit(&h);
    check_order(&h.bed);
    check_nothing_left(&h.bed);
    free(h.bed.passes->pull_failed);
    free(h.bed.passes->pull_refused);
    testbed_clear(&h.bed);
    return 0;
}
