#include "sim/api/table.h"

#include "kube/object.h"
#include "sim/api/extras.h"
#include "tests/unit/sim_api/served.h"

/* ---- durations */

static const struct duration_row {
    const char *name;
    int64_t s;
    const char *text;
} durations[] = {
    { "in the future", -2, "<invalid>" },
    { "a second that clocks differ by", -1, "0s" },
    { "now", 0, "0s" },
    { "almost two minutes", 119, "119s" },
    { "two minutes", 120, "2m" },
    { "minutes and seconds", 125, "2m5s" },
    { "almost ten minutes", 599, "9m59s" },
    { "ten minutes", 605, "10m" },
    { "almost three hours", 10799, "179m" },
    { "three hours", 10800, "3h" },
    { "hours and minutes", 10860, "3h1m" },
    { "eight hours", 28860, "8h" },
    { "almost two days", 172799, "47h" },
    { "two days", 172800, "2d" },
    { "days and hours", 180000, "2d2h" },
    { "eight days", 8 * 86400 + 7200, "8d" },
    { "almost two years", 729 * 86400, "729d" },
    { "two years", 730 * 86400, "2y" },
    { "years and days", INT64_C(733) * 86400, "2y3d" },
    { "eight years", INT64_C(2930) * 86400, "8y" },
};

static void check_duration(void **state)
{
    const struct duration_row *row = *state;
    CLEANUP_FREE char *text = table_duration(row->s * 1000000);
    assert_string_equal(text, row->text);
}

/* ---- paths of printer columns */

static const char picked_from[] =
    "{'a': {'b': 'x', 'c.d': 'y', 'list': [{'type': 'Other', 'status': 'False'}, {'type': 'Ready', "
    "'status': 'True'}]}}";

static const struct pick_row {
    const char *name;
    const char *path;
    const char *value; /* NULL: none */
} picks[] = {
    { "a key in a key", ".a.b", "x" },
    { "a key that is not there", ".a.z", NULL },
    { "a key of text", ".a.b.c", NULL },
    { "a key with a dot, quoted", ".a['c.d']", "y" },
    { "a key with a dot, in other quotes", ".a[\"c.d\"]", "y" },
    { "a key with a dot, after a backslash", ".a.c\\.d", "y" },
    { "a place", ".a.list[1].type", "Ready" },
    { "a place that is not there", ".a.list[2].type", NULL },
    { "all places are the first", ".a.list[*].type", "Other" },
    { "an item by its type", ".a.list[?(@.type==\"Ready\")].status", "True" },
    { "an item by its type, in other quotes", ".a.list[?(@.type=='Other')].status", "False" },
    { "an item that is not there", ".a.list[?(@.type==\"None\")].status", NULL },
    { "another comparison", ".a.list[?(@.type>\"A\")].status", NULL },
    { "a bracket that does not end", ".a.list[1", NULL },
    { "a quote that does not end", ".a['c.d", NULL },
    { "no dot at the beginning", "a.b", NULL },
    { "a word that is no place", ".a.list[last]", NULL },
};

static void check_pick(void **state)
{
    const struct pick_row *row = *state;
    CLEANUP_JSON json_t *object = tree(picked_from);
    const char *value = json_string_value(pick(object, row->path));
    if (row->value)
        assert_string_equal(value, row->value);
    else
        assert_null(value);
}

/* A key that is longer than any that a path can name, which must not be cut into another one. */
static void check_long_word(void **state)
{
    (void) state;
    char path[1002] = ".";
    memset(path + 1, 'a', 1000);
    path[1001] = '\0';
    CLEANUP_JSON json_t *object = json_object();
    json_object_set_new(object, path + 1, json_string("x"));
    assert_null(pick(object, path));
}

/* ---- cells */

#define POD(spec, status)                                                                          \
    "{'metadata': {'name': 'p', 'creationTimestamp': '2026-11-20T09:59:00Z'}, 'spec': {" spec      \
    "}, 'status': {" status "}}"
