#include "reconcilers/decide/records.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/decide/retry.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NOW "2026-11-20T12:00:00Z"
#define BEFORE "2026-11-19T12:00:00Z"

/* A policy with one pool, a record that was complete in pools of an earlier policy, and a tally
 * that still counts by that one. */
struct world {
    struct policy policy;
    struct policy_problems problems;
    struct tally tally;
    struct node_summary node, broken; /* the second is counted by join_broken() only */
    struct child record;
    struct cluster_view view;
};

static void set_up(struct world *w, size_t pool)
{
    CLEANUP_JSON json_t *object = tree(
        "{'apiVersion':'ostler.dev/"
        "v1alpha1','kind':'GpuClusterPolicy','metadata':{'name':'default'},'spec':{}}");
    const struct policy_limits limits = { POLICY_IMAGE_PREFIXES, "*", NULL, true, true };
    assert_int_equal(policy_decode(object, &limits, &w->policy, &w->problems), 0);
    w->record = (struct child){ .head = { .key = (char *) "a" },
                                .resource = RESOURCE_REVISION,
                                .policy_uid = (char *) "u",
                                .revision = (char *) "aaaaaaaaaa",
                                .inputs = tree("{'tier':'driver'}"),
                                .annotations = tree(
                                    "{'ostler.dev/target-old':'2026-11-01T00:00:00Z','x':'y',"
                                    "'ostler.dev/completed-old':'2026-11-02T00:00:00Z'}") };
    struct node_verdict v = { .state = NODE_READY, .cause = OPERAND_NONE, .pool = pool };
    snprintf(v.carried.hash[TIER_DRIVER], sizeof v.carried.hash[TIER_DRIVER], "aaaaaaaaaa");
    snprintf(v.target.hash[TIER_DRIVER], sizeof v.target.hash[TIER_DRIVER], "aaaaaaaaaa");
    w->node.name = "n";
    tally_set(&w->tally, &w->node, &v);
    w->view = (struct cluster_view){ .policy = &w->policy, .tally = &w->tally, .now = NOW };
}

/* A second node that wants the revision and bears its label, but whose driver is not up. */
static void join_broken(struct world *w)
{
    struct node_verdict v = { .state = NODE_FAILED,
                              .cause = OPERAND_DRIVER,
                              .reason = REASON_OTHER,
                              .word = "Crash",
                              .wanted = 1 << OPERAND_DRIVER };
    snprintf(v.carried.hash[TIER_DRIVER], sizeof v.carried.hash[TIER_DRIVER], "aaaaaaaaaa");
    snprintf(v.target.hash[TIER_DRIVER], sizeof v.target.hash[TIER_DRIVER], "aaaaaaaaaa");
    w->broken.name = "broken";
    tally_set(&w->tally, &w->broken, &v);
}

static void tear_down(struct world *w)
{
    tally_remove(&w->tally, &w->node);
    tally_remove(&w->tally, &w->broken);
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
    assert_tree(got, "{'ostler.dev/target-old':'2026-11-01T00:00:00Z','ostler.dev/"
                     "completed-old':'2026-11-02T00:00:00Z'}");
    tear_down(&w);
}

static void annotations_of_a_newer_ostler_are_kept(void **state)
{
    (void) state;
    struct world w = { 0 };
    char text[512];
    set_up(&w, 7);
    json_decref(w.record.annotations);
    w.record.annotations = tree(
        "{'ostler.dev/intent':'of this version','ostler.dev/observed-old':'12 a','x':'y',"
        "'ostler.dev/target-old':'no time','ostler.dev/number':1}");
    memset(text, 'a', sizeof text);
    json_object_set_new(w.record.annotations, "ostler.dev/too-long",
                        json_stringn(text, sizeof text));
    json_object_set_new(w.record.annotations, "ostler.dev/longest",
                        json_stringn(text, sizeof text - 1));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    CLEANUP_JSON json_t *want = tree("{'ostler.dev/observed-old':'12 a'}");
    json_object_set_new(want, "ostler.dev/longest", json_stringn(text, sizeof text - 1));
    assert_true(json_equal(got, want));
    tear_down(&w);
}

