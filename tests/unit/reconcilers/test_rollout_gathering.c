/* What a decision of the rollout looks at is kept from pass to pass, and is read anew when the node
 * or its pods change. */
#include "reconcilers/rollout_gathering.h"

#include "base/json.h"
#include "base/log.h"
#include "reconcilers/model/names.h"
#include "reconcilers/rollout_images.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/tree.h"

#define POLICY                                                                                     \
    "{'metadata': {'name': 'default', 'uid': 'u', 'resourceVersion': '1', 'generation': 1}, "      \
    "'spec': {}}"
#define NODE(version, labels)                                                                      \
    "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '" version                      \
    "', 'labels': {" labels "}}}"
#define POD(version, phase)                                                                        \
    "{'metadata': {'name': 'train', 'namespace': 'default', 'uid': 'p', 'resourceVersion': "       \
    "'" version "'}, "                                                                             \
    "'spec': {'nodeName': 'gpu-1', 'containers': [{'name': 'main', 'resources': {'limits': "       \
    "{'nvidia.com/gpu': '1'}}}]}, "                                                                \
    "'status': {'phase': '" phase "'}}"

struct fixture {
    struct cluster cluster;
    size_t told; /* how often the rollout was */
};

static void tell_rollout(void *arg)
{
    ((struct fixture *) arg)->told++;
}

static void put(struct fixture *f, enum resource_id resource, const char *text, bool deleted)
{
    quiet_event(&f->cluster, resource, text, deleted);
}

/* The node with this text as its claim. */
static void put_claim(struct fixture *f, const char *version, const char *text)
{
    CLEANUP_JSON json_t *node = tree(NODE("0", "'ostler.dev/driver': 'd1'"));
    json_set_at(node, "metadata.resourceVersion", json_string(version));
    json_set_at(node, "metadata.annotations", json_pack("{s:s}", ANNOTATION_CLAIM, text));
    table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
}

static void put_phase(struct fixture *f, const char *version, enum claim_phase phase)
{
    const struct claim claim = { .policy = "u",
                                 .generation = 1,
                                 .phase = phase,
                                 .since_s = 1795168800,
                                 .claimed_s = 1795168800,
                                 .attempt = 1,
                                 .gpus = 8,
                                 .to = { { "d2", "s1" } },
                                 .from = { { "d1", "s1" } } };
    CLEANUP_FREE char *text = claim_text(&claim);
    put_claim(f, version, text);
}

/* A policy, and a node that runs d1 and s1. */
static int set_up(void **state)
{
    log_setup(LOG_SILENT, false);
    struct fixture *f = xcalloc(1, sizeof *f);
    struct cluster_listener listener = quiet_listener;
    listener.rollout = tell_rollout;
    listener.arg = f;
    cluster_init(&f->cluster,
                 &(struct cluster_options){ .operand_namespace = "operands",
                                            .limits = { "nvcr.io/nvidia", "*", NULL, true, true },
                                            .clock = &quiet_clock,
                                            .listener = listener });
    put(f, RESOURCE_POLICY, POLICY, false);
    put(f, RESOURCE_NODE, NODE("2", "'ostler.dev/driver': 'd1', 'ostler.dev/stack': 's1'"), false);
    struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    struct node_verdict v = { .state = NODE_READY, .carried = { { "d1", "s1" } } };
    tally_set(&f->cluster.tally, &slot->summary, &v);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    cluster_clear(&f->cluster);
    free(f);
    return 0;
}

#define RECORD(tier, hash)                                                                         \
    "{'metadata': {'name': '" tier "-" hash "', 'namespace': 'operands', 'uid': '" tier            \
    "', 'resourceVersion': '7', "                                                                  \
    "'labels': {'ostler.dev/policy-uid': 'u'}}}"

/* The one node as a decision looks at it; valid until the arena goes. */
static const struct rollout_node *look(struct fixture *f, struct arena *a)
{
    struct rollout_gathering g;
    rollout_gather(&f->cluster, a, &g);
    assert_int_equal(g.in.node_count, 1);
    return &g.in.nodes[0];
}

