/* When the noise of a driver that is changed is no fault; what is said of a verdict, and when. The
 * verdicts are in tests/cases/health/. */
#include "reconcilers/decide/health_report.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* ---- the time of a change, look by look */

enum { LOOKS_MAX = 4 };

static const struct quiet_row {
    const char *name;
    struct {
        enum claim_phase phase; /* NONE: no claim */
        int64_t claimed_s, since_s, now_s;
    } looks[LOOKS_MAX]; /* until the first at 0 */
    struct health_quiet want;
} quiet_rows[] = {
    { "a node without a claim", { { CLAIM_NONE, .now_s = 100 } }, { 0, 0 } },
    { "jobs are waited for", { { CLAIM_WAITING, 100, 100, 150 } }, { 0, 0 } },
    { "pods leave", { { CLAIM_DRAINING, 100, 120, 150 } }, { 0, 0 } },
    { "the driver leaves", { { CLAIM_UNLOADING, 100, 150, 160 } }, { 150, 220 } },
    { "and comes",
      { { CLAIM_UNLOADING, 100, 150, 160 }, { CLAIM_INSTALLING, 100, 170, 175 } },
      { 150, 235 } },
    { "and works",
      { { CLAIM_UNLOADING, 100, 150, 160 },
        { CLAIM_INSTALLING, 100, 170, 175 },
        { CLAIM_VALIDATING, 100, 400, 405 } },
      { 150, 465 } },
    { "the claim is over",
      { { CLAIM_UNLOADING, 100, 150, 160 }, { CLAIM_NONE, .now_s = 500 } },
      { 150, 220 } },
    { "Ostler starts while the driver comes",
      { { CLAIM_INSTALLING, 100, 170, 175 } },
      { 100, 235 } },
    { "nothing was looked at while the driver came",
      { { CLAIM_UNLOADING, 100, 150, 160 }, { CLAIM_VALIDATING, 100, 900, 905 } },
      { 150, 965 } },
    { "the target changes, and the driver leaves again at once",
      { { CLAIM_UNLOADING, 100, 150, 160 },
        { CLAIM_INSTALLING, 100, 170, 175 },
        { CLAIM_UNLOADING, 100, 180, 185 } },
      { 150, 245 } },
    { "the change failed",
      { { CLAIM_UNLOADING, 100, 150, 160 }, { CLAIM_FAILED, 100, 700, 705 } },
      { 150, 220 } },
    { "it failed and is tried again: between them nothing was changed",
      { { CLAIM_UNLOADING, 100, 150, 160 },
        { CLAIM_FAILED, 100, 700, 705 },
        { CLAIM_UNLOADING, 100, 900, 905 } },
      { 900, 965 } },
    { "another claim",
      { { CLAIM_UNLOADING, 100, 150, 160 }, { CLAIM_INSTALLING, 2000, 2070, 2075 } },
      { 2000, 2135 } },
};

static void check_quiet(void **state)
{
    const struct quiet_row *row = *state;
    struct health_quiet q = { 0 };
    for (size_t i = 0; i < LOOKS_MAX && row->looks[i].now_s; i++) {
        struct claim claim = { .phase = row->looks[i].phase,
                               .claimed_s = row->looks[i].claimed_s,
                               .since_s = row->looks[i].since_s };
        health_quiet_take(&q, row->looks[i].phase == CLAIM_NONE ? NULL : &claim,
                          row->looks[i].now_s);
    }
    assert_int_equal(q.from_s, row->want.from_s);
    assert_int_equal(q.until_s, row->want.until_s);
}

/* A change of the driver, from 150 to 220, and a later claim. */
static const struct later_row {
    const char *name, *from, *to; /* drivers of the later claim */
    unsigned attempt;
    struct health_quiet want;
} later_rows[] = {
    { "the driver stays", "d1", "d1", 1, { 150, 220 } },
    { "the same driver may be loaded again", "d1", "d1", 2, { 2070, 2135 } },
    { "another driver comes", "d1", "d2", 1, { 2070, 2135 } },
    { "the first driver comes", "", "d1", 1, { 2070, 2135 } },
};

static void check_later(void **state)
{
    const struct later_row *row = *state;
    struct health_quiet q = { 150, 220 };
    struct claim claim = {
        .phase = CLAIM_UNLOADING, .claimed_s = 2000, .since_s = 2070, .attempt = row->attempt
    };
    strcpy(claim.from.hash[TIER_DRIVER], row->from);
    strcpy(claim.to.hash[TIER_DRIVER], row->to);
    health_quiet_take(&q, &claim, 2075);
    assert_int_equal(q.from_s, row->want.from_s);
    assert_int_equal(q.until_s, row->want.until_s);
}

