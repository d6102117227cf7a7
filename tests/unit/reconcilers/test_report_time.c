/* When a node's state is told of: what lasts a moment is not, what is gone at once. */
#include "reconcilers/reconcilers.h"

#include "base/log.h"
#include "runtime/loop.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"

#define POLICY                                                                                     \
    "{'metadata': {'name': 'default', 'uid': 'u', 'resourceVersion': '2', 'generation': 1}, "      \
    "'spec': {}}"
#define NODE                                                                                       \
    "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '3'}, 'status': "               \
    "{'conditions': [{'type': 'GpuReady', "                                                        \
    "'status': 'True', 'reason': 'OperandsUp', 'message': 'every operand of the node is up'}]}}"
#define CLAIMED                                                                                    \
    "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '3', 'annotations': "           \
    "{'ostler.dev/claim': 'x'}}, 'status': {'conditions': [{'type': 'GpuReady', "                  \
    "'status': 'True', 'reason': 'OperandsUp', 'message': 'every operand of the node is up'}]}}"
#define REPORT(reason)                                                                             \
    "{'metadata': {'name': 'gpu-1', 'uid': 'r', 'resourceVersion': '4', 'ownerReferences': "       \
    "[{'kind': 'Node', 'uid': 'n'}]}, "                                                            \
    "'status': {'state': 'Ready', 'reason': '" reason "'}}"
#define PULLS(reason)                                                                              \
    "{'metadata': {'name': 'ostler-pull-gpu-1', 'namespace': 'operands', 'uid': 'p', "             \
    "'resourceVersion': '5', 'labels': "                                                           \
    "{'app.kubernetes.io/managed-by': 'ostler', 'ostler.dev/task': 'pull', "                       \
    "'ostler.dev/policy-uid': 'u', "                                                               \
    "'ostler.dev/revision': 'd1.s2'}}, 'spec': {'nodeName': 'gpu-1', 'containers': [{'name': "     \
    "'x', 'image': 'a'}]}, "                                                                       \
    "'status': {'phase': 'Pending', "                                                              \
    "'containerStatuses': [{'name': 'x', 'image': 'a', 'imageID': '', 'state': {'waiting': "       \
    "{'reason': '" reason "'}}}]}}"

