/* What a node's pull pod says of its images, and what a pull pod is made of. */
#include "reconcilers/decide/images.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/revision.h"
#include "reconcilers/decide/task_pod.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NS "ostler-operands"
#define UID "policy-1"

/* ---- what a node says */

/* A pull pod for d2.s1 with images `a` and `b`. */
#define POD(purpose, meta, status)                                                                 \
    "{'metadata': {'name': 'ostler-pull-n', 'namespace': '" NS                                     \
    "', 'labels': {'app.kubernetes.io/managed-by': 'ostler', "                                     \
    "'ostler.dev/task': "                                                                          \
    "'pull', 'ostler.dev/policy-uid': '" UID "', 'ostler.dev/revision': '" purpose "'}" meta       \
    "}, 'spec': {'nodeName': 'n', 'containers': "                                                  \
    "[{'name': 'x', 'image': 'a'}, {'name': 'y', 'image': 'b'}]}, 'status': {" status "}}"
#define PULL(status) POD("d2.s1", "", status)
#define THERE(image)                                                                               \
    "{'name': 'x', 'image': '" image                                                               \
    "', 'imageID': 'sha256:1', 'state': {'terminated': {'exitCode': 128, "                         \
    "'reason': 'StartError'}}}"
#define WAITS(image, reason, message)                                                              \
    "{'name': 'y', 'image': '" image "', 'imageID': '', 'state': {'waiting': {'reason': '" reason  \
    "', 'message': '" message "'}}}"
#define SAYS(statuses) "'phase': 'Pending', 'containerStatuses': [" statuses "]"

static const struct look_row {
    const char *name, *pod;
    enum images_state state;
    const char *image, *words;
} look_rows[] = {
    { "no pod", NULL, IMAGES_UNKNOWN, NULL, NULL },
    { "a proof is no pull",
      "{'metadata': {'name': 'p', 'namespace': '" NS
      "', 'labels': {'app.kubernetes.io/managed-by': 'ostler', 'ostler.dev/task': "
      "'proof', "
      "'ostler.dev/policy-uid': '" UID
      "', 'ostler.dev/revision': 'd2.s1'}}, 'spec': {'nodeName': 'n', 'containers': [{}]}, "
      "'status': {" SAYS(THERE("a")) "}}",
      IMAGES_UNKNOWN, NULL, NULL },
    { "it was only made", PULL(""), IMAGES_PULLING, NULL, NULL },
    { "its containers are being made",
      PULL(SAYS(WAITS("a", "ContainerCreating", "") ", " WAITS("b", "ContainerCreating", ""))),
      IMAGES_PULLING, NULL, NULL },
    { "one of two is there", PULL(SAYS(THERE("a") ", " WAITS("b", "ContainerCreating", ""))),
      IMAGES_PULLING, NULL, NULL },
    { "both are there",
      PULL("'phase': 'Failed', 'containerStatuses': [" THERE("a") ", " THERE("b") "]"),
      IMAGES_READY, NULL, NULL },
    { "both are there, and one could not be made",
      PULL(SAYS(THERE("a") ", " WAITS("b", "CreateContainerError", "exec: not found"))),
      IMAGES_READY, NULL, NULL },
    { "both are there, for another target", POD("d3.s1", "", SAYS(THERE("a") ", " THERE("b"))),
      IMAGES_PULLING, NULL, NULL },
    { "both are there, and it is going",
      POD("d2.s1", ", 'deletionTimestamp': '2026-11-21T12:00:00Z'",
          SAYS(THERE("a") ", " THERE("b"))),
      IMAGES_READY, NULL, NULL },
    { "it goes before they are there",
      POD("d2.s1", ", 'deletionTimestamp': '2026-11-21T12:00:00Z'",
          SAYS(WAITS("b", "ErrImagePull", "no"))),
      IMAGES_PULLING, NULL, NULL },
    { "one is in no registry",
      PULL(SAYS(THERE("a") ", " WAITS("b", "ErrImagePull", "b: not found"))), IMAGES_MISSING, "b",
      "b: not found" },
    { "the words are the same while the kubelet waits",
      PULL(SAYS(
          THERE("a") ", " WAITS("b", "ImagePullBackOff",
                                "Back-off pulling image \\\"b\\\": ErrImagePull: b: not found"))),
      IMAGES_MISSING, "b", "b: not found" },
    { "an old kubelet says no more than that it waits",
      PULL(SAYS(WAITS("b", "ImagePullBackOff", "Back-off pulling image \\\"b\\\""))),
      IMAGES_MISSING, "b", "Back-off pulling image \"b\"" },
    { "a kubelet without words", PULL(SAYS(WAITS("b", "InvalidImageName", ""))), IMAGES_MISSING,
      "b", "InvalidImageName" },
    { "words over several lines", PULL(SAYS(WAITS("b", "ErrImagePull", "one\\ntwo"))),
      IMAGES_MISSING, "b", "one two" },
    { "no place for it",
      PULL("'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', "
           "'reason': 'Unschedulable', 'message': "
           "'too many pods'}]"),
      IMAGES_MISSING, NULL, "Unschedulable: too many pods" },
    { "the kubelet put it out",
      PULL("'phase': 'Failed', 'reason': 'Evicted', 'message': 'low on disk'"), IMAGES_MISSING,
      NULL, "Evicted: low on disk" },
    { "it ended without a word", PULL("'phase': 'Failed'"), IMAGES_MISSING, NULL,
      "the pod that pulls them was terminated" },
};

