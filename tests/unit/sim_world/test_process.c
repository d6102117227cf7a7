#include "sim/world/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "kube/object.h"
#include "reconcilers/manifests/render.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "sim/api/access.h"
#include "sim/api/builtin.h"
#include "tests/unit/sim_world/one_node.h"
#include "tests/unit/support/suite.h"

enum { RESTART_MS = 1000, SETTLED_MS = 5000, LEASE_MS = 20 * 1000 };

/* A cluster of one GPU node, a policy, and up to two Ostlers. */
struct setting {
    struct sim sim;
    struct api *api;
    struct wire *wire;
    struct fault_plan faults;
    struct manifests *manifests;
    struct process *first, *second;
};

static struct process *process(const struct setting *s, const char *name)
{
    return process_new(&(struct process_options){
        .sim = (struct sim *) &s->sim,
        .wire = s->wire,
        .engine.manifests = s->manifests,
        .name = name,
        .user = "system:serviceaccount:ostler-system:ostler",
        .engine.lease_namespace = "ostler-system",
        .engine.cluster.operand_namespace = "ostler-operands",
        .engine.cluster.limits = { "nvcr.io/nvidia", "*", NULL, true, true },
        .engine.cluster.absent_grace_ms = 600 * 1000,
        .restart_ms = RESTART_MS,
        .engine.leader_elect = true });
}

static struct setting *make(uint64_t seed)
{
    struct setting *s = xcalloc(1, sizeof *s);
    log_setup(LOG_SILENT, false);
    sim_init(&s->sim, seed);
    s->faults = (struct fault_plan){ .rng = rng_of(seed) };
    s->api = api_new(&s->sim.clock);
    s->wire = wire_new(&(struct wire_options){ .sim = &s->sim,
                                               .api = s->api,
                                               .faults = &s->faults,
                                               .latency_min_ms = 1,
                                               .latency_max_ms = 20 });
    s->manifests = manifests_new(NULL);
    create_cluster(s->api);
    s->first = process(s, "first");
    s->second = process(s, "second");
    return s;
}

static int set_up(void **state)
{
    *state = make(1);
    return 0;
}

static int tear_down(void **state)
{
    struct setting *s = *state;
    process_free(s->first);
    process_free(s->second);
    wire_free(s->wire);
    fault_plan_clear(&s->faults);
    sim_clear(&s->sim);
    api_free(s->api);
    manifests_free(s->manifests);
    free(s);
    return 0;
}

static void pass(struct setting *s, int64_t ms)
{
    sim_run_until(&s->sim, s->sim.now_ms + ms);
}

static bool works(const struct process *p)
{
    return process_engine(p) && engine_working(process_engine(p));
}

static const char *holder(const struct setting *s)
{
    return json_str_or_empty(api_get(s->api, kind_named("leases"), "ostler-system", "ostler"),
                             "spec.holderIdentity");
}

static void it_serves_the_cluster(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_true(works(s->first));
    assert_string_equal(holder(s), "first_1");
    assert_int_equal(api_count(s->api, kind_named("daemonsets")), 4);
}

static void killed_it_is_started_again(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_kill(s->first);
    assert_false(process_is_running(s->first));
    pass(s, RESTART_MS + LEASE_MS);
    assert_true(works(s->first));
    assert_string_equal(holder(s), "first_2");
    assert_int_equal(process_counts(s->first)->kills, 1);
    assert_int_equal(process_counts(s->first)->starts, 2);
}

static void a_fault_kills_it_at_its_first_write(void **state)
{
    struct setting *s = *state;
    struct fault rows[] = { { .point = FAULT_ANSWERED,
                              .effect = FAULT_DIE,
                              .classes = FAULT_CLASS(REQUEST_WRITE),
                              .nth = 1 } };
    s->faults.rows = rows;
    s->faults.count = ARRAY_LEN(rows);
    process_start(s->first);
    pass(s, SETTLED_MS + LEASE_MS);
    assert_int_equal(rows[0].fired, 1);
    assert_int_equal(process_counts(s->first)->kills, 1);
    assert_true(works(s->first));
}

static void stopped_it_gives_the_lease_back(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_stop(s->first);
    pass(s, SETTLED_MS);
    assert_false(process_is_running(s->first));
    assert_string_equal(holder(s), "");
    assert_int_equal(process_counts(s->first)->ends, 1);
    assert_int_equal(process_counts(s->first)->exit_code, 0);
    process_start(s->second);
    pass(s, SETTLED_MS);
    assert_true(works(s->second));
}

static void another_one_takes_over_from_one_that_stands_still(void **state)
{
    struct setting *s = *state;
    process_start(s->first);
    pass(s, SETTLED_MS);
    process_start(s->second);
    process_pause(s->first);
    pass(s, LEASE_MS);
    assert_true(works(s->second));
    process_resume(s->first);
    pass(s, RESTART_MS);
    assert_int_equal(process_counts(s->first)->losses, 1);
    pass(s, LEASE_MS);
    assert_string_equal(holder(s), "second_1");
    assert_true(process_is_running(s->first));
    assert_false(works(s->first));
}

