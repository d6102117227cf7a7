/* What is made of watches that are silent or that fail. */
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "reconcilers/cluster.h"
#include "tests/unit/support/quiet.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/world.h"

enum { GRACE_MS = 10 * 60 * 1000 };

#define NOTHING "{'metadata': {'resourceVersion': '10'}, 'items': []}"

static const enum resource_id watched[] = { RESOURCE_POLICY, RESOURCE_NODE, RESOURCE_POD,
                                            RESOURCE_TASK };

struct fixture {
    struct world w;
    struct cluster cluster;
};

/* Nothing is listed yet. */
static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    log_setup(LOG_SILENT, false);
    world_init(&f->w);
    cluster_init(&f->cluster, &(struct cluster_options){ .operand_namespace = "operands",
                                                         .clock = &f->w.clock,
                                                         .absent_grace_ms = GRACE_MS,
                                                         .listener = quiet_listener });
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        f->cluster.informers[watched[i]] = informer_new(
            &(struct informer_options){ .resource = watched[i] }, &f->cluster.tables[watched[i]],
            &f->w.transport, f->w.loop, NULL, NULL);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        informer_free(f->cluster.informers[watched[i]]);
    cluster_clear(&f->cluster);
    world_clear(&f->w);
    free(f);
    return 0;
}

/* The whole list comes and is empty; its watch is the open request of that place. */
static void list(struct fixture *f, enum resource_id resource)
{
    informer_start(f->cluster.informers[resource]);
    world_reply(&f->w, world_open(&f->w) - 1, 200, NOTHING);
    world_turn(&f->w);
}

static struct node_input age(const struct fixture *f)
{
    struct node_input in = { 0 };
    cluster_watched(&f->cluster, &in);
    return in;
}

/* What a node does is seen by both. */
static void a_view_is_as_old_as_the_watch_that_was_silent_for_longest(void **state)
{
    struct fixture *f = *state;
    list(f, RESOURCE_NODE);
    world_pass(&f->w, 20000);
    list(f, RESOURCE_POD);
    world_pass(&f->w, 5000);
    list(f, RESOURCE_TASK);
    assert_int_equal(age(f).age_s, 25);
    assert_int_equal(age(f).tasks_age_s, 0);
}

static void a_view_is_as_old_as_its_pods_where_those_were_silent_for_longest(void **state)
{
    struct fixture *f = *state;
    list(f, RESOURCE_POD);
    world_pass(&f->w, 20000);
    list(f, RESOURCE_NODE);
    list(f, RESOURCE_TASK);
    assert_int_equal(age(f).age_s, 20);
}

static enum operating_mode mode(const struct fixture *f)
{
    int64_t again_ms;
    return cluster_mode(&f->cluster, &again_ms);
}

/* One may have been created since the watch broke off. */
static void a_policy_is_not_gone_while_its_watch_fails(void **state)
{
    struct fixture *f = *state;
    cluster_new_epoch(&f->cluster);
    list(f, RESOURCE_POLICY);
    assert_int_equal(mode(f), MODE_HOLD);
    world_break(&f->w, 0, 0, ERR_UNREACHABLE, "no route to host");
    world_turn(&f->w);
    assert_non_null(informer_state(f->cluster.informers[RESOURCE_POLICY]).problem);
    world_jump(&f->w, 2 * GRACE_MS);
    assert_int_equal(mode(f), MODE_HOLD);
}

static void a_policy_is_gone_when_its_watch_has_shown_none_for_long(void **state)
{
    struct fixture *f = *state;
    cluster_new_epoch(&f->cluster);
    list(f, RESOURCE_POLICY);
    world_jump(&f->w, 2 * GRACE_MS);
    assert_int_equal(mode(f), MODE_REMOVE);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add_fixture(&s, "a view is as old as the watch that was silent for longest",
                      a_view_is_as_old_as_the_watch_that_was_silent_for_longest, set_up, tear_down);
    suite_add_fixture(&s, "a view is as old as its pods where those were silent for longest",
                      a_view_is_as_old_as_its_pods_where_those_were_silent_for_longest, set_up,
                      tear_down);
    suite_add_fixture(&s, "a policy is not gone while its watch fails",
                      a_policy_is_not_gone_while_its_watch_fails, set_up, tear_down);
    suite_add_fixture(&s, "a policy is gone when its watch has shown none for long",
                      a_policy_is_gone_when_its_watch_has_shown_none_for_long, set_up, tear_down);
    return suite_run(&s, "watched");
}
