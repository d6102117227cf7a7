/* What tells the viewers of the fleet page to look again, and what does not. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/reconcilers.h"
#include "runtime/loop.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/testbed.h"
#include "tests/unit/support/tree.h"

static const enum resource_id watched[] = { RESOURCE_NODE, RESOURCE_POD, RESOURCE_TASK,
                                            RESOURCE_GPU_NODE };

struct fixture {
    struct testbed bed;
    struct loop *loop;
    struct buf shown; /* "gpu-1 policy …": in order, each once at a time */
};

static void on_shown(void *arg, const char *name)
{
    struct fixture *f = arg;
    buf_printf(&f->shown, "%s%s", f->shown.len ? " " : "", name ? name : "policy");
}

/* What was shown since the last look. Owned by the caller. */
static char *look(struct fixture *f)
{
    return buf_take(&f->shown);
}

static void expect(struct fixture *f, const char *want)
{
    CLEANUP_FREE char *got = look(f);
    assert_string_equal(got, want);
}

#define GPU_NODE(name, rack)                                                                       \
    "{'name': '" name "', 'gpus': 8, 'boot': 'b', 'labels': {'nvidia.com/gpu.present': 'true', "   \
    "'example.com/rack': '" rack "'}}"

static void put(struct fixture *f, const char *brief)
{
    CLEANUP_JSON json_t *node = tree(brief);
    testbed_put(&f->bed, RESOURCE_NODE, testbed_node(node));
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    CLEANUP_JSON json_t *policy = tree("{'spec': {'driver': {'version': '580.178.04'}}}");
    f->shown.max = SIZE_MAX;
    testbed_init(&f->bed, policy);
    f->loop = loop_new(&quiet_clock);
    struct cluster *c = f->bed.cluster;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        const struct informer_options o = { .resource = watched[i] };
        c->informers[watched[i]] = informer_new(&o, &c->tables[watched[i]], NULL, f->loop, NULL,
                                                NULL);
    }
    c->o.listener.shown = on_shown;
    c->o.listener.arg = f;
    put(f, GPU_NODE("gpu-1", "r1"));
    put(f, GPU_NODE("gpu-2", "r1"));
    buf_clear(&f->shown);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        informer_free(f->bed.cluster->informers[watched[i]]);
    testbed_clear(&f->bed);
    loop_free(f->loop);
    buf_clear(&f->shown);
    free(f);
    return 0;
}

static void pass(struct fixture *f, const char *name)
{
    CLEANUP_ACTIONS struct actions actions = { 0 };
    node_reconcile(f->bed.passes, name, &actions);
}

static void pass_that_finds_something_new_shows_its_node_and_the_counts(void **state)
{
    struct fixture *f = *state;
    pass(f, "gpu-1");
    expect(f, "gpu-1 policy");
    pass(f, "gpu-1");
    expect(f, "");
}

static void edit(struct fixture *f, const char *patch_text)
{
    CLEANUP_JSON json_t *patch = tree(patch_text);
    testbed_edit(&f->bed, RESOURCE_NODE, "gpu-1", patch);
}

static void node_shows_its_labels_and_gpus(void **state)
{
    struct fixture *f = *state;
    edit(f, "{'metadata': {'labels': {'example.com/rack': 'r2'}}}");
    expect(f, "gpu-1");
    edit(f, "{'status': {'allocatable': {'nvidia.com/gpu': '7'}}}");
    expect(f, "gpu-1");
    edit(f, "{'metadata': {'annotations': {'ostler.dev/host-driver': 'true'}}}");
    expect(f, "gpu-1");
    edit(f, "{'status': {'allocatable': {'cpu': '63'}}}");
    edit(f, "{'spec': {'unschedulable': true}}");
    expect(f, "");
}

static void node_that_goes_is_shown(void **state)
{
    struct fixture *f = *state;
    testbed_remove(&f->bed, RESOURCE_NODE, "gpu-2");
    expect(f, "gpu-2");
}

static void put_pod(struct fixture *f, const char *brief)
{
    CLEANUP_JSON json_t *pod = tree(brief);
    testbed_put(&f->bed, RESOURCE_POD, testbed_pod(pod));
}

static unsigned used(struct fixture *f)
{
    return testbed_slot(&f->bed, "gpu-1")->used;
}

static void pods_that_begin_to_leave_show_the_policy(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "{'name': 'a/p', 'gpus': 2}");
    buf_clear(&f->shown);
    put_pod(f, "{'name': 'a/p', 'gpus': 2, 'deleting': true}");
    expect(f, "policy");
}

static void pods_with_gpus_show_their_node(void **state)
{
    struct fixture *f = *state;
    put_pod(f, "{'name': 'a/p', 'gpus': 2, 'ready': false}");
    expect(f, "gpu-1");
    put_pod(f, "{'name': 'a/p', 'gpus': 2, 'ready': true, 'phase': 'Running'}");
    put_pod(f, "{'name': 'ostler-operands/d', 'operand': 'driver', 'ready': true}");
    expect(f, "");
    put_pod(f, "{'name': 'a/q', 'gpus': 3}");
    expect(f, "gpu-1");
    assert_int_equal(used(f), 5);
    testbed_remove(&f->bed, RESOURCE_POD, "p");
    expect(f, "gpu-1");
    assert_int_equal(used(f), 3);
}

