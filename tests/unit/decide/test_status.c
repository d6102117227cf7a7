/* The status stays within its bounds whatever the cluster: 32 KiB in all, 1 KiB per condition, and
 * what the CRD allows. */
#include "reconcilers/decide/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { NODES = 5000, STATUS_MAX = 32768, NAME_LEN = 253, POOLS_MAX = 32 };

/* A policy with as many pools as there may be. */
static json_t *wide_policy(void)
{
    json_t *pools = json_array();
    for (int i = 0; i < POOLS_MAX; i++)
        json_array_append_new(pools, json_pack("{s:o, s:{s:s}}", "name", json_textf("p%031d", i),
                                               "nodeSelector", "pool", "x"));
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:i}, s:{s:o}}", "apiVersion", POLICY_API_VERSION,
                     "kind", POLICY_KIND, "metadata", "name", POLICY_NAME, "uid", "uid",
                     "generation", 7, "spec", "pools", pools);
}

struct crowd {
    struct tally tally;
    struct node_summary nodes[NODES];
    char names[NODES][NAME_LEN + 1];
};

static void put_hash(char out[static REVISION_HASH_MAX], char first, int number)
{
    CLEANUP_FREE char *text = xasprintf("%c%09d", first, number);
    memcpy(out, text, REVISION_HASH_MAX);
}

static const enum operand causes[] = { OPERAND_DRIVER, OPERAND_TOOLKIT, OPERAND_DEVICE_PLUGIN,
                                       OPERAND_EXPORTER, OPERAND_AGENT };

/* Node after node that fails for a reason of its own, in its own words, each with revisions of its
 * own. */
static struct crowd *crowd_new(void)
{
    struct crowd *c = xcalloc(1, sizeof *c);
    for (int i = 0; i < NODES; i++) {
        char reason[64], message[400], pod[300];
        snprintf(c->names[i], sizeof c->names[i], "n%0252d", i);
        snprintf(reason, sizeof reason, "R%062d", i);
        snprintf(pod, sizeof pod, "ostler-operands/%0237d", i);
        snprintf(message, sizeof message, "%s: %0280d \"\\ü\"", reason, i);
        struct node_verdict v = { .state = i % 2 ? NODE_FAILED : NODE_UNSUPPORTED,
                                  .reason = REASON_OTHER,
                                  .word = reason,
                                  .message = message,
                                  .pod = pod,
                                  .cause = causes[i % ARRAY_LEN(causes)],
                                  .gpu = true,
                                  .looked_at = true,
                                  .pool = (size_t) (i % (POOLS_MAX + 1)),
                                  .wanted = 1u << OPERAND_DRIVER | 1u << OPERAND_TOOLKIT |
                                            1u << OPERAND_DEVICE_PLUGIN | 1u << OPERAND_EXPORTER };
        put_hash(v.carried.hash[TIER_DRIVER], 'o', i);
        put_hash(v.target.hash[TIER_DRIVER], 'd', i);
        put_hash(v.target.hash[TIER_STACK], 's', i);
        c->nodes[i].name = c->names[i];
        tally_set(&c->tally, &c->nodes[i], &v);
    }
    return c;
}

static void crowd_free(struct crowd *c)
{
    for (int i = 0; i < NODES; i++)
        tally_remove(&c->tally, &c->nodes[i]);
    assert_int_equal(c->tally.causes.len, 0);
    assert_int_equal(c->tally.revisions.len, 0);
    tally_clear(&c->tally);
    free(c);
}

/* As many problems as are kept, each as long as they get. */
static void fill_problems(struct policy_problems *problems)
{
    problems->items = xcalloc(POLICY_PROBLEMS_MAX, sizeof *problems->items);
    for (size_t i = 0; i < POLICY_PROBLEMS_MAX; i++)
        problems->items[problems->len++] = (struct policy_problem){
            .field = xasprintf("spec.%0500zu", i), .message = xasprintf("%0512zu", i)
        };
}