static void settled_pools_are_named(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 0);
    w.view.settled = true;
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", NULL);
    assert_tree(got, "{'ostler.dev/target-default':'" NOW "','ostler.dev/ran-default':'" NOW "',"
                     "'ostler.dev/completed-default':'" NOW "'}");
    tear_down(&w);
}

static void what_one_node_runs_is_not_complete(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 0);
    join_broken(&w);
    w.view.settled = true;
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", NULL);
    assert_tree(got, "{'ostler.dev/target-default':'" NOW "','ostler.dev/ran-default':'" NOW "'}");
    tear_down(&w);
}

static void what_no_node_runs_has_not_run(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 0);
    join_broken(&w);
    tally_remove(&w.tally, &w.node);
    w.view.settled = true;
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", NULL);
    assert_tree(got, "{'ostler.dev/target-default':'" NOW "'}");
    tear_down(&w);
}

/* What a record says of the pool, whether it runs since the pool wants it again or ran before that.
 */
static const struct again_row {
    const char *name;
    const char *target, *ran;
    const char *want;
} again_rows[] = {
    { "a time is kept while the pool goes on wanting it", "2026-11-01T00:00:00Z",
      "2026-11-02T00:00:00Z", "2026-11-02T00:00:00Z" },
    { "a revision that was left and came back ran anew", "2026-11-03T00:00:00Z",
      "2026-11-02T00:00:00Z", NOW },
};

static void check_again(void **state)
{
    const struct again_row *row = *state;
    struct world w = { 0 };
    set_up(&w, 0);
    w.view.settled = true;
    json_object_set_new(w.record.annotations, "ostler.dev/target-default",
                        json_string(row->target));
    json_object_set_new(w.record.annotations, "ostler.dev/ran-default", json_string(row->ran));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_string_equal(json_key(got, "ostler.dev/ran-default"), row->want);
    tear_down(&w);
}

/* The leader before had a clock that is minutes ahead. What is reached is reached now, so it was
 * wanted before: otherwise it would be reached anew at each look until then. */
static void what_a_clock_ahead_wanted_is_reached_once(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 0);
    w.view.settled = true;
    json_object_set_new(w.record.annotations, "ostler.dev/target-default",
                        json_string("2026-11-20T12:05:00Z"));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    static const char *const keys[] = { "ostler.dev/target-default", "ostler.dev/ran-default",
                                        "ostler.dev/completed-default" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_string_equal(json_key(got, keys[i]), NOW);
    json_t *before = w.record.annotations;
    w.record.annotations = json_incref(got);
    w.view.now = "2026-11-20T12:00:05Z";
    CLEANUP_JSON json_t *again = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_true(json_equal(got, again));
    json_decref(before);
    tear_down(&w);
}

/* Nodes of a pool that wants b; "a": one ran that well, "c", "b": another, "-": none. Whether a is
 * known good there then. */
static const struct ran_row {
    const char *name;
    const char *ran;
    const char *completed; /* when some revision was complete in the pool; NULL: none ever was */
    bool good;
    bool claimed;  /* its nodes are claimed for another revision */
    bool unmarked; /* no record says that a node ran it */
} ran_rows[] = {
    { .name = "what all nodes of a new pool ran is known good", .ran = "aaa", .good = true },
    { .name = "what most of them ran is", .ran = "acaa", .good = true },
    { .name = "what fewer ran is not", .ran = "aacccc" },
    { .name = "of two that as many ran it is one", .ran = "acac", .good = true },
    { .name = "it is not what came later and fewer ran", .ran = "abbb" },
    { .name = "it rather is what ran before than what as many run by now",
      .ran = "abab",
      .good = true },
    { .name = "nodes that are not well say nothing", .ran = "a--", .good = true },
    { .name = "nothing ran", .ran = "--" },
    { .name = "the policy changed before a record said that nodes run it",
      .ran = "aaa",
      .unmarked = true,
      .good = true },
    { .name = "what nodes were assigned before their claims may never have run",
      .ran = "aaa",
      .unmarked = true,
      .claimed = true },
    { .name = "nodes that are claimed ran it, as a record says",
      .ran = "aaa",
      .claimed = true,
      .good = true },
    { .name = "something was complete there once",
      .ran = "aaa",
      .completed = "2026-11-02T00:00:00Z" },
};

