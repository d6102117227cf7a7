/* What is counted of nodes, and how much text that can become. */
#include "reconcilers/fleet_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

enum { TEXT_MAX = 1 << 20 };

struct fixture {
    struct metrics *registry;
    struct fleet_metrics m;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->registry = metrics_new(1024);
    fleet_metrics_add(&f->m, f->registry);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    metrics_free(f->registry);
    free(f);
    return 0;
}

static void expect(const struct fixture *f, const char *line, bool there)
{
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    metrics_text(f->registry, &text);
    CLEANUP_FREE char *whole = xasprintf("\n%s\n", line);
    if (!strstr(buf_text(&text), whole) == there)
        fail_msg("%s %s\n%s", line, there ? "is not in" : "is in", buf_text(&text));
}

/* ---- what happens to a node */

static const struct row {
    const char *name;
    struct node_summary before;
    struct node_verdict v;
    const char *there, *not_there; /* lines; NULL: none */
} rows[] = {
    { "a state that was seen from its beginning",
      { .counted = true, .state = NODE_INSTALLING, .since_s = 1000 },
      { .state = NODE_READY },
      "ostler_node_state_seconds_sum{state=\"Installing\"} 42",
      NULL },
    { "and lies in its bucket",
      { .counted = true, .state = NODE_INSTALLING, .since_s = 1000 },
      { .state = NODE_READY },
      "ostler_node_state_seconds_bucket{state=\"Installing\",le=\"60\"} 1",
      "ostler_node_state_seconds_bucket{state=\"Installing\",le=\"30\"} 1" },
    { "a state that began at an unknown time",
      { .counted = true, .state = NODE_INSTALLING },
      { .state = NODE_READY },
      NULL,
      "ostler_node_state_seconds_count{state=\"Installing\"} 1" },
    { "a state that goes on",
      { .counted = true, .state = NODE_READY, .since_s = 1000 },
      { .state = NODE_READY },
      NULL,
      "ostler_node_state_seconds_count{state=\"Ready\"} 1" },
    { "a node that is first looked at",
      { .counted = false },
      { .state = NODE_FAILED, .failed_with = REASON_ERROR, .restoring = true },
      NULL,
      "ostler_upgrade_failures_total{reason=\"Error\"} 1" },
    { "an upgrade that fails",
      { .counted = true, .state = NODE_INSTALLING },
      { .state = NODE_FAILED, .failed_with = REASON_CRASH_LOOP_BACK_OFF },
      "ostler_upgrade_failures_total{reason=\"CrashLoopBackOff\"} 1",
      NULL },
    { "an upgrade whose proof fails",
      { .counted = true, .state = NODE_VALIDATING },
      { .state = NODE_FAILED, .failed_with = REASON_VALIDATION_FAILED },
      "ostler_upgrade_failures_total{reason=\"ValidationFailed\"} 1",
      NULL },
    { "a drain that takes too long",
      { .counted = true, .state = NODE_DRAINING },
      { .state = NODE_FAILED, .failed_with = REASON_DRAIN_TIMEOUT },
      "ostler_upgrade_failures_total{reason=\"DrainTimeout\"} 1",
      NULL },
    { "an image that a kubelet cannot pull",
      { .counted = true, .state = NODE_INSTALLING },
      { .state = NODE_FAILED, .failed_with = REASON_IMAGE_PULL_BACK_OFF },
      "ostler_upgrade_failures_total{reason=\"ImagePullBackOff\"} 1",
      NULL },
    { "a word that neither Ostler nor a kubelet says",
      { .counted = true, .state = NODE_INSTALLING },
      { .state = NODE_FAILED, .failed_with = REASON_OTHER },
      "ostler_upgrade_failures_total{reason=\"Other\"} 1",
      "ostler_upgrade_failures_total{reason=\"gpu1IsMine\"} 1" },
    { "one that has failed already",
      { .counted = true, .state = NODE_FAILED, .failed = true },
      { .state = NODE_FAILED, .failed_with = REASON_ERROR },
      NULL,
      "ostler_upgrade_failures_total{reason=\"Error\"} 1" },
    { "a repair that helped",
      { .counted = true, .state = NODE_VALIDATING },
      { .state = NODE_READY, .repaired = { REPAIR_SUCCEEDED, REPAIR_REBOOT } },
      "ostler_gpu_repairs_total{kind=\"reboot\",result=\"succeeded\"} 1",
      NULL },
    { "one that did not",
      { .counted = true, .state = NODE_VALIDATING },
      { .state = NODE_FAILED, .repaired = { REPAIR_FAULT_REMAINS, REPAIR_RESET } },
      "ostler_gpu_repairs_total{kind=\"reset\",result=\"fault_remains\"} 1",
      NULL },
    { "a reset that was not made, in the first pass after a start: its write is still to come",
      { .counted = false },
      { .state = NODE_REBOOTING, .repaired = { REPAIR_FAILED, REPAIR_RESET } },
      "ostler_gpu_repairs_total{kind=\"reset\",result=\"failed\"} 1",
      NULL },
    { "the same pass before its write is seen",
      { .counted = true, .state = NODE_REBOOTING, .repaired = { REPAIR_FAILED, REPAIR_RESET } },
      { .state = NODE_REBOOTING, .repaired = { REPAIR_FAILED, REPAIR_RESET } },
      "ostler_gpu_repairs_total{kind=\"reset\",result=\"failed\"} 0",
      NULL },
    { "another attempt ends",
      { .counted = true, .state = NODE_REBOOTING, .repaired = { REPAIR_FAILED, REPAIR_RESET } },
      { .state = NODE_FAILED, .repaired = { REPAIR_FAILED, REPAIR_REBOOT } },
      "ostler_gpu_repairs_total{kind=\"reboot\",result=\"failed\"} 1",
      NULL },
    { "a node that begins to go back",
      { .counted = true, .state = NODE_FAILED, .failed = true },
      { .state = NODE_UNLOADING, .restoring = true },
      "ostler_rollbacks_total{pool=\"h100\"} 1",
      NULL },
    { "one that is on its way back",
      { .counted = true, .state = NODE_UNLOADING, .restoring = true },
      { .state = NODE_INSTALLING, .restoring = true },
      NULL,
      "ostler_rollbacks_total{pool=\"h100\"} 1" },
};