static void check_bounds(const struct cluster_view *v)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct condition conditions[STATUS_CONDITIONS] = { 0 };
    status_conditions(v, NULL, &a, conditions);
    CLEANUP_JSON json_t *status = status_json(v, conditions);
    CLEANUP_FREE char *text = json_compact(status);
    print_message("%zu bytes\n", strlen(text));
    assert_in_range(strlen(text), 1, STATUS_MAX);
    size_t i;
    json_t *condition;
    json_array_foreach (json_object_get(status, "conditions"), i, condition)
        assert_in_range(strlen(json_str(condition, "message")), 1, CONDITION_MESSAGE_MAX);
    json_array_foreach (json_object_get(status, "firstCauses"), i, condition)
        assert_in_range(strlen(json_str(condition, "reason")), 1, 128);
    assert_in_range(json_array_size(json_object_get(status, "firstCauses")), 1, 10);
}

static void check_crowd(bool invalid)
{
    CLEANUP_JSON json_t *object = wide_policy();
    struct policy policy;
    struct policy_problems problems = { 0 };
    const struct policy_limits limits = { POLICY_IMAGE_PREFIXES, "*", NULL, true, true };
    assert_int_equal(policy_decode(object, &limits, &policy, &problems), 0);
    struct crowd *c = crowd_new();
    fill_problems(&problems);
    CLEANUP_FREE char *text = policy_problems_text(&problems);
    struct cluster_view v = { .object = object,
                              .policy = &policy,
                              .problems = invalid ? text : NULL,
                              .problem_list = invalid ? &problems : NULL,
                              .mode = MODE_MANAGE,
                              .tally = &c->tally,
                              .settled = true,
                              .now = "2026-11-20T10:00:00Z" };
    check_bounds(&v);
    crowd_free(c);
    policy_problems_clear(&problems);
    policy_clear(&policy);
}

static void every_node_fails_in_its_own_way(void **state)
{
    (void) state;
    check_crowd(false);
}

static void every_node_fails_and_the_policy_is_invalid(void **state)
{
    (void) state;
    check_crowd(true);
}

/* The same facts, however they were come by, give the same text: nothing is written for the way
 * that led there. */
static void the_order_of_events_leaves_no_trace(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *object = wide_policy();
    struct policy policy;
    struct policy_problems problems = { 0 };
    const struct policy_limits limits = { POLICY_IMAGE_PREFIXES, "*", NULL, true, true };
    assert_int_equal(policy_decode(object, &limits, &policy, &problems), 0);
    char *first = NULL;
    for (int turn = 0; turn < 2; turn++) {
        struct tally tally = { 0 };
        struct node_summary nodes[100] = { 0 };
        char names[100][16];
        for (int k = 0; k < 100; k++) {
            int i = turn ? 99 - k : k;
            char reason[32];
            snprintf(names[i], sizeof names[i], "n%d", i);
            snprintf(reason, sizeof reason, "R%d", i % 7);
            struct node_verdict v = { .state = NODE_FAILED,
                                      .reason = REASON_OTHER,
                                      .word = reason,
                                      .message = names[i],
                                      .cause = (enum operand)(i % 3),
                                      .gpu = true,
                                      .looked_at = true };
            put_hash(v.target.hash[TIER_DRIVER], 'h', i % 20);
            nodes[i].name = names[i];
            tally_set(&tally, &nodes[i], &v);
        }
        CLEANUP_ARENA struct arena a = { 0 };
        struct cluster_view v = { .object = object,
                                  .policy = &policy,
                                  .mode = MODE_MANAGE,
                                  .tally = &tally,
                                  .settled = true,
                                  .now = "2026-11-20T10:00:00Z" };
        struct condition conditions[STATUS_CONDITIONS] = { 0 };
        status_conditions(&v, NULL, &a, conditions);
        CLEANUP_JSON json_t *status = status_json(&v, conditions);
        char *text = json_canonical(status);
        if (first)
            assert_string_equal(text, first);
        free(first);
        first = text;
        for (int i = 0; i < 100; i++)
            tally_remove(&tally, &nodes[i]);
        tally_clear(&tally);
    }
    free(first);
    policy_clear(&policy);
}

