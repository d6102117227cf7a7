/* When a PodDisruptionBudget is worth another question. */
#include "reconcilers/model/pod_budget.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define BUDGET(generation, allowed)                                                                \
    "{'metadata': {'namespace': 'ml', 'name': 'web', 'uid': 'u', 'generation': " #generation       \
    "}, 'status': "                                                                                \
    "{'disruptionsAllowed': " #allowed "}}"

static const struct row {
    const char *name, *before, *after; /* NULL: there is none */
    bool same, eased;
} rows[] = {
    { "one that allows nothing comes", NULL, BUDGET(1, 0), false, false },
    { "one that allows a pod comes", NULL, BUDGET(1, 1), false, true },
    { "it goes", BUDGET(1, 0), NULL, false, true },
    { "it allows a pod now", BUDGET(1, 0), BUDGET(1, 1), false, true },
    { "it no longer allows a pod", BUDGET(1, 1), BUDGET(1, 0), false, false },
    { "it allows one more", BUDGET(1, 1), BUDGET(1, 2), true, false },
    { "a user changed what it says", BUDGET(1, 0), BUDGET(2, 0), false, true },
    { "nothing changes", BUDGET(3, 0), BUDGET(3, 0), true, false },
};

static struct pod_budget *budget(const char *text)
{
    CLEANUP_JSON json_t *object = text ? tree(text) : NULL;
    return object ? pod_budget_project(object) : NULL;
}

static void check(void **state)
{
    const struct row *row = *state;
    struct pod_budget *before = budget(row->before), *after = budget(row->after);
    assert_int_equal(pod_budget_eased(before, after), row->eased);
    if (before && after)
        assert_int_equal(pod_budget_same(before, after), row->same);
    if (before)
        pod_budget_free(before);
    if (after)
        pod_budget_free(after);
}

static void it_is_for_pods_of_its_namespace(void **state)
{
    (void) state;
    struct pod_budget *b = budget(BUDGET(1, 0));
    assert_true(pod_budget_is_near(b, "ml/a"));
    assert_false(pod_budget_is_near(b, "ml-2/a"));
    assert_false(pod_budget_is_near(b, "m/l"));
    assert_false(pod_budget_is_near(b, "ml"));
    pod_budget_free(b);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "it is for pods of its namespace", it_is_for_pods_of_its_namespace, NULL);
    return suite_run(&s, "pod budget");
}
