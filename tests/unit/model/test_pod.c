#include "reconcilers/model/pod.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/pod_text.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NS "ostler-operands"
#define OWNED                                                                                      \
    "'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'controller': true}]"
#define OURS(component, rest)                                                                      \
    "{'metadata': {'name': 'p', 'namespace': '" NS "', " OWNED                                     \
    ", 'labels': {'app.kubernetes.io/managed-by': 'ostler', "                                      \
    "'app.kubernetes.io/component': '" component                                                   \
    "', 'ostler.dev/revision': 'h'}}, 'spec': {'nodeName': 'n'}" rest "}"
#define THEIRS(spec, rest)                                                                         \
    "{'metadata': {'name': 'p', 'namespace': 'ml'}, 'spec': {'nodeName': 'n', " spec "}" rest "}"
#define SERVES(meta, labels, spec, rest)                                                           \
    "{'metadata': {'name': 'p', 'namespace': 'gpu-operator', 'labels': {" labels "}, " meta        \
    "}, 'spec': {'nodeName': 'n', " spec "}" rest "}"
#define HOST_PATH "'volumes': [{'name': 'v', 'hostPath': {'path': '/'}}]"
#define LIMITS(text) "'containers': [{'resources': {'limits': {" text "}}}]"

static bool holds_nothing(const void *arg, const char *node, uint64_t uid)
{
    (void) arg;
    (void) node;
    (void) uid;
    return false;
}

/* A pod that is kept matters by its text, too. */
static struct pod *project(struct intern *in, const char *text)
{
    const struct pod_text_asks asks = { NS, holds_nothing, NULL };
    json_t *object = tree(text);
    CLEANUP_FREE char *compact = json_compact(object);
    struct pod *p = pod_project(in, NS, NULL, object);
    assert_true(!p || pod_text_matters(&asks, compact, strlen(compact)));
    json_decref(object);
    return p;
}

