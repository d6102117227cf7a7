/* From the events of pods that fail on a node to the proof that Ostler asks for. */
#include "reconcilers/cluster_failures.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

#define NODE "gpu-1"

/* A validated node that is Ready. */
static void begin(struct testbed *t, const char *health)
{
    CLEANUP_FREE char *text = xasprintf(
        "{'spec': {'validation': {'enabled': true}, 'health': {'mode': '%s'}}}", health);
    CLEANUP_JSON json_t *policy = tree(text),
                        *node = tree("{'labels': {'nvidia.com/gpu.present': 'true'}}");
    testbed_init(t, policy);
    testbed_put(t, RESOURCE_NODE, testbed_node(node));
    testbed_settle(t, true, NULL);
    assert_int_equal(testbed_slot(t, NODE)->summary.state, NODE_READY);
    t->cluster->watched_since_ms = QUIET_MONO_MS - 60 * 1000;
}

static json_t *pod(const char *name, const char *owner, const char *status)
{
    CLEANUP_FREE char *text = xasprintf("{'name': 'team/%s', 'uid': 'uid-%s', 'node': '" NODE
                                        "', 'gpus': 1, 'owners': [{'kind': "
                                        "'Job', 'uid': '%s', 'controller': true}]}",
                                        name, name, owner);
    CLEANUP_JSON json_t *brief = tree(text), *more = tree(status);
    json_t *whole = testbed_pod(brief);
    json_object_set(whole, "status", more);
    return whole;
}

static void put(struct testbed *t, const char *name, const char *owner, const char *status)
{
    testbed_put(t, RESOURCE_POD, pod(name, owner, status));
    testbed_tell(t);
}

#define REFUSED                                                                                    \
    "{'phase': 'Failed', 'reason': 'UnexpectedAdmissionError', 'startTime': "                      \
    "'2026-11-20T09:59:50Z'}"
#define RUNS "{'phase': 'Running', 'containerStatuses': [{'state': {'running': {}}}]}"
#define OLD                                                                                        \
    "{'phase': 'Failed', 'reason': 'UnexpectedAdmissionError', 'startTime': "                      \
    "'2026-11-20T09:58:00Z'}"

static void fail_three(struct testbed *t)
{
    put(t, "a", "x", REFUSED);
    put(t, "b", "x", REFUSED);
    put(t, "c", "y", REFUSED);
}

/* A pass over the node as the operator makes it; what it does. */
static enum black_hole_step pass(struct testbed *t)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_verdict v;
    testbed_pass_node(t, &a, NODE, &v, &actions);
    cluster_failures_take(t->cluster, testbed_slot(t, NODE), v.black_hole);
    testbed_carry_out(t, &actions);
    testbed_tell(t);
    return v.black_hole;
}

static const char *proof(const struct testbed *t)
{
    const struct node_slot *slot = testbed_slot(t, NODE);
    return str_or_empty(intern_text(t->cluster->strings, slot->node->proof));
}

static bool is_valid(const struct testbed *t)
{
    return strstr(proof(t), "\"stack\"") != NULL;
}

/* The proof pod runs to this end. */
static void end_proof(struct testbed *t, const char *status)
{
    CLEANUP_JSON json_t *patch = tree(status), *tasks = testbed_list(t, RESOURCE_TASK);
    assert_int_equal(json_array_size(tasks), 1);
    testbed_edit(t, RESOURCE_TASK, json_str(json_array_get(tasks, 0), "metadata.name"), patch);
    testbed_tell(t);
}

#define PROOF_FAILED                                                                               \
    "{'status': {'phase': 'Failed', 'startTime': '2026-11-20T10:00:00Z', 'containerStatuses': "    \
    "[{'name': 'x', 'state': {'terminated': {'exitCode': 1, 'message': 'no device'}}}]}}"
#define PROOF_DONE                                                                                 \
    "{'status': {'phase': 'Succeeded', 'containerStatuses': [{'name': 'x', 'state': "              \
    "{'terminated': {'exitCode': 0}}}]}}"

static void a_proof_that_passes_ends_it(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    assert_null(testbed_slot(&t, NODE)->hole);
    fail_three(&t);
    assert_true(is_valid(&t));
    assert_int_equal(pass(&t), BLACK_HOLE_ASKED);
    assert_false(is_valid(&t));
    assert_int_equal(testbed_slot(&t, NODE)->summary.state, NODE_VALIDATING);
    assert_int_equal(pass(&t), BLACK_HOLE_NOTHING);
    end_proof(&t, PROOF_DONE);
    assert_int_equal(pass(&t), BLACK_HOLE_PASSED);
    assert_true(is_valid(&t));
    assert_int_equal(pass(&t), BLACK_HOLE_NOTHING);
    assert_int_equal(testbed_slot(&t, NODE)->summary.state, NODE_READY);
    struct health_input in;
    assert_false(cluster_health(t.cluster, testbed_slot(&t, NODE), &in));
    testbed_clear(&t);
}