static void a_missing_right_is_named_until_it_is_there(void **state)
{
    struct setting *s = *state;
    struct access *access = access_new();
    access_add_chart(access, "ostler-system", "ostler-operands", NULL);
    access_deny(access, "patch", "/nodes");
    api_set_access(s->api, access);
    process_start(s->first);
    pass(s, SETTLED_MS);
    struct engine *engine = (struct engine *) process_engine(s->first);
    CLEANUP_FREE char *why = engine_why_writes_fail(engine);
    assert_non_null(why);
    assert_non_null(strstr(why, "cannot patch resource \"nodes\""));
    api_set_access(s->api, NULL);
    pass(s, LEASE_MS);
    assert_null(engine_why_writes_fail(engine));
    access_free(access);
}

static void a_child_that_is_refused_keeps_no_other_away(void **state)
{
    struct setting *s = *state;
    struct access *access = access_new();
    access_add_chart(access, "ostler-system", "ostler-operands", NULL);
    access_deny(access, "patch", "node.k8s.io/runtimeclasses");
    api_set_access(s->api, access);
    process_start(s->first);
    pass(s, SETTLED_MS);
    const json_t *policy = api_get(s->api, kind_named("gpuclusterpolicies"), NULL, "default");
    assert_int_equal(api_count(s->api, kind_named("runtimeclasses")), 0);
    assert_int_equal(api_count(s->api, kind_named("daemonsets")), 4);
    assert_int_equal(api_count(s->api, kind_named("services")), 1);
    assert_int_equal(json_int(policy, "status.nodes.gpu", 0), 1);
    access_free(access);
}

/* What Ostler commits, held against what must be so first. */
struct order {
    struct setting *s;
    size_t writes; /* but of its lease and events */
    bool bare;     /* a node was marked while the policy did not bear the finalizer */
    bool late;     /* something was written after the lease was given back */
};

static void take_order(void *arg, const struct api_commit *c)
{
    struct order *o = arg;
    const json_t *policy = api_get(o->s->api, kind_named("gpuclusterpolicies"), NULL, "default");
    const char *kind = c->kind->plural;
    if (!str_has_prefix(c->user, "system:serviceaccount:ostler-system:") ||
        str_eq(kind, "leases") || str_eq(kind, "events"))
        return;
    o->writes++;
    o->bare |= str_eq(kind, "nodes") && object_annotation(c->after, ANNOTATION_MARKS) &&
               !object_has_finalizer(policy, POLICY_FINALIZER);
    o->late |= !*holder(o->s);
}

/* The policy could be deleted, and go, at any moment: without the finalizer the marks would stay.
 */
static void no_node_is_marked_before_the_finalizer_is_there(void **state)
{
    struct setting *s = *state;
    struct order o = { .s = s };
    create(s->api, json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s}}}", "apiVersion", "v1", "kind",
                             "Node", "metadata", "name", "theirs", "labels",
                             "feature.node.kubernetes.io/pci-0302_10de.present", "true",
                             "eks.amazonaws.com/compute-type", "auto"));
    api_on_commit(s->api, take_order, &o);
    process_start(s->first);
    pass(s, SETTLED_MS);
    assert_true(o.writes > 0);
    assert_false(o.bare);
}

/* Whether Ostler waits for the list that comes late, of those that it asks for at its start; false:
 * there are not so many. */
static bool waits_for_list(uint64_t nth)
{
    enum { LATE_MS = 3000 };
    struct setting *s = make(1);
    struct order o = { .s = s };
    struct fault late = { .point = FAULT_BEFORE,
                          .effect = FAULT_DELAY,
                          .delay_ms = LATE_MS,
                          .classes = FAULT_CLASS(REQUEST_READ),
                          .nth = nth };
    s->faults.rows = &late;
    s->faults.count = 1;
    api_on_commit(s->api, take_order, &o);
    process_start(s->first);
    pass(s, LATE_MS - 100);
    bool fired = late.fired > 0;
    assert_int_equal(o.writes > 0, !fired);
    pass(s, SETTLED_MS);
    assert_true(o.writes > 0);
    void *state = s;
    tear_down(&state);
    return fired;
}

static void nothing_is_written_before_all_lists_have_come(void **state)
{
    (void) state;
    uint64_t lists = 0;
    while (waits_for_list(lists + 1))
        lists++;
    /* All that kube/resource.h has, but ConfigMaps and budgets, which few need, and what is only
     * written; and what Ostler stands on, in five parts. */
    assert_int_equal(lists, 12 + 5);
}

