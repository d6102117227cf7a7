/* When the health of a node's GPUs is written to its GpuNode, and when not. */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/decide/gpu_node.h"
#include "reconcilers/model/names.h"
#include "reconcilers/reconcilers.h"
#include "runtime/loop.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define POLICY(mode)                                                                               \
    "{'metadata': {'name': 'default', 'uid': 'u', 'resourceVersion': '2', 'generation': 1}, "      \
    "'spec': {'health': {'mode': '" mode "'}}}"
#define NODE(labels, conditions)                                                                   \
    "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '3', 'labels': {" labels        \
    "}}, 'status': {'nodeInfo': {'bootID': 'b'}, 'conditions': [{'type': 'GpuReady', 'status': "   \
    "'True', 'reason': 'OperandsUp', 'message': 'every operand of the node is up'}" conditions     \
    "]}}"
#define AT "2026-11-20T09:00:00Z"
#define SINCE "2026-11-20T09:00:10Z"
#define NOW "2026-11-20T10:00:00Z"
#define FAULT(count)                                                                               \
    "{'address': '0000:65:00.0', 'xid': 79, 'count': " count ", 'first': '" AT "', 'last': '" AT   \
    "', 'bootId': 'b'}"
#define DO                                                                                         \
    "Drain the node and power it off and on; if that does not help, the GPU or its slot is "       \
    "broken."
#define ADVICE "; NVIDIA\\u0027s advice: restart the machine. " DO
#define SAYS(times, since)                                                                         \
    "'level': 'Reboot', 'reason': 'Xid79', 'address': '0000:65:00.0', 'since': '" since            \
    "', 'state': 'Reported', 'message': 'GPU 0000:65:00.0: Xid 79 (GPU has fallen off the bus) "   \
    "came " times ADVICE "'"
#define ONCE "once, at " AT
#define THRICE "3 times, first at " AT ", last at " AT
#define ANY "{'x-kubernetes-preserve-unknown-fields': true}"
#define NO_HEALTH                                                                                  \
    "{'type': 'object', 'properties': {'state': {}, 'reason': {}, 'message': {}, 'since': {}, "    \
    "'driver': " ANY ", 'stack': " ANY ", 'policyGeneration': {}}}"

#define DRIVER_POD(name, made, ready, more)                                                        \
    "{'metadata': {'name': '" name "', 'namespace': 'operands', 'uid': '" name                     \
    "', 'resourceVersion': '5', 'creationTimestamp': '" made "', " more                            \
    "'labels': {'app.kubernetes.io/managed-by': 'ostler', 'app.kubernetes.io/component': "         \
    "'driver'}, 'ownerReferences': [{'kind': 'DaemonSet', 'name': 'd', 'uid': 's', "               \
    "'controller': true}]}, 'spec': {'nodeName': 'gpu-1', 'containers': [{'name': 'x', 'image': "  \
    "'a'}]}, 'status': {'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': '" ready    \
    "'}]}}"
#define REMAP                                                                                      \
    "'level': 'Human', 'reason': 'RowRemapFailed', 'address': '0000:65:00.0', 'since': '" SINCE    \
    "', 'state': 'Reported', 'message': 'm'"
#define HANGS                                                                                      \
    "'level': 'Close', 'reason': 'GpuHangs', 'address': '0000:65:00.0', 'since': '" SINCE          \
    "', 'state': 'Reported', 'message': 'm'"
#define LEAVES "'deletionTimestamp': '2026-11-20T09:59:00Z', "
#define MADE "2026-11-20T09:30:00Z"
#define OLD_FAULT                                                                                  \
    "{'address': '0000:65:00.0', 'xid': 95, 'count': 1, 'first': '" AT "', 'last': '" AT           \
    "', 'bootId': 'b'}"

#define CLOSE95(since)                                                                             \
    "'level': 'Close', 'reason': 'Xid95', 'address': '0000:65:00.0', 'since': '" since             \
    "', 'state': 'Reported', 'message': 'GPU 0000:65:00.0: Xid 95 (memory error that may reach "   \
    "all programs) "                                                                               \
    "came " ONCE                                                                                   \
    "; NVIDIA\\u0027s advice: reset the GPU. Give the node no new jobs, and when its jobs "        \
    "have ended, reset the GPU or reboot the node. After a reset, the fault stays listed until "   \
    "the node "                                                                                    \
    "reboots.'"

