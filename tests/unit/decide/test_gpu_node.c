/* What is said of a node is written when it is something else, and only then. */
#include "reconcilers/decide/gpu_node.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NOW "2026-11-21T10:00:00Z"
#define BEFORE "2026-11-21T09:00:00Z"
#define CRD "crds/ostler.dev_gpunodes.yaml"
#define APPLY "PATCH /apis/ostler.dev/v1alpha1/gpunodes/a?fieldManager=ostler&force=true\n"
#define STATUS "PATCH /apis/ostler.dev/v1alpha1/gpunodes/a/status?fieldManager=ostler&force=true\n"
#define LOOK "GET /api/v1/nodes?fieldSelector=metadata.name%3Da\n"
#define DELETE "DELETE /apis/ostler.dev/v1alpha1/gpunodes/a\n"
#define CONDITION "PATCH /api/v1/nodes/a/status?fieldManager=ostler\n"

#define TIERS                                                                                      \
    "'driver':{'version':'580','revision':'d1','target':'d2'},'stack':{'version':'1.18','"         \
    "revision':'s1','target':'s1'}"
#define SAYS_READY(since)                                                                          \
    "'state':'Ready','reason':'OperandsUp','message':'every operand of the node is "               \
    "up','since':'" since "'," TIERS
#define STARTING_NEXT                                                                              \
    "'next':{'reason':'PodStarting','message':'when every operand is up, a CUDA program must run " \
    "on a GPU; then the node is Ready'}"
#define REMOVING_NEXT(reason)                                                                      \
    "'next':{'reason':'" reason                                                                    \
    "','message':'when nothing blocks the node, Ostler removes driver, labels "                    \
    "and taints'}"
#define IS_READY "'status':'True','reason':'OperandsUp','message':'every operand of the node is up'"
#define SAYS_STARTING(since)                                                                       \
    "'state':'Installing','reason':'PodStarting','message':'pod ops/x is "                         \
    "starting','since':'" since "',"                                                               \
    "'waitingFor':[{'kind':'Pod','namespace':'ops','name':'x','reason':'PodStarting','message':'"  \
    "the node\\u0027s toolkit'}]," STARTING_NEXT "," TIERS
#define IS_STARTING(pod)                                                                           \
    "'status':'False','reason':'PodStarting','message':'pod ops/" pod " is starting'"
#define GPU_POD(ns, name, more)                                                                    \
    "{'metadata':{'name':'" name "','namespace':'" ns "'" more                                     \
    "},'spec':{'nodeName':'a','containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}"

#define QUIET_POD(name)                                                                            \
    "{'metadata':{'name':'" name "','namespace':'ml','uid':'u-" name                               \
    "','ownerReferences':[{'kind':'ReplicaSet',"                                                   \
    "'controller':true}]},'spec':{'nodeName':'a','containers':[{}]}}"
#define JOB_POD(name)                                                                              \
    "{'metadata':{'name':'" name                                                                   \
    "','namespace':'ml','labels':{'batch.kubernetes.io/job-name':'train','job-name':'other'},"     \
    "'ownerReferences':[{'kind':'Job','controller':true}]},'spec':{'nodeName':'a','restartPolicy'" \
    ":'Never',"                                                                                    \
    "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}"
#define DRAINING "'status':'False','reason':'Draining','message':'m'"
#define PAUSED "the upgrade starts when spec.rollout.paused is false"

#define SKIPPED(why)                                                                               \
    "{'state':'Ready','reason':'NodesSkipped','message':'in service; to run driver 581, wanted "   \
    "since " BEFORE ": " why "','since':'" NOW                                                     \
    "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','reason':'NodesSkipped','"        \
    "message':'" why "'}],'next':{'reason':'NodesSkipped'}," TIERS ",'policyGeneration':4}"
#define GAVE_UP(more) ",'annotations':{'ostler.dev/gave-up':'d2/s1'}" more
#define HELD                                                                                       \
    "a user holds it with the label ostler.dev/hold; the upgrade starts when the label is removed"
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
    "ostler.dev/retry=twfs0h0r29.2 "                                                               \
    "--overwrite"

static const struct drain_spec drain = {
    .taint_key = TAINT_UPGRADE, .wait_for_jobs_s = -1, .force = true, .delete_empty_dir = true
};
static const struct log_tail words = { .pod = "ops/d",
                                       .container = "driver",
                                       .text = "no headers" };
static const struct log_tail no_words = { .pod = "ops/d", .container = "driver" };

/* ---- one row: a node, what is said of it, and what its last pass came to */

