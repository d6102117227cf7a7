/* Case files: tests/cases/node/ has one file per behaviour, no code. The first document is what is
 * seen:
 *   policy: the object's parts that are not as usual
 *   mode: Hold or Remove where the policy does not say so (no policy, for long)
 *   node, pods: short forms (support/testbed.h)             inventory: what the node's agent has
 *   seen
 *   repairsForbidden: the administrator allows no repairs
 *   inventorySaid: when it last said something else
 *   concluded: status.health of its GpuNode             unhealthy: seconds for which its GPUs have
 *   asked for a closed node     braked: many nodes became unhealthy
 *   driverMade: seconds since its newest driver's pod was made      spoke: NVML has reported of its
 *   GPUs since the boot
 *   holdersNew: Ostler has not looked yet which pods have a GPU open by that inventory
 *   configs: ConfigMaps with their data                deleting: revisions are on their way out
 *   records: `target`, or {tier, hash, with: members that differ from the target's, completed:
 *   time, deleting}
 *     all of the target without it
 *   watched: seconds for which Ostler has been at work (for ever)
 *   daemonsets: of others, whole    discovered: seconds for which the node has waited to be taken
 *   toolkitWaits: a node without a stack has no turn to get its first toolkit
 *   toolkitStoppedBy: whose failure keeps it from that
 *   removing: seconds for which it has been letting go of the node
 *   silent, tasksSilent: seconds for which nothing was heard, or of proofs alone
 *   refused: the pod whose eviction was refused last, and the message
 *   allowRepairs: of the administrator (true)
 *   askIn: milliseconds before which Ostler asks no pod again
 *   failed, canary: what the record of the target's driver says of the pool, stackCanary,
 *   stackCompleted: that of its stack
 * `$driver` and `$stack` stand for the hashes of the node's target (support/symbols.h), `$images`
 * for the purpose of a pod that pulls its images. The second document is what must come of it:
 *   state, reason, cause, pod, gpu, driver, stack: of the verdict         message: a part of it
 *   target: {driver, stack}   wanted, up: operands (node-cards only
 *   counts where it is named)   plan: its lines
 *   patch: what the write changes, as a merge patch would say it
 *   claim: the members of the claim after it, null: there is none   again: seconds until the next
 *   look
 *   fault: the same of the record of a fault       repair: what the node asks for (Nothing, Idle,
 *   Fault, Asked)      first: what Ostler tries first there (Nothing, Reset, Reboot)
 *   unhealthy: it has the taint
 *   repaired: how an attempt to repair it ends in this pass ("reset succeeded", None)
 *   evicts: pods leave the node     notEvicted: the eviction that was refused meanwhile
 *   refused: why a user's request for a repair is ignored (None, NotAllowed, Observe, Held,
 *   Impossible)
 *   args: arguments of the one-off pod that is created
 *   goesOn: the pass after the write has more to do
 * Each case also holds that the write touches nothing of others, that one of others in between is
 * not lost, and that planning again finds nothing to do. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/cluster.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/images.h"
#include "reconcilers/decide/repair_end.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/frame.h"
#include "tests/unit/support/symbols.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

static const char *name_of(const json_t *given)
{
    const char *name = json_str(given, "node.name");
    return name ? name : "gpu-1";
}

static void put_inventory(struct testbed *t, const json_t *given)
{
    json_t *inventory = json_object_get(given, "inventory"),
           *said = json_object_get(given, "inventorySaid"),
           *concluded = json_object_get(given, "concluded");
    json_t *writers = said ? json_pack("[{s:s, s:s, s:O}]", "manager", "ostler-node", "subresource",
                                       "status", "time", said)
                           : NULL;
    if (inventory)
        testbed_put(t, RESOURCE_GPU_NODE,
                    json_pack("{s:{s:s, s:o*}, s:{s:O, s:O*}}", "metadata", "name", name_of(given),
                              "managedFields", writers, "status", GPU_NODE_INVENTORY, inventory,
                              GPU_NODE_HEALTH, concluded));
}

static void put_seen(struct testbed *t, const json_t *given)
{
    size_t i;
    json_t *brief;
    testbed_put(t, RESOURCE_NODE, testbed_node(json_object_get(given, "node")));
    put_inventory(t, given);
    json_array_foreach (json_object_get(given, "pods"), i, brief)
        testbed_put(t, json_object_get(brief, "task") ? RESOURCE_TASK : RESOURCE_POD,
                    testbed_pod(brief));
    json_array_foreach (json_object_get(given, "daemonsets"), i, brief)
        testbed_put(t, RESOURCE_FOREIGN, json_incref(brief));
    json_array_foreach (json_object_get(given, "slices"), i, brief)
        testbed_put(t, RESOURCE_SLICE, json_incref(brief));
}

static void put_configs(struct testbed *t, const json_t *given)
{
    const char *name;
    json_t *data;
    json_object_foreach (json_object_get(given, "configs"), name, data)
        testbed_put(t, RESOURCE_CONFIGMAP,
                    json_pack("{s:{s:s, s:s}, s:O}", "metadata", "name", name, "namespace",
                              TESTBED_NAMESPACE, "data", data));
}

/* A record that differs from the target in some inputs. */
static void put_other_record(struct testbed *t, const json_t *entry, const struct target *target)
{
    const char *tier = json_str(entry, "tier");
    const json_t *like = str_eq(tier, "driver") ? target->inputs[TIER_DRIVER]
                                                : target->inputs[TIER_STACK];
    CLEANUP_JSON json_t *inputs = like ? json_deep_copy(like) : json_pack("{s:s}", "tier", tier);
    json_merge(inputs, json_object_get(entry, "with"));
    json_t *record = testbed_record(json_str(entry, "hash"), inputs);
    if (json_object_get(entry, "completed"))
        json_object_set(json_at(record, "metadata.annotations"), ANNOTATION_COMPLETED "default",
                        json_object_get(entry, "completed"));
    if (json_bool(entry, "deleting", false))
        json_set_at(record, "metadata.deletionTimestamp", json_string(TESTBED_NOW));
    testbed_put(t, RESOURCE_REVISION, record);
}