/* ---- status.health and its Events, from a GpuNode before the write */

#define NOW "2026-11-21T10:00:00Z"
#define BEFORE "2026-11-21T09:00:00Z"
#define GPU "0000:65:00.0"
#define SAYS(level, reason, address, since, message)                                               \
    "'health':{'level':'" level "','reason':'" reason "','address':'" address "','since':'" since  \
    "','state':'Reported','message':'" message "'}"
#define FAULT(xid, count)                                                                          \
    "{'address':'" GPU "','xid':" xid ",'count':" count ",'first':'" BEFORE "','last':'" BEFORE    \
    "','bootId':'b'}"
#define TODO79                                                                                     \
    " Drain the node and power it off and on; if that does not help, the GPU or its slot is "      \
    "broken."
#define SENTENCE79(times)                                                                          \
    "GPU " GPU ": Xid 79 (GPU has fallen off the bus) came " times                                 \
    "; NVIDIA\\u0027s advice: restart the machine." TODO79
#define ONCE "once, at " BEFORE
#define THRICE "3 times, first at " BEFORE ", last at " BEFORE

static const struct report_row {
    const char *name;
    const char *before; /* members of the status besides the inventory; NULL: there is no GpuNode */
    const char *faults; /* of the log; NULL: none, and NVML has fallen silent */
    const char *want;   /* status.health, NULL: absent */
    const char *event;  /* type and reason, for the Node and the GpuNode; NULL: none */
    bool recounts;      /* only the message is another */
} report_rows[] = {
    { "all is well", "'state':'Ready'", "", NULL, NULL, false },
    { "a first fault, with a first report", NULL, FAULT("79", "1"),
      "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", "Warning GpuFault", false },
    { "a first fault", "'state':'Ready'", FAULT("79", "1"),
      "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", "Warning GpuFault", false },
    { "a fault that is told",
      "'state':'Ready'," SAYS("Reboot", "Xid79", GPU, BEFORE, SENTENCE79(ONCE)), FAULT("79", "1"),
      "{" SAYS("Reboot", "Xid79", GPU, BEFORE, SENTENCE79(ONCE)) "}", NULL, true },
    { "it comes again", "'state':'Ready'," SAYS("Reboot", "Xid79", GPU, BEFORE, SENTENCE79(ONCE)),
      FAULT("79", "3"), "{" SAYS("Reboot", "Xid79", GPU, BEFORE, SENTENCE79(THRICE)) "}", NULL,
      true },
    { "it came at another GPU before",
      "'state':'Ready'," SAYS("Reboot", "Xid79", "0000:66:00.0", BEFORE, "m"), FAULT("79", "1"),
      "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", "Warning GpuFault", false },
    { "a worse one", "'state':'Ready'," SAYS("Close", "Xid95", GPU, BEFORE, "m"), FAULT("79", "1"),
      "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", "Warning GpuFault", false },
    { "another one that is as bad", "'state':'Ready'," SAYS("Reboot", "GpuLost", GPU, BEFORE, "m"),
      FAULT("79", "1"), "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}",
      "Warning GpuFault", false },
    { "a milder one is left", "'state':'Ready'," SAYS("Human", "RowRemapFailed", GPU, BEFORE, "m"),
      FAULT("79", "1"), "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", NULL, false },
    { "none is left", "'state':'Ready'," SAYS("Reboot", "Xid79", GPU, BEFORE, "m"), "", NULL,
      "Normal GpuHealthy", false },
    { "NVML does not say any longer what is shown",
      "'state':'Ready'," SAYS("Human", "RowRemapFailed", GPU, BEFORE, "m"), NULL,
      "{" SAYS("Human", "RowRemapFailed", GPU, BEFORE, "m") "}", NULL, true },
    { "the same with a time that is no time",
      "'state':'Ready'," SAYS("Human", "RowRemapFailed", GPU, "long ago", "m"), NULL,
      "{" SAYS("Human", "RowRemapFailed", GPU, NOW, "m") "}", NULL, false },
    { "its time is still to come",
      "'state':'Ready'," SAYS("Reboot", "Xid79", GPU, "2026-11-22T10:00:00Z", SENTENCE79(ONCE)),
      FAULT("79", "1"), "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", NULL, false },
    { "its time is no time", "'state':'Ready'," SAYS("Reboot", "Xid79", GPU, "long ago", "m"),
      FAULT("79", "1"), "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", NULL, false },
    { "another client wrote a level that there is not",
      "'state':'Ready'," SAYS("Panic", "Xid79", GPU, BEFORE, "m"), FAULT("79", "1"),
      "{" SAYS("Reboot", "Xid79", GPU, NOW, SENTENCE79(ONCE)) "}", "Warning GpuFault", false },
    { "another client wrote that nothing is asked for",
      "'state':'Ready'," SAYS("None", "Xid79", GPU, BEFORE, "m"), "", NULL, NULL, false },
    { "another client wrote a word that is too long",
      "'state':'Ready'," SAYS("Reboot",
                              "X234567890123456789012345678901234567890123456789012345678901234",
                              GPU, BEFORE, "m"),
      "", NULL, NULL, false },
};

