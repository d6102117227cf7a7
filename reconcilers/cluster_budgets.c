#include "reconcilers/cluster_budgets.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/pod_budget.h"

/* A refusal starts with this, then the pod's namespace and name. */
#define REFUSED_POD "pod/"

/* Minimum time between evictions of a refused pod, so that rapid edits of a budget or pod cause no
 * flood of evictions. */
enum { ASK_APART_MS = 1000 };

CLUSTER_PROJECTION(budget_from, pod_budget_project(object))
CLUSTER_RECORD(pod_budget, pod_budget_same, pod_budget_free(r))

static bool was_refused_near(const struct node_slot *slot, const struct pod_budget *b)
{
    return str_has_prefix(slot->refused, REFUSED_POD) &&
           pod_budget_is_near(b, slot->refused + sizeof REFUSED_POD - 1);
}

static void budget_changed(void *arg, struct record *before, struct record *after)
{
    struct cluster *c = arg;
    const struct pod_budget *was = (const struct pod_budget *) before,
                            *is = (const struct pod_budget *) after;
    if (!pod_budget_eased(was, is))
        return;
    c->budgets_eased++;
    MAP_EACH (e, &c->refused)
        if (was_refused_near(e->value, is ? is : was))
            c->o.listener.node(c->o.listener.arg, e->key);
}

struct table_ops cluster_budget_ops(struct cluster *c)
{
    return (struct table_ops){ budget_from, pod_budget_record_same, budget_changed,
                               pod_budget_record_free, c };
}

void cluster_refusal_over(struct cluster *c, struct node_slot *slot)
{
    if (slot->refused)
        map_remove(&c->refused, slot->name);
    free(TAKE(slot->refused));
}

void cluster_refused(struct cluster *c, struct node_slot *slot, char *words_steal)
{
    cluster_refusal_over(c, slot);
    slot->refused = words_steal;
    slot->refused_ms = clock_mono_ms(c->o.clock);
    map_put(&c->refused, slot->name, slot);
    struct informer *inf = c->informers[RESOURCE_BUDGET];
    /* A budget changed while the response was under way, when the node was not waiting yet. */
    if (slot->budgets_eased != c->budgets_eased)
        c->o.listener.node(c->o.listener.arg, slot->name);
    if (!inf)
        return;
    informer_start(inf);
    informer_look_again(inf, INFORMER_ABSENT_RETRY_MS);
}

int64_t cluster_ask_in_ms(const struct cluster *c, const struct node_slot *slot)
{
    int64_t ms = slot->refused ? slot->refused_ms + ASK_APART_MS - clock_mono_ms(c->o.clock) : 0;
    return ms > 0 ? ms : 0;
}
