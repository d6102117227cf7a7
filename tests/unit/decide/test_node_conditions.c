/* Which conditions a Node gets, and when they are written. */
#include "reconcilers/decide/node_conditions.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/gpu_node_case.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define CONDITION_OF(type, members) "{'type':'" type "'," members ",'lastHeartbeatTime':'" NOW "'}"
#define TURNED(type, members)                                                                      \
    "{'type':'" type "'," members ",'lastHeartbeatTime':'" NOW "','lastTransitionTime':'" NOW "'}"
#define GONE(type) "{'$patch':'delete','type':'" type "'}"
#define NO_FAULT                                                                                   \
    "'status':'True','reason':'NoFault','message':'no fault of the node\\u0027s GPUs is known'"
#define NOT_REPORTED                                                                               \
    "'status':'Unknown','reason':'NotReported','message':'the node\\u0027s agent has not reported" \
    " since the node\\u0027s last boot'"
#define IGNORED                                                                                    \
    "'status':'Unknown','reason':'Ignored','message':'Ostler does nothing about faults of the "    \
    "node\\u0027s GPUs, because of its label ostler.dev/health=ignore; undo: kubectl label node "  \
    "a ostler.dev/health-'"
#define FAULT(status, reason, level, does)                                                         \
    "'status':'" status "','reason':'" reason                                                      \
    "','message':'GPU 0000:65:00.0 has the fault " reason ", which asks for " level "." does       \
    " status.health of the GpuNode a says more.'"
#define CLOSED79                                                                                   \
    FAULT("False", "Xid79", "Reboot",                                                              \
          " Ostler keeps new pods off the node; it opens after a reset or reboot and a "           \
          "validation.")
#define DRAINS "'status':'False','reason':'Draining','message':''"
#define STANDS                                                                                     \
    "closed for new pods since " BEFORE " because of the fault Xid79 of GPU 0000:65:00.0; "        \
    "running pods stay, and status.health says more"
#define UNHEALTHY "'status':'False','reason':'Xid79','message':'" STANDS "'"

static const struct fault_record closed79 = { .state = FAULT_CLOSED,
                                              .reason = "Xid79",
                                              .address = "0000:65:00.0",
                                              .since_s = 1795251600,
                                              .tainted = true };
static const struct fault_record proving79 = { .state = FAULT_PROVING,
                                               .reason = "Xid79",
                                               .address = "0000:65:00.0",
                                               .since_s = 1795251600,
                                               .tainted = true };
static const struct health_status xid79 = { .level = HEALTH_REBOOT,
                                            .reason = "Xid79",
                                            .address = "0000:65:00.0" };
static const struct health_status xid94 = { .level = HEALTH_RESET_WHEN_IDLE,
                                            .reason = "Xid94",
                                            .address = "0000:65:00.0" };
static const struct health_status xid95 = { .level = HEALTH_CLOSE,
                                            .reason = "Xid95",
                                            .address = "0000:65:00.0" };