/* Pods of an older template count for the operand of their DaemonSet alone. */
static void outdated_pods_count_for_their_operand(void **state)
{
    (void) state;
    static const struct {
        const char *operand;
        int outdated;
    } rows[] = { { "driver", 4 }, { "toolkit", 2 }, { "device-plugin", 0 }, { "exporter", 8 } };
    struct child daemonsets[] = {
        { .head.key = (char[]){ "ops/driver-0bcdfghjkl" },
          .revision = (char[]){ "0bcdfghjkl" },
          .desired = 5,
          .updated = 1 },
        { .head.key = (char[]){ "ops/toolkit-1bcdfghjkl" },
          .revision = (char[]){ "1bcdfghjkl" },
          .desired = 3,
          .updated = 1 },
        { .head.key = (char[]){ "ops/toolkit-removal-1bcdfghjkl" },
          .revision = (char[]){ "1bcdfghjkl" },
          .desired = 1 },
        { .head.key = (char[]){ "ops/device-plugin-1bcdfghjkl" },
          .revision = (char[]){ "1bcdfghjkl" },
          .desired = 1,
          .updated = 2 },
        { .head.key = (char[]){ "ops/exporter" }, .desired = 8 },
        { .head.key = (char[]){ "ops/exporter-of-a-user" }, .desired = 16 },
    };
    const struct child *children[ARRAY_LEN(daemonsets)];
    for (size_t i = 0; i < ARRAY_LEN(daemonsets); i++) {
        daemonsets[i].resource = RESOURCE_DAEMONSET;
        children[i] = &daemonsets[i];
    }
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s}}", "metadata", "name", "default");
    struct tally tally = { 0 };
    struct cluster_view v = { .object = object,
                              .mode = MODE_MANAGE,
                              .tally = &tally,
                              .settled = true,
                              .children = children,
                              .child_count = ARRAY_LEN(children),
                              .now = "2026-11-20T10:00:00Z" };
    CLEANUP_ARENA struct arena a = { 0 };
    struct condition conditions[STATUS_CONDITIONS] = { 0 };
    status_conditions(&v, NULL, &a, conditions);
    CLEANUP_JSON json_t *status = status_json(&v, conditions);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const json_t *operand = json_find(json_object_get(status, "operands"), "name",
                                          rows[i].operand);
        assert_int_equal(json_int(operand, "outdated", -1), rows[i].outdated);
    }
}

/* What a budget says of a draining node is news by itself. */
static void a_refusal_is_news(void **state)
{
    (void) state;
    struct tally tally = { 0 };
    struct node_summary node = { .name = "gpu-1" };
    struct node_verdict v = { .state = NODE_DRAINING,
                              .reason = REASON_DRAINING,
                              .message = "m",
                              .moving = true,
                              .gpu = true };
    assert_int_not_equal(tally_set(&tally, &node, &v), 0);
    assert_null(tally_refused(&tally));
    v.refused = "pod/ml/a: it would violate the budget";
    assert_int_equal(tally_set(&tally, &node, &v), TALLY_SUMS);
    assert_ptr_equal(tally_refused(&tally), &node);
    v.refused = NULL;
    assert_int_equal(tally_set(&tally, &node, &v), TALLY_SUMS);
    assert_null(tally_refused(&tally));
    tally_remove(&tally, &node);
    tally_clear(&tally);
}

static const char *words(void *arg, const char *node, struct arena *a)
{
    return arena_printf(a, "%s of %s", (const char *) arg, node);
}