/* By its taint, whoever set it; or by its pass, which is about to write that. */
static void closed_for_a_fault(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    assert_false(look(f, &a)->unhealthy);
    put(f, RESOURCE_NODE,
        "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '3', 'labels': "
        "{'ostler.dev/driver': 'd1', 'ostler.dev/stack': 's1'}}, 'spec': {'taints': [{'key': "
        "'ostler.dev/unhealthy', 'effect': 'NoSchedule'}]}}",
        false);
    assert_true(look(f, &a)->unhealthy);
    put(f, RESOURCE_NODE,
        "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '4', 'labels': "
        "{'ostler.dev/driver': 'd1', 'ostler.dev/stack': 's1'}}, 'spec': {'taints': [{'key': "
        "'ostler.dev/unhealthy-too', 'effect': 'NoSchedule'}]}}",
        false);
    assert_false(look(f, &a)->unhealthy);
    struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    struct node_verdict v = { .state = NODE_UNHEALTHY, .unhealthy = true };
    tally_set(&f->cluster.tally, &slot->summary, &v);
    assert_true(look(f, &a)->unhealthy);
}

static void labels_are_the_node_s(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    assert_string_equal(look(f, &a)->now.hash[TIER_DRIVER], "d1");
    assert_false(look(f, &a)->held);
    put(f, RESOURCE_NODE,
        NODE("3", "'ostler.dev/driver': 'd2', 'ostler.dev/stack': 's2', 'ostler.dev/hold': 'true'"),
        false);
    const struct rollout_node *n = look(f, &a);
    assert_string_equal(n->now.hash[TIER_DRIVER], "d2");
    assert_string_equal(n->now.hash[TIER_STACK], "s2");
    assert_true(n->held);
}

static void the_claim_is_the_node_s(void **state)
{
    static const enum claim_phase phases[] = { CLAIM_DRAINING, CLAIM_UNLOADING };
    static const char *const versions[] = { "3", "4" };
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    assert_null(look(f, &a)->claim);
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        put_phase(f, versions[i], phases[i]);
        for (int again = 0; again < 2; again++) {
            const struct rollout_node *n = look(f, &a);
            assert_non_null(n->claim);
            assert_int_equal(n->claim->phase, phases[i]);
            assert_int_equal(n->gpus, 8);
            assert_false(n->held);
        }
    }
    put_claim(f, "5", "mine");
    assert_null(look(f, &a)->claim);
    assert_true(look(f, &a)->held);
    put(f, RESOURCE_NODE, NODE("6", "'ostler.dev/driver': 'd1'"), false);
    assert_null(look(f, &a)->claim);
    assert_false(look(f, &a)->held);
}

static void pods_are_the_node_s(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    assert_int_equal(look(f, &a)->busy, 0);
    put(f, RESOURCE_POD, POD("3", "Running"), false);
    assert_int_equal(look(f, &a)->busy, 1);
    put(f, RESOURCE_POD, POD("4", "Pending"), false);
    assert_int_equal(look(f, &a)->busy, 0);
    put(f, RESOURCE_POD, POD("5", "Running"), false);
    assert_int_equal(look(f, &a)->busy, 1);
    put(f, RESOURCE_POD, POD("5", "Running"), true);
    assert_int_equal(look(f, &a)->busy, 0);
}

static void what_keeps_pods_is_the_policy_s(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    put(f, RESOURCE_POD, POD("3", "Running"), false);
    put_phase(f, "4", CLAIM_DRAINING);
    assert_int_equal(look(f, &a)->jobs, 1); /* no controller would recreate the pod */
    put(f, RESOURCE_POLICY,
        "{'metadata': {'name': 'default', 'uid': 'u', 'resourceVersion': '5', 'generation': 2}, "
        "'spec': {'rollout': {'drain': {'force': true}}}}",
        false);
    assert_int_equal(look(f, &a)->jobs, 0);
}