static const struct row {
    const char *name;
    const char *report;    /* status of the GpuNode; NULL: there is none */
    const char *condition; /* members of the condition besides type; NULL: there is none */
    const char *node;      /* members of the Node's metadata besides name and uid */
    const char *owner;     /* uid in the report; NULL: the node's */
    const char *pods;      /* on the node */
    int state;
    const char *reason, *message, *pod;
    const char *next;    /* what follows the phase of its claim, which ends at the end of time */
    const char *trouble; /* why a pod does not come up on a node that is on its way */
    int told_ms;
    bool no_crd, gone;
    bool managing;       /* a policy is there, and stays */
    bool agent;          /* its agent is up */
    const char *refused; /* the eviction that was refused */
    const char *holders; /* of its inventory */
    enum rollout_hold hold;
    int gpus;
    const char *product;
    const struct log_tail *words;
    const char *failed; /* that the policy asks for, on gpu-1 with NoAllocatableGpus */
    const char *runs;   /* in place of that */
    bool gpu;           /* a GPU was found */
    bool off;           /* the node carries nothing, and is to run nothing */
    const char *requests;
    const char *status; /* that is written; NULL: none */
    const char *said;   /* the condition that is written; NULL: none */
    int again_ms;
} rows[] = {
    { .name = "a node that is first looked after",
      .state = NODE_READY,
      .requests = APPLY STATUS CONDITION,
      .status = "{" SAYS_READY(NOW) ",'policyGeneration':4}",
      .said = "{'type':'GpuReady'," IS_READY ",'lastHeartbeatTime':'" NOW
              "','lastTransitionTime':'" NOW "'}" },
    { .name = "all has been said",
      .report = SAYS_READY(BEFORE) ",'policyGeneration':4",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = "" },
    { .name = "all has been said, under an older policy",
      .report = SAYS_READY(BEFORE) ",'policyGeneration':3",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = "" },
    { .name = "another client edits a report",
      .report = "'state':'Ready','reason':'Nice','since':'" BEFORE "'",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = STATUS,
      .status = "{" SAYS_READY(BEFORE) ",'policyGeneration':4}" },
    { .name = "the time of a state is not as it was written",
      .report = "'state':'Ready','since':'yesterday'",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = STATUS,
      .status = "{" SAYS_READY(NOW) ",'policyGeneration':4}" },
    { .name = "the time of a state is still to come",
      .report = SAYS_READY("2026-11-22T10:00:00Z") ",'policyGeneration':4",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = STATUS,
      .status = "{" SAYS_READY(NOW) ",'policyGeneration':4}" },
    { .name = "a node from which everything came off",
      .report = SAYS_READY(BEFORE) ",'policyGeneration':4",
      .condition = "'status':'False','reason':'WaitingForDriver','message':'m'",
      .state = NODE_REMOVING,
      .reason = "WaitingForDriver",
      .message = "m",
      .off = true,
      .requests = STATUS,
      .status = "{'state':'Removing','reason':'WaitingForDriver','message':'m','since':'" NOW
                "'," REMOVING_NEXT("WaitingForDriver") ",'policyGeneration':4}" },
    { .name = "another state begins now",
      .report = SAYS_READY(BEFORE),
      .condition = IS_READY,
      .state = NODE_INSTALLING,
      .reason = "PodStarting",
      .message = "pod ops/x is starting",
      .pod = "ops/x",
      .requests = STATUS CONDITION,
      .status = "{" SAYS_STARTING(NOW) ",'policyGeneration':4}",
      .said = "{'type':'GpuReady'," IS_STARTING("x") ",'lastHeartbeatTime':'" NOW
                                                     "','lastTransitionTime':'" NOW "'}" },
    { .name = "another sentence in the same state",
      .report = SAYS_STARTING(BEFORE),
      .condition = IS_STARTING("w"),
      .state = NODE_INSTALLING,
      .reason = "PodStarting",
      .message = "pod ops/x is starting",
      .pod = "ops/x",
      .told_ms = 60000,
      .requests = CONDITION,
      .said = "{'type':'GpuReady'," IS_STARTING("x") ",'lastHeartbeatTime':'" NOW "'}" },
    { .name = "another sentence a moment after the last",
      .report = SAYS_STARTING(BEFORE),
      .condition = IS_STARTING("w"),
      .state = NODE_INSTALLING,
      .reason = "PodStarting",
      .message = "pod ops/x is starting",
      .pod = "ops/x",
      .told_ms = 20000,
      .requests = "",
      .again_ms = 40000 },
    { .name = "another reason a moment after the last",
      .report = SAYS_STARTING(BEFORE),
      .condition = "'status':'False','reason':'PodMissing','message':'pod ops/x is starting'",
      .state = NODE_INSTALLING,
      .reason = "PodStarting",
      .message = "pod ops/x is starting",
      .pod = "ops/x",
      .requests = CONDITION,
      .said = "{'type':'GpuReady'," IS_STARTING("x") ",'lastHeartbeatTime':'" NOW "'}" },
    { .name = "a pod that does not come up is told in the kubelet's word",
      .report = SAYS_STARTING(BEFORE),
      .condition = IS_STARTING("x"),
      .state = NODE_INSTALLING,
      .reason = "PodStarting",
      .message = "pod ops/x is starting",
      .pod = "ops/x",
      .trouble = "CrashLoopBackOff: it ended",
      .requests = STATUS,
      .status = "{'state':'Installing','reason':'CrashLoopBackOff','message':'pod ops/x is "
                "starting','since':'" BEFORE "',"
                "'waitingFor':[{'kind':'Pod','namespace':'ops','name':'x','reason':'"
                "CrashLoopBackOff','message':'the "
                "node\\u0027s toolkit'}]," STARTING_NEXT "," TIERS ",'policyGeneration':4}" },
    { .name = "GPU pods are waited for, by name",
      .condition = "'status':'False','reason':'Draining','message':'m'",
      .state = NODE_DRAINING,
      .reason = "Draining",
      .message = "m",
      .pods = GPU_POD("ml", "b", "") "," GPU_POD("ml", "a", ",'deletionTimestamp':'t'"),
      .requests = APPLY STATUS,
      .status = "{'state':'Draining','reason':'Draining','message':'m','since':'" NOW
                "','waitingFor':["
                "{'kind':'Pod','namespace':'ml','name':'b','reason':'EvictionRequested','message':'"
                "to be evicted'},"
                "{'kind':'Pod','namespace':'ml','name':'a','reason':'Terminating','message':'being "
                "deleted'}]," TIERS ",'policyGeneration':4}" },
    { .name = "the budget that refuses comes first",
      .condition = DRAINING,
      .state = NODE_DRAINING,
      .reason = "Draining",
      .message = "m",
      .pods = GPU_POD("ml", "b", ""),
      .requests = APPLY STATUS,
      .refused = "pod/ml/b: Cannot evict pod as it would violate the pod's disruption budget. The "
                 "disruption budget web needs 1 "
                 "healthy pods and has 1 currently",
      .status = "{'state':'Draining','reason':'Draining','message':'m','since':'" NOW
                "','waitingFor':["
                "{'kind':'PodDisruptionBudget','namespace':'ml','name':'web','reason':'"
                "DisruptionBudget','message':'pod/ml/b: "
                "Cannot evict pod as it would violate the pod\\u0027s disruption budget. The "
                "disruption budget web needs 1 "
                "healthy pods and has 1 currently'},"
                "{'kind':'Pod','namespace':'ml','name':'b','reason':'EvictionRequested','message':'"
                "to be evicted'}]," TIERS ",'policyGeneration':4}" },
    { .name = "a refusal that names no budget",
      .condition = DRAINING,
      .state = NODE_DRAINING,
      .reason = "Draining",
      .message = "m",
      .pods = GPU_POD("ml", "b", ""),
      .requests = APPLY STATUS,
      .refused = "pod/ml/b: This pod has more than one PodDisruptionBudget",
      .status = "{'state':'Draining','reason':'Draining','message':'m','since':'" NOW
                "','waitingFor':["
                "{'kind':'Pod','namespace':'ml','name':'b','reason':'EvictionRequested','message':'"
                "to be evicted'}]," TIERS ",'policyGeneration':4}" },
    { .name = "who has a GPU open and asked for none, and what is no pod's",
      .condition = DRAINING,
      .state = NODE_DRAINING,
      .reason = "Draining",
      .message = "m",
      .pods = QUIET_POD("b"),
      .requests = APPLY STATUS,
      .holders = "{'podUid':'u-b'},{'process':'nv-hostengine','unit':'dcgm.service','pid':812}",
      .status = "{'state':'Draining','reason':'Draining','message':'m','since':'" NOW
                "','waitingFor':["
                "{'kind':'Process','name':'nv-hostengine','reason':'HostProcess','message':'"
                "process nv-hostengine (812, unit "
                "dcgm.service) has a GPU open, and no eviction ends it: end it on the node'},"
                "{'kind':'Pod','namespace':'ml','name':'b','reason':'EvictionRequested','message':'"
                "to be evicted; it uses a GPU that it did not request'}]," TIERS
                ",'policyGeneration':4}" },
    { .name = "removal waits for what is no pod's",
      .condition = "'status':'False','reason':'WaitingForProcesses','message':'m'",
      .state = NODE_REMOVING,
      .reason = "WaitingForProcesses",
      .message = "m",
      .off = true,
      .requests = APPLY STATUS,
      .holders = "{'container':'0123456789abcdef'}",
      .status = "{'state':'Removing','reason':'WaitingForProcesses','message':'m','since':'" NOW
                "','waitingFor':["
                "{'kind':'Process','name':'unknown','reason':'HostProcess','message':'process of "
                "no name (container "
                "0123456789ab) has a GPU open, and no eviction ends it: end it on the "
                "node'}]," REMOVING_NEXT("WaitingForProcesses") ",'policyGeneration':4}" },
    { .name = "removal waits for the pods that use a GPU, also for a DaemonSet's that tolerates "
              "every taint",
      .condition = "'status':'False','reason':'WaitingForGpuPods','message':'m'",
      .state = NODE_REMOVING,
      .reason = "WaitingForGpuPods",
      .message = "m",
      .off = true,
      .requests = APPLY STATUS,
      .pods = GPU_POD("ml", "b",
                      "") ","
                          "{'metadata':{'name':'d','namespace':'ml','ownerReferences':[{'kind':'"
                          "DaemonSet','controller':true}]},'spec':{"
                          "'nodeName':'a','tolerations':[{'operator':'Exists'}],"
                          "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}",
      .status =
          "{'state':'Removing','reason':'WaitingForGpuPods','message':'m','since':'" NOW
          "','waitingFor':["
          "{'kind':'Pod','namespace':'ml','name':'b','reason':'UsesGpu','message':'uses a GPU'},"
          "{'kind':'Pod','namespace':'ml','name':'d','reason':'UsesGpu','message':'uses a "
          "GPU'}]," REMOVING_NEXT("WaitingForGpuPods") ",'policyGeneration':4}" },
    { .name = "stages that pass are not written by themselves",
      .report = SAYS_READY(BEFORE) ",'policyGeneration':4,'timeToReady':{'seen':'" BEFORE
                                   "','images':7}",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = "" },
    { .name = "two pods of a job are one thing to wait for",
      .condition = DRAINING,
      .state = NODE_WAITING,
      .reason = "Draining",
      .message = "m",
      .pods = JOB_POD("t-0") "," JOB_POD("t-1"),
      .requests = APPLY STATUS,
      .status = "{'state':'Waiting','reason':'Draining','message':'m','since':'" NOW
                "','waitingFor':["
                "{'kind':'Job','namespace':'ml','name':'train','reason':'Job','message':'a job: "
                "Ostler waits until it ends "
                "(pod t-0)'}]," TIERS ",'policyGeneration':4}" },
    { .name = "a node whose jobs are over waits for its turn",
      .condition = DRAINING,
      .state = NODE_WAITING,
      .reason = "Draining",
      .message = "m",
      .hold = ROLLOUT_HOLD_GPUS,
      .requests = APPLY STATUS,
      .status = "{'state':'Waiting','reason':'Draining','message':'m','since':'" NOW
                "','waitingFor':["
                "{'kind':'GpuClusterPolicy','name':'default','reason':'MaxParallel','message':'a "
                "free slot: the rollout is at its node limits'}]," TIERS ",'policyGeneration':4}" },
    { .name = "a node whose jobs are over while others have to soak",
      .condition = DRAINING,
      .state = NODE_WAITING,
      .reason = "Draining",
      .message = "m",
      .hold = ROLLOUT_HOLD_SOAK,
      .requests = APPLY STATUS,
      .status = "{'state':'Waiting','reason':'Draining','message':'its jobs have ended; " SOAKS
                "','since':'" NOW "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','"
                "reason':'Soaking','message':'" SOAKS "'}]," TIERS ",'policyGeneration':4}" },
    { .name = "a node whose jobs are over while the canary goes first",
      .condition = DRAINING,
      .state = NODE_WAITING,
      .reason = "Draining",
      .message = "m",
      .hold = ROLLOUT_HOLD_CANARY,
      .requests = APPLY STATUS,
      .status = "{'state':'Waiting','reason':'Draining','message':'its jobs have ended; " CANARY
                "','since':'" NOW "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','"
                "reason':'CanaryRunning','message':'" CANARY "'}]," TIERS
                ",'policyGeneration':4}" },
    { .name = "a node whose jobs are over when its revision has failed",
      .condition = DRAINING,
      .state = NODE_WAITING,
      .reason = "Draining",
      .message = "m",
      .hold = ROLLOUT_HOLD_FAILED,
      .requests = APPLY STATUS,
      .status = "{'state':'Waiting','reason':'Draining','message':'its jobs have ended; " FAILED
                "','since':'" NOW "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','"
                "reason':'RevisionFailed','message':'" FAILED "'}]," TIERS
                ",'policyGeneration':4}" },
    { .name = "a node whose jobs are over while no node may go on",
      .condition = DRAINING,
      .state = NODE_WAITING,
      .reason = "Draining",
      .message = "m",
      .hold = ROLLOUT_HOLD_PAUSED,
      .requests = APPLY STATUS,
      .status = "{'state':'Waiting','reason':'Draining','message':'its jobs have ended; " PAUSED
                "','since':'" NOW "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','"
                "reason':'Paused','message':'" PAUSED "'}]," TIERS ",'policyGeneration':4}" },
    { .name = "a node in service says what its turn waits for",
      .condition = IS_READY,
      .state = NODE_READY,
      .hold = ROLLOUT_HOLD_PAUSED,
      .requests = APPLY STATUS,
      .status = "{'state':'Ready','reason':'Paused','message':'in service; to run driver 581, "
                "wanted since " BEFORE ": " PAUSED "','since':'" NOW
                "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','reason':'Paused','"
                "message':'" PAUSED "'}],'next':{'reason':'Paused'}," TIERS
                ",'policyGeneration':4}" },
    { .name = "a person gave the node up",
      .condition = IS_READY,
      .node = GAVE_UP(""),
      .state = NODE_READY,
      .hold = ROLLOUT_HOLD_SKIPPED,
      .requests = APPLY STATUS,
      .status = SKIPPED("a user cancelled its upgrade to this target; kubectl annotate node a "
                        "ostler.dev/gave-up- takes that "
                        "back") },
    { .name = "a person gave the node up and holds it",
      .condition = IS_READY,
      .node = GAVE_UP(",'labels':{'ostler.dev/hold':'true'}"),
      .state = NODE_READY,
      .hold = ROLLOUT_HOLD_SKIPPED,
      .requests = APPLY STATUS,
      .status = SKIPPED(HELD) },
    { .name = "a person holds the node",
      .condition = IS_READY,
      .node = ",'labels':{'ostler.dev/hold':'true'}",
      .state = NODE_READY,
      .hold = ROLLOUT_HOLD_SKIPPED,
      .requests = APPLY STATUS,
      .status = SKIPPED(HELD) },
    { .name = "what a person did was taken back just now",
      .condition = IS_READY,
      .state = NODE_READY,
      .hold = ROLLOUT_HOLD_SKIPPED,
      .requests = APPLY STATUS,
      .status = SKIPPED(OTHERS) },
    { .name = "what others have has to soak",
      .condition = IS_READY,
      .state = NODE_READY,
      .hold = ROLLOUT_HOLD_SOAK,
      .requests = APPLY STATUS,
      .status = "{'state':'Ready','reason':'Soaking','message':'in service; to run driver 581, "
                "wanted since " BEFORE ": " SOAKS "','since':'" NOW
                "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','reason':'Soaking','"
                "message':'" SOAKS "'}],'next':{'reason':'Soaking'}," TIERS
                ",'policyGeneration':4}" },
    { .name = "what failed elsewhere is tried again by a command",
      .condition = IS_READY,
      .state = NODE_READY,
      .hold = ROLLOUT_HOLD_FAILED,
      .requests = APPLY STATUS,
      .status =
          "{'state':'Ready','reason':'RevisionFailed','message':'in service; to run driver 581, "
          "wanted since " BEFORE ": " FAILED "','since':'" NOW
          "','waitingFor':[{'kind':'GpuClusterPolicy','name':'default','reason':'RevisionFailed',"
          "'message':'" FAILED "'}],'next':{'reason':'RevisionFailed'}," TIERS
          ",'policyGeneration':4}" },
    { .name = "GPUs, their product, and the last words of what failed",
      .condition = IS_READY,
      .state = NODE_READY,
      .gpus = 8,
      .product = "H100",
      .words = &words,
      .requests = APPLY STATUS,
      .status = "{'gpus':8,'product':'H100','lastWords':{'pod':'ops/"
                "d','container':'driver','text':'no headers'}," SAYS_READY(
                    NOW) ",'policyGeneration':4}" },
    { .name = "of words that did not come nothing is said",
      .condition = IS_READY,
      .state = NODE_READY,
      .words = &no_words,
      .requests = APPLY STATUS,
      .status = "{" SAYS_READY(NOW) ",'policyGeneration':4}" },
    { .name = "GPU pods of a node that waits for no pod",
      .report = SAYS_READY(BEFORE),
      .condition = IS_READY,
      .state = NODE_READY,
      .pods = GPU_POD("ml", "b", ""),
      .requests = "" },
    { .name = "a node that another stack serves has only a report",
      .state = NODE_FOREIGN,
      .reason = "ForeignStack",
      .message = "m",
      .condition = IS_READY,
      .requests = APPLY STATUS CONDITION,
      .status = "{'state':'ForeignStack','reason':'ForeignStack','message':'m','since':'" NOW
                "'," TIERS ",'policyGeneration':4}",
      .said = "{'$patch':'delete','type':'GpuReady'}" },
    { .name = "a node that is let go of",
      .report = SAYS_READY(BEFORE),
      .condition = IS_READY,
      .state = NODE_UNMANAGED,
      .requests = DELETE CONDITION,
      .said = "{'$patch':'delete','type':'GpuReady'}" },
    { .name = "a node that was never looked after", .state = NODE_UNMANAGED, .requests = "" },
    { .name = "a node that is being deleted",
      .report = SAYS_READY(BEFORE),
      .condition = IS_READY,
      .node = ",'deletionTimestamp':'t'",
      .state = NODE_READY,
      .requests = DELETE },
    { .name = "a node that is gone",
      .report = SAYS_READY(BEFORE),
      .gone = true,
      .requests = DELETE },
    { .name = "a name that nothing is known of", .gone = true, .requests = "" },
    { .name = "the report of an earlier node of this name",
      .report = SAYS_READY(BEFORE),
      .owner = "other",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = DELETE },
    { .name = "what its agent has seen is not Ostler's to say",
      .report = SAYS_READY(BEFORE) ",'inventory':{'gpus':[]},'policyGeneration':4",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = "" },
    { .name = "a report that its agent made",
      .report = "'inventory':{'gpus':[]}",
      .owner = "",
      .condition = IS_READY,
      .state = NODE_READY,
      .requests = APPLY STATUS,
      .status = "{" SAYS_READY(NOW) ",'policyGeneration':4}" },
    { .name = "a node that is let go of keeps what its agent has seen",
      .report = SAYS_READY(BEFORE) ",'inventory':{}",
      .state = NODE_UNMANAGED,
      .managing = true,
      .requests = STATUS,
      .status = "{'state':'Unmanaged','reason':'NoGpu','message':'no GPU was found on the "
                "node','since':'" NOW "','policyGeneration':4}" },
    { .name = "a node that is told to be left alone says so, and how that ends",
      .report = "'inventory':{}",
      .node = ",'labels':{'ostler.dev/managed':'false'}",
      .gpu = true,
      .state = NODE_UNMANAGED,
      .managing = true,
      .product = "H100",
      .requests = STATUS,
      .status = "{'state':'Unmanaged','reason':'OptedOut','message':'Ostler leaves the node alone "
                "because of its label "
                "ostler.dev/managed=false; to have it managed, run: kubectl label node a "
                "ostler.dev/managed-','since':'" NOW "','product':'H100','policyGeneration':4}" },
    { .name = "the label of another operator counts",
      .report = "'inventory':{}",
      .node = ",'labels':{'nvidia.com/gpu.deploy.operands':'false'}",
      .gpu = true,
      .state = NODE_UNMANAGED,
      .managing = true,
      .requests = STATUS,
      .status =
          "{'state':'Unmanaged','reason':'OptedOut','message':'Ostler leaves the node alone "
          "because of its label "
          "nvidia.com/gpu.deploy.operands=false; to have it managed, run: kubectl label node a "
          "nvidia.com/gpu.deploy.operands-','since':'" NOW "','policyGeneration':4}" },
    { .name = "a node that the policy does not select says so",
      .report = "'inventory':{}",
      .gpu = true,
      .state = NODE_UNMANAGED,
      .managing = true,
      .requests = STATUS,
      .status = "{'state':'Unmanaged','reason':'NotSelected','message':'Ostler leaves the node "
                "alone because "
                "spec.nodes.selector of the policy does not match its labels','since':'" NOW
                "','policyGeneration':4}" },
    { .name = "what was said of a node that is left alone is not said again",
      .report = "'inventory':{},'state':'Unmanaged','reason':'NoGpu','message':'no GPU was found "
                "on the node','since':'" BEFORE "','policyGeneration':3",
      .state = NODE_UNMANAGED,
      .managing = true,
      .requests = "" },
    { .name = "a version that the policy asks for failed, and the node runs another",
      .condition = IS_READY,
      .state = NODE_READY,
      .failed = "toolkit 1.19",
      .runs = "toolkit 1.18",
      .requests = APPLY STATUS,
      .status =
          "{'state':'Ready','reason':'RolledBack','message':'the node works and runs toolkit 1.18 "
          "in place of "
          "toolkit 1.19, which the policy asks for and which "
          "failed on gpu-1 with NoAllocatableGpus; correct the policy, or retry the revision: "
          "kubectl annotate gpuclusterpolicy default ostler.dev/retry=twfs0h0r29.2 "
          "--overwrite','since':'" NOW "','next':{'reason':'RolledBack','message':'nothing, until "
          "a user corrects the policy or retries the version'}," TIERS ",'policyGeneration':4}" },
    { .name = "an agent makes the report a moment before it speaks",
      .report = "",
      .owner = "",
      .state = NODE_UNMANAGED,
      .managing = true,
      .requests = "" },
    { .name = "what an agent has made for an unknown node goes when the server has none",
      .report = "",
      .owner = "",
      .gone = true,
      .managing = true,
      .requests = LOOK DELETE },
    { .name = "without a policy no agent is to report",
      .report = "",
      .owner = "",
      .state = NODE_UNMANAGED,
      .requests = DELETE },
    { .name = "what is Ostler's own goes, whatever was taken from it",
      .report = SAYS_READY(BEFORE),
      .owner = "",
      .state = NODE_UNMANAGED,
      .managing = true,
      .requests = DELETE },
    { .name = "what an agent has reported of an unknown node goes when the server has none",
      .report = "'inventory':{}",
      .owner = "",
      .gone = true,
      .managing = true,
      .requests = LOOK DELETE },
    { .name = "what an agent has seen of a node that is gone goes with it",
      .report = "'inventory':{}",
      .gone = true,
      .managing = true,
      .requests = "" },
    { .name = "the collector takes what was seen of an earlier node of this name",
      .report = SAYS_READY(BEFORE) ",'inventory':{}",
      .owner = "other",
      .condition = IS_READY,
      .state = NODE_READY,
      .managing = true,
      .requests = "" },
    { .name = "with the policy goes what its agent has seen",
      .report = "'inventory':{}",
      .state = NODE_UNMANAGED,
      .requests = DELETE },
    { .name = "as long as its agent is up, which would only say it again, it stays",
      .report = "'inventory':{}",
      .state = NODE_UNMANAGED,
      .agent = true,
      .requests = "" },
    { .name = "without the CRD there is the condition",
      .no_crd = true,
      .state = NODE_READY,
      .requests = CONDITION,
      .said = "{'type':'GpuReady'," IS_READY ",'lastHeartbeatTime':'" NOW
              "','lastTransitionTime':'" NOW "'}" },
};