#define ONE "'containers': [{'name': 'main'}]"
#define TWO "'containers': [{'name': 'main'}, {'name': 'side'}]"
#define INIT ONE ", 'initContainers': [{'name': 'one'}, {'name': 'two'}]"
#define SIDECAR ONE ", 'initContainers': [{'name': 'one', 'restartPolicy': 'Always'}]"
#define STATE(name, rest) "{'name': '" name "', 'restartCount': 0, 'state': {" rest "}}"
#define RUNS(name)                                                                                 \
    "{'name': '" name "', 'ready': true, 'restartCount': 0, 'state': {'running': {}}}"
#define NO_MORE "'<none>', '<none>', '<none>', '<none>'"

/* What is compared are the cells after the name and without the age. */
static const struct cells_row {
    const char *name;
    const char *plural;
    const char *object;
    const char *cells;
} cells[] = {
    { "a pod that no kubelet has seen", "pods", POD(ONE, "'phase': 'Pending'"),
      "['p', '0/1', 'Pending', '0', '60s', " NO_MORE "]" },
    { "a pod that runs", "pods",
      POD(ONE ", 'nodeName': 'n'",
          "'phase': 'Running', 'podIPs': [{'ip': '10.0.0.1'}], 'containerStatuses': [" RUNS(
              "main") "]"),
      "['p', '1/1', 'Running', '0', '60s', '10.0.0.1', 'n', '<none>', '<none>']" },
    { "a pod that waits for its image", "pods",
      POD(ONE, "'phase': 'Pending', 'containerStatuses': [" STATE(
                   "main", "'waiting': {'reason': 'ErrImagePull'}") "]"),
      "['p', '0/1', 'ErrImagePull', '0', '60s', " NO_MORE "]" },
    { "a pod that crashes", "pods",
      POD(ONE,
          "'phase': 'Running', 'containerStatuses': [{'name': 'main', 'restartCount': 4, 'state': "
          "{'waiting': {'reason': "
          "'CrashLoopBackOff'}}, "
          "'lastState': {'terminated': {'exitCode': 1, 'finishedAt': '2026-11-20T09:58:55Z'}}}]"),
      "['p', '0/1', 'CrashLoopBackOff', '4 (65s ago)', '60s', " NO_MORE "]" },
    { "a pod that has done its work", "pods",
      POD(ONE, "'phase': 'Succeeded', 'containerStatuses': [" STATE(
                   "main", "'terminated': {'exitCode': 0, 'reason': "
                           "'Completed'}") "]"),
      "['p', '0/1', 'Completed', '0', '60s', " NO_MORE "]" },
    { "a pod that was ended by a signal", "pods",
      POD(ONE, "'phase': 'Failed', 'containerStatuses': [" STATE(
                   "main", "'terminated': {'exitCode': 137, 'signal': 9}") "]"),
      "['p', '0/1', 'Signal:9', '0', '60s', " NO_MORE "]" },
    { "a pod that ended with a code", "pods",
      POD(ONE, "'phase': 'Failed', 'containerStatuses': [" STATE(
                   "main", "'terminated': {'exitCode': 3}") "]"),
      "['p', '0/1', 'ExitCode:3', '0', '60s', " NO_MORE "]" },
    { "a pod with a reason of its own", "pods", POD(ONE, "'phase': 'Failed', 'reason': 'Evicted'"),
      "['p', '0/1', 'Evicted', '0', '60s', " NO_MORE "]" },
    { "a pod of which one container has ended", "pods",
      POD(TWO, "'phase': 'Running', 'containerStatuses': [" STATE(
                   "main",
                   "'terminated': {'exitCode': 0, 'reason': 'Completed'}") ", " RUNS("side") "]"),
      "['p', '1/2', 'NotReady', '0', '60s', " NO_MORE "]" },
    { "a ready pod of which one container has ended", "pods",
      POD(TWO, "'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}], "
               "'containerStatuses': [" STATE(
                   "main",
                   "'terminated': {'exitCode': 0, 'reason': 'Completed'}") ", " RUNS("side") "]"),
      "['p', '1/2', 'Running', '0', '60s', " NO_MORE "]" },
    { "a pod of which one container has failed", "pods",
      POD(TWO,
          "'phase': 'Failed', 'containerStatuses': [" STATE(
              "main",
              "'terminated': {'exitCode': 0, 'reason': 'Completed'}") ", " STATE("side",
                                                                                 "'terminated': "
                                                                                 "{'exitCode': 2, "
                                                                                 "'reason': "
                                                                                 "'Error'}") "]"),
      "['p', '0/2', 'Error', '0', '60s', " NO_MORE "]" },
    { "a pod whose first init container runs", "pods",
      POD(INIT, "'phase': 'Pending', 'initContainerStatuses': [" RUNS("one") "]"),
      "['p', '0/1', 'Init:0/2', '0', '60s', " NO_MORE "]" },
    { "a pod whose second init container waits its turn", "pods",
      POD(INIT,
          "'phase': 'Pending', 'initContainerStatuses': [" STATE(
              "one", "'terminated': {'exitCode': 0}") ", " STATE("two", "'waiting': {'reason': "
                                                                        "'PodInitializing'}") "]"),
      "['p', '0/1', 'Init:1/2', '0', '60s', " NO_MORE "]" },
    { "a pod whose init container crashes", "pods",
      POD(INIT, "'phase': 'Pending', 'initContainerStatuses': [" STATE(
                    "one", "'waiting': {'reason': 'CrashLoopBackOff'}") "]"),
      "['p', '0/1', 'Init:CrashLoopBackOff', '0', '60s', " NO_MORE "]" },
    { "a pod whose init container has failed", "pods",
      POD(INIT, "'phase': 'Pending', 'initContainerStatuses': [" STATE(
                    "one", "'terminated': {'exitCode': 1, 'reason': 'Error'}") "]"),
      "['p', '0/1', 'Init:Error', '0', '60s', " NO_MORE "]" },
    { "a pod with a sidecar", "pods",
      POD(SIDECAR, "'phase': 'Running', 'containerStatuses': [" RUNS(
                       "main") "], 'initContainerStatuses': "
                               "[{'name': 'one', 'ready': true, 'started': true, "
                               "'restartCount': 2, 'state': {'running': {}}}]"),
      "['p', '2/2', 'Running', '2', '60s', " NO_MORE "]" },
    { "restarts of init containers that are over do not count", "pods",
      POD(INIT, "'phase': 'Running', 'containerStatuses': [" RUNS(
                    "main") "], 'initContainerStatuses': "
                            "[{'name': 'one', 'restartCount': 2, 'state': "
                            "{'terminated': {'exitCode': 0}}}]"),
      "['p', '1/1', 'Running', '0', '60s', " NO_MORE "]" },
    { "a pod that goes", "pods",
      "{'metadata': {'name': 'p', 'deletionTimestamp': '2026-11-20T10:00:00Z'}, 'spec': {" ONE
      "}, 'status': {'phase': "
      "'Running'}}",
      "['p', '0/1', 'Terminating', '0', '<unknown>', " NO_MORE "]" },
    { "a pod that goes from a node that is lost", "pods",
      "{'metadata': {'name': 'p', 'deletionTimestamp': '2026-11-20T10:00:00Z'}, 'spec': {" ONE
      "}, 'status': {'phase': "
      "'Running', 'reason': "
      "'NodeLost'}}",
      "['p', '0/1', 'Unknown', '0', '<unknown>', " NO_MORE "]" },
    { "a pod that has ended and goes", "pods",
      "{'metadata': {'name': 'p', 'deletionTimestamp': '2026-11-20T10:00:00Z'}, 'spec': {" ONE
      "}, 'status': {'phase': "
      "'Succeeded'}}",
      "['p', '0/1', 'Succeeded', '0', '<unknown>', " NO_MORE "]" },
    { "a pod with gates", "pods",
      POD(ONE ", 'readinessGates': [{'conditionType': 'a'}, {'conditionType': 'b'}]",
          "'phase': 'Pending', 'conditions': "
          "[{'type': 'a', 'status': 'True'}, "
          "{'type': 'PodScheduled', 'status': "
          "'False', 'reason': 'SchedulingGated'}]"),
      "['p', '0/1', 'SchedulingGated', '0', '60s', '<none>', '<none>', '<none>', '1/2']" },

    { "a node that says nothing", "nodes", "{'metadata': {'name': 'n'}}",
      "['n', 'Unknown', '<none>', '<unknown>', '', '<none>', '<none>', '<unknown>', '<unknown>', "
      "'<unknown>']" },
    { "a node that is not ready and cordoned, with roles", "nodes",
      "{'metadata': {'name': 'n', 'labels': {'node-role.kubernetes.io/worker': '', "
      "'node-role.kubernetes.io/gpu': '', "
      "'kubernetes.io/role': 'gpu'}}, "
      "'spec': {'unschedulable': true}, 'status': {'conditions': [{'type': 'Ready', 'status': "
      "'Unknown'}], 'nodeInfo': "
      "{'kernelVersion': '6.8.0', "
      "'architecture': 'arm64', 'kubeletVersion': 'v1'}, 'addresses': [{'type': 'InternalIP', "
      "'address': '10.0.0.1'}]}}",
      "['n', 'NotReady,SchedulingDisabled', 'gpu,worker', '<unknown>', 'v1', '10.0.0.1', '<none>', "
      "'<unknown>', '6.8.0 (arm64)', "
      "'<unknown>']" },

    { "a daemonset", "daemonsets",
      "{'metadata': {'name': 'd'}, 'spec': {'selector': {'matchLabels': {'b': '2', 'a': '1'}, "
      "'matchExpressions': [{'key': 'a', "
      "'operator': 'Exists'}, "
      "{'key': 'aa', 'operator': 'In', 'values': ['z', 'y']}, {'key': 'ab', 'operator': 'NotIn', "
      "'values': ['x']}, {'key': '0', "
      "'operator': "
      "'DoesNotExist'}]}, 'template': {'spec': {'nodeSelector': {'y': '2', 'x': '1'}, "
      "'containers': [{'name': 'c', 'image': "
      "'i:1'}, {'name': 'd', "
      "'image': 'j:2'}]}}}, 'status': {'desiredNumberScheduled': 5, 'currentNumberScheduled': 4, "
      "'numberReady': 3, "
      "'updatedNumberScheduled': 2, "
      "'numberAvailable': 1}}",
      "['d', 5, 4, 3, 2, 1, 'x=1,y=2', '<unknown>', 'c,d', 'i:1,j:2', '!0,a=1,a,aa in (y,z),ab "
      "notin (x),b=2']" },
    { "a deployment", "deployments",
      "{'metadata': {'name': 'd'}, 'spec': {'replicas': 3}, 'status': {'readyReplicas': 1, "
      "'updatedReplicas': 2}}",
      "['d', '1/3', 2, 0, '<unknown>', '', '', '<none>']" },
    { "a replicaset", "replicasets",
      "{'metadata': {'name': 'r'}, 'spec': {'replicas': 3}, 'status': {'replicas': 2, "
      "'readyReplicas': 1}}",
      "['r', 3, 2, 1, '<unknown>', '', '', '<none>']" },
    { "a job that has not begun", "jobs", "{'metadata': {'name': 'j'}, 'spec': {'parallelism': 1}}",
      "['j', 'Running', '0/1', '', '<unknown>', '', '', '<none>']" },
    { "a job of several pods", "jobs",
      "{'metadata': {'name': 'j'}, 'spec': {'parallelism': 3}, 'status': {'startTime': "
      "'2026-11-20T09:50:00Z'}}",
      "['j', 'Running', '0/1 of 3', '10m', '<unknown>', '', '', '<none>']" },
    { "a job that is done", "jobs",
      "{'metadata': {'name': 'j'}, 'spec': {'completions': 2}, 'status': {'succeeded': 2, "
      "'startTime': '2026-11-20T09:00:00Z', "
      "'completionTime': "
      "'2026-11-20T09:05:07Z', 'conditions': [{'type': 'SuccessCriteriaMet', 'status': 'True'}, "
      "{'type': 'Complete', 'status': "
      "'True'}]}}",
      "['j', 'Complete', '2/2', '5m7s', '<unknown>', '', '', '<none>']" },
    { "a suspended job that is deleted", "jobs",
      "{'metadata': {'name': 'j', 'deletionTimestamp': '2026-11-20T10:00:00Z'}, 'status': "
      "{'conditions': [{'type': 'Suspended', "
      "'status': 'True'}]}}",
      "['j', 'Terminating', '0/1', '', '<unknown>', '', '', '<none>']" },
    { "a revision without an owner", "controllerrevisions",
      "{'metadata': {'name': 'r'}, 'revision': 7}", "['r', '<none>', 7, '<unknown>']" },
    { "a revision", "controllerrevisions",
      "{'metadata': {'name': 'r', 'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': "
      "'DaemonSet', 'name': 'd', 'controller': "
      "true}]}, 'revision': 7}",
      "['r', 'daemonset.apps/d', 7, '<unknown>']" },

    { "a service of a cluster", "services",
      "{'metadata': {'name': 's'}, 'spec': {'type': 'NodePort', 'clusterIPs': ['10.96.0.1'], "
      "'selector': {'b': '2', 'a': '1'}, "
      "'ports': [{'port': 80, "
      "'protocol': 'TCP', 'nodePort': 30080}, {'port': 53, 'protocol': 'UDP'}]}}",
      "['s', 'NodePort', '10.96.0.1', '<none>', '80:30080/TCP,53/UDP', '<unknown>', 'a=1,b=2']" },
    { "a service that waits for its load balancer", "services",
      "{'metadata': {'name': 's'}, 'spec': {'type': 'LoadBalancer'}}",
      "['s', 'LoadBalancer', '<none>', '<pending>', '<none>', '<unknown>', '<none>']" },
    { "a service with addresses from outside", "services",
      "{'metadata': {'name': 's'}, 'spec': {'type': 'LoadBalancer', 'externalIPs': ['192.0.2.1']}, "
      "'status': {'loadBalancer': "
      "{'ingress': [{'ip': "
      "'192.0.2.2'}, {'hostname': 'lb.example.com'}]}}}",
      "['s', 'LoadBalancer', '<none>', '192.0.2.2,lb.example.com,192.0.2.1', '<none>', "
      "'<unknown>', '<none>']" },
    { "a service that is a name", "services",
      "{'metadata': {'name': 's'}, 'spec': {'type': 'ExternalName', 'externalName': "
      "'db.example.com'}}",
      "['s', 'ExternalName', '<none>', 'db.example.com', '<none>', '<unknown>', '<none>']" },

    { "an old event", "events",
      "{'metadata': {'name': 'e'}, 'type': 'Normal', 'reason': 'Started', 'message': ' a b\\n', "
      "'count': 3, 'firstTimestamp': "
      "'2026-11-20T09:00:00Z', "
      "'lastTimestamp': '2026-11-20T09:59:50Z', 'source': {'component': 'kubelet', 'host': 'n'}, "
      "'involvedObject': {'kind': "
      "'Pod', 'name': 'p', "
      "'fieldPath': 'spec.containers{main}'}}",
      "['10s', 'Normal', 'Started', 'pod/p', 'spec.containers{main}', 'kubelet, n', 'a b', '60m', "
      "3, 'e']" },
    { "a new event", "events",
      "{'metadata': {'name': 'e'}, 'type': 'Warning', 'reason': 'Failed', 'note': 'a', "
      "'eventTime': "
      "'2026-11-20T09:59:00.000000Z', "
      "'reportingController': 'ostler.dev/ostler', 'regarding': {'kind': 'Node'}}",
      "['60s', 'Warning', 'Failed', 'node', '', 'ostler.dev/ostler', 'a', '60s', 1, 'e']" },
    { "a new event that came again", "events",
      "{'metadata': {'name': 'e'}, 'eventTime': '2026-11-20T09:59:00.000000Z', 'series': {'count': "
      "9, 'lastObservedTime': "
      "'2026-11-20T09:59:58.000000Z'}}",
      "['2s', '', '', '', '', '', '', '60s', 9, 'e']" },

    { "a namespace", "namespaces", "{'metadata': {'name': 'n'}, 'status': {'phase': 'Active'}}",
      "['n', 'Active', '<unknown>']" },
    { "a config map", "configmaps",
      "{'metadata': {'name': 'c'}, 'data': {'a': '', 'b': ''}, 'binaryData': {'c': ''}}",
      "['c', 3, '<unknown>']" },
    { "a service account", "serviceaccounts", "{'metadata': {'name': 's'}}", "['s', '<unknown>']" },
    { "a lease", "leases", "{'metadata': {'name': 'l'}, 'spec': {'holderIdentity': 'me'}}",
      "['l', 'me', '<unknown>']" },
    { "a runtime class", "runtimeclasses", "{'metadata': {'name': 'r'}, 'handler': 'nvidia'}",
      "['r', 'nvidia', '<unknown>']" },
    { "a priority class", "priorityclasses",
      "{'metadata': {'name': 'p'}, 'value': 7, 'globalDefault': true, 'preemptionPolicy': 'Never'}",
      "['p', 7, true, '<unknown>', 'Never']" },
    { "a budget with a number", "poddisruptionbudgets",
      "{'metadata': {'name': 'b'}, 'spec': {'minAvailable': 2}, 'status': {'disruptionsAllowed': "
      "1}}",
      "['b', '2', 'N/A', 1, '<unknown>']" },
    { "a budget with a part", "poddisruptionbudgets",
      "{'metadata': {'name': 'b'}, 'spec': {'maxUnavailable': '10%'}}",
      "['b', 'N/A', '10%', 0, '<unknown>']" },
    { "a definition", "customresourcedefinitions",
      "{'metadata': {'name': 'c', 'creationTimestamp': '2026-11-20T09:00:00Z'}}",
      "['c', '2026-11-20T09:00:00Z']" },
};

