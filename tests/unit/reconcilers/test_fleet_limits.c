/* However much there is to tell: an answer about a node has its limit and says what it left out,
 * and of what nodes wait for, ten are shown. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/fleet_view.h"
#include "reconcilers/recent_events.h"
#include "reconcilers/model/policy.h"
#include "tests/unit/support/fleet_case.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { TEXT_MAX = 1 << 20 };

static int set_up(void **state)
{
    struct fleet_case *f = xcalloc(1, sizeof *f);
    fleet_case_open(f, "tests/cases/fleet/every-state.yaml");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fleet_case_close(*state);
    free(*state);
    return 0;
}

static json_t *answer(const struct fleet_case *f, const char *name)
{
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    CLEANUP_ERR struct err e = { 0 };
    assert_true(fleet_node(&f->source, name, &out));
    assert_in_range(out.len, 1, FLEET_NODE_MAX);
    json_t *value = json_parse(buf_text(&out), out.len, &e);
    assert_non_null(value);
    return value;
}

/* A text of one character, repeated. Owned by the caller. */
static char *many(const char *character, size_t times)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    while (times--)
        buf_str(&text, character);
    return buf_take(&text);
}

static void add_pods(struct fleet_case *f, const char *node, int count)
{
    CLEANUP_FREE char *long_name = many("p", 200);
    for (int i = 0; i < count; i++) {
        CLEANUP_JSON json_t *brief = json_pack("{s:o, s:s, s:i}", "name",
                                               json_textf("train/%s-%d", long_name, i), "node",
                                               node, "gpus", 1);
        testbed_put(&f->bed, RESOURCE_POD, testbed_pod(brief));
    }
}

static void add_events(struct fleet_case *f, const char *node, const char *character)
{
    CLEANUP_FREE char *text = many(character, 400 / strlen(character));
    for (int i = 0; i < 60; i++) {
        CLEANUP_FREE char *note = xasprintf("%d %s", i, text);
        const struct notice n = {
            .resource = RESOURCE_NODE, .name = (char *) node, .reason = "Claimed", .note = note
        };
        recent_events_add(&f->bed.cluster->recent, &n, 1795168000 + i);
    }
}

static void add_rollout(struct fleet_case *f, const char *reason, const char *note)
{
    const struct notice n = { .resource = RESOURCE_POLICY,
                              .name = POLICY_NAME,
                              .reason = (char *) reason,
                              .note = (char *) note };
    recent_events_add(&f->bed.cluster->recent, &n, 1795168000);
}

/* gpu-4 is of the pool default. */
static void only_rollouts_of_its_pool(void **state)
{
    struct fleet_case *f = *state;
    add_rollout(f, "RolloutStarted", "driver 1, pool default: the policy asks for it on nodes");
    add_rollout(f, "CanaryReady", "driver 1, pool blue: the canary has run it");
    add_rollout(f, "Installed", "of the whole fleet");
    CLEANUP_JSON json_t *got = answer(f, "gpu-4");
    assert_non_null(strstr(json_str(got, "text"), "pool default"));
    assert_non_null(strstr(json_str(got, "text"), "of the whole fleet"));
    assert_null(strstr(json_str(got, "text"), "pool blue"));
}

static void short_answer_is_whole(void **state)
{
    CLEANUP_JSON json_t *got = answer(*state, "gpu-10");
    assert_null(json_object_get(got, "cut"));
    assert_non_null(strstr(json_str(got, "text"), "Xid 79"));
    assert_true(json_has_text(json_object_get(got, "commands"), "kubectl gpu repair gpu-10"));
}

/* The newest of the story stays, and the text is of what stays. */
static void long_story_is_cut_and_says_so(void **state)
{
    struct fleet_case *f = *state;
    add_events(f, "gpu-4", "x");
    CLEANUP_JSON json_t *got = answer(f, "gpu-4");
    assert_string_equal(json_str(got, "cut"),
                        "cut, for want of room: kubectl gpu explain shows all");
    const json_t *story = json_at(got, "explain.story");
    assert_in_range(json_array_size(story), 2, 24);
    const char *last = json_str(json_array_get(story, json_array_size(story) - 1), "text");
    assert_non_null(strstr(last, "59 x"));
    assert_non_null(strstr(json_str(got, "text"), "59 x"));
    assert_non_null(json_at(got, "status.state"));
}

static void many_pods_are_cut(void **state)
{
    struct fleet_case *f = *state;
    add_pods(f, "gpu-4", 200);
    CLEANUP_JSON json_t *got = answer(f, "gpu-4");
    assert_non_null(json_object_get(got, "cut"));
    assert_in_range(json_array_size(json_at(got, "explain.gpuPods")), 1, 8);
}

