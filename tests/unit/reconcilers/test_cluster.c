/* Who is told when of what happens in the cluster. */
#include "reconcilers/cluster.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "reconcilers/cluster_budgets.h"
#include "reconcilers/model/foreign.h"
#include "reconcilers/reconcilers.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/tree.h"

struct fixture {
    struct cluster cluster;
    struct buf log;
};

static void tell_node(void *arg, const char *name)
{
    struct fixture *f = arg;
    buf_printf(&f->log, "%s ", name);
}

static void tell_policy(void *arg, bool soon)
{
    struct fixture *f = arg;
    buf_str(&f->log, soon ? "policy! " : "policy ");
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->log = (struct buf) BUF_INIT(1000);
    cluster_init(&f->cluster,
                 &(struct cluster_options){ .operand_namespace = "operands",
                                            .clock = &quiet_clock,
                                            .listener = { tell_node, tell_policy, f } });
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    cluster_clear(&f->cluster);
    buf_clear(&f->log);
    free(f);
    return 0;
}

static void join(struct fixture *f, const char *name)
{
    CLEANUP_JSON json_t *node = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "name", name, "uid",
                                          name, "resourceVersion", "1");
    table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
}

/* A Node "a" whose kubelet reports this version of its runtime. */
static void report_runtime(struct fixture *f, const char *uid, const char *version)
{
    CLEANUP_JSON json_t *node = json_pack("{s:{s:s, s:s, s:s}, s:{s:{s:s}}}", "metadata", "name",
                                          "a", "uid", uid, "resourceVersion", version, "status",
                                          "nodeInfo", "containerRuntimeVersion", version);
    table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
}

static void look_at(struct fixture *f, const char *name)
{
    cluster_node_seen(&f->cluster, map_get(&f->cluster.slots, name));
}

static void expect_told(struct fixture *f, const char *want)
{
    assert_string_equal(buf_text(&f->log), want);
    buf_reset(&f->log);
}

/* Each node that joins is told of when the dust has settled: else the status would be written as
 * often as nodes join. */
static void policy_is_told_at_once_when_an_epoch_is_over(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    join(f, "b");
    expect_told(f, "a b ");
    for (int epoch = 0; epoch < 2; epoch++) {
        cluster_new_epoch(&f->cluster);
        buf_reset(&f->log);
        look_at(f, "a");
        expect_told(f, "");
        look_at(f, "b");
        expect_told(f, "policy! ");
        look_at(f, "b");
        expect_told(f, "");
    }
    join(f, "c");
    expect_told(f, "c ");
    look_at(f, "c");
    expect_told(f, "policy ");
}

static void expect_runtime(struct fixture *f, const char *want)
{
    const struct node_slot *slot = map_get(&f->cluster.slots, "a");
    assert_string_equal(intern_text(f->cluster.strings, slot->node->runtime), want);
}

/* While the toolkit restarts containerd, the kubelet reports containerd://Unknown for a moment. */
static void a_runtime_that_restarts_is_the_one_before(void **state)
{
    struct fixture *f = *state;
    report_runtime(f, "u", "containerd://2.1.4");
    expect_told(f, "a ");
    report_runtime(f, "u", "containerd://Unknown");
    expect_told(f, "");
    expect_runtime(f, "containerd://2.1.4");
    report_runtime(f, "u", "containerd://2.2.0");
    expect_told(f, "a ");
    expect_runtime(f, "containerd://2.2.0");
    report_runtime(f, "another", "containerd://Unknown");
    expect_runtime(f, "containerd://Unknown");
}

/* A Node "a" with these labels; NULL: none. */
static void label(struct fixture *f, const char *rv, const char *labels)
{
    CLEANUP_JSON json_t *of = labels ? tree(labels) : NULL;
    CLEANUP_JSON json_t *node = json_pack("{s:{s:s, s:s, s:s, s:O*}}", "metadata", "name", "a",
                                          "uid", "u", "resourceVersion", rv, "labels", of);
    table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
}

static const char *ask(const struct fixture *f, const char *key)
{
    const struct node_slot *slot = map_get(&f->cluster.slots, "a");
    const struct node_view view = cluster_view(&f->cluster, slot->node);
    return node_label(&view, key);
}

