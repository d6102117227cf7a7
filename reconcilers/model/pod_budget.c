#include "reconcilers/model/pod_budget.h"

#include <string.h>

#include "base/json.h"
#include "kube/object.h"

struct pod_budget *pod_budget_project(const json_t *object)
{
    struct pod_budget *b = record_new(sizeof *b, object);
    b->generation = object_generation(object);
    b->allows = json_int(object, "status.disruptionsAllowed", 0) > 0;
    return b;
}

bool pod_budget_same(const struct pod_budget *a, const struct pod_budget *b)
{
    return a->generation == b->generation && a->allows == b->allows;
}

/* A deleted budget refuses nothing; a changed one may cover other pods. */
bool pod_budget_eased(const struct pod_budget *before, const struct pod_budget *after)
{
    if (!before || !after)
        return !after || after->allows;
    return after->generation != before->generation || (after->allows && !before->allows);
}

bool pod_budget_is_near(const struct pod_budget *b, const char *pod)
{
    size_t len = strcspn(b->head.key, "/") + 1;
    return strncmp(b->head.key, pod, len) == 0;
}

void pod_budget_free(struct pod_budget *b)
{
    record_free(b);
}