static const struct row {
    const char *name;
    const char *ready, *healthy; /* what the conditions have; NULL: absent */
    enum health_mode mode;
    bool no_policy, unmanaged, unreported, left_alone;
    enum node_state state;
    const struct health_status *health;
    const struct fault_record *record;
    int told_ms, still_ready_ms;
    const char *want; /* the conditions of the patch; NULL: no write */
    int again_ms;
} rows[] = {
    { "all is said", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE, .state = NODE_READY },
    { "a new node gets both in one request", .mode = HEALTH_MODE_CLOSE, .state = NODE_READY,
      .want = TURNED("GpuReady", IS_READY) "," TURNED("GpuHealthy", NO_FAULT) },
    { "mode Observe has no word on health", .mode = HEALTH_MODE_OBSERVE, .state = NODE_READY,
      .health = &xid79, .want = TURNED("GpuReady", IS_READY) },
    { "the mode becomes Observe", IS_READY, NO_FAULT, .mode = HEALTH_MODE_OBSERVE,
      .state = NODE_READY, .want = GONE("GpuHealthy") },
    { "the policy goes", IS_READY, NO_FAULT, .no_policy = true, .state = NODE_REMOVING,
      .want = TURNED("GpuReady",
                     "'status':'False','reason':'Removing','message':''") "," GONE("GpuHealthy") },
    { "the node is being released", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE,
      .state = NODE_REMOVING,
      .want = TURNED("GpuReady",
                     "'status':'False','reason':'Removing','message':''") "," GONE("GpuHealthy") },
    { "the node is released", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE, .unmanaged = true,
      .state = NODE_UNMANAGED, .want = GONE("GpuReady") "," GONE("GpuHealthy") },
    { "another stack serves the node", .healthy = NO_FAULT, .mode = HEALTH_MODE_CLOSE,
      .state = NODE_FOREIGN, .want = GONE("GpuHealthy") },
    { "a node that is down keeps its word",
      .ready = "'status':'False','reason':'Lost','message':''", .healthy = NO_FAULT,
      .mode = HEALTH_MODE_CLOSE, .state = NODE_LOST },
    { "a fault that asks for less than Close", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE,
      .state = NODE_READY, .health = &xid94,
      .want = CONDITION_OF("GpuHealthy", FAULT("True", "Xid94", "ResetWhenIdle", "")) },
    { "a fault that asks for Close", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE,
      .state = NODE_READY, .health = &xid95,
      .want = TURNED("GpuHealthy", FAULT("False", "Xid95", "Close", "")) },
    { "it is followed by a worse one: no time of a transition", IS_READY,
      FAULT("False", "Xid95", "Close", ""), .mode = HEALTH_MODE_CLOSE, .state = NODE_READY,
      .health = &xid79, .want = CONDITION_OF("GpuHealthy", FAULT("False", "Xid79", "Reboot", "")) },
    { "a fault closes the node: one request", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE,
      .state = NODE_UNHEALTHY, .health = &xid79, .record = &closed79,
      .want = TURNED("GpuReady", UNHEALTHY) "," TURNED("GpuHealthy", CLOSED79) },
    { "that is said", UNHEALTHY, CLOSED79, .mode = HEALTH_MODE_CLOSE, .state = NODE_UNHEALTHY,
      .health = &xid79, .record = &closed79 },
    { "no source shows the fault of a closed node any longer", UNHEALTHY, CLOSED79,
      .told_ms = 60000, .mode = HEALTH_MODE_CLOSE, .state = NODE_UNHEALTHY, .record = &closed79,
      .want = CONDITION_OF("GpuHealthy", UNHEALTHY) },
    { "the fault has ended, and the node is validated", .healthy = CLOSED79,
      .ready = "'status':'False','reason':'Xid79','message':'the fault Xid79 of GPU 0000:65:00.0 "
               "has ended; the node is closed for new pods until a GPU is validated'",
      .mode = HEALTH_MODE_CLOSE, .state = NODE_UNHEALTHY, .record = &proving79,
      .want = TURNED("GpuHealthy", NO_FAULT) },
    { "no agent has reported since the boot", IS_READY, CLOSED79, .mode = HEALTH_MODE_CLOSE,
      .unreported = true, .state = NODE_READY, .want = TURNED("GpuHealthy", NOT_REPORTED) },
    { "a user has it ignored", IS_READY, CLOSED79, .mode = HEALTH_MODE_CLOSE, .left_alone = true,
      .state = NODE_READY, .health = &xid79, .want = TURNED("GpuHealthy", IGNORED) },
    { "a message a moment after the last write waits", IS_READY,
      "'status':'True','reason':'NoFault','message':'m'", .mode = HEALTH_MODE_CLOSE,
      .state = NODE_READY, .told_ms = 20000, .again_ms = 40000 },
    { "a minute after the last write it is written", IS_READY,
      "'status':'True','reason':'NoFault','message':'m'", .mode = HEALTH_MODE_CLOSE,
      .state = NODE_READY, .told_ms = 60000, .want = CONDITION_OF("GpuHealthy", NO_FAULT) },
    { "it goes with a write of the other condition",
      "'status':'False','reason':'PodStarting','message':''",
      "'status':'True','reason':'NoFault','message':'m'", .mode = HEALTH_MODE_CLOSE,
      .state = NODE_READY, .told_ms = 1000,
      .want = TURNED("GpuReady", IS_READY) "," CONDITION_OF("GpuHealthy", NO_FAULT) },
    { "a moment after its claim it is still said to be ready", IS_READY, NO_FAULT,
      .mode = HEALTH_MODE_CLOSE, .state = NODE_DRAINING, .still_ready_ms = 7000, .again_ms = 7000 },
    { "a fault is told all the same", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE,
      .state = NODE_DRAINING, .still_ready_ms = 7000, .health = &xid79, .record = &closed79,
      .want = TURNED("GpuHealthy", CLOSED79), .again_ms = 7000 },
    { "a node that was not ready before its claim", "'status':'False','reason':'x','message':''",
      NO_FAULT, .mode = HEALTH_MODE_CLOSE, .state = NODE_DRAINING, .still_ready_ms = 7000,
      .want = CONDITION_OF("GpuReady", DRAINS) },
    { "a claim that goes on", IS_READY, NO_FAULT, .mode = HEALTH_MODE_CLOSE, .state = NODE_DRAINING,
      .want = TURNED("GpuReady", DRAINS) },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct gpu_node_scene s;
    gpu_node_scene_init(&s, &(struct gpu_node_case){ .condition = row->ready,
                                                     .healthy = row->healthy,
                                                     .state = row->state,
                                                     .told_ms = row->told_ms });
    const struct health_spec spec = { .mode = row->mode };
    s.in.handling = (struct health_handling){ .spec = row->no_policy ? NULL : &spec,
                                              .left_alone = row->left_alone,
                                              .node = "a",
                                              .now_s = 1795255200 };
    if (row->record)
        s.in.handling.record = *row->record;
    s.in.reported = !row->unreported;
    s.in.health = row->health;
    s.in.still_ready_ms = row->still_ready_ms;
    bool written = node_conditions_plan(&s.in, &s.arena, !row->unmanaged, &s.actions);
    assert_int_equal(written, row->want != NULL);
    assert_int_equal(s.actions.len, written);
    assert_int_equal(s.actions.requeue_after_ms, row->again_ms);
    if (written) {
        CLEANUP_JSON json_t *body = gpu_node_scene_body(&s, VERB_CONDITION);
        CLEANUP_FREE char *want = xasprintf("[%s]", row->want);
        assert_tree(json_at(body, "status.conditions"), want);
    }
    gpu_node_scene_clear(&s);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "node_conditions");
}