/* A host that has a driver of its own by now: no pod is made that would have nothing to pull. */
static void what_only_goes_needs_no_images(void **state)
{
    struct fixture *f = *state;
    const struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    struct rollout_node n = { .name = "gpu-1",
                              .now = { { "d1", "s1" } },
                              .target = { { "", "s1" } } };
    assert_int_equal(rollout_images(&f->cluster, slot, &n).state, IMAGES_READY);
    n.target.hash[TIER_DRIVER] = "d2";
    assert_int_equal(rollout_images(&f->cluster, slot, &n).state, IMAGES_UNKNOWN);
}

/* It serves again as it was, and jobs come to it: a tag that does not exist would close it for
 * nothing. */
static void whose_drain_took_too_long_needs_the_images_for_the_next_try(void **state)
{
    struct fixture *f = *state;
    const struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    const struct claim timed_out = { .phase = CLAIM_FAILED,
                                     .to = { { "d2", "s1" } },
                                     .reason = "DrainTimeout" };
    const struct claim failed = { .phase = CLAIM_FAILED,
                                  .to = { { "d2", "s1" } },
                                  .reason = "NoAllocatableGpus" };
    struct rollout_node n = { .name = "gpu-1",
                              .now = { { "d1", "s1" } },
                              .target = { { "d2", "s1" } },
                              .claim = &timed_out };
    assert_int_equal(rollout_images(&f->cluster, slot, &n).state, IMAGES_UNKNOWN);
    n.claim = &failed;
    assert_int_equal(rollout_images(&f->cluster, slot, &n).state, IMAGES_READY);
}

/* An admin releases the node: it takes its place until its claim is removed, and nothing else of it
 * matters. */
static void who_is_let_go_takes_its_place(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    struct node_verdict v = { .state = NODE_REMOVING, .carried = { { "d1" } } };
    struct rollout_gathering g;
    tally_set(&f->cluster.tally, &slot->summary, &v);
    put_phase(f, "3", CLAIM_UNLOADING);
    assert_true(look(f, &a)->let_go);
    assert_int_equal(look(f, &a)->claim->phase, CLAIM_UNLOADING);
    put(f, RESOURCE_NODE, NODE("4", "'ostler.dev/driver': 'd1'"), false);
    rollout_gather(&f->cluster, &a, &g);
    assert_int_equal(g.in.node_count, 0);
}

#define LEAVING(version, labels)                                                                   \
    "{'metadata': {'name': 'gpu-1', 'uid': 'n', 'resourceVersion': '" version                      \
    "', 'labels': {" labels "}, "                                                                  \
    "'deletionTimestamp': '2026-11-20T10:00:00Z', 'finalizers': ['karpenter.sh/termination']}}"

/* The pass of such a node reports it as Unmanaged. */
static void who_is_being_deleted_is_out_of_service_until_it_is_gone(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    struct node_verdict v = { .state = NODE_UNMANAGED };
    struct rollout_gathering g;
    assert_false(look(f, &a)->leaving);
    put(f, RESOURCE_NODE, LEAVING("3", "'ostler.dev/driver': 'd1', 'ostler.dev/stack': 's1'"),
        false);
    tally_set(&f->cluster.tally, &slot->summary, &v);
    assert_true(look(f, &a)->leaving);
    assert_true(look(f, &a)->let_go);
    put(f, RESOURCE_NODE, LEAVING("4", "'ostler.dev/driver': 'd1', 'ostler.dev/stack': 's1'"),
        true);
    rollout_gather(&f->cluster, &a, &g);
    assert_int_equal(g.in.node_count, 0);
}

/* A node that Ostler never served takes no place. */
static void who_is_being_deleted_and_bears_nothing_is_not_counted(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_gathering g;
    put(f, RESOURCE_NODE, LEAVING("3", ""), false);
    rollout_gather(&f->cluster, &a, &g);
    assert_int_equal(g.in.node_count, 0);
}