/* What nothing has asked for changes no decision. The record has it all the same. */
static void a_node_is_told_of_for_labels_that_were_asked_for(void **state)
{
    struct fixture *f = *state;
    label(f, "1", "{'zone': 'x', 'team': 'red'}");
    expect_told(f, "a ");
    label(f, "2", "{'zone': 'y', 'team': 'red'}");
    expect_told(f, "");
    assert_string_equal(ask(f, "zone"), "y");
    assert_null(ask(f, "absent"));
    label(f, "3", "{'zone': 'z', 'team': 'red'}");
    expect_told(f, "a ");
    label(f, "4", "{'zone': 'z', 'team': 'blue', 'zones': '1'}");
    expect_told(f, "");
    label(f, "5", "{'zone': 'z', 'absent': ''}");
    expect_told(f, "a ");
    label(f, "6", "{'zone': 'z'}");
    expect_told(f, "a ");
    label(f, "7", "{'team': 'blue'}");
    expect_told(f, "a ");
    label(f, "8", NULL);
    expect_told(f, "a ");
    label(f, "9", "{'team': 'blue'}");
    expect_told(f, "a ");
    assert_string_equal(ask(f, "team"), "blue");
}

/* A policy with so many keys is served as if every label were asked for. */
static void beyond_some_keys_every_label_counts(void **state)
{
    struct fixture *f = *state;
    label(f, "1", "{'team': 'red'}");
    expect_told(f, "a ");
    label(f, "2", "{'team': 'green'}");
    expect_told(f, "");
    for (int i = 0; i < LABEL_READS_MAX; i++) {
        CLEANUP_FREE char *key = xasprintf("key-%d", i);
        ask(f, key);
    }
    label(f, "3", "{'team': 'blue'}");
    expect_told(f, "a ");
}

/* A change of a label and of something else. */
static void a_label_hides_nothing_else(void **state)
{
    struct fixture *f = *state;
    static const char *const nodes[] = {
        "{'metadata': {'name': 'a', 'uid': 'u', 'resourceVersion': '1', 'labels': {'x': '1'}}}",
        "{'metadata': {'name': 'a', 'uid': 'u', 'resourceVersion': '2', 'labels': {'x': '2'}},"
        " 'spec': {'unschedulable': true}}",
        "{'metadata': {'name': 'a', 'uid': 'v', 'resourceVersion': '3', 'labels': {'x': '3'}},"
        " 'spec': {'unschedulable': true}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        CLEANUP_JSON json_t *node = tree(nodes[i]);
        table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
        expect_told(f, "a ");
    }
}

/* As an informer takes them, without parsing more than the labels. */
static void labels_alone_make_the_same_record(void **state)
{
    struct fixture *f = *state;
    struct table *t = &f->cluster.tables[RESOURCE_NODE];
    static const char *const texts[] = {
        "{'type':'ADDED','object':{'metadata':{'name':'a','uid':'u','resourceVersion':'1',"
        "'labels':{'x':'1'},'annotations':{'ostler.dev/claim':'c'}},'spec':{},"
        "'status':{'nodeInfo':{'kernelVersion':'6.1'}}}}",
        "{'type':'MODIFIED','object':{'metadata':{'name':'a','uid':'u','resourceVersion':'2',"
        "'labels':{'x':'2','y':''},'annotations':{'ostler.dev/claim':'c'}},'spec':{},"
        "'status':{'nodeInfo':{'kernelVersion':'6.1'}}}}",
    };
    CLEANUP_FREE char *first = json_quoted(texts[0]), *second = json_quoted(texts[1]);
    CLEANUP_JSON json_t *before = tree(texts[0]), *after = tree(texts[1]);
    struct frame frame;
    table_event(t, json_object_get(before, "object"), false);
    assert_true(frame_read(first, strlen(first), &frame));
    table_event_hash(t, &frame);
    assert_true(frame_read(second, strlen(second), &frame));
    assert_false(table_event_repeats(t, &frame));
    assert_true(table_event_relabels(t, &frame));
    struct node *parsed = node_project(f->cluster.strings, json_object_get(after, "object"));
    const struct node *held = (const struct node *) table_get(t, "a");
    assert_true(node_same(held, parsed));
    assert_string_equal(RECORD_UID(&held->head), "u");
    assert_int_equal(held->head.rv, 2);
    assert_true(table_event_repeats(t, &frame));
    node_free(f->cluster.strings, parsed);
}

