/* What the policy's conditions say of nodes with unhealthy GPUs, and of the storm brake. */
#include "reconcilers/decide/status.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { NOW_S = 1795168800, NODES_MAX = 16, NAME_MAX_HERE = 16 }; /* 2026-11-20T10:00:00Z */

static const struct row {
    const char *name;
    size_t ready, closed, failed; /* nodes by state */
    size_t unhealthy;             /* nodes whose GPUs ask for a repair */
    enum health_mode mode;
    enum operating_mode operating;
    bool braked; /* the brake is on, from the second of the unhealthy nodes on */
    bool rolls;  /* a rollout is under way */
    bool no_crd; /* the CRD of GpuNodes is missing */
    const char *ready_is, *ready_says, *degraded_is, *degraded_says, *braked_is, *braked_says;
} rows[] = {
    { .name = "all is well",
      .ready = 3,
      .mode = HEALTH_MODE_CLOSE,
      .operating = MODE_MANAGE,
      .ready_is = "True AllNodesReady",
      .ready_says = "every GPU node is in its desired state: 3 nodes",
      .degraded_is = "False NothingFails",
      .degraded_says = "no node, no GPU, no operand and no revision has failed",
      .braked_is = "False NotBraked",
      .braked_says = "no storm of faults: fewer nodes became unhealthy at a time than Ostler may "
                     "close" },
    { .name = "two nodes are closed",
      .ready = 8,
      .closed = 2,
      .unhealthy = 2,
      .mode = HEALTH_MODE_CLOSE,
      .operating = MODE_MANAGE,
      .ready_is = "True AllNodesReady",
      .ready_says = "every GPU node is in its desired state: 10 nodes; closed for faults of their "
                    "GPUs: 2 nodes",
      .degraded_is = "True GpusUnhealthy",
      .degraded_says = "2 nodes have GPUs with a fault that must be repaired: gpu-1, gpu-2; see "
                       "kubectl gpu nodes -o wide",
      .braked_is = "False NotBraked" },
    { .name = "a node goes on without its bad GPU",
      .ready = 1,
      .unhealthy = 1,
      .mode = HEALTH_MODE_REPAIR,
      .operating = MODE_MANAGE,
      .ready_is = "True AllNodesReady",
      .ready_says = "every GPU node is in its desired state: 1 node",
      .degraded_is = "True GpusUnhealthy",
      .degraded_says = "1 node has GPUs with a fault that must be repaired: gpu-1; see kubectl gpu "
                       "nodes -o wide",
      .braked_is = "False NotBraked" },
    { .name = "a node is closed, and another has failed",
      .ready = 1,
      .closed = 2,
      .failed = 1,
      .unhealthy = 2,
      .mode = HEALTH_MODE_CLOSE,
      .operating = MODE_MANAGE,
      .ready_is = "False CrashLoopBackOff",
      .ready_says = "driver: 1 of 4 nodes: it crashes (node gpu-3)",
      .degraded_is = "True CrashLoopBackOff",
      .degraded_says = "driver: 1 of 4 nodes: it crashes (node gpu-3)",
      .braked_is = "False NotBraked" },
    { .name = "a node is closed, and there are no reports",
      .ready = 3,
      .closed = 1,
      .unhealthy = 1,
      .no_crd = true,
      .mode = HEALTH_MODE_CLOSE,
      .operating = MODE_MANAGE,
      .ready_is = "True CRDMissing",
      .degraded_is = "True CRDMissing",
      .braked_is = "False NotBraked" },
    { .name = "nodes are closed during a rollout",
      .ready = 3,
      .closed = 1,
      .unhealthy = 1,
      .rolls = true,
      .mode = HEALTH_MODE_CLOSE,
      .operating = MODE_MANAGE,
      .ready_is = "True RollingOut",
      .ready_says = "3 of 4 nodes ready: 1 node waits; closed for faults of their GPUs: 1 node",
      .degraded_is = "True GpusUnhealthy",
      .braked_is = "False NotBraked" },
    { .name = "the brake is on",
      .ready = 7,
      .closed = 3,
      .unhealthy = 4,
      .braked = true,
      .mode = HEALTH_MODE_CLOSE,
      .operating = MODE_MANAGE,
      .ready_is = "True Braked",
      .ready_says =
          "the storm brake is on: 3 nodes became unhealthy at a time, and Ostler closes "
          "2 of them: check the driver, the NVLink fabric and power of gpu-2, gpu-3, gpu-4",
      .degraded_is = "True GpusUnhealthy",
      .braked_is = "True Braked",
      .braked_says = "3 nodes became unhealthy at a time, and health.brake lets Ostler close 2 "
                     "within 10m: gpu-2, gpu-3, gpu-4. Faults of so many nodes have a common "
                     "cause: check the driver, the NVLink fabric and power. The brake is released "
                     "when no other node has become unhealthy for 15m" },
    { .name = "faults are only reported",
      .ready = 3,
      .unhealthy = 3,
      .mode = HEALTH_MODE_OBSERVE,
      .operating = MODE_MANAGE,
      .ready_is = "True AllNodesReady",
      .degraded_is = "True GpusUnhealthy",
      .braked_is = "False Observing",
      .braked_says = "health.mode is Observe: Ostler closes no node" },
    { .name = "the policy is being removed during a storm",
      .ready = 4,
      .unhealthy = 4,
      .braked = true,
      .mode = HEALTH_MODE_CLOSE,
      .operating = MODE_REMOVE,
      .ready_is = "False Removing",
      .degraded_is = "True GpusUnhealthy",
      .braked_is = "False NotBraked" },
};