enum { RAN_NODES_MAX = 8 };

static void check_ran(void **state)
{
    const struct ran_row *row = *state;
    struct world w = { 0 };
    struct node_summary nodes[RAN_NODES_MAX] = { 0 };
    set_up(&w, 0);
    tally_remove(&w.tally, &w.node);
    struct child other = { .head = { .key = (char *) "c" },
                           .resource = RESOURCE_REVISION,
                           .policy_uid = (char *) "u",
                           .revision = (char *) "cccccccccc",
                           .inputs = w.record.inputs,
                           .annotations = tree("{}") };
    const struct child *children[] = { &w.record, &other };
    w.view.children = children;
    w.view.child_count = ARRAY_LEN(children);
    w.view.settled = true;
    if (row->unmarked)
        json_object_clear(w.record.annotations);
    if (row->completed)
        json_object_set_new(other.annotations, "ostler.dev/completed-default",
                            json_string(row->completed));
    for (size_t i = 0; row->ran[i]; i++) {
        struct node_verdict v = { .state = NODE_READY, .cause = OPERAND_NONE };
        snprintf(v.target.hash[TIER_DRIVER], sizeof v.target.hash[TIER_DRIVER], "bbbbbbbbbb");
        for (size_t k = 0; k < REVISION_HASH_MAX - 1 && row->ran[i] != '-'; k++)
            v.carried.hash[TIER_DRIVER][k] = v.ran.hash[TIER_DRIVER][k] = row->ran[i];
        if (row->claimed)
            snprintf(v.claimed.hash[TIER_DRIVER], sizeof v.claimed.hash[TIER_DRIVER], "bbbbbbbbbb");
        nodes[i].name = "n";
        tally_set(&w.tally, &nodes[i], &v);
    }
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_int_equal(json_key(got, "ostler.dev/completed-default") != NULL, row->good);
    for (size_t i = 0; row->ran[i]; i++)
        tally_remove(&w.tally, &nodes[i]);
    json_decref(other.annotations);
    tear_down(&w);
}

/* Two records, of which the pool `p` rather holds on to the first. */
static const struct order_row {
    const char *name;
    const char *first, *second;
    bool renamed; /* the first comes later by name */
} order_rows[] = {
    { "complete before what ran later", "{'ostler.dev/completed-p':'2026-01-01T00:00:00Z'}",
      "{'ostler.dev/ran-p':'2026-02-01T00:00:00Z'}", false },
    { "complete later", "{'ostler.dev/completed-p':'2026-02-01T00:00:00Z'}",
      "{'ostler.dev/completed-p':'2026-01-01T00:00:00Z','ostler.dev/ran-p':'2026-03-01T00:00:00Z'}",
      false },
    { "ran later", "{'ostler.dev/ran-p':'2026-02-01T00:00:00Z'}",
      "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z'}", false },
    { "ran here before elsewhere", "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z'}",
      "{'ostler.dev/completed-q':'2026-02-01T00:00:00Z'}", false },
    { "wanted now, where a clock that was put back made both alike",
      "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z','ostler.dev/"
      "completed-p':'2026-01-01T00:00:00Z','ostler.dev/target-p':"
      "'2026-01-01T00:00:00Z'}",
      "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z','ostler.dev/completed-p':'2026-01-01T00:00:00Z'}",
      false },
    { "wanted now, whatever it is called",
      "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z','ostler.dev/target-p':'2026-01-01T00:00:00Z'}",
      "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z','ostler.dev/target-q':'2026-01-01T00:00:00Z'}",
      true },
    { "by name where nothing else tells them apart", "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z'}",
      "{'ostler.dev/ran-p':'2026-01-01T00:00:00Z'}", false },
};

