/* Claims as grants write them: what goes on from the claim before, and what begins. */
#include "reconcilers/decide/rollout_grants.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/frame.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { NOW_S = 1000, CLAIMED_S = 100 };

#define NONE_BEFORE -1

static const struct row {
    const char *name;
    enum rollout_grant_kind kind;
    const char *driver, *stack; /* what the node bears */
    /* phase of its claim, which is from old/s1 to the claim's target */
    int before;
    const char *claim_driver;
    const char *to_driver, *to_stack; /* its target */
    enum claim_phase phase;           /* what must come of it */
    const char *from_driver, *from_stack;
    unsigned attempt;
    int64_t claimed_s;
    unsigned jobs; /* that are on the node */
    bool repairs;
} rows[] = {
    { "a new claim for a driver drains", GRANT_CLAIM, "old", "s1", NONE_BEFORE, NULL, "new", "s1",
      CLAIM_DRAINING, "old", "s1", 1, NOW_S, 0, false },
    { "a new claim for a stack does not", GRANT_CLAIM, "old", "s1", NONE_BEFORE, NULL, "old", "s2",
      CLAIM_UNLOADING, "old", "s1", 1, NOW_S, 0, false },
    { "one that waits for jobs", GRANT_CLAIM_WAITING, "old", "s1", NONE_BEFORE, NULL, "new", "s1",
      CLAIM_WAITING, "old", "s1", 1, NOW_S, 0, false },
    { "its jobs are over", GRANT_DRAIN, "old", "s1", CLAIM_WAITING, "new", "new", "s1",
      CLAIM_DRAINING, "old", "s1", 1, NOW_S, 0, false },
    { "the time for its jobs is over", GRANT_DRAIN, "old", "s1", CLAIM_WAITING, "new", "new", "s1",
      CLAIM_DRAINING, "old", "s1", 1, CLAIMED_S, 2, false },
    { "a retry with everything off remembers what the node ran before", GRANT_RETRY, "", "",
      CLAIM_FAILED, "new", "new", "s1", CLAIM_UNLOADING, "old", "s1", 2, NOW_S, 0, false },
    { "a retry with the new driver on remembers what the node ran before", GRANT_RETRY, "new", "s1",
      CLAIM_FAILED, "new", "new", "s1", CLAIM_UNLOADING, "old", "s1", 2, NOW_S, 0, false },
    { "a retry after a drain that timed out drains", GRANT_RETRY, "old", "s1", CLAIM_FAILED, "new",
      "new", "s1", CLAIM_DRAINING, "old", "s1", 2, NOW_S, 0, false },
    { "another target is a new beginning", GRANT_RETRY, "new", "s1", CLAIM_FAILED, "new", "newer",
      "s1", CLAIM_DRAINING, "new", "s1", 1, NOW_S, 0, false },
    { "with the stack off there is no pod to drain", GRANT_RETRY, "new", "", CLAIM_FAILED, "new",
      "newer", "s1", CLAIM_UNLOADING, "new", "", 1, NOW_S, 0, false },
    { "a repair drains, though it brings nothing else", GRANT_CLAIM, "old", "s1", NONE_BEFORE, NULL,
      "old", "s1", CLAIM_DRAINING, "old", "s1", 1, NOW_S, 0, true },
    { "so does one beside the host's own driver", GRANT_CLAIM, "", "s1", NONE_BEFORE, NULL, "",
      "s1", CLAIM_DRAINING, "", "s1", 1, NOW_S, 0, true },
    { "a repair of a node whose upgrade failed is a new beginning", GRANT_RETRY, "new", "s1",
      CLAIM_FAILED, "new", "new", "s1", CLAIM_DRAINING, "new", "s1", 1, NOW_S, 0, true },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct claim before = { .phase = (enum claim_phase) row->before,
                            .claimed_s = CLAIMED_S,
                            .attempt = 1,
                            .gpus = 8,
                            .to.hash[TIER_STACK] = "s1",
                            .from = { { "old", "s1" } },
                            .reason = "NoAllocatableGpus",
                            .sentinel = true,
                            .called_off = "Held",
                            .more = "{\"of\":\"a newer Ostler\"}" };
    if (row->claim_driver)
        snprintf(before.to.hash[TIER_DRIVER], sizeof before.to.hash[TIER_DRIVER], "%s",
                 row->claim_driver);
    struct rollout_node n = { .name = "gpu-1",
                              .now = { { row->driver, row->stack } },
                              .target = { { row->to_driver, row->to_stack } },
                              .gpus = 8,
                              .jobs = row->jobs,
                              .claim = row->before == NONE_BEFORE ? NULL : &before };
    struct rollout_grant g = {
        .node = &n, .kind = row->kind, .repairs = row->repairs, .to = n.target
    };
    struct claimant by = {
        .policy = "uid-1", .taint = TAINT_UPGRADE, .generation = 7, .now_s = NOW_S
    };
    struct claim c = grant_claim(&g, &by, false);
    assert_int_equal(c.phase, row->phase);
    assert_int_equal(c.kind, row->repairs ? CLAIM_REPAIR : CLAIM_UPGRADE);
    assert_string_equal(c.to.hash[TIER_DRIVER], row->to_driver);
    assert_string_equal(c.to.hash[TIER_STACK], row->to_stack);
    assert_string_equal(c.from.hash[TIER_DRIVER], row->from_driver);
    assert_string_equal(c.from.hash[TIER_STACK], row->from_stack);
    assert_int_equal(c.attempt, row->attempt);
    assert_int_equal(c.claimed_s, row->claimed_s);
    assert_int_equal(c.since_s, NOW_S);
    assert_int_equal(c.generation, 7);
    assert_string_equal(c.policy, "uid-1");
    assert_string_equal(c.reason, "");
    assert_string_equal(c.called_off, "");
    assert_false(c.sentinel);
    assert_string_equal(c.more, n.claim ? before.more : "");
    /* what took its stack off may be over long ago, and its configuration of the container runtime
     * is still there */
    assert_string_equal(claim_last_stack(&c), *row->stack || n.claim ? "s1" : "");
}