struct scene {
    struct intern *strings;
    struct node *node;
    struct pod *pods;
    struct gpu_node *report;
    struct node_holders *holders;
    struct tally tally;
    struct node_summary summary;
};

static void take_node(struct scene *s, const struct row *row)
{
    CLEANUP_FREE char *condition = row->condition
                                       ? xasprintf("{'type':'GpuReady',%s}", row->condition)
                                       : NULL;
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata':{'name':'a','uid':'u'%s},'status':{'conditions':[%s]}}",
        str_or_empty(row->node), str_or_empty(condition));
    CLEANUP_JSON json_t *object = tree(text);
    s->node = node_project(s->strings, object);
}

static void take_pods(struct scene *s, const struct row *row)
{
    CLEANUP_FREE char *text = xasprintf("[%s]", str_or_empty(row->pods));
    CLEANUP_JSON json_t *objects = tree(text);
    size_t i;
    json_t *object;
    json_array_foreach (objects, i, object) {
        struct pod *p = pod_project_any(s->strings, "ops", NULL, object);
        assert_non_null(p);
        p->next_on_node = s->pods;
        s->pods = p;
    }
}

static void take_report(struct scene *s, const struct row *row)
{
    if (!row->report)
        return;
    CLEANUP_FREE char *text = xasprintf("{'metadata':{'name':'a','uid':'r','ownerReferences':[{'"
                                        "kind':'Node','uid':'%s'}]},'status':{%s}}",
                                        row->owner ? row->owner : "u", row->report);
    CLEANUP_JSON json_t *object = tree(text);
    s->report = gpu_node_project(object);
}