static void check_order(void **state)
{
    const struct order_row *row = *state;
    struct child first = { .head = { .key = (char *) (row->renamed ? "c" : "a") },
                           .annotations = tree(row->first) };
    struct child second = { .head = { .key = (char *) "b" }, .annotations = tree(row->second) };
    assert_true(record_order(&first, &second, "p") < 0);
    assert_true(record_order(&second, &first, "p") > 0);
    assert_int_equal(record_order(&first, &first, "p"), 0);
    json_decref(first.annotations);
    json_decref(second.annotations);
}

/* Records of revisions in a pool: whether it would go back to the first, and whether a person may
 * without a canary. */
static const struct held_row {
    const char *name;
    const char *own;
    const char *others[2];
    bool held, was_held;
} held_rows[] = {
    { "what was complete last",
      "{'ostler.dev/completed-default':'2026-11-03T00:00:00Z'}",
      { "{'ostler.dev/completed-default':'2026-11-02T00:00:00Z'}",
        "{'ostler.dev/ran-default':'2026-11-04T00:00:00Z'}" },
      true,
      false },
    { "what was complete before that",
      "{'ostler.dev/completed-default':'2026-11-02T00:00:00Z'}",
      { "{'ostler.dev/completed-default':'2026-11-03T00:00:00Z'}",
        "{'ostler.dev/ran-default':'2026-11-04T00:00:00Z'}" },
      false,
      true },
    { "not what was so before both",
      "{'ostler.dev/completed-default':'2026-11-01T00:00:00Z'}",
      { "{'ostler.dev/completed-default':'2026-11-02T00:00:00Z'}",
        "{'ostler.dev/completed-default':'2026-11-03T00:00:00Z'}" },
      false,
      false },
    { "not what only ran before that",
      "{'ostler.dev/ran-default':'2026-11-02T00:00:00Z'}",
      { "{'ostler.dev/completed-default':'2026-11-03T00:00:00Z'}", "{}" },
      false,
      false },
    { "what ran last where nothing was complete",
      "{'ostler.dev/ran-default':'2026-11-02T00:00:00Z'}",
      { "{'ostler.dev/ran-default':'2026-11-01T00:00:00Z'}", "{}" },
      true,
      false },
    { "not what ran before that",
      "{'ostler.dev/ran-default':'2026-11-01T00:00:00Z'}",
      { "{'ostler.dev/ran-default':'2026-11-02T00:00:00Z'}", "{}" },
      false,
      false },
    { "not what never ran", "{}", { "{}", "{}" }, false, false },
};

static void check_held(void **state)
{
    const struct held_row *row = *state;
    struct world w = { 0 };
    set_up(&w, 0);
    struct child others[ARRAY_LEN(row->others)] = { 0 };
    const struct child *children[ARRAY_LEN(others) + 1] = { &w.record };
    json_object_update_new(w.record.annotations, tree(row->own));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        others[i] = w.record;
        others[i].head.key = (char *) (i ? "c" : "b");
        others[i].annotations = tree(row->others[i]);
        children[i + 1] = &others[i];
    }
    w.view.children = children;
    w.view.child_count = ARRAY_LEN(children);
    assert_int_equal(record_is_held(&w.view, &w.record), row->held);
    assert_int_equal(record_was_held(&w.view, &w.record), row->was_held);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        json_decref(others[i].annotations);
    tear_down(&w);
}

