/* Which changes of a node's verdict the rollout hears of. */
#include "reconcilers/decide/tally.h"

#include "tests/unit/support/suite.h"

#define TOOLKIT (1U << OPERAND_TOOLKIT)
#define PLUGIN (1U << OPERAND_DEVICE_PLUGIN)
#define EXPORTER (1U << OPERAND_EXPORTER)

static const struct row {
    const char *name;
    struct node_verdict before, after;
    unsigned changed;
} rows[] = {
    { "nothing changes", { .state = NODE_READY }, { .state = NODE_READY }, 0 },
    { "its state changes",
      { .state = NODE_INSTALLING },
      { .state = NODE_READY },
      TALLY_SUMS | TALLY_ROLLOUT },
    { "only what is said changes",
      { .state = NODE_FAILED, .reason = REASON_OTHER, .word = "A" },
      { .state = NODE_FAILED, .reason = REASON_OTHER, .word = "B" },
      TALLY_SUMS },
    { "its toolkit works, and it is failed as before",
      { .state = NODE_FAILED, .wanted = TOOLKIT | PLUGIN, .up = PLUGIN },
      { .state = NODE_FAILED, .wanted = TOOLKIT | PLUGIN, .up = TOOLKIT | PLUGIN },
      TALLY_SUMS | TALLY_ROLLOUT },
    { "one of two operands of its stack comes up",
      { .state = NODE_INSTALLING, .wanted = TOOLKIT | PLUGIN },
      { .state = NODE_INSTALLING, .wanted = TOOLKIT | PLUGIN, .up = TOOLKIT },
      TALLY_SUMS },
    { "its exporter comes up",
      { .state = NODE_READY, .wanted = EXPORTER },
      { .state = NODE_READY, .wanted = EXPORTER, .up = EXPORTER },
      TALLY_SUMS },
    { "a fault of its GPUs comes",
      { .state = NODE_READY },
      { .state = NODE_READY, .fault = { HEALTH_CLOSE, false, 100, "Xid119" } },
      TALLY_SUMS | TALLY_ROLLOUT },
    { "another fault comes",
      { .state = NODE_READY, .fault = { HEALTH_CLOSE, false, 100, "Xid119" } },
      { .state = NODE_READY, .fault = { HEALTH_CLOSE, false, 100, "Xid95" } },
      TALLY_SUMS | TALLY_ROLLOUT },
    { "a fault stays",
      { .state = NODE_READY, .fault = { HEALTH_CLOSE, false, 100, "Xid119" } },
      { .state = NODE_READY, .fault = { HEALTH_CLOSE, false, 100, "Xid119" } },
      0 },
    { "all that is missing is its turn for a toolkit",
      { .state = NODE_INSTALLING, .first = FIRST_LATER },
      { .state = NODE_INSTALLING, .first = FIRST_TURN },
      TALLY_SUMS | TALLY_ROLLOUT },
};

static void check_change(void **state)
{
    const struct row *row = *state;
    struct tally t = { 0 };
    struct node_summary s = { .name = "gpu-1" };
    assert_int_equal(tally_set(&t, &s, &row->before), TALLY_SUMS | TALLY_ROLLOUT);
    assert_int_equal(tally_set(&t, &s, &row->after), row->changed);
    tally_remove(&t, &s);
    tally_clear(&t);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_change, rows);
    return suite_run(&s, "tally");
}