static void take_holders(struct scene *s, const struct row *row)
{
    CLEANUP_FREE char *text = xasprintf("{'holders':[%s]}", row->holders ? row->holders : "");
    CLEANUP_JSON json_t *inventory = tree(text);
    s->holders = node_holders_read(inventory);
}

static void take_verdict(struct scene *s, const struct row *row)
{
    struct node_verdict v = { .state = (enum node_state) row->state,
                              .reason = reason_parse(row->reason),
                              .word = row->reason,
                              .message = row->message,
                              .gpu = row->gpu,
                              .pod = row->pod,
                              .trouble = row->trouble,
                              .next_text = row->next,
                              .next_s = row->next ? INT64_MAX : 0,
                              .moving = row->next != NULL,
                              .cause = row->pod ? OPERAND_TOOLKIT : OPERAND_NONE,
                              .carried = { { "d1", "s1" } },
                              .target = { { "d2", "s1" } } };
    if (row->off)
        *v.carried.hash[TIER_DRIVER] = *v.carried.hash[TIER_STACK] = *v.target.hash[TIER_DRIVER] =
            *v.target.hash[TIER_STACK] = '\0';
    s->summary.name = "a";
    assert_true(tally_set(&s->tally, &s->summary, &v));
}

static void scene_clear(struct scene *s)
{
    tally_remove(&s->tally, &s->summary);
    tally_clear(&s->tally);
    if (s->report)
        gpu_node_free(s->report);
    node_holders_free(s->holders);
    node_free(s->strings, s->node);
    while (s->pods) {
        struct pod *p = s->pods;
        s->pods = p->next_on_node;
        pod_free(s->strings, p);
    }
    assert_int_equal(intern_count(s->strings), 0);
    intern_free(s->strings);
}

