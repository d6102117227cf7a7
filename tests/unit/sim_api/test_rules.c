/* Kubernetes' own kinds: how the simulated API server reads them, what it fills in, and what it
 * refuses. The defaults and the words are those of kube-apiserver 1.36. */
#include "base/json.h"
#include "base/str.h"
#include "sim/api/quantity.h"
#include "sim/api/custom_rules.h"
#include "sim/api/rules.h"
#include "tests/unit/support/causes.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static struct custom_schemas *schemas;

#define TEMPLATE                                                                                   \
    "'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'a', "      \
    "'image': 'b'}]}}"
#define SELECTOR "'selector': {'matchLabels': {'a': 'b'}}"
#define POD_DEFAULTS                                                                               \
    "'restartPolicy': 'Always', 'terminationGracePeriodSeconds': 30, 'dnsPolicy': "                \
    "'ClusterFirst', 'securityContext': {}, "                                                      \
    "'schedulerName': 'default-scheduler'"
#define CONTAINER_DEFAULTS                                                                         \
    "'terminationMessagePath': '/dev/termination-log', 'terminationMessagePolicy': 'File', "       \
    "'resources': {}"
#define FULL_TEMPLATE                                                                              \
    "'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'a', "      \
    "'image': 'b', 'imagePullPolicy': "                                                            \
    "'Always', " CONTAINER_DEFAULTS "}], " POD_DEFAULTS "}}"

/* ---- reading: types and defaults */

