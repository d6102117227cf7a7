/* What we keep of a PodDisruptionBudget: whether it is worth while to ask again for what it refused. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_BUDGET_H
#define OSTLER_RECONCILERS_MODEL_POD_BUDGET_H

#include <jansson.h>
#include <stdbool.h>

#include "kube/record.h"

struct pod_budget {
    struct record head;  /* key = "namespace/name" */
    int64_t generation;  /* of what it says */
    bool allows;         /* by its own count a pod may go now */
};

/* The record of a PodDisruptionBudget. */
struct pod_budget *pod_budget_project(const json_t *object);
/* Whether nothing that anybody looks at differs. */
bool pod_budget_same(const struct pod_budget *a, const struct pod_budget *b);
/* Whether one that became the other may let go what it did not before; either may be NULL. */
bool pod_budget_eased(const struct pod_budget *before, const struct pod_budget *after);
/* Whether it is one of the namespace of a pod, "namespace/name". */
bool pod_budget_is_near(const struct pod_budget *b, const char *pod);
/* Frees the record with its key. */
void pod_budget_free(struct pod_budget *b);

#endif
