/* For how long it is too early to say that no node has a GPU. */
#include "reconcilers/decide/detecting.h"

#include "tests/unit/support/suite.h"

enum { NOW_S = 1790000000 };

static const struct row {
    const char *name;
    int32_t silent;       /* of the agents' DaemonSet; -1: not counted yet */
    int64_t made_s, up_s; /* so long before now */
    int64_t want_s;
    enum node_state state; /* of the only node */
    bool theirs, deleting, invalid, no_node, removed;
} rows[] = {
    { .name = "sent out now, and not counted", .silent = -1, .want_s = 300 },
    { .name = "not all are up", .silent = 1, .made_s = 100, .want_s = 200 },
    { .name = "not all are up, for too long", .silent = 1, .made_s = 300, .want_s = 0 },
    { .name = "they came up now", .made_s = 100, .up_s = 0, .want_s = 15 },
    { .name = "they have had a part of their time", .made_s = 100, .up_s = 10, .want_s = 5 },
    { .name = "they have looked", .made_s = 100, .up_s = 15, .want_s = 0 },
    { .name = "they came up late", .made_s = 290, .up_s = 5, .want_s = 10 },
    { .name = "they came up too late", .made_s = 295, .up_s = 5, .want_s = 5 },
    { .name = "after a restart nothing is waited for that is old",
      .made_s = 4000,
      .up_s = 0,
      .want_s = 0 },
    { .name = "made by a clock that is a little ahead", .silent = 1, .made_s = -5, .want_s = 300 },
    { .name = "made by a clock that is wrong", .silent = 1, .made_s = -86400, .want_s = 0 },
    { .name = "a node is served", .silent = 1, .state = NODE_INSTALLING, .want_s = 0 },
    { .name = "another stack serves the node", .silent = 1, .state = NODE_FOREIGN, .want_s = 0 },
    { .name = "there is no node", .silent = 1, .no_node = true, .want_s = 0 },
    { .name = "the agents are not Ostler's", .silent = 1, .theirs = true, .want_s = 0 },
    { .name = "the agents are on their way out", .silent = 1, .deleting = true, .want_s = 0 },
    { .name = "the spec is invalid", .silent = 1, .invalid = true, .want_s = 0 },
    { .name = "all is being removed", .silent = 1, .removed = true, .want_s = 0 },
};

static void check(void **state)
{
    const struct row *row = *state;
    struct child agents = { .resource = RESOURCE_DAEMONSET,
                            .head.key = "ns/node-agent",
                            .policy_uid = row->theirs ? NULL : "u",
                            .deleting = row->deleting,
                            .silent = row->silent,
                            .made_s = NOW_S - row->made_s };
    const struct child *children[] = { &agents };
    struct tally tally = { 0 };
    tally.total = !row->no_node;
    tally.states[row->state] = !row->no_node;
    struct cluster_view v = { .mode = row->removed ? MODE_REMOVE : MODE_MANAGE,
                              .problems = row->invalid ? "x" : NULL,
                              .tally = &tally,
                              .children = children,
                              .child_count = 1,
                              .now_s = NOW_S,
                              .agents_up_s = NOW_S - row->up_s };
    assert_int_equal(detecting_wait_s(&v), row->want_s);
    v.child_count = 0;
    assert_int_equal(detecting_wait_s(&v), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "detecting");
}