#define NO_FAULT                                                                                   \
    "'status': 'True', 'reason': 'NoFault', 'message': 'no fault of the node\\u0027s GPUs is "     \
    "known'"
#define UNHEALTHY(does)                                                                            \
    "'status': 'False', 'reason': 'Xid79', 'message': 'GPU 0000:65:00.0 has the fault Xid79, "     \
    "which asks for Reboot." does " status.health of the GpuNode gpu-1 says more.'"
#define CONFIRMS " Ostler looks once more before it closes the node."
#define CLOSES                                                                                     \
    " Ostler keeps new pods off the node; it opens after a reset or reboot and a validation."
#define REPAIRS " Ostler repairs the node."
#define IGNORES                                                                                    \
    " Ostler does nothing about it, because a user removed the taint ostler.dev/unhealthy; undo: " \
    "kubectl annotate node gpu-1 ostler.dev/fault-."
#define LEAVES_ALONE                                                                               \
    " Ostler does nothing about it, because of the node\\u0027s label ostler.dev/health=ignore; "  \
    "undo: kubectl label node gpu-1 ostler.dev/health-."
#define CLOSED_SENTENCE                                                                            \
    "closed for new pods since 2026-11-20T09:00:20Z because of the fault Xid79 of GPU "            \
    "0000:65:00.0; running pods stay, and status.health says more"
#define IS(state, since, does)                                                                     \
    "'level': 'Reboot', 'reason': 'Xid79', 'address': '0000:65:00.0', 'since': '" since            \
    "', 'state': '" state                                                                          \
    "', 'message': 'GPU 0000:65:00.0: Xid 79 (GPU has fallen off the bus) came " ONCE              \
    "; NVIDIA\\u0027s advice: restart the machine." does "'"
#define SAME(type, members) "{'type': '" type "', " members ", 'lastHeartbeatTime': '" NOW "'}"
#define TURNED(type, members)                                                                      \
    "{'type': '" type "', " members ", 'lastHeartbeatTime': '" NOW                                 \
    "', 'lastTransitionTime': '" NOW "'}"

enum { PODS_MAX = 2 };

