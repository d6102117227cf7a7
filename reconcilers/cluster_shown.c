#include "reconcilers/cluster_shown.h"

#include <string.h>

#include "reconcilers/cluster_health.h"

void cluster_shown(const struct cluster *c, const char *name)
{
    const struct cluster_listener *l = &c->o.listener;
    if (l->shown)
        l->shown(l->arg, name);
}

void cluster_shown_policy(const struct cluster *c)
{
    cluster_shown(c, NULL);
}

void cluster_shown_all(const struct cluster *c)
{
    for (size_t i = 0; c->o.listener.shown && i < c->slots.len; i++)
        if (c->by_name[i]->node)
            cluster_shown(c, c->by_name[i]->name);
}

void cluster_shown_node(const struct cluster *c, const struct node *was, const struct node *is)
{
    if (!c->o.listener.shown || !was || !is)
        return;
    bool same = was->gpus == is->gpus && was->host_driver == is->host_driver &&
                was->fault == is->fault && was->label_count == is->label_count &&
                memcmp(was->labels, is->labels, is->label_count * sizeof *is->labels) == 0;
    if (!same)
        cluster_shown(c, is->head.key);
}

/* Only pods that hold GPUs are counted. */
static void show_host(const struct cluster *c, const struct pod *p)
{
    const char *name = p && p->gpus ? intern_text(c->strings, p->node) : NULL;
    if (name)
        cluster_shown(c, name);
}

void cluster_shown_pod(const struct cluster *c, const struct pod *was, const struct pod *is)
{
    if (was && is && was->deleting != is->deleting)
        cluster_shown_policy(c); /* a blocker that begins to leave */
    if (!c->o.listener.shown || (was && is && was->gpus == is->gpus && was->node == is->node))
        return;
    show_host(c, was);
    show_host(c, is);
}

/* Which faults count also depends on the time, on the driver's pod and on what NVML has said. */
void cluster_shown_health(const struct cluster *c, struct node_slot *slot)
{
    unsigned bad = c->o.listener.shown ? cluster_bad_gpus(c, slot) : 0;
    if (bad != slot->bad_shown)
        cluster_shown(c, slot->name);
    slot->bad_shown = (uint16_t) bad;
}

void cluster_shown_report(const struct cluster *c, const struct gpu_node *was,
                          const struct gpu_node *is)
{
    static const struct gpu_node none;
    const struct gpu_node *any = is ? is : was;
    if (!c->o.listener.shown)
        return;
    was = was ? was : &none;
    is = is ? is : &none;
    if (!node_inventory_same(was->inventory, is->inventory) ||
        !node_health_same(was->health, is->health) ||
        !health_status_same(was->concluded, is->concluded) || was->since_s != is->since_s)
        cluster_shown(c, any->head.key);
}