/* What the records of the target say. */
static void put_said(struct testbed *t, const json_t *given, const char *driver, const char *stack)
{
    const struct {
        const char *key, *tier, *hash, *annotation;
    } rows[] = {
        { "failed", "driver", driver, ANNOTATION_FAILED "default" },
        { "canary", "driver", driver, ANNOTATION_CANARY "default" },
        { "stackCanary", "stack", stack, ANNOTATION_CANARY "default" },
        { "driverCompleted", "driver", driver, ANNOTATION_COMPLETED "default" },
        { "stackCompleted", "stack", stack, ANNOTATION_COMPLETED "default" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *said = json_object_get(given, rows[i].key);
        CLEANUP_FREE char *name = xasprintf("%s-%s", rows[i].tier, rows[i].hash);
        CLEANUP_JSON json_t *patch = json_pack("{s:{s:{s:O*}}}", "metadata", "annotations",
                                               rows[i].annotation, said);
        if (said)
            testbed_edit(t, RESOURCE_REVISION, name, patch);
    }
}

static void put_target_records(struct testbed *t, const json_t *given, const struct target *target)
{
    /* Targets are worked out anew when the records say other things. */
    CLEANUP_FREE char *driver = xstrdup(target->runs.hash[TIER_DRIVER]),
                      *stack = xstrdup(target->runs.hash[TIER_STACK]);
    if (*target->runs.hash[TIER_DRIVER])
        testbed_put(t, RESOURCE_REVISION,
                    testbed_record(target->runs.hash[TIER_DRIVER], target->inputs[TIER_DRIVER]));
    if (*target->runs.hash[TIER_STACK])
        testbed_put(t, RESOURCE_REVISION,
                    testbed_record(target->runs.hash[TIER_STACK], target->inputs[TIER_STACK]));
    put_said(t, given, driver, stack);
}

/* Records first as they differ, then, since what is held depends on them, those of the target. */
static const struct target *put_records(struct testbed *t, const json_t *given)
{
    const char *node = name_of(given);
    const json_t *records = json_object_get(given, "records");
    bool with_target = !records;
    size_t i;
    json_t *entry;
    json_array_foreach (records, i, entry) {
        if (json_is_string(entry))
            with_target = true;
        else
            put_other_record(t, entry, testbed_target(t, node));
    }
    testbed_forget_targets(t);
    const struct target *target = testbed_target(t, node);
    if (with_target)
        put_target_records(t, given, target);
    return testbed_target(t, node);
}

static void check_text(const json_t *want, const char *key, const char *got)
{
    const json_t *value = json_object_get(want, key);
    const char *wanted = json_is_null(value) ? NULL : json_string_value(value);
    if (value && !str_eq(got && *got ? got : NULL, wanted && *wanted ? wanted : NULL))
        fail_msg("%s is %s, not %s", key, got ? got : "(none)", wanted ? wanted : "(none)");
}

static void check_operands(const json_t *want, const char *key, unsigned got)
{
    size_t i;
    json_t *name;
    unsigned wanted = 0;
    json_array_foreach (json_object_get(want, key), i, name)
        wanted |= 1u << operand_parse(json_string_value(name));
    if (!(wanted >> OPERAND_NODE_CARDS & 1))
        got &= ~(1u << OPERAND_NODE_CARDS);
    if (json_object_get(want, key) && wanted != got)
        fail_msg("%s are %#x, not %#x (bits in the order of COMPONENTS)", key, got, wanted);
}

static void check_verdict(const json_t *want, const struct node_verdict *v)
{
    check_text(want, "state", node_state_name(v->state));
    check_text(want, "reason", v->reason ? verdict_word(v) : NULL);
    check_text(want, "cause", operand_name(v->cause));
    check_text(want, "pod", v->pod);
    check_text(want, "driver", v->carried.hash[TIER_DRIVER]);
    check_text(want, "stack", v->carried.hash[TIER_STACK]);
    check_text(json_object_get(want, "target"), "driver", v->target.hash[TIER_DRIVER]);
    check_text(json_object_get(want, "target"), "stack", v->target.hash[TIER_STACK]);
    check_operands(want, "wanted", v->wanted);
    check_operands(want, "up", v->up);
    const char *message = json_str(want, "message");
    if (message && !strstr(str_or_empty(v->message), message))
        fail_msg("the message is\n%s, without\n%s", v->message ? v->message : "(none)", message);
    if (json_object_get(want, "gpu"))
        assert_int_equal(v->gpu, json_bool(want, "gpu", false));
    if (json_object_get(want, "evicts"))
        assert_int_equal(v->evicts, json_bool(want, "evicts", false));
    check_text(want, "notEvicted", v->refused ? v->refused : "None");
    if (json_object_get(want, "unhealthy"))
        assert_int_equal(v->unhealthy, json_bool(want, "unhealthy", false));
    static const char *const repairs[] = { [REPAIR_NOTHING] = "Nothing",
                                           [REPAIR_IDLE] = "Idle",
                                           [REPAIR_FAULT] = "Fault",
                                           [REPAIR_ASKED] = "Asked" };
    check_text(want, "repair", repairs[v->repair]);
    static const char *const firsts[] = {
        [REPAIR_RESET] = "Reset", [REPAIR_REBOOT] = "Reboot", [REPAIR_KINDS] = "Nothing"
    };
    check_text(want, "first", firsts[v->repair_first]);
    static const char *const refusals[REPAIR_REFUSALS] = { [REPAIR_TAKEN] = "None",
                                                           [REPAIR_NOT_ALLOWED] = "NotAllowed",
                                                           [REPAIR_OBSERVED] = "Observe",
                                                           [REPAIR_HELD] = "Held",
                                                           [REPAIR_IMPOSSIBLE] = "Impossible" };
    check_text(want, "refused", refusals[v->refusal]);
    static const char *const kinds[] = { [REPAIR_RESET] = "reset", [REPAIR_REBOOT] = "reboot" };
    const struct repair_end *end = &v->repaired;
    CLEANUP_FREE char *repaired = xasprintf("%s %s", kinds[end->kind],
                                            repair_result_name(end->result));
    check_text(want, "repaired", end->result ? repaired : "None");
}

static void check_plan(const json_t *want, const struct actions *actions)
{
    CLEANUP_BUF struct buf text = BUF_INIT(1 << 20);
    CLEANUP_BUF struct buf wanted = BUF_INIT(1 << 20);
    size_t i;
    json_t *line;
    actions_text(actions, &text);
    json_array_foreach (json_object_get(want, "plan"), i, line)
        buf_printf(&wanted, "%s\n", json_string_value(line));
    if (!str_eq(buf_text(&text), buf_text(&wanted)))
        fail_msg("the plan is\n%snot\n%s", buf_text(&text), buf_text(&wanted));
}

/* What a plan writes to the node; NULL: nothing. New reference. */
static json_t *operations_of(const struct actions *actions)
{
    for (size_t i = 0; i < actions->len; i++)
        if (actions->items[i].verb == VERB_MARK)
            return json_parse(actions->items[i].request.body,
                              strlen(actions->items[i].request.body), NULL);
    return NULL;
}

/* What the operations change, as a merge patch. New reference. */
static json_t *changes_of(const json_t *operations)
{
    json_t *changes = json_object(), *operation;
    size_t i;
    json_array_foreach (operations, i, operation) {
        if (str_eq(json_str(operation, "op"), "test"))
            continue;
        CLEANUP_FREE char *key = NULL;
        json_t *parent = frame_parent(changes, json_str(operation, "path"), true, &key);
        const json_t *value = json_object_get(operation, "value");
        json_object_set_new(parent, key, value ? json_deep_copy(value) : json_null());
    }
    return changes;
}

static void check_patch(const json_t *want, const struct actions *actions)
{
    const json_t *wanted = json_object_get(want, "patch");
    if (!wanted)
        return;
    CLEANUP_JSON json_t *operations = operations_of(actions);
    assert_non_null(operations);
    CLEANUP_JSON json_t *changes = changes_of(operations);
    /* What the claim says is held against `claim`. */
    if (json_object_get(want, "claim"))
        json_object_del(json_at(changes, "metadata.annotations"), ANNOTATION_CLAIM);
    if (json_object_get(want, "fault"))
        json_object_del(json_at(changes, "metadata.annotations"), ANNOTATION_FAULT);
    CLEANUP_FREE char *got_text = json_canonical(changes);
    CLEANUP_FREE char *want_text = json_canonical(wanted);
    if (!str_eq(got_text, want_text))
        fail_msg("the patch is\n%s, not\n%s", got_text, want_text);
}

/* Writes of others between our reading of a node and our patch of it. */
static const struct foreign_write {
    const char *edit; /* a merge patch */
    enum { REFUSED, REFUSED_WITH_TAINTS, HARMLESS } end;
} foreign_writes[] = {
    { "{'metadata': {'uid': 'of-another-incarnation'}}", REFUSED },
    { "{'metadata': {'deletionTimestamp': '2026-11-20T09:00:00Z'}}", REFUSED },
    { "{'metadata': {'annotations': {'ostler.dev/marks': 'edited'}}}", REFUSED },
    { "{'metadata': {'annotations': {'ostler.dev/claim': 'edited'}}}", REFUSED },
    { "{'metadata': {'annotations': {'ostler.dev/gave-up': 'edited'}}}", REFUSED },
    { "{'metadata': {'labels': {'ostler.dev/hold': 'edited'}}}", REFUSED },
    { "{'metadata': {'labels': {'ostler.dev/driver': 'edited'}}}", REFUSED },
    { "{'metadata': {'labels': {'ostler.dev/stack': 'edited'}}}", REFUSED },
    { "{'metadata': {'labels': {'ostler.dev/managed': 'edited'}}}", REFUSED },
    { "{'metadata': {'labels': {'nvidia.com/gpu.deploy.operands': 'edited'}}}", REFUSED },
    { "{'spec': {'taints': [{'key': 'in-between', 'effect': 'NoSchedule'}]}}",
      REFUSED_WITH_TAINTS },
    { "{'spec': {'unschedulable': true}}", HARMLESS },
    { "{'metadata': {'resourceVersion': '987654321', 'labels': {'in/between': 'x'}, 'annotations': "
      "{'in/between': 'x'}}}",
      HARMLESS },
    { "{'status': {'conditions': [{'type': 'Ready', 'status': 'Unknown'}]}}", HARMLESS },
};

/* A write of others that comes first makes the server refuse ours, or the node is in the end as if
 * it had come second. */
static void check_race(const json_t *node, const json_t *operations, const json_t *edit,
                       bool refused)
{
    CLEANUP_JSON json_t *theirs = json_deep_copy(node);
    frame_merge(theirs, edit);
    frame_show(theirs);
    CLEANUP_JSON json_t *theirs_first = frame_operated(theirs, operations);
    CLEANUP_JSON json_t *ours_first = frame_operated(node, operations);
    frame_merge(ours_first, edit);
    CLEANUP_FREE char *text = json_canonical(edit);
    if (refused != !theirs_first)
        fail_msg("after %s the write is %s", text, theirs_first ? "accepted" : "refused");
    if (theirs_first && !json_equal(theirs_first, ours_first))
        fail_msg("%s and the write do not give the same in both orders", text);
}

static void check_races(const json_t *node, const struct actions *actions)
{
    CLEANUP_JSON json_t *operations = operations_of(actions);
    if (!operations)
        return;
    CLEANUP_JSON json_t *changes = changes_of(operations);
    bool first_of_a_map = !json_at(node, "metadata.labels") ||
                          !json_at(node, "metadata.annotations");
    for (size_t i = 0; i < ARRAY_LEN(foreign_writes); i++) {
        CLEANUP_JSON json_t *edit = tree(foreign_writes[i].edit);
        bool meets = foreign_writes[i].end == REFUSED ||
                     (foreign_writes[i].end == REFUSED_WITH_TAINTS &&
                      json_at(changes, "spec.taints")) ||
                     (first_of_a_map && json_at(edit, "metadata.labels"));
        check_race(node, operations, edit, meets);
    }
    const char *key;
    json_t *value;
    json_object_foreach (json_at(changes, "metadata.labels"), key, value) {
        CLEANUP_JSON json_t *edit = json_pack("{s:{s:{s:s}}}", "metadata", "labels", key, "edited");
        check_race(node, operations, edit, true);
    }
    for (size_t i = 0; i < KEEP_COUNT; i++) {
        key = autoscaler_keeps[i];
        CLEANUP_JSON json_t *edit = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", key,
                                              "edited");
        if (json_object_get(json_at(changes, "metadata.annotations"), key))
            check_race(node, operations, edit, true);
    }
    static const char *const others[] = { ANNOTATION_FAULT, ANNOTATION_REPAIR };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        CLEANUP_JSON json_t *edit = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", others[i],
                                              "edited");
        if (json_object_get(json_at(changes, "metadata.annotations"), others[i]))
            check_race(node, operations, edit, true);
    }
}