static void leave(struct fixture *f, const char *name)
{
    CLEANUP_JSON json_t *node = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "name", name, "uid",
                                          name, "resourceVersion", "2");
    table_event(&f->cluster.tables[RESOURCE_NODE], node, true);
}

static void expect_order(const struct fixture *f, const char *want)
{
    CLEANUP_BUF struct buf got = BUF_INIT(1000);
    for (size_t i = 0; i < f->cluster.slots.len; i++)
        buf_printf(&got, "%s ", f->cluster.by_name[i]->name);
    assert_string_equal(buf_text(&got), want);
}

static void nodes_are_kept_in_the_order_of_their_names(void **state)
{
    static const char *const names[] = { "m", "c", "x", "a", "z", "n", "b", "y", "k" };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        join(f, names[i]);
    expect_order(f, "a b c k m n x y z ");
    leave(f, "a");
    leave(f, "z");
    leave(f, "m");
    expect_order(f, "b c k n x y ");
    join(f, "m");
    join(f, "zz");
    join(f, "aa");
    expect_order(f, "aa b c k m n x y zz ");
}

#define SERVICE                                                                                    \
    "{'metadata': {'name': 'exporter', 'namespace': 'operands', 'uid': 's', 'resourceVersion': "   \
    "'5', 'labels': "                                                                              \
    "{'ostler.dev/policy-uid': 'p'}}}"

/* Ostler recreates a deleted child: the deletion may be the only event that reports it. */
static void a_child_that_comes_or_goes_is_told_at_once(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *service = tree(SERVICE);
    table_event(&f->cluster.tables[RESOURCE_SERVICE], service, false);
    expect_told(f, "policy! ");
    table_event(&f->cluster.tables[RESOURCE_SERVICE], service, true);
    expect_told(f, "policy! ");
}

#define POD(version)                                                                               \
    "{'metadata': {'name': 'driver', 'namespace': 'operands', 'uid': 'd', 'resourceVersion': "     \
    "'" version "', 'labels': {"                                                                   \
    "'app.kubernetes.io/managed-by': 'ostler', 'app.kubernetes.io/component': 'driver'}, "         \
    "'ownerReferences': ["                                                                         \
    "{'kind': 'DaemonSet', 'controller': true}]}, 'spec': {'nodeName': 'a'}}"

/* What waits on the node for the pod to be there, or to be gone, has nothing else to go by. */
static void a_pod_that_comes_or_goes_is_told_of_its_node(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    join(f, "b");
    expect_told(f, "a b ");
    CLEANUP_JSON json_t *pod = tree(POD("2"));
    table_event(&f->cluster.tables[RESOURCE_POD], pod, false);
    expect_told(f, "a ");
    table_event(&f->cluster.tables[RESOURCE_POD], pod, true);
    expect_told(f, "a ");
}

/* Else the same would be written again before its event has come. */
static void an_answer_to_a_write_is_seen(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *service = tree(SERVICE);
    table_list_begin(&f->cluster.tables[RESOURCE_SERVICE]);
    table_list_end(&f->cluster.tables[RESOURCE_SERVICE], 4);
    cluster_written(&f->cluster, RESOURCE_SERVICE, service);
    assert_non_null(table_get(&f->cluster.tables[RESOURCE_SERVICE], "operands/exporter"));
    expect_told(f, "policy! ");
}

#define RECORD(more)                                                                               \
    "{'metadata': {'name': 'driver-a', 'namespace': 'operands', 'uid': 'r', 'labels': "            \
    "{'ostler.dev/policy-uid': 'p'}, " more "}}"

/* Until then what is known of the policy's wishes may be less than it wishes: nothing is forgotten
 * on account of that. */