static json_t *only_row(const json_t *table)
{
    assert_int_equal(json_array_size(json_object_get(table, "rows")), 1);
    return json_array_get(json_object_get(table, "rows"), 0);
}

static void check_cells(void **state)
{
    const struct cells_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    CLEANUP_JSON json_t *object = tree(row->object);
    CLEANUP_JSON json_t *table = table_of(s.api, kind_named(row->plural), TABLE_ALONE, object,
                                          false);
    const json_t *got = json_object_get(only_row(table), "cells");
    assert_tree(got, row->cells);
    assert_int_equal(json_array_size(json_object_get(table, "columnDefinitions")),
                     json_array_size(got));
}

/* ---- custom kinds */

#define DEFINITION(columns)                                                                        \
    "{'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': "   \
    "{'name': "                                                                                    \
    "'gpuclusterpolicies.ostler.dev'}, "                                                           \
    "'spec': {'group': 'ostler.dev', 'scope': 'Cluster', 'names': {'kind': 'GpuClusterPolicy', "   \
    "'plural': "                                                                                   \
    "'gpuclusterpolicies'}, "                                                                      \
    "'versions': [{'name': 'v1alpha1', 'served': true, 'storage': true, " columns                  \
    "'schema': {'openAPIV3Schema': {'type': "                                                      \
    "'object'}}}]}}"