/* What was written is what was wanted: the pass after it has nothing to do. */
static void check_idempotent(struct testbed *t, const char *node)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_BUF struct buf text = BUF_INIT(1 << 20);
    struct node_verdict v;
    testbed_pass_node(t, &a, node, &v, &actions);
    actions_text(&actions, &text);
    if (actions.len > 0)
        fail_msg("the next pass finds more to do:\n%s", buf_text(&text));
}

/* The members of a JSON annotation that are asked for; null: it must be absent. */
static void check_annotation(const json_t *node, const char *annotation, const json_t *wanted)
{
    const char *text = object_annotation(node, annotation), *key;
    CLEANUP_JSON json_t *said = text ? json_parse(text, strlen(text), NULL) : NULL;
    json_t *value;
    if (json_is_null(wanted) && text)
        fail_msg("the node still has %s: %s", annotation, text);
    json_object_foreach ((json_t *) wanted, key, value)
        if (!json_equal(value, json_object_get(said, key)) &&
            !(json_is_null(value) && said && !json_object_get(said, key)))
            fail_msg("%s is not as it should be in\n%s", key, text ? text : annotation);
}

/* The arguments of the pod that a plan creates. */
static void check_args(const json_t *wanted, const struct actions *actions)
{
    CLEANUP_JSON json_t *pod = NULL;
    for (size_t i = 0; i < actions->len && !pod; i++)
        if (actions->items[i].verb == VERB_CREATE)
            pod = json_parse(actions->items[i].request.body, strlen(actions->items[i].request.body),
                             NULL);
    const json_t *args = json_object_get(json_array_get(json_at(pod, "spec.containers"), 0),
                                         "args");
    CLEANUP_FREE char *got = args ? json_canonical(args) : NULL;
    CLEANUP_FREE char *want = wanted ? json_canonical(wanted) : NULL;
    if (wanted && !str_eq(got, want))
        fail_msg("the arguments are %s, not %s", str_or_empty(got), want);
}

