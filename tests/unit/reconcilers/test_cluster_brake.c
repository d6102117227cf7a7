/* Which nodes count for the storm brake, and what it does when it goes on and off. */
#include "reconcilers/cluster_brake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "reconcilers/cluster_health.h"
#include "reconcilers/cluster_policy.h"
#include "reconcilers/model/fault_record.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define POLICY(version, spec)                                                                      \
    "{'metadata': {'name': 'default', 'uid': 'u', 'resourceVersion': '" version                    \
    "', 'generation': " version "}, 'spec': {" spec "}}"
#define LOST                                                                                       \
    ", 'faults': [{'address': '0000:65:00.0', 'xid': 79, 'count': 1, 'first': "                    \
    "'2026-11-20T09:00:00Z', 'last': '2026-11-20T09:00:00Z', 'bootId': 'b'}]"
#define REPORTED(since)                                                                            \
    ", 'health': {'level': 'Reboot', 'reason': 'Xid79', 'address': '0000:65:00.0', 'message': "    \
    "'m', 'since': '" since "'}"

enum { NOW_S = QUIET_WALL_US / 1000000, MINUTE_MS = 60 * 1000, NAME_SIZE = 16 };

struct fixture {
    struct cluster cluster;
    struct clock clock;
    int64_t mono_ms;
    unsigned version;
    size_t nodes, policies; /* enqueued */
};

static int64_t mono_ms(void *self)
{
    return ((struct fixture *) self)->mono_ms;
}

static int64_t wall_us(void *self)
{
    return QUIET_WALL_US + (((struct fixture *) self)->mono_ms - QUIET_MONO_MS) * 1000;
}

static void on_node(void *arg, const char *name)
{
    (void) name;
    ((struct fixture *) arg)->nodes++;
}

static void on_policy(void *arg, bool soon)
{
    ((struct fixture *) arg)->policies += soon;
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    log_setup(LOG_SILENT, false);
    f->mono_ms = QUIET_MONO_MS;
    f->version = 100;
    f->clock = (struct clock){ mono_ms, wall_us, f };
    cluster_init(&f->cluster, &(struct cluster_options){
                                  .operand_namespace = "operands",
                                  .limits = { "nvcr.io/nvidia", "*", NULL, true, true },
                                  .clock = &f->clock,
                                  .listener = { .node = on_node, .policy = on_policy, .arg = f } });
    quiet_event(&f->cluster, RESOURCE_POLICY, POLICY("2", ""), false);
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

static void name_of(size_t i, char out[static NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "gpu-%zu", i);
}

static struct node_slot *slot_of(struct fixture *f, size_t i)
{
    char name[NAME_SIZE];
    name_of(i, name);
    return map_get(&f->cluster.slots, name);
}

/* `has`: more annotations. */
static void put_node_with(struct fixture *f, size_t i, const char *has)
{
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata': {'name': 'gpu-%zu', 'uid': 'n%zu', 'resourceVersion': '%u', 'annotations': "
        "{'ostler.dev/marks': '{}'%s}}, 'status': {'nodeInfo': {'bootID': 'b'}}}",
        i, i, f->version++, has);
    quiet_event(&f->cluster, RESOURCE_NODE, text, false);
}

static void put_node(struct fixture *f, size_t i)
{
    put_node_with(f, i, "");
}

/* The GPU of the faults. */
#define GPU "0000:65:00.0"

/* `left`: another fault of that GPU, which a user has left alone; "": none. */
static void put_record_of(struct fixture *f, size_t i, enum fault_state state, const char *reason,
                          const char *address, const char *left, int64_t since_s)
{
    struct fault_record r = { .state = state,
                              .boot = str_hash_id("b"),
                              .since_s = since_s,
                              .tainted = state == FAULT_CLOSED || state == FAULT_PROVING };
    snprintf(r.reason, sizeof r.reason, "%s", reason);
    snprintf(r.address, sizeof r.address, "%s", address);
    if (*left) {
        snprintf(r.left.reason, sizeof r.left.reason, "%s", left);
        snprintf(r.left.address, sizeof r.left.address, "%s", r.address);
        r.left.boot = r.boot;
    }
    CLEANUP_FREE char *record = fault_record_text(&r);
    CLEANUP_JSON json_t *text = json_string(record);
    CLEANUP_FREE char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    CLEANUP_FREE char *has = xasprintf(", 'ostler.dev/fault': %s", quoted);
    put_node_with(f, i, has);
}

/* Ostler's record of what it did about the lost GPU, or about the fault that is `reason`. */
static void put_record(struct fixture *f, size_t i, enum fault_state state, const char *reason,
                       int64_t since_s)
{
    put_record_of(f, i, state, reason, GPU, "", since_s);
}