static const struct custom_row {
    const char *name;
    const char *columns;
    const char *cells;
} customs[] = {
    { "default columns", "", "['default', '60s']" },
    { "text",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'string', 'jsonPath': '.spec.text'}], ",
      "['default', 'x']" },
    { "nothing",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'string', 'jsonPath': '.spec.none'}], ",
      "['default', null]" },
    { "a number as text",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'string', 'jsonPath': '.spec.number'}], ",
      "['default', '7']" },
    { "a number",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'integer', 'jsonPath': "
      "'.spec.number'}], ",
      "['default', 7]" },
    { "a number with a fraction as one without",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'integer', 'jsonPath': '.spec.real'}], ",
      "['default', 2]" },
    { "a number with a fraction",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'number', 'jsonPath': '.spec.real'}], ",
      "['default', 2.5]" },
    { "text where a number is wanted",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'integer', 'jsonPath': '.spec.text'}], ",
      "['default', null]" },
    { "a yes",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'boolean', 'jsonPath': '.spec.yes'}], ",
      "['default', true]" },
    { "text where a yes is wanted",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'boolean', 'jsonPath': '.spec.text'}], ",
      "['default', null]" },
    { "a time",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'date', 'jsonPath': "
      "'.metadata.creationTimestamp'}], ",
      "['default', '60s']" },
    { "text where a time is wanted",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'date', 'jsonPath': '.spec.text'}], ",
      "['default', '<invalid>']" },
    { "a number where a time is wanted",
      "'additionalPrinterColumns': [{'name': 'A', 'type': 'date', 'jsonPath': '.spec.number'}], ",
      "['default', null]" },
};