static void check(void **state)
{
    const struct row *row = *state;
    void *fixture;
    set_up(&fixture);
    const struct fixture *f = fixture;
    fleet_metrics_node(&((struct fixture *) fixture)->m, "h100", &row->before, &row->v, 1042);
    if (row->there)
        expect(f, row->there, true);
    if (row->not_there)
        expect(f, row->not_there, false);
    tear_down(&fixture);
}

/* ---- new nodes */

static void stages_count_when_all_of_them_were_seen(void **state)
{
    struct fixture *f = *state;
    fleet_metrics_ready(&f->m,
                        &(struct node_stages){ .seen_s = 1, .reached = { 21, 96, 111, 131 } });
    fleet_metrics_ready(&f->m, &(struct node_stages){ .seen_s = 1,
                                                      .reached = { 21, 0, 111, 131 },
                                                      .missed = 1 << STAGE_DRIVER });
    expect(f, "ostler_node_stage_seconds_sum{stage=\"images\"} 20", true);
    expect(f, "ostler_node_stage_seconds_sum{stage=\"driver\"} 75", true);
    expect(f, "ostler_node_stage_seconds_sum{stage=\"registered\"} 15", true);
    expect(f, "ostler_node_stage_seconds_sum{stage=\"proven\"} 20", true);
    expect(f, "ostler_node_stage_seconds_count{stage=\"proven\"} 1", true);
    expect(f, "ostler_node_ready_seconds_sum 130", true);
    expect(f, "ostler_node_ready_seconds_count 1", true);
}

