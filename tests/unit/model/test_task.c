#include "reconcilers/model/task.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/pod.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NS "ostler-operands"
#define LABELS                                                                                     \
    "'app.kubernetes.io/managed-by': 'ostler', 'ostler.dev/task': 'proof', "                       \
    "'ostler.dev/revision': 'a.b', "                                                               \
    "'ostler.dev/policy-uid': 'u'"
#define TASK(status)                                                                               \
    "{'metadata': {'name': 'p', 'namespace': '" NS                                                 \
    "', 'creationTimestamp': '2026-11-20T10:00:00Z', 'labels': {" LABELS "}}, "                    \
    "'spec': {'nodeName': 'n', 'containers': [{'name': 'proof', 'resources': {'limits': "          \
    "{'nvidia.com/gpu': '1'}}}, {'name': "                                                         \
    "'other'}]}, "                                                                                 \
    "'status': {" status "}}"

/* ---- which pods are */

static const struct kind_row {
    const char *name, *object;
    bool task;
} kind_rows[] = {
    { "a proof", TASK(""), true },
    { "a proof that runs",
      TASK("'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}]"), true },
    { "not one in another namespace",
      "{'metadata': {'name': 'p', 'namespace': 'ml', 'labels': {" LABELS
      "}}, 'spec': {'nodeName': 'n'}}",
      false },
    { "not one that something controls",
      "{'metadata': {'name': 'p', 'namespace': '" NS "', 'labels': {" LABELS
      "}, 'ownerReferences': [{'kind': 'Job', 'controller': true}]}, 'spec': {'nodeName': 'n'}}",
      false },
    { "not one without the managed-by label",
      "{'metadata': {'name': 'p', 'namespace': '" NS
      "', 'labels': {'ostler.dev/task': 'proof'}}, 'spec': {'nodeName': 'n'}}",
      false },
    { "not one of an unknown kind",
      "{'metadata': {'name': 'p', 'namespace': '" NS
      "', 'labels': {'app.kubernetes.io/managed-by': 'ostler', 'ostler.dev/task': "
      "'x'}}, 'spec': {'nodeName': 'n'}}",
      false },
    { "not one that is for no node",
      "{'metadata': {'name': 'p', 'namespace': '" NS "', 'labels': {" LABELS "}}, 'spec': {}}",
      false },
};

