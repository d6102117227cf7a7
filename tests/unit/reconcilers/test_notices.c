/* Which steps and states of a node become Events, and that each is told once. */
#include "reconcilers/notices.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/action.h"
#include "tests/unit/support/suite.h"

/* A write of the node, in short: its reason. NONE: none. */
static const struct row {
    const char *name;
    enum reason write;
    struct node_summary before;
    struct node_verdict v;
    /* "Reason[!][@ACTION][#fault] ", "!" for a warning, "@" with the write that it goes with,
     * "#fault" in the share of faults */
    const char *want;
} rows[] = {
    { "a new node comes up",
      REASON_NONE,
      { .counted = true, .state = NODE_INSTALLING },
      { .state = NODE_READY },
      "GpuReady " },
    { "one that is as it was",
      REASON_NONE,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_READY },
      "" },
    { "a node opens that was closed for a fault, which is told elsewhere",
      REASON_NONE,
      { .counted = true, .state = NODE_UNHEALTHY },
      { .state = NODE_READY },
      "" },
    { "after a start nothing is news",
      REASON_NONE,
      { .counted = false },
      { .state = NODE_READY },
      "" },
    { "a step that people hear of",
      REASON_DRAINED,
      { .counted = true, .state = NODE_DRAINING, .moving = true },
      { .state = NODE_UNLOADING, .moving = true },
      "Drained@1 " },
    { "no pod had to leave",
      REASON_DRAINED,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_UNLOADING, .moving = true },
      "" },
    { "also after a start",
      REASON_DRAINED,
      { .counted = false },
      { .state = NODE_UNLOADING, .moving = true },
      "Drained@1 " },
    { "a step that is in the log alone",
      REASON_UNLOADED,
      { .counted = true, .state = NODE_UNLOADING, .moving = true },
      { .state = NODE_INSTALLING, .moving = true },
      "" },
    { "the end of an upgrade is told once",
      REASON_UPGRADED,
      { .counted = true, .state = NODE_VALIDATING, .moving = true },
      { .state = NODE_READY },
      "Upgraded@1 " },
    { "when its write was answered the node is just Ready",
      REASON_NONE,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_READY },
      "" },
    { "an upgrade that fails",
      REASON_UPGRADE_FAILED,
      { .counted = true, .state = NODE_INSTALLING, .moving = true },
      { .state = NODE_FAILED, .failed_with = REASON_ERROR, .reason = REASON_ERROR },
      "UpgradeFailed!@1 " },
    { "one that has failed",
      REASON_NONE,
      { .counted = true, .state = NODE_FAILED, .failed = true },
      { .state = NODE_FAILED, .failed_with = REASON_ERROR, .reason = REASON_ERROR },
      "" },
    { "an operand fails without an upgrade",
      REASON_NONE,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_FAILED, .reason = REASON_CRASH_LOOP_BACK_OFF },
      "CrashLoopBackOff! " },
    { "its reasons alternate",
      REASON_NONE,
      { .counted = true, .state = NODE_FAILED },
      { .state = NODE_FAILED, .reason = REASON_ERR_IMAGE_PULL },
      "" },
    { "removal waits for GPU pods",
      REASON_NONE,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_REMOVING, .reason = REASON_WAITING_FOR_GPU_PODS },
      "WaitingForGpuPods " },
    { "a request that Ostler ignores",
      REASON_NONE,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_READY, .refusal = REPAIR_NOT_ALLOWED },
      "RepairIgnored! " },
    { "a request that stays ignored causes one Event",
      REASON_NONE,
      { .counted = true, .state = NODE_READY, .refusal = REPAIR_NOT_ALLOWED },
      { .state = NODE_READY, .refusal = REPAIR_NOT_ALLOWED },
      "" },
    { "and not again after a start",
      REASON_NONE,
      { .counted = false },
      { .state = NODE_READY, .refusal = REPAIR_NOT_ALLOWED },
      "" },
    { "it is ignored for another reason",
      REASON_NONE,
      { .counted = true, .state = NODE_READY, .refusal = REPAIR_NOT_ALLOWED },
      { .state = NODE_READY, .refusal = REPAIR_HELD },
      "RepairIgnored! " },
    { "it is ignored no longer",
      REASON_NONE,
      { .counted = true, .state = NODE_READY, .refusal = REPAIR_HELD },
      { .state = NODE_READY },
      "" },
    { "a node that is closed says so by its write",
      REASON_CLAIMED_WAITING,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_WAITING, .moving = true },
      "ClaimedWaiting@1 " },
    { "what becomes of a fault has limits of its own",
      REASON_GPU_WITHHELD,
      { .counted = true, .state = NODE_READY },
      { .state = NODE_READY },
      "GpuWithheld!@1#fault " },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct node node = { .head = { .uid = "u" } };
    struct node_slot slot = { .name = (char *) "gpu-1", .node = &node, .summary = row->before };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_BUF struct buf got = BUF_INIT(1000);
    CLEANUP_JSON json_t *patch = json_array();
    if (row->write)
        action_add(&actions, request_json_patch(RESOURCE_NODE, NULL, "gpu-1", patch), VERB_MARK,
                   "node/gpu-1", row->write, "a sentence");
    notice_node(&slot, &row->v, &actions);
    for (size_t i = 0; i < actions.notice_count; i++) {
        const struct notice *n = &actions.notices[i];
        buf_printf(&got, "%s%s", n->reason, n->warning ? "!" : "");
        if (n->of_action)
            buf_printf(&got, "@%zu", n->of_action);
        if (n->share == EVENTS_OF_FAULTS)
            buf_str(&got, "#fault");
        buf_str(&got, " ");
        assert_string_equal(n->name, "gpu-1");
    }
    assert_string_equal(buf_text(&got), row->want);
}