static const struct row {
    const char *name;
    const char *says;   /* status.health of the report; NULL: absent */
    const char *faults; /* of the inventory */
    const char *known;  /* the schema of an older CRD; NULL: it has all */
    const char *writes; /* status.health that is written; "": none within a write; NULL: no write */
    const char *event;  /* reason; NULL: none */
    int64_t told_ago_ms; /* 0: not by this process */
    int64_t quiet_s;     /* how long the driver's change lies back; 0: none */
    int64_t again_ms;
    enum node_state state;
    bool waits;                 /* for its turn in the rollout, since this moment */
    const char *pods[PODS_MAX]; /* events of pods of its driver; a pass follows on each */
    const char *claim;          /* its phase; NULL: none */
    bool repairs;               /* the claim's kind is Repair */
    const char *nvml;           /* of the inventory; NULL: absent */
    bool falls_silent;          /* a pass later it is absent */
    bool acts;                  /* the mode is Close; else Observe */
    const char *record;         /* what Ostler has done about a fault: its state; NULL: nothing */
    bool taint;                 /* with the taint */
    bool left_alone;            /* a user's label */
    const char *healthy;        /* what GpuHealthy has, in mode Close; NULL: absent */
    const char *conditions;     /* that are written; NULL: none */
} rows[] = {
    { .name = "a healthy node", .faults = "", .state = NODE_READY },
    { .name = "a fault",
      .faults = FAULT("1"),
      .writes = SAYS(ONCE, NOW),
      .event = "GpuFault",
      .state = NODE_READY },
    { .name = "a fault of a node that begins to wait for its turn",
      .faults = FAULT("1"),
      .writes = SAYS(ONCE, NOW),
      .event = "GpuFault",
      .state = NODE_READY,
      .waits = true },
    { .name = "a node that begins to wait for its turn, with a fault that is told",
      .says = SAYS(ONCE, SINCE),
      .faults = FAULT("1"),
      .again_ms = 30000,
      .state = NODE_READY,
      .waits = true },
    { .name = "a fault that is told",
      .says = SAYS(ONCE, SINCE),
      .faults = FAULT("1"),
      .state = NODE_READY },
    { .name = "it comes again, and Ostler has just started",
      .says = SAYS(ONCE, SINCE),
      .faults = FAULT("3"),
      .writes = SAYS(THRICE, SINCE),
      .state = NODE_READY },
    { .name = "it comes again within a minute",
      .says = SAYS(ONCE, SINCE),
      .faults = FAULT("3"),
      .told_ago_ms = 20000,
      .again_ms = 40000,
      .state = NODE_READY },
    { .name = "it comes again after a minute",
      .says = SAYS(ONCE, SINCE),
      .faults = FAULT("3"),
      .told_ago_ms = 60000,
      .writes = SAYS(THRICE, SINCE),
      .state = NODE_READY },
    { .name = "another one within a minute",
      .says = "'level': 'Close', 'reason': 'Xid95', 'address': '0000:65:00.0', 'since': '" SINCE
              "', 'state': 'Reported', 'message': 'm'",
      .faults = FAULT("1"),
      .told_ago_ms = 1000,
      .writes = SAYS(ONCE, NOW),
      .event = "GpuFault",
      .state = NODE_READY },
    { .name = "all is well again",
      .says = SAYS(ONCE, SINCE),
      .faults = "",
      .told_ago_ms = 1000,
      .writes = "",
      .event = "GpuHealthy",
      .state = NODE_READY },
    { .name = "a CRD that does not know it",
      .faults = FAULT("1"),
      .known = NO_HEALTH,
      .state = NODE_READY },
    { .name = "the driver was changed within the last minute",
      .faults = FAULT("1"),
      .quiet_s = 40,
      .again_ms = 21000,
      .state = NODE_READY },
    { .name = "the driver was changed a minute ago",
      .faults = FAULT("1"),
      .quiet_s = 60,
      .again_ms = 1000,
      .state = NODE_READY },
    { .name = "the driver was changed before that",
      .faults = FAULT("1"),
      .quiet_s = 61,
      .state = NODE_READY },
    { .name = "the driver was changed just now, and the change failed",
      .faults = FAULT("1"),
      .quiet_s = 40,
      .claim = "Failed",
      .again_ms = 21000,
      .state = NODE_READY },
    { .name = "the driver is still being changed: its claim brings the next pass",
      .faults = FAULT("1"),
      .quiet_s = 40,
      .claim = "Installing",
      .writes = SAYS(ONCE, NOW),
      .event = "GpuFault",
      .state = NODE_READY },
    { .name = "a fault from before the present driver",
      .faults = OLD_FAULT,
      .pods = { DRIVER_POD("d1", MADE, "True", "") },
      .state = NODE_READY },
    { .name = "its pod is not ready for a moment",
      .faults = OLD_FAULT,
      .pods = { DRIVER_POD("d1", MADE, "True", ""), DRIVER_POD("d1", MADE, "False", "") },
      .state = NODE_READY },
    { .name = "its pod leaves",
      .faults = OLD_FAULT,
      .pods = { DRIVER_POD("d1", MADE, "True", ""), DRIVER_POD("d1", MADE, "True", LEAVES) },
      .state = NODE_READY },
    { .name = "another pod is there too",
      .faults = OLD_FAULT,
      .pods = { DRIVER_POD("d1", MADE, "True", ""), DRIVER_POD("d2", AT, "True", "") },
      .state = NODE_READY },
    { .name = "the pod of its driver was never ready",
      .faults = OLD_FAULT,
      .pods = { DRIVER_POD("d1", MADE, "False", "") },
      .writes = CLOSE95(NOW),
      .event = "GpuFault",
      .state = NODE_READY },
    { .name = "the log has just told what NVML does not know yet: it is asked again",
      .says =
          "'level': 'Close', 'reason': 'RecoveryReset', 'address': '0000:65:00.0', 'since': '" SINCE
          "', 'state': 'Reported', 'message': 'GPU 0000:65:00.0: the driver says that it must be "
          "reset. Give "
          "the node no new jobs, and when its jobs have ended, reset the GPU or reboot the "
          "node.'",
      .faults = "{'address': '0000:65:00.0', 'xid': 154, 'recovery': 'Reset', 'count': 1, 'first': "
                "'2026-11-20T09:59:00Z', 'last': '2026-11-20T09:59:00Z', 'bootId': 'b'}",
      .nvml = "{'address': '0000:65:00.0', 'recovery': 'None'}",
      .again_ms = 60000,
      .state = NODE_READY },
    { .name = "NVML no longer says what is shown",
      .says = REMAP,
      .faults = "",
      .state = NODE_READY },
    { .name = "NVML says that all is well",
      .says = REMAP,
      .faults = "",
      .nvml = "{'address': '0000:65:00.0', 'recovery': 'None', 'remapFailed': false}",
      .writes = "",
      .event = "GpuHealthy",
      .state = NODE_READY },
    { .name = "NVML says that it needs nothing, and not whether a row remap failed",
      .says = REMAP,
      .faults = "",
      .nvml = "{'address': '0000:65:00.0', 'recovery': 'None'}",
      .state = NODE_READY },
    { .name = "a fact that a boot may repair, and NVML never spoke in this one",
      .says = HANGS,
      .faults = "",
      .writes = "",
      .event = "GpuHealthy",
      .state = NODE_READY },
    { .name = "and it did speak",
      .says = HANGS,
      .faults = "",
      .nvml = "{'address': '0000:65:00.0', 'recovery': 'None'}",
      .falls_silent = true,
      .state = NODE_READY },
    /* With mode Close. */
    { .name = "a healthy node is written once",
      .acts = true,
      .faults = "",
      .conditions = TURNED("GpuHealthy", NO_FAULT),
      .state = NODE_READY },
    { .name = "and not again",
      .acts = true,
      .healthy = NO_FAULT,
      .faults = "",
      .state = NODE_READY },
    { .name = "a new fault is confirmed",
      .acts = true,
      .healthy = NO_FAULT,
      .faults = FAULT("1"),
      .writes = IS("Confirming", NOW, CONFIRMS),
      .conditions = TURNED("GpuHealthy", UNHEALTHY(CONFIRMS)),
      .event = "GpuFault",
      .again_ms = 31000,
      .state = NODE_READY },
    { .name = "it closes nothing",
      .acts = true,
      .says = IS("Confirming", SINCE, CONFIRMS),
      .healthy = UNHEALTHY(""),
      .faults = FAULT("1"),
      .writes = SAYS(ONCE, SINCE),
      .state = NODE_READY },
    { .name = "it closes the node",
      .acts = true,
      .record = "Closed",
      .taint = true,
      .says = IS("Confirming", SINCE, CONFIRMS),
      .healthy = UNHEALTHY(CONFIRMS),
      .faults = FAULT("1"),
      .writes = IS("Closed", SINCE, CLOSES " " DO),
      .conditions = TURNED("GpuReady",
                           "'status': 'False', 'reason': 'Xid79', 'message': '" CLOSED_SENTENCE
                           "'") "," SAME("GpuHealthy", UNHEALTHY(CLOSES)),
      .state = NODE_UNHEALTHY },
    { .name = "its repair is claimed",
      .acts = true,
      .record = "Closed",
      .taint = true,
      .claim = "Waiting",
      .repairs = true,
      .says = IS("Closed", SINCE, CLOSES " " DO),
      .healthy = UNHEALTHY(CLOSES),
      .faults = FAULT("1"),
      .writes = IS("Repairing", SINCE, REPAIRS),
      .conditions = TURNED("GpuReady",
                           "'status': 'False', 'reason': 'Xid79', 'message': '" CLOSED_SENTENCE
                           "'") "," SAME("GpuHealthy", UNHEALTHY(REPAIRS)),
      .state = NODE_UNHEALTHY },
    { .name = "an upgrade repairs nothing",
      .acts = true,
      .record = "Closed",
      .taint = true,
      .claim = "Waiting",
      .says = IS("Confirming", SINCE, CONFIRMS),
      .healthy = UNHEALTHY(CONFIRMS),
      .faults = FAULT("1"),
      .writes = IS("Closed", SINCE, CLOSES " " DO),
      .conditions = TURNED("GpuReady",
                           "'status': 'False', 'reason': 'Xid79', 'message': '" CLOSED_SENTENCE
                           "'") "," SAME("GpuHealthy", UNHEALTHY(CLOSES)),
      .state = NODE_UNHEALTHY },
    { .name = "a user removed the taint of a node that waits for its turn",
      .acts = true,
      .record = "Ignored",
      .waits = true,
      .says = IS("Closed", SINCE, CLOSES " " DO),
      .healthy = UNHEALTHY(CLOSES),
      .faults = FAULT("1"),
      .writes = IS("Ignored", SINCE, IGNORES " " DO),
      .conditions = SAME("GpuHealthy", UNHEALTHY(IGNORES)),
      .state = NODE_READY },
    { .name = "a fault that is told and comes again writes no node",
      .acts = true,
      .record = "Ignored",
      .says = IS("Ignored", SINCE, IGNORES " " DO),
      .healthy = UNHEALTHY(IGNORES),
      .faults = FAULT("3"),
      .told_ago_ms = 20000,
      .again_ms = 40000,
      .state = NODE_READY },
    { .name = "a fault that is told on a node that a user has left alone",
      .acts = true,
      .left_alone = true,
      .healthy = "'status': 'Unknown', 'reason': 'Ignored', 'message': 'Ostler does nothing about "
                 "faults of the node\\u0027s GPUs, because of its label ostler.dev/health=ignore; "
                 "undo: kubectl label node gpu-1 ostler.dev/health-'",
      .says = IS("Ignored", SINCE, LEAVES_ALONE " " DO),
      .faults = FAULT("1"),
      .state = NODE_READY },
    { .name = "a node that Ostler does not manage",
      .says = SAYS(ONCE, SINCE),
      .faults = FAULT("1"),
      .writes = "",
      .state = NODE_UNMANAGED },
};

