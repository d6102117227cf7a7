/* Events of a node that a fault closes or that opens: once, with the write that does it. */
#include "reconcilers/decide/fault_notices.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/action.h"
#include "reconcilers/model/names.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define RECORD(state, more)                                                                        \
    "{\\\"v\\\":1,\\\"state\\\":\\\"" state "\\\",\\\"reason\\\":\\\"Xid79\\\",\\\"gpu\\\":"       \
    "\\\"0000:65:00.0\\\",\\\"boot\\\":\\\"00000000000000aa\\\",\\\"since\\\":"                    \
    "\\\"2026-11-21T09:00:00Z\\\"" more "}"
#define TAINTED(state) RECORD(state, ",\\\"tainted\\\":true")
#define TAINT "{'key':'ostler.dev/unhealthy','effect':'NoSchedule'}"
#define CLOSED_EVENT                                                                               \
    "Warning GpuClosed: closed for new pods, with the taint ostler.dev/unhealthy, because of the " \
    "fault Xid79 of GPU 0000:65:00.0; running pods stay"
#define OPENED_EVENT(why) "Normal GpuOpened: open for new pods: " why
#define FAULT79 "Xid79 of GPU 0000:65:00.0"

static const struct row {
    const char *name;
    const char *record; /* on the node; NULL: none */
    const char *taints;
    bool writes, unhealthy; /* the plan writes the node; it has the taint then */
    bool faulty;            /* Xid 79 is there */
    enum health_mode mode;
    enum node_state state;
    const char *label;
    const char *want; /* the Event, for Node and GpuNode; NULL: none */
} rows[] = {
    { "a fault closes the node", NULL, "", true, true, true, HEALTH_MODE_CLOSE, NODE_UNHEALTHY, "",
      CLOSED_EVENT },
    { "its write has not been planned", NULL, "", false, true, true, HEALTH_MODE_CLOSE,
      NODE_UNHEALTHY, "", NULL },
    { "it is closed", TAINTED("Closed"), TAINT, true, true, true, HEALTH_MODE_CLOSE, NODE_UNHEALTHY,
      "", NULL },
    { "the plugin withheld the GPU, and does so no longer", RECORD("Closed", ""), "", true, true,
      true, HEALTH_MODE_CLOSE, NODE_UNHEALTHY, "", CLOSED_EVENT },
    { "its fault ends", TAINTED("Closed"), TAINT, true, true, false, HEALTH_MODE_CLOSE,
      NODE_UNHEALTHY, "", NULL },
    { "it opens", TAINTED("Proving"), TAINT, true, false, false, HEALTH_MODE_CLOSE, NODE_READY, "",
      OPENED_EVENT("the fault " FAULT79 " has ended") },
    { "a user removed the taint", TAINTED("Closed"), "", true, false, true, HEALTH_MODE_CLOSE,
      NODE_READY, "",
      OPENED_EVENT("a user removed the taint ostler.dev/unhealthy, and Ostler does nothing more "
                   "about the fault " FAULT79) },
    { "that is recorded", RECORD("Ignored", ""), "", true, false, true, HEALTH_MODE_CLOSE,
      NODE_READY, "", NULL },
    { "the mode becomes Observe", TAINTED("Closed"), TAINT, true, false, true, HEALTH_MODE_OBSERVE,
      NODE_READY, "",
      OPENED_EVENT("spec.health.mode is Observe, so Ostler only reports the fault " FAULT79) },
    { "a user sets the label", TAINTED("Closed"), TAINT, true, false, true, HEALTH_MODE_CLOSE,
      NODE_READY, "'labels':{'ostler.dev/health':'ignore'},",
      OPENED_EVENT("because of the label ostler.dev/health=ignore Ostler does nothing about the "
                   "fault " FAULT79) },
    { "the plugin withholds the GPU now", TAINTED("Closed"), TAINT, true, false, true,
      HEALTH_MODE_CLOSE, NODE_READY, "",
      OPENED_EVENT("the device plugin keeps pods off the GPU with the fault " FAULT79) },
    { "the node is released", TAINTED("Closed"), TAINT, true, false, true, HEALTH_MODE_CLOSE,
      NODE_UNMANAGED, "", NULL },
    { "a healthy node is written", NULL, "", true, false, false, HEALTH_MODE_CLOSE, NODE_READY, "",
      NULL },
};

static void expect(const struct actions *actions, const char *want)
{
    assert_int_equal(actions->notice_count, want ? 2 : 0);
    for (size_t i = 0; i < actions->notice_count; i++) {
        const struct notice *n = &actions->notices[i];
        CLEANUP_FREE char *got = xasprintf("%s %s: %s", n->warning ? "Warning" : "Normal",
                                           n->reason, n->note);
        assert_string_equal(got, want);
        assert_int_equal(n->resource, i ? RESOURCE_GPU_NODE : RESOURCE_NODE);
        assert_string_equal(n->uid, i ? "r" : "n");
        assert_int_equal(n->of_action, 2);
        assert_int_equal(n->share, EVENTS_OF_FAULTS);
    }
}

static struct node *node_of(struct intern *strings, const struct row *row)
{
    CLEANUP_FREE char *annotations = row->record
                                         ? xasprintf("'annotations':{'" ANNOTATION_FAULT "':'%s'},",
                                                     row->record)
                                         : xstrdup("");
    CLEANUP_FREE char *text = xasprintf("{'metadata':{%s%s'name':'a','uid':'n'},'spec':{'taints':"
                                        "[%s]}}",
                                        annotations, row->label, row->taints);
    CLEANUP_JSON json_t *object = tree(text);
    return node_project(strings, object);
}

static void check(void **state)
{
    const struct row *row = *state;
    struct intern *strings = intern_new();
    struct node *node = node_of(strings, row);
    struct gpu_fault fault = {
        .address = "0000:65:00.0", .xid = 79, .count = 1, .boot = 1, .last_s = 1
    };
    const struct node_health facts = { .faults = &fault, .faults_len = 1 };
    const struct health_input health = { .facts = &facts, .boot = 1, .now_s = 1000 };
    const struct health_spec spec = { .mode = row->mode };
    const struct node_input in = { .view = { node, strings, NULL },
                                   .health = row->faulty ? &health : NULL,
                                   .health_spec = &spec };
    const struct node_verdict v = { .state = row->state, .unhealthy = row->unhealthy };
    const struct gpu_node report = { .head = { .key = (char *) "a", .uid = "r" } };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_JSON json_t *patch = json_array();
    action_add(&actions, request_json_patch(RESOURCE_POD, "ns", "p", patch), VERB_MARK, "pod/ns/p",
               REASON_VALIDATE, "m");
    if (row->writes)
        action_add(&actions, request_json_patch(RESOURCE_NODE, NULL, "a", patch), VERB_MARK,
                   "node/a", REASON_UPGRADE, "m");
    fault_notices(&in, &v, &report, &actions);
    expect(&actions, row->want);
    node_free(strings, node);
    intern_free(strings);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "fault_notices");
}