/* `says`: parts of the inventory; `health`: of the status. */
static void put_report(struct fixture *f, size_t i, const char *says, const char *health)
{
    CLEANUP_FREE char *text = xasprintf(
        "{'metadata': {'name': 'gpu-%zu', 'uid': 'r%zu', 'resourceVersion': '%u', "
        "'ownerReferences': [{'kind': 'Node', 'uid': 'n%zu'}]}, 'status': {'inventory': {'bootId': "
        "'b'%s}%s}}",
        i, i, f->version++, i, says, health);
    quiet_event(&f->cluster, RESOURCE_GPU_NODE, text, false);
}

/* What the node's pass does for the brake, and the state that it decides. */
static void pass_as(struct fixture *f, size_t i, enum node_state state)
{
    struct node_slot *slot = slot_of(f, i);
    struct health_input health;
    bool any = cluster_health(&f->cluster, slot, &health);
    struct node_verdict v = { .state = state, .gpu = true };
    cluster_brake_look(&f->cluster, slot, any ? &health : NULL);
    cluster_brake_decided(&f->cluster, slot, state);
    tally_set(&f->cluster.tally, &slot->summary, &v);
}

static void pass(struct fixture *f, size_t i)
{
    pass_as(f, i, NODE_READY);
}

/* Nodes 1 to `n`, healthy, which have been there for long. */
static void put_fleet(struct fixture *f, size_t n)
{
    for (size_t i = 1; i <= n; i++)
        put_node(f, i);
    for (size_t i = 1; i <= n; i++)
        pass(f, i);
    f->cluster.looked_through = true;
}

static void fall(struct fixture *f, size_t i)
{
    put_report(f, i, LOST, "");
    pass(f, i);
}

static size_t held(struct fixture *f, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i <= to; i++)
        n += cluster_brake_holds(&f->cluster, slot_of(f, i));
    return n;
}

/* A storm of 30 of 100 nodes closes the first 20, and no more. */
static void storm_closes_as_many_as_the_limit_allows(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 100);
    for (size_t i = 1; i <= 30; i++)
        fall(f, i);
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(f->cluster.brake.now.limit, 20);
    assert_int_equal(held(f, 1, 20), 0);
    assert_int_equal(held(f, 21, 30), 10);
    assert_int_equal(held(f, 31, 100), 0);
}

/* In whatever order the nodes get their passes after the start: the records of all are known. Two
 * were closed, one was left open, and one comes only now. */
static void restart_concludes_the_same(void **state)
{
    struct fixture *f = *state;
    put_record(f, 1, FAULT_CLOSED, "Xid79", NOW_S - 120);
    put_record(f, 2, FAULT_CLOSED, "Xid79", NOW_S - 120);
    put_record(f, 3, FAULT_BRAKED, "Xid79", NOW_S - 60);
    for (size_t i = 4; i <= 10; i++)
        put_node(f, i);
    for (size_t i = 1; i <= 4; i++)
        put_report(f, i, LOST, REPORTED("2026-11-20T08:00:00Z"));
    pass(f, 4);
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(f->cluster.brake.now.limit, 2);
    assert_int_equal(f->cluster.brake.now.since_s, NOW_S - 60);
    assert_int_equal(f->cluster.brake.now.until_s, NOW_S + 900);
    assert_int_equal(held(f, 3, 4), 2);
}

/* After a restart within the storm no more nodes are closed than before it. */
static void restart_closes_no_more_than_the_limit(void **state)
{
    struct fixture *f = *state;
    put_record(f, 1, FAULT_CLOSED, "Xid79", NOW_S - 5);
    put_record(f, 2, FAULT_CLOSED, "Xid79", NOW_S - 5);
    for (size_t i = 3; i <= 10; i++)
        put_node(f, i);
    for (size_t i = 1; i <= 10; i++)
        put_report(f, i, LOST, REPORTED("2026-11-20T09:50:00Z"));
    pass(f, 10);
    assert_int_equal(held(f, 3, 10), 8);
}

/* What was closed long ago is no storm. */
static void old_closings_are_no_storm_after_a_restart(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 1; i <= 4; i++) {
        put_record(f, i, FAULT_CLOSED, "Xid79", NOW_S - 7200);
        put_report(f, i, LOST, REPORTED("2026-11-20T08:00:00Z"));
    }
    for (size_t i = 1; i <= 4; i++)
        pass(f, i);
    assert_int_equal(f->cluster.brake.unhealthy.len, 4);
    assert_int_equal(f->cluster.brake.closings.len, 0);
    assert_false(f->cluster.brake.now.on);
}