static void check_node(struct testbed *t, const char *node, const json_t *want)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct node_verdict v;
    testbed_pass_node(t, &a, node, &v, &actions);
    check_plan(want, &actions);
    check_verdict(want, &v);
    check_patch(want, &actions);
    check_args(json_object_get(want, "args"), &actions);
    check_races(testbed_get(t, RESOURCE_NODE, node), &actions);
    if (json_object_get(want, "again"))
        assert_int_equal(actions.requeue_after_ms, json_int(want, "again", 0) * 1000);
    testbed_carry_out(t, &actions);
    check_annotation(testbed_get(t, RESOURCE_NODE, node), ANNOTATION_CLAIM,
                     json_object_get(want, "claim"));
    check_annotation(testbed_get(t, RESOURCE_NODE, node), ANNOTATION_FAULT,
                     json_object_get(want, "fault"));
    if (actions.len > 0 && !json_bool(want, "goesOn", false))
        check_idempotent(t, node);
}

static void put_purpose(json_t *symbols, const struct testbed *t, const struct target *target)
{
    char purpose[IMAGES_PURPOSE_MAX];
    images_purpose(assignment_ref(&target->runs), targets_spec(t->cluster->targets, target->pool),
                   purpose);
    json_object_set_new(symbols, "$images", json_string(purpose));
}

