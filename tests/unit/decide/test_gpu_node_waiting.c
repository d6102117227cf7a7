/* What the report says of a node that waits: for pods, for processes, or for its turn. */
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/repair_request.h"
#include "reconcilers/decide/waiting_for.h"
#include "tests/unit/support/gpu_node_case.h"
#include "tests/unit/support/suite.h"

/* One thing that is waited for. */
#define WAITS_FOR(kind, name, reason, message)                                                     \
    "{'kind':'" kind "','namespace':'ml','name':'" name "','reason':'" reason                      \
    "','message':'" message "'}"
#define WAITS_FOR_PROCESS(name, which)                                                             \
    "{'kind':'Process','name':'" name "','reason':'HostProcess','message':'process " which         \
    " has a GPU open, and no eviction ends it: end it on the node'}"
#define TO_BE_EVICTED(name) WAITS_FOR("Pod", name, "EvictionRequested", "to be evicted")

/* ---- a node that drains */

#define DRAINING "'status':'False','reason':'Draining','message':'m'"

#define QUIET_POD(name)                                                                            \
    "{'metadata':{'name':'" name "','namespace':'ml','uid':'u-" name                               \
    "','ownerReferences':[{'kind':'ReplicaSet','controller':true}]},"                              \
    "'spec':{'nodeName':'a','containers':[{}]}}"
#define JOB_POD(name)                                                                              \
    "{'metadata':{'name':'" name "','namespace':'ml',"                                             \
    "'labels':{'batch.kubernetes.io/job-name':'train','job-name':'other'},"                        \
    "'ownerReferences':[{'kind':'Job','controller':true}]},"                                       \
    "'spec':{'nodeName':'a','restartPolicy':'Never',"                                              \
    "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}"
#define BUDGET_REFUSES(quote)                                                                      \
    "pod/ml/b: Cannot evict pod as it would violate the pod" quote "s disruption budget. The "     \
    "disruption budget web needs 1 healthy pods and has 1 currently"

static const struct drain_row {
    const char *name;
    bool waits; /* it is Waiting; else Draining */
    const char *pods;
    const char *refused; /* the eviction that was refused */
    const char *holders; /* of its inventory */
    enum rollout_hold hold;
    const char *waiting_for;
} drain_rows[] = {
    { "GPU pods are waited for, by name",
      .pods = GPU_POD("b", "") "," GPU_POD("a", ",'deletionTimestamp':'t'"),
      .waiting_for = TO_BE_EVICTED("b") "," WAITS_FOR("Pod", "a", "Terminating", "being deleted") },
    { "the budget that refuses comes first", .pods = GPU_POD("b", ""),
      .refused = BUDGET_REFUSES("'"),
      .waiting_for = WAITS_FOR("PodDisruptionBudget", "web", "DisruptionBudget",
                               BUDGET_REFUSES("\\u0027")) "," TO_BE_EVICTED("b") },
    { "a refusal that names no budget", .pods = GPU_POD("b", ""),
      .refused = "pod/ml/b: This pod has more than one PodDisruptionBudget",
      .waiting_for = TO_BE_EVICTED("b") },
    { "who has a GPU open and asked for none, and what is no pod's", .pods = QUIET_POD("b"),
      .holders = "{'podUid':'u-b'},{'process':'nv-hostengine','unit':'dcgm.service','pid':812}",
      .waiting_for = WAITS_FOR_PROCESS(
          "nv-hostengine",
          "nv-hostengine (812, unit dcgm.service)") "," WAITS_FOR("Pod", "b", "EvictionRequested",
                                                                  "to be evicted; it uses a GPU "
                                                                  "that it did not request") },
    { "two pods of a job are one thing to wait for", .waits = true,
      .pods = JOB_POD("t-0") "," JOB_POD("t-1"),
      .waiting_for = WAITS_FOR("Job", "train", "Job",
                               "a job: Ostler waits until it ends (pod t-0)") },
    { "a node whose jobs are over waits for its turn", .waits = true, .hold = ROLLOUT_HOLD_GPUS,
      .waiting_for = "{'kind':'GpuClusterPolicy','name':'default','reason':'MaxParallel',"
                     "'message':'a free slot: the rollout is at its node limits'}" },
};

static void check_drain(void **state)
{
    const struct drain_row *row = *state;
    CLEANUP_FREE char *status = xasprintf(
        "{'state':'%s','reason':'Draining','message':'m','since':'" NOW "','waitingFor':[%s]," TIERS
        ",'policyGeneration':4}",
        row->waits ? "Waiting" : "Draining", row->waiting_for);
    gpu_node_case_check(&(struct gpu_node_case){ .name = row->name,
                                                 .condition = DRAINING,
                                                 .state = row->waits ? NODE_WAITING : NODE_DRAINING,
                                                 .reason = "Draining",
                                                 .message = "m",
                                                 .pods = row->pods,
                                                 .refused = row->refused,
                                                 .holders = row->holders,
                                                 .hold = row->hold,
                                                 .requests = APPLY STATUS,
                                                 .status = status });
}