/* The body of the action with this verb; NULL: there is none. New reference. */
static json_t *body_of(const struct actions *actions, enum verb verb)
{
    for (size_t i = 0; i < actions->len; i++)
        if (actions->items[i].verb == verb)
            return json_parse(actions->items[i].request.body,
                              strlen(actions->items[i].request.body), NULL);
    return NULL;
}

static void expect_part(const struct actions *actions, enum verb verb, const char *path,
                        const char *want)
{
    CLEANUP_JSON json_t *body = body_of(actions, verb);
    if (!want) {
        assert_null(body);
        return;
    }
    const json_t *part = json_at(body, path);
    assert_tree(json_is_array(part) ? json_array_get(part, 0) : part, want);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct scene s = { .strings = intern_new() };
    take_node(&s, row);
    take_pods(&s, row);
    take_report(&s, row);
    take_holders(&s, row);
    take_verdict(&s, row);
    struct gpu_node_input in = { .name = "a",
                                 .node = row->gone ? NULL : s.node,
                                 .summary = row->gone ? NULL : &s.summary,
                                 .pods = s.pods,
                                 .report = s.report,
                                 .told_ms = row->told_ms,
                                 .reports_exist = !row->no_crd,
                                 .managing = row->managing,
                                 .agent = row->agent,
                                 .version[TIER_DRIVER] = row->off ? NULL : "580",
                                 .version[TIER_STACK] = row->off ? NULL : "1.18",
                                 .generation = 4,
                                 .now = NOW,
                                 .strings = s.strings,
                                 .drain = &drain,
                                 .refused = row->refused,
                                 .hold = row->hold,
                                 .gpus = row->gpus,
                                 .product = row->product,
                                 .words = row->words,
                                 .failed = row->failed,
                                 .runs = row->runs,
                                 .failure = "gpu-1 NoAllocatableGpus",
                                 .failed_retry = "twfs0h0r29.2",
                                 .holders = s.holders,
                                 .wanted_since = BEFORE,
                                 .target_version = "581",
                                 .retry = "twfs0h0r29.2" };
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_BUF struct buf requests = BUF_INIT(4096);
    assert_int_equal(gpu_node_plan(&in, &a, &actions), row->said != NULL);
    for (size_t i = 0; i < actions.len; i++)
        buf_printf(&requests, "%s %s\n", actions.items[i].request.method,
                   actions.items[i].request.path);
    assert_string_equal(buf_text(&requests), row->requests);
    expect_part(&actions, VERB_STATUS, "status", row->status);
    expect_part(&actions, VERB_CONDITION, "status.conditions", row->said);
    assert_int_equal(actions.requeue_after_ms, row->again_ms);
    scene_clear(&s);
}