static const struct read_row {
    const char *name;
    const char *kind;
    const char *object;
    const char *at; /* the part that is looked at */
    const char *want;
} reads[] = {
    { "a DaemonSet rolls one by one", "daemonsets", "{'spec': {" SELECTOR ", " TEMPLATE "}}",
      "spec",
      "{" SELECTOR ", " FULL_TEMPLATE
      ", 'revisionHistoryLimit': 10, 'updateStrategy': {'type': 'RollingUpdate', 'rollingUpdate': "
      "{'maxUnavailable': 1, 'maxSurge': 0}}}" },
    { "a DaemonSet that replaces on deletion has no numbers", "daemonsets",
      "{'spec': {'updateStrategy': {'type': 'OnDelete'}}}", "spec.updateStrategy",
      "{'type': 'OnDelete'}" },
    { "a DaemonSet's status counts from zero", "daemonsets", "{}", "status",
      "{'currentNumberScheduled': 0, 'numberMisscheduled': 0, 'desiredNumberScheduled': 0, "
      "'numberReady': 0}" },
    { "a Deployment", "deployments", "{'spec': {" SELECTOR ", " TEMPLATE "}}", "spec",
      "{" SELECTOR ", " FULL_TEMPLATE
      ", 'replicas': 1, 'revisionHistoryLimit': 10, 'progressDeadlineSeconds': 600, 'strategy': "
      "{'type': 'RollingUpdate', 'rollingUpdate': {'maxUnavailable': '25%', 'maxSurge': '25%'}}}" },
    { "a Job that says nothing runs once", "jobs",
      "{'spec': {'template': {'spec': {'restartPolicy': 'Never'}}}}", "spec.completions", "1" },
    { "a Job with a parallelism has no completions", "jobs",
      "{'spec': {'parallelism': 2, 'template': {}}}", "spec.completions", NULL },
    { "an image by digest is pulled once", "pods",
      "{'spec': {'containers': [{'name': 'a', 'image': 'r:5/b@sha256:00'}]}}", "spec.containers",
      "[{'name': 'a', 'image': 'r:5/b@sha256:00', 'imagePullPolicy': "
      "'IfNotPresent', " CONTAINER_DEFAULTS "}]" },
    { "an image without a tag is the latest", "pods",
      "{'spec': {'containers': [{'name': 'a', 'image': 'r:5/b'}]}}", "spec.containers",
      "[{'name': 'a', 'image': 'r:5/b', 'imagePullPolicy': 'Always', " CONTAINER_DEFAULTS "}]" },
    { "probes", "pods",
      "{'spec': {'containers': [{'name': 'a', 'image': 'b:1', 'livenessProbe': {'httpGet': "
      "{'port': 80}, 'initialDelaySeconds': "
      "0}}]}}",
      "spec.containers",
      "[{'name': 'a', 'image': 'b:1', 'imagePullPolicy': 'IfNotPresent', " CONTAINER_DEFAULTS
      ", 'livenessProbe': {'httpGet': {'port': 80, 'path': '/', "
      "'scheme': 'HTTP'}, 'timeoutSeconds': 1, 'periodSeconds': 10, 'successThreshold': 1, "
      "'failureThreshold': 3}}]" },
    { "what a pod's container is limited to is requested", "pods",
      "{'spec': {'containers': [{'name': 'a', 'image': 'b:1', 'resources': {'limits': {'cpu': 1, "
      "'nvidia.com/gpu': '1'}, "
      "'requests': {'cpu': '500m'}}}]}}",
      "spec.containers",
      "[{'name': 'a', 'image': 'b:1', 'imagePullPolicy': 'IfNotPresent', 'terminationMessagePath': "
      "'/dev/termination-log', "
      "'terminationMessagePolicy': "
      "'File', 'resources': {'limits': {'cpu': '1', 'nvidia.com/gpu': '1'}, 'requests': {'cpu': "
      "'500m', 'nvidia.com/gpu': "
      "'1'}}}]" },
    { "volumes", "pods",
      "{'spec': {'volumes': [{'name': 'a'}, {'name': 'b', 'hostPath': {'path': '/x'}}, {'name': "
      "'c', 'configMap': {'name': "
      "'d'}}]}}",
      "spec.volumes",
      "[{'name': 'a', 'emptyDir': {}}, {'name': 'b', 'hostPath': {'path': '/x', 'type': ''}}, "
      "{'name': 'c', 'configMap': "
      "{'name': 'd', 'defaultMode': 420}}]" },
    { "a pod on the host's network listens on the host", "pods",
      "{'spec': {'hostNetwork': true, 'containers': [{'name': 'a', 'image': 'b:1', 'ports': "
      "[{'containerPort': 80}]}]}}",
      "spec.containers",
      "[{'name': 'a', 'image': 'b:1', 'imagePullPolicy': 'IfNotPresent', " CONTAINER_DEFAULTS
      ", 'ports': [{'containerPort': 80, 'hostPort': 80, "
      "'protocol': 'TCP'}]}]" },
    { "a service account has two names", "pods", "{'spec': {'serviceAccountName': 'x'}}",
      "spec.serviceAccount", "'x'" },
    { "a service's ports", "services",
      "{'spec': {'ports': [{'port': 80}, {'port': 81, 'targetPort': 'm'}]}}", "spec.ports",
      "[{'port': 80, 'targetPort': 80, 'protocol': 'TCP'}, {'port': 81, 'targetPort': 'm', "
      "'protocol': 'TCP'}]" },
    { "what a node can take is what it has", "nodes",
      "{'status': {'capacity': {'cpu': 4, 'memory': '1024Mi'}}}", "status.allocatable",
      "{'cpu': '4', 'memory': '1Gi'}" },
    { "conditions have times", "nodes",
      "{'status': {'conditions': [{'type': 'Ready', 'status': 'True'}]}}", "status.conditions",
      "[{'type': 'Ready', 'status': 'True', 'lastHeartbeatTime': null, 'lastTransitionTime': "
      "null}]" },
    { "zeros, empty lists and nulls are nothing", "nodes",
      "{'metadata': {'labels': {}, 'finalizers': []}, 'spec': {'unschedulable': false, 'taints': "
      "[{'key': 'a', 'value': '', "
      "'effect': 'NoSchedule'}], "
      "'providerID': null}}",
      "spec", "{'taints': [{'key': 'a', 'effect': 'NoSchedule'}]}" },
    { "a lease without a holder says so", "leases",
      "{'spec': {'holderIdentity': '', 'leaseTransitions': 0}}", "spec",
      "{'holderIdentity': '', 'leaseTransitions': 0}" },
    { "times have the digits of their type", "events",
      "{'eventTime': '2026-11-20T10:00:00.500000Z', 'deprecatedFirstTimestamp': "
      "'2026-11-20T10:00:00.5Z'}",
      "",
      "{'metadata': {}, 'eventTime': '2026-11-20T10:00:00.500000Z', 'deprecatedFirstTimestamp': "
      "'2026-11-20T10:00:00Z', "
      "'deprecatedLastTimestamp': null, "
      "'deprecatedSource': {}, 'regarding': {}}" },
    { "a ControllerRevision's data stay as they are", "controllerrevisions",
      "{'data': {'a': null, 'b': [], 'c': ''}}", "data", "{'a': null, 'b': [], 'c': ''}" },
    { "unknown fields go", "configmaps", "{'data': {'a': 'b'}, 'foo': 1, 'metadata': {'bar': 2}}",
      "", "{'data': {'a': 'b'}, 'metadata': {}}" },
    { "a definition's names", "customresourcedefinitions",
      "{'spec': {'names': {'kind': 'FooBar', 'plural': 'foobars'}}}", "spec.names",
      "{'kind': 'FooBar', 'plural': 'foobars', 'singular': 'foobar', 'listKind': 'FooBarList'}" },
};