/* The nodes of a row: closed ones first, then failed ones, then ready ones. */
struct fleet {
    struct tally tally;
    struct node_summary nodes[NODES_MAX];
    char names[NODES_MAX][NAME_MAX_HERE];
    struct brake_list unhealthy;
};

static struct node_verdict verdict_of(const struct row *row, size_t i)
{
    if (i < row->closed)
        return (struct node_verdict){ .state = NODE_UNHEALTHY,
                                      .reason = REASON_XID,
                                      .gpu = true,
                                      .message = "m",
                                      .unhealthy = true };
    if (i < row->closed + row->failed)
        return (struct node_verdict){ .state = NODE_FAILED,
                                      .reason = REASON_OTHER,
                                      .word = "CrashLoopBackOff",
                                      .cause = OPERAND_DRIVER,
                                      .gpu = true,
                                      .message = "it crashes" };
    return (struct node_verdict){ .state = NODE_READY, .gpu = true };
}

static void fleet_make(const struct row *row, struct fleet *ret)
{
    for (size_t i = 0; i < row->closed + row->failed + row->ready; i++) {
        struct node_verdict v = verdict_of(row, i);
        snprintf(ret->names[i], sizeof ret->names[i], "gpu-%zu", i + 1);
        ret->nodes[i].name = ret->names[i];
        tally_set(&ret->tally, &ret->nodes[i], &v);
        if (i < row->unhealthy)
            brake_list_add(&ret->unhealthy, ret->names[i], NOW_S - 60 + 20 * (int64_t) i);
    }
}

static void fleet_clear(struct fleet *f)
{
    for (size_t i = 0; i < NODES_MAX; i++)
        if (f->nodes[i].name)
            tally_remove(&f->tally, &f->nodes[i]);
    tally_clear(&f->tally);
    brake_list_clear(&f->unhealthy);
}

static void check(const struct condition *c, const char *is, const char *says)
{
    CLEANUP_FREE char *got = xasprintf("%s %s", c->status, c->reason);
    assert_string_equal(got, is);
    if (says)
        assert_string_equal(c->message, says);
}

static void says(void **state)
{
    const struct row *row = *state;
    static struct fleet f;
    f = (struct fleet){ 0 };
    fleet_make(row, &f);
    const struct health_spec health = { .mode = row->mode,
                                        .brake = { .window_s = 600, .cooldown_s = 900 } };
    CLEANUP_JSON json_t *object = json_pack("{s:{s:s}}", "metadata", "name", "default");
    CLEANUP_ARENA struct arena a = { 0 };
    char said[] = "1 node waits";
    struct rollout_report report = { .known = true,
                                     .hold = row->rolls ? ROLLOUT_HOLD_PARALLEL : ROLLOUT_HOLD_DONE,
                                     .message = said,
                                     .active = row->rolls };
    struct prerequisites around = { 0 };
    char missing[] = "there is no CRD of GpuNodes";
    if (row->no_crd)
        around.of[PREREQUISITES_REPORTS] = (struct prerequisite_problem){
            .reason = REASON_CRD_MISSING, .message = missing
        };
    struct cluster_view v = { .object = object,
                              .prerequisites = &around,
                              .mode = row->operating,
                              .tally = &f.tally,
                              .settled = true,
                              .rollout = &report,
                              .unhealthy = &f.unhealthy,
                              .closings = &f.unhealthy,
                              .health = &health,
                              .now = "2026-11-20T10:00:00Z" };
    if (row->braked)
        v.brake = (struct brake_verdict){
            .on = true, .since_s = NOW_S, .until_s = NOW_S + 880, .first = 1, .limit = 2
        };
    struct condition c[STATUS_CONDITIONS] = { 0 };
    status_conditions(&v, NULL, &a, c);
    check(&c[STATUS_READY], row->ready_is, row->ready_says);
    check(&c[STATUS_DEGRADED], row->degraded_is, row->degraded_says);
    check(&c[STATUS_HEALTH_BRAKED], row->braked_is, row->braked_says);
    assert_string_equal(c[STATUS_HEALTH_BRAKED].type, "HealthBraked");
    fleet_clear(&f);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, says, rows);
    return suite_run(&s, "conditions_health");
}
