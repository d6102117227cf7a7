/* What of a GpuNode makes Ostler look at its node again, and since when the node is unhealthy. */
#include "reconcilers/cluster_health.h"

#include "base/buf.h"
#include "base/json.h"
#include "reconcilers/cluster_policy.h"
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

/* The record of a fault needs its evidence, although nothing is wrong and nothing is reported. */
static void a_record_is_reason_enough_to_gather(void **state)
{
    struct fixture *f = *state;
    struct health_input in;
    put_node(f, "{}");
    assert_false(cluster_health(&f->cluster,
                                (const struct node_slot *) map_get(&f->cluster.slots, "a"), &in));
    put_node(f, "{'ostler.dev/fault': 'x'}");
    assert_true(cluster_health(&f->cluster,
                               (const struct node_slot *) map_get(&f->cluster.slots, "a"), &in));
    assert_null(in.facts);
    assert_null(in.inventory);
    assert_true(in.boot);
}

#define SHOWS                                                                                      \
    "{'health': {'level': 'Close', 'reason': 'RecoveryReset', 'address': '0000:65:00.0', "         \
    "'message': 'm', 'since': '2026-11-20T09:59:10Z'}, 'inventory': {'bootId': 'b', 'gpus': "      \
    "[{'address': '0000:65:00.0', 'bus': 'Responds'}, {'address': '0000:66:00.0', 'bus': "         \
    "'Responds'}], 'health': [{'address': '%s', 'recovery': '%s'}]}}"

/* Whether the status stands, when NVML reports first of one GPU, then of the other one alone. */
static bool stands_after(struct fixture *f, const char *first, const char *recovery)
{
    CLEANUP_FREE char *before = xasprintf(SHOWS, first, recovery),
                      *now = xasprintf(SHOWS, "0000:66:00.0", "None");
    struct node_slot *slot = map_get(&f->cluster.slots, "a");
    struct health_input in;
    is_looked_at(f, "1", before);
    cluster_health_look(&f->cluster, slot);
    is_looked_at(f, "2", now);
    cluster_health_look(&f->cluster, slot);
    assert_true(cluster_health(&f->cluster, slot, &in));
    assert_true(in.nvml_spoke);
    return health_kept(&in) != NULL;
}

static void what_nvml_told_stands_when_it_speaks_of_another_gpu(void **state)
{
    put_node(*state, "{}");
    assert_true(stands_after(*state, "0000:65:00.0", "Reset"));
}

static void what_nvml_never_told_does_not(void **state)
{
    put_node(*state, "{}");
    assert_false(stands_after(*state, "0000:66:00.0", "None"));
}

/* A user asks for a repair whatever the mode is, so the limit goes along with the policy. */
static void repairs_are_as_the_administrator_allows(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *policy = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{}}", "apiVersion",
                                            POLICY_API_VERSION, "kind", POLICY_KIND, "metadata",
                                            "name", POLICY_NAME, "uid", "p", "spec");
    f->cluster.o.limits = POLICY_LIMITS_DEFAULT;
    cluster_take_policy(&f->cluster, policy);
    assert_true(f->cluster.policy_valid);
    assert_false(f->cluster.health.repairs);
    cluster_take_policy(&f->cluster, NULL);
    f->cluster.o.limits.repairs = true;
    cluster_take_policy(&f->cluster, policy);
    assert_true(f->cluster.health.repairs);
}

int main(void)
{
    static const struct suite_check checks[] = {
        { "a fault is looked at at once", a_fault_is_looked_at_at_once },
        { "a record is reason enough to gather", a_record_is_reason_enough_to_gather },
        { "what NVML told stands when it speaks of another GPU",
          what_nvml_told_stands_when_it_speaks_of_another_gpu },
        { "what NVML never told in this boot does not", what_nvml_never_told_does_not },
        { "repairs are as the administrator allows", repairs_are_as_the_administrator_allows },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, checks, set_up, tear_down);
    return suite_run(&s, "cluster health");
}