/* ---- a node from which Ostler removes everything */

static const struct removal_row {
    const char *name;
    const char *report, *reason, *pods, *holders;
    const char *requests;
    const char *waiting_for; /* NULL: nothing is named */
} removal_rows[] = {
    { "a node from which everything came off", .report = SAYS_READY(BEFORE) ",'policyGeneration':4",
      .reason = "WaitingForDriver", .requests = STATUS },
    { "removal waits for what is no pod's", .reason = "WaitingForProcesses",
      .holders = "{'container':'0123456789abcdef'}", .requests = APPLY STATUS,
      .waiting_for = WAITS_FOR_PROCESS("unknown", "of no name (container 0123456789ab)") },
    { "removal waits for the pods that use a GPU, also for a DaemonSet's that tolerates "
      "every taint",
      .reason = "WaitingForGpuPods",
      .pods = GPU_POD("b", "") ","
                               "{'metadata':{'name':'d','namespace':'ml',"
                               "'ownerReferences':[{'kind':'DaemonSet','controller':true}]},"
                               "'spec':{'nodeName':'a','tolerations':[{'operator':'Exists'}],"
                               "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}",
      .requests = APPLY STATUS,
      .waiting_for = WAITS_FOR("Pod", "b", "UsesGpu",
                               "uses a GPU") "," WAITS_FOR("Pod", "d", "UsesGpu", "uses a GPU") },
};

static void check_removal(void **state)
{
    const struct removal_row *row = *state;
    CLEANUP_FREE char *condition = xasprintf("'status':'False','reason':'%s','message':'m'",
                                             row->reason);
    CLEANUP_FREE char *waiting_for = row->waiting_for
                                         ? xasprintf("'waitingFor':[%s],", row->waiting_for)
                                         : NULL;
    CLEANUP_FREE char *status = xasprintf(
        "{'state':'Removing','reason':'%s','message':'m','since':'" NOW "',%s"
        "'next':{'reason':'%s','message':'when nothing blocks the node, Ostler removes driver, "
        "labels and taints'},'policyGeneration':4}",
        row->reason, str_or_empty(waiting_for), row->reason);
    gpu_node_case_check(&(struct gpu_node_case){ .name = row->name,
                                                 .report = row->report,
                                                 .condition = condition,
                                                 .state = NODE_REMOVING,
                                                 .reason = row->reason,
                                                 .message = "m",
                                                 .off = true,
                                                 .pods = row->pods,
                                                 .holders = row->holders,
                                                 .requests = row->requests,
                                                 .status = status });
}

/* ---- a node that waits for its turn */

#define HELD_BY_LABEL "'labels':{'ostler.dev/hold':'true'}"
#define GAVE_UP "'annotations':{'ostler.dev/gave-up':'d2/s1'}"

#define PAUSED "the upgrade starts when spec.rollout.paused is false"
#define HELD                                                                                       \
    "a user holds it with the label ostler.dev/hold; the upgrade starts when the label is removed"
#define CANCELLED                                                                                  \
    "a user cancelled its upgrade to this target; kubectl annotate node a ostler.dev/gave-up- "    \
    "takes that back"
#define OTHERS                                                                                     \
    "other nodes go first, within the limits of spec.rollout; status.rollout of the policy says "  \
    "which limit applies"
#define SOAKS                                                                                      \
    "that revision must first soak on other nodes; status.rollout of the policy says when the "    \
    "upgrade starts"
#define CANARY                                                                                     \
    "the canary of that revision goes first: the upgrade starts when it has worked for "           \
    "spec.rollout.canary.soak"
#define FAILED                                                                                     \
    "that revision failed on other nodes; the node stays unchanged until the policy changes, or "  \
    "a user retries the revision: kubectl annotate gpuclusterpolicy default "                      \
    "ostler.dev/retry=twfs0h0r29.2 --overwrite"

struct turn_row {
    const char *name;
    enum rollout_hold hold;
    const char *reason, *why;
    const char *node; /* members of the Node's metadata */
};

/* Jobs kept the node; they have ended. */
static const struct turn_row after_jobs_rows[] = {
    { "a node whose jobs are over while others have to soak", ROLLOUT_HOLD_SOAK, "Soaking", SOAKS,
      NULL },
    { "a node whose jobs are over while the canary goes first", ROLLOUT_HOLD_CANARY,
      "CanaryRunning", CANARY, NULL },
    { "a node whose jobs are over when its revision has failed", ROLLOUT_HOLD_FAILED,
      "RevisionFailed", FAILED, NULL },
    { "a node whose jobs are over while no node may go on", ROLLOUT_HOLD_PAUSED, "Paused", PAUSED,
      NULL },
};

