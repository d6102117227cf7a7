/* Case files: tests/cases/node/ has one file per behaviour, no code. The first document is what is seen:
 *   policy: the object's parts that are not as usual   stance: Hold or Remove where the policy does not say so (no policy, for long)
 *   node, pods: short forms (support/toy.h)            configs: ConfigMaps with their data
 *   records: `target`, or {tier, hash, with: members that differ from the target's, completed: time}; all of the target without it
 * `$driver` and `$stack` stand for the hashes of the node's target (support/symbols.h).
 * The second document is what must come of it:
 *   state, reason, cause, pod, gpu, driver, stack: of the verdict         message: a part of it
 *   target: {driver, stack}   wanted, up: operands   plan: its lines      patch: the write's, without its guard
 *   goesOn: the pass after the write has more to do
 * Each case also holds that the write touches nothing of others, and that planning again finds nothing to do. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/symbols.h"
#include "tests/unit/support/toy.h"

static const char *name_of(const json_t *given)
{
    const char *name = json_str(given, "node.name");
    return name ? name : "gpu-1";
}

static void put_seen(struct toy *t, const json_t *given)
{
    size_t i;
    json_t *brief;
    toy_put(t, RESOURCE_NODE, toy_node(json_object_get(given, "node")));
    json_array_foreach (json_object_get(given, "pods"), i, brief)
        toy_put(t, RESOURCE_POD, toy_pod(brief));
}

static void put_configs(struct toy *t, const json_t *given)
{
    const char *name;
    json_t *data;
    json_object_foreach (json_object_get(given, "configs"), name, data)
        toy_put(t, RESOURCE_CONFIGMAP,
                json_pack("{s:{s:s, s:s}, s:O}", "metadata", "name", name, "namespace", TOY_NAMESPACE, "data", data));
}

/* A record that differs from the target in some inputs. */
static void put_other_record(struct toy *t, const json_t *entry, const struct target *target)
{
    const char *tier = json_str(entry, "tier");
    const json_t *like = str_eq(tier, "driver") ? target->driver_inputs : target->stack_inputs;
    CLEANUP_JSON json_t *inputs = like ? json_deep_copy(like) : json_pack("{s:s}", "tier", tier);
    json_merge(inputs, json_object_get(entry, "with"));
    json_t *record = toy_record(json_str(entry, "hash"), inputs);
    if (json_object_get(entry, "completed"))
        json_object_set(json_at(record, "metadata.annotations"), ANNOTATION_COMPLETED "default", json_object_get(entry, "completed"));
    toy_put(t, RESOURCE_REVISION, record);
}

static void put_target_records(struct toy *t, const struct target *target)
{
    if (*target->driver)
        toy_put(t, RESOURCE_REVISION, toy_record(target->driver, target->driver_inputs));
    if (*target->stack)
        toy_put(t, RESOURCE_REVISION, toy_record(target->stack, target->stack_inputs));
}

/* Records first as they differ, then, since what is held depends on them, those of the target. */
static const struct target *put_records(struct toy *t, const json_t *given)
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
            put_other_record(t, entry, toy_target(t, node));
    }
    toy_forget_targets(t);
    const struct target *target = toy_target(t, node);
    if (with_target)
        put_target_records(t, target);
    return target;
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
        wanted |= 1u << component_parse(json_string_value(name));
    if (json_object_get(want, key) && wanted != got)
        fail_msg("%s are %#x, not %#x (bits in the order of COMPONENTS)", key, got, wanted);
}

static void check_verdict(const json_t *want, const struct node_verdict *v)
{
    check_text(want, "state", node_state_name(v->state));
    check_text(want, "reason", v->reason);
    check_text(want, "cause", component_name(v->cause));
    check_text(want, "pod", v->pod);
    check_text(want, "driver", v->driver);
    check_text(want, "stack", v->stack);
    check_text(json_object_get(want, "target"), "driver", v->target_driver);
    check_text(json_object_get(want, "target"), "stack", v->target_stack);
    check_operands(want, "wanted", v->wanted);
    check_operands(want, "up", v->up);
    const char *message = json_str(want, "message");
    if (message && !strstr(str_or_empty(v->message), message))
        fail_msg("the message is\n%s, without\n%s", v->message ? v->message : "(none)", message);
    if (json_object_get(want, "gpu"))
        assert_int_equal(v->gpu, json_bool(want, "gpu", false));
}