static struct gpu_node *report_before(const struct report_row *row)
{
    if (!row->before)
        return NULL;
    CLEANUP_FREE char *text = xasprintf("{'metadata':{'name':'a','uid':'r'},'status':{%s}}",
                                        row->before);
    CLEANUP_JSON json_t *object = tree(text);
    return gpu_node_project(object);
}

static void check_events(const struct report_row *row, const struct actions *actions)
{
    static const struct {
        enum resource_id resource;
        const char *uid;
    } of[] = { { RESOURCE_NODE, "n" }, { RESOURCE_GPU_NODE, "r" } };
    assert_int_equal(actions->notice_count, !row->event ? 0 : row->before ? 2 : 1);
    for (size_t i = 0; i < actions->notice_count; i++) {
        const struct notice *n = &actions->notices[i];
        CLEANUP_FREE char *event = xasprintf("%s %s", n->warning ? "Warning" : "Normal", n->reason);
        assert_string_equal(event, row->event);
        assert_int_equal(n->resource, of[i].resource);
        assert_string_equal(n->uid, of[i].uid);
        assert_string_equal(n->name, "a");
        assert_int_equal(n->of_action, 1);
        assert_non_null(strstr(n->note, n->warning ? "Xid79 (Reboot): GPU " GPU ": Xid 79 ("
                                                   : "the last one was Xid79"));
    }
}

/* The status that is written: that of the report, with the health that it gets. New reference. */
static json_t *status_with(const struct report_row *row, const struct health_status *health)
{
    CLEANUP_FREE char *text = xasprintf("{%s}", str_or_empty(row->before));
    json_t *status = tree(text);
    json_object_del(status, GPU_NODE_HEALTH);
    if (health)
        json_object_set_new(status, GPU_NODE_HEALTH, health_status_json(health));
    return status;
}

static void check_report(void **state)
{
    const struct report_row *row = *state;
    CLEANUP_FREE char *text = xasprintf("{'bootId':'b','faults':[%s]}", str_or_empty(row->faults));
    struct node_inventory seen = { .boot = str_hash_id("b"), .health_listed = row->faults != NULL };
    CLEANUP_JSON json_t *heard = tree(
        row->faults ? "[{'address':'" GPU "','recovery':'None','remapFailed':false}]" : "[]");
    CLEANUP_JSON json_t *inventory = tree(text);
    CLEANUP_FREE struct node_health *facts = node_health_read(inventory);
    gpu_heard_read(heard, &seen.heard);
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    struct gpu_node *report = report_before(row);
    const struct node node = { .head = { .key = (char *) "a", .uid = "n" } };
    struct health_input in = { .facts = facts,
                               .inventory = &seen,
                               .boot = str_hash_id("b"),
                               .concluded = report ? report->concluded : NULL,
                               .now_s = clock_parse_rfc3339(NOW) / 1000000 };
    static const struct health_handling handling = { 0 };
    const struct health_status *after = health_report(&in, &handling, &a);
    CLEANUP_JSON json_t *status = status_with(row, after);
    CLEANUP_JSON json_t *shown = json_pack("{s:O*}", GPU_NODE_HEALTH,
                                           json_object_get(status, GPU_NODE_HEALTH));
    assert_tree(shown, row->want ? row->want : "{}");
    actions_add(&actions, (struct request){ 0 }, VERB_STATUS, "gpunode/a", "R", "m");
    health_report_notice(&node, report, after, &actions);
    check_events(row, &actions);
    assert_int_equal(health_report_only_recounts(report, status), row->recounts);
    if (report)
        gpu_node_free(report);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_quiet, quiet_rows);
    SUITE_ROWS(&s, check_later, later_rows);
    SUITE_ROWS(&s, check_report, report_rows);
    return suite_run(&s, "health");
}