/* Since when a node that waits has no jobs left. */
static void when_its_jobs_ended_is_seen(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    assert_int_equal(look(f, &a)->free_s, 0);
    put_phase(f, "3", CLAIM_WAITING);
    int64_t now_s = cluster_now_s(&f->cluster);
    assert_int_equal(look(f, &a)->free_s, now_s);
    assert_int_equal(look(f, &a)->free_s, now_s);
    put(f, RESOURCE_POD, POD("4", "Running"), false);
    assert_int_equal(look(f, &a)->free_s, 0);
    put(f, RESOURCE_POD, POD("5", "Running"), true);
    assert_int_equal(look(f, &a)->free_s, now_s);
    put_phase(f, "6", CLAIM_DRAINING);
    assert_int_equal(look(f, &a)->free_s, 0);
}

/* What becomes of the node, and whether that is anything that a decision looks at. */
static void only_what_matters_starts_a_decision(void **state)
{
    static const struct {
        const char *node; /* a merge patch of it */
        bool told;
    } rows[] = {
        { "{'metadata': {'labels': {'example.com/rack': '7'}}}", false },
        { "{'metadata': {'annotations': {'example.com/note': 'x'}}}", false },
        { "{'metadata': {'annotations': {'ostler.dev/proof': 'x'}}}", false },
        { "{'status': {'nodeInfo': {'kernelVersion': '7.0'}}}", false },
        { "{'status': {'conditions': [{'type': 'GpuReady', 'status': 'True'}]}}", false },
        { "{'status': {'conditions': [{'type': 'Ready', 'status': 'False'}]}}", true },
        { "{'status': {'allocatable': {'nvidia.com/gpu': '8'}}}", true },
        { "{'spec': {'unschedulable': true}}", true },
        { "{'spec': {'taints': [{'key': 'ostler.dev/upgrade', 'effect': 'NoSchedule'}]}}", true },
        { "{'metadata': {'labels': {'ostler.dev/hold': 'true'}}}", true },
        { "{'metadata': {'labels': {'ostler.dev/driver': 'd2'}}}", true },
        { "{'metadata': {'annotations': {'ostler.dev/claim': 'x'}}}", true },
        { "{'metadata': {'annotations': {'ostler.dev/gave-up': 'x'}}}", true },
    };
    struct fixture *f = *state;
    CLEANUP_JSON json_t *node = tree(
        NODE("2", "'ostler.dev/driver': 'd1', 'ostler.dev/stack': 's1'"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_JSON json_t *patch = tree(rows[i].node);
        json_merge(node, patch);
        json_set_at(node, "metadata.resourceVersion", json_textf("%zu", i + 3));
        f->told = 0;
        table_event(&f->cluster.tables[RESOURCE_NODE], node, false);
        if (f->told != rows[i].told)
            fail_msg("%s: the rollout is told %zu times", rows[i].node, f->told);
    }
}

/* What becomes of the policy, and whether that is anything that a decision looks at: Ostler writes
 * its status all the time. */
static void only_what_matters_of_the_policy_starts_a_decision(void **state)
{
    static const struct {
        const char *policy; /* a merge patch of it */
        bool told;
    } rows[] = {
        { "{'status': {'rollout': {'reason': 'Progressing'}}}", false },
        { "{'status': {'observedGeneration': 1, 'conditions': [{'type': 'Ready', 'status': "
          "'True'}]}}",
          false },
        { "{'metadata': {'labels': {'example.com/team': 'ml'}}}", false },
        { "{'metadata': {'annotations': {'example.com/note': 'x'}}}", false },
        /* the record that answers it tells */
        { "{'metadata': {'annotations': {'ostler.dev/retry': 'd1'}}}", false },
        { "{'metadata': {'annotations': {'ostler.dev/approved': 'h1'}}}", true },
        { "{'metadata': {'annotations': {'ostler.dev/approved': 'h2'}}}", true },
        { "{'metadata': {'annotations': {'ostler.dev/approved': null}}}", true },
        { "{'metadata': {'annotations': {'ostler.dev/force-removal': 'true'}}}", true },
        { "{'metadata': {'finalizers': ['ostler.dev/cleanup']}}", true },
        { "{'metadata': {'generation': 2}, 'spec': {'rollout': {'paused': true}}}", true },
        { "{'metadata': {'deletionTimestamp': '2026-11-21T10:00:00Z'}}", true },
    };
    struct fixture *f = *state;
    CLEANUP_JSON json_t *policy = tree(POLICY);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_JSON json_t *patch = tree(rows[i].policy);
        json_merge(policy, patch);
        json_set_at(policy, "metadata.resourceVersion", json_textf("%zu", i + 3));
        f->told = 0;
        table_event(&f->cluster.tables[RESOURCE_POLICY], policy, false);
        if (f->told != rows[i].told)
            fail_msg("%s: the rollout is told %zu times", rows[i].policy, f->told);
    }
}