static json_t *node_with(const char *marks)
{
    json_t *object = tree("{'metadata': {'name': 'gpu-1', 'uid': 'n', 'labels': {'" LABEL_DRIVER
                          "': 'old', '" LABEL_STACK "': 's1'}}, "
                          "'spec': {}}");
    if (marks)
        json_set_at(object, "metadata.annotations", json_pack("{s:s}", ANNOTATION_MARKS, marks));
    return object;
}

/* The operations that claim a node. New reference. */
static json_t *claim_operations(const json_t *object, struct actions *actions)
{
    struct intern *strings = intern_new();
    struct node *node = node_project(strings, object);
    struct rollout_node n = { .name = "gpu-1",
                              .now = { { "old", "s1" } },
                              .target = { { "new", "s1" } } };
    grant_plan(&(struct rollout_grant){ .node = &n, .kind = GRANT_CLAIM, .to = n.target },
               &(struct node_view){ node, strings, NULL },
               &(struct claimant){
                   .policy = "uid-1", .taint = TAINT_UPGRADE, .generation = 7, .now_s = NOW_S },
               false, actions);
    assert_int_equal(actions->len, 1);
    node_free(strings, node);
    intern_free(strings);
    const char *body = actions->items[0].request.body;
    return json_parse(body, strlen(body), NULL);
}

/* Claims a node that bears these marks. The node afterwards, a new reference. */
static json_t *claimed(const char *marks, struct actions *actions)
{
    CLEANUP_JSON json_t *object = node_with(marks), *operations = claim_operations(object, actions);
    return frame_operated(object, operations);
}

/* Between two writes a pod could come, or a user could ask what the node is closed for. */
static void a_node_is_claimed_and_closed_in_one_write(void **state)
{
    (void) state;
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_JSON json_t *node = claimed(NULL, &actions);
    assert_non_null(strstr(str_or_empty(object_annotation(node, ANNOTATION_CLAIM)), "uid-1"));
    assert_int_equal(json_array_size(json_at(node, "spec.taints")), 1);
}

/* Else what others make of such a label afterwards would be undone. */
static void a_claim_keeps_what_was_written_of_the_gpus(void **state)
{
    static const char features[] = "\"features\":{\"nvidia.com/gpu.product\":\"T4\"}";
    (void) state;
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_FREE char *marks = xasprintf("{\"labels\":[\"nvidia.com/gpu.product\"],%s}", features);
    CLEANUP_JSON json_t *node = claimed(marks, &actions);
    assert_non_null(strstr(str_or_empty(object_annotation(node, ANNOTATION_MARKS)), features));
}

/* Between the claim and what it does to the node, its GPUs have the fault still. */
static void a_claim_keeps_the_record_of_a_fault(void **state)
{
    (void) state;
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_JSON json_t *object = node_with("{\"labels\":[],\"taints\":[\"" TAINT_UNHEALTHY
                                            ":NoSchedule\"]}");
    json_set_at(object, "spec.taints",
                tree("[{'key': '" TAINT_UNHEALTHY "', 'effect': 'NoSchedule'}]"));
    json_object_set_new(json_at(object, "metadata.annotations"), ANNOTATION_FAULT,
                        json_string("the record"));
    CLEANUP_JSON json_t *operations = claim_operations(object, &actions);
    CLEANUP_JSON json_t *node = frame_operated(object, operations);
    assert_string_equal(object_annotation(node, ANNOTATION_FAULT), "the record");
    assert_int_equal(json_array_size(json_at(node, "spec.taints")), 2);
    assert_non_null(strstr(object_annotation(node, ANNOTATION_MARKS), TAINT_UNHEALTHY));
}