/* What the policy says of nodes on their way of which a pod does not come up, or may not leave. */
static void who_does_not_come_up_is_named(void **state)
{
    (void) state;
    static const struct {
        const char *name, *trouble, *refused;
    } rows[] = { { "gpu-10", "CrashLoopBackOff: container driver exited with code 1", NULL },
                 { "gpu-2", "CrashLoopBackOff: container driver exited with code 2", NULL },
                 { "gpu-1", NULL, NULL },
                 { "gpu-4", NULL, "pod/ml/b: it would violate the budget" },
                 { "gpu-3", NULL, "pod/ml/a: it would violate the budget" } };
    struct tally tally = { 0 };
    struct node_summary nodes[ARRAY_LEN(rows)] = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct node_verdict v = { .state = NODE_INSTALLING,
                                  .reason = REASON_UPGRADING,
                                  .message = "m",
                                  .pod = "ops/driver-x",
                                  .moving = true,
                                  .gpu = true,
                                  .trouble = rows[i].trouble,
                                  .refused = rows[i].refused };
        nodes[i].name = rows[i].name;
        tally_set(&tally, &nodes[i], &v);
    }
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s}}", "metadata", "name", "default");
    CLEANUP_ARENA struct arena a = { 0 };
    char said[] = "3 nodes wait", last[] = "the last words";
    struct rollout_report report = {
        .known = true, .hold = ROLLOUT_HOLD_CANARY, .message = said, .active = 3
    };
    struct cluster_view v = { .object = object,
                              .mode = MODE_MANAGE,
                              .tally = &tally,
                              .settled = true,
                              .rollout = &report,
                              .log_tail = words,
                              .arg = last,
                              .now = "2026-11-20T10:00:00Z" };
    struct condition conditions[STATUS_CONDITIONS] = { 0 };
    status_conditions(&v, NULL, &a, conditions);
    const char *want = "gpu-2 does not come up: CrashLoopBackOff: container driver exited with "
                       "code 2, pod ops/driver-x; its "
                       "log ends: the last words of gpu-2; gpu-3 is not drained, an eviction is "
                       "refused: pod/ml/a: it "
                       "would "
                       "violate the budget; 3 nodes wait";
    assert_string_equal(conditions[STATUS_ROLLING_OUT].message, want);
    CLEANUP_JSON json_t *status = status_json(&v, conditions);
    CLEANUP_FREE char *headline = xasprintf("0 of 5 nodes ready: %s", want);
    assert_string_equal(conditions[STATUS_READY].message, headline);
    assert_string_equal(json_str(json_object_get(status, "summary"), "message"), headline);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tally_remove(&tally, &nodes[i]);
    tally_clear(&tally);
}

/* At which pace the nodes go is no matter while one of them does not come up. */
static void a_plan_has_no_end_while_a_pod_does_not_come_up(void **state)
{
    (void) state;
    struct tally tally = { 0 };
    struct node_summary node = { .name = "gpu-1" };
    struct node_verdict v = { .state = NODE_INSTALLING,
                              .reason = REASON_UPGRADING,
                              .message = "m",
                              .moving = true,
                              .gpu = true };
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s}}", "metadata", "name", "default");
    CLEANUP_JSON json_t *plan = json_pack("{s:s, s:s}", "hash", "h", "ends",
                                          "2026-11-20T11:00:00Z");
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_report report = { .known = true, .active = 1 };
    const struct cluster_view view = { .object = object,
                                       .mode = MODE_MANAGE,
                                       .tally = &tally,
                                       .settled = true,
                                       .rollout = &report,
                                       .plan = plan,
                                       .now = "2026-11-20T10:00:00Z" };
    for (int troubled = 0; troubled < 2; troubled++) {
        v.trouble = troubled ? "CrashLoopBackOff: it ended" : NULL;
        tally_set(&tally, &node, &v);
        struct condition conditions[STATUS_CONDITIONS] = { 0 };
        status_conditions(&view, NULL, &a, conditions);
        CLEANUP_JSON json_t *status = status_json(&view, conditions);
        assert_string_equal(json_str(status, "rollout.plan.hash"), "h");
        assert_int_equal(json_str(status, "rollout.plan.ends") != NULL, !troubled);
    }
    assert_non_null(json_str(plan, "ends"));
    tally_remove(&tally, &node);
    tally_clear(&tally);
}

