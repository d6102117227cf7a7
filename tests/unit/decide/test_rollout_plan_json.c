/* Plans as people and programs read them. */
#include "reconcilers/decide/rollout_plan_json.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { NOON_S = 1795262400, PLENTY = 1 << 20 };

static const char *const pool_names[] = { "default", "legacy" };

/* Nodes a, b and c that get another driver, of which c is held, and d that gets another stack. */
struct fleet {
    struct rollout_spec spec;
    struct rollout_node nodes[4];
    struct drain drains[4];
    struct rollout_input in;
};

static void make_fleet(struct fleet *f)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    *f = (struct fleet){ .spec = { .max_parallel = { .value = 1 },
                                   .max_unavailable = { .value = 9 },
                                   .max_unavailable_gpus = { .value = -1 },
                                   .failure_threshold = { .value = 9 },
                                   .order = ROLLOUT_BY_NAME,
                                   .canary_nodes = 1,
                                   .canary_soak_s = 600,
                                   .drain = { .wait_for_jobs_s = -1 } } };
    for (size_t i = 0; i < ARRAY_LEN(f->nodes); i++)
        f->nodes[i] = (struct rollout_node){ .name = names[i],
                                             .pool = i == 3,
                                             .now = { { "d1", "s1" } },
                                             .target.hash[TIER_DRIVER] = i == 3 ? "d1" : "d2",
                                             .target.hash[TIER_STACK] = i == 3 ? "s2" : "s1",
                                             .domain = "",
                                             .gpus = 1,
                                             .up = true,
                                             .settled = true,
                                             .held = i == 2 };
    f->in = (struct rollout_input){ .spec = &f->spec,
                                    .nodes = f->nodes,
                                    .node_count = ARRAY_LEN(f->nodes),
                                    .pool_names = pool_names,
                                    .now_s = NOON_S };
}

static json_t *tell(struct fleet *f, const struct rollout_pace *pace,
                    const struct rollout_plan_limits *limits)
{
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_simulation simulation;
    rollout_simulate(&f->in, pace, PLENTY, &a, &simulation);
    return rollout_plan_json(&(struct rollout_plan_input){ .rollout = &f->in,
                                                           .simulation = &simulation,
                                                           .pace = pace,
                                                           .drains = f->drains,
                                                           .limits = limits });
}

static const struct rollout_pace unknown[TIERS] = { 0 };
static const struct rollout_pace known[TIERS] = { { .node_s = 300, .nodes = 7 },
                                                  { .node_s = 60, .nodes = 2 } };

static void check_without_pace(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    CLEANUP_JSON json_t *o = tell(&f, unknown, &rollout_plan_for_status);
    assert_string_equal(
        json_str(o, "message"),
        "3 nodes go in 3 waves; 1 node is skipped (NodesSkipped); it takes at least "
        "10m of soak, and as long as the nodes take, which is known when the first one "
        "is done");
    assert_null(json_object_get(o, "ends"));
    assert_null(json_object_get(o, "moves"));
    assert_tree(json_object_get(o, "pools"),
                "[{'name':'default','driver':2,'stack':0},{'name':'legacy','driver':0,'stack':1}]");
    assert_tree(json_object_get(o, "stay"), "[{'reason':'NodesSkipped','nodes':1,'names':['c']}]");
    assert_tree(json_array_get(json_object_get(o, "waves"), 0),
                "{'nodes':1,'names':['a'],'canary':true,'begins':'2026-11-21T12:00:00Z'}");
    assert_tree(json_array_get(json_object_get(o, "waves"), 1),
                "{'nodes':1,'names':['d'],'canary':true}");
    assert_tree(json_array_get(json_object_get(o, "waves"), 2),
                "{'nodes':1,'names':['b'],'notBefore':'2026-11-21T12:10:00Z'}");
}