static void pod_that_does_not_come_up_is_named(void **state)
{
    (void) state;
    struct node node = { .head = { .uid = "u" } };
    struct node_slot slot = { .name = (char *) "gpu-1",
                              .node = &node,
                              .summary = { .counted = true, .state = NODE_READY } };
    const struct node_verdict v = { .state = NODE_FAILED,
                                    .reason = REASON_ERR_IMAGE_PULL,
                                    .pod = "ops/driver-x",
                                    .message = "ErrImagePull: r/a:1: manifest unknown" };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    notice_node(&slot, &v, &actions);
    assert_int_equal(actions.notice_count, 1);
    assert_string_equal(actions.notices[0].note,
                        "ErrImagePull: r/a:1: manifest unknown, pod ops/driver-x");
}

/* Looks at the images of one node, one after another. */
static void image_is_told_once_until_it_is_there(void **state)
{
    (void) state;
    static const struct {
        struct images images;
        bool known;
        const char *want; /* in the Event; NULL: there is none */
    } looks[] = {
        { { .state = IMAGES_MISSING, .image = "r/a:1", .words = "no" }, false, NULL },
        { { .state = IMAGES_MISSING, .image = "r/a:1", .words = "no" }, true, NULL },
        { { .state = IMAGES_MISSING, .image = "r/b:1", .words = "no such tag" },
          true,
          "r/b:1: no such tag" },
        { { .state = IMAGES_PULLING }, true, NULL },
        { { .state = IMAGES_MISSING, .image = "r/b:1", .words = "back-off" }, true, NULL },
        { { .state = IMAGES_MISSING, .words = "the pod was ended" }, true, NULL },
        { { .state = IMAGES_READY }, true, NULL },
        { { .state = IMAGES_MISSING, .image = "r/b:1", .words = "gone again" },
          true,
          "r/b:1: gone again" },
    };
    struct node node = { .head = { .uid = "u" } };
    struct node_slot slot = { .name = (char *) "gpu-1", .node = &node };
    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        CLEANUP_ACTIONS struct actions actions = { 0 };
        notice_images(&slot, &looks[i].images, looks[i].known, &actions);
        assert_int_equal(actions.notice_count, looks[i].want != NULL);
        if (!looks[i].want)
            continue;
        assert_true(actions.notices[0].warning);
        assert_string_equal(actions.notices[0].reason, "ImagePullFailed");
        assert_non_null(strstr(actions.notices[0].note, looks[i].want));
    }
}

static void pods_that_fail_at_once_are_told_once(void **state)
{
    (void) state;
    static const struct {
        enum black_hole_step step;
        bool proving;
        const char *want; /* how its note ends; NULL: there is no Event */
    } cases[] = {
        { BLACK_HOLE_ASKED, false, "Ostler runs a CUDA program on a GPU of the node" },
        { BLACK_HOLE_ASKED, true, NULL },
        { BLACK_HOLE_TOLD, false, "or the node's label ostler.dev/health says" },
        { BLACK_HOLE_PASSED, true, NULL },
        { BLACK_HOLE_NOTHING, false, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct node node = { .head = { .uid = "u" } };
        struct black_hole hole = { .proving = cases[i].proving };
        struct node_slot slot = { .name = (char *) "gpu-1", .node = &node, .hole = &hole };
        CLEANUP_ACTIONS struct actions actions = { 0 };
        notice_black_hole(&slot, cases[i].step, 10, &actions);
        assert_int_equal(actions.notice_count, cases[i].want != NULL);
        if (!cases[i].want)
            continue;
        assert_string_equal(actions.notices[0].reason, "BlackHole");
        assert_true(actions.notices[0].warning);
        assert_non_null(strstr(actions.notices[0].note, cases[i].want));
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "a pod that does not come up is named", pod_that_does_not_come_up_is_named, NULL);
    suite_add(&s, "an image that cannot be pulled is told once, until it is there",
              image_is_told_once_until_it_is_there, NULL);
    suite_add(&s, "pods that fail at once are told once", pods_that_fail_at_once_are_told_once,
              NULL);
    return suite_run(&s, "notices");
}