/* ---- what is sent */

/* A scene of one node that is Ready and of which nothing has been said. */
static const struct row fresh = { .state = NODE_READY };

static void check_bodies(void **state)
{
    (void) state;
    struct scene s = { .strings = intern_new() };
    take_node(&s, &fresh);
    take_verdict(&s, &fresh);
    struct gpu_node_input in = {
        .name = "a", .node = s.node, .summary = &s.summary, .reports_exist = true, .now = NOW
    };
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    gpu_node_plan(&in, &a, &actions);
    CLEANUP_JSON json_t *report = body_of(&actions, VERB_APPLY),
                        *condition = body_of(&actions, VERB_CONDITION);
    assert_tree(report,
                "{'apiVersion':'ostler.dev/v1alpha1','kind':'GpuNode','metadata':{'name':'a',"
                "'labels':{'app.kubernetes.io/managed-by':'ostler'},"
                "'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'a','uid':'u'}]}}");
    /* Only this incarnation of the node. */
    assert_string_equal(json_str(condition, "metadata.uid"), "u");
    assert_true(actions.keep_going);
    scene_clear(&s);
}

/* The server would refuse a report that names any other field, as a whole. */
static void check_known(void **state)
{
    (void) state;
    struct scene s = { .strings = intern_new() };
    take_node(&s, &fresh);
    take_verdict(&s, &fresh);
    CLEANUP_JSON json_t *known = tree("{'properties':{'state':{'type':'string'}}}");
    struct gpu_node_input in = { .name = "a",
                                 .node = s.node,
                                 .summary = &s.summary,
                                 .reports_exist = true,
                                 .now = NOW,
                                 .known = known };
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    gpu_node_plan(&in, &a, &actions);
    CLEANUP_JSON json_t *status = body_of(&actions, VERB_STATUS);
    assert_tree(json_object_get(status, "status"), "{'state':'Ready'}");
    scene_clear(&s);
}