static const struct turn_row in_service_rows[] = {
    { "a node in service says what its turn waits for", ROLLOUT_HOLD_PAUSED, "Paused", PAUSED,
      NULL },
    { "a person gave the node up", ROLLOUT_HOLD_SKIPPED, "NodesSkipped", CANCELLED, "," GAVE_UP },
    { "a person gave the node up and holds it", ROLLOUT_HOLD_SKIPPED, "NodesSkipped", HELD,
      "," GAVE_UP "," HELD_BY_LABEL },
    { "a person holds the node", ROLLOUT_HOLD_SKIPPED, "NodesSkipped", HELD, "," HELD_BY_LABEL },
    { "what a person did was taken back just now", ROLLOUT_HOLD_SKIPPED, "NodesSkipped", OTHERS,
      NULL },
    { "what others have has to soak", ROLLOUT_HOLD_SOAK, "Soaking", SOAKS, NULL },
    { "what failed elsewhere is tried again by a command", ROLLOUT_HOLD_FAILED, "RevisionFailed",
      FAILED, NULL },
};

/* The policy is what the node waits for. Owned by the caller. */
static char *waits_for_policy(const struct turn_row *row)
{
    return xasprintf("'waitingFor':[{'kind':'GpuClusterPolicy','name':'default','reason':'%s',"
                     "'message':'%s'}]," TIERS ",'policyGeneration':4",
                     row->reason, row->why);
}

static void check_after_jobs(void **state)
{
    const struct turn_row *row = *state;
    CLEANUP_FREE char *policy = waits_for_policy(row);
    CLEANUP_FREE char *status = xasprintf(
        "{'state':'Waiting','reason':'Draining','message':'its jobs have ended; %s',"
        "'since':'" NOW "',%s}",
        row->why, policy);
    gpu_node_case_check(&(struct gpu_node_case){ .name = row->name,
                                                 .condition = DRAINING,
                                                 .node = row->node,
                                                 .state = NODE_WAITING,
                                                 .reason = "Draining",
                                                 .message = "m",
                                                 .hold = row->hold,
                                                 .requests = APPLY STATUS,
                                                 .status = status });
}

static void check_in_service(void **state)
{
    const struct turn_row *row = *state;
    CLEANUP_FREE char *policy = waits_for_policy(row);
    CLEANUP_FREE char *status = xasprintf("{'state':'Ready','reason':'%s','message':'in service; "
                                          "to run driver 581, wanted since " BEFORE
                                          ": %s','since':'" NOW "','next':{'reason':'%s'},%s}",
                                          row->reason, row->why, row->reason, policy);
    gpu_node_case_check(&(struct gpu_node_case){ .name = row->name,
                                                 .condition = IS_READY,
                                                 .node = row->node,
                                                 .state = NODE_READY,
                                                 .hold = row->hold,
                                                 .requests = APPLY STATUS,
                                                 .status = status });
}

/* The request stays in the list while the node asks for it in vain, whatever else it waits for. */
static void a_request_that_is_ignored_is_named(void **state)
{
    (void) state;
    struct gpu_node_scene s;
    gpu_node_scene_init(&s, &(struct gpu_node_case){ .state = NODE_READY });
    CLEANUP_JSON json_t *before = waiting_for(&s.in, &s.arena);
    assert_int_equal(json_array_size(before), 0);
    for (enum repair_refusal r = REPAIR_NOT_ALLOWED; r < REPAIR_REFUSALS; r++) {
        s.summary.refusal = r;
        CLEANUP_JSON json_t *list = waiting_for(&s.in, &s.arena);
        const json_t *entry = json_array_get(list, 0);
        assert_int_equal(json_array_size(list), 1);
        assert_string_equal(json_str(entry, "reason"), "RepairIgnored");
        assert_string_equal(json_str(entry, "message"), repair_request_text(r));
    }
    gpu_node_scene_clear(&s);
}

/* A repair waits for less than an upgrade. */
static void a_repair_says_when_it_starts(void **state)
{
    static const struct {
        enum rollout_hold hold;
        bool cordoned;
        const char *text;
    } rows[] = {
        { ROLLOUT_HOLD_PAUSED, false, "the repair starts when spec.rollout.paused is false" },
        { ROLLOUT_HOLD_DOWN, false, "the repair starts when the node is Ready" },
        { ROLLOUT_HOLD_SKIPPED, true,
          "the repair starts when no user cordons the node or holds it with the label "
          "ostler.dev/hold" },
    };
    (void) state;
    struct gpu_node_scene s;
    gpu_node_scene_init(&s, &(struct gpu_node_case){ .state = NODE_UNHEALTHY });
    struct node node = *s.in.node;
    s.in.node = &node;
    s.summary.repair = REPAIR_FAULT;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        s.in.hold = rows[i].hold;
        node.cordoned = rows[i].cordoned;
        assert_string_equal(waiting_turn_text(&s.in, &s.arena), rows[i].text);
    }
    gpu_node_scene_clear(&s);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a repair says when it starts", a_repair_says_when_it_starts, NULL);
    SUITE_ROWS(&s, check_drain, drain_rows);
    SUITE_ROWS(&s, check_removal, removal_rows);
    SUITE_ROWS(&s, check_after_jobs, after_jobs_rows);
    SUITE_ROWS(&s, check_in_service, in_service_rows);
    suite_add(&s, "a request that is ignored is named", a_request_that_is_ignored_is_named, NULL);
    return suite_run(&s, "gpu_node_waiting");
}