/* The first text is a time and not as Ostler writes it, the others are none. */
static void forged_times_are_overwritten(void **state)
{
    (void) state;
    static const char *const forged[] = { "9999-01-01T00:00:00.5Z", "zzz", "",
                                          "9999-99-99T00:00:00Z" };
    for (size_t i = 0; i < ARRAY_LEN(forged); i++) {
        struct world w = { 0 };
        set_up(&w, 0);
        w.view.settled = true;
        json_object_set_new(w.record.annotations, "ostler.dev/target-default",
                            json_string(forged[i]));
        json_object_set_new(w.record.annotations, "ostler.dev/ran-default", json_string(forged[i]));
        json_object_set_new(w.record.annotations, "ostler.dev/completed-default",
                            json_string(forged[i]));
        json_object_set_new(w.record.annotations, "ostler.dev/completed-old",
                            json_string(forged[i]));
        assert_false(record_is_held(&w.view, &w.record));
        CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
        assert_tree(
            got, "{'ostler.dev/target-old':'2026-11-01T00:00:00Z','ostler.dev/target-default':'" NOW
                 "','ostler.dev/ran-default':'" NOW "','ostler.dev/completed-default':'" NOW "'}");
        tear_down(&w);
    }
}

/* A record that was complete by a forged time is no reason to give up the one that really ran. */
static void forged_time_supersedes_nothing(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 0);
    struct child other = { .head = { .key = (char *) "b" },
                           .resource = RESOURCE_REVISION,
                           .policy_uid = (char *) "u",
                           .revision = (char *) "bbbbbbbbbb",
                           .inputs = w.record.inputs,
                           .annotations = tree("{'ostler.dev/completed-default':'zzz'}") };
    const struct child *children[] = { &w.record, &other };
    w.view.children = children;
    w.view.child_count = ARRAY_LEN(children);
    json_object_set_new(w.record.annotations, "ostler.dev/ran-default",
                        json_string("2026-11-02T00:00:00Z"));
    assert_true(record_is_held(&w.view, &w.record));
    json_object_set_new(other.annotations, "ostler.dev/completed-default",
                        json_string("2026-11-03T00:00:00Z"));
    assert_false(record_is_held(&w.view, &w.record));
    json_decref(other.annotations);
    tear_down(&w);
}

/* A failure of a revision that is not wanted. If another client has written the annotation too, it
 * stays when Ostler leaves it out: so Ostler empties it first. */
static void what_does_not_count_says_nothing_before_it_goes(void **state)
{
    (void) state;
    struct world w = { 0 };
    set_up(&w, 0);
    json_object_set_new(w.record.annotations, "ostler.dev/failed-default",
                        json_string("soon gpu-1 Forged"));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_string_equal(json_key(got, "ostler.dev/failed-default"), "");
    json_object_set_new(w.record.annotations, "ostler.dev/failed-default", json_string(""));
    CLEANUP_JSON json_t *again = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_null(json_object_get(again, "ostler.dev/failed-default"));
    tear_down(&w);
}

/* A time that is still to come: it counts as now, once and for all, so that what completes later
 * comes after it. A clock may be some minutes ahead. */
static const struct future_row {
    const char *name;
    const char *annotation, *said, *want;
} future_rows[] = {
    { "a time of a clock that is ahead is kept", "ostler.dev/completed-old", "2026-11-20T12:09:59Z",
      "2026-11-20T12:09:59Z" },
    { "a time that is still to come counts as now: completed", "ostler.dev/completed-old",
      "2099-01-01T00:00:00Z", NOW },
    { "a time that is still to come counts as now: ran", "ostler.dev/ran-old",
      "2099-01-01T00:00:00Z", NOW },
    { "a time that is still to come counts as now: wanted", "ostler.dev/target-old",
      "2099-01-01T00:00:00Z", NOW },
    { "a time that is still to come counts as now: wanted by a pool that is there",
      "ostler.dev/target-default", "2099-01-01T00:00:00Z", NOW },
    { "what a canary has soaked stays", "ostler.dev/canary-old", "540s", "540s" },
    { "the rollout's own times are its own", "ostler.dev/canary-old", "2099-01-01T00:00:00Z",
      "2099-01-01T00:00:00Z" },
};

