/* What an agent's report brings that the one before did not have: counted, told, and written. Each
 * row is a sequence of reports about one node, and what comes of the last. */
#include "reconcilers/fault_news.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "reconcilers/decide/gpu_node.h"
#include "runtime/loop.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { TEXT_MAX = 1 << 20, REPORTS_MAX = 3, LINES_MAX = 3 };

#define POLICY                                                                                     \
    "{'metadata': {'name': 'default', 'uid': 'u', 'resourceVersion': '2', 'generation': 1}, "      \
    "'spec': {'health': {'xids': {'109': 'Event'}}}}"
#define DRIVER_POD                                                                                 \
    "{'metadata': {'name': 'd', 'namespace': 'operands', 'uid': 'p', 'resourceVersion': '5', "     \
    "'creationTimestamp': '2026-11-20T09:30:00Z', 'labels': {'app.kubernetes.io/managed-by': "     \
    "'ostler', 'app.kubernetes.io/component': 'driver'}, 'ownerReferences': [{'kind': "            \
    "'DaemonSet', 'name': 'd', 'uid': 's', 'controller': true}]}, 'spec': {'nodeName': 'gpu-1', "  \
    "'containers': [{'name': 'x', 'image': 'a'}]}, 'status': {'phase': 'Running', 'conditions': "  \
    "[{'type': 'Ready', 'status': 'True'}]}}"
#define FAULT(xid, address, count)                                                                 \
    "{'address': '" address "', 'xid': " xid ", 'count': " count                                   \
    ", 'first': '2026-11-20T09:00:00Z', 'last': '2026-11-20T09:00:00Z', 'bootId': 'b'}"
#define LATER(xid)                                                                                 \
    "{'address': '0000:65:00.0', 'xid': " xid ", 'count': 1, 'first': '2026-11-20T09:30:01Z', "    \
    "'last': '2026-11-20T09:30:01Z', 'bootId': 'b'}"
#define SAYS(level, reason)                                                                        \
    "'level': '" level "', 'reason': '" reason "', 'address': '0000:65:00.0', 'since': "           \
    "'2026-11-20T09:00:00Z'"
#define ONE "0000:65:00.0"
#define TWO "0000:66:00.0"
#define LOG(faults) "'bootId': 'b', 'faults': [" faults "]"
#define COUNTED(xid, level, n) "ostler_gpu_faults_total{xid=\"" xid "\",level=\"" level "\"} " n