/* An Ostler that closes nodes comes to nodes that have been unhealthy for hours. */
static void old_faults_are_closed_a_few_at_a_time(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 1; i <= 4; i++) {
        put_node(f, i);
        put_report(f, i, LOST, REPORTED("2026-11-20T08:00:00Z"));
    }
    pass(f, 4);
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(held(f, 1, 2), 0);
    assert_int_equal(held(f, 3, 4), 2);
}

/* Eight nodes became unhealthy while Ostler only observed, one each hour. */
static void mode_that_closes_begins_with_the_limit(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    quiet_event(&f->cluster, RESOURCE_POLICY, POLICY("3", "'health': {'mode': 'Observe'}"), false);
    for (size_t i = 1; i <= 8; i++) {
        fall(f, i);
        f->mono_ms += 60 * MINUTE_MS;
    }
    quiet_event(&f->cluster, RESOURCE_POLICY, POLICY("4", "'health': {'mode': 'Close'}"), false);
    for (size_t i = 8; i >= 1; i--)
        pass(f, i);
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(held(f, 1, 2), 0);
    assert_int_equal(held(f, 3, 8), 6);
}

/* The label that ignores faults, or holds the node, is removed from all nodes. */
static void nodes_without_their_label_begin_with_the_limit(void **state)
{
    static const char *const labels[] = { "ostler.dev/health': 'ignore",
                                          "ostler.dev/hold': 'true" };
    struct fixture *f = *state;
    for (size_t i = 1; i <= 5; i++) {
        CLEANUP_FREE char *text = xasprintf(
            "{'metadata': {'name': 'gpu-%zu', 'uid': 'n%zu', 'resourceVersion': '%u', 'labels': "
            "{'%s'}, 'annotations': {'ostler.dev/marks': '{}'}}, 'status': {'nodeInfo': "
            "{'bootID': 'b'}}}",
            i, i, f->version++, labels[i % 2]);
        quiet_event(&f->cluster, RESOURCE_NODE, text, false);
        fall(f, i);
        f->mono_ms += 60 * MINUTE_MS;
    }
    assert_int_equal(f->cluster.brake.closings.len, 0);
    for (size_t i = 1; i <= 5; i++) {
        put_node(f, i);
        pass(f, i);
    }
    assert_int_equal(held(f, 1, 5), 3);
}

/* Each node heals after half a minute, but it was closed for longer than that. */
static void short_faults_are_a_storm(void **state)
{
    struct fixture *f = *state;
    size_t open = 0;
    put_fleet(f, 100);
    for (size_t i = 1; i <= 100; i++) {
        fall(f, i);
        open += cluster_brake_holds(&f->cluster, slot_of(f, i));
        if (i > 6) {
            put_report(f, i - 6, "", "");
            pass(f, i - 6);
        }
        f->mono_ms += 6000;
    }
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(open, 80);
}

/* A node that comes and goes counts once; the brake goes off after the cooldown. */
static void a_storm_ends_with_its_policy(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    fall(f, 1);
    fall(f, 2);
    fall(f, 3);
    assert_true(f->cluster.brake.now.on);
    cluster_take_policy(&f->cluster, NULL);
    assert_false(f->cluster.brake.now.on);
    assert_int_equal(f->cluster.brake.closings.len, 0);
}

static void one_node_does_not_move_the_brake(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    fall(f, 1);
    fall(f, 2);
    fall(f, 3);
    f->policies = 0;
    for (size_t k = 0; k < 14 * 60; k++) {
        put_report(f, 3, k % 2 ? LOST : "", "");
        pass(f, 3);
        f->mono_ms += 1000;
    }
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(f->policies, 0);
    assert_int_equal(f->cluster.brake.closings.len, 3);
    f->mono_ms += MINUTE_MS;
    assert_int_equal(cluster_brake_review(&f->cluster), 0);
    assert_int_equal(f->policies, 1);
    assert_int_equal(f->cluster.brake.closings.len, 0);
}

/* Ostler left three nodes open; each has a fault of another GPU when the storm is long over.
 * Another fault of the same GPU closes no node, and so does not count. */