static void check_future(void **state)
{
    const struct future_row *row = *state;
    struct world w = { 0 };
    set_up(&w, 0);
    w.view.settled = true;
    json_object_set_new(w.record.annotations, row->annotation, json_string(row->said));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_string_equal(json_key(got, row->annotation), row->want);
    json_t *before = w.record.annotations;
    w.record.annotations = json_incref(got);
    w.view.now = "2026-11-20T12:30:00Z";
    CLEANUP_JSON json_t *again = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_true(json_equal(got, again));
    json_decref(before);
    tear_down(&w);
}

/* The clock was put back: times of two revisions are still to come. Which was complete last is not
 * lost, since a pool goes back to that one, and it is not either where only one of two writes
 * arrives. NULL: the time is as it was. */
static const struct back_row {
    const char *name;
    const char *own, *other;
    const char *want;
} back_rows[] = {
    { "a clock that was put back: what came first is put right first", "2026-11-20T14:00:00Z",
      "2026-11-20T14:05:00Z", NOW },
    { "a clock that was put back: what came last waits for it", "2026-11-20T14:05:00Z",
      "2026-11-20T14:00:00Z", NULL },
    { "a clock that was put back: what came last comes after what was put right",
      "2026-11-20T14:05:00Z", NOW, "2026-11-20T12:00:01Z" },
    { "a clock that was put back: what came last comes after what is not too far ahead",
      "2026-11-20T12:10:01Z", "2026-11-20T12:05:00Z", "2026-11-20T12:05:01Z" },
    { "a clock that was put back: what was long ago stays before it", "2026-11-20T14:05:00Z",
      BEFORE, NOW },
    { "a clock that was put back: two of the same second", "2026-11-20T14:05:00Z",
      "2026-11-20T14:05:00Z", NOW },
};

static void check_back(void **state)
{
    const struct back_row *row = *state;
    struct world w = { 0 };
    set_up(&w, 0);
    struct child other = { .head = { .key = (char *) "b" },
                           .resource = RESOURCE_REVISION,
                           .policy_uid = (char *) "u",
                           .revision = (char *) "bbbbbbbbbb",
                           .inputs = w.record.inputs,
                           .annotations = tree("{}") };
    const struct child *children[] = { &w.record, &other };
    w.view.children = children;
    w.view.child_count = ARRAY_LEN(children);
    json_object_set_new(w.record.annotations, "ostler.dev/completed-old", json_string(row->own));
    json_object_set_new(other.annotations, "ostler.dev/completed-old", json_string(row->other));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_string_equal(json_key(got, "ostler.dev/completed-old"),
                        row->want ? row->want : row->own);
    json_decref(other.annotations);
    tear_down(&w);
}

/* The same, where a revision is complete only now: it came last. */
static const struct reached_row {
    const char *name;
    const char *other; /* when another one was complete */
    const char *want;  /* NULL: not yet */
} reached_rows[] = {
    { "what is complete now waits for a time of before the clock was put back",
      "2026-11-20T14:00:00Z", NULL },
    { "what is complete now comes after what was put right in the same second", NOW,
      "2026-11-20T12:00:01Z" },
    { "what is complete now comes after a time of a clock that is ahead", "2026-11-20T12:05:00Z",
      "2026-11-20T12:05:01Z" },
    { "what is complete now is so now", BEFORE, NOW },
};