static const struct row {
    const char *name;
    const char *reports[REPORTS_MAX]; /* inventories, until the first NULL */
    const char *lines[LINES_MAX];     /* of the counter after the last report; all there are */
    const char *told;                 /* Events, by object and note's beginning; NULL: none */
    bool standby, driver;
    bool dated;       /* the agent wrote them at 09:30 */
    bool unmanaged;   /* Ostler leaves the node alone */
    const char *says; /* status.health of the reports; NULL: none */
} rows[] = {
    { .name = "what a first report has is no news", .reports = { LOG(FAULT("79", ONE, "1")) } },
    { .name = "the first report of an agent",
      .reports = { "", LOG(FAULT("79", ONE, "3")) },
      .lines = { COUNTED("79", "Reboot", "3") } },
    { .name = "a first fault: the write of the status tells of it",
      .reports = { LOG(""), LOG(FAULT("79", ONE, "1")) },
      .lines = { COUNTED("79", "Reboot", "1") } },
    { .name = "it comes again",
      .reports = { LOG(FAULT("79", ONE, "1")), LOG(FAULT("79", ONE, "4")) },
      .lines = { COUNTED("79", "Reboot", "3") } },
    { .name = "nothing is new",
      .reports = { LOG(FAULT("79", ONE, "2")), LOG(FAULT("79", ONE, "2")) } },
    { .name = "a smaller count",
      .reports = { LOG(FAULT("79", ONE, "2")), LOG(FAULT("79", ONE, "1")) } },
    { .name = "the same number at another GPU",
      .reports = { LOG(FAULT("79", ONE, "2")),
                   LOG(FAULT("79", ONE, "2") "," FAULT("79", TWO, "1")) },
      .lines = { COUNTED("79", "Reboot", "1") },
      .told = "nodes Warning GpuFault Xid79 (Reboot): GPU 0000:66:00\n"
              "gpunodes Warning GpuFault Xid79 (Reboot): GPU 0000:66:00\n" },
    { .name = "a milder one beside the worst",
      .reports = { LOG(FAULT("79", ONE, "1")),
                   LOG(FAULT("63", ONE, "2") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("63", "ResetWhenIdle", "2") },
      .told = "nodes Warning GpuFault Xid63 (ResetWhenIdle): GPU 000\n"
              "gpunodes Warning GpuFault Xid63 (ResetWhenIdle): GPU 000\n" },
    { .name = "a worse one: of both, the milder was told",
      .says = SAYS("ResetWhenIdle", "Xid63"),
      .reports = { LOG(FAULT("63", ONE, "1")),
                   LOG(FAULT("63", ONE, "1") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("79", "Reboot", "1") } },
    { .name = "two at once: the status tells of the worse",
      .reports = { LOG(""), LOG(FAULT("63", ONE, "1") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("63", "ResetWhenIdle", "1"), COUNTED("79", "Reboot", "1") },
      .told = "nodes Warning GpuFault Xid63 (ResetWhenIdle): GPU 000\n"
              "gpunodes Warning GpuFault Xid63 (ResetWhenIdle): GPU 000\n" },
    { .name = "one that a program caused is counted only",
      .reports = { LOG(""), LOG(FAULT("31", ONE, "7") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("31", "None", "7"), COUNTED("79", "Reboot", "1") } },
    { .name = "the level is the policy's",
      .reports = { LOG(""), LOG(FAULT("109", ONE, "1")) },
      .lines = { COUNTED("109", "Event", "1") } },
    { .name = "a standby counts, and tells nothing",
      .reports = { LOG(FAULT("79", ONE, "1")),
                   LOG(FAULT("63", ONE, "2") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("63", "ResetWhenIdle", "2") },
      .standby = true },
    { .name = "numbers that NVIDIA has not given away count as one",
      .reports = { LOG(""), LOG(FAULT("256", ONE, "1") "," FAULT("255", ONE, "1") "," FAULT(
                                "60000", ONE, "2")) },
      .lines = { COUNTED("255", "Event", "1"), COUNTED("other", "Event", "3") },
      .told = "nodes Warning GpuFault Xid256 (Event): GPU 0000:65:00\n"
              "gpunodes Warning GpuFault Xid256 (Event): GPU 0000:65:00\n"
              "nodes Warning GpuFault Xid60000 (Event): GPU 0000:65:\n"
              "gpunodes Warning GpuFault Xid60000 (Event): GPU 0000:65:\n" },
    { .name = "of an NVSwitch, which has numbers of its own",
      .reports = { LOG(""), LOG("{'address': '" TWO "', 'xid': 79, 'nvswitch': true, 'count': 1, "
                                "'first': '2026-11-20T09:00:00Z', 'last': "
                                "'2026-11-20T09:00:00Z', 'bootId': 'b'}") },
      .lines = { COUNTED("other", "Event", "1") } },
    { .name = "of an earlier boot: it is counted, and asks for nothing now",
      .reports = { LOG(""), LOG("{'address': '" ONE "', 'xid': 79, 'count': 1, 'first': "
                                "'2026-11-20T09:00:00Z', 'last': '2026-11-20T09:00:00Z', "
                                "'bootId': 'a'}") },
      .lines = { COUNTED("79", "None", "1") } },
    { .name = "a node that Ostler does not manage: counted, and nothing is told",
      .reports = { LOG(FAULT("79", ONE, "1")),
                   LOG(FAULT("63", ONE, "2") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("63", "ResetWhenIdle", "2") },
      .unmanaged = true },
    { .name = "a worse one before the write that tells of the first",
      .reports = { LOG(""), LOG(FAULT("48", ONE, "1")),
                   LOG(FAULT("48", ONE, "1") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("48", "Close", "1"), COUNTED("79", "Reboot", "1") },
      .told = "nodes Warning GpuFault Xid48 (Close): GPU 0000:65:00.\n"
              "gpunodes Warning GpuFault Xid48 (Close): GPU 0000:65:00.\n" },
    { .name = "a worse one after that write",
      .says = SAYS("Close", "Xid48"),
      .reports = { LOG(FAULT("48", ONE, "1")),
                   LOG(FAULT("48", ONE, "1") "," FAULT("79", ONE, "1")) },
      .lines = { COUNTED("79", "Reboot", "1") } },
    { .name = "one that is milder than what is still shown",
      .says = SAYS("Reboot", "Xid79"),
      .reports = { LOG(""), LOG(FAULT("48", TWO, "1")) },
      .lines = { COUNTED("48", "Close", "1") },
      .told = "nodes Warning GpuFault Xid48 (Close): GPU 0000:66:00.\n"
              "gpunodes Warning GpuFault Xid48 (Close): GPU 0000:66:00.\n" },
    { .name = "one that is shown already",
      .says = SAYS("Reboot", "Xid79"),
      .reports = { LOG(""), LOG(FAULT("79", ONE, "1")) },
      .lines = { COUNTED("79", "Reboot", "1") } },
    { .name = "the log is read again, and has old faults and a new one",
      .reports = { "'bootId': 'b'", LOG(FAULT("79", ONE, "3") "," LATER("63")) },
      .dated = true,
      .lines = { COUNTED("63", "ResetWhenIdle", "1") },
      .told = "nodes Warning GpuFault Xid63 (ResetWhenIdle): GPU 000\n"
              "gpunodes Warning GpuFault Xid63 (ResetWhenIdle): GPU 000\n" },
    { .name = "a fault is counted as its number, whatever the driver says",
      .reports = { LOG(""), LOG(FAULT("48", ONE, "1")) ",'module': {'loaded': true, 'version': "
                                                       "'580.1'}, 'health': [{'address': '" ONE
                                                       "', 'recovery': 'None'}]" },
      .lines = { COUNTED("48", "Close", "1") } },
    { .name = "the action that its line has counts",
      .reports = { LOG(""),
                   LOG("{'address': '" ONE "', 'xid': 154, 'recovery': 'Reset', 'count': "
                       "1, 'first': '2026-11-20T09:00:00Z', 'last': "
                       "'2026-11-20T09:00:00Z', 'bootId': 'b'}") ",'health': "
                                                                 "[{'address': '" ONE
                                                                 "', 'recovery': 'None'}]" },
      .lines = { COUNTED("154", "Close", "1") } },
    { .name = "from before its driver was installed",
      .reports = { LOG(""), LOG(FAULT("95", ONE, "1")) },
      .lines = { COUNTED("95", "None", "1") },
      .driver = true },
};

struct fixture {
    struct reconcilers r;
    struct buf told;
    bool tells;
};

static void on_health(void *arg, const struct node_slot *slot, const struct gpu_node *before,
                      const struct gpu_node *after)
{
    struct fixture *f = arg;
    fault_news(&f->r, slot, before, after, f->tells);
}

static void on_notice(void *reconcilers, const struct notice *n)
{
    struct fixture *f = container_of((struct reconcilers *) reconcilers, struct fixture, r);
    buf_printf(&f->told, "%s %s %s %.30s\n", resource_get(n->resource)->plural,
               n->warning ? "Warning" : "Normal", n->reason, n->note);
    assert_string_equal(n->name, "gpu-1");
    assert_string_equal(n->uid, n->resource == RESOURCE_NODE ? "n" : "r");
    assert_int_equal(n->of_action, 0);
}

static void put_report(struct cluster *c, const struct row *row, const char *inventory,
                       size_t version)
{
    CLEANUP_FREE char *health = row->says ? xasprintf(", 'health': {%s}", row->says) : xstrdup("");
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata': {'name': 'gpu-1', 'uid': 'r', 'resourceVersion': '%zu'%s, "
        "'ownerReferences': [{'kind': 'Node', 'uid': 'n'}]}, 'status': {'inventory': {%s}%s}}",
        10 + version,
        row->dated ? ", 'managedFields': [{'manager': 'ostler-node', 'subresource': 'status', "
                     "'time': '2026-11-20T09:30:00Z'}]"
                   : "",
        inventory, health);
    quiet_event(c, RESOURCE_GPU_NODE, text, false);
}

static void set_up_slot(struct cluster *c, const struct row *row)
{
    struct node_slot *slot = map_get(&c->slots, "gpu-1");
    struct node_verdict v = { .state = row->unmanaged ? NODE_UNMANAGED : NODE_READY };
    tally_set(&c->tally, &slot->summary, &v);
}

static void expect_counted(const struct row *row, struct metrics *registry)
{
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    size_t found = 0, wanted = 0;
    metrics_text(registry, &text);
    for (const char *at = buf_text(&text); (at = strstr(at, "\nostler_gpu_faults_total{")); at++)
        found++;
    for (; wanted < LINES_MAX && row->lines[wanted]; wanted++) {
        CLEANUP_FREE char *line = xasprintf("\n%s\n", row->lines[wanted]);
        if (!strstr(buf_text(&text), line))
            fail_msg("%s is not in\n%s", row->lines[wanted], buf_text(&text));
    }
    assert_int_equal(found, wanted);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct cluster c;
    struct fleet_metrics m;
    struct metrics *registry = metrics_new(1024);
    struct fixture f = { .told = BUF_INIT(TEXT_MAX), .tells = !row->standby };
    fleet_metrics_add(&m, registry);
    cluster_init(&c,
                 &(struct cluster_options){ .operand_namespace = "operands",
                                            .limits = { "nvcr.io/nvidia", "*", NULL, true, true },
                                            .clock = &quiet_clock,
                                            .listener = { .node = quiet_listener.node,
                                                          .policy = quiet_listener.policy,
                                                          .health = on_health,
                                                          .arg = &f } });
    f.r = (struct reconcilers){ .cluster = &c, .metrics = &m, .notice = on_notice };
    quiet_event(&c, RESOURCE_POLICY, POLICY, false);
    quiet_event(&c, RESOURCE_NODE,
                "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '3'}, 'status': "
                "{'nodeInfo': {'bootID': 'b'}}}",
                false);
    set_up_slot(&c, row);
    if (row->driver)
        quiet_event(&c, RESOURCE_POD, DRIVER_POD, false);
    for (size_t i = 0; i < REPORTS_MAX && row->reports[i]; i++)
        put_report(&c, row, row->reports[i], i);
    assert_string_equal(buf_text(&f.told), str_or_empty(row->told));
    expect_counted(row, registry);
    cluster_clear(&c);
    buf_clear(&f.told);
    metrics_free(registry);
}

int main(void)
{
    log_setup(LOG_SILENT, false);
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "fault news");
}