/* The next failures are of the same hour. */
static void there_is_one_proof_an_hour(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    fail_three(&t);
    pass(&t);
    pass(&t);
    end_proof(&t, PROOF_DONE);
    pass(&t);
    put(&t, "d", "x", REFUSED);
    put(&t, "e", "x", REFUSED);
    put(&t, "f", "y", REFUSED);
    assert_int_equal(pass(&t), BLACK_HOLE_NOTHING);
    assert_true(is_valid(&t));
    testbed_clear(&t);
}

static void a_proof_that_fails_is_hard_evidence(void **state)
{
    (void) state;
    struct testbed t;
    struct health_input in;
    begin(&t, "Close");
    fail_three(&t);
    pass(&t);
    pass(&t);
    end_proof(&t, PROOF_FAILED);
    assert_false(cluster_health(t.cluster, testbed_slot(&t, NODE), &in));
    assert_int_equal(pass(&t), BLACK_HOLE_FAILED);
    assert_true(cluster_health(t.cluster, testbed_slot(&t, NODE), &in));
    struct health_verdict v = health_judge(&in);
    assert_int_equal(v.level, HEALTH_CLOSE);
    assert_int_equal(v.reason, REASON_PROOF_FAILED);
    assert_true(v.hard);
    testbed_clear(&t);
}

/* What a restart leaves of it: the record. A proof of what the node runs ends it. */
static void the_record_outlives_ostler(void **state)
{
    (void) state;
    static const struct {
        const char *state, *reason;
        bool valid, failed;
    } rows[] = {
        { "Closed", "ProofFailed", false, true },   { "Closed", "ProofFailed", true, false },
        { "Proving", "ProofFailed", false, false }, { "Ignored", "ProofFailed", false, false },
        { "Closed", "Xid79", false, false },
    };
    struct testbed t;
    struct health_input in;
    begin(&t, "Close");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_FREE char *text = xasprintf(
            "{\"v\":1,\"state\":\"%s\",\"reason\":\"%s\",\"boot\":\"00000000000000aa\",\"since\":"
            "\"2026-11-20T09:00:00Z\"}",
            rows[i].state, rows[i].reason);
        CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
                                               ANNOTATION_FAULT, text);
        json_object_set_new(json_at(patch, "metadata.annotations"), ANNOTATION_PROOF,
                            json_string(rows[i].valid ? proof(&t) : "{\"v\":1}"));
        CLEANUP_FREE char *before = xstrdup(proof(&t));
        testbed_edit(&t, RESOURCE_NODE, NODE, patch);
        testbed_tell(&t);
        bool any = cluster_health(t.cluster, testbed_slot(&t, NODE), &in);
        assert_int_equal(any && in.proof_failed_s, rows[i].failed);
        CLEANUP_JSON json_t *back = json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
                                              ANNOTATION_PROOF, before);
        testbed_edit(&t, RESOURCE_NODE, NODE, back);
        testbed_tell(&t);
    }
    testbed_clear(&t);
}

/* What makes Ostler only report it. */
static void it_is_only_told(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Observe");
    fail_three(&t);
    assert_int_equal(pass(&t), BLACK_HOLE_TOLD);
    assert_true(is_valid(&t));
    assert_int_equal(pass(&t), BLACK_HOLE_NOTHING);
    testbed_clear(&t);
    begin(&t, "Close");
    CLEANUP_JSON json_t *label = tree("{'metadata': {'labels': {'ostler.dev/health': 'ignore'}}}");
    testbed_edit(&t, RESOURCE_NODE, NODE, label);
    testbed_tell(&t);
    fail_three(&t);
    assert_int_equal(pass(&t), BLACK_HOLE_TOLD);
    assert_true(is_valid(&t));
    testbed_clear(&t);
}

/* Ostler's own pods, pods that failed before Ostler watched, and pods elsewhere. */
static void others_do_not_count(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    put(&t, "a", "x", OLD);
    put(&t, "b", "x", OLD);
    put(&t, "c", "y", OLD);
    CLEANUP_JSON json_t *ours = pod("d", "z", REFUSED), *elsewhere = pod("e", "z", REFUSED);
    json_set_at(ours, "metadata.namespace", json_string(TESTBED_NAMESPACE));
    json_set_at(elsewhere, "spec.nodeName", json_string("gpu-2"));
    testbed_put(&t, RESOURCE_POD, json_incref(ours));
    testbed_put(&t, RESOURCE_POD, json_incref(elsewhere));
    testbed_tell(&t);
    assert_null(testbed_slot(&t, NODE)->hole);
    assert_null(map_get(&t.cluster->slots, "gpu-2"));
    testbed_clear(&t);
}