static void check_reached(void **state)
{
    const struct reached_row *row = *state;
    struct world w = { 0 };
    set_up(&w, 0);
    w.view.settled = true;
    struct child other = { .head = { .key = (char *) "b" },
                           .resource = RESOURCE_REVISION,
                           .policy_uid = (char *) "u",
                           .revision = (char *) "bbbbbbbbbb",
                           .inputs = w.record.inputs,
                           .annotations = tree("{}") };
    const struct child *children[] = { &w.record, &other };
    w.view.children = children;
    w.view.child_count = ARRAY_LEN(children);
    json_object_set_new(other.annotations, "ostler.dev/completed-default", json_string(row->other));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    const char *completed = json_key(got, "ostler.dev/completed-default");
    if (row->want)
        assert_string_equal(completed, row->want);
    else
        assert_null(completed);
    json_decref(other.annotations);
    tear_down(&w);
}

/* What a person asks for with the policy's annotation, and what the record of a revision that
 * failed says then. */
static const struct retry_row {
    const char *name;
    const char *asked;    /* NULL: nothing */
    const char *answered; /* what the record says was tried again in the pool; NULL: nothing */
    const char *other;    /* the same in a pool that is gone */
    const char *want;     /* of the annotation then; NULL: it is not there */
    bool tried;           /* the failure is taken back */
    const char *value;    /* what has it tried again after that */
} retry_rows[] = {
    { "no user asks", NULL, NULL, NULL, NULL, false, "aaaaaaaaaa" },
    { "another revision is asked for", "bbbbbbbbbb", NULL, NULL, NULL, false, "aaaaaaaaaa" },
    { "its hash asks", "aaaaaaaaaa", NULL, NULL, NOW " aaaaaaaaaa", true, "aaaaaaaaaa.2" },
    { "it asks once", "aaaaaaaaaa", BEFORE " aaaaaaaaaa", NULL, BEFORE " aaaaaaaaaa", false,
      "aaaaaaaaaa.2" },
    { "also where only the time is recorded", "aaaaaaaaaa", BEFORE, NULL, BEFORE, false,
      "aaaaaaaaaa.2" },
    { "with a number it asks again", "aaaaaaaaaa.2", BEFORE, NULL, NOW " aaaaaaaaaa.2", true,
      "aaaaaaaaaa.3" },
    { "and once, too", "aaaaaaaaaa.2", BEFORE " aaaaaaaaaa.2", NULL, BEFORE " aaaaaaaaaa.2", false,
      "aaaaaaaaaa.3" },
    { "another number is another wish, whichever", "aaaaaaaaaa.7", BEFORE " aaaaaaaaaa.9", NULL,
      NOW " aaaaaaaaaa.7", true, "aaaaaaaaaa.8" },
    { "the hash alone as well", "aaaaaaaaaa", BEFORE " aaaaaaaaaa.9", NULL, NOW " aaaaaaaaaa", true,
      "aaaaaaaaaa.2" },
    { "after the last number it is the hash", "aaaaaaaaaa.999999", NULL, NULL,
      NOW " aaaaaaaaaa.999999", true, "aaaaaaaaaa" },
    { "one that was taken off may come again", NULL, BEFORE " aaaaaaaaaa", NULL, NULL, false,
      "aaaaaaaaaa" },
    { "what was answered for another pool was answered", "aaaaaaaaaa", NULL, BEFORE " aaaaaaaaaa",
      NULL, false, "aaaaaaaaaa.2" },
    { "a number that is none", "aaaaaaaaaa.x", NULL, NULL, NULL, false, "aaaaaaaaaa" },
    { "a number that is too long", "aaaaaaaaaa.1000000", NULL, NULL, NULL, false, "aaaaaaaaaa" },
    { "no number", "aaaaaaaaaa.", NULL, NULL, NULL, false, "aaaaaaaaaa" },
    { "another word", "aaaaaaaaaa-2", NULL, NULL, NULL, false, "aaaaaaaaaa" },
    { "what does not begin with a time was not answered", "aaaaaaaaaa", "soon aaaaaaaaaa", NULL,
      NOW " aaaaaaaaaa", true, "aaaaaaaaaa.2" },
    { "nor what names another revision", "aaaaaaaaaa", BEFORE " bbbbbbbbbb", NULL,
      NOW " aaaaaaaaaa", true, "aaaaaaaaaa.2" },
    { "what begins with a time that Ostler does not write was not answered", "aaaaaaaaaa",
      "2026-11-20T11:00:00.5Z aaaaaaaaaa", NULL, NOW " aaaaaaaaaa", true, "aaaaaaaaaa.2" },
    { "of what two pools were asked the highest counts", "aaaaaaaaaa.9", BEFORE " aaaaaaaaaa.9",
      BEFORE " aaaaaaaaaa.2", BEFORE " aaaaaaaaaa.9", false, "aaaaaaaaaa.10" },
    { "whichever of them it is", "aaaaaaaaaa.2", BEFORE " aaaaaaaaaa.2", BEFORE " aaaaaaaaaa.9",
      BEFORE " aaaaaaaaaa.2", false, "aaaaaaaaaa.10" },
};

