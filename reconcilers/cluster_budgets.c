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

static struct record *budget_from(void *arg, const json_t *object)
{
    (void) arg;
    return &pod_budget_project(object)->head;
}

static bool budgets_same(void *arg, const struct record *a, const struct record *b)
{
    (void) arg;
    return pod_budget_same((const struct pod_budget *) a, (const struct pod_budget *) b);
}

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
    size_t cursor = 0;
    const struct map_entry *e;
    if (!pod_budget_eased(was, is))
        return;
    c->budgets_eased++;
    while ((e = map_next(&c->refused, &cursor)))
        if (was_refused_near(e->value, is ? is : was))
            c->o.listener.node(c->o.listener.arg, e->key);
}

static void free_budget(void *arg, struct record *r)
{
    (void) arg;
    pod_budget_free((struct pod_budget *) r);
}

struct table_ops cluster_budget_ops(struct cluster *c)
{
    return (struct table_ops){ budget_from, budgets_same, budget_changed, free_budget, c };
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

bool cluster_rests_on(enum resource_id id)
{
    return id != RESOURCE_BUDGET;
}