static void all_nodes_are_looked_at_anew_when_a_revision_failed(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *record = tree(RECORD("'resourceVersion': '5'"));
    CLEANUP_JSON json_t *failed = tree(
        RECORD("'resourceVersion': '6', 'annotations': {'ostler.dev/failed-default': "
               "'2026-11-20T10:00:00Z a NoAllocatableGpus'}"));
    join(f, "a");
    table_event(&f->cluster.tables[RESOURCE_REVISION], record, false);
    cluster_new_epoch(&f->cluster);
    look_at(f, "a");
    buf_reset(&f->log);
    f->cluster.policy_valid = true;
    table_event(&f->cluster.tables[RESOURCE_REVISION], failed, false);
    assert_int_equal(f->cluster.pending, 1);
    expect_told(f, "a policy! policy! ");
}

static void tell_report(void *arg, const char *name, bool soon)
{
    struct fixture *f = arg;
    buf_printf(&f->log, "report of %s%s ", name, soon ? " soon" : "");
}

#define WANTED(rv, since)                                                                          \
    "{'metadata': {'name': 'driver-new', 'namespace': 'operands', 'uid': 'r', "                    \
    "'resourceVersion': '" rv "', 'labels': {'ostler.dev/policy-uid': 'p', "                       \
    "'ostler.dev/tier': 'driver', 'ostler.dev/revision': 'new'}, 'annotations': "                  \
    "{'ostler.dev/target-default': '" since "'}}, 'data': {'tier': 'driver'}}"

static void record_says(struct fixture *f, const char *text, bool deleted)
{
    CLEANUP_JSON json_t *record = tree(text);
    table_event(&f->cluster.tables[RESOURCE_REVISION], record, deleted);
}

/* Reports say since when the policy wants the revision that a node waits for. */
static void reports_follow_the_record_of_what_nodes_wait_for(void **state)
{
    struct fixture *f = *state;
    struct revision_tally new = { .tier = "driver", .hash = "new" };
    join(f, "a");
    join(f, "b");
    struct node_summary *waits = &((struct node_slot *) map_get(&f->cluster.slots, "a"))->summary;
    waits->counted = true;
    waits->state = NODE_READY;
    waits->of[TIER_DRIVER].target = &new;
    record_says(f, WANTED("4", "2026-11-20T10:00:00Z"), false);
    f->cluster.o.listener.report = tell_report;
    buf_reset(&f->log);
    record_says(f, WANTED("5", "2026-11-20T11:00:00Z"), false);
    expect_told(f, "policy! report of a ");
    waits->of[TIER_DRIVER].carried = &new;
    record_says(f, WANTED("6", "2026-11-20T12:00:00Z"), false);
    expect_told(f, "policy! ");
    waits->of[TIER_DRIVER].target = NULL;
    waits->falling_back = true;
    strcpy(waits->policy_target.hash[TIER_DRIVER], "new");
    record_says(f, WANTED("7", "2026-11-20T12:00:00Z"), true);
    expect_told(f, "a b policy! report of a ");
    *waits = (struct node_summary){ 0 };
}

/* The server refused an eviction on the node, when so many budgets had eased. */
static void refuse(struct fixture *f, const char *node, const char *what)
{
    struct node_slot *slot = map_get(&f->cluster.slots, node);
    slot->budgets_eased = f->cluster.budgets_eased;
    cluster_refused(&f->cluster, slot, xstrdup(what));
}

static void budget(struct fixture *f, const char *rv, int allowed, bool deleted)
{
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s, s:s, s:s, s:s, s:i}, s:{s:i}}", "metadata",
                                            "namespace", "ml", "name", "web", "uid", "u",
                                            "resourceVersion", rv, "generation", 1, "status",
                                            "disruptionsAllowed", allowed);
    table_event(&f->cluster.tables[RESOURCE_BUDGET], object, deleted);
}

