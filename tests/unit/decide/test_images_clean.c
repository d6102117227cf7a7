/* When the pod that pulls a node's next images goes, by passes over a node of a small cluster. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/images.h"
#include "tests/unit/support/frame.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

#define NODE "gpu-1"
#define PULL "ostler-pull-" NODE
#define OLD "olddriver"
#define CLAIM(phase, reason) CLAIM_FOR("$driver", phase, reason)
#define CLAIM_FOR(driver, phase, reason)                                                           \
    "{'metadata': {'annotations': {'ostler.dev/marks': "                                           \
    "'{\\\"labels\\\":[\\\"nvidia.com/gpu.present\\\"],\\\"taints\\\":[]}', "                      \
    "'ostler.dev/claim': "                                                                         \
    "'{\\\"v\\\":1,\\\"policy\\\":\\\"uid-default-1\\\",\\\"generation\\\":1,\\\"kind\\\":"        \
    "\\\"Upgrade\\\","                                                                             \
    "\\\"phase\\\":\\\"" phase "\\\",\\\"since\\\":\\\"2026-11-20T09:59:50Z\\\",\\\"claimed\\\":"  \
    "\\\"2026-11-20T09:59:50Z\\\",\\\"attempt\\\":1,"                                              \
    "\\\"gpus\\\":8,\\\"driver\\\":"                                                               \
    "\\\"" driver "\\\",\\\"stack\\\":\\\"$stack\\\",\\\"fromDriver\\\":\\\"" OLD                  \
    "\\\",\\\"fromStack\\\":\\\"$stack\\\",\\\"reason\\\":\\\"" reason "\\\"}'}}}"
#define THERE "'containerStatuses': [{'name': 'driver-0', 'imageID': 'x'}]"

static const struct row {
    const char *name;
    const char *node;    /* a merge patch of the node */
    const char *pod;     /* the pod's status */
    const char *driver;  /* that the pod is for; NULL: the node's target */
    const char *spec;    /* another policy meanwhile; NULL: the same */
    bool released;       /* the policy is gone */
    const char *deleted; /* the reason; NULL: it stays */
    int64_t again_s;     /* to be looked at again; 0: it is not about that */
    bool old;            /* it was made an hour ago, not a minute */
} rows[] = {
    { "stays: it pulls", "{}", "'phase': 'Pending'", NULL, NULL, false, NULL, 0, false },
    { "stays: all is there", "{}", THERE, NULL, NULL, false, NULL, 0, false },
    { "goes: the node is to run something else", "{}", THERE, "otherdriver", NULL, false,
      "ImagesPulled", 0, false },
    { "goes: another pull secret", "{}", "'phase': 'Pending'", NULL,
      "{'driver': {'imagePullSecrets': ['ngc']}}", false, "ImagesPulled", 0, false },
    { "goes: the node runs its target",
      "{'metadata': {'labels': {'ostler.dev/driver': '$driver'}}}", THERE, NULL, NULL, false,
      "ImagesPulled", 0, false },
    { "goes: the node is cordoned", "{'spec': {'unschedulable': true}}", THERE, NULL, NULL, false,
      "ImagesPulled", 0, false },
    { "goes: the node is held", "{'metadata': {'labels': {'ostler.dev/hold': 'true'}}}", THERE,
      NULL, NULL, false, "ImagesPulled", 0, false },
    { "goes: the node is not managed", "{'metadata': {'labels': {'ostler.dev/managed': 'false'}}}",
      THERE, NULL, NULL, false, "ImagesPulled", 0, false },
    { "goes: the policy goes", "{}", THERE, NULL, NULL, true, "ImagesPulled", 0, false },
    { "stays: the node waits for its jobs", CLAIM("Waiting", ""), THERE, NULL, NULL, false, NULL, 0,
      false },
    { "stays: the drain timed out, and is tried again", CLAIM("Failed", "DrainTimeout"), THERE,
      NULL, NULL, false, NULL, 0, false },
    { "goes: the stack leaves", CLAIM("Unloading", ""), THERE, NULL, NULL, false, "ImagesPulled", 0,
      false },
    { "stays: the node is on its way to something else", CLAIM_FOR("another", "Unloading", ""),
      "'phase': 'Pending'", NULL, NULL, false, NULL, 0, false },
    { "stays: it was ended a moment ago", "{}", "'phase': 'Failed', 'reason': 'Evicted'", NULL,
      NULL, false, NULL, 60, false },
    { "stays: it was made long ago, and ended half a minute ago", "{}",
      "'phase': 'Failed', 'containerStatuses': [{'name': 'driver-0', 'imageID': '', 'state': "
      "{'terminated': {'exitCode': 137, "
      "'finishedAt': '2026-11-20T09:59:30Z'}}}]",
      NULL, NULL, false, NULL, 90, true },
    { "goes: its kubelet's clock is ahead", "{}",
      "'phase': 'Failed', 'containerStatuses': [{'name': 'driver-0', 'imageID': '', 'state': "
      "{'terminated': {'exitCode': 137, "
      "'finishedAt': '2026-11-21T10:00:00Z'}}}]",
      NULL, NULL, false, "PullImages", 0, true },
    { "goes: it was ended long ago", "{}", "'phase': 'Failed', 'reason': 'Evicted'", NULL, NULL,
      false, "PullImages", 0, true },
    { "stays: it ended with all there", "{}", "'phase': 'Failed', " THERE, NULL, NULL, false, NULL,
      0, false },
};