static void end(struct intern *in, struct pod *p)
{
    if (p)
        pod_free(in, p);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

/* ---- which pods are kept, and as what */

static const struct kept_row {
    const char *name, *object;
    bool kept;
    enum operand component;
    int gpus;
    bool foreign;
} kept_rows[] = {
    { "dropped: an ordinary pod", THEIRS("'containers': [{'image': 'nginx'}]", ""), false, 0, 0,
      false },
    { "dropped: nonsense", "{'metadata': 1, 'spec': []}", false, 0, 0, false },
    { "kept: an operand", OURS("driver", ""), true, OPERAND_DRIVER, 0, false },
    { "kept: a follower", OURS("exporter", ""), true, OPERAND_EXPORTER, 0, false },
    { "dropped: ours, of an unknown component", OURS("other", ""), false, 0, 0, false },
    { "dropped: an operand's labels elsewhere",
      "{'metadata': {'name': 'p', 'namespace': 'ml', " OWNED
      ", 'labels': {'app.kubernetes.io/managed-by': 'ostler', "
      "'app.kubernetes.io/component': 'driver'}}}",
      false, 0, 0, false },
    { "dropped: an operand that another client has orphaned",
      "{'metadata': {'name': 'p', 'namespace': '" NS
      "', 'labels': {'app.kubernetes.io/managed-by': 'ostler', "
      "'app.kubernetes.io/component': 'driver'}}, 'spec': {'nodeName': 'n'}}",
      false, 0, 0, false },
    { "kept: uses GPUs", THEIRS(LIMITS("'nvidia.com/gpu': '2'"), ""), true, OPERAND_NONE, 2,
      false },
    { "kept: uses slices", THEIRS(LIMITS("'nvidia.com/mig-1g.5gb': '1'"), ""), true, OPERAND_NONE,
      1, false },
    { "kept: an init container uses them",
      THEIRS("'initContainers': [{'resources': {'limits': {'nvidia.com/gpu': '1'}}}]", ""), true,
      OPERAND_NONE, 1, false },
    { "kept: an init container's are the others' afterwards",
      THEIRS("'initContainers': [{'resources': {'limits': {'nvidia.com/gpu': '4'}}}, {'resources': "
             "{'limits': {'nvidia.com/gpu': "
             "'3'}}}], " LIMITS("'nvidia.com/gpu': '4'"),
             ""),
      true, OPERAND_NONE, 4, false },
    { "kept: a sidecar's are its own",
      THEIRS("'initContainers': [{'restartPolicy': 'Always', 'resources': {'limits': "
             "{'nvidia.com/gpu': '1'}}}], " LIMITS("'nvidia.com/gpu': '4'"),
             ""),
      true, OPERAND_NONE, 5, false },
    { "kept: a quantity that is no plain number counts",
      THEIRS(LIMITS("'nvidia.com/gpu': '1k'"), ""), true, OPERAND_NONE, 1, false },
    { "dropped: asks for none", THEIRS(LIMITS("'nvidia.com/gpu': '0'"), ""), false, 0, 0, false },
    { "dropped: a network card of the same maker's",
      THEIRS(LIMITS("'nvidia.com/hostdev': '1'"), ""), false, 0, 0, false },
    { "kept: holds devices by claims",
      THEIRS("'resourceClaims': [{'name': 'a'}, {'name': 'b'}]", ""), true, OPERAND_NONE, 2,
      false },
    { "dropped: claims that are nonsense", THEIRS("'resourceClaims': {'name': 'a'}", ""), false, 0,
      0, false },
    { "dropped: another maker's", THEIRS(LIMITS("'amd.com/gpu': '1'"), ""), false, 0, 0, false },
    { "dropped: succeeded",
      THEIRS(LIMITS("'nvidia.com/gpu': '1'"), ", 'status': {'phase': 'Succeeded'}"), false, 0, 0,
      false },
    { "dropped: failed", THEIRS(LIMITS("'nvidia.com/gpu': '1'"), ", 'status': {'phase': 'Failed'}"),
      false, 0, 0, false },
    { "kept: leaving, and still using them",
      "{'metadata': {'name': 'p', 'namespace': 'ml', 'deletionTimestamp': 'x'}, 'spec': "
      "{'nodeName': 'n', " LIMITS("'nvidia.com/gpu': '1'") "}}",
      true, OPERAND_NONE, 1, false },
    { "dropped: waits for a node",
      "{'metadata': {'name': 'p', 'namespace': 'ml'}, 'spec': {" LIMITS(
          "'nvidia.com/gpu': '1'") "}}",
      false, 0, 0, false },
    { "kept: another operator's",
      SERVES(OWNED, "'app': 'nvidia-driver-daemonset'",
             HOST_PATH ", 'containers': [{'image': 'a'}]", ""),
      true, OPERAND_NONE, 0, true },
    { "kept: a driver image in the second container",
      SERVES(OWNED, "",
             HOST_PATH ", 'containers': [{'image': 'a'}, {'image': 'x/nvidia/driver:1'}]", ""),
      true, OPERAND_NONE, 0, true },
    { "kept: an installer in an init container",
      SERVES(OWNED, "", HOST_PATH ", 'initContainers': [{'image': 'cos-nvidia-installer:fixed'}]",
             ""),
      true, OPERAND_NONE, 0, true },
    { "dropped: an installer that has ended",
      SERVES(OWNED, "", HOST_PATH ", 'containers': [{'image': 'cos-nvidia-installer:fixed'}]",
             ", 'status': {'phase': 'Succeeded'}"),
      false, 0, 0, false },
    { "dropped: a user's pod that is called a driver",
      SERVES("'annotations': {}", "'app': 'nvidia-driver-daemonset'",
             HOST_PATH ", 'containers': [{'image': 'x/nvidia/driver:1'}]", ""),
      false, 0, 0, false },
    { "dropped: one of a Deployment's",
      SERVES("'ownerReferences': [{'kind': 'ReplicaSet', 'controller': true}]",
             "'app': 'nvidia-driver-daemonset'", HOST_PATH, ""),
      false, 0, 0, false },
    { "dropped: one whose DaemonSet is of another group",
      SERVES("'ownerReferences': [{'apiVersion': 'x.example/v1', 'kind': 'DaemonSet', "
             "'controller': true}]",
             "'app': 'nvidia-driver-daemonset'", HOST_PATH, ""),
      false, 0, 0, false },
    { "dropped: one of a DaemonSet's that has nothing of its host",
      SERVES(OWNED, "'app': 'nvidia-driver-daemonset'", "'volumes': [{'emptyDir': {}}]", ""), false,
      0, 0, false },
    { "kept: one that uses a GPU, as a user's",
      SERVES("'annotations': {}", "'app': 'nvidia-driver-daemonset'",
             HOST_PATH ", " LIMITS("'nvidia.com/gpu': '1'"), ""),
      true, OPERAND_NONE, 1, false },
};

static void check_kept(void **state)
{
    const struct kept_row *row = *state;
    struct intern *in = intern_new();
    struct pod *p = project(in, row->object);
    assert_int_equal(p != NULL, row->kept);
    if (p) {
        assert_int_equal(p->component, row->component);
        assert_int_equal(p->gpus, row->gpus);
        assert_int_equal(pod_foreign(p) != NULL, row->foreign);
    }
    end(in, p);
}

/* Whoever asks all pods to leave keeps those too. */
static void check_any(void **state)
{
    static const struct {
        const char *object;
        bool kept;
    } cases[] = {
        { THEIRS("'containers': [{'image': 'nginx'}]", ""), true },
        { THEIRS("'containers': [{'image': 'nginx'}]", ", 'status': {'phase': 'Succeeded'}"),
          false },
        { "{'metadata': {'name': 'p', 'namespace': 'ml'}, 'spec': {'containers': [{'image': "
          "'nginx'}]}}",
          false },
        { OURS("driver", ""), true },
        { "{'metadata': {'name': 'p'}, 'spec': {'nodeName': 'n', 'containers': [{'image': "
          "'nginx'}]}}",
          false },
        { "{'metadata': {'name': 'p', 'namespace': '" NS
          "', 'labels': {'app.kubernetes.io/managed-by': 'ostler', "
          "'ostler.dev/task': 'pull'}}, 'spec': {'nodeName': 'n', 'containers': [{'image': "
          "'nginx'}]}}",
          false },
    };
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct intern *in = intern_new();
        CLEANUP_JSON json_t *object = tree(cases[i].object);
        struct pod *p = pod_project_any(in, NS, NULL, object);
        assert_int_equal(p != NULL, cases[i].kept);
        end(in, p);
    }
}