/* ---- words */

/* The word stands in an annotation of the node, which others may write. */
static void words_of_nodes_make_no_series(void **state)
{
    struct fixture *f = *state;
    const struct node_summary before = { .counted = true, .state = NODE_INSTALLING };
    for (int i = 0; i < 2000; i++) {
        CLEANUP_FREE char *word = xasprintf("Word%d", i);
        const struct node_verdict v = { .state = NODE_FAILED,
                                        .failed_with = reason_parse(word),
                                        .word = word };
        fleet_metrics_node(&f->m, "h100", &before, &v, 1042);
    }
    expect(f, "ostler_upgrade_failures_total{reason=\"Other\"} 2000", true);
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    metrics_text(f->registry, &text);
    assert_null(strstr(buf_text(&text), "reason=\"Word"));
}

/* ---- evictions */

static void evictions_count_by_what_the_server_said(void **state)
{
    struct fixture *f = *state;
    static const struct {
        bool evicts, dry_run;
        enum err_kind error;
    } answers[] = {
        { true, true, ERR_NONE },    { true, false, ERR_NONE },   { true, true, ERR_BUDGET },
        { true, false, ERR_BUDGET }, { true, false, ERR_SERVER }, { false, false, ERR_SERVER },
        { true, false, ERR_NONE },
    };
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct request request = { .evicts = answers[i].evicts, .dry_run = answers[i].dry_run };
        struct err e = { .kind = answers[i].error };
        fleet_metrics_answered(&f->m, &request, &e);
    }
    expect(f, "ostler_evictions_total{outcome=\"evicted\"} 2", true);
    expect(f, "ostler_evictions_total{outcome=\"refused\"} 2", true);
    expect(f, "ostler_evictions_total{outcome=\"error\"} 1", true);
}

/* ---- sums */

static void sums_are_those_of_the_cluster(void **state)
{
    struct fixture *f = *state;
    struct testbed t;
    CLEANUP_JSON json_t *policy = tree(
        "{'spec':{'pools':[{'name':'h100','nodeSelector':{'shape':'h100'}}]}}");
    testbed_init(&t, policy);
    for (int i = 0; i < 3; i++) {
        CLEANUP_FREE char *text = xasprintf(
            "{'name':'gpu-%d','labels':{'nvidia.com/gpu.present':'true','shape':'%s'}}", i,
            i ? "h100" : "l4");
        CLEANUP_JSON json_t *brief = tree(text);
        testbed_put(&t, RESOURCE_NODE, testbed_node(brief));
    }
    testbed_settle(&t, true, NULL);
    struct rollout_report rollout = { .known = true,
                                      .hold = ROLLOUT_HOLD_SOAK,
                                      .pending = 2,
                                      .done = 1,
                                      .slots = { 1, 2 },
                                      .out = { 1, 3 },
                                      .out_gpus = { 8, SIZE_MAX } };
    fleet_metrics_show(&f->m, t.cluster, &rollout);
    expect(f, "ostler_nodes{state=\"Ready\",pool=\"h100\"} 2", true);
    expect(f, "ostler_nodes{state=\"Ready\",pool=\"default\"} 1", true);
    expect(f, "ostler_rollout_nodes{state=\"pending\"} 2", true);
    expect(f, "ostler_rollout_state{reason=\"Soaking\"} 1", true);
    expect(f, "ostler_rollout_used{budget=\"maxParallel\"} 1", true);
    expect(f, "ostler_rollout_limit{budget=\"maxUnavailable\"} 3", true);
    expect(f, "ostler_rollout_used{budget=\"maxUnavailableGpus\"} 8", true);
    rollout.hold = ROLLOUT_HOLD_DONE;
    testbed_remove(&t, RESOURCE_NODE, "gpu-0");
    fleet_metrics_show(&f->m, t.cluster, &rollout);
    expect(f, "ostler_rollout_state{reason=\"UpToDate\"} 1", true);
    expect(f, "ostler_rollout_state{reason=\"Soaking\"} 1", false);
    expect(f, "ostler_nodes{state=\"Ready\",pool=\"default\"} 1", false);
    testbed_clear(&t);
}