static void the_lease_is_given_back_after_the_last_write(void **state)
{
    struct setting *s = *state;
    struct order o = { .s = s };
    struct fault rows[] = { { .point = FAULT_BEFORE,
                              .effect = FAULT_DELAY,
                              .delay_ms = 500,
                              .classes = FAULT_CLASS(REQUEST_WRITE),
                              .one_in = 1 } };
    s->faults.rows = rows;
    s->faults.count = ARRAY_LEN(rows);
    api_on_commit(s->api, take_order, &o);
    process_start(s->first);
    while (!works(s->first))
        pass(s, 1);
    pass(s, 50);
    assert_int_equal(o.writes, 0);
    process_stop(s->first);
    pass(s, SETTLED_MS);
    assert_string_equal(holder(s), "");
    assert_true(o.writes > 0);
    assert_false(o.late);
}

static void a_failure_that_is_over_is_no_longer_told(void **state)
{
    struct setting *s = *state;
    struct fault rows[] = { { .point = FAULT_COMMITTED,
                              .effect = FAULT_RESET,
                              .classes = FAULT_CLASS(REQUEST_WRITE),
                              .one_in = 1 } };
    s->faults.rows = rows;
    s->faults.count = ARRAY_LEN(rows);
    s->faults.until_ms = SETTLED_MS;
    process_start(s->first);
    pass(s, SETTLED_MS);
    const struct kind *policies = kind_named("gpuclusterpolicies");
    CLEANUP_FREE char *before = json_compact(
        json_at(api_get(s->api, policies, NULL, "default"), "status"));
    assert_non_null(strstr(before, "ReconcileFailed"));
    pass(s, 60 * 1000);
    CLEANUP_FREE char *after = json_compact(
        json_at(api_get(s->api, policies, NULL, "default"), "status"));
    assert_null(strstr(after, "ReconcileFailed"));
}

static void its_clock_may_be_another_one(void **state)
{
    enum { AHEAD_MS = 5 * 60 * 1000 };
    struct setting *s = *state;
    process_set_clock(s->first, AHEAD_MS);
    process_start(s->first);
    pass(s, SETTLED_MS);
    const json_t *lease = api_get(s->api, kind_named("leases"), "ostler-system", "ostler");
    int64_t said_us = clock_parse_rfc3339(json_str_or_empty(lease, "spec.acquireTime")),
            begun_us = sim_wall_us(&s->sim, 0);
    assert_in_range(said_us, begun_us + AHEAD_MS * INT64_C(1000),
                    begun_us + (AHEAD_MS + SETTLED_MS) * INT64_C(1000));
}

/* The seed decides everything. */
static uint64_t trace_of(uint64_t seed)
{
    struct setting *s = make(seed);
    void *state = s;
    process_start(s->first);
    pass(s, SETTLED_MS);
    uint64_t trace = s->sim.trace;
    tear_down(&state);
    return trace;
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    (void) state;
    assert_int_equal(trace_of(7), trace_of(7));
    assert_int_not_equal(trace_of(7), trace_of(8));
}

int main(void)
{
    struct suite s = { 0 };
    suite_add_fixture(&s, "it serves the cluster", it_serves_the_cluster, set_up, tear_down);
    suite_add_fixture(&s, "killed, it is started again", killed_it_is_started_again, set_up,
                      tear_down);
    suite_add_fixture(&s, "a fault kills it at its first write",
                      a_fault_kills_it_at_its_first_write, set_up, tear_down);
    suite_add_fixture(&s, "stopped, it gives the lease back", stopped_it_gives_the_lease_back,
                      set_up, tear_down);
    suite_add_fixture(&s, "another one takes over from one that stands still",
                      another_one_takes_over_from_one_that_stands_still, set_up, tear_down);
    suite_add_fixture(&s, "a missing right is named until it is there",
                      a_missing_right_is_named_until_it_is_there, set_up, tear_down);
    suite_add_fixture(&s, "a child that is refused keeps no other away",
                      a_child_that_is_refused_keeps_no_other_away, set_up, tear_down);
    suite_add_fixture(&s, "no node is marked before the finalizer is there",
                      no_node_is_marked_before_the_finalizer_is_there, set_up, tear_down);
    suite_add(&s, "nothing is written before all lists have come",
              nothing_is_written_before_all_lists_have_come, NULL);
    suite_add_fixture(&s, "the lease is given back after the last write",
                      the_lease_is_given_back_after_the_last_write, set_up, tear_down);
    suite_add_fixture(&s, "its clock may be another one", its_clock_may_be_another_one, set_up,
                      tear_down);
    suite_add_fixture(&s, "a failure that is over is no longer told",
                      a_failure_that_is_over_is_no_longer_told, set_up, tear_down);
    suite_add(&s, "the same seed gives the same trace", the_same_seed_gives_the_same_trace, NULL);
    return suite_run(&s, "process");
}
