#include "reconcilers/decide/detecting.h"

#include "base/clock.h"

enum {
    LOOK_S = 15, /* an agent scans within ten seconds of its start and then reports */
    /* Since the agents were created: no report is not "no GPU", but the wait must end. */
    PATIENCE_S = 300,
};

const struct child *detecting_agents(const struct cluster_view *v)
{
    const struct child *agents = cluster_child(v, RESOURCE_DAEMONSET, operand_name(OPERAND_AGENT));
    return agents && child_is_ours(agents) && !agents->deleting ? agents : NULL;
}

/* The rest of a period that started at `since_s`. */
static int64_t left_s(const struct cluster_view *v, int64_t since_s, int64_t time_s)
{
    int64_t lasted_s = v->now_s > since_s ? v->now_s - since_s : 0;
    return lasted_s < time_s && !clock_is_ahead(since_s, v->now_s) ? time_s - lasted_s : 0;
}

int64_t detecting_wait_s(const struct cluster_view *v)
{
    const struct child *agents = v->mode == MODE_MANAGE && !v->problems ? detecting_agents(v)
                                                                        : NULL;
    const struct tally *t = v->tally;
    if (!agents || tally_served(t) || t->states[NODE_FOREIGN] || !t->total)
        return 0;
    int64_t patience_s = left_s(v, agents->made_s, PATIENCE_S);
    int64_t look_s = agents->silent ? patience_s : left_s(v, v->agents_up_s, LOOK_S);
    return look_s < patience_s ? look_s : patience_s;
}