/* The counts of the rollout's last pass may be older than the nodes. */
static void a_node_on_its_way_is_a_rollout_that_goes_on(void **state)
{
    (void) state;
    struct tally tally = { 0 };
    struct node_summary node = { .name = "gpu-1" };
    struct node_verdict v = { .state = NODE_INSTALLING,
                              .reason = REASON_UPGRADING,
                              .message = "m",
                              .moving = true,
                              .gpu = true };
    tally_set(&tally, &node, &v);
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s}}", "metadata", "name", "default");
    CLEANUP_ARENA struct arena a = { 0 };
    char said[] = "a node failed";
    struct rollout_report report = { .known = true, .hold = ROLLOUT_HOLD_FAILED, .message = said };
    struct cluster_view view = { .object = object,
                                 .mode = MODE_MANAGE,
                                 .tally = &tally,
                                 .settled = true,
                                 .rollout = &report,
                                 .now = "2026-11-20T10:00:00Z" };
    struct condition conditions[STATUS_CONDITIONS] = { 0 };
    status_conditions(&view, NULL, &a, conditions);
    assert_string_equal(conditions[STATUS_ROLLING_OUT].status, "True");
    tally_remove(&tally, &node);
    tally_clear(&tally);
}

/* When the rollout's wait ends by itself. An invalid spec is no such wait, and the last time of the
 * calendar is the latest. */
static void a_rollout_says_until_when_it_waits(void **state)
{
    (void) state;
    static const struct {
        int64_t until_s;
        bool problems;
        const char *want;
    } rows[] = {
        { INT64_C(1795168800), false, "2026-11-20T10:00:00Z" },
        { 0, false, NULL },
        { INT64_C(1795168800), true, NULL },
        { INT64_MAX - 1, false, "9999-12-31T23:59:59Z" },
    };
    struct tally tally = { 0 };
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s}}", "metadata", "name", "default");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_ARENA struct arena a = { 0 };
        char said[] = "m";
        struct rollout_report report = {
            .known = true, .hold = ROLLOUT_HOLD_SOAK, .message = said, .until_s = rows[i].until_s
        };
        struct cluster_view view = { .object = object,
                                     .mode = MODE_MANAGE,
                                     .tally = &tally,
                                     .settled = true,
                                     .rollout = &report,
                                     .problems = rows[i].problems ? "p" : NULL,
                                     .now = "2026-11-20T10:00:00Z" };
        struct condition conditions[STATUS_CONDITIONS] = { 0 };
        status_conditions(&view, NULL, &a, conditions);
        CLEANUP_JSON json_t *status = status_json(&view, conditions);
        const char *until = json_str(json_object_get(status, "rollout"), "until");
        if (!str_eq(until, rows[i].want))
            fail_msg("row %zu: until %s, not %s", i, str_or_empty(until),
                     str_or_empty(rows[i].want));
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "outdated pods count for the operand of their DaemonSet",
              outdated_pods_count_for_their_operand, NULL);
    suite_add(&s, "5,000 nodes fail, each in its own way", every_node_fails_in_its_own_way, NULL);
    suite_add(&s, "5,000 nodes fail and the policy is invalid",
              every_node_fails_and_the_policy_is_invalid, NULL);
    suite_add(&s, "a refused eviction is news", a_refusal_is_news, NULL);
    suite_add(&s, "who does not come up is named", who_does_not_come_up_is_named, NULL);
    suite_add(&s, "a node on its way is a rollout that goes on",
              a_node_on_its_way_is_a_rollout_that_goes_on, NULL);
    suite_add(&s, "a plan has no end while a pod does not come up",
              a_plan_has_no_end_while_a_pod_does_not_come_up, NULL);
    suite_add(&s, "a rollout says until when it waits", a_rollout_says_until_when_it_waits, NULL);
    suite_add(&s, "the order of events leaves no trace", the_order_of_events_leaves_no_trace, NULL);
    return suite_run(&s, "status");
}