/* ---- why an operand is not up */

#define STATUS(text) OURS("driver", ", 'status': {" text "}")
#define CONTAINER(text) "'containerStatuses': [{'name': 'driver', 'state': {" text "}}]"
#define CRASH(text)                                                                                \
    "'containerStatuses': [{'name': 'driver', 'restartCount': 3, 'state': {" text                  \
    "}, 'lastState': "                                                                             \
    "{'terminated': {'exitCode': 2, 'reason': 'Error', 'message': 'no device'}}}]"
#define CRASHED "CrashLoopBackOff: container driver exited with code 2: no device"
#define LOG_LINE                                                                                   \
    "A line of an installation that says nothing about why it fails, as a program writes "         \
    "hundreds. "
#define INIT(text) "'initContainerStatuses': [{'state': {" text "}}]"
#define READY(is) "'conditions': [{'type': 'Ready', 'status': '" is "'}]"
static const struct problem_row {
    const char *name, *object, *problem, *reason;
} problem_rows[] = {
    { "problem: none said", STATUS(""), NULL, NULL },
    { "problem: image",
      STATUS(CONTAINER("'waiting': {'reason': 'ImagePullBackOff', 'message': 'Back-off'}")),
      "ImagePullBackOff: Back-off", "ImagePullBackOff" },
    { "problem: an image that the kubelet does not name",
      STATUS("'containerStatuses': [{'name': 'c', 'image': 'r.example/a:1', 'state': {'waiting': "
             "{'reason': 'ErrImagePull', "
             "'message': 'manifest unknown'}}}]"),
      "ErrImagePull: r.example/a:1: manifest unknown", "ErrImagePull" },
    { "problem: an image that it names",
      STATUS("'containerStatuses': [{'name': 'c', 'image': 'r.example/a:1', 'state': {'waiting': "
             "{'reason': 'ImagePullBackOff', "
             "'message': 'Back-off pulling image \\\"r.example/a:1\\\"'}}}]"),
      "ImagePullBackOff: Back-off pulling image \"r.example/a:1\"", "ImagePullBackOff" },
    { "problem: without a message", STATUS(CONTAINER("'waiting': {'reason': 'CrashLoopBackOff'}")),
      "CrashLoopBackOff", "CrashLoopBackOff" },
    { "problem: init containers come first",
      STATUS(INIT("'waiting': {'reason': 'CrashLoopBackOff'}") ", " CONTAINER(
          "'waiting': {'reason': 'PodInitializing'}")),
      "CrashLoopBackOff", "CrashLoopBackOff" },
    { "problem: ended badly",
      STATUS(CONTAINER("'terminated': {'exitCode': 2, 'reason': 'Error', 'message': 'no device'}")),
      "Error: container driver exited with code 2: no device", "Error" },
    { "problem: the end of a log has the reason, not its beginning",
      STATUS(CONTAINER("'terminated': {'exitCode': 1, 'reason': 'Error', 'message': '" LOG_LINE
                       "\\n" LOG_LINE "\\n" LOG_LINE
                       "\\nCould not resolve Linux kernel version\\n'}")),
      "Error: container driver exited with code 1: " LOG_LINE
      " Could not resolve Linux kernel version",
      "Error" },
    { "problem: a long sentence keeps its beginning",
      STATUS(CONTAINER("'terminated': {'exitCode': 1, 'reason': 'Error', 'message': 'Why " LOG_LINE
                           LOG_LINE LOG_LINE LOG_LINE "'}")),
      "Error: container driver exited with code 1: Why " LOG_LINE LOG_LINE
      "A line of an installation that says nothing about why it fail…",
      "Error" },
    { "problem: a runtime's configuration that was taken back has a reason of its own",
      STATUS("'initContainerStatuses': [{'name': 'install', 'restartCount': 3, 'state': {'waiting':"
             " {'reason': 'CrashLoopBackOff'}}, 'lastState': {'terminated': {'exitCode': 1, "
             "'reason': 'Error',"
             " 'message': 'RuntimeConfigFailed: it would lose sandbox_image'}}}]"),
      "RuntimeConfigFailed: container install exited with code 1: RuntimeConfigFailed: it would "
      "lose sandbox_image",
      "RuntimeConfigFailed" },
    { "problem: a crash loop, waiting",
      STATUS(CRASH("'waiting': {'reason': 'CrashLoopBackOff', 'message': 'back-off 5m0s'}")),
      CRASHED, "CrashLoopBackOff" },
    { "problem: a crash loop, running", STATUS(CRASH("'running': {}")), CRASHED,
      "CrashLoopBackOff" },
    { "problem: a crash loop, ended",
      STATUS(CRASH("'terminated': {'exitCode': 2, 'reason': 'Error', 'message': 'no device'}")),
      CRASHED, "CrashLoopBackOff" },
    { "problem: ended well", STATUS(INIT("'terminated': {'exitCode': 0, 'reason': 'Completed'}")),
      NULL, NULL },
    { "problem: creating is none", STATUS(CONTAINER("'waiting': {'reason': 'ContainerCreating'}")),
      NULL, NULL },
    { "problem: not scheduled",
      STATUS("'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason': "
             "'Unschedulable', 'message': 'no room'}]"),
      "Unschedulable: no room", "Unschedulable" },
    { "problem: evicted", STATUS("'phase': 'Failed', 'reason': 'Evicted', 'message': 'disk'"),
      "Evicted: disk", "Evicted" },
    { "problem: none when ready",
      STATUS(READY("True") ", " CONTAINER("'waiting': {'reason': 'X'}")), NULL, NULL },
    { "problem: a reason that is no word",
      STATUS(CONTAINER("'waiting': {'reason': 'not a word', 'message': 'm'}")), "PodProblem: m",
      "PodProblem" },
    { "problem: a reason that is empty", STATUS(CONTAINER("'waiting': {'reason': ''}")),
      "PodProblem", "PodProblem" },
    { "problem: a message of several lines",
      STATUS(CONTAINER("'waiting': {'reason': 'E', 'message': 'a\\nb\\u0001c'}")), "E: a b c",
      "E" },
};