static void check_with_pace(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    CLEANUP_JSON json_t *o = tell(&f, known, &rollout_plan_in_full);
    assert_string_equal(json_str(o, "ends"), "2026-11-21T12:20:00Z");
    assert_string_equal(json_str(o, "message"),
                        "3 nodes go in 3 waves; 1 node is skipped (NodesSkipped); at the pace seen "
                        "so far it takes 20m");
    assert_tree(
        json_object_get(o, "pace"),
        "{'driver':{'secondsPerNode':300,'nodes':7},'stack':{'secondsPerNode':60,'nodes':2}}");
    assert_tree(json_object_get(o, "moves"),
                "[{'node':'a','pool':'default','wave':1,'tier':'driver','pods':[]},"
                "{'node':'d','pool':'legacy','wave':2,'tier':'stack','pods':[]},"
                "{'node':'b','pool':'default','wave':3,'tier':'driver','pods':[]}]");
}

static void check_a_clock_that_was_set(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    f.in.set_s = 3600;
    CLEANUP_JSON json_t *o = tell(&f, known, &rollout_plan_in_full);
    assert_string_equal(json_str(o, "madeAt"), "2026-11-21T13:00:00Z");
    assert_string_equal(json_str(o, "ends"), "2026-11-21T13:20:00Z");
}

static void check_blockers(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    f.nodes[0].jobs = 1;
    f.drains[0] = (struct drain){ .of = { [DRAIN_JOB] = 1 },
                                  .waiting = 1,
                                  .stuck = 1,
                                  .message = "waits for 1 GPU pod: x/train (a job)" };
    CLEANUP_JSON json_t *o = tell(&f, unknown, &rollout_plan_for_status);
    assert_tree(json_object_get(o, "blockers"),
                "[{'node':'a','message':'waits for 1 GPU pod: x/train (a job)'}]");
    assert_tree(json_object_get(o, "pods"), "{'leave':0,'wait':1}");
    assert_true(strstr(json_str(o, "message"), "1 GPU pod on 1 node is waited for") != NULL);
}

/* A node that is closed is not one that stays as it is. */
static void check_closed(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    const struct claim waits = { .kind = CLAIM_UPGRADE,
                                 .phase = CLAIM_WAITING,
                                 .to = { { "d2", "s1" } },
                                 .from = { { "d1", "s1" } } };
    f.nodes[0].claim = &waits;
    f.nodes[0].jobs = 1;
    CLEANUP_JSON json_t *full = tell(&f, unknown, &rollout_plan_in_full);
    assert_tree(json_object_get(full, "stay"),
                "[{'reason':'WaitingForJobs','nodes':1,'names':['a'],'closed':['a']},"
                "{'reason':'NodesSkipped','nodes':1,'names':['c'],'closed':[]}]");
    assert_string_equal(
        json_str(full, "message"),
        "3 nodes are to be changed: 2 go in 2 waves; 1 node is tainted until its pods have ended "
        "(WaitingForJobs); 1 node is skipped (NodesSkipped); how long it takes is known when the "
        "first node is "
        "done");
    assert_tree(json_object_get(full, "blockers"),
                "[{'node':'c','message':'a user holds it with the label ostler.dev/hold'}]");
    CLEANUP_JSON json_t *small = tell(&f, unknown, &rollout_plan_for_status);
    assert_null(json_object_get(json_array_get(json_object_get(small, "stay"), 0), "closed"));
    assert_int_equal(json_array_size(json_object_get(small, "blockers")), 0);
}

/* Node a has begun; b and d are to go. */
static void begin_a(struct fleet *f, struct claim *claim, int64_t claimed_s)
{
    make_fleet(f);
    *claim = (struct claim){ .kind = CLAIM_UPGRADE,
                             .phase = CLAIM_INSTALLING,
                             .to = { { "d2", "s1" } },
                             .from = { { "d1", "s1" } },
                             .claimed_s = claimed_s,
                             .since_s = claimed_s };
    f->nodes[0].claim = claim;
}

static void check_under_way(void **state)
{
    (void) state;
    struct fleet f;
    struct claim claim;
    begin_a(&f, &claim, NOON_S - 60);
    CLEANUP_JSON json_t *o = tell(&f, known, &rollout_plan_for_status);
    assert_string_equal(
        json_str(o, "message"),
        "3 nodes are to be changed: 2 go in 2 waves, 1 is under way; 1 node is skipped "
        "(NodesSkipped); at the pace seen so far it takes 19m");
    f.in.node_count = 1;
    CLEANUP_JSON json_t *last = tell(&f, known, &rollout_plan_for_status);
    assert_string_equal(
        json_str(last, "message"),
        "1 node is to be changed: 1 is under way; at the pace seen so far it takes 4m");
    begin_a(&f, &claim, NOON_S - 300);
    f.in.node_count = 1;
    CLEANUP_JSON json_t *late = tell(&f, known, &rollout_plan_for_status);
    assert_string_equal(
        json_str(late, "message"),
        "1 node is to be changed: 1 is under way; at the pace seen so far it is overdue");
    assert_null(json_object_get(late, "ends"));
}