static void check_case(void **state)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(*state, NULL, &e);
    if (json_array_size(documents) != 2)
        fail_msg("%s", documents ? "two documents are needed" : err_msg(&e));
    const json_t *given = json_array_get(documents, 0);
    const char *mode = json_str_or_empty(given, "stance");
    struct testbed t;
    CLEANUP_JSON json_t *usual = json_object();
    const json_t *policy = json_object_get(given, "policy");
    testbed_init(&t, policy ? policy : usual);
    put_configs(&t, given);
    put_seen(&t, given);
    const struct target *target = put_records(&t, given);
    CLEANUP_JSON json_t *symbols = json_object();
    symbols_add(symbols, NULL, target);
    put_purpose(symbols, &t, target);
    CLEANUP_JSON json_t *seen = symbols_resolved(symbols, given);
    CLEANUP_JSON json_t *want = symbols_resolved(symbols, json_array_get(documents, 1));
    put_seen(&t, seen);
    t.hold = str_eq(mode, "Hold");
    t.watched_s = json_int(given, "watched", 0);
    t.removing_s = json_int(given, "removing", 0);
    t.discovered_s = json_int(given, "discovered", 0);
    t.age_s = json_int(given, "silent", 0);
    t.tasks_age_s = json_int(given, "tasksSilent", t.age_s);
    t.deleting = json_bool(given, "deleting", false);
    t.toolkit_waits = json_bool(given, "toolkitWaits", false);
    t.toolkit_stopped_by = json_str(given, "toolkitStoppedBy");
    t.not_evicted = json_str(given, "refused");
    t.ask_in_ms = json_int(given, "askIn", 0);
    t.holders_new = json_bool(given, "holdersNew", false);
    t.unhealthy_s = json_int(given, "unhealthy", 0);
    t.braked = json_bool(given, "braked", false);
    t.cluster->health.repairs = json_bool(given, "allowRepairs", true);
    t.nvml_spoke = json_bool(given, "spoke", false);
    t.driver_s = json_int(given, "driverMade", 0);
    t.cluster->health.repairs &= !json_bool(given, "repairsForbidden", false);
    if (str_eq(mode, "Remove")) {
        testbed_remove(&t, RESOURCE_POLICY, POLICY_NAME);
        t.absent_for_long = true;
    }
    check_node(&t, name_of(given), want);
    testbed_clear(&t);
}

int main(void)
{
    return cases_run("node cases", "tests/cases/node", check_case);
}
