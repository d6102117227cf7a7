/* What a report says happens next on a node: of each state, of each step of a claim, and of each
 * reason for which the rollout holds it back. */
#include "reconcilers/decide/next_step.h"

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/waiting_for.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* 2026-11-20T10:00:00Z */
#define T0 INT64_C(1795168800)
#define T0_TEXT "2026-11-20T10:00:00Z"
#define BACK "; the node returns to service when its operands come up"
#define HELD                                                                                       \
    "a user holds it with the label ostler.dev/hold; the upgrade starts when the label is removed"

/* A node as its pass leaves it, and one that is claimed. */
#define IS(s, r) .state = NODE_##s, .reason = REASON_##r
#define CLAIMED(s, r) IS(s, r), .claimed = true

static const struct row {
    const char *name;
    enum node_state state;
    enum reason reason;
    const char *word; /* of a reason that is no row of the table */
    bool claimed, outdated;
    bool limitless;      /* nothing ends the step of its claim by itself */
    bool held;           /* by a user */
    const char *failed;  /* what the policy asks for and what failed */
    const char *failure; /* on which node, and why; with `failed` */
    enum rollout_hold hold;
    const char *want; /* NULL: nothing */
} rows[] = {
    /* At rest. */
    { .name = "it runs what the policy says", IS(READY, NONE) },
    { .name = "another stack serves it", IS(FOREIGN, FOREIGN_STACK) },
    { .name = "Ostler leaves it alone", IS(UNMANAGED, NONE) },
    { .name = "it works, and its exporter does not", IS(READY, METRICS_MISSING) },
    { .name = "the rollout has not decided about it yet", IS(READY, NONE), .outdated = true },

    /* New, broken and going. */
    { .name = "new",
      IS(DISCOVERED, WAITING_FOR_REVISION),
      .want = "{'reason':'WaitingForRevision','message':'then Ostler installs driver, toolkit and "
              "device plugin'}" },
    { .name = "its operands come",
      IS(INSTALLING, POD_STARTING),
      .want = "{'reason':'PodStarting','message':'when every operand is up, a CUDA program must "
              "run on a GPU; then the node is Ready'}" },
    { .name = "its toolkit comes in turn",
      IS(INSTALLING, WAITING_FOR_TOOLKIT),
      .want = "{'reason':'WaitingForToolkit','message':'the node gets its toolkit in turn'}" },
    { .name = "the toolkit broke another node",
      IS(INSTALLING, TOOLKIT_STOPPED),
      .want = "{'reason':'ToolkitStopped','message':'nothing, until the node that status.message "
              "names comes up with the "
              "toolkit'}" },
    { .name = "a program runs on a GPU",
      IS(VALIDATING, VALIDATING),
      .want = "{'reason':'Validating','message':'when a CUDA program has run on a GPU of the node, "
              "it is Ready'}" },
    { .name = "a word of the kubelet's",
      IS(FAILED, OTHER),
      .word = "OdError",
      .want = "{'reason':'OdError','message':'Ostler keeps trying; when the operand comes up, "
              "the node is Ready'}" },
    { .name = "a claim of a later Ostler",
      IS(FAILED, CLAIM_UNREADABLE),
      .want = "{'reason':'ClaimUnreadable','message':'nothing, until a user does what "
              "status.message says'}" },
    { .name = "no driver image exists for it",
      IS(UNSUPPORTED, NO_DRIVER_IMAGE),
      .want = "{'reason':'NoDriverImage','message':'nothing, until a user solves the problem in "
              "status.message'}" },
    { .name = "it is let go of",
      IS(REMOVING, WAITING_FOR_GPU_PODS),
      .want = "{'reason':'WaitingForGpuPods','message':'when nothing blocks the node, Ostler "
              "removes driver, "
              "labels and taints'}" },
    { .name = "down",
      IS(LOST, NODE_NOT_READY),
      .want = "{'reason':'NodeNotReady','message':'when the node is Ready again, Ostler continues; "
              "until then no timeout runs'}" },
    { .name = "down with a claim: its timeouts stand still",
      CLAIMED(LOST, NODE_NOT_READY),
      .hold = ROLLOUT_HOLD_DOWN,
      .want = "{'reason':'NodeNotReady','message':'when the node is Ready again, Ostler continues; "
              "until then no timeout runs'}" },

    /* In service, and to run something else: one row for each hold that a node is told of. */
    { .name = "paused",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_PAUSED,
      .want = "{'reason':'Paused'}" },
    { .name = "not approved",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_APPROVAL,
      .want = "{'reason':'WaitingForApproval'}" },
    { .name = "no window: its time is in the policy's status",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_WINDOW,
      .want = "{'reason':'WaitingForWindow'}" },
    { .name = "its revision failed",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_FAILED,
      .want = "{'reason':'RevisionFailed'}" },
    { .name = "images",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_IMAGES,
      .want = "{'reason':'WaitingForImages'}" },
    { .name = "the canary",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_CANARY,
      .want = "{'reason':'CanaryRunning'}" },
    { .name = "a soak: its time is in the policy's status",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_SOAK,
      .want = "{'reason':'Soaking'}" },
    { .name = "no place",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_PARALLEL,
      .want = "{'reason':'MaxParallel'}" },
    { .name = "a budget is no other reason than places, or all would be written again and again",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_GPUS,
      .want = "{'reason':'MaxParallel'}" },
    { .name = "nor is a domain",
      IS(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_DOMAIN,
      .want = "{'reason':'MaxParallel'}" },
    { .name = "held",
      IS(READY, NONE),
      .outdated = true,
      .held = true,
      .hold = ROLLOUT_HOLD_SKIPPED,
      .want = "{'reason':'NodesSkipped'}" },
    { .name = "a turn comes before what is broken besides",
      IS(READY, METRICS_MISSING),
      .outdated = true,
      .hold = ROLLOUT_HOLD_PARALLEL,
      .want = "{'reason':'MaxParallel'}" },
    { .name = "a broken node is not told of its turn",
      IS(FAILED, CRASH_LOOP_BACK_OFF),
      .outdated = true,
      .hold = ROLLOUT_HOLD_PARALLEL,
      .want = "{'reason':'CrashLoopBackOff','message':'Ostler keeps trying; when the operand "
              "comes up, the node is Ready'}" },
    { .name = "a version failed on another node, and it runs an earlier one",
      IS(READY, NONE),
      .failed = "driver 580.1",
      .failure = "a-1 Error",
      .want = "{'reason':'RevisionFailed','message':'nothing, until a user corrects the policy or "
              "retries the version'}" },
    { .name = "a version failed there, and it runs an earlier one",
      IS(READY, NONE),
      .failed = "driver 580.1",
      .failure = "a Error",
      .want = "{'reason':'RolledBack','message':'nothing, until a user corrects the policy or "
              "retries the version'}" },

    /* Claimed: the step's own end. */
    { .name = "jobs run",
      CLAIMED(WAITING, WAITING_FOR_JOBS),
      .hold = ROLLOUT_HOLD_PARALLEL,
      .want = "{'reason':'WaitingForJobs','until':'" T0_TEXT "','message':'then'}" },
    { .name = "jobs run without limit",
      CLAIMED(WAITING, WAITING_FOR_JOBS),
      .limitless = true,
      .want = "{'reason':'WaitingForJobs','message':'then'}" },
    { .name = "pods leave",
      CLAIMED(DRAINING, DRAINING),
      .want = "{'reason':'Draining','until':'" T0_TEXT "','message':'then'}" },
    { .name = "the old version goes",
      CLAIMED(UNLOADING, UNLOADING),
      .want = "{'reason':'Unloading','until':'" T0_TEXT "','message':'then'}" },
    { .name = "the new version comes",
      CLAIMED(INSTALLING, UPGRADING),
      .want = "{'reason':'Upgrading','until':'" T0_TEXT "','message':'then'}" },
    { .name = "and is tried",
      CLAIMED(VALIDATING, VALIDATING),
      .want = "{'reason':'Validating','until':'" T0_TEXT "','message':'then'}" },
    { .name = "it failed",
      CLAIMED(FAILED, NO_ALLOCATABLE_GPUS),
      .hold = ROLLOUT_HOLD_PARALLEL,
      .want = "{'reason':'WaitingToRetry','until':'" T0_TEXT "','message':'then'}" },
    { .name = "its drain took too long, and it serves",
      CLAIMED(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_PARALLEL,
      .want = "{'reason':'WaitingToRetry','until':'" T0_TEXT "','message':'then'}" },

    /* Claimed, and the rollout is closed to it. */
    { .name = "its jobs are over, and the rollout is paused",
      CLAIMED(WAITING, WAITING_FOR_JOBS),
      .hold = ROLLOUT_HOLD_PAUSED,
      .want =
          "{'reason':'Paused','message':'the upgrade starts when spec.rollout.paused is false'}" },
    { .name = "its jobs are over, and a user holds it",
      CLAIMED(WAITING, WAITING_FOR_JOBS),
      .held = true,
      .hold = ROLLOUT_HOLD_SKIPPED,
      .want = "{'reason':'NodesSkipped','message':'" HELD "'}" },
    { .name = "it failed, and the rollout is paused",
      CLAIMED(FAILED, NO_ALLOCATABLE_GPUS),
      .hold = ROLLOUT_HOLD_PAUSED,
      .want =
          "{'reason':'Paused','message':'the upgrade starts when spec.rollout.paused is false" BACK
          "'}" },
    { .name = "it failed, and a user holds it",
      CLAIMED(FAILED, NO_ALLOCATABLE_GPUS),
      .held = true,
      .hold = ROLLOUT_HOLD_SKIPPED,
      .want = "{'reason':'NodesSkipped','message':'" HELD BACK "'}" },
    { .name = "its drain took too long, and the rollout is paused",
      CLAIMED(READY, NONE),
      .outdated = true,
      .hold = ROLLOUT_HOLD_PAUSED,
      .want =
          "{'reason':'Paused','message':'the upgrade starts when spec.rollout.paused is false'}" },
    { .name = "what has begun is finished, also in a pause",
      CLAIMED(INSTALLING, UPGRADING),
      .hold = ROLLOUT_HOLD_PAUSED,
      .want = "{'reason':'Upgrading','until':'" T0_TEXT "','message':'then'}" },
};

struct scene {
    struct intern *strings;
    struct node *node;
    struct tally tally;
    struct node_summary summary;
};

static void scene_make(struct scene *s, const struct row *row)
{
    CLEANUP_JSON json_t *node = tree(
        row->held ? "{'metadata':{'name':'a','uid':'u','labels':{'ostler.dev/hold':'true'}}}"
                  : "{'metadata':{'name':'a','uid':'u'}}");
    struct node_verdict v = {
        .state = row->state,
        .reason = row->reason,
        .word = row->word,
        .message = row->reason ? "m" : NULL,
        .cause = OPERAND_NONE,
        .carried = { { "d1", "s1" } },
        .target = { { "d1", "s1" } },
        .next_text = row->claimed ? "then" : NULL,
        .next_s = row->claimed && !row->limitless ? T0 : 0,
        .moving = row->claimed && row->state != NODE_FAILED && row->state != NODE_READY,
    };
    if (row->outdated)
        v.target = (struct assignment){ { "d2", "s1" } };
    *s = (struct scene){ .strings = intern_new(), .summary = { .name = "a" } };
    s->node = node_project(s->strings, node);
    assert_true(tally_set(&s->tally, &s->summary, &v));
}

static void scene_clear(struct scene *s)
{
    tally_remove(&s->tally, &s->summary);
    tally_clear(&s->tally);
    node_free(s->strings, s->node);
    intern_free(s->strings);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct scene s;
    scene_make(&s, row);
    CLEANUP_ARENA struct arena a = { 0 };
    struct gpu_node_input in = { .name = "a",
                                 .node = s.node,
                                 .summary = &s.summary,
                                 .strings = s.strings,
                                 .hold = row->hold,
                                 .failed = row->failed,
                                 .failure = row->failure };
    CLEANUP_JSON json_t *next = next_step(&in, &a);
    if (row->want)
        assert_tree(next, row->want);
    else
        assert_null(next);
    scene_clear(&s);
}

/* Every reason is a word of the table, so that people can look it up: only a kubelet's may be
 * another. */
static void every_reason_is_in_the_table(void **state)
{
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!rows[i].want || rows[i].word)
            continue;
        CLEANUP_JSON json_t *want = tree(rows[i].want);
        assert_int_not_equal(reason_parse(json_str(want, "reason")), REASON_OTHER);
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "every reason is in the table", every_reason_is_in_the_table, NULL);
    return suite_run(&s, "next_step");
}
