#include "reconcilers/model/pod_budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/record.h"

struct pod_budget *pod_budget_project(const json_t *object)
{
    struct pod_budget *b = xcalloc(1, sizeof *b);
    b->head.key = record_key(object);
    snprintf(b->head.uid, sizeof b->head.uid, "%s", object_uid(object));
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
    free(b->head.key);
    free(b);
}