static void who_was_refused_is_told_when_a_budget_of_that_namespace_eases(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    join(f, "b");
    join(f, "c");
    refuse(f, "a", "pod/ml/x: it would violate the budget");
    refuse(f, "b", "pod/other/x: it would violate the budget");
    buf_reset(&f->log);
    budget(f, "2", 0, false);
    expect_told(f, "");
    budget(f, "3", 1, false);
    expect_told(f, "a ");
    budget(f, "4", 2, false);
    expect_told(f, "");
    budget(f, "5", 0, false);
    expect_told(f, "");
    budget(f, "6", 0, true);
    expect_told(f, "a ");
    cluster_refusal_over(&f->cluster, map_get(&f->cluster.slots, "a"));
    budget(f, "7", 1, false);
    expect_told(f, "");
    leave(f, "b");
    assert_int_equal(f->cluster.refused.len, 0);
}

static void a_budget_that_eases_before_the_refusal_is_known_is_not_missed(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    budget(f, "2", 0, false);
    struct node_slot *slot = map_get(&f->cluster.slots, "a");
    slot->budgets_eased = f->cluster.budgets_eased;
    budget(f, "3", 1, false);
    buf_reset(&f->log);
    cluster_refused(&f->cluster, slot, xstrdup("pod/ml/x: it would violate the budget"));
    expect_told(f, "a ");
}

static void who_was_refused_is_asked_again_after_a_second(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    struct node_slot *slot = map_get(&f->cluster.slots, "a");
    assert_int_equal(cluster_ask_in_ms(&f->cluster, slot), 0);
    refuse(f, "a", "pod/ml/x: it would violate the budget");
    assert_int_equal(cluster_ask_in_ms(&f->cluster, slot), 1000);
    slot->refused_ms -= 400;
    assert_int_equal(cluster_ask_in_ms(&f->cluster, slot), 600);
    slot->refused_ms -= 700;
    assert_int_equal(cluster_ask_in_ms(&f->cluster, slot), 0);
    refuse(f, "a", "pod/ml/x: it would violate the budget");
    cluster_refusal_over(&f->cluster, slot);
    assert_int_equal(cluster_ask_in_ms(&f->cluster, slot), 0);
}

#define WIDE_POLICY                                                                                \
    "{'metadata': {'name': 'default', 'uid': 'p', 'resourceVersion': '3', 'annotations': {'a': "   \
    "'x', 'ostler.dev/retry': 'y', "                                                               \
    "'z.example/ostler.dev': 'x'}}, 'spec': {}}"

/* A user who may edit the policy can give it as many as fit. */
static void annotations_of_others_on_the_policy_are_not_kept(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *policy = tree(WIDE_POLICY),
                        *kept = json_pack("{s:s}", "ostler.dev/retry", "y");
    table_event(&f->cluster.tables[RESOURCE_POLICY], policy, false);
    assert_true(json_equal(json_at(f->cluster.object, "metadata.annotations"), kept));
    assert_int_equal(json_object_size(json_at(policy, "metadata.annotations")), 3);
}

/* `condition`: one that Ostler has written; NULL: none. */
static void mark(struct fixture *f, const char *rv, bool marked, const char *condition)
{
    CLEANUP_JSON json_t *node = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "name", "a", "uid",
                                          "a", "resourceVersion", rv);
    if (marked)
        json_set_at(node, "metadata.annotations", json_pack("{s:s}", "ostler.dev/marks", "{}"));
    if (condition)
        json_set_at(node, "status.conditions",
                    json_pack("[{s:s, s:s}]", "type", condition, "status", "Unknown"));
    table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
}

/* The write that takes them off may be lost: a policy that goes waits until the node is seen
 * without them. */
static void marks_count_until_they_are_gone(void **state)
{
    struct fixture *f = *state;
    mark(f, "1", true, NULL);
    assert_int_equal(cluster_reports(&f->cluster), 1);
    mark(f, "2", false, "GpuReady");
    assert_int_equal(cluster_reports(&f->cluster), 1);
    mark(f, "3", false, "GpuHealthy");
    assert_int_equal(cluster_reports(&f->cluster), 1);
    buf_reset(&f->log);
    mark(f, "4", false, "Ready");
    assert_int_equal(cluster_reports(&f->cluster), 0);
    expect_told(f, "a policy ");
}