static void check_custom(void **state)
{
    const struct custom_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    CLEANUP_FREE char *definition = xasprintf(DEFINITION("%s"), row->columns);
    served_expect(&s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition,
                  201);
    CLEANUP_JSON json_t *object = tree(
        "{'metadata': {'name': 'default', 'creationTimestamp': '2026-11-20T09:59:00Z'}, 'spec': "
        "{'text': 'x', 'number': 7, "
        "'real': 2.5, 'yes': true}}");
    CLEANUP_JSON json_t *table = table_of(s.api, kind_named("gpuclusterpolicies"), TABLE_ALONE,
                                          object, false);
    assert_tree(json_object_get(only_row(table), "cells"), row->cells);
}

/* ---- what goes with rows, over HTTP */

#define MAPS "/api/v1/namespaces/default/configmaps"
#define TABLE_TYPE "application/json;as=Table;v=v1;g=meta.k8s.io"

static void make_map(struct served *s, const char *name)
{
    CLEANUP_FREE char *body = xasprintf("{'metadata': {'name': '%s'}, 'data': {'k': 'v'}}", name);
    s->accept = NULL;
    served_expect(s, "POST " MAPS, body, 201);
    s->accept = TABLE_TYPE;
}

static const struct include_row {
    const char *name;
    const char *target;
    const char *kind; /* of the object of a row; NULL: there is none */
    bool whole;
} includes[] = {
    { "metadata, since nothing was said", "GET " MAPS, "PartialObjectMetadata", false },
    { "metadata", "GET " MAPS "?includeObject=Metadata", "PartialObjectMetadata", false },
    { "the object", "GET " MAPS "?includeObject=Object", "ConfigMap", true },
    { "nothing", "GET " MAPS "?includeObject=None", NULL, false },
    { "one object", "GET " MAPS "/a?includeObject=Object", "ConfigMap", true },
};

