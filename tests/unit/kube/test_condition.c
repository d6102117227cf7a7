#include "kube/condition.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define READY_SINCE_MORNING                                                                        \
    "[{'type':'Stalled','status':'True','lastTransitionTime':'01:00'},"                            \
    "{'type':'Ready','status':'True','lastTransitionTime':'08:00'}]"

static const struct carry_row {
    const char *name;
    const char *previous; /* NULL: none */
    const char *status;
    const char *since;
} carried[] = {
    { "a new condition begins now", NULL, "True", "12:00" },
    { "a condition of another type does not count",
      "[{'type':'Stalled','status':'True','lastTransitionTime':'01:00'}]", "True", "12:00" },
    { "the same status keeps its time", READY_SINCE_MORNING, "True", "08:00" },
    { "another status begins now", READY_SINCE_MORNING, "False", "12:00" },
    { "unknown is another status", READY_SINCE_MORNING, "Unknown", "12:00" },
    { "a previous condition without a time begins now", "[{'type':'Ready','status':'True'}]",
      "True", "12:00" },
    { "a previous list of the wrong shape is none", "{'type':'Ready'}", "True", "12:00" },
};

static void check_carry(void **state)
{
    const struct carry_row *row = *state;
    CLEANUP_JSON json_t *previous = row->previous ? tree(row->previous) : NULL;
    struct condition c = { "Ready", row->status, "AllReady", "3 of 3 nodes" };
    CLEANUP_JSON json_t *got = condition_json(&c, previous, 7, "12:00");
    CLEANUP_FREE char *want = xasprintf(
        "{'type':'Ready','status':'%s','observedGeneration':7,'lastTransitionTime':'%s',"
        "'reason':'AllReady','message':'3 of 3 nodes'}",
        row->status, row->since);
    assert_tree(got, want);
}

static void reason_and_message_may_change_without_a_transition(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *previous = tree("[{'type':'Ready','status':'False','reason':'A','message':"
                                         "'a','lastTransitionTime':'08:00'}]");
    struct condition c = { "Ready", "False", "B", "b" };
    CLEANUP_JSON json_t *got = condition_json(&c, previous, 7, "12:00");
    assert_string_equal(json_str(got, "lastTransitionTime"), "08:00");
    assert_string_equal(json_str(got, "reason"), "B");
}

static void long_message_is_cut(void **state)
{
    (void) state;
    char message[3000];
    memset(message, 'x', sizeof message);
    message[sizeof message - 1] = '\0';
    struct condition c = { "Ready", "False", "B", message };
    CLEANUP_JSON json_t *got = condition_json(&c, NULL, 7, "12:00");
    assert_int_equal(strlen(json_str(got, "message")), CONDITION_MESSAGE_MAX);
}

static void message_that_is_no_utf8_is_made_so(void **state)
{
    (void) state;
    struct condition c = { "Ready", "False", "B", "log: \xff" };
    CLEANUP_JSON json_t *got = condition_json(&c, NULL, 7, "12:00");
    assert_string_equal(json_str(got, "message"), "log: ?");
}

static void conditions_are_found_by_type(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *list = tree(READY_SINCE_MORNING);
    assert_string_equal(condition_status(list, "Ready"), "True");
    assert_string_equal(condition_status(list, "Degraded"), "");
    assert_string_equal(condition_status(NULL, "Ready"), "");
    assert_string_equal(json_str(condition_find(list, "Ready"), "lastTransitionTime"), "08:00");
    assert_null(condition_find(list, "Degraded"));
    CLEANUP_JSON json_t *object = json_pack("{s:{s:O}}", "status", "conditions", list);
    assert_ptr_equal(condition_of(object, "Ready"), condition_find(list, "Ready"));
    assert_true(condition_is_true(object, "Ready"));
    assert_false(condition_is_true(object, "Degraded"));
    assert_null(condition_of(NULL, "Ready"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_carry, carried);
    suite_add(&s, "reason and message may change without a transition",
              reason_and_message_may_change_without_a_transition, NULL);
    suite_add(&s, "a long message is cut", long_message_is_cut, NULL);
    suite_add(&s, "a message that is no UTF-8 is made so", message_that_is_no_utf8_is_made_so,
              NULL);
    suite_add(&s, "a condition is found by its type", conditions_are_found_by_type, NULL);
    return suite_run(&s, "condition");
}