/* What is repaired looks right before it is applied, and its fields are not all Ostler's yet. */
static void a_child_that_was_repaired_and_not_applied_is_not_confirmed(void **state)
{
    struct fixture *f = *state;
    struct reconcilers r = { .cluster = &f->cluster, .policy = tell_policy, .arg = f };
    CLEANUP_JSON json_t *service = tree(
        "{'metadata':{'name':'exporter','namespace':'operands','uid':'s','resourceVersion':'7',"
        "'annotations':{'ostler.dev/intent':'i'}}}");
    CLEANUP_JSON json_t *nothing = json_object();
    CLEANUP_ACTIONS struct actions actions = { 0 };
    actions_add(&actions, request_json_patch(RESOURCE_SERVICE, "operands", "exporter", nothing),
                VERB_REPAIR, "services/exporter", "Drift", "another client has changed it");
    actions_add(&actions, request_apply(RESOURCE_SERVICE, "operands", "exporter", nothing),
                VERB_APPLY, "services/exporter", "Drift", "it is made ours");
    f->cluster.tables[RESOURCE_SERVICE].synced = true;
    cluster_written(&f->cluster, RESOURCE_SERVICE, service);
    const struct child *child = (const struct child *) table_get(
        &f->cluster.tables[RESOURCE_SERVICE], "operands/exporter");
    actions.items[0].accepted = actions.items[1].accepted = true;
    policy_outcome(&r, POLICY_NAME, &(struct executor_result){ .actions = &actions });
    assert_true(cluster_confirmed(&f->cluster, child));
    actions.items[1].accepted = false;
    policy_outcome(
        &r, POLICY_NAME,
        &(struct executor_result){ .error = ERR_CONFLICT, .message = "", .actions = &actions });
    assert_false(cluster_confirmed(&f->cluster, child));
    err_clear(&r.failure);
}

/* ---- who has a GPU open */

#define MACHINE(rv, boot)                                                                          \
    "{'metadata': {'name': 'a', 'uid': 'a', 'resourceVersion': '" rv                               \
    "'}, 'status': {'nodeInfo': {'bootID': '" boot "'}}}"
#define INVENTORY(holders)                                                                         \
    "{'metadata': {'name': 'a', 'uid': 'r', 'resourceVersion': '5'}, 'status': {'inventory': "     \
    "{'bootId': 'b1', 'holders': [" holders "]}}}"
#define OWNED(rv, node)                                                                            \
    "{'metadata': {'name': 'a', 'uid': 'r', 'resourceVersion': '" rv                               \
    "', 'ownerReferences': [{'kind': 'Node', 'uid': '" node                                        \
    "'}]}, 'status': {'inventory': {'bootId': 'b1', 'holders': [{'podUid': 'p-1'}]}}}"
#define AGENT(ready)                                                                               \
    "{'metadata': {'name': 'agent', 'namespace': 'operands', 'uid': 'p-agent', "                   \
    "'resourceVersion': '6', 'ownerReferences': "                                                  \
    "[{'kind': 'DaemonSet', 'controller': true}], 'labels': {'app.kubernetes.io/managed-by': "     \
    "'ostler', "                                                                                   \
    "'app.kubernetes.io/component': 'node-agent'}}, 'spec': {'nodeName': 'a'}, 'status': "         \
    "{'conditions': [{'type': 'Ready', "                                                           \
    "'status': '" ready "'}]}}"
#define QUIET(name, node)                                                                          \
    "{'metadata': {'name': '" name "', 'namespace': 'ml', 'uid': 'p-" name                         \
    "', 'resourceVersion': '7'}, "                                                                 \
    "'spec': {'nodeName': '" node "', 'containers': [{}]}}"

static void put(struct fixture *f, enum resource_id resource, const char *text)
{
    CLEANUP_JSON json_t *object = tree(text);
    table_event(&f->cluster.tables[resource], object, false);
}

static bool knows(const struct fixture *f, const char *key)
{
    return table_get(&f->cluster.tables[RESOURCE_POD], key) != NULL;
}