static void report(struct fixture *f, const char *status)
{
    CLEANUP_JSON json_t *object = tree("{'metadata': {'name': 'gpu-1'}}");
    json_object_set_new(object, "status", tree(status));
    testbed_put(&f->bed, RESOURCE_GPU_NODE, json_incref(object));
}

#define INVENTORY(faults)                                                                          \
    "'inventory': {'bootId': 'b', 'gpus': [{'address': '0000:65:00.0', 'bus': 'Active', "          \
    "'driver': 'nvidia'}], 'faults': [" faults "]}"
#define FAULT                                                                                      \
    "{'address': '0000:65:00.0', 'xid': 79, 'count': 1, 'first': '2026-11-20T09:00:00Z', 'last': " \
    "'2026-11-20T09:00:00Z', 'bootId': 'b'}"

static void report_shows_what_the_agent_found(void **state)
{
    struct fixture *f = *state;
    report(f, "{" INVENTORY("") "}");
    expect(f, "gpu-1");
    report(f, "{'state': 'Ready', 'message': 'm', " INVENTORY("") "}");
    expect(f, "");
    /* The row of a node whose state is older than this process has this time. */
    report(f, "{'state': 'Ready', 'since': '2026-11-20T09:00:00Z', " INVENTORY("") "}");
    expect(f, "gpu-1");
    report(f, "{'state': 'Ready', 'since': '2026-11-20T09:00:00Z', " INVENTORY(FAULT) "}");
    expect(f, "gpu-1");
    testbed_remove(&f->bed, RESOURCE_GPU_NODE, "gpu-1");
    expect(f, "gpu-1");
}

/* Which faults count also changes by time alone. */
static void pass_shows_that_other_faults_count(void **state)
{
    struct fixture *f = *state;
    report(f, "{" INVENTORY(FAULT) "}");
    pass(f, "gpu-1");
    free(look(f));
    pass(f, "gpu-1");
    expect(f, "");
    struct node_slot *slot = testbed_slot(&f->bed, "gpu-1");
    assert_int_equal(slot->bad_shown, 1);
    slot->bad_shown = 0; /* as if it had not counted at the last pass */
    pass(f, "gpu-1");
    expect(f, "gpu-1");
}

static void edit_policy(struct fixture *f, const char *patch_text)
{
    CLEANUP_JSON json_t *patch = tree(patch_text);
    testbed_edit(&f->bed, RESOURCE_POLICY, POLICY_NAME, patch);
}

static void policy_shows_its_status_alone_and_a_new_spec_everything(void **state)
{
    struct fixture *f = *state;
    edit_policy(f, "{'status': {'observedGeneration': 7}}");
    expect(f, "policy");
    edit_policy(f, "{'spec': {'rollout': {'topologyKey': 'example.com/rack'}}}");
    expect(f, "policy gpu-1 gpu-2");
}

static void record_of_a_revision_tells_its_version_of_all(void **state)
{
    struct fixture *f = *state;
    CLEANUP_JSON json_t *inputs = tree("{'tier': 'driver', 'version': '580.178.04'}");
    testbed_put(&f->bed, RESOURCE_REVISION, testbed_record("d1", inputs));
    expect(f, "gpu-1 gpu-2");
}

static void nothing_is_told_where_no_page_is_served(void **state)
{
    struct fixture *f = *state;
    f->bed.cluster->o.listener.shown = NULL;
    put_pod(f, "{'name': 'a/p', 'gpus': 2}");
    report(f, "{" INVENTORY(FAULT) "}");
    edit(f, "{'metadata': {'labels': {'example.com/rack': 'r2'}}}");
    edit_policy(f, "{'spec': {'rollout': {'topologyKey': 'example.com/rack'}}}");
    pass(f, "gpu-1");
    testbed_remove(&f->bed, RESOURCE_NODE, "gpu-1");
    expect(f, "");
}

int main(void)
{
    static const struct suite_check checks[] = {
        { "a pass that finds something new shows its node and the counts",
          pass_that_finds_something_new_shows_its_node_and_the_counts },
        { "a node shows its labels and GPUs", node_shows_its_labels_and_gpus },
        { "a node that goes is shown", node_that_goes_is_shown },
        { "pods with GPUs show their node", pods_with_gpus_show_their_node },
        { "pods that begin to leave show the policy", pods_that_begin_to_leave_show_the_policy },
        { "a report shows what the agent found", report_shows_what_the_agent_found },
        { "a pass shows that other faults count", pass_shows_that_other_faults_count },
        { "the policy shows its status alone, and a new spec everything",
          policy_shows_its_status_alone_and_a_new_spec_everything },
        { "the record of a revision tells its version, of all",
          record_of_a_revision_tells_its_version_of_all },
        { "nothing is told where no page is served", nothing_is_told_where_no_page_is_served },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, checks, set_up, tear_down);
    return suite_run(&s, "fleet_shown");
}
