/* What of a GpuNode makes Ostler look at its node again, and since when the node is unhealthy. */
#include "reconcilers/cluster_health.h"

#include "base/buf.h"
#include "base/json.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

struct fixture {
    struct cluster cluster;
    struct buf log;
};

static void tell_node(void *arg, const char *name)
{
    struct fixture *f = arg;
    buf_printf(&f->log, "%s ", name);
}

static void tell_policy(void *arg, bool soon)
{
    (void) arg;
    (void) soon;
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->log = (struct buf) BUF_INIT(1000);
    cluster_init(&f->cluster,
                 &(struct cluster_options){ .operand_namespace = "operands",
                                            .clock = &quiet_clock,
                                            .listener = { tell_node, tell_policy, f } });
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    cluster_clear(&f->cluster);
    buf_clear(&f->log);
    free(f);
    return 0;
}

static void put_node(struct fixture *f, const char *annotations)
{
    CLEANUP_JSON json_t *node = json_pack("{s:{s:s, s:s, s:s, s:o}, s:{s:{s:s}}}", "metadata",
                                          "name", "a", "uid", "n", "resourceVersion", "1",
                                          "annotations", tree(annotations), "status", "nodeInfo",
                                          "bootID", "b");
    table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
    buf_reset(&f->log);
}

/* Puts a report with this status, and says whether Ostler looks at the node. */
static bool is_looked_at(struct fixture *f, const char *rv, const char *status)
{
    CLEANUP_JSON json_t *report = json_pack("{s:{s:s, s:s, s:s, s:[{s:s, s:s}]}, s:o}", "metadata",
                                            "name", "a", "uid", "r", "resourceVersion", rv,
                                            "ownerReferences", "kind", "Node", "uid", "n", "status",
                                            tree(status));
    table_event(&f->cluster.tables[RESOURCE_GPU_NODE], report, false);
    bool looked_at = f->log.len > 0;
    buf_reset(&f->log);
    return looked_at;
}

#define FAULT                                                                                      \
    "'faults': [{'address': '0000:65:00.0', 'xid': 95, 'bootId': 'b', 'last': "                    \
    "'2026-11-20T09:59:00Z'}]"
#define SAYS(level)                                                                                \
    "'health': {'level': '" level "', 'reason': 'Xid95', 'message': 'm', 'since': "                \
    "'2026-11-20T09:59:10Z'}"

/* A fault must close the node within seconds, and its end must open it. */
static void a_fault_is_looked_at_at_once(void **state)
{
    struct fixture *f = *state;
    put_node(f, "{}");
    assert_true(is_looked_at(f, "1", "{'inventory': {'bootId': 'b', 'faults': []}}"));
    assert_true(is_looked_at(f, "2", "{'inventory': {'bootId': 'b', " FAULT "}}"));
    assert_false(is_looked_at(f, "3", "{'inventory': {'bootId': 'b', " FAULT "}, 'x': 1}"));
    assert_true(
        is_looked_at(f, "4", "{" SAYS("Close") ", 'inventory': {'bootId': 'b', " FAULT "}}"));
    assert_false(
        is_looked_at(f, "5", "{" SAYS("Close") ", 'inventory': {'bootId': 'b', " FAULT "}}"));
    assert_true(is_looked_at(f, "6",
                             "{" SAYS("Close") ", 'inventory': {'bootId': 'b', "
                                               "'faults': []}}"));
    assert_true(is_looked_at(f, "7", "{'inventory': {'bootId': 'b', 'faults': []}}"));
}

static const struct node_slot *slot_of(struct fixture *f)
{
    return map_get(&f->cluster.slots, "a");
}

static int64_t since_s(struct fixture *f, int64_t now_s)
{
    struct health_input in;
    bool any = cluster_health(&f->cluster, slot_of(f), &in);
    in.now_s = now_s;
    return cluster_unhealthy_since_s((struct node_slot *) slot_of(f), any ? &in : NULL);
}

static void since_when_a_node_is_unhealthy(void **state)
{
    struct fixture *f = *state;
    int64_t now_s = QUIET_WALL_US / 1000000;
    put_node(f, "{}");
    assert_int_equal(since_s(f, now_s), 0);
    is_looked_at(f, "1", "{'inventory': {'bootId': 'b', " FAULT "}}");
    assert_int_equal(since_s(f, now_s), now_s);
    assert_int_equal(since_s(f, now_s + 60), now_s);
    is_looked_at(f, "2", "{'inventory': {'bootId': 'b', 'faults': []}}");
    assert_int_equal(since_s(f, now_s + 70), 0);
    is_looked_at(f, "3", "{'inventory': {'bootId': 'b', " FAULT "}}");
    assert_int_equal(since_s(f, now_s + 80), now_s + 80);
}

/* A restarted Ostler goes on from the status, unless that is about something milder. */
static void a_restart_goes_on_from_the_status(void **state)
{
    struct fixture *f = *state;
    int64_t now_s = QUIET_WALL_US / 1000000;
    put_node(f, "{}");
    is_looked_at(f, "1", "{" SAYS("Close") ", 'inventory': {'bootId': 'b', " FAULT "}}");
    assert_int_equal(since_s(f, now_s), now_s - 50);
    ((struct node_slot *) slot_of(f))->unhealthy_s = 0;
    assert_int_equal(since_s(f, now_s - 60), now_s - 60);
    ((struct node_slot *) slot_of(f))->unhealthy_s = 0;
    is_looked_at(f, "2", "{" SAYS("Event") ", 'inventory': {'bootId': 'b', " FAULT "}}");
    assert_int_equal(since_s(f, now_s), now_s);
}

/* The record of a fault needs its evidence, although nothing is wrong and nothing is reported. */
static void a_record_is_reason_enough_to_gather(void **state)
{
    struct fixture *f = *state;
    struct health_input in;
    put_node(f, "{}");
    assert_false(cluster_health(&f->cluster, slot_of(f), &in));
    put_node(f, "{'ostler.dev/fault': 'x'}");
    assert_true(cluster_health(&f->cluster, slot_of(f), &in));
    assert_null(in.facts);
    assert_null(in.inventory);
    assert_true(in.boot);
}

int main(void)
{
    static const struct suite_check checks[] = {
        { "a fault is looked at at once", a_fault_is_looked_at_at_once },
        { "since when a node is unhealthy", since_when_a_node_is_unhealthy },
        { "a restart goes on from the status", a_restart_goes_on_from_the_status },
        { "a record is reason enough to gather", a_record_is_reason_enough_to_gather },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, checks, set_up, tear_down);
    return suite_run(&s, "cluster health");
}