static void check_problem(void **state)
{
    const struct problem_row *row = *state;
    struct intern *in = intern_new();
    struct pod *p = project(in, row->object);
    assert_true(str_eq(p->problem, row->problem));
    assert_true(str_eq(intern_text(in, p->reason), row->reason));
    assert_string_equal(intern_text(in, p->revision), "h");
    end(in, p);
}

static void check_long_problem(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    json_t *object = tree(STATUS(CONTAINER("'waiting': {'reason': 'E', 'message': 'm'}")));
    json_t *status = json_object_get(
        json_array_get(json_object_get(json_object_get(object, "status"), "containerStatuses"), 0),
        "state");
    json_object_set_new(json_object_get(status, "waiting"), "reason", json_string(text));
    json_object_set_new(json_object_get(status, "waiting"), "message", json_string(text));
    struct pod *p = pod_project(in, NS, NULL, object);
    assert_string_equal(intern_text(in, p->reason), "PodProblem");
    assert_in_range(strlen(p->problem), 1, 300);
    json_decref(object);
    end(in, p);
}

/* ---- the host's own driver */

#define FIRST(text)                                                                                \
    OURS("driver",                                                                                 \
         ", 'status': {'initContainerStatuses': [{" text "}, {'state': {'waiting': {}}}]}")