static void check_plan(const json_t *want, const struct plan *plan)
{
    CLEANUP_BUF struct buf text = BUF_INIT(1 << 20);
    CLEANUP_BUF struct buf wanted = BUF_INIT(1 << 20);
    size_t i;
    json_t *line;
    plan_text(plan, &text);
    json_array_foreach (json_object_get(want, "plan"), i, line)
        buf_printf(&wanted, "%s\n", json_string_value(line));
    if (!str_eq(buf_text(&text), buf_text(&wanted)))
        fail_msg("the plan is\n%snot\n%s", buf_text(&text), buf_text(&wanted));
}

static void check_patch(const json_t *want, const struct plan *plan)
{
    const json_t *wanted = json_object_get(want, "patch");
    if (!wanted)
        return;
    assert_int_equal(plan->len, 1);
    CLEANUP_JSON json_t *patch = json_parse(plan->actions[0].request.body, strlen(plan->actions[0].request.body), NULL);
    json_object_del(json_object_get(patch, "metadata"), "uid");
    json_object_del(json_object_get(patch, "metadata"), "resourceVersion");
    CLEANUP_FREE char *got_text = json_canonical(patch);
    CLEANUP_FREE char *want_text = json_canonical(wanted);
    if (!str_eq(got_text, want_text))
        fail_msg("the patch is\n%s, not\n%s", got_text, want_text);
}

/* What was written is what was wanted: the pass after it has nothing to do. */
static void check_idempotent(struct toy *t, const char *node)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_PLAN struct plan plan = { 0 };
    CLEANUP_BUF struct buf text = BUF_INIT(1 << 20);
    struct node_verdict v;
    toy_pass_node(t, &a, node, &v, &plan);
    plan_text(&plan, &text);
    if (plan.len > 0)
        fail_msg("the next pass finds more to do:\n%s", buf_text(&text));
}

static void check_node(struct toy *t, const char *node, const json_t *want)
{
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_PLAN struct plan plan = { 0 };
    struct node_verdict v;
    toy_pass_node(t, &a, node, &v, &plan);
    check_plan(want, &plan);
    check_verdict(want, &v);
    check_patch(want, &plan);
    toy_carry_out(t, &plan);
    if (plan.len > 0 && !json_bool(want, "goesOn", false))
        check_idempotent(t, node);
}

static void check_case(void **state)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(*state, NULL, &e);
    if (json_array_size(documents) != 2)
        fail_msg("%s", documents ? "two documents are needed" : err_msg(&e));
    const json_t *given = json_array_get(documents, 0);
    const char *stance = json_str_or_empty(given, "stance");
    struct toy t;
    CLEANUP_JSON json_t *usual = json_object();
    const json_t *policy = json_object_get(given, "policy");
    toy_init(&t, policy ? policy : usual);
    put_configs(&t, given);
    put_seen(&t, given);
    const struct target *target = put_records(&t, given);
    CLEANUP_JSON json_t *symbols = json_object();
    symbols_add(symbols, NULL, target);
    CLEANUP_JSON json_t *seen = symbols_resolved(symbols, given);
    CLEANUP_JSON json_t *want = symbols_resolved(symbols, json_array_get(documents, 1));
    put_seen(&t, seen);
    t.hold = str_eq(stance, "Hold");
    if (str_eq(stance, "Remove")) {
        toy_remove(&t, RESOURCE_POLICY, POLICY_NAME);
        t.absent_for_long = true;
    }
    check_node(&t, name_of(given), want);
    toy_clear(&t);
}

int main(void)
{
    return cases_run("node cases", "tests/cases/node", check_case);
}
