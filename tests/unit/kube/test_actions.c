#include "kube/actions.h"

#include "base/buf.h"
#include "tests/unit/support/suite.h"

static void empty_plan_says_nothing(void **state)
{
    (void) state;
    CLEANUP_ACTIONS struct actions p = { 0 };
    CLEANUP_BUF struct buf text = BUF_INIT(1000);
    actions_text(&p, &text);
    assert_string_equal(buf_text(&text), "");
    assert_int_equal(p.requeue_after_ms, 0);
}

static void actions_keep_their_order_and_reasons(void **state)
{
    (void) state;
    CLEANUP_ACTIONS struct actions p = { 0 };
    char target[] = "node/gpu-1";
    actions_add(&p, request_get(RESOURCE_NODE, NULL, "gpu-1"), VERB_MARK, target, "GpuDetected",
                "%d GPUs", 8);
    target[5] = 'X'; /* the plan has its own copy */
    actions_add(&p, request_delete(RESOURCE_DAEMONSET, "ns", "driver-abc", "u", 0), VERB_DELETE,
                "daemonset/driver-abc", "NoNode", "no node runs it");
    CLEANUP_BUF struct buf text = BUF_INIT(1000);
    actions_text(&p, &text);
    assert_string_equal(buf_text(&text), "Mark node/gpu-1 GpuDetected: 8 GPUs\n"
                                         "Delete daemonset/driver-abc NoNode: no node runs it\n");
    assert_string_equal(p.items[1].request.method, "DELETE");
}

static void notices_are_copied(void **state)
{
    (void) state;
    CLEANUP_ACTIONS struct actions p = { 0 };
    char name[] = "gpu-1", uid[] = "u", note[] = "8 GPUs found";
    actions_add_notice(&p, &(struct notice){ .resource = RESOURCE_NODE,
                                             .name = name,
                                             .uid = uid,
                                             .reason = "GpuDetected",
                                             .note = note });
    actions_add_notice(&p, &(struct notice){ .resource = RESOURCE_NODE,
                                             .name = name,
                                             .uid = uid,
                                             .reason = "Failed",
                                             .note = note,
                                             .warning = true });
    name[0] = uid[0] = note[0] = 'X';
    assert_int_equal(p.notice_count, 2);
    assert_string_equal(p.notices[0].name, "gpu-1");
    assert_string_equal(p.notices[0].uid, "u");
    assert_string_equal(p.notices[0].note, "8 GPUs found");
    assert_string_equal(p.notices[0].reason, "GpuDetected");
    assert_false(p.notices[0].warning);
    assert_true(p.notices[1].warning);
}

static const struct requeue_row {
    const char *name;
    int64_t first, second;
    int64_t want;
} requeues[] = {
    { "the earlier of two requeues counts", 5000, 3000, 3000 },
    { "a later requeue changes nothing", 3000, 5000, 3000 },
    { "a requeue that is due is not lost", 5000, 0, 1 },
    { "a requeue that is overdue is not lost", 5000, -7, 1 },
    { "nothing comes before one that is due", 0, 5000, 1 },
};

static void check_requeue(void **state)
{
    const struct requeue_row *row = *state;
    struct actions p = { 0 };
    actions_requeue(&p, row->first);
    actions_requeue(&p, row->second);
    assert_int_equal(p.requeue_after_ms, row->want);
}

static void cleared_plan_is_empty(void **state)
{
    (void) state;
    struct actions p = { 0 };
    actions_add(&p, request_get(RESOURCE_NODE, NULL, "a"), VERB_MARK, "node/a", "R", "m");
    actions_requeue(&p, 5);
    actions_clear(&p);
    assert_int_equal(p.len, 0);
    assert_int_equal(p.requeue_after_ms, 0);
    actions_clear(&p);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "an empty plan says nothing", empty_plan_says_nothing, NULL);
    suite_add(&s, "actions keep their order and reasons", actions_keep_their_order_and_reasons,
              NULL);
    suite_add(&s, "notices are copied", notices_are_copied, NULL);
    SUITE_ROWS(&s, check_requeue, requeues);
    suite_add(&s, "a cleared plan is empty", cleared_plan_is_empty, NULL);
    return suite_run(&s, "plan");
}