/* A machine, what its agent has said and whether that is up. */
static void agents_count_by_what_their_word_is_worth(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *boot, *inventory; /* NULL: nothing was said */
        bool up;
    } nodes[] = {
        { "b1", "{'bootId':'b1'}", true },
        { "b1", "{'bootId':'b1'}", true },
        { "b2", "{'bootId':'b1'}", true },
        { "b1", "{'gpus':[]}", true },
        { "b1", "{'bootId':'b1'}", false },
        { "b1", NULL, true },
        { "b1", NULL, false },
    };
    struct testbed t;
    testbed_init(&t, NULL);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        CLEANUP_FREE char *name = xasprintf("n-%zu", i),
                          *pod = xasprintf("ostler-operands/node-agent-%zu", i);
        CLEANUP_JSON json_t *node = json_pack("{s:s, s:s}", "name", name, "boot", nodes[i].boot);
        CLEANUP_JSON json_t *agent = json_pack("{s:s, s:s, s:s, s:b}", "name", pod, "node", name,
                                               "operand", "node-agent", "ready", nodes[i].up);
        testbed_put(&t, RESOURCE_NODE, testbed_node(node));
        testbed_put(&t, RESOURCE_POD, testbed_pod(agent));
        if (nodes[i].inventory)
            testbed_put(&t, RESOURCE_GPU_NODE,
                        json_pack("{s:{s:s}, s:{s:o}}", "metadata", "name", name, "status",
                                  "inventory", tree(nodes[i].inventory)));
    }
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    expect(f, "ostler_agents{word=\"Current\"} 2", true);
    expect(f, "ostler_agents{word=\"Old\"} 2", true);
    expect(f, "ostler_agents{word=\"Down\"} 1", true);
    expect(f, "ostler_agents{word=\"None\"} 1", true);
    testbed_clear(&t);
}

/* Cards as agents count them; what the kubelet offers where none has spoken. Of a node that is not
 * served none counts. */
static void gpus_count_by_what_they_are_worth(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *node, *inventory; /* NULL: nothing was said */
        enum node_state state;
    } nodes[] = {
        { "{'gpus':8}", "{'gpus':[{'address':'0000:01:00.0','bus':'Answers','driver':'nvidia'}]}",
          NODE_READY },
        { "{'gpus':4}",
          "{'gpus':[{'address':'0000:01:00.0','bus':'Answers','driver':'nvidia'},"
          "{'address':'0000:02:00.0','bus':'Answers','driver':'vfio-pci'}]}",
          NODE_READY },
        { "{}",
          "{'gpus':[{'address':'0000:01:00.0','bus':'Answers'},{'address':'0000:02:00.0','bus':'"
          "Gone'}]}",
          NODE_FAILED },
        { "{'gpus':2}", NULL, NODE_READY },
        { "{'gpus':2}", NULL, NODE_DRAINING },
        { "{'gpus':1}", NULL, NODE_LOST },
        { "{'gpus':64}", NULL, NODE_FOREIGN },
        { "{'gpus':64}", NULL, NODE_UNMANAGED },
    };
    struct testbed t;
    testbed_init(&t, NULL);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        CLEANUP_FREE char *name = xasprintf("n-%zu", i);
        CLEANUP_JSON json_t *node = tree(nodes[i].node);
        json_object_set_new(node, "name", json_string(name));
        testbed_put(&t, RESOURCE_NODE, testbed_node(node));
        if (nodes[i].inventory)
            testbed_put(&t, RESOURCE_GPU_NODE,
                        json_pack("{s:{s:s}, s:{s:o}}", "metadata", "name", name, "status",
                                  "inventory", tree(nodes[i].inventory)));
        struct node_slot *slot = map_get(&t.cluster->slots, name);
        slot->summary.counted = true;
        slot->summary.state = nodes[i].state;
    }
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    expect(f, "ostler_gpus{state=\"present\"} 8", true);
    expect(f, "ostler_gpus{state=\"ready\"} 4", true);
    expect(f, "ostler_gpus{state=\"lost\"} 1", true);
    for (size_t i = 0; i < t.cluster->slots.len; i++)
        t.cluster->by_name[i]->summary = (struct node_summary){ 0 };
    testbed_clear(&t);
}