#define SAID(where, code)                                                                          \
    "'" where "': {'terminated': {'exitCode': " code ", 'message': 'HostDriver: found'}}"
static const struct host_row {
    const char *name, *object;
    bool host_driver;
} host_rows[] = {
    { "host driver: said now", FIRST(SAID("state", "1")), true },
    { "host driver: said before, waiting now",
      FIRST("'state': {'waiting': {'reason': 'CrashLoopBackOff'}}, " SAID("lastState", "1")),
      true },
    { "host driver: said before, running now",
      FIRST("'state': {'running': {}}, " SAID("lastState", "1")), true },
    { "host driver: said before, got through now",
      FIRST("'state': {'terminated': {'exitCode': 0}}, " SAID("lastState", "1")), false },
    { "host driver: something else said",
      FIRST("'state': {'terminated': {'exitCode': 1, 'message': 'DriverInUse'}}"), false },
    { "host driver: nothing said", FIRST("'state': {'running': {}}"), false },
    { "host driver: said by another operand",
      OURS("toolkit", ", 'status': {'initContainerStatuses': [{" SAID("state", "1") "}]}"), false },
};

static void check_host(void **state)
{
    const struct host_row *row = *state;
    struct intern *in = intern_new();
    struct pod *p = project(in, row->object);
    assert_int_equal(p->host_driver, row->host_driver);
    end(in, p);
}

/* ---- what a drain asks */

enum {
    RUNNING = 1,
    ENDS = 2,
    BARE = 4,
    DAEMON = 8,
    FIXED = 16,
    SCRATCH = 32,
    TOLERANT = 64,
};

static int uses(const struct intern *in, const struct pod *p)
{
    return (p->running ? RUNNING : 0) | (p->ends ? ENDS : 0) | (p->bare ? BARE : 0) |
           (p->daemon ? DAEMON : 0) | (p->fixed ? FIXED : 0) | (p->scratch ? SCRATCH : 0) |
           (pod_tolerates(in, p, "ostler.dev/upgrade") ? TOLERANT : 0);
}

#define USER(meta, spec, rest)                                                                     \
    "{'metadata': {'name': 'p', 'namespace': 'ml'" meta                                            \
    "}, 'spec': {'nodeName': 'n', " LIMITS("'nvidia.com/gpu': '1'") spec "}" rest "}"
#define OWNER(kind) ", 'ownerReferences': [{'kind': '" kind "', 'controller': true}]"
#define DAEMONS ", " OWNED
#define STATIC(version, name, more, meta)                                                          \
    USER(", 'ownerReferences': [{'apiVersion': '" version "', 'kind': 'Node', 'name': '" name      \
         "', 'uid': 'u', "                                                                         \
         "'controller': true}" more "]" meta,                                                      \
         "", "")