/* The state with this name. */
static enum fault_state state_of(const char *name)
{
#define X(id, text) text,
    static const char *const names[] = { FAULT_STATES(X) };
#undef X
    size_t i = 0;
    while (!str_eq(names[i], name))
        i++;
    return (enum fault_state) i;
}

static void put_node(struct cluster *c, const struct row *row)
{
    const struct claim claim = { .policy = "u",
                                 .generation = 1,
                                 .kind = row->repairs ? CLAIM_REPAIR : CLAIM_UPGRADE,
                                 .phase = row->claim ? claim_phase_parse(row->claim) : CLAIM_NONE,
                                 .since_s = QUIET_WALL_US / 1000000 - 100,
                                 .claimed_s = QUIET_WALL_US / 1000000 - 100,
                                 .attempt = 1,
                                 .to = { { "d2", "s1" } },
                                 .from = { { "d1", "s1" } } };
    struct fault_record record = {
        .reason = "Xid79", .address = "0000:65:00.0", .since_s = 1795165220, .tainted = row->taint
    };
    if (row->record)
        record.state = state_of(row->record);
    CLEANUP_FREE char *healthy = row->healthy
                                     ? xasprintf(", {'type': 'GpuHealthy', %s}", row->healthy)
                                     : xstrdup("");
    CLEANUP_FREE char *object = xasprintf(
        NODE("%s", "%s"), row->left_alone ? "'ostler.dev/health': 'ignore'" : "", healthy);
    CLEANUP_JSON json_t *node = tree(object);
    CLEANUP_FREE char *text = row->claim ? claim_text(&claim) : NULL,
                      *fault = row->record ? fault_record_text(&record) : NULL;
    json_object_set_new(json_object_get(node, "metadata"), "annotations",
                        json_pack("{s:s*, s:s*}", ANNOTATION_CLAIM, text, ANNOTATION_FAULT, fault));
    table_event(&c->tables[RESOURCE_NODE], node, false);
}