/* Nodes count by the worst fault of their GPUs, if Ostler has to do with them. */
static void nodes_count_by_the_health_of_their_gpus(void **state)
{
    struct fixture *f = *state;
    static const char lost[] = "{'bootId':'b','health':[{'address':'0000:01:00.0','lost':true}]}",
                      pending[] = "{'bootId':'b','health':[{'address':'0000:01:00.0',"
                                  "'remapPending':true}]}";
    static const struct {
        const char *inventory;
        enum node_state state;
    } nodes[] = {
        { lost, NODE_READY },    { lost, NODE_LOST },  { lost, NODE_UNMANAGED },
        { pending, NODE_READY }, { "{}", NODE_READY },
    };
    struct testbed t;
    testbed_init(&t, NULL);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        CLEANUP_FREE char *name = xasprintf("n-%zu", i);
        CLEANUP_JSON json_t *node = json_pack("{s:s, s:s}", "name", name, "boot", "b");
        testbed_put(&t, RESOURCE_NODE, testbed_node(node));
        testbed_put(&t, RESOURCE_GPU_NODE,
                    json_pack("{s:{s:s}, s:{s:o}}", "metadata", "name", name, "status", "inventory",
                              tree(nodes[i].inventory)));
        struct node_slot *slot = map_get(&t.cluster->slots, name);
        slot->summary.counted = true;
        slot->summary.state = nodes[i].state;
    }
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    expect(f, "ostler_nodes_health{level=\"Reboot\"} 2", true);
    expect(f, "ostler_nodes_health{level=\"ResetWhenIdle\"} 1", true);
    expect(f, "ostler_nodes_health{level=\"Human\"} 0", true);
    expect(f, "ostler_nodes_health{level=\"None\"} 0", false);
    for (size_t i = 0; i < t.cluster->slots.len; i++)
        t.cluster->by_name[i]->summary = (struct node_summary){ 0 };
    testbed_clear(&t);
}

/* One node is closed for 100 s, another for the last 40 s of these and 60 s more; it is deleted
 * then, which the next scrape sees. */
static void closed_nodes_count_by_the_second(void **state)
{
    struct fixture *f = *state;
    struct testbed t;
    CLEANUP_JSON json_t *policy = tree("{}");
    testbed_init(&t, policy);
    int64_t now_s = cluster_now_s(t.cluster);
    const struct node_summary open = { .counted = true, .state = NODE_READY }, closed = {
        .counted = true, .state = NODE_UNHEALTHY, .unhealthy = true
    };
    const struct node_verdict opens = { .state = NODE_READY },
                              closes = { .state = NODE_UNHEALTHY, .unhealthy = true };
    fleet_metrics_node(&f->m, "", &(struct node_summary){ 0 }, &closes, now_s - 160);
    fleet_metrics_node(&f->m, "", &closed, &closes, now_s - 150);
    fleet_metrics_node(&f->m, "", &open, &closes, now_s - 100);
    fleet_metrics_node(&f->m, "", &closed, &opens, now_s - 60);
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    expect(f, "ostler_nodes_closed_seconds_total 200", true);
    assert_int_equal(f->m.closed, 0);
    fleet_metrics_node(&f->m, "", &open, &closes, now_s + 60);
    fleet_metrics_node(&f->m, "", &closed, &opens, now_s + 61);
    expect(f, "ostler_nodes_closed_seconds_total 201", true);
    testbed_clear(&t);
}