static void check_retry(void **state)
{
    const struct retry_row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    struct world w = { 0 };
    set_up(&w, 0);
    w.view.settled = true;
    CLEANUP_JSON json_t *object = tree("{'metadata':{'name':'default'}}");
    if (row->asked)
        json_set_at(object, "metadata.annotations",
                    json_pack("{s:s}", "ostler.dev/retry", row->asked));
    w.view.object = object;
    struct report_note failed = { .hash = "aaaaaaaaaa",
                                  .pool = (char *) "default",
                                  .failed = (char *) "gpu-1 CrashLoopBackOff" };
    struct rollout_report report = { .notes = &failed, .note_count = 1 };
    w.view.rollout = &report;
    if (row->answered)
        json_object_set_new(w.record.annotations, "ostler.dev/retried-default",
                            json_string(row->answered));
    if (row->other)
        json_object_set_new(w.record.annotations, "ostler.dev/retried-old",
                            json_string(row->other));
    CLEANUP_JSON json_t *got = record_annotations(&w.view, "driver", "aaaaaaaaaa", &w.record);
    assert_true(str_eq(json_key(got, "ostler.dev/retried-default"), row->want));
    assert_true(str_eq(json_key(got, "ostler.dev/failed-default"),
                       row->tried ? NULL : NOW " gpu-1 CrashLoopBackOff"));
    assert_string_equal(retry_value(got, "aaaaaaaaaa", &a), row->value);
    tear_down(&w);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "while nodes are still to be looked at, no pool is named anew",
              pools_of_an_earlier_policy_are_not_named_anew, NULL);
    suite_add(&s, "annotations that only a newer Ostler knows are kept",
              annotations_of_a_newer_ostler_are_kept, NULL);
    suite_add(&s, "when all are looked at, the pools that want it are named",
              settled_pools_are_named, NULL);
    suite_add(&s, "what one of two nodes runs has run and is not complete",
              what_one_node_runs_is_not_complete, NULL);
    suite_add(&s, "what no node runs has not run", what_no_node_runs_has_not_run, NULL);
    SUITE_ROWS(&s, check_again, again_rows);
    suite_add(&s, "what was wanted by a clock that is ahead is reached once",
              what_a_clock_ahead_wanted_is_reached_once, NULL);
    SUITE_ROWS(&s, check_order, order_rows);
    SUITE_ROWS(&s, check_held, held_rows);
    SUITE_ROWS(&s, check_future, future_rows);
    SUITE_ROWS(&s, check_back, back_rows);
    SUITE_ROWS(&s, check_reached, reached_rows);
    suite_add(&s, "what does not count says nothing before it goes",
              what_does_not_count_says_nothing_before_it_goes, NULL);
    SUITE_ROWS(&s, check_ran, ran_rows);
    SUITE_ROWS(&s, check_retry, retry_rows);
    suite_add(&s, "forged times are ignored and overwritten", forged_times_are_overwritten, NULL);
    suite_add(&s, "a forged time supersedes nothing", forged_time_supersedes_nothing, NULL);
    return suite_run(&s, "records");
}
