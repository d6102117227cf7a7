#include "reconcilers/decide/deadline.h"

#include "base/mem.h"
#include "tests/unit/support/suite.h"

/* When the node was last up, by its kubelet's clock; when Ostler began to watch; when the step
 * began; from when its time counts, at 10,000; and when the node's removal was taken back. */
static const struct row {
    const char *name;
    int64_t up_s, watched_s, since_s, from_s, stays_s;
} rows[] = {
    { "from the step's beginning", 100, 200, 5000, 5000, 0 },
    { "from the node's return", 6000, 200, 5000, 6000, 0 },
    { "from when Ostler came", 100, 7000, 5000, 7000, 0 },
    { "a kubelet's clock that is a little ahead counts", 10500, 200, 5000, 10500, 0 },
    { "a kubelet's clock that is far ahead does not count", 20000, 200, 5000, 5000, 0 },
    { "from when its removal was taken back", 100, 200, 5000, 8000, 8000 },
    { "not from a removal that was taken back before the step", 100, 200, 5000, 5000, 3000 },
    { "a step that begins in the future counts from when Ostler came", 100, 200, 20000, 200, 0 },
};

static void check(void **state)
{
    const struct row *r = *state;
    struct node node = { .up_since_s = r->up_s };
    struct node_input in = { .view.node = &node,
                             .watched_since_s = r->watched_s,
                             .stays_since_s = r->stays_s,
                             .now_s = 10000 };
    assert_int_equal(deadline_from_s(&in, r->since_s), r->from_s);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "deadline");
}
