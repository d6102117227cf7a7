/* Any two JSON objects, divided by a zero byte, as a PodDisruptionBudget before and after: no
 * crash, reading twice gives the same, one that stayed the same has not eased, and one that is gone
 * has. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "reconcilers/model/pod_budget.h"
#include "tests/fuzz/two_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_one(const json_t *object, const struct pod_budget *b)
{
    struct pod_budget *again = pod_budget_project(object);
    const char *slash = strchr(b->head.key, '/'); /* one without a namespace is near no pod */
    CLEANUP_FREE char *near = xasprintf("%.*s/x", (int) strcspn(b->head.key, "/"), b->head.key);
    if (!pod_budget_same(b, again) || pod_budget_eased(b, again) || !pod_budget_eased(b, NULL) ||
        pod_budget_eased(NULL, b) != b->allows || pod_budget_is_near(b, near) != (slash != NULL))
        abort();
    pod_budget_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_JSON json_t *before = NULL, *after = NULL;
    two_texts(data, size, &before, &after);
    if (!json_is_object(before) || !json_is_object(after))
        return 0;
    struct pod_budget *a = pod_budget_project(before), *b = pod_budget_project(after);
    check_one(before, a);
    check_one(after, b);
    if (pod_budget_eased(a, b) && pod_budget_same(a, b))
        abort();
    pod_budget_free(a);
    pod_budget_free(b);
    return 0;
}