/* A pod without a GPU is kept when the agent on its own node names it, and only then. */
static void pods_that_an_agent_names_are_kept(void **state)
{
    struct fixture *f = *state;
    put(f, RESOURCE_POD, QUIET("early", "a"));
    put(f, RESOURCE_GPU_NODE,
        INVENTORY("{'podUid': 'p-early'}, {'podUid': 'p-quiet'}, {'podUid': 'p-away'}"));
    put(f, RESOURCE_POD, QUIET("quiet", "a"));
    put(f, RESOURCE_POD, QUIET("away", "b"));
    put(f, RESOURCE_POD, QUIET("other", "a"));
    assert_false(knows(f, "ml/early"));
    assert_true(knows(f, "ml/quiet"));
    assert_false(knows(f, "ml/away"));
    assert_false(knows(f, "ml/other"));
}

/* No report makes Ostler evict its own pod. */
static void ostler_is_not_named(void **state)
{
    struct fixture *f = *state;
    f->cluster.o.own_pod = "ml/quiet";
    put(f, RESOURCE_GPU_NODE, INVENTORY("{'podUid': 'p-quiet'}"));
    put(f, RESOURCE_POD, QUIET("quiet", "a"));
    assert_false(knows(f, "ml/quiet"));
}

/* Nor another pod of its Deployment. */
static void replicas_of_ostler_are_not_named(void **state)
{
    struct fixture *f = *state;
    f->cluster.o.own_pod = "ml/ostler-5f7-a";
    put(f, RESOURCE_GPU_NODE,
        INVENTORY("{'podUid': 'p-ostler-5f7-b'}, {'podUid': 'p-ostler-page-b'}"));
    put(f, RESOURCE_POD, QUIET("ostler-5f7-b", "a"));
    put(f, RESOURCE_POD, QUIET("ostler-page-b", "a"));
    assert_false(knows(f, "ml/ostler-5f7-b"));
    assert_true(knows(f, "ml/ostler-page-b"));
}

/* What is said of holders counts while the agent is up, and of this start of the machine. */
static void words_of_agents_count_while_they_are_up(void **state)
{
    struct fixture *f = *state;
    put(f, RESOURCE_NODE, MACHINE("1", "b1"));
    put(f, RESOURCE_GPU_NODE, INVENTORY("{'podUid': 'p-quiet'}"));
    const struct node_slot *slot = map_get(&f->cluster.slots, "a");
    assert_null(cluster_holders(&f->cluster, slot));
    put(f, RESOURCE_POD, AGENT("True"));
    assert_non_null(cluster_holders(&f->cluster, slot));
    put(f, RESOURCE_NODE, MACHINE("9", "b2"));
    assert_null(cluster_holders(&f->cluster, slot));
}

/* A machine that is called like one that is gone gets nothing of what that was, until its GpuNode
 * is collected. */
static void words_of_another_node_do_not_count(void **state)
{
    struct fixture *f = *state;
    put(f, RESOURCE_NODE, MACHINE("1", "b1"));
    const struct node_slot *slot = map_get(&f->cluster.slots, "a");
    put(f, RESOURCE_POD, AGENT("True"));
    put(f, RESOURCE_GPU_NODE, OWNED("5", "a"));
    assert_non_null(cluster_inventory(&f->cluster, slot));
    assert_non_null(cluster_holders(&f->cluster, slot));
    put(f, RESOURCE_GPU_NODE, OWNED("6", "gone"));
    assert_null(cluster_inventory(&f->cluster, slot));
    assert_null(cluster_holders(&f->cluster, slot));
}

/* Of two pods of an operand on a node it is the same one that counts, whichever was heard of last.
 */
static void of_two_pods_of_an_operand_the_same_counts(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    for (int turn = 0; turn < 2; turn++) {
        static const char *const names[] = { "driver-x", "driver-y" };
        for (int i = 0; i < 2; i++) {
            CLEANUP_JSON json_t *pod = tree(POD("2"));
            json_set_at(pod, "metadata.name", json_string(names[turn ? 1 - i : i]));
            json_set_at(pod, "metadata.uid", json_string(names[turn ? 1 - i : i]));
            table_event(&f->cluster.tables[RESOURCE_POD], pod, true);
            table_event(&f->cluster.tables[RESOURCE_POD], pod, false);
        }
        struct node_pods pods;
        cluster_node_pods(&f->cluster, map_get(&f->cluster.slots, "a"), &pods);
        assert_string_equal(pods.of[OPERAND_DRIVER].key, "operands/driver-x");
    }
}