#define MIRROR ", 'annotations': {'kubernetes.io/config.mirror': 'h'}"
#define UNKNOWN ", {'apiVersion': 'x.example/v1', 'kind': 'X', 'name': 'x', 'uid': 'x'}"
#define TOLERATES(text) USER(DAEMONS, ", 'tolerations': [{" text "}]", "")
static const struct use_row {
    const char *name, *object;
    int uses;
} use_rows[] = {
    { "use: a service's", USER(OWNER("ReplicaSet"), ", 'restartPolicy': 'Always'", ""), 0 },
    { "use: no restart policy is said: Always is the default", USER(OWNER("ReplicaSet"), "", ""),
      0 },
    { "use: it runs", USER(OWNER("ReplicaSet"), "", ", 'status': {'phase': 'Running'}"), RUNNING },
    { "use: it has not begun", USER(OWNER("ReplicaSet"), "", ", 'status': {'phase': 'Pending'}"),
      0 },
    { "use: a job's, that is begun again when it fails",
      USER(OWNER("Job"), ", 'restartPolicy': 'OnFailure'", ""), ENDS },
    { "use: a job's, that is never begun again",
      USER(OWNER("Job"), ", 'restartPolicy': 'Never'", ""), ENDS },
    { "use: a pod without an owner", USER("", ", 'restartPolicy': 'Always'", ""), BARE },
    { "use: a pod without an owner, that ends", USER("", ", 'restartPolicy': 'Never'", ""),
      BARE | ENDS },
    { "use: an owner that does not control it",
      USER(", 'ownerReferences': [{'kind': 'ReplicaSet'}]", "", ""), BARE },
    { "use: static", STATIC("v1", "n", "", MIRROR), FIXED },
    { "use: a static one without the kubelet's annotation", STATIC("v1", "n", "", ""), 0 },
    { "use: a static one of another node", STATIC("v1", "m", "", MIRROR), 0 },
    { "use: a Node of another group", STATIC("x.example/v1", "n", "", MIRROR), 0 },
    { "use: a Node beside an owner of a kind that is not known", STATIC("v1", "n", UNKNOWN, MIRROR),
      0 },
    { "use: an emptyDir",
      USER(OWNER("ReplicaSet"),
           ", 'volumes': [{'name': 'a', 'secret': {}}, {'name': 'b', 'emptyDir': {}}]", ""),
      SCRATCH },
    { "use: other volumes",
      USER(OWNER("ReplicaSet"), ", 'volumes': [{'name': 'emptyDir', 'configMap': {}}]", ""), 0 },
    { "use: a DaemonSet's", USER(DAEMONS, "", ""), DAEMON },
    { "use: a DaemonSet of no group", USER(OWNER("DaemonSet"), "", ""), 0 },
    { "use: a DaemonSet of another group",
      USER(", 'ownerReferences': [{'apiVersion': 'x.example/v1', 'kind': 'DaemonSet', "
           "'controller': true}]",
           "", ""),
      0 },
    { "use: a DaemonSet of a version that no server has",
      USER(", 'ownerReferences': [{'apiVersion': 'apps/v9', 'kind': 'DaemonSet', 'controller': "
           "true}]",
           "", ""),
      0 },
    { "use: a DaemonSet that does not control it",
      USER(", 'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': 'DaemonSet'}]", "", ""), BARE },
    { "use: a DaemonSet beside an owner of a kind that is not known",
      USER(", 'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'controller': "
           "true}" UNKNOWN "]",
           "", ""),
      0 },
    { "use: it tolerates everything", TOLERATES("'operator': 'Exists'"), DAEMON | TOLERANT },
    { "use: it tolerates our taint",
      TOLERATES("'key': 'ostler.dev/upgrade', 'operator': 'Exists', 'effect': 'NoSchedule'"),
      DAEMON | TOLERANT },
    { "use: it tolerates our taint with one value",
      TOLERATES("'key': 'ostler.dev/upgrade', 'value': 'Upgrade'"), DAEMON | TOLERANT },
    { "use: it tolerates our taint in another effect",
      TOLERATES("'key': 'ostler.dev/upgrade', 'effect': 'NoExecute'"), DAEMON },
    { "use: it tolerates another taint", TOLERATES("'key': 'nvidia.com/gpu', 'operator': 'Exists'"),
      DAEMON },
    { "use: a service's that tolerates everything",
      USER(OWNER("ReplicaSet"), ", 'tolerations': [{'operator': 'Exists'}]", ""), TOLERANT },
    { "use: of an operand it is kept that it runs",
      OURS("driver", ", 'status': {'phase': 'Running'}"), RUNNING },
    { "use: and nothing else", OURS("driver", ", 'status': {'phase': 'Pending'}"), 0 },
};