/* A pod that began after them and is finished: the watch shows only that it is gone. */
static void a_pod_that_worked_ends_it(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    fail_three(&t);
    put(&t, "d", "y", RUNS);
    CLEANUP_JSON json_t *done = tree("{'status': {'phase': 'Succeeded'}}");
    testbed_edit(&t, RESOURCE_POD, "d", done);
    testbed_tell(&t);
    assert_int_equal(pass(&t), BLACK_HOLE_NOTHING);
    assert_true(is_valid(&t));
    testbed_clear(&t);
}

static void a_pod_that_fails_too_does_not(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    fail_three(&t);
    put(&t, "d", "y", RUNS);
    CLEANUP_JSON json_t *failed = tree(
        "{'status': {'phase': 'Failed', 'containerStatuses': [{'state': {'terminated': "
        "{'exitCode': 1, 'startedAt': '2026-11-20T09:59:50Z', 'finishedAt': "
        "'2026-11-20T09:59:55Z'}}}]}}");
    testbed_edit(&t, RESOURCE_POD, "d", failed);
    testbed_tell(&t);
    assert_int_equal(pass(&t), BLACK_HOLE_ASKED);
    testbed_clear(&t);
}

/* What is listed when Ostler starts may be old: a pod that waits has no time. */
static void what_is_listed_at_the_start_is_no_news(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    t.cluster->watched_since_ms = 0;
    fail_three(&t);
    assert_null(testbed_slot(&t, NODE)->hole);
    testbed_clear(&t);
}

/* That every GPU is in use shows nothing: they may be in use by pods that fail. */
static void a_program_must_run(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    json_t *all = pod("all", "z", RUNS);
    json_set_at(json_array_get(json_at(all, "spec.containers"), 0), "resources.limits",
                json_pack("{s:s}", RESOURCE_GPU, "8"));
    testbed_put(&t, RESOURCE_POD, all);
    testbed_tell(&t);
    fail_three(&t);
    assert_int_equal(pass(&t), BLACK_HOLE_ASKED);
    assert_int_equal(pass(&t), BLACK_HOLE_NOTHING);
    CLEANUP_JSON json_t *tasks = testbed_list(&t, RESOURCE_TASK);
    assert_int_equal(json_array_size(tasks), 1);
    assert_false(is_valid(&t));
    testbed_clear(&t);
}

/* Its DaemonSet makes another one in its place. */
static void a_failed_operand_is_gone(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    size_t cached = t.cluster->tables[RESOURCE_POD].records.len;
    CLEANUP_JSON json_t *brief = tree("{'operand': 'driver', 'revision': 'x', 'phase': 'Failed'}");
    testbed_put(&t, RESOURCE_POD, testbed_pod(brief));
    testbed_tell(&t);
    assert_int_equal(t.cluster->tables[RESOURCE_POD].records.len, cached);
    testbed_clear(&t);
}

/* Failed pods are many, and each is an event. */
static void a_flood_leaves_nothing_in_memory(void **state)
{
    (void) state;
    struct testbed t;
    begin(&t, "Close");
    size_t cached = t.cluster->tables[RESOURCE_POD].records.len, slots = t.cluster->slots.len;
    for (int i = 0; i < 3000; i++) {
        CLEANUP_FREE char *name = xasprintf("p%d", i), *owner = xasprintf("o%d", i % 700);
        CLEANUP_JSON json_t *object = pod(name, owner, REFUSED);
        json_set_at(object, "metadata.resourceVersion", json_textf("%d", 1000000 + i));
        table_event(&t.cluster->tables[RESOURCE_POD], object, false);
    }
    assert_int_equal(t.cluster->tables[RESOURCE_POD].records.len, cached);
    assert_int_equal(t.cluster->slots.len, slots);
    assert_int_equal(testbed_slot(&t, NODE)->hole->failed_len, BLACK_HOLE_KEPT);
    testbed_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a proof that passes ends it", a_proof_that_passes_ends_it, NULL);
    suite_add(&s, "there is one proof an hour", there_is_one_proof_an_hour, NULL);
    suite_add(&s, "a proof that fails is hard evidence", a_proof_that_fails_is_hard_evidence, NULL);
    suite_add(&s, "the record outlives Ostler", the_record_outlives_ostler, NULL);
    suite_add(&s, "it is only told", it_is_only_told, NULL);
    suite_add(&s, "others do not count", others_do_not_count, NULL);
    suite_add(&s, "a pod that worked ends it", a_pod_that_worked_ends_it, NULL);
    suite_add(&s, "a pod that fails too does not", a_pod_that_fails_too_does_not, NULL);
    suite_add(&s, "what is listed at the start is no news", what_is_listed_at_the_start_is_no_news,
              NULL);
    suite_add(&s, "a program must run", a_program_must_run, NULL);
    suite_add(&s, "a failed operand is gone", a_failed_operand_is_gone, NULL);
    suite_add(&s, "a flood leaves nothing in memory", a_flood_leaves_nothing_in_memory, NULL);
    return suite_run(&s, "cluster_failures");
}