/* An escape takes five times as much room as what it stands for. */
static void hostile_texts_are_cut_too(void **state)
{
    struct fleet_case *f = *state;
    CLEANUP_FREE char *controls = many("\033", 4000);
    add_pods(f, "gpu-4", 200);
    add_events(f, "gpu-4", "\xe2\x80\xae");
    CLEANUP_JSON json_t *is = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "state", "Draining",
                                        "reason", "Draining", "message", controls, "next", controls,
                                        "since", "2026-11-20T09:00:00Z", "driver", "d1", "toDriver",
                                        "d2");
    fleet_case_find(f, "gpu-4", is);
    CLEANUP_JSON json_t *got = answer(f, "gpu-4");
    assert_non_null(json_object_get(got, "cut"));
    assert_string_equal(json_str(got, "name"), "gpu-4");
    assert_true(json_has_text(json_object_get(got, "commands"), "kubectl gpu explain gpu-4"));
}

static void ten_blockers_are_shown_that_waited_longest(void **state)
{
    struct fleet_case *f = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    CLEANUP_ERR struct err e = { 0 };
    static const struct {
        const char *node, *since;
    } more[] = { { "blue-1", "2026-11-20T07:00:00Z" },
                 { "gpu-1", "2026-11-20T09:59:30Z" },
                 { "gpu-2", "2026-11-20T09:59:40Z" },
                 { "gpu-12", "2026-11-20T09:59:20Z" } };
    for (size_t i = 0; i < ARRAY_LEN(more); i++) {
        CLEANUP_JSON json_t *is = json_pack("{s:s, s:s, s:s, s:s}", "state", "Draining", "reason",
                                            "Draining", "next", "n", "since", more[i].since);
        fleet_case_find(f, more[i].node, is);
    }
    fleet_policy(&f->source, &out);
    CLEANUP_JSON json_t *policy = json_parse(buf_text(&out), out.len, &e);
    const json_t *blockers = json_object_get(policy, "blockers");
    static const char *const want[] = { "blue-1", "gpu-11", "gpu-4", "gpu-5", "gpu-3",
                                        "gpu-6",  "gpu-7",  "gpu-8", "gpu-9", "gpu-12" };
    assert_int_equal(json_array_size(blockers), ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_string_equal(json_str(json_array_get(blockers, i), "node"), want[i]);
}

static void unknown_node_has_no_answer(void **state)
{
    struct fleet_case *f = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    static const char *const names[] = { "", "gpu-99", "cpu-1", "gpu-17", "../gpu-1" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_false(fleet_node(&f->source, names[i], &out));
        assert_false(fleet_row(&f->source, names[i], &out));
    }
    assert_int_equal(out.len, 0);
}

/* The status counts every ten seconds only; its texts are of now. */
static void rollout_and_pools_are_counted_now(void **state)
{
    struct fleet_case *f = *state;
    struct cluster *c = f->bed.cluster;
    const struct rollout_report last = { .known = true, .pending = 3, .active = 5, .done = 9 };
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    CLEANUP_ERR struct err e = { 0 };
    c->rolled = &last;
    c->tally.pools[0].nodes = 77;
    fleet_policy(&f->source, &out);
    CLEANUP_JSON json_t *got = json_parse(buf_text(&out), out.len, &e);
    assert_int_equal(json_int(json_object_get(got, "rollout"), "active", -1), 5);
    assert_int_equal(json_int(json_object_get(got, "rollout"), "failed", -1), 0);
    assert_string_equal(json_str(json_object_get(got, "rollout"), "message"),
                        "2 nodes are under way");
    const json_t *pool = json_find(json_object_get(got, "pools"), "name", c->policy.pools[0].name);
    assert_int_equal(json_int(pool, "nodes", -1), 77);
    assert_non_null(json_str(pool, "driverVersion"));
}

int main(void)
{
    static const struct suite_check checks[] = {
        { "a short answer is whole", short_answer_is_whole },
        { "a long story is cut, and says so", long_story_is_cut_and_says_so },
        { "a node's story has only the rollouts of its pool", only_rollouts_of_its_pool },
        { "many pods are cut", many_pods_are_cut },
        { "hostile texts are cut, too", hostile_texts_are_cut_too },
        { "ten blockers are shown that waited longest",
          ten_blockers_are_shown_that_waited_longest },
        { "the rollout and pools are counted now", rollout_and_pools_are_counted_now },
        { "an unknown node has no answer", unknown_node_has_no_answer },
    };
    struct suite s = { 0 };
    SUITE_CHECKS(&s, checks, set_up, tear_down);
    return suite_run(&s, "fleet_limits");
}