/* Its node is told by its uid: another one may have the same name. */
static void check_static(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    struct pod *p = project(in, STATIC("v1", "n", "", MIRROR));
    assert_true(pod_is_static(p, "u"));
    assert_false(pod_is_static(p, "other"));
    assert_false(pod_is_static(p, ""));
    assert_null(pod_foreign(p));
    end(in, p);
}

static void check_use(void **state)
{
    const struct use_row *row = *state;
    struct intern *in = intern_new();
    struct pod *p = project(in, row->object);
    assert_int_equal(uses(in, p), row->uses);
    end(in, p);
}

/* When a pod of others was made. */
static void check_made(void **state)
{
    static const struct {
        const char *meta;
        uint32_t made_s;
    } cases[] = {
        { ", 'creationTimestamp': '2026-11-20T10:00:00Z'", 1795168800 },
        { "", 0 },
        { ", 'creationTimestamp': 7", 0 },
        { ", 'creationTimestamp': 'yesterday'", 0 },
        { ", 'creationTimestamp': '9999-01-01T00:00:00Z'", 0 },
    };
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct intern *in = intern_new();
        CLEANUP_FREE char *text = xasprintf(
            "{'metadata': {'name': 'p', 'namespace': 'ml'%s}, 'spec': {'nodeName': 'n', " LIMITS(
                "'nvidia.com/gpu': '1'") "}}",
            cases[i].meta);
        struct pod *p = project(in, text);
        assert_int_equal(p->made_s, cases[i].made_s);
        end(in, p);
    }
}

#define LABELLED(text) USER(", 'labels': {" text "}", "", "")
static const struct selected_row {
    const char *name, *object, *selector;
    bool selected;
} selected_rows[] = {
    { "selected: by no selector", LABELLED("'a': 'x'"), "null", true },
    { "selected: without labels by no selector", USER("", "", ""), "null", true },
    { "selected: its label is the one", LABELLED("'a': 'x', 'b': 'y', 'c': ''"),
      "{'matchLabels': {'b': 'y'}}", true },
    { "selected: a label without a value", LABELLED("'a': 'x', 'c': '', 'd': 'z'"),
      "{'matchLabels': {'c': '', 'd': 'z'}}", true },
    { "selected: another value", LABELLED("'a': 'x', 'b': 'y'"), "{'matchLabels': {'b': 'x'}}",
      false },
    { "selected: another key with this one's end", LABELLED("'ab': 'y'"),
      "{'matchLabels': {'b': 'y'}}", false },
    { "selected: without labels by one that wants one", USER("", "", ""),
      "{'matchLabels': {'a': 'x'}}", false },
    { "selected: without the label that must not be there", LABELLED("'a': 'x'"),
      "{'matchExpressions': [{'key': 'b', 'operator': 'DoesNotExist'}]}", true },
    { "selected: an operand has no labels that are kept", OURS("driver", ""),
      "{'matchLabels': {'app.kubernetes.io/managed-by': 'ostler'}}", false },
};

static void check_selected(void **state)
{
    const struct selected_row *row = *state;
    struct intern *in = intern_new();
    struct pod *p = project(in, row->object);
    CLEANUP_JSON json_t *text = tree(row->selector);
    CLEANUP(selector_clear) struct selector selector = { 0 };
    assert_int_equal(selector_compile(text, &selector, NULL), 0);
    assert_int_equal(pod_selected(in, p, &selector), row->selected);
    end(in, p);
}

static void check_labels_asked_for(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    CLEANUP_JSON json_t *object = tree(LABELLED("'a': 'x', 'tier': 'batch', 'z': 'y'"));
    CLEANUP_JSON json_t *text = tree(
        "{'matchExpressions': [{'key': 'tier', 'operator': 'NotIn', 'values': ['prod']}]}");
    CLEANUP(selector_clear) struct selector asks = { 0 }, nothing = { 0 };
    assert_int_equal(selector_compile(text, &asks, NULL), 0);
    struct pod *p = pod_project(in, NS, &asks, object),
               *bare = pod_project(in, NS, &nothing, object);
    assert_string_equal(intern_text(in, p->traits), "tier=batch\n");
    assert_true(pod_selected(in, p, &asks));
    assert_int_equal(bare->traits, INTERN_NONE);
    assert_false(pod_same(p, bare));
    pod_free(in, bare);
    end(in, p);
}