static void check_read(void **state)
{
    const struct read_row *row = *state;
    CLEANUP_JSON json_t *object = tree(row->object);
    CLEANUP_JSON json_t *untouched = json_deep_copy(object);
    CLEANUP_FREE char *why = NULL;
    CLEANUP_JSON json_t *read = rules_read(schemas, kind_named(row->kind), NULL, object, false,
                                           NULL, &why);
    assert_non_null(read);
    assert_true(json_equal(object, untouched));
    CLEANUP_JSON json_t *part = json_pack("[O*]", *row->at ? json_at(read, row->at) : read);
    CLEANUP_FREE char *want = row->want ? xasprintf("[%s]", row->want) : xstrdup("[]");
    assert_tree(part, want);
    /* Who reads it again finds nothing to do. */
    CLEANUP_JSON json_t *again = rules_read(schemas, kind_named(row->kind), NULL, read, true, NULL,
                                            &why);
    assert_true(json_equal(again, read));
}

static const struct wrong_row {
    const char *name;
    const char *kind;
    const char *object;
    bool strict;
    const char *want;
} wrongs[] = {
    { "text for a number", "daemonsets", "{'spec': {'revisionHistoryLimit': 'x'}}", false,
      "json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.revisionHistoryLimit "
      "of type int32" },
    { "a fraction", "daemonsets", "{'spec': {'revisionHistoryLimit': 1.5}}", false,
      "json: cannot unmarshal number 1.5 into Go struct field "
      "DaemonSetSpec.spec.revisionHistoryLimit of type int32" },
    { "a number that is too large", "daemonsets", "{'spec': {'revisionHistoryLimit': 99999999999}}",
      false,
      "json: cannot unmarshal number 99999999999 into Go struct field "
      "DaemonSetSpec.spec.revisionHistoryLimit of type int32" },
    { "a list for an object", "daemonsets", "{'spec': []}", false,
      "json: cannot unmarshal array into Go struct field DaemonSet.spec of type v1.DaemonSetSpec" },
    { "an object for a list", "daemonsets", "{'spec': {'template': {'spec': {'containers': {}}}}}",
      false,
      "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of "
      "type []v1.Container" },
    { "a member of an item", "daemonsets",
      "{'spec': {'template': {'spec': {'containers': [{'name': 5}]}}}}", false,
      "json: cannot unmarshal number into Go struct field "
      "Container.spec.template.spec.containers.name of type string" },
    { "text for a truth", "pods", "{'spec': {'hostPID': 'yes'}}", false,
      "json: cannot unmarshal string into Go struct field PodSpec.spec.hostPID of type bool" },
    { "a number among labels", "nodes", "{'metadata': {'labels': {'a': 5}}}", false,
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
      "string" },
    { "a list of labels", "nodes", "{'metadata': {'labels': ['a']}}", false,
      "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type "
      "map[string]string" },
    { "text for metadata", "nodes", "{'metadata': 'x'}", false,
      "json: cannot unmarshal string into Go struct field Node.metadata of type v1.ObjectMeta" },
    { "no time", "leases", "{'spec': {'renewTime': 'x'}}", false,
      "parsing time \"x\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"x\" as "
      "\"2006\"" },
    { "a time with too few digits", "leases", "{'spec': {'renewTime': '2026-11-20T10:00:00Z'}}",
      false,
      "parsing time \"2026-11-20T10:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
      "\"Z\" as \".000000\"" },
    { "no quantity", "nodes", "{'status': {'capacity': {'cpu': 'abc'}}}", false,
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
    { "no base64", "configmaps", "{'binaryData': {'a': '!!'}}", false,
      "illegal base64 data at input byte 0" },
    { "unknown fields, strictly", "daemonsets",
      "{'spec': {'foo': 1, 'template': {'spec': {'containers': [{'name': 'a', 'zip': 5}]}}}}", true,
      "strict decoding error: unknown field \"spec.foo\", unknown field "
      "\"spec.template.spec.containers[0].zip\"" },
};

static void check_wrong(void **state)
{
    const struct wrong_row *row = *state;
    CLEANUP_JSON json_t *object = tree(row->object);
    CLEANUP_FREE char *why = NULL;
    CLEANUP_JSON json_t *read = rules_read(schemas, kind_named(row->kind), NULL, object,
                                           row->strict, NULL, &why);
    assert_null(read);
    assert_string_equal(why, row->want);
}

/* ---- new objects */

static const struct new_row {
    const char *name;
    const char *kind;
    const char *object;
    const char *at;
    const char *want;
} news[] = {
    { "a new node takes no pods", "nodes",
      "{'spec': {'taints': [{'key': 'a', 'effect': 'NoSchedule'}]}}", "spec.taints",
      "[{'key': 'a', 'effect': 'NoSchedule'}, {'key': 'node.kubernetes.io/not-ready', 'effect': "
      "'NoSchedule'}]" },
    { "a new node may bring its status", "nodes", "{'status': {'phase': 'x'}}", "status.phase",
      "'x'" },
    { "a new pod is pending", "pods",
      "{'spec': {'containers': []}, 'status': {'phase': 'Running'}}", "status",
      "{'phase': 'Pending', 'qosClass': 'BestEffort'}" },
    { "a pod with limits alone is guaranteed", "pods",
      "{'spec': {'containers': [{'name': 'a', 'resources': {'limits': {'cpu': '1', 'memory': "
      "'1'}}}]}}",
      "status.qosClass", "'Guaranteed'" },
    { "a pod stays five minutes", "pods",
      "{'spec': {'tolerations': [{'key': 'node.kubernetes.io/not-ready', 'operator': 'Exists'}]}}",
      "spec.tolerations",
      "[{'key': 'node.kubernetes.io/not-ready', 'operator': 'Exists'}, {'key': "
      "'node.kubernetes.io/unreachable', 'operator': "
      "'Exists', 'effect': "
      "'NoExecute', 'tolerationSeconds': 300}]" },
    { "a pod of the system comes first", "pods",
      "{'spec': {'priorityClassName': 'system-node-critical'}}", "spec.priority", "2000001000" },
    { "a DaemonSet brings no status", "daemonsets", "{'status': {'numberReady': 5}}",
      "status.numberReady", "0" },
    { "a DaemonSet's template is its first", "daemonsets", "{}", "metadata.annotations",
      "{'deprecated.daemonset.template.generation': '1'}" },
    { "a service has an address", "services",
      "{'metadata': {'name': 'a', 'namespace': 'b'}, 'spec': {'ports': [{'port': 1}]}}",
      "spec.ipFamilies", "['IPv4']" },
    { "a service without one says so", "services", "{'spec': {'clusterIP': 'None'}}",
      "spec.clusterIPs", "['None']" },
    { "a namespace carries its name", "namespaces", "{'metadata': {'name': 'x'}}",
      "metadata.labels", "{'kubernetes.io/metadata.name': 'x'}" },
    { "a job selects by its uid", "jobs",
      "{'metadata': {'name': 'j', 'uid': 'u'}, 'spec': {'template': {}}}", "spec.selector",
      "{'matchLabels': {'batch.kubernetes.io/controller-uid': 'u'}}" },
    { "a job's pods carry its uid", "jobs",
      "{'metadata': {'name': 'j', 'uid': 'u'}, 'spec': {'template': {}}}",
      "spec.template.metadata.labels",
      "{'batch.kubernetes.io/controller-uid': 'u', 'controller-uid': 'u', "
      "'batch.kubernetes.io/job-name': 'j', 'job-name': "
      "'j'}" },
};

static json_t *read_of(const struct kind *k, const json_t *before, const char *text)
{
    CLEANUP_JSON json_t *object = tree(text);
    CLEANUP_FREE char *why = NULL;
    json_t *read = rules_read(schemas, k, before, object, false, NULL, &why);
    if (!read)
        fail_msg("%s", why);
    return read;
}

static void check_new(void **state)
{
    const struct new_row *row = *state;
    const struct kind *k = kind_named(row->kind);
    CLEANUP_JSON json_t *object = read_of(k, NULL, row->object);
    rules_prepare_create(schemas, k, object);
    CLEANUP_JSON json_t *part = json_pack("[O*]", json_at(object, row->at));
    CLEANUP_FREE char *want = xasprintf("[%s]", row->want);
    assert_tree(part, want);
}

/* ---- updates */

static const struct update_row {
    const char *name;
    const char *kind;
    const char *before;
    const char *subresource;
    const char *after;
    const char *at;
    const char *want;
    bool generation;
} updates[] = {
    { "who writes the spec does not write the status", "daemonsets",
      "{'status': {'numberReady': 1}}", "", "{'status': {'numberReady': 2}}", "status.numberReady",
      "1", false },
    { "who writes the status does not write the spec", "nodes", "{'spec': {}}", "status",
      "{'spec': {'unschedulable': true}}", "spec", "{}", false },
    { "who writes a status may label", "nodes", "{}", "status",
      "{'metadata': {'labels': {'a': 'b'}}}", "metadata.labels", "{'a': 'b'}", false },
    { "who writes the policy's status may not", "gpuclusterpolicies", "{'spec': {}}", "status",
      "{'metadata': {'labels': {'a': 'b'}}, 'spec': {}}", "metadata.labels", NULL, false },
    { "a change of the template is counted", "daemonsets",
      "{'metadata': {'annotations': {'deprecated.daemonset.template.generation': '3'}}}", "",
      "{'spec': {" TEMPLATE "}}", "metadata.annotations",
      "{'deprecated.daemonset.template.generation': '4'}", true },
    { "other changes are not", "daemonsets",
      "{'metadata': {'annotations': {'deprecated.daemonset.template.generation': '3'}}}", "",
      "{'spec': {'minReadySeconds': 5}}", "metadata.annotations",
      "{'deprecated.daemonset.template.generation': '3'}", true },
    { "a Deployment's annotations count", "deployments", "{}", "",
      "{'metadata': {'annotations': {'a': 'b'}}}", "metadata.annotations", "{'a': 'b'}", true },
    { "a Deployment's labels do not", "deployments", "{}", "",
      "{'metadata': {'labels': {'a': 'b'}}}", "metadata.labels", "{'a': 'b'}", false },
    { "the policy's spec counts", "gpuclusterpolicies", "{'spec': {}}", "",
      "{'spec': {'driver': {}}}", "spec", "{'driver': {}}", true },
    { "a ServiceMonitor has no status", "servicemonitors", "{'spec': {'selector': {}}}", "",
      "{'spec': {'selector': {}}, 'metadata': {'labels': {'a': 'b'}}}", "metadata.labels",
      "{'a': 'b'}", false },
    { "an address stays though it is left out", "services",
      "{'spec': {'clusterIP': '10.96.1.1', 'clusterIPs': ['10.96.1.1']}}", "", "{'spec': {}}",
      "spec.clusterIP", "'10.96.1.1'", false },
    { "a pod that gets its node", "pods", "{'spec': {}}", "binding", "{'spec': {'nodeName': 'n'}}",
      "spec.nodeName", "'n'", false },
    { "a pod's priority stays", "pods", "{'spec': {'priority': 5}}", "", "{'spec': {}}",
      "spec.priority", "5", true },
};

static void check_update(void **state)
{
    const struct update_row *row = *state;
    const struct kind *k = kind_named(row->kind);
    CLEANUP_JSON json_t *before = read_of(k, NULL, row->before);
    json_object_set_new(before, "kind", json_string(k->kind));
    json_object_set_new(before, "apiVersion", json_string(kind_api_version(k)));
    CLEANUP_JSON json_t *untouched = json_deep_copy(before);
    CLEANUP_JSON json_t *after = read_of(k, before, row->after);
    rules_prepare_update(schemas, k, row->subresource, before, after);
    json_object_set(after, "kind", json_object_get(before, "kind"));
    json_object_set(after, "apiVersion", json_object_get(before, "apiVersion"));
    CLEANUP_JSON json_t *part = json_pack("[O*]", json_at(after, row->at));
    CLEANUP_FREE char *want = row->want ? xasprintf("[%s]", row->want) : xstrdup("[]");
    assert_tree(part, want);
    assert_int_equal(rules_generation_changes(k, before, after), row->generation);
    assert_true(json_equal(before, untouched));
}

/* ---- what is refused */

static const struct refuse_row {
    const char *name;
    const char *kind;
    const char *before; /* NULL: a create */
    const char *after;
    const char *want; /* "" = accepted */
} refusals[] = {
    { "a name", "configmaps", NULL, "{'metadata': {'name': 'Foo_'}}",
      "Invalid metadata.name: Invalid value: \"Foo_\": a lowercase RFC 1123 subdomain must consist "
      "of lower case alphanumeric "
      "characters, '-' or '.',…\n" },
    { "a namespace with dots", "namespaces", NULL, "{'metadata': {'name': 'a.b'}}",
      "Invalid metadata.name: Invalid value: \"a.b\": must not contain dots\n" },
    { "a label's key", "nodes", "{'metadata': {'name': 'n'}}",
      "{'metadata': {'name': 'n', 'labels': {'/x': ''}}}",
      "Invalid metadata.labels: Invalid value: \"/x\": prefix part must be non-empty\n" },
    { "a label's value", "nodes", "{'metadata': {'name': 'n'}}",
      "{'metadata': {'name': 'n', 'labels': {'x': '%'}}}",
      "Invalid metadata.labels: Invalid value: \"%\": a valid label must be an empty string or "
      "consist of alphanumeric "
      "characters, '-', '_' or '.', and…\n" },
    { "an owner", "configmaps", NULL,
      "{'metadata': {'name': 'a', 'ownerReferences': [{'apiVersion': 'v1', 'kind': 'Pod', 'name': "
      "'p'}]}}",
      "Invalid metadata.ownerReferences.uid: Invalid value: \"\": must not be empty\n" },
    { "a finalizer", "nodes", NULL, "{'metadata': {'name': 'a', 'finalizers': ['foo', 'a/b']}}",
      "Invalid metadata.finalizers[0]: Invalid value: \"foo\": name is neither a standard "
      "finalizer name nor is it fully "
      "qualified\n" },
    { "taints", "nodes", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'taints': [{'key': 'a', 'effect': 'x'}, {'key': 'b', "
      "'effect': 'NoSchedule'}, "
      "{'key': 'b', 'effect': "
      "'NoSchedule', 'value': 'c'}, {'key': 'd'}]}}",
      "NotSupported metadata.taints[0].effect: Unsupported value: \"x\": supported values: "
      "\"NoSchedule\", \"PreferNoSchedule\", "
      "\"NoExecute\"\n"
      "Duplicate metadata.taints[2]: Duplicate value: "
      "{\"Key\":\"b\",\"Value\":\"c\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: taints must "
      "be unique by key and eff…\n"
      "Required metadata.taints[3].effect: Required value\n" },
    { "what a node has is no less than none, and GPUs are whole", "nodes",
      "{'metadata': {'name': 'a'}}",
      "{'metadata': {'name': 'a'}, 'status': {'capacity': {'cpu': '-1', 'nvidia.com/gpu': '500m'}, "
      "'allocatable': {'cpu': "
      "'500m'}}}",
      "Invalid status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0\n"
      "Invalid status.capacity.nvidia.com/gpu: Invalid value: \"500m\": must be an integer\n" },
    { "a deadline beyond what is counted", "pods", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'activeDeadlineSeconds': 2147483648, 'containers': "
      "[{'name': 'a', 'image': 'b'}]}}",
      "Invalid spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and "
      "2147483647, inclusive\n" },
    { "the same key with two effects", "nodes", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'taints': [{'key': 'a', 'effect': 'NoExecute'}, "
      "{'key': 'a', 'effect': "
      "'NoSchedule'}]}}",
      "" },
    { "a DaemonSet without anything", "daemonsets", NULL, "{'metadata': {'name': 'a'}}",
      "Invalid spec.template.metadata.labels: Invalid value: null: `selector` does not match "
      "template `labels`\n"
      "Required spec.template.spec.containers: Required value\n" },
    { "a template that is not selected", "daemonsets", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'selector': {'matchLabels': {'a': 'c'}}, " TEMPLATE
      "}}",
      "Invalid spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
      "match template `labels`\n" },
    { "a selector that changes", "daemonsets",
      "{'metadata': {'name': 'a'}, 'spec': {" SELECTOR ", " TEMPLATE "}}",
      "{'metadata': {'name': 'a'}, 'spec': {'selector': {'matchExpressions': [{'key': 'a', "
      "'operator': 'Exists'}]}, " TEMPLATE "}}",
      "Invalid spec.selector: Invalid value: "
      "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}: field is "
      "immutable\n" },
    { "containers", "daemonsets", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {" SELECTOR
      ", 'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'a'}, "
      "{'name': "
      "'a', 'image': 'b', 'volumeMounts': [{'name': 'q', 'mountPath': '/x'}]}]}}}}",
      "Required spec.template.spec.containers[0].image: Required value\n"
      "NotFound spec.template.spec.containers[1].volumeMounts[0].name: Not found: \"q\"\n"
      "Duplicate spec.template.spec.containers[1].name: Duplicate value: \"a\"\n" },
    { "GPUs are whole, and requested as they are limited", "pods", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'containers': [{'name': 'a', 'image': 'b', "
      "'resources': {'limits': "
      "{'nvidia.com/gpu': '1500m'}, 'requests': "
      "{'nvidia.com/gpu': '1'}}}]}}",
      "Invalid spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"1500m\": must "
      "be an integer\n"
      "Invalid spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to "
      "nvidia.com/gpu limit of 1500m\n" },
    { "an unavailability of nothing", "daemonsets", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {" SELECTOR ", " TEMPLATE
      ", 'updateStrategy': {'rollingUpdate': {'maxUnavailable': 0}}}}",
      "Required spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when "
      "maxSurge is 0\n" },
    { "a strategy", "daemonsets", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {" SELECTOR ", " TEMPLATE
      ", 'updateStrategy': {'type': 'X'}}}",
      "NotSupported spec.updateStrategy: Unsupported value: {\"type\":\"X\"}: supported values: "
      "\"RollingUpdate\", "
      "\"OnDelete\"\n" },
    { "tolerations", "runtimeclasses", NULL,
      "{'metadata': {'name': 'a'}, 'handler': 'a', 'scheduling': {'tolerations': [{'operator': "
      "'Exists', 'value': 'x'}, {'key': "
      "'k', 'effect': 'X'}]}}",
      "Invalid scheduling.tolerations[0].operator: Invalid value: \"x\": value must be empty when "
      "`operator` is 'Exists'\n"
      "NotSupported scheduling.tolerations[1].effect: Unsupported value: \"X\": supported values: "
      "\"NoSchedule\", "
      "\"PreferNoSchedule\", \"NoExecute\"\n" },
    { "a handler that changes", "runtimeclasses", "{'metadata': {'name': 'a'}, 'handler': 'a'}",
      "{'metadata': {'name': 'a'}, 'handler': 'b'}",
      "Invalid handler: Invalid value: \"b\": field is immutable\n" },
    { "data that change", "controllerrevisions", "{'metadata': {'name': 'a'}, 'data': {'a': 1}}",
      "{'metadata': {'name': 'a'}, 'data': {'a': 2}}",
      "Invalid data: Invalid value: {\"a\":2}: field is immutable\n" },
    { "a revision without data", "controllerrevisions", NULL, "{'metadata': {'name': 'a'}}",
      "Required data: Required value: data is mandatory\n" },
    { "a lease of no time", "leases", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'leaseDurationSeconds': 0, 'leaseTransitions': -1}}",
      "Invalid spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\n"
      "Invalid spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0\n" },
    { "a budget", "poddisruptionbudgets", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'minAvailable': '101%', 'unhealthyPodEvictionPolicy': "
      "'x'}}",
      "Invalid spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%\n"
      "NotSupported spec.unhealthyPodEvictionPolicy: Unsupported value: \"x\": supported values: "
      "\"AlwaysAllow\", "
      "\"IfHealthyBudget\"\n" },
    { "keys of a ConfigMap", "configmaps", NULL, "{'metadata': {'name': 'a'}, 'data': {'..': 'z'}}",
      "Invalid data[..]: Invalid value: \"..\": must not be '..'\n" },
    { "a ConfigMap that is fixed", "configmaps",
      "{'metadata': {'name': 'a'}, 'data': {'a': 'b'}, 'immutable': true}",
      "{'metadata': {'name': 'a'}, 'data': {'a': 'c'}, 'immutable': true}",
      "Forbidden data: Forbidden: field is immutable when `immutable` is set\n" },
    { "a service without ports", "services", NULL, "{'metadata': {'name': 'a'}}",
      "Required spec.ports: Required value\n" },
    { "an address that changes", "services",
      "{'metadata': {'name': 'a'}, 'spec': {'clusterIP': '10.96.0.2', 'ports': [{'port': 1}]}}",
      "{'metadata': {'name': 'a'}, 'spec': {'clusterIP': '10.96.0.3', 'ports': [{'port': 1}]}}",
      "Invalid spec.clusterIPs[0]: Invalid value: [\"10.96.0.3\"]: may not change once set\n" },
    { "a pod may get another image", "pods",
      "{'metadata': {'name': 'a'}, 'spec': {'containers': [{'name': 'a', 'image': 'b:1'}]}}",
      "{'metadata': {'name': 'a'}, 'spec': {'containers': [{'name': 'a', 'image': 'c:1'}]}}", "" },
    { "and nothing else", "pods",
      "{'metadata': {'name': 'a'}, 'spec': {'containers': [{'name': 'a', 'image': 'b:1'}]}}",
      "{'metadata': {'name': 'a'}, 'spec': {'nodeName': 'n', 'containers': [{'name': 'a', 'image': "
      "'b:1'}]}}",
      "Forbidden spec: Forbidden: pod updates may not change fields other than "
      "`spec.containers[*].image`,`spec.initContainers[*].image`,`sp…\n" },
    { "a job's template", "jobs", NULL,
      "{'metadata': {'name': 'a'}, 'spec': {'manualSelector': true, " SELECTOR ", " TEMPLATE "}}",
      "Required spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
      "\"Never\"\n" },
    { "a class of the user's own", "priorityclasses", NULL,
      "{'metadata': {'name': 'a'}, 'value': 2000000000}",
      "Forbidden value: Forbidden: maximum allowed value of a user defined priority is "
      "1000000000\n" },
    { "an event says when", "events", NULL, "{'metadata': {'name': 'a'}}",
      "Required eventTime: Required value\nInvalid type: Invalid value: \"\": has invalid value: "
      "\n" },
};

static void check_refusal(void **state)
{
    const struct refuse_row *row = *state;
    const struct kind *k = kind_named(row->kind);
    CLEANUP_JSON json_t *before = row->before ? read_of(k, NULL, row->before) : NULL;
    CLEANUP_JSON json_t *after = read_of(k, before, row->after);
    CLEANUP_REFUSAL struct refusal r = { 0 };
    assert_int_equal(rules_validate(schemas, k, "", before, after, &r), *row->want ? -1 : 0);
    CLEANUP_FREE char *got = causes_text(&r);
    assert_string_equal(got, row->want);
}

/* ---- amounts */

static const struct amount_row {
    const char *name;
    const char *text;
    const char *want; /* NULL: it is none */
} amounts[] = {
    { "plain", "100", "100" },
    { "a thousand", "1000", "1k" },
    { "thousandths that are whole", "1000m", "1" },
    { "a fraction", "0.5", "500m" },
    { "binary", "1024Mi", "1Gi" },
    { "a fraction of a binary one", "1.5Gi", "1536Mi" },
    { "a small binary one", "0.5Ki", "512" },
    { "an exponent", "2e3", "2e3" },
    { "zero", "0Gi", "0" },
    { "negative", "-1500m", "-1500m" },
    { "less than a billionth is rounded up", "0.1n", "1n" },
    { "no number", "Gi", NULL },
    { "nothing", "", NULL },
    { "two points", "1.2.3", NULL },
    { "an unknown suffix", "1Q", NULL },
    { "an exponent without a number", "1e", NULL },
    { "too large", "99999999999999999999E", NULL },
    { "very long", "1000000000000000000000000000000000000000", NULL },
};

static void check_amount(void **state)
{
    const struct amount_row *row = *state;
    struct quantity q;
    assert_int_equal(quantity_parse(row->text, &q), row->want != NULL);
    if (!row->want)
        return;
    CLEANUP_FREE char *text = quantity_text(&q);
    assert_string_equal(text, row->want);
}

/* Each kind can be found by its path and by its type. */
static void check_kinds(void **state)
{
    (void) state;
    for (size_t i = 0; i < kind_count(); i++) {
        const struct kind *k = kind_at(i);
        assert_int_equal(kind_index(k), i);
        assert_ptr_equal(kind_of_path(k->group, k->version, k->plural), k);
        assert_ptr_equal(kind_of(kind_api_version(k), k->kind), k);
    }
    assert_null(kind_of("v2", "Pod"));
    assert_null(kind_of_path("", "v1", "deployments"));
    assert_string_equal(kind_api_version(kind_named("pods")), "v1");
    assert_string_equal(kind_api_version(kind_named("daemonsets")), "apps/v1");
    assert_string_equal(kind_named("events")->group, "events.k8s.io");
}

int main(void)
{
    schemas = custom_schemas_new();
    struct suite s = { 0 };
    suite_add(&s, "kinds", check_kinds, NULL);
    SUITE_ROWS(&s, check_read, reads);
    SUITE_ROWS(&s, check_wrong, wrongs);
    SUITE_ROWS(&s, check_new, news);
    SUITE_ROWS(&s, check_update, updates);
    SUITE_ROWS(&s, check_refusal, refusals);
    SUITE_ROWS(&s, check_amount, amounts);
    int rc = suite_run(&s, "rules");
    custom_schemas_free(schemas);
    return rc;
}