/* A taint of others closes the node as well. Where it goes while the claim is written, the node
 * would be claimed and open. */
static void a_claim_rests_on_a_taint_of_others(void **state)
{
    (void) state;
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_JSON json_t *open = node_with(NULL), *closed = node_with(NULL);
    json_set_at(closed, "spec.taints",
                tree("[{'key': '" TAINT_UPGRADE "', 'value': 'x', 'effect': 'NoSchedule'}]"));
    CLEANUP_JSON json_t *operations = claim_operations(closed, &actions);
    CLEANUP_JSON json_t *well = frame_operated(closed, operations),
                        *refused = frame_operated(open, operations);
    assert_non_null(object_annotation(well, ANNOTATION_CLAIM));
    assert_true(json_equal(json_at(well, "spec.taints"), json_at(closed, "spec.taints")));
    assert_null(refused);
}

/* The reason of the write that has a node whose upgrade to "new" failed begin again. */
static enum reason reason_to_run(const char *driver, bool back)
{
    CLEANUP_JSON json_t *object = node_with(NULL);
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct intern *strings = intern_new();
    struct node *node = node_project(strings, object);
    const struct claim failed = { .phase = CLAIM_FAILED,
                                  .attempt = 1,
                                  .to = { { "new", "s1" } },
                                  .from = { { "old", "s1" } },
                                  .reason = "Error" };
    struct rollout_node n = { .name = "gpu-1",
                              .now = { { "new", "s1" } },
                              .target = { { driver, "s1" } },
                              .claim = &failed };
    grant_plan(&(struct rollout_grant){ .node = &n, .kind = GRANT_RETRY, .to = n.target },
               &(struct node_view){ node, strings, NULL },
               &(struct claimant){ .policy = "uid-1", .taint = TAINT_UPGRADE, .now_s = NOW_S },
               back, &actions);
    node_free(strings, node);
    intern_free(strings);
    return action_reason(&actions.items[0]);
}

static void a_retry_is_no_rollback(void **state)
{
    (void) state;
    assert_int_equal(reason_to_run("new", false), REASON_RETRIED);
    assert_int_equal(reason_to_run("new", true), REASON_RETRIED);
    assert_int_equal(reason_to_run("newer", false), REASON_RETRIED);
    assert_int_equal(reason_to_run("old", true), REASON_ROLLED_BACK);
}

/* What is left of what a user asked for when a node that waits returns to service. */
static char *request_after_return(const struct claim *claim)
{
    CLEANUP_JSON json_t *object = node_with("{\"labels\":[],\"taints\":[]}");
    CLEANUP_FREE char *text = claim_text(claim);
    json_object_set_new(json_at(object, "metadata.annotations"), ANNOTATION_CLAIM,
                        json_string(text));
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct intern *strings = intern_new();
    struct node *node = node_project(strings, object);
    const struct rollout_node n = { .name = "gpu-1", .claim = claim };
    return_plan(&(struct rollout_return){ .node = &n }, &(struct node_view){ node, strings, NULL },
                TAINT_UPGRADE, &actions);
    node_free(strings, node);
    intern_free(strings);
    const char *body = actions.items[0].request.body;
    CLEANUP_JSON json_t *operations = json_parse(body, strlen(body), NULL),
                        *after = frame_operated(object, operations);
    assert_null(object_annotation(after, ANNOTATION_CLAIM));
    return xstrdup(str_or_empty(object_annotation(after, ANNOTATION_REPAIR)));
}

/* The claim has taken the annotation; a user's repair that has to wait must still come. */
static void a_return_keeps_what_a_user_asked_for(void **state)
{
    (void) state;
    struct claim c = { .policy = "uid-1",
                       .kind = CLAIM_REPAIR,
                       .phase = CLAIM_WAITING,
                       .since_s = CLAIMED_S,
                       .claimed_s = CLAIMED_S,
                       .attempt = 1,
                       .to = { { "old", "s1" } },
                       .from = { { "old", "s1" } } };
    CLEANUP_FREE char *own = request_after_return(&c);
    c.asked = true;
    CLEANUP_FREE char *users = request_after_return(&c);
    assert_string_equal(own, "");
    assert_string_equal(users, "1970-01-01T00:01:40Z");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a return keeps what a user asked for", a_return_keeps_what_a_user_asked_for,
              NULL);
    suite_add(&s, "a claim rests on a taint of others", a_claim_rests_on_a_taint_of_others, NULL);
    suite_add(&s, "a node is claimed and closed in one write",
              a_node_is_claimed_and_closed_in_one_write, NULL);
    suite_add(&s, "a claim keeps what was written of the GPUs",
              a_claim_keeps_what_was_written_of_the_gpus, NULL);
    suite_add(&s, "a claim keeps the record of a fault", a_claim_keeps_the_record_of_a_fault, NULL);
    suite_add(&s, "a retry is no rollback", a_retry_is_no_rollback, NULL);
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "rollout grants");
}