/* A hundred bytes a label, five hundred of them: those past the limit do not count, and nothing
 * breaks. */
static void check_many_labels(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    json_t *object = tree(LABELLED("")),
           *labels = json_object_get(json_object_get(object, "metadata"), "labels");
    char key[128];
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "%0100d", i);
        json_object_set_new(labels, key, json_string("x"));
    }
    struct pod *p = pod_project(in, NS, NULL, object);
    CLEANUP(selector_clear) struct selector first = { 0 }, last = { 0 };
    json_t *wanted = json_pack("{s:s}", key, "x");
    assert_int_equal(selector_compile_labels(wanted, &last, NULL), 0);
    json_decref(wanted);
    snprintf(key, sizeof key, "%0100d", 0);
    wanted = json_pack("{s:s}", key, "x");
    assert_int_equal(selector_compile_labels(wanted, &first, NULL), 0);
    json_decref(wanted);
    assert_true(pod_selected(in, p, &first));
    assert_false(pod_selected(in, p, &last));
    assert_in_range(strlen(intern_text(in, p->traits)), 3 << 10, 4 << 10);
    json_decref(object);
    end(in, p);
}

/* ---- which changes count */

static const struct same_row {
    const char *name, *before, *after;
    bool same;
} same_rows[] = {
    { "same: nothing changed", STATUS(""), STATUS(""), true },
    { "same: its IP", STATUS(""), STATUS("'podIP': '10.0.0.1'"), true },
    { "differs: ready", STATUS(""), STATUS(READY("True")), false },
    { "differs: problem", STATUS(""), STATUS(CONTAINER("'waiting': {'reason': 'E'}")), false },
    { "differs: host driver", FIRST("'state': {'running': {}}"),
      FIRST("'state': {'running': {}}, " SAID("lastState", "1")), false },
    { "differs: component", OURS("driver", ""), OURS("toolkit", ""), false },
    { "differs: it has begun", USER("", "", ", 'status': {'phase': 'Pending'}"),
      USER("", "", ", 'status': {'phase': 'Running'}"), false },
    { "differs: labels", LABELLED("'a': 'x'"), LABELLED("'a': 'y'"), false },
    { "differs: its controller lets go of it", USER(OWNER("Job"), "", ""), USER("", "", ""),
      false },
    { "differs: its DaemonSet's tolerations", TOLERATES("'key': 'a'"),
      TOLERATES("'operator': 'Exists'"), false },
    { "differs: it runs again, and the log before says why",
      STATUS(CRASH("'terminated': {'exitCode': 2, 'reason': 'Error', 'message': 'no device'}")),
      STATUS(CRASH("'running': {}")), false },
    { "same: it runs and waits in turn", STATUS(CRASH("'waiting': {'reason': 'CrashLoopBackOff'}")),
      STATUS(CRASH("'running': {}")), true },
    { "differs: GPUs", THEIRS(LIMITS("'nvidia.com/gpu': '1'"), ""),
      THEIRS(LIMITS("'nvidia.com/gpu': '2'"), ""), false },
};

static void check_same(void **state)
{
    const struct same_row *row = *state;
    struct intern *in = intern_new();
    struct pod *a = project(in, row->before), *b = project(in, row->after);
    assert_int_equal(pod_same(a, b), row->same);
    pod_free(in, a);
    end(in, b);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_kept, kept_rows);
    suite_add(&s, "kept: any that is bound and not over, where all are to leave", check_any, NULL);
    SUITE_ROWS(&s, check_problem, problem_rows);
    suite_add(&s, "problem: longer than a sentence", check_long_problem, NULL);
    SUITE_ROWS(&s, check_host, host_rows);
    SUITE_ROWS(&s, check_use, use_rows);
    suite_add(&s, "use: when it was made", check_made, NULL);
    suite_add(&s, "a static pod is of the node with that uid", check_static, NULL);
    SUITE_ROWS(&s, check_selected, selected_rows);
    suite_add(&s, "labels: those that a selector asks for are kept", check_labels_asked_for, NULL);
    suite_add(&s, "selected: more labels than are kept", check_many_labels, NULL);
    SUITE_ROWS(&s, check_same, same_rows);
    return suite_run(&s, "pod");
}
