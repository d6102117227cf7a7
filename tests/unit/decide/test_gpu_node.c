/* What is said of a node is written when it is something else, and only then. */
#include "reconcilers/decide/gpu_node.h"

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/gpu_node_case.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define LOOK "GET /api/v1/nodes?fieldSelector=metadata.name%3Da\n"
#define DELETE "DELETE /apis/ostler.dev/v1alpha1/gpunodes/a\n"

#define READY_STATUS(since) "{" SAYS_READY(since) ",'policyGeneration':4}"
#define NEW_CONDITION(members)                                                                     \
    "{'type':'GpuReady'," members ",'lastHeartbeatTime':'" NOW "','lastTransitionTime':'" NOW "'}"
#define NO_CONDITION "{'$patch':'delete','type':'GpuReady'}"

/* ---- a node in service */

static const struct log_tail words = { .pod = "ops/d",
                                       .container = "driver",
                                       .text = "no headers" };
static const struct log_tail no_words = { .pod = "ops/d", .container = "driver" };

static const struct gpu_node_case ready_rows[] = {
    { "all has been said", .report = SAYS_READY(BEFORE) ",'policyGeneration':4", .requests = "" },
    { "all has been said, under an older policy",
      .report = SAYS_READY(BEFORE) ",'policyGeneration':3", .requests = "" },
    { "another client edits a report",
      .report = "'state':'Ready','reason':'Nice','since':'" BEFORE "'", .requests = STATUS,
      .status = READY_STATUS(BEFORE) },
    { "the time of a state is not as it was written",
      .report = "'state':'Ready','since':'yesterday'", .requests = STATUS,
      .status = READY_STATUS(NOW) },
    { "the time of a state is still to come",
      .report = SAYS_READY("2026-11-22T10:00:00Z") ",'policyGeneration':4", .requests = STATUS,
      .status = READY_STATUS(NOW) },
    { "stages that pass are not written by themselves",
      .report = SAYS_READY(BEFORE) ",'policyGeneration':4,"
                                   "'timeToReady':{'seen':'" BEFORE "','images':7}",
      .requests = "" },
    { "GPUs, their product, and the last words of what failed", .gpus = 8, .product = "H100",
      .words = &words, .requests = APPLY STATUS,
      .status = "{'gpus':8,'product':'H100','lastWords':{'pod':'ops/d','container':'driver',"
                "'text':'no headers'}," SAYS_READY(NOW) ",'policyGeneration':4}" },
    { "of words that did not come nothing is said", .words = &no_words, .requests = APPLY STATUS,
      .status = READY_STATUS(NOW) },
    { "GPU pods of a node that waits for no pod", .report = SAYS_READY(BEFORE),
      .pods = GPU_POD("b", ""), .requests = "" },
    { "a node that is being deleted", .report = SAYS_READY(BEFORE),
      .node = ",'deletionTimestamp':'t'", .requests = DELETE },
    { "the report of an earlier node of this name", .report = SAYS_READY(BEFORE), .owner = "other",
      .requests = DELETE },
    { "the collector takes what was seen of an earlier node of this name",
      .report = SAYS_READY(BEFORE) ",'inventory':{}", .owner = "other", .managing = true,
      .requests = "" },
    { "what its agent has seen is not Ostler's to say",
      .report = SAYS_READY(BEFORE) ",'inventory':{'gpus':[]},'policyGeneration':4",
      .requests = "" },
    { "a report that its agent made", .report = "'inventory':{'gpus':[]}", .owner = "",
      .requests = APPLY STATUS, .status = READY_STATUS(NOW) },
    { "a version that the policy asks for failed on another node", .failed = "toolkit 1.19",
      .runs = "toolkit 1.18", .requests = APPLY STATUS,
      .status =
          "{'state':'Ready','reason':'RevisionFailed','message':'the node works and runs toolkit "
          "1.18 in place of toolkit 1.19, which the policy asks for and which failed on "
          "gpu-1 with NoAllocatableGpus; correct the policy, or retry the revision: kubectl "
          "annotate gpuclusterpolicy default ostler.dev/retry=twfs0h0r29.2 --overwrite',"
          "'since':'" NOW "','next':{'reason':'RevisionFailed','message':'nothing, until a user "
          "corrects the policy or retries the version'}," TIERS ",'policyGeneration':4}" },
    { "a version that the policy asks for failed on this node", .failure = "a Error",
      .failed = "toolkit 1.19", .runs = "toolkit 1.18", .requests = APPLY STATUS,
      .status = "{'state':'Ready','reason':'RolledBack','message':'the node works and runs toolkit "
                "1.18 in place of toolkit 1.19, which the policy asks for and which failed on "
                "a with Error; correct the policy, or retry the revision: kubectl "
                "annotate gpuclusterpolicy default ostler.dev/retry=twfs0h0r29.2 --overwrite',"
                "'since':'" NOW "','next':{'reason':'RolledBack','message':'nothing, until a user "
                "corrects the policy or retries the version'}," TIERS ",'policyGeneration':4}" },
};

