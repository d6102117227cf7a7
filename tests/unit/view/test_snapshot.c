#include "reconcilers/view/snapshot.h"

#include "base/json.h"
#include "reconcilers/view/advice.h"
#include "reconcilers/view/health.h"
#include "reconcilers/view/events.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct similar_row {
    const char *name, *names, *typed, *want;
} similars[] = {
    { "a letter is missing", "['gpu-1', 'train-01']", "tran-01", "['train-01']" },
    { "the likest first", "['gpu-10', 'gpu-1', 'gpu-2']", "gpu-11", "['gpu-10', 'gpu-1']" },
    { "a part of a long name", "['ip-10-0-0-7.ec2.internal', 'gpu-1']", "ip-10-0-0-7",
      "['ip-10-0-0-7.ec2.internal']" },
    { "nothing is like it", "['gpu-1', 'gpu-2']", "storage-server", "[]" },
    { "no names", "[]", "gpu-1", "[]" },
};

static void check_similar(void **state)
{
    const struct similar_row *row = *state;
    CLEANUP_JSON json_t *names = tree(row->names),
                        *got = snapshot_similar_names(names, row->typed, 2);
    assert_tree(got, row->want);
}

static const struct keeper_row {
    const char *name, *metadata, *want; /* its beginning; NULL: none */
} keepers[] = {
    { "no manager",
      "{'name': 'default', 'managedFields': [{'manager': 'kubectl-client-side-apply'}]}", NULL },
    { "Argo CD by annotation", "{'annotations': {'argocd.argoproj.io/tracking-id': 'gpu:x'}}",
      "Argo CD (gpu:x) manages" },
    { "Argo CD by manager", "{'managedFields': [{'manager': 'argocd-controller'}]}",
      "Argo CD manages this object" },
    { "Flux by label", "{'labels': {'kustomize.toolkit.fluxcd.io/name': 'infra'}}",
      "Flux (infra) manages this object" },
    { "Helm", "{'annotations': {'meta.helm.sh/release-name': 'ostler'}}",
      "Helm (ostler) manages this object" },
};

static void check_keeper(void **state)
{
    const struct keeper_row *row = *state;
    CLEANUP_JSON json_t *metadata = tree(row->metadata),
                        *object = json_pack("{s:O}", "metadata", metadata);
    CLEANUP_FREE char *got = snapshot_keeper(object);
    if (row->want)
        assert_memory_equal(got, row->want, __builtin_strlen(row->want));
    else
        assert_null(got);
}

#define TARGETS ",'pools': [{'targets': [{'revision': 'driver-d2'}, {'revision': 'stack-s1'}]}]"
#define REPORT(driver)                                                                             \
    "{'status': {'policyGeneration': 2, 'driver': {'target': '" driver                             \
    "'}, 'stack': {'target': 's1'}}}"
static const struct old_row {
    const char *name, *report, *policy;
    bool want;
} olds[] = {
    { "of this generation", REPORT("d2"), "{'metadata': {'generation': 2}}", false },
    { "the policy was edited a moment ago", REPORT("d2"),
      "{'metadata': {'generation': 3}, 'status': {'observedGeneration': 2" TARGETS "}}", true },
    { "the policy was paused and resumed", REPORT("d2"),
      "{'metadata': {'generation': 4}, 'status': {'observedGeneration': 4, 'rollout': {'reason': "
      "'Soaking'}" TARGETS "}}",
      false },
    { "the policy wants another driver now", REPORT("d1"),
      "{'metadata': {'generation': 3}, 'status': {'observedGeneration': 3, 'rollout': {'reason': "
      "'Soaking'}" TARGETS "}}",
      true },
    { "the rollout is over", REPORT("d1"),
      "{'metadata': {'generation': 3}, 'status': {'observedGeneration': 3, 'rollout': {'reason': "
      "'UpToDate'}}}",
      false },
    { "a report that names no driver",
      "{'status': {'policyGeneration': 2, 'stack': {'target': 's1'}}}",
      "{'metadata': {'generation': 3}, 'status': {'observedGeneration': 3" TARGETS "}}", false },
};

static void check_old(void **state)
{
    const struct old_row *row = *state;
    CLEANUP_JSON json_t *report = tree(row->report), *policy = tree(row->policy);
    assert_int_equal(snapshot_report_is_stale(report, policy), row->want);
}