static void check_include(void **state)
{
    const struct include_row *row = *state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    make_map(&s, "a");
    served_expect(&s, row->target, NULL, 200);
    const json_t *object = json_object_get(only_row(s.body), "object");
    assert_int_equal(object_rv(s.body), api_rv(s.api));
    if (!row->kind) {
        assert_true(json_is_null(object));
        return;
    }
    assert_string_equal(json_str(object, "kind"), row->kind);
    assert_string_equal(json_str(object, "metadata.name"), "a");
    assert_int_equal(json_at(object, "data.k") != NULL, row->whole);
}

static void check_include_refused(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    s.accept = TABLE_TYPE;
    served_refused(&s, "GET " MAPS "?includeObject=Some", NULL, 400, "BadRequest",
                   "Unable to convert to Table as requested: includeObject: Invalid value: "
                   "\"Some\": must be 'Metadata', "
                   "'Object', 'None', or empty");
}

static void check_pages(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    make_map(&s, "a");
    make_map(&s, "b");
    served_expect(&s, "GET " MAPS "?limit=1", NULL, 200);
    assert_tree(json_object_get(only_row(s.body), "cells"), "['a', 1, '0s']");
    assert_int_equal(json_int(s.body, "metadata.remainingItemCount", 0), 1);
    assert_string_not_equal(served_str(&s, "metadata.continue"), "");
}