/* ---- bounds */

/* What the CRD says of its only version. New reference. */
static json_t *version_of_crd(void)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(CRD, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    return json_incref(json_array_get(json_at(json_array_get(documents, 0), "spec.versions"), 0));
}

/* The rules of the members of the status. New reference. */
static json_t *rules_of_status(void)
{
    CLEANUP_JSON json_t *version = version_of_crd();
    return json_incref(json_at(version, "schema.openAPIV3Schema.properties.status.properties"));
}

/* Every member of `value` is one of the schema's, and nothing is longer than it allows. */
static void expect_fits(const json_t *properties, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    json_t *item;
    json_object_foreach ((json_t *) value, key, member) {
        const json_t *rule = json_object_get(properties, key);
        assert_non_null(rule);
        assert_true(*json_str_or_empty(rule, "description"));
        if (json_is_string(member))
            assert_true(json_str(rule, "format") ||
                        json_has_text(json_object_get(rule, "enum"), json_string_value(member)) ||
                        (int64_t) json_string_length(member) <= json_int(rule, "maxLength", -1));
        if (json_is_object(member))
            expect_fits(json_object_get(rule, "properties"), member);
        if (json_is_array(member))
            assert_true((int64_t) json_array_size(member) <= json_int(rule, "maxItems", -1));
        json_array_foreach (member, i, item)
            expect_fits(json_at(rule, "items.properties"), item);
    }
}