static void faults_that_follow_a_storm_count_anew(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    for (size_t i = 1; i <= 4; i++) {
        fall(f, i);
        put_record(f, i, FAULT_BRAKED, "Xid79", NOW_S);
        pass(f, i);
    }
    f->mono_ms += 60 * MINUTE_MS;
    cluster_brake_review(&f->cluster);
    for (size_t i = 1; i <= 4; i++)
        pass(f, i);
    assert_false(f->cluster.brake.now.on);
    for (size_t i = 1; i <= 4; i++) {
        put_record(f, i, FAULT_BRAKED, "Xid95", NOW_S);
        pass(f, i);
    }
    assert_int_equal(f->cluster.brake.closings.len, 0);
    for (size_t i = 1; i <= 4; i++) {
        put_record_of(f, i, FAULT_BRAKED, "Xid79", "0000:66:00.0", "", NOW_S);
        pass(f, i);
    }
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(held(f, 1, 4), 2);
}

/* A closed node whose GPUs report nothing, and one whose validation is still to come. */
static void closed_nodes_stay_unhealthy(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 2);
    put_record(f, 1, FAULT_CLOSED, "Xid79", NOW_S);
    put_record(f, 2, FAULT_PROVING, "Xid79", NOW_S);
    pass(f, 1);
    pass(f, 2);
    assert_int_equal(f->cluster.brake.unhealthy.len, 2);
    put_node(f, 1);
    pass(f, 1);
    assert_int_equal(f->cluster.brake.unhealthy.len, 1);
}

/* The same report about a node that was healthy a moment ago: the fault has come anew. */
static void node_that_was_healthy_counts_from_now(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 1);
    put_report(f, 1, LOST, REPORTED("2026-11-20T08:00:00Z"));
    pass(f, 1);
    assert_int_equal(slot_of(f, 1)->unhealthy_s, NOW_S);
}

static void brake_tells_when_it_goes_on_and_off(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    fall(f, 1);
    fall(f, 2);
    f->nodes = f->policies = 0;
    assert_int_equal(cluster_brake_review(&f->cluster), 0);
    put_report(f, 3, LOST, "");
    f->nodes = f->policies = 0;
    pass(f, 3);
    assert_int_equal(f->policies, 1);
    assert_int_equal(f->nodes, 3);
    assert_int_equal(cluster_brake_review(&f->cluster), 15 * MINUTE_MS);
    f->mono_ms += 15 * MINUTE_MS - 1000;
    assert_int_equal(cluster_brake_review(&f->cluster), 1000);
    assert_int_equal(f->policies, 1);
    f->mono_ms += 1000;
    assert_int_equal(cluster_brake_review(&f->cluster), 0);
    assert_int_equal(f->policies, 2);
    assert_int_equal(f->nodes, 6);
    assert_int_equal(held(f, 1, 3), 0);
}

static void observing_brakes_nothing(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    for (size_t i = 1; i <= 5; i++)
        fall(f, i);
    assert_int_equal(held(f, 1, 5), 3);
    quiet_event(&f->cluster, RESOURCE_POLICY, POLICY("3", "'health': {'mode': 'Observe'}"), false);
    cluster_brake_review(&f->cluster);
    assert_int_equal(held(f, 1, 5), 0);
    assert_int_equal(f->cluster.brake.unhealthy.len, 5);
}

/* Ten nodes, and ninety that an autoscaler adds: they move the limit ten minutes later. */
static void new_nodes_move_the_limit_later(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    fall(f, 1);
    assert_int_equal(f->cluster.brake.now.limit, 2);
    for (size_t i = 11; i <= 100; i++) {
        put_node(f, i);
        pass_as(f, i, NODE_INSTALLING);
    }
    f->mono_ms += 9 * MINUTE_MS;
    cluster_brake_review(&f->cluster);
    assert_int_equal(f->cluster.brake.now.limit, 2);
    f->mono_ms += MINUTE_MS;
    cluster_brake_review(&f->cluster);
    assert_int_equal(f->cluster.brake.now.limit, 20);
}

/* But what they did to the brake stays until the storm is over: else whoever removes closed nodes
 * has Ostler close the others. */
static void nodes_leave_the_count(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 10);
    for (size_t i = 1; i <= 4; i++)
        fall(f, i);
    assert_int_equal(f->cluster.brake.unhealthy.len, 4);
    put_report(f, 1, "", ""); /* it has healed */
    pass(f, 1);
    assert_int_equal(f->cluster.brake.unhealthy.len, 3);
    pass_as(f, 2, NODE_UNMANAGED);
    assert_int_equal(f->cluster.brake.unhealthy.len, 2);
    pass_as(f, 2, NODE_UNMANAGED);
    assert_int_equal(f->cluster.brake.unhealthy.len, 2);
    quiet_event(&f->cluster, RESOURCE_NODE, "{'metadata': {'name': 'gpu-3', 'uid': 'n3'}}", true);
    assert_int_equal(f->cluster.brake.unhealthy.len, 1);
    cluster_brake_review(&f->cluster);
    assert_true(f->cluster.brake.now.on);
    assert_int_equal(f->cluster.brake.closings.len, 4);
    f->mono_ms += 15 * MINUTE_MS;
    cluster_brake_review(&f->cluster);
    assert_false(f->cluster.brake.now.on);
    assert_int_equal(f->cluster.brake.closings.len, 0);
}