static void put_report(struct cluster *c, const struct row *row, const char *nvml)
{
    CLEANUP_FREE char *listed = nvml ? xasprintf("'health': [%s], ", nvml) : xstrdup("");
    CLEANUP_FREE char *health = row->says ? xasprintf(", 'health': {%s}", row->says) : xstrdup("");
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata': {'name': 'gpu-1', 'uid': 'r', 'resourceVersion': '4', 'ownerReferences': "
        "[{'kind': 'Node', 'uid': 'n'}]}, 'status': {'state': 'Ready', 'reason': 'OperandsUp', "
        "'message': 'every operand of the node is up', 'since': '" AT
        "', 'driver': {'revision': 'd1'}, 'stack': {'revision': 's1'}, 'inventory': {'bootId': "
        "'b', %s'faults': [%s]}%s}}",
        listed, row->faults, health);
    quiet_event(c, RESOURCE_GPU_NODE, text, false);
}

static void expect_conditions(const struct row *row, const struct actions *actions)
{
    const struct action *last = actions->len ? &actions->items[actions->len - 1] : NULL;
    bool written = last && last->verb == VERB_CONDITION;
    if (!row->acts)
        return;
    assert_int_equal(written, row->conditions != NULL);
    if (!written)
        return;
    CLEANUP_JSON json_t *body = json_parse(last->request.body, strlen(last->request.body), NULL);
    CLEANUP_FREE char *want = xasprintf("[%s]", row->conditions);
    assert_tree(json_at(body, "status.conditions"), want);
}