static void check_kind(void **state)
{
    const struct kind_row *row = *state;
    struct intern *in = intern_new();
    CLEANUP_JSON json_t *object = tree(row->object);
    struct pod *p = pod_project_task(in, NS, object);
    assert_int_equal(p != NULL, row->task);
    assert_true(!p || (pod_task(p) && !pod_foreign(p) && p->gpus == 0));
    if (p)
        pod_free(in, p);
    /* As one of the others such a pod does not count: it would be drained. */
    struct pod *other = pod_project(in, NS, NULL, object);
    assert_true(!row->task || !other);
    if (other)
        pod_free(in, other);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

/* ---- how far it is */

#define WAITS(reason)                                                                              \
    "{'name': 'proof', 'image': 'i', 'state': {'waiting': {'reason': '" reason "'}}}"
#define ENDED(code)                                                                                \
    "{'name': 'proof', 'imageID': 'x', 'state': {'terminated': {'exitCode': " code                 \
    ", 'message': 'm', 'finishedAt': '2026-11-20T10:00:05Z'}}}"
static const struct state_row {
    const char *name, *object;
    struct task want;
    const char *said, *no_image;
} state_rows[] = {
    { "just made", TASK(""), { .state = TASK_PENDING }, NULL, NULL },
    { "no place",
      TASK("'conditions': [{'type': 'PodScheduled', 'status': 'False'}]"),
      { .unschedulable = true },
      NULL,
      NULL },
    { "its image does not come",
      TASK("'containerStatuses': [" WAITS("ImagePullBackOff") "]"),
      { 0 },
      NULL,
      "i" },
    { "its image is there, and cannot be started",
      TASK("'containerStatuses': [" WAITS("RunContainerError") "]"),
      { .pulled = 1 },
      NULL,
      NULL },
    { "it runs",
      TASK("'phase': 'Running', 'containerStatuses': [{'imageID': 'x', 'state': {'running': {}}}]"),
      { .state = TASK_RUNNING, .pulled = 1, .begun = true },
      NULL,
      NULL },
    { "it ended well",
      TASK("'phase': 'Succeeded', 'containerStatuses': [" ENDED("0") "]"),
      { .state = TASK_DONE, .pulled = 1, .begun = true, .ended_s = 1795168805 },
      "m",
      NULL },
    { "it ended badly",
      TASK("'phase': 'Failed', 'containerStatuses': [" ENDED("3") "]"),
      { .state = TASK_FAILED, .pulled = 1, .begun = true, .exit_code = 3, .ended_s = 1795168805 },
      "m",
      NULL },
    { "what runs before it has no image",
      TASK("'initContainerStatuses': [" WAITS(
          "ErrImageNeverPull") "], 'containerStatuses': [" WAITS("PodInitializing") "]"),
      { 0 },
      NULL,
      "i" },
    { "what runs before it is done",
      TASK("'initContainerStatuses': [" ENDED("0") "], 'containerStatuses': [" WAITS(
          "PodInitializing") "]"),
      { 0 },
      NULL,
      NULL },
    { "what runs before it failed",
      TASK("'phase': 'Failed', 'initContainerStatuses': [" ENDED(
          "3") "], 'containerStatuses': [" WAITS("PodInitializing") "]"),
      { .state = TASK_FAILED, .exit_code = 3, .ended_s = 1795168805 },
      "m",
      NULL },
    { "its kubelet refused it",
      TASK("'phase': 'Failed', 'reason': 'UnexpectedAdmissionError'"),
      { .state = TASK_FAILED },
      NULL,
      NULL },
};

static void check_state(void **state)
{
    const struct state_row *row = *state;
    struct intern *in = intern_new();
    CLEANUP_JSON json_t *object = tree(row->object);
    struct pod *p = pod_project_task(in, NS, object);
    const struct task *t = pod_task(p);
    assert_int_equal(t->state, row->want.state);
    assert_int_equal(t->unschedulable, row->want.unschedulable);
    assert_int_equal(t->pulled, row->want.pulled);
    assert_int_equal(t->begun, row->want.begun);
    assert_int_equal(t->exit_code, row->want.exit_code);
    assert_int_equal(t->ended_s, row->want.ended_s);
    assert_int_equal(t->images, 2);
    assert_int_equal(t->created_s, 1795168800);
    assert_true(t->bound);
    assert_true(str_eq(intern_text(in, t->said), row->said));
    assert_true(str_eq(intern_text(in, t->no_image), row->no_image));
    assert_string_equal(intern_text(in, t->resource), "nvidia.com/gpu");
    assert_string_equal(intern_text(in, t->purpose), "a.b");
    assert_string_equal(intern_text(in, t->policy), "u");
    struct pod *again = pod_project_task(in, NS, object);
    assert_true(pod_same(p, again));
    pod_free(in, p);
    pod_free(in, again);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

/* ---- whether its program has run */

#define LOST "'reason': 'ContainerStatusUnknown', 'exitCode': 137"
static const struct ran_row {
    const char *name, *status; /* of its container; NULL: none */
    bool ran;
} ran_rows[] = {
    { "ran: no container", NULL, false },
    { "ran: not, the image does not come", "{'state': {'waiting': {'reason': 'ErrImagePull'}}}",
      false },
    { "ran: not, the container cannot be made",
      "{'imageID': 'x', 'state': {'waiting': {'reason': 'CreateContainerError'}}}", false },
    { "ran: it runs", "{'state': {'running': {'startedAt': '2026-11-20T10:00:05Z'}}}", true },
    { "ran: it has ended", "{'state': {'terminated': {'exitCode': 1, 'reason': 'Error'}}}", true },
    { "ran: without a reason", "{'state': {'terminated': {'exitCode': 137}}}", true },
    { "ran: not, the runtime could not start it",
      "{'containerID': 'c', 'state': {'terminated': {'exitCode': 128, 'reason': 'StartError', "
      "'startedAt': '1970-01-01T00:00:00Z', 'containerID': 'c'}}}",
      false },
    { "ran: not, the kubelet ended the pod before the container was made",
      "{'state': {'terminated': {" LOST ", 'startedAt': null}}}", false },
    { "ran: the kubelet has lost the container, which had an id",
      "{'containerID': 'c', 'state': {'terminated': {" LOST ", 'startedAt': null}}}", true },
    { "ran: the kubelet has lost the container, which had begun",
      "{'state': {'terminated': {" LOST ", 'startedAt': '2026-11-20T10:00:05Z'}}}", true },
    { "ran: the kubelet knows only that it ran",
      "{'state': {'waiting': {}}, 'lastState': {'terminated': {" LOST "}}}", true },
    { "ran: it has started again", "{'state': {'waiting': {}}, 'restartCount': 1}", true },
};

static void check_ran(void **state)
{
    const struct ran_row *row = *state;
    struct intern *in = intern_new();
    CLEANUP_JSON json_t *object = tree(TASK("'phase': 'Failed'"));
    if (row->status)
        json_set_at(object, "status.containerStatuses", json_pack("[o]", tree(row->status)));
    struct pod *p = pod_project_task(in, NS, object);
    assert_int_equal(pod_task(p)->ran, row->ran);
    pod_free(in, p);
    intern_free(in);
}

static void check_long_words(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    CLEANUP_JSON json_t *object = tree(
        TASK("'phase': 'Failed', 'containerStatuses': [" ENDED("1") "]"));
    char words[2 * TASK_SAID_MAX];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    json_t *status = json_array_get(json_at(object, "status.containerStatuses"), 0);
    json_object_set_new(json_at(status, "state.terminated"), "message", json_string(words));
    struct pod *p = pod_project_task(in, NS, object);
    assert_int_equal(strlen(intern_text(in, pod_task(p)->said)), TASK_SAID_MAX);
    pod_free(in, p);
    intern_free(in);
}

/* ---- names */

static const struct name_row {
    const char *name, *node, *want;
} name_rows[] = {
    { "name: short", "gpu-1", "ostler-proof-gpu-1" },
    { "name: with dots", "ip-10-0-0-1.ec2.internal", "ostler-proof-ip-10-0-0-1.ec2.internal" },
    { "name: as long as may be", "01234567890123456789012345678901234567890123456789",
      "ostler-proof-01234567890123456789012345678901234567890123456789" },
    { "name: longer", "012345678901234567890123456789012345678901234567890",
      "ostler-proof-01234567890123456789012345678901234567890-" },
    { "name: cut at a dot", "0123456789012345678901234567890123456789.123456789abcdef",
      "ostler-proof-0123456789012345678901234567890123456789-" },
};

static void check_name(void **state)
{
    const struct name_row *row = *state;
    char name[TASK_NAME_MAX], again[TASK_NAME_MAX];
    task_name(TASK_PROOF, row->node, name);
    task_name(TASK_PROOF, row->node, again);
    size_t len = strlen(row->want);
    bool whole = row->want[len - 1] != '-';
    assert_string_equal(name, again);
    assert_memory_equal(name, row->want, len);
    assert_int_equal(strlen(name), whole ? len : len + 8);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_kind, kind_rows);
    SUITE_ROWS(&s, check_state, state_rows);
    SUITE_ROWS(&s, check_ran, ran_rows);
    suite_add(&s, "of long words the beginning is kept", check_long_words, NULL);
    SUITE_ROWS(&s, check_name, name_rows);
    return suite_run(&s, "task");
}