static char *with_hashes(const char *text, const struct target *t)
{
    const char *at;
    char *out = xstrdup(text);
    while ((at = strchr(out, '$'))) {
        bool driver = str_has_prefix(at, "$driver");
        char *next = xasprintf("%.*s%s%s", (int) (at - out), out,
                               driver ? t->runs.hash[TIER_DRIVER] : t->runs.hash[TIER_STACK],
                               at + strlen(driver ? "$driver" : "$stack"));
        free(out);
        out = next;
    }
    return out;
}

static void put_node(struct testbed *t, const struct target *target, const struct row *row)
{
    CLEANUP_FREE char *text = with_hashes(row->node, target);
    CLEANUP_JSON json_t *patch = tree(text);
    CLEANUP_JSON json_t *labels = json_pack("{s:{s:{s:s, s:s}}}", "metadata", "labels",
                                            LABEL_DRIVER, OLD, LABEL_STACK,
                                            target->runs.hash[TIER_STACK]);
    testbed_edit(t, RESOURCE_NODE, NODE, labels);
    testbed_edit(t, RESOURCE_NODE, NODE, patch);
}

static void put_pod(struct testbed *t, const struct target *target, const struct row *row)
{
    char purpose[IMAGES_PURPOSE_MAX];
    struct assignment_ref to = assignment_ref(&target->runs);
    to.hash[TIER_DRIVER] = row->driver ? row->driver : to.hash[TIER_DRIVER];
    images_purpose(to, targets_spec(t->cluster->targets, 0), purpose);
    CLEANUP_FREE char *status = xasprintf("{%s}", row->pod);
    testbed_put(t, RESOURCE_TASK,
                json_pack("{s:{s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s}}, s:{s:s, s:[{s:s}]}, s:o}",
                          "metadata", "name", PULL, "namespace", TESTBED_NAMESPACE,
                          "creationTimestamp",
                          row->old ? "2026-11-20T09:00:00Z" : "2026-11-20T09:59:00Z", "labels",
                          LABEL_MANAGED_BY, MANAGED_BY, LABEL_TASK, "pull", LABEL_POLICY_UID,
                          t->cluster->policy.uid, LABEL_REVISION, purpose, "spec", "nodeName", NODE,
                          "containers", "name", "driver-0", "status", tree(status)));
}

static void put_records(struct testbed *t, const struct target *target)
{
    CLEANUP_JSON json_t *old = json_deep_copy(target->inputs[TIER_DRIVER]);
    json_object_set_new(old, "version", json_string("1"));
    testbed_put(t, RESOURCE_REVISION,
                testbed_record(target->runs.hash[TIER_DRIVER], target->inputs[TIER_DRIVER]));
    testbed_put(t, RESOURCE_REVISION,
                testbed_record(target->runs.hash[TIER_STACK], target->inputs[TIER_STACK]));
    testbed_put(t, RESOURCE_REVISION, testbed_record(OLD, old));
    testbed_forget_targets(t);
}

static const struct action *deletion_of(const struct actions *actions)
{
    for (size_t i = 0; i < actions->len; i++)
        if (actions->items[i].verb == VERB_DELETE &&
            str_eq(actions->items[i].target, "pod/" TESTBED_NAMESPACE "/" PULL))
            return &actions->items[i];
    return NULL;
}

static void check_row(void **state)
{
    const struct row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct node_verdict v;
    struct testbed t;
    CLEANUP_JSON json_t *policy = tree("{'spec': {'driver': {'version': '580.1'}}}");
    CLEANUP_JSON json_t *node = tree("{'name': '" NODE
                                     "', 'gpus': 8, 'labels': {'nvidia.com/gpu.present': 'true'}}");
    testbed_init(&t, policy);
    testbed_put(&t, RESOURCE_NODE, testbed_node(node));
    put_records(&t, testbed_target(&t, NODE));
    put_node(&t, testbed_target(&t, NODE), row);
    put_pod(&t, testbed_target(&t, NODE), row);
    if (row->spec) {
        CLEANUP_JSON json_t *patch = json_pack("{s:o}", "spec", tree(row->spec));
        testbed_edit(&t, RESOURCE_POLICY, POLICY_NAME, patch);
    }
    if (row->released) {
        testbed_remove(&t, RESOURCE_POLICY, POLICY_NAME);
        t.absent_for_long = true;
    }
    testbed_pass_node(&t, &a, NODE, &v, &actions);
    const struct action *gone = deletion_of(&actions);
    if (!str_eq(gone ? gone->reason : NULL, row->deleted))
        fail_msg("it is deleted: %s", gone ? gone->reason : "it is not");
    if (row->again_s)
        assert_int_equal(actions.requeue_after_ms, row->again_s * 1000);
    testbed_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    return suite_run(&s, "pull pods that go");
}