static void check_look(void **state)
{
    const struct look_row *row = *state;
    struct intern *in = intern_new();
    CLEANUP_JSON json_t *object = row->pod ? tree(row->pod) : NULL;
    struct pod *p = object ? pod_project_task(in, NS, object) : NULL;
    assert_true(!p == !object);
    struct images images = images_look(p, in, UID, "d2.s1");
    if (images.state != row->state || !str_eq(images.image, row->image) ||
        !str_eq(images.words, row->words))
        fail_msg("it is %d, image %s: %s", (int) images.state, images.image ? images.image : "-",
                 images.words ? images.words : "-");
    assert_int_equal(images_look(p, in, "policy-2", "d2.s1").state,
                     p && pod_task(p)->kind == TASK_PULL ? IMAGES_PULLING : IMAGES_UNKNOWN);
    if (p)
        pod_free(in, p);
    assert_int_equal(intern_count(in), 0);
    intern_free(in);
}

/* A pod that is going is still there when the next one has been made; the watch brings them in any
 * order. */
static void of_two_pods_the_one_that_stays_counts(void **state)
{
    (void) state;
    struct intern *in = intern_new();
    CLEANUP_JSON json_t *going = tree(
        POD("d1.s1", ", 'deletionTimestamp': '2026-11-21T12:00:00Z'", ""));
    CLEANUP_JSON json_t *made = tree(
        PULL("'phase': 'Failed', 'containerStatuses': [" THERE("a") ", " THERE("b") "]"));
    struct pod *old = pod_project_task(in, NS, going), *new = pod_project_task(in, NS, made);
    old->next_on_node = new;
    assert_int_equal(images_look(old, in, UID, "d2.s1").state, IMAGES_READY);
    old->next_on_node = NULL;
    new->next_on_node = old;
    assert_int_equal(images_look(new, in, UID, "d2.s1").state, IMAGES_READY);
    new->next_on_node = NULL;
    pod_free(in, old);
    pod_free(in, new);
    intern_free(in);
}

/* ---- what a pull pod is made of */

#define DRIVER                                                                                     \
    "{'tier': 'driver', 'source': 'Container', 'image': 'r/driver', 'version': '575', 'os': "      \
    "'ubuntu24.04', 'kernelModule': "                                                              \
    "'Auto'}"
#define COS "{'tier': 'driver', 'source': 'COS'}"
#define STACK(toolkit, plugin)                                                                     \
    "{'tier': 'stack', 'runtime': 'containerd', 'distribution': 'stock', 'driverRoot': "           \
    "'Container', 'toolkit': {'enabled': " toolkit                                                 \
    ", 'image': 'r/toolkit', 'version': '1.18', 'installDir': '/usr/local/nvidia'}, "              \
    "'devicePlugin': {'enabled': " plugin                                                          \
    ", 'image': 'r/plugin', 'version': 'v0.17', 'migStrategy': 'none'}}"
#define SPEC                                                                                       \
    "{'driver': {'imagePullPolicy': 'Always', 'imagePullSecrets': ['ngc', 'mirror']}, 'toolkit': " \
    "{'imagePullSecrets': "                                                                        \
    "['ngc']}, "                                                                                   \
    "'devicePlugin': {'imagePullPolicy': 'Never'}}"

static const struct pull_row {
    const char *name;
    const char *driver, *stack; /* inputs; NULL: the tier stays as it is */
    const char *want;           /* "image policy" of each container, and the secrets */
    bool proof;                 /* the node is proven then */
} pull_rows[] = {
    { "a driver", DRIVER, NULL, "r/ostler:1 -; r/driver:575-ubuntu24.04 Always; secrets ngc mirror",
      false },
    { "Google's driver, which is on the host", COS, NULL,
      "r/ostler:1 -; cos-nvidia-installer:fixed Never; gke.gcr.io/pause:3.8 -; secrets ngc mirror",
      false },
    { "a stack", NULL, STACK("true", "true"),
      "r/ostler:1 -; r/toolkit:1.18 -; r/plugin:v0.17 Never; secrets ngc", false },
    { "a stack with a device plugin alone", NULL, STACK("false", "true"),
      "r/ostler:1 -; r/plugin:v0.17 Never; secrets", false },
    { "both", DRIVER, STACK("true", "true"),
      "r/ostler:1 -; r/driver:575-ubuntu24.04 Always; r/toolkit:1.18 -; r/plugin:v0.17 Never; "
      "secrets ngc mirror",
      false },
    { "a driver, and its proof", DRIVER, NULL,
      "r/ostler:1 -; r/driver:575-ubuntu24.04 Always; r/proof:1 Never; secrets ngc mirror own",
      true },
    { "a stack without anything", NULL, STACK("false", "false"), NULL, false },
    { "nothing", NULL, NULL, NULL, false },
};