static const struct row {
    const char *name;
    enum node_state state;
    int64_t entered_ago_ms; /* 0: it was in it when Ostler was started */
    int64_t untold_ago_ms;  /* 0: what was before was told */
    bool waits_for_turn;
    int64_t turn_ago_ms; /* 0: it begins to wait now */
    const char *said;    /* the report that there is; NULL: that every operand is up */
    size_t moving;       /* nodes that are upgraded beside it, which has a claim then; 0: none */
    const char *trouble; /* why a pod does not come up; NULL: nothing is wrong */
    const char *pulls;   /* the pod that pulls its images; NULL: there is none */
    int64_t again_ms;    /* when it is looked at again; 0: it is told of now */
} rows[] = {
    { .name = "a state that it was in all the time", .state = NODE_INSTALLING },
    { .name = "one that may be over in a moment",
      .state = NODE_UNLOADING,
      .entered_ago_ms = 1000,
      .again_ms = 2000 },
    { .name = "one that lasts",
      .state = NODE_UNLOADING,
      .entered_ago_ms = 3000,
      .untold_ago_ms = 3000 },
    { .name = "another one again",
      .state = NODE_INSTALLING,
      .entered_ago_ms = 500,
      .untold_ago_ms = 9000,
      .again_ms = 2500 },
    { .name = "another one again and again",
      .state = NODE_INSTALLING,
      .entered_ago_ms = 500,
      .untold_ago_ms = 10000 },
    { .name = "a step, while many nodes take steps",
      .state = NODE_UNLOADING,
      .moving = 50,
      .entered_ago_ms = 5000,
      .again_ms = 28000 },
    { .name = "a step, while a thousand nodes take steps",
      .state = NODE_DRAINING,
      .moving = 1000,
      .entered_ago_ms = 59000,
      .again_ms = 1000 },
    { .name = "a step that lasts, while a thousand nodes take steps",
      .state = NODE_DRAINING,
      .moving = 1000,
      .entered_ago_ms = 60000,
      .untold_ago_ms = 60000 },
    { .name = "step after step, while a thousand nodes take steps",
      .state = NODE_INSTALLING,
      .moving = 1000,
      .entered_ago_ms = 500,
      .untold_ago_ms = 119000,
      .again_ms = 59500 },
    { .name = "step after step for long, while a thousand nodes take steps",
      .state = NODE_INSTALLING,
      .moving = 1000,
      .entered_ago_ms = 500,
      .untold_ago_ms = 120000 },
    { .name = "a step, while few nodes take steps",
      .state = NODE_VALIDATING,
      .moving = 1,
      .entered_ago_ms = 3000,
      .again_ms = 600 },
    { .name = "a step in which something is wrong",
      .state = NODE_INSTALLING,
      .moving = 1000,
      .trouble = "ErrImagePull: no such image",
      .entered_ago_ms = 3000 },
    { .name = "it works again, while many nodes take steps",
      .state = NODE_READY,
      .moving = 1000,
      .entered_ago_ms = 3000 },
    { .name = "it waits, while many nodes take steps",
      .state = NODE_WAITING,
      .moving = 1000,
      .entered_ago_ms = 3000 },
    { .name = "a released node does not wait", .state = NODE_UNMANAGED, .entered_ago_ms = 1 },
    { .name = "works, and begins to wait for its turn",
      .state = NODE_READY,
      .waits_for_turn = true,
      .again_ms = 30000 },
    { .name = "waits for its turn, and is said to have been rolled back",
      .state = NODE_READY,
      .waits_for_turn = true,
      .said = REPORT("RolledBack") },
    { .name = "waits for its turn, and a version is said to have failed elsewhere",
      .state = NODE_READY,
      .waits_for_turn = true,
      .said = REPORT("RevisionFailed") },
    { .name = "has waited for its turn",
      .state = NODE_READY,
      .waits_for_turn = true,
      .turn_ago_ms = 10000,
      .again_ms = 20000 },
    { .name = "pulls its images",
      .state = NODE_READY,
      .waits_for_turn = true,
      .pulls = PULLS("ContainerCreating"),
      .again_ms = 30000 },
    { .name = "cannot get an image",
      .state = NODE_READY,
      .waits_for_turn = true,
      .pulls = PULLS("ErrImagePull") },
    { .name = "waits long for its turn",
      .state = NODE_READY,
      .waits_for_turn = true,
      .turn_ago_ms = 30000 },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct cluster c;
    struct loop *loop = loop_new(&quiet_clock);
    struct informer_options o = { .resource = RESOURCE_GPU_NODE, .optional = true };
    cluster_init(&c,
                 &(struct cluster_options){ .operand_namespace = "operands",
                                            .limits = { "nvcr.io/nvidia", "*", NULL, true, true },
                                            .clock = &quiet_clock,
                                            .listener = quiet_listener });
    c.informers[RESOURCE_GPU_NODE] = informer_new(&o, &c.tables[RESOURCE_GPU_NODE], NULL, loop,
                                                  NULL, NULL);
    quiet_event(&c, RESOURCE_POLICY, POLICY, false);
    quiet_event(&c, RESOURCE_NODE, row->moving ? CLAIMED : NODE, false);
    quiet_event(&c, RESOURCE_GPU_NODE, row->said ? row->said : REPORT("OperandsUp"), false);
    struct node_slot *slot = map_get(&c.slots, "gpu-1");
    struct node_verdict v = { .state = row->state,
                              .carried = { { "d1", "s1" } },
                              .trouble = row->trouble,
                              .target.hash[TIER_STACK] = "s2" };
    tally_set(&c.tally, &slot->summary, &v);
    c.tally.moving += row->moving;
    slot->entered_ms = row->entered_ago_ms ? QUIET_MONO_MS - row->entered_ago_ms : 0;
    slot->untold_ms = row->untold_ago_ms ? QUIET_MONO_MS - row->untold_ago_ms : 0;
    slot->turn_ms = row->turn_ago_ms ? QUIET_MONO_MS - row->turn_ago_ms : 0;
    slot->hold = row->pulls            ? ROLLOUT_HOLD_IMAGES
                 : row->waits_for_turn ? ROLLOUT_HOLD_PARALLEL
                                       : ROLLOUT_HOLD_NONE;
    if (row->pulls)
        quiet_event(&c, RESOURCE_TASK, row->pulls, false);

    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct reconcilers r = { .cluster = &c };
    report_reconcile(&r, "gpu-1", &actions);
    assert_int_equal(actions.len > 0, row->again_ms == 0);
    assert_int_equal(actions.requeue_after_ms, row->again_ms);
    if (actions.len && row->moving && !row->trouble && row->state != NODE_READY &&
        row->state != NODE_WAITING)
        assert_int_equal(slot->entered_ms,
                         QUIET_MONO_MS); /* what it waits for is not told at once */

    informer_free(c.informers[RESOURCE_GPU_NODE]);
    cluster_clear(&c);
    loop_free(loop);
}

int main(void)
{
    log_setup(LOG_SILENT, false);
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add(&s, rows[i].name, check, (void *) &rows[i]);
    return suite_run(&s, "report time");
}
