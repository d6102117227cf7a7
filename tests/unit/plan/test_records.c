#include "reconcilers/plan/records.h"

#include <stdio.h>

#include "base/json.h"
#include "tests/unit/support/table.h"
#include "tests/unit/support/tree.h"

#define NOW "2026-11-20T12:00:00Z"

/* A policy with one pool, a record that was complete in pools of an earlier policy, and a tally that still counts by that one. */
struct world {
    struct policy policy;
    struct policy_problems problems;
    struct tally tally;
    struct node_summary node;
    struct child record;
    struct cluster_view view;
};

static void set_up(struct world *w, size_t pool)
{
    CLEANUP_JSON json_t *object = tree("{'apiVersion':'ostler.dev/v1alpha1','kind':'GpuClusterPolicy','metadata':{'name':'default'},'spec':{}}");
    assert_int_equal(policy_decode(object, &w->policy, &w->problems), 0);
    w->record = (struct child){ .resource = RESOURCE_REVISION, .policy_uid = (char *) "u", .revision = (char *) "aaaaaaaaaa",
                                .inputs = tree("{'tier':'driver'}"),
                                .annotations = tree("{'ostler.dev/target-old':'2026-11-01T00:00:00Z','ostler.dev/completed-old':'2026-11-02T00:00:00Z','x':'y'}") };
    struct node_verdict v = { .state = NODE_READY, .cause = COMPONENT_NONE, .pool = pool };
    snprintf(v.driver, sizeof v.driver, "aaaaaaaaaa");
    snprintf(v.target_driver, sizeof v.target_driver, "aaaaaaaaaa");
    w->node.name = "n";
    tally_set(&w->tally, &w->node, &v);
    w->view = (struct cluster_view){ .policy = &w->policy, .tally = &w->tally, .now = NOW };
}

static void tear_down(struct world *w)
{
    tally_remove(&w->tally, &w->node);
    tally_clear(&w->tally);
    json_decref(w->record.inputs);
    json_decref(w->record.annotations);
    policy_clear(&w->policy);
}

static void pools_of_an_earlier_policy_are_not_named_anew(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 7); /* the policy of before had at least 8 pools */
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_tree(got, "{'ostler.dev/target-old':'2026-11-01T00:00:00Z','ostler.dev/completed-old':'2026-11-02T00:00:00Z'}");
    tear_down(&w);
}

static void settled_pools_are_named(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 0);
    w.view.settled = true;
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", NULL);
    assert_tree(got, "{'ostler.dev/target-default':'" NOW "','ostler.dev/completed-default':'" NOW "'}");
    tear_down(&w);
}

int main(void)
{
    struct table t = { 0 };
    table_add(&t, "while nodes are still to be looked at, no pool is named anew", pools_of_an_earlier_policy_are_not_named_anew, NULL);
    table_add(&t, "when all are looked at, the pools that want it are named", settled_pools_are_named, NULL);
    return table_run(&t, "records");
}