static void describe(const json_t *pod, struct buf *ret)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_at(pod, "spec.containers"), i, item) {
        const char *policy = json_str(item, "imagePullPolicy");
        buf_printf(ret, "%s %s; ", json_str(item, "image"), policy ? policy : "-");
    }
    buf_str(ret, "secrets");
    json_array_foreach (json_at(pod, "spec.imagePullSecrets"), i, item)
        buf_printf(ret, " %s", json_str(item, "name"));
}

static void check_pull(void **state)
{
    const struct pull_row *row = *state;
    CLEANUP_ERR struct err e = { 0 };
    struct manifests *m = manifests_new(&e);
    CLEANUP_JSON json_t *driver = row->driver ? tree(row->driver) : NULL,
                        *stack = row->stack ? tree(row->stack) : NULL, *spec = tree(SPEC);
    struct render_context ctx = {
        .operand_namespace = NS, .policy_uid = UID, .spec = spec, .agent_image = "r/ostler:1"
    };
    struct images_wanted want = { .node = "gpu-1",
                                  .purpose = "d2.s2",
                                  .policy_uid = UID,
                                  .operand_namespace = NS,
                                  .of[TIER_DRIVER] = ctx,
                                  .of[TIER_STACK] = ctx };
    struct actions actions = { 0 };
    CLEANUP_JSON json_t *own = tree("['ngc', 'own']");
    if (row->proof) {
        want.proof = (struct render_image){ "proof", "r/proof:1", "Never" };
        want.proof_secrets = own;
    }
    want.of[TIER_DRIVER].inputs = driver;
    want.of[TIER_STACK].inputs = stack;
    want.of[TIER_DRIVER].hash = "d2";
    want.of[TIER_STACK].hash = "s2";
    assert_int_equal(images_any(&want), row->want != NULL);
    int rc = images_pull(m, &want, &actions, &e);
    assert_int_equal(rc, row->want ? 0 : -1);
    assert_int_equal(actions.len, row->want ? 1 : 0);
    if (row->want) {
        CLEANUP_BUF struct buf text = BUF_INIT(4096);
        const struct request *r = &actions.items[0].request;
        CLEANUP_JSON json_t *pod = json_parse(r->body, strlen(r->body), NULL);
        assert_string_equal(r->path, "/api/v1/namespaces/" NS "/pods?fieldManager=ostler");
        assert_string_equal(json_str(pod, "metadata.name"), "ostler-pull-gpu-1");
        assert_string_equal(json_key(json_at(pod, "metadata.labels"), "ostler.dev/revision"),
                            "d2.s2");
        describe(pod, &text);
        assert_string_equal(buf_text(&text), row->want);
    }
    actions_clear(&actions);
    manifests_free(m);
}

/* ---- what it is for */

static void purpose_of(const char *spec_text, char out[static IMAGES_PURPOSE_MAX])
{
    CLEANUP_JSON json_t *spec = tree(spec_text);
    images_purpose((struct assignment_ref){ { "d2", "" } }, spec, out);
}

static void check_purpose(void **state)
{
    (void) state;
    static const char *const others[] = {
        "{'driver': {'imagePullSecrets': ['b']}}",
        "{'driver': {'imagePullSecrets': ['a', 'b']}}",
        "{'driver': {'imagePullSecrets': ['a'], 'imagePullPolicy': 'Always'}}",
        "{'toolkit': {'imagePullSecrets': ['a']}}",
        "{}",
    };
    char one[IMAGES_PURPOSE_MAX], same[IMAGES_PURPOSE_MAX], other[IMAGES_PURPOSE_MAX];
    purpose_of("{'driver': {'imagePullSecrets': ['a']}}", one);
    purpose_of("{'driver': {'imagePullSecrets': ['a'], 'resources': {'limits': {}}}, 'exporter': "
               "{'imagePullSecrets': ['c']}}",
               same);
    assert_string_equal(one, same);
    assert_memory_equal(one, "d2.none.", 8);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        purpose_of(others[i], other);
        assert_string_not_equal(one, other);
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "what pulls is for the secrets that it pulls with", check_purpose, NULL);
    SUITE_ROWS(&s, check_look, look_rows);
    suite_add(&s, "of two pods the one that stays counts", of_two_pods_the_one_that_stays_counts,
              NULL);
    SUITE_ROWS(&s, check_pull, pull_rows);
    return suite_run(&s, "images");
}