/* What does not come up on a node under way is in the way; a status has its own words for that. */
static void check_troubles(void **state)
{
    (void) state;
    struct fleet f;
    struct claim claim;
    begin_a(&f, &claim, NOON_S);
    static const char *const troubles[ARRAY_LEN(f.nodes)] = { "CrashLoopBackOff: it ended" };
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_simulation simulation;
    rollout_simulate(&f.in, unknown, PLENTY, &a, &simulation);
    struct rollout_plan_input in = { .rollout = &f.in,
                                     .simulation = &simulation,
                                     .pace = unknown,
                                     .drains = f.drains,
                                     .troubles = troubles,
                                     .limits = &rollout_plan_in_full };
    CLEANUP_JSON json_t *full = rollout_plan_json(&in);
    assert_tree(json_object_get(full, "blockers"),
                "[{'node':'a','message':'CrashLoopBackOff: it ended'},"
                "{'node':'c','message':'a user holds it with the label ostler.dev/hold'}]");
    in.limits = &rollout_plan_for_status;
    CLEANUP_JSON json_t *small = rollout_plan_json(&in);
    assert_int_equal(json_array_size(json_object_get(small, "blockers")), 0);
}

/* Paused and not approved, both are said. */
static void check_held(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    f.spec.manual = f.spec.paused = true;
    CLEANUP_JSON json_t *both = tell(&f, known, &rollout_plan_in_full);
    assert_string_equal(json_str(both, "held"), "Paused");
    assert_true(json_bool(both, "approvalMissing", false));
    f.in.approved = json_str(both, "hash");
    CLEANUP_JSON json_t *approved = tell(&f, known, &rollout_plan_in_full);
    assert_string_equal(json_str(approved, "held"), "Paused");
    assert_null(json_object_get(approved, "approvalMissing"));
}

static void check_images(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    f.nodes[0].images = (struct images){ .state = IMAGES_MISSING,
                                         .image = "r/driver:d2",
                                         .words = "not found" };
    f.nodes[1].images = (struct images){ .state = IMAGES_MISSING, .words = "it was evicted" };
    f.nodes[3].images = (struct images){ .state = IMAGES_PULLING };
    CLEANUP_JSON json_t *o = tell(&f, unknown, &rollout_plan_for_status);
    assert_tree(json_object_get(o, "blockers"),
                "[{'node':'a','message':'cannot get r/driver:d2: not found'},"
                "{'node':'b','message':'cannot get the images of its target: it was evicted'}]");
    assert_true(strstr(json_str(o, "message"), "; 2 nodes cannot get their images") != NULL);
    CLEANUP_JSON json_t *full = tell(&f, unknown, &rollout_plan_in_full);
    assert_int_equal(json_int(full, "withoutImages", 0), 2);
}

static void check_done(void **state)
{
    (void) state;
    struct fleet f;
    make_fleet(&f);
    f.nodes[0].target.hash[TIER_DRIVER] = "d1";
    f.in.node_count = 1;
    assert_null(tell(&f, known, &rollout_plan_in_full));
}