static const struct lease_row {
    const char *name, *snapshot, *want;
} leases[] = {
    { "it renewed",
      "{'lease': {'spec': {'holderIdentity': 'a', 'renewTime': '2026-11-20T09:59:57Z'}}}",
      "Alive" },
    { "it was silent too long",
      "{'lease': {'spec': {'holderIdentity': 'a', 'renewTime': '2026-11-20T09:59:00Z'}}}",
      "Silent" },
    { "its clock is ahead",
      "{'lease': {'spec': {'holderIdentity': 'a', 'renewTime': '2026-11-20T10:01:00Z'}}}",
      "Alive" },
    { "no time", "{'lease': {'spec': {'holderIdentity': 'a'}}}", "Silent" },
    { "it was stopped",
      "{'lease': {'spec': {'holderIdentity': '', 'renewTime': '2026-11-20T09:59:57Z'}}}",
      "Released" },
    { "there is none", "{}", "Absent" },
    { "it may not be read", "{'missing': {'lease': 'no right'}}", "Unknown" },
};

static void check_lease(void **state)
{
    const struct lease_row *row = *state;
    CLEANUP_JSON json_t *snapshot = tree(row->snapshot),
                        *got = snapshot_ostler(snapshot, INT64_C(1795168800000000));
    assert_string_equal(json_str(got, "state"), row->want);
}

static void check_setter(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *node = tree(
        "{'metadata': {'managedFields': ["
        "{'manager': 'kubelet', 'time': '2026-11-20T09:00:00Z', 'fieldsV1': {'f:status': {}}},"
        "{'manager': 'old', 'time': '2026-11-20T08:00:00Z', 'fieldsV1': {'f:spec': "
        "{'f:unschedulable': {}}}},"
        "{'manager': 'kubectl-cordon', 'time': '2026-11-20T09:30:00Z', 'fieldsV1': {'f:spec': "
        "{'f:unschedulable': {}}}}]}}");
    CLEANUP_FREE char *cordon = snapshot_setter(node, "f:spec f:unschedulable"),
                      *none = snapshot_setter(node, "f:spec f:taints");
    assert_string_equal(cordon, "kubectl-cordon at 2026-11-20T09:30:00Z");
    assert_null(none);
}

static void check_news(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *before = tree("[{'a': 1}, {'a': 2}]"),
                        *list = tree("[{'a': 2}, {'a': 3}]");
    CLEANUP_JSON json_t *news = events_news(before, list);
    assert_tree(news, "[{'a': 3}]");
}

static void check_advice(void **state)
{
    (void) state;
    CLEANUP_FREE char *node = advice_of_node("gpu-1", "Failed", REASON_FOREIGN_STACK);
    CLEANUP_FREE char *any = advice_of_node("gpu-1", "Failed", REASON_OTHER);
    CLEANUP_FREE char *plan = advice_of_rollout(REASON_WAITING_FOR_APPROVAL, "h1"),
                      *none = advice_of_rollout(REASON_PROGRESSING, "h1");
    assert_string_equal(node,
                        "leave the node, or remove the other stack and then run kubectl label node "
                        "gpu-1 ostler.dev/managed=true");
    assert_string_equal(any, "see the history of the node: kubectl gpu explain gpu-1");
    assert_string_equal(plan,
                        "read the plan with kubectl gpu plan, then run kubectl gpu approve h1");
    assert_null(none);
    assert_int_equal(advice_reason("Xid79"), REASON_XID);
    assert_int_equal(advice_reason("SXid12028"), REASON_SXID);
    assert_int_equal(advice_reason("Xid79x"), REASON_OTHER);
    assert_int_equal(advice_reason("GpuLost"), REASON_GPU_LOST);
    assert_int_equal(advice_reason(NULL), REASON_NONE);
    assert_true(advice_is_stuck("Failed", REASON_NONE, 1));
    assert_false(advice_is_stuck("Unhealthy", REASON_XID, 3600));
    assert_false(advice_is_stuck("Draining", REASON_NONE, 60));
    assert_true(advice_is_stuck("Draining", REASON_NONE, 3600));
    assert_false(advice_is_stuck("Ready", REASON_OPERANDS_UP, 3600));
}

static void check_reason(void **state)
{
    (void) state;
    assert_true(health_is_reason("Xid79"));
    assert_false(health_is_reason("x;reboot"));
    assert_false(health_is_reason(""));
    assert_false(health_is_reason(NULL));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_similar, similars);
    SUITE_ROWS(&s, check_keeper, keepers);
    SUITE_ROWS(&s, check_lease, leases);
    SUITE_ROWS(&s, check_old, olds);
    suite_add(&s, "who set a field last", check_setter, NULL);
    suite_add(&s, "events that were not there before", check_news, NULL);
    suite_add(&s, "advice", check_advice, NULL);
    suite_add(&s, "what a command to copy may have", check_reason, NULL);
    return suite_run(&s, "seen");
}