static void brake_is_that_of_the_cluster(void **state)
{
    struct fixture *f = *state;
    struct testbed t;
    CLEANUP_JSON json_t *policy = tree("{}");
    testbed_init(&t, policy);
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    expect(f, "ostler_health_brake 0", true);
    t.cluster->brake.now.on = true;
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    expect(f, "ostler_health_brake 1", true);
    testbed_clear(&t);
}

static void conditions_are_those_of_the_policy(void **state)
{
    struct fixture *f = *state;
    struct testbed t;
    CLEANUP_JSON json_t *policy = tree(
        "{'spec':{},'status':{'conditions':[{'type':'Ready','status':'False','reason':'X'},"
        "{'type':'Stalled','status':'True'},{'type':'RollingOut','status':'Maybe'},"
        "{'type':'Degraded','status':'True','reason':'GpusUnhealthy'},"
        "{'type':'Ours','status':'True'}]}}");
    testbed_init(&t, policy);
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    expect(f, "ostler_policy_condition{condition=\"Ready\",status=\"False\",reason=\"Other\"} 1",
           true);
    expect(f, "ostler_policy_condition{condition=\"Stalled\",status=\"True\",reason=\"\"} 1", true);
    expect(f,
           "ostler_policy_condition{condition=\"Degraded\",status=\"True\","
           "reason=\"GpusUnhealthy\"} 1",
           true);
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    metrics_text(f->registry, &text);
    assert_null(strstr(buf_text(&text), "Maybe"));
    assert_null(strstr(buf_text(&text), "Ours"));
    testbed_clear(&t);
}

/* Whatever the cluster: states times pools, and no name of a node. */
static void text_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct testbed t;
    testbed_init(&t, NULL);
    for (size_t pool = 0; pool < TALLY_POOLS_MAX; pool++)
        for (int i = 0; i < NODE_STATE_COUNT; i++)
            t.cluster->tally.pools[pool].states[i] = 5000;
    fleet_metrics_show(&f->m, t.cluster, &(struct rollout_report){ .known = true });
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    metrics_text(f->registry, &text);
    assert_true(text.len < 100 << 10);
    memset(&t.cluster->tally, 0, sizeof t.cluster->tally);
    testbed_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add_fixture(&s, "stages count when all of them were seen",
                      stages_count_when_all_of_them_were_seen, set_up, tear_down);
    suite_add_fixture(&s, "words of nodes make no series", words_of_nodes_make_no_series, set_up,
                      tear_down);
    suite_add_fixture(&s, "evictions count by what the server said",
                      evictions_count_by_what_the_server_said, set_up, tear_down);
    suite_add_fixture(&s, "sums are those of the cluster", sums_are_those_of_the_cluster, set_up,
                      tear_down);
    suite_add_fixture(&s, "agents count by what their word is worth",
                      agents_count_by_what_their_word_is_worth, set_up, tear_down);
    suite_add_fixture(&s, "GPUs count by what they are worth", gpus_count_by_what_they_are_worth,
                      set_up, tear_down);
    suite_add_fixture(&s, "nodes count by the health of their GPUs",
                      nodes_count_by_the_health_of_their_gpus, set_up, tear_down);
    suite_add_fixture(&s, "closed nodes count by the second", closed_nodes_count_by_the_second,
                      set_up, tear_down);
    suite_add_fixture(&s, "the storm brake is that of the cluster", brake_is_that_of_the_cluster,
                      set_up, tear_down);
    suite_add_fixture(&s, "conditions are those of the policy", conditions_are_those_of_the_policy,
                      set_up, tear_down);
    suite_add_fixture(&s, "the text is bounded", text_is_bounded, set_up, tear_down);
    return suite_run(&s, "fleet_metrics");
}
