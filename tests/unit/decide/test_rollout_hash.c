#include "reconcilers/decide/rollout_view.h"

#include "tests/unit/support/suite.h"

static const char *const pool_names[] = { "default", "legacy" };

/* Two nodes; what the policy wants on each, and what they run. */
static const struct row {
    const char *name;
    struct rollout_node a, b;
    bool same; /* the plan is the one of `usual` */
} rows[] = {
    { "half of it done is the same plan",
      { .now = { { "d2" } }, .target = { { "d2", "s2" } } },
      { .now = { { "d1" } }, .target = { { "d2", "s2" } } },
      true },
    { "all of it done is the same plan",
      { .now = { { "d2" } }, .target = { { "d2", "s2" } } },
      { .now = { { "d2" } }, .target = { { "d2", "s2" } } },
      true },
    { "a node that was given up leaves the plan as it is",
      { .now = { { "d1" } },
        .target = { { "d1", "s1" } },
        .policy_target = { { "d2", "s2" } },
        .gave_up = true },
      { .now = { { "d1" } }, .target = { { "d2", "s2" } } },
      true },
    { "nodes that go back leave it as it is",
      { .now = { { "d2" } }, .target = { { "d1", "s2" } }, .policy_target = { { "d2", "s2" } } },
      { .now = { { "d1" } }, .target = { { "d1", "s2" } }, .policy_target = { { "d2", "s2" } } },
      true },
    { "a held node leaves it as it is",
      { .now = { { "d1" } }, .target = { { "d2", "s2" } }, .held = true },
      { .now = { { "d1" } }, .target = { { "d2", "s2" } } },
      true },
    { "another driver is another plan",
      { .now = { { "d1" } }, .target = { { "d3", "s2" } } },
      { .now = { { "d1" } }, .target = { { "d3", "s2" } } },
      false },
    { "another stack is another plan",
      { .now = { { "d1" } }, .target = { { "d2", "s3" } } },
      { .now = { { "d1" } }, .target = { { "d2", "s3" } } },
      false },
    { "a driver for one more kind of node is another plan",
      { .now = { { "d1" } }, .target = { { "d2", "s2" } } },
      { .now = { { "d1" } }, .target = { { "d4", "s2" } } },
      false },
    { "the same in another pool is another plan",
      { .now = { { "d1" } }, .target = { { "d2", "s2" } } },
      { .pool = 1, .now = { { "d1" } }, .target = { { "d2", "s2" } } },
      false },
};

static void hash_of(struct rollout_node a, struct rollout_node b,
                    char ret[static REVISION_HASH_MAX])
{
    const struct rollout_node nodes[] = { a, b };
    rollout_plan_hash(&(struct rollout_input){ .nodes = nodes,
                                               .node_count = ARRAY_LEN(nodes),
                                               .pool_names = pool_names },
                      ret);
}

static void check_row(void **state)
{
    const struct row *row = *state;
    const struct rollout_node usual = { .now = { { "d1" } }, .target = { { "d2", "s2" } } };
    char want[REVISION_HASH_MAX], got[REVISION_HASH_MAX], turned[REVISION_HASH_MAX];
    hash_of(usual, usual, want);
    hash_of(row->a, row->b, got);
    hash_of(row->b, row->a, turned);
    assert_string_equal(got, turned);
    if (row->same)
        assert_string_equal(got, want);
    else
        assert_string_not_equal(got, want);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    return suite_run(&s, "rollout hash");
}