/* Pods matter on nodes that may be waiting for them. */
static void pods_of_closed_nodes_start_a_decision(void **state)
{
    struct fixture *f = *state;
    f->told = 0;
    put(f, RESOURCE_POD, POD("3", "Running"), false);
    assert_int_equal(f->told, 0);
    put_phase(f, "4", CLAIM_WAITING);
    f->told = 0;
    put(f, RESOURCE_POD, POD("5", "Running"), true);
    assert_int_equal(f->told, 1);
}

/* Whether a job runs there decides whose turn it is. */
static void pods_of_nodes_to_be_changed_start_a_decision(void **state)
{
    struct fixture *f = *state;
    struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    struct node_verdict v = { .state = NODE_READY,
                              .carried = { { "d1", "s1" } },
                              .target = { { "d2", "s1" } } };
    tally_set(&f->cluster.tally, &slot->summary, &v);
    put(f, RESOURCE_POD, POD("3", "Running"), false);
    f->told = 0;
    put(f, RESOURCE_POD, POD("4", "Running"), true);
    assert_int_equal(f->told, 1);
}

/* Until then the node counts as if there were nothing to do, and Ostler must not report that. */
static void what_is_wanted_counts_once_it_is_recorded(void **state)
{
    struct fixture *f = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_gathering g;
    struct node_slot *slot = map_get(&f->cluster.slots, "gpu-1");
    struct node_verdict v = { .state = NODE_READY,
                              .carried = { { "d1", "s1" } },
                              .target = { { "d2", "s1" } } };
    rollout_gather(&f->cluster, &a, &g);
    assert_false(g.early);
    tally_set(&f->cluster.tally, &slot->summary, &v);
    rollout_gather(&f->cluster, &a, &g);
    assert_true(g.early);
    put(f, RESOURCE_REVISION, RECORD("stack", "s1"), false);
    rollout_gather(&f->cluster, &a, &g);
    assert_true(g.early);
    assert_string_equal(g.in.nodes[0].target.hash[TIER_DRIVER], "d1");
    put(f, RESOURCE_REVISION, RECORD("driver", "d2"), false);
    rollout_gather(&f->cluster, &a, &g);
    assert_false(g.early);
    assert_string_equal(g.in.nodes[0].target.hash[TIER_DRIVER], "d2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(closed_for_a_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(labels_are_the_node_s, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_claim_is_the_node_s, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_only_goes_needs_no_images, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whose_drain_took_too_long_needs_the_images_for_the_next_try,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_let_go_takes_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_being_deleted_is_out_of_service_until_it_is_gone,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_being_deleted_and_bears_nothing_is_not_counted,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(when_its_jobs_ended_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_what_matters_starts_a_decision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_what_matters_of_the_policy_starts_a_decision, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pods_of_closed_nodes_start_a_decision, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pods_of_nodes_to_be_changed_start_a_decision, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pods_are_the_node_s, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_keeps_pods_is_the_policy_s, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wanted_counts_once_it_is_recorded, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("rollout gathering", tests, NULL, NULL);
}
