/* The cached fields of a PodDisruptionBudget: whether a refused eviction is worth a retry. */
#ifndef OSTLER_RECONCILERS_MODEL_POD_BUDGET_H
#define OSTLER_RECONCILERS_MODEL_POD_BUDGET_H

#include <jansson.h>
#include <stdbool.h>

#include "kube/record.h"

struct pod_budget {
    struct record head; /* key = "namespace/name" */
    int64_t generation; /* metadata.generation: of its spec */
    bool allows;        /* its status allows a disruption now */
};

/* The record of a PodDisruptionBudget. */
struct pod_budget *pod_budget_project(const json_t *object);
/* Whether all cached fields are equal. */
bool pod_budget_same(const struct pod_budget *a, const struct pod_budget *b);
/* Whether the change may allow an eviction that was refused before; either may be NULL. */
bool pod_budget_eased(const struct pod_budget *before, const struct pod_budget *after);
/* Whether the budget is in the namespace of a pod, "namespace/name". */
bool pod_budget_is_near(const struct pod_budget *b, const char *pod);
/* Frees the record with its key. */
void pod_budget_free(struct pod_budget *b);

#endif