/* Five waves, and five names of each, whatever the fleet. */
static void check_bounds(void **state)
{
    (void) state;
    enum { MANY = 200 };
    struct fleet f;
    make_fleet(&f);
    static struct rollout_node nodes[MANY];
    static struct drain drains[MANY];
    static char names[MANY][254];
    for (size_t i = 0; i < MANY; i++) {
        memset(names[i], 'n', sizeof names[i] - 1);
        memcpy(names[i], (char[]){ (char) ('a' + i / 26), (char) ('a' + i % 26) }, 2);
        nodes[i] = f.nodes[0];
        nodes[i].name = names[i];
        nodes[i].held = i % 2;
        nodes[i].jobs = 1;
        drains[i] = (struct drain){ .waiting = 1, .stuck = 1, .message = names[i] };
    }
    f.spec.max_parallel.value = f.spec.max_unavailable.value = 20;
    f.spec.drain.wait_for_jobs_s = 0;
    f.in.nodes = nodes;
    f.in.node_count = MANY;
    CLEANUP_ARENA struct arena a = { 0 };
    struct rollout_simulation simulation;
    rollout_simulate(&f.in, known, PLENTY, &a, &simulation);
    CLEANUP_JSON json_t *o = rollout_plan_json(
        &(struct rollout_plan_input){ .rollout = &f.in,
                                      .simulation = &simulation,
                                      .pace = known,
                                      .drains = drains,
                                      .limits = &rollout_plan_for_status });
    const json_t *waves = json_object_get(o, "waves");
    assert_int_equal(json_array_size(waves), 5);
    assert_int_equal(json_int(o, "waveCount", 0), simulation.wave_count);
    assert_int_equal(json_array_size(json_object_get(json_array_get(waves, 1), "names")), 5);
    assert_int_equal(json_array_size(json_object_get(o, "blockers")), 5);
    assert_in_range(json_dumpb(o, NULL, 0, JSON_COMPACT), 1, 16 << 10);
}

/* What any user may have written there is no pace. */
static void check_paces_read(void **state)
{
    (void) state;
    static const char *const wrong[] = { "null",
                                         "[]",
                                         "{'driver':3}",
                                         "{'driver':{'secondsPerNode':0,'nodes':1}}",
                                         "{'driver':{'secondsPerNode':60}}",
                                         "{'driver':{'secondsPerNode':-5,'nodes':1}}",
                                         "{'driver':{'secondsPerNode':60,'nodes':-1}}",
                                         "{'driver':{'secondsPerNode':99999999999,'nodes':1}}" };
    struct rollout_pace pace[TIERS];
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CLEANUP_JSON json_t *json = tree(wrong[i]);
        rollout_pace_parse(json, pace);
        assert_int_equal(pace[TIER_DRIVER].nodes, 0);
    }
    CLEANUP_JSON json_t *json = rollout_pace_json(known);
    rollout_pace_parse(json, pace);
    assert_memory_equal(pace, known, sizeof pace);
}

/* Repairs are in no plan: a fleet in which only a node is to be repaired has none. */
static void check_only_a_repair(void **state)
{
    (void) state;
    static const struct health_spec health = { .wait_for_jobs_s = -1 };
    struct fleet f;
    make_fleet(&f);
    f.in.health = &health;
    for (size_t i = 0; i < ARRAY_LEN(f.nodes); i++)
        f.nodes[i].target = f.nodes[i].now;
    f.nodes[0].repair = REPAIR_FAULT;
    CLEANUP_JSON json_t *o = tell(&f, unknown, &rollout_plan_in_full);
    assert_null(o);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "without a known pace no end is told", check_without_pace, NULL);
    suite_add(&s, "with a pace there is an end, and in full each move", check_with_pace, NULL);
    suite_add(&s, "times are those of the clock on the wall", check_a_clock_that_was_set, NULL);
    suite_add(&s, "nodes that cannot be drained are named with what keeps them", check_blockers,
              NULL);
    suite_add(&s, "nodes that are closed are told as such", check_closed, NULL);
    suite_add(&s, "nodes under way are counted, and take no time that is over", check_under_way,
              NULL);
    suite_add(&s, "what does not come up on a node under way is in the way", check_troubles, NULL);
    suite_add(&s, "a plan that is paused and not approved says both", check_held, NULL);
    suite_add(&s, "images that cannot be pulled are in the way", check_images, NULL);
    suite_add(&s, "there is no plan where every node runs its target", check_done, NULL);
    suite_add(&s, "a repair alone is no plan", check_only_a_repair, NULL);
    suite_add(&s, "in a status it is bounded", check_bounds, NULL);
    suite_add(&s, "a pace is read back as it was written, and nothing else is one",
              check_paces_read, NULL);
    return suite_run(&s, "outlook");
}
