/* While nodes are on their way to another revision the status tells of counts now and then, and of
 * all else at once. */
#include "reconcilers/decide/policy_plan.h"

#include "base/json.h"
#include "reconcilers/model/names.h"
#include "reconcilers/decide/status.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define NOW "2026-11-21T12:00:00Z"

/* What has changed since the status was written. */
static const struct row {
    const char *name;
    int64_t wait_ms;
    bool moving;
    enum rollout_hold hold; /* then it was ROLLOUT_HOLD_PARALLEL */
    size_t done, failed;    /* then 1 and 0 */
    int64_t generation;     /* then 1 */
    bool told;
} rows[] = {
    { "nothing has", 5000, true, ROLLOUT_HOLD_PARALLEL, 1, 0, 1, false },
    { "another count, a moment ago", 5000, true, ROLLOUT_HOLD_PARALLEL, 2, 0, 1, false },
    { "another count, and it is time", 0, true, ROLLOUT_HOLD_PARALLEL, 2, 0, 1, true },
    { "another count when nothing is under way", 5000, false, ROLLOUT_HOLD_PARALLEL, 2, 0, 1,
      true },
    { "another reason", 5000, true, ROLLOUT_HOLD_PAUSED, 2, 0, 1, true },
    { "it is over", 5000, true, ROLLOUT_HOLD_DONE, 2, 0, 1, true },
    { "a node failed", 5000, true, ROLLOUT_HOLD_PARALLEL, 1, 1, 1, true },
    { "another policy", 5000, true, ROLLOUT_HOLD_PARALLEL, 2, 0, 2, true },
};

static json_t *status_of(const struct cluster_view *v, struct arena *a)
{
    struct condition conditions[STATUS_CONDITIONS] = { 0 };
    status_conditions(v, NULL, a, conditions);
    return status_json(v, conditions);
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_ARENA struct arena a = { 0 };
    CLEANUP_ACTIONS struct actions actions = { 0 };
    CLEANUP_JSON json_t *object = tree("{'metadata': {'name': 'default', 'uid': 'p', 'generation': "
                                       "1, 'finalizers': ['" POLICY_FINALIZER "']}}");
    struct tally tally = { .moving = row->moving };
    struct rollout_report report = {
        .known = true, .hold = ROLLOUT_HOLD_PARALLEL, .active = row->moving, .done = 1
    };
    struct cluster_view v = { .object = object,
                              .mode = MODE_HOLD,
                              .tally = &tally,
                              .settled = true,
                              .rollout = &report,
                              .now = NOW,
                              .counts_wait_ms = row->wait_ms };
    json_object_set_new(object, "status", status_of(&v, &a));
    report.hold = row->hold;
    report.done = row->done;
    report.failed = row->failed;
    json_object_set_new(json_object_get(object, "metadata"), "generation",
                        json_integer(row->generation));
    policy_plan(&v, &a, &actions);
    assert_int_equal(actions.len, row->told);
    bool later = !row->told && row->done != 1;
    assert_int_equal(actions.requeue_after_ms, later ? row->wait_ms : 0);
}

int main(void)
{
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        suite_add(&s, rows[i].name, check, (void *) &rows[i]);
    return suite_run(&s, "status pace");
}