static void expect_write(const struct row *row, const struct actions *actions)
{
    if (!row->writes) {
        assert_int_equal(actions->len, row->conditions != NULL);
        return;
    }
    assert_true(actions->len > 0);
    const char *text = actions->items[0].request.body;
    CLEANUP_JSON json_t *body = json_parse(text, strlen(text), NULL);
    CLEANUP_FREE char *want = xasprintf("{%s}", row->writes);
    json_t *health = json_at(body, "status.health");
    assert_int_equal(actions->items[0].verb, VERB_STATUS);
    assert_int_equal(!health, !*row->writes);
    if (health)
        assert_tree(health, want);
    assert_int_equal(strstr(actions->items[0].message, "; its GPUs: ") != NULL, health != NULL);
    assert_int_equal(strstr(actions->items[0].message, "; its GPUs: Reboot Xid79") != NULL,
                     health != NULL && strstr(row->writes, "Xid79") != NULL);
}

static void expect_events(const struct row *row, const struct actions *actions)
{
    assert_int_equal(actions->notice_count, row->event ? 2 : 0);
    for (size_t i = 0; i < actions->notice_count; i++) {
        assert_string_equal(actions->notices[i].reason, row->event);
        assert_int_equal(actions->notices[i].of_action, 1);
    }
}

static void set_up_slot(struct cluster *c, const struct row *row, struct node_slot *slot)
{
    struct node_verdict v = { .state = row->state, .carried = { { "d1", "s1" } } };
    int64_t changed_s = cluster_now_s(c) - row->quiet_s;
    if (row->waits)
        strcpy(v.target.hash[TIER_STACK], "s2");
    tally_set(&c->tally, &slot->summary, &v);
    slot->hold = row->waits ? ROLLOUT_HOLD_PARALLEL : ROLLOUT_HOLD_NONE;
    slot->health_told_ms = row->told_ago_ms ? QUIET_MONO_MS - row->told_ago_ms : 0;
    if (row->quiet_s)
        slot->quiet = (struct health_quiet){ 1, (uint32_t) changed_s + HEALTH_QUIET_S };
}

static void check(void **state)
{
    const struct row *row = *state;
    struct cluster c;
    struct loop *loop = loop_new(&quiet_clock);
    struct informer_options o = { .resource = RESOURCE_GPU_NODE, .optional = true };
    CLEANUP_JSON json_t *known = row->known ? tree(row->known) : NULL;
    struct prerequisites around = { 0 };
    around.of[PREREQUISITES_REPORTS].reason = REASON_CRD_OUTDATED;
    around.of[PREREQUISITES_REPORTS].status = known;
    cluster_init(&c,
                 &(struct cluster_options){ .operand_namespace = "operands",
                                            .limits = { "nvcr.io/nvidia", "*", NULL, true, true },
                                            .clock = &quiet_clock,
                                            .prerequisites = known ? &around : NULL,
                                            .listener = quiet_listener });
    c.informers[RESOURCE_GPU_NODE] = informer_new(&o, &c.tables[RESOURCE_GPU_NODE], NULL, loop,
                                                  NULL, NULL);
    quiet_event(&c, RESOURCE_POLICY, row->acts ? POLICY("Close") : POLICY("Observe"), false);
    put_node(&c, row);
    put_report(&c, row, row->nvml);
    struct node_slot *slot = map_get(&c.slots, "gpu-1");
    set_up_slot(&c, row, slot);
    if (row->falls_silent) {
        cluster_health_look(&c, slot);
        put_report(&c, row, NULL);
    }
    for (size_t i = 0; i < PODS_MAX && row->pods[i]; i++) {
        quiet_event(&c, RESOURCE_POD, row->pods[i], false);
        cluster_health_look(&c, slot);
    }
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct reconcilers r = { .cluster = &c };
    report_reconcile(&r, "gpu-1", &actions);
    expect_write(row, &actions);
    expect_conditions(row, &actions);
    expect_events(row, &actions);
    assert_int_equal(actions.requeue_after_ms, row->again_ms);
    if (row->event && str_eq(row->event, "GpuFault"))
        assert_int_equal(slot->health_told_ms, QUIET_MONO_MS);
    informer_free(c.informers[RESOURCE_GPU_NODE]);
    cluster_clear(&c);
    loop_free(loop);
}

int main(void)
{
    log_setup(LOG_SILENT, false);
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "report health");
}