static void check_bounds(void **state)
{
    (void) state;
    char sentence[5000];
    memset(sentence, 'x', sizeof sentence);
    sentence[sizeof sentence - 1] = '\0';
    struct scene s = { .strings = intern_new() };
    CLEANUP_BUF struct buf pods = BUF_INIT(64 << 10);
    for (int i = 0; i < 30; i++)
        buf_printf(&pods,
                   "%s{'metadata':{'name':'p%d','namespace':'ml'},'spec':{'nodeName':'a',"
                   "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}",
                   i ? "," : "", i);
    struct row row = { .state = NODE_DRAINING,
                       .reason = sentence,
                       .message = sentence,
                       .next = sentence,
                       .pods = buf_text(&pods) };
    take_node(&s, &row);
    take_pods(&s, &row);
    take_verdict(&s, &row);
    struct health_status health = { .level = HEALTH_HUMAN };
    memcpy(health.reason, sentence, HEALTH_WORD_MAX - 1);
    memcpy(health.address, sentence, HEALTH_ADDRESS_MAX - 1);
    memcpy(health.message, sentence, HEALTH_MESSAGE_MAX);
    struct gpu_node_input in = { .name = "a",
                                 .node = s.node,
                                 .summary = &s.summary,
                                 .pods = s.pods,
                                 .reports_exist = true,
                                 .now = NOW,
                                 .strings = s.strings,
                                 .drain = &drain,
                                 .refused = sentence,
                                 .health = &health,
                                 .stages = &(struct node_stages){ .seen_s = 1,
                                                                  .reached = { 1, 2, 3, 4 } } };
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    gpu_node_plan(&in, &a, &actions);
    CLEANUP_JSON json_t *body = body_of(&actions, VERB_STATUS),
                        *condition = body_of(&actions, VERB_CONDITION), *rules = rules_of_status();
    expect_fits(rules, json_at(body, "status"));
    assert_int_equal(json_array_size(json_at(body, "status.waitingFor")), GPU_NODE_WAITING_MAX);
    assert_string_equal(json_str(body, "status.next.until"), "9999-12-31T23:59:59Z");
    assert_int_equal(json_object_size(json_at(body, "status.health")), 5);
    assert_true(strlen(json_str(json_array_get(json_at(condition, "status.conditions"), 0),
                                "message")) <= 1024);
    scene_clear(&s);
}

/* ---- columns */

/* The schema of what ".a.b[0].c" leads to; NULL: there is no such member. */
static const json_t *rule_at(const json_t *schema, const char *path)
{
    CLEANUP_FREE char *keys = xstrdup(path + 1);
    char *rest = keys, *word;
    while ((word = strsep(&rest, "."))) {
        bool is_list = strchr(word, '[') != NULL;
        word[strcspn(word, "[")] = '\0';
        schema = json_object_get(json_object_get(schema, "properties"), word);
        if (is_list)
            schema = json_object_get(schema, "items");
    }
    return schema;
}

/* Each column shows what is there to be shown. */
static void check_columns(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *version = version_of_crd();
    CLEANUP_BUF struct buf usual = BUF_INIT(1024), wide = BUF_INIT(1024);
    size_t i;
    json_t *column;
    json_array_foreach (json_object_get(version, "additionalPrinterColumns"), i, column) {
        const json_t *rule = rule_at(json_at(version, "schema.openAPIV3Schema"),
                                     json_str(column, "jsonPath"));
        bool date = str_eq(json_str(column, "type"), "date");
        assert_non_null(rule);
        assert_string_equal(json_str(rule, date ? "format" : "type"),
                            date ? "date-time" : json_str(column, "type"));
        assert_true(*json_str_or_empty(column, "description"));
        buf_printf(json_int(column, "priority", 0) ? &wide : &usual, "%s ",
                   json_str(column, "name"));
    }
    assert_string_equal(buf_text(&usual), "GPUs Product Driver State Reason Since ");
    assert_string_equal(buf_text(&wide),
                        "Assigned Kernel OS Runtime Holders Waiting-For Health Fault Message ");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "a new report and its condition", check_bodies, NULL);
    suite_add(&s, "an older definition gets the fields that it knows", check_known, NULL);
    suite_add(&s, "a report stays within what its CRD allows", check_bounds, NULL);
    suite_add(&s, "columns show what there is", check_columns, NULL);
    return suite_run(&s, "gpu_node");
}
