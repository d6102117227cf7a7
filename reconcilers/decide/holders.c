#include "reconcilers/decide/holders.h"

#include "base/str.h"

enum { NAMED_MAX = 3 };

bool holders_unasked(const struct node_holders *h, const struct pod *p)
{
    return p->gpus == 0 && p->component == OPERAND_NONE && !p->is_task &&
           node_holders_have(h, str_hash_id(RECORD_UID(&p->head)));
}

bool holders_name_strangers(const struct node_holders *h, const struct pod *pods)
{
    size_t found = 0;
    for (const struct pod *p = pods; p; p = p->next_on_node)
        found += node_holders_have(h, str_hash_id(RECORD_UID(&p->head)));
    return h && found < h->pod_count;
}

const char *holders_host_text(const struct host_holder *h, struct arena *a)
{
    const char *name = *h->process ? h->process : "of no name",
               *pid = h->pid ? arena_printf(a, "%d", h->pid) : "", *where = "";
    if (*h->unit)
        where = arena_printf(a, "unit %s", h->unit);
    else if (h->fixed)
        where = "in a static pod";
    else if (*h->container)
        where = arena_printf(a, "container %s", h->container);
    if (!*pid && !*where)
        return arena_printf(a, "process %s", name);
    return arena_printf(a, "process %s (%s%s%s)", name, pid, *pid && *where ? ", " : "", where);
}

const char *holders_hosts_text(const struct host_holder *hosts, size_t count, struct arena *a)
{
    const char *text = arena_printf(
        a, "%zu process%s that no eviction ends and that ha%s a GPU open: ", count,
        count == 1 ? "" : "es", count == 1 ? "s" : "ve");
    for (size_t i = 0; i < count && i < NAMED_MAX; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "", holders_host_text(&hosts[i], a));
    if (count > NAMED_MAX)
        text = arena_printf(a, "%s and %zu more", text, count - NAMED_MAX);
    return arena_printf(a, "%s (end %s on the node)", text, count == 1 ? "it" : "them");
}