static json_t *next_table(struct served *s)
{
    const char *frame;
    size_t n;
    assert_int_equal(api_watch_next(s->answer.watch, &frame, &n), API_WATCH_FRAME);
    CLEANUP_JSON json_t *event = json_loadb(frame, n, 0, NULL);
    return json_incref(json_object_get(event, "object"));
}

/* A watch tells its columns once. */
static void check_watch(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    make_map(&s, "a");
    make_map(&s, "b");
    served_expect(&s, "GET " MAPS "?watch=1&includeObject=None", NULL, 200);
    CLEANUP_JSON json_t *first = next_table(&s);
    CLEANUP_JSON json_t *second = next_table(&s);
    assert_int_equal(json_array_size(json_object_get(first, "columnDefinitions")), 3);
    assert_true(json_is_null(json_object_get(second, "columnDefinitions")));
    assert_tree(json_object_get(only_row(second), "cells"), "['b', 1, '0s']");
    assert_int_equal(object_rv(second), api_rv(s.api));
}

/* Pods that have come to their end say so beside their row. */
static void check_conditions(void **state)
{
    (void) state;
    CLEANUP_SERVED struct served s;
    served_init(&s);
    CLEANUP_JSON json_t *pods = tree(
        "[{'metadata': {'name': 'a'}, 'status': {'phase': 'Failed'}}, {'metadata': {'name': 'b'}, "
        "'status': {'phase': "
        "'Succeeded'}}, {'metadata': {'name': 'c'}, 'status': {'phase': 'Running'}}]");
    CLEANUP_JSON json_t *table = table_of(s.api, kind_named("pods"), TABLE_ALONE, pods, true);
    const json_t *rows = json_object_get(table, "rows");
    assert_tree(json_object_get(json_array_get(rows, 0), "conditions"),
                "[{'type': 'Completed', 'status': 'True', 'reason': 'Failed', 'message': 'The pod "
                "failed.'}]");
    assert_tree(json_object_get(json_array_get(rows, 1), "conditions"),
                "[{'type': 'Completed', 'status': 'True', 'reason': "
                "'Succeeded', 'message': 'The pod has completed "
                "successfully.'}]");
    assert_null(json_object_get(json_array_get(rows, 2), "conditions"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_duration, durations);
    SUITE_ROWS(&s, check_pick, picks);
    suite_add(&s, "a key that is too long", check_long_word, NULL);
    SUITE_ROWS(&s, check_cells, cells);
    SUITE_ROWS(&s, check_custom, customs);
    SUITE_ROWS(&s, check_include, includes);
    suite_add(&s, "an includeObject that is none", check_include_refused, NULL);
    suite_add(&s, "pages", check_pages, NULL);
    suite_add(&s, "a watch", check_watch, NULL);
    suite_add(&s, "conditions of rows", check_conditions, NULL);
    return suite_run(&s, "table");
}