static void check_ready(void **state)
{
    struct gpu_node_case c = *(const struct gpu_node_case *) *state;
    c.condition = IS_READY;
    c.state = NODE_READY;
    gpu_node_case_check(&c);
}

/* ---- a node that waits until a pod has started */

#define STARTING_WITH(reason, since)                                                               \
    "'state':'Installing','reason':'" reason "','message':'pod ops/x is starting',"                \
    "'since':'" since "','waitingFor':[{'kind':'Pod','namespace':'ops','name':'x',"                \
    "'reason':'" reason "','message':'the node\\u0027s toolkit'}],"                                \
    "'next':{'reason':'PodStarting','message':'when every operand is up, a CUDA program must "     \
    "run on a GPU; then the node is Ready'}," TIERS
#define SAYS_STARTING(since) STARTING_WITH("PodStarting", since)
#define IS_STARTING(pod)                                                                           \
    "'status':'False','reason':'PodStarting','message':'pod ops/" pod " is starting'"
/* The status of the condition stays: it has no new transition time. */
#define SAME_CONDITION(members) "{'type':'GpuReady'," members ",'lastHeartbeatTime':'" NOW "'}"

static const struct gpu_node_case starting_rows[] = {
    { "another state begins now", .report = SAYS_READY(BEFORE), .condition = IS_READY,
      .requests = STATUS CONDITION, .status = "{" SAYS_STARTING(NOW) ",'policyGeneration':4}",
      .said = NEW_CONDITION(IS_STARTING("x")) },
    { "another sentence in the same state", .report = SAYS_STARTING(BEFORE),
      .condition = IS_STARTING("w"), .told_ms = 60000, .requests = CONDITION,
      .said = SAME_CONDITION(IS_STARTING("x")) },
    { "another sentence a moment after the last", .report = SAYS_STARTING(BEFORE),
      .condition = IS_STARTING("w"), .told_ms = 20000, .requests = "", .again_ms = 40000 },
    { "another reason a moment after the last", .report = SAYS_STARTING(BEFORE),
      .condition = "'status':'False','reason':'PodMissing','message':'pod ops/x is starting'",
      .requests = CONDITION, .said = SAME_CONDITION(IS_STARTING("x")) },
    { "a pod that does not come up is told in the kubelet's word", .report = SAYS_STARTING(BEFORE),
      .condition = IS_STARTING("x"), .trouble = "CrashLoopBackOff: it ended", .requests = STATUS,
      .status = "{" STARTING_WITH("CrashLoopBackOff", BEFORE) ",'policyGeneration':4}" },
};

static void check_starting(void **state)
{
    struct gpu_node_case c = *(const struct gpu_node_case *) *state;
    c.state = NODE_INSTALLING;
    c.reason = "PodStarting";
    c.message = "pod ops/x is starting";
    c.pod = "ops/x";
    gpu_node_case_check(&c);
}

/* ---- a node that begins, is let go of, or is gone */

static const struct gpu_node_case ends_rows[] = {
    { "a node that is first looked after", .state = NODE_READY, .requests = APPLY STATUS CONDITION,
      .status = READY_STATUS(NOW), .said = NEW_CONDITION(IS_READY) },
    { "without the CRD there is the condition", .no_crd = true, .state = NODE_READY,
      .requests = CONDITION, .said = NEW_CONDITION(IS_READY) },
    { "a node that another stack serves has only a report", .state = NODE_FOREIGN,
      .reason = "ForeignStack", .message = "m", .condition = IS_READY,
      .requests = APPLY STATUS CONDITION,
      .status = "{'state':'ForeignStack','reason':'ForeignStack','message':'m','since':'" NOW
                "'," TIERS ",'policyGeneration':4}",
      .said = NO_CONDITION },
    { "a node that is let go of", .report = SAYS_READY(BEFORE), .condition = IS_READY,
      .state = NODE_UNMANAGED, .requests = DELETE CONDITION, .said = NO_CONDITION },
    { "a node that was never looked after", .state = NODE_UNMANAGED, .requests = "" },
    { "a node that is gone", .report = SAYS_READY(BEFORE), .gone = true, .requests = DELETE },
    { "a name that nothing is known of", .gone = true, .requests = "" },
    { "what was said of a node that is left alone is not said again",
      .report = "'inventory':{},'state':'Unmanaged','reason':'NoGpu',"
                "'message':'no GPU was found on the node','since':'" BEFORE
                "','policyGeneration':3",
      .state = NODE_UNMANAGED, .managing = true, .requests = "" },
    { "an agent makes the report a moment before it speaks", .report = "", .owner = "",
      .state = NODE_UNMANAGED, .managing = true, .requests = "" },
    { "what an agent has made for an unknown node goes when the server has none", .report = "",
      .owner = "", .gone = true, .managing = true, .requests = LOOK DELETE },
    { "without a policy no agent is to report", .report = "", .owner = "", .state = NODE_UNMANAGED,
      .requests = DELETE },
    { "what is Ostler's own goes, whatever was taken from it", .report = SAYS_READY(BEFORE),
      .owner = "", .state = NODE_UNMANAGED, .managing = true, .requests = DELETE },
    { "what an agent has reported of an unknown node goes when the server has none",
      .report = "'inventory':{}", .owner = "", .gone = true, .managing = true,
      .requests = LOOK DELETE },
    { "what an agent has seen of a node that is gone goes with it", .report = "'inventory':{}",
      .gone = true, .managing = true, .requests = "" },
    { "with the policy goes what its agent has seen", .report = "'inventory':{}",
      .state = NODE_UNMANAGED, .requests = DELETE },
    { "as long as its agent is up, which would only say it again, it stays",
      .report = "'inventory':{}", .state = NODE_UNMANAGED, .agent = true, .requests = "" },
};