/* A node without marks of Ostler's may be another stack's, until its pass. */
static void nodes_of_others_do_not_count(void **state)
{
    struct fixture *f = *state;
    quiet_event(&f->cluster, RESOURCE_NODE,
                "{'metadata': {'name': 'gpu-1', 'uid': 'n1', 'resourceVersion': '5'}, 'status': "
                "{'nodeInfo': {'bootID': 'b'}}}",
                false);
    put_report(f, 1, LOST, "");
    pass_as(f, 1, NODE_FOREIGN);
    assert_int_equal(f->cluster.brake.unhealthy.len, 0);
}

static void ignored_faults_do_not_count(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 1);
    fall(f, 1);
    assert_int_equal(f->cluster.brake.unhealthy.len, 1);
    quiet_event(&f->cluster, RESOURCE_NODE,
                "{'metadata': {'name': 'gpu-1', 'uid': 'n1', 'resourceVersion': '900', 'labels': "
                "{'ostler.dev/health': 'ignore'}, 'annotations': {'ostler.dev/marks': '{}'}}, "
                "'status': {'nodeInfo': {'bootID': 'b'}}}",
                false);
    pass(f, 1);
    assert_int_equal(f->cluster.brake.unhealthy.len, 0);
}

/* Neither the fault of the record nor another one that a user has left alone will close a node. */
static void faults_that_a_user_left_alone_do_not_count(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 3);
    put_record(f, 1, FAULT_IGNORED, "Xid79", NOW_S);
    put_record_of(f, 2, FAULT_IGNORED, "Xid95", GPU, "Xid79", NOW_S);
    put_record(f, 3, FAULT_IGNORED, "Xid95", NOW_S);
    fall(f, 1);
    fall(f, 2);
    assert_int_equal(f->cluster.brake.closings.len, 0);
    fall(f, 3);
    assert_int_equal(f->cluster.brake.closings.len, 1);
}

static void new_facts_bring_a_pass(void **state)
{
    struct fixture *f = *state;
    put_fleet(f, 1);
    put_report(f, 1, "", "");
    f->nodes = 0;
    put_report(f, 1, LOST, "");
    assert_int_equal(f->nodes, 1);
    put_report(f, 1, LOST, REPORTED("2026-11-20T09:58:00Z"));
    assert_int_equal(f->nodes, 2);
    put_report(f, 1, LOST, REPORTED("2026-11-20T09:58:00Z"));
    assert_int_equal(f->nodes, 2);
}

int main(void)
{
    static const struct suite_check checks[] = {
        { "a storm closes as many as the limit allows", storm_closes_as_many_as_the_limit_allows },
        { "a restart concludes the same", restart_concludes_the_same },
        { "a restart closes no more than the limit", restart_closes_no_more_than_the_limit },
        { "old closings are no storm after a restart", old_closings_are_no_storm_after_a_restart },
        { "old faults are closed a few at a time", old_faults_are_closed_a_few_at_a_time },
        { "a mode that closes begins with the limit", mode_that_closes_begins_with_the_limit },
        { "nodes without their label begin with the limit",
          nodes_without_their_label_begin_with_the_limit },
        { "short faults are a storm", short_faults_are_a_storm },
        { "a storm ends with its policy", a_storm_ends_with_its_policy },
        { "one node does not move the brake", one_node_does_not_move_the_brake },
        { "faults that follow a storm count anew", faults_that_follow_a_storm_count_anew },
        { "closed nodes stay unhealthy", closed_nodes_stay_unhealthy },
        { "a node that was healthy counts from now", node_that_was_healthy_counts_from_now },
        { "the brake tells when it goes on and off", brake_tells_when_it_goes_on_and_off },
        { "observing brakes nothing", observing_brakes_nothing },
        { "new nodes move the limit later", new_nodes_move_the_limit_later },
        { "nodes leave the count", nodes_leave_the_count },
        { "nodes of others do not count", nodes_of_others_do_not_count },
        { "ignored faults do not count", ignored_faults_do_not_count },
        { "faults that a user left alone do not count",
          faults_that_a_user_left_alone_do_not_count },
        { "new facts bring a pass", new_facts_bring_a_pass },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, checks, set_up, tear_down);
    return suite_run(&s, "cluster_brake");
}