/* Of many pods with GPUs the first by name are named, whichever was heard of first. */
static void the_first_gpu_pods_by_name_are_named(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    static const char *const names[] = { "d", "b", "e", "a", "c" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP_JSON json_t *pod = tree(
            "{'metadata': {'namespace': 'ml', 'name': '', 'uid': '', 'resourceVersion': '3'},"
            " 'spec': {'nodeName': 'a', 'containers': ["
            "{'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}");
        json_set_at(pod, "metadata.name", json_string(names[i]));
        json_set_at(pod, "metadata.uid", json_string(names[i]));
        table_event(&f->cluster.tables[RESOURCE_POD], pod, false);
    }
    struct node_pods pods;
    cluster_node_pods(&f->cluster, map_get(&f->cluster.slots, "a"), &pods);
    assert_int_equal(pods.gpu_pods, 5);
    assert_string_equal(pods.gpu_pod[0], "ml/a");
    assert_string_equal(pods.gpu_pod[1], "ml/b");
    assert_string_equal(pods.gpu_pod[2], "ml/c");
}

/* ---- ResourceSlices */

static void slice_event(struct fixture *f, const char *name, bool deleted)
{
    CLEANUP_JSON json_t *slice = json_pack("{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:[{s:s}]}}",
                                           "metadata", "name", name, "uid", name, "resourceVersion",
                                           "1", "spec", "driver", "gpu.nvidia.com", "nodeName", "a",
                                           "devices", "name", "gpu-0");
    table_event(&f->cluster.tables[RESOURCE_SLICE], slice, deleted);
}

static size_t slices_of_node(const struct fixture *f)
{
    size_t count = 0;
    for (const struct slice *s = map_get(&f->cluster.slices, "a"); s; s = s->next_on_node)
        count++;
    return count;
}

/* The list of a node has a slice for as long as it is there, in whichever order they go. */
static void slices_of_a_node_are_listed_until_they_are_gone(void **state)
{
    struct fixture *f = *state;
    join(f, "a");
    slice_event(f, "x", false);
    slice_event(f, "y", false);
    assert_int_equal(slices_of_node(f), 2);
    slice_event(f, "y", true);
    assert_int_equal(slices_of_node(f), 1);
    slice_event(f, "y", false);
    slice_event(f, "x", true);
    assert_int_equal(slices_of_node(f), 1);
    buf_reset(&f->log);
    slice_event(f, "y", true);
    assert_int_equal(slices_of_node(f), 0);
    assert_string_equal(buf_text(&f->log), "a ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_is_told_of_for_labels_that_were_asked_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(beyond_some_keys_every_label_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_label_hides_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(labels_alone_make_the_same_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_gpu_pods_by_name_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(words_of_another_node_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_runtime_that_restarts_is_the_one_before, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(marks_count_until_they_are_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_child_that_was_repaired_and_not_applied_is_not_confirmed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(policy_is_told_at_once_when_an_epoch_is_over, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_was_refused_is_asked_again_after_a_second, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(annotations_of_others_on_the_policy_are_not_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            who_was_refused_is_told_when_a_budget_of_that_namespace_eases, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_budget_that_eases_before_the_refusal_is_known_is_not_missed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_are_kept_in_the_order_of_their_names, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_child_that_comes_or_goes_is_told_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_pod_that_comes_or_goes_is_told_of_its_node, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_two_pods_of_an_operand_the_same_counts, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_answer_to_a_write_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_nodes_are_looked_at_anew_when_a_revision_failed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pods_that_an_agent_names_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reports_follow_the_record_of_what_nodes_wait_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(ostler_is_not_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replicas_of_ostler_are_not_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(words_of_agents_count_while_they_are_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slices_of_a_node_are_listed_until_they_are_gone, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