static void check_ends(void **state)
{
    gpu_node_case_check(*state);
}

/* ---- a node that is left alone, of which its agent has seen something */

#define LEFT_ALONE(why) "Ostler leaves the node alone because " why
#define OPTED_OUT(label, key)                                                                      \
    LEFT_ALONE("of its label " label "; to have it managed, run: kubectl label node a " key "-")

static const struct alone_row {
    const char *name;
    const char *was; /* what the report says besides */
    bool gpu;        /* a GPU was found */
    const char *product;
    const char *node; /* members of the Node's metadata */
    const char *reason, *message;
} alone_rows[] = {
    { "a node that is let go of keeps what its agent has seen", SAYS_READY(BEFORE) ",", false, NULL,
      NULL, "NoGpu", "no GPU was found on the node" },
    { "a node that is told to be left alone says so, and how that ends", "", true, "H100",
      ",'labels':{'ostler.dev/managed':'false'}", "OptedOut",
      OPTED_OUT("ostler.dev/managed=false", "ostler.dev/managed") },
    { "the label of another operator counts", "", true, NULL,
      ",'labels':{'nvidia.com/gpu.deploy.operands':'false'}", "OptedOut",
      OPTED_OUT("nvidia.com/gpu.deploy.operands=false", "nvidia.com/gpu.deploy.operands") },
    { "a node that the policy does not select says so", "", true, NULL, NULL, "NotSelected",
      LEFT_ALONE("spec.nodes.selector of the policy does not match its labels") },
};

static void check_alone(void **state)
{
    const struct alone_row *row = *state;
    CLEANUP_FREE char *report = xasprintf("%s'inventory':{}", row->was);
    CLEANUP_FREE char *product = row->product ? xasprintf("'product':'%s',", row->product) : NULL;
    CLEANUP_FREE char *status = xasprintf(
        "{'state':'Unmanaged','reason':'%s','message':'%s','since':'" NOW
        "',%s'policyGeneration':4}",
        row->reason, row->message, str_or_empty(product));
    gpu_node_case_check(&(struct gpu_node_case){ .name = row->name,
                                                 .report = report,
                                                 .node = row->node,
                                                 .gpu = row->gpu,
                                                 .state = NODE_UNMANAGED,
                                                 .managing = true,
                                                 .product = row->product,
                                                 .requests = STATUS,
                                                 .status = status });
}

/* ---- what is sent */

static void check_bodies(void **state)
{
    (void) state;
    struct gpu_node_scene s;
    gpu_node_scene_init(&s, &(struct gpu_node_case){ .state = NODE_READY });
    gpu_node_plan(&s.in, &s.arena, &s.actions);
    CLEANUP_JSON json_t *report = gpu_node_scene_body(&s, VERB_APPLY),
                        *condition = gpu_node_scene_body(&s, VERB_CONDITION);
    assert_tree(report,
                "{'apiVersion':'ostler.dev/v1alpha1','kind':'GpuNode','metadata':{'name':'a',"
                "'labels':{'app.kubernetes.io/managed-by':'ostler'},"
                "'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'a','uid':'u'}]}}");
    /* Only this incarnation of the node. */
    assert_string_equal(json_str(condition, "metadata.uid"), "u");
    assert_true(s.actions.keep_going);
    gpu_node_scene_clear(&s);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_ready, ready_rows);
    SUITE_ROWS(&s, check_starting, starting_rows);
    SUITE_ROWS(&s, check_ends, ends_rows);
    SUITE_ROWS(&s, check_alone, alone_rows);
    suite_add(&s, "a new report and its condition", check_bodies, NULL);
    return suite_run(&s, "gpu_node");
}
