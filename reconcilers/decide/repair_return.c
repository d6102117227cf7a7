#include "reconcilers/decide/repair_return.h"

#include "base/str.h"
#include "reconcilers/decide/task_pod.h"

/* Whether the claim waits for an idle node: its GPUs work until they are reset. */
static bool is_for_idle(const struct upgrade_pass *s)
{
    return claim_kinds[s->out->claim.kind].repairs && s->p->v->repair == REPAIR_IDLE;
}

bool repair_yields(struct upgrade_pass *s)
{
    if (!is_for_idle(s) || drain_is_done(&s->out->drain))
        return false;
    upgrade_pass_release(s, REASON_GPU_POD_ARRIVED,
                         arena_printf(s->p->a,
                                      "the node's GPUs work until they are reset, and it is not "
                                      "idle any longer: it %s",
                                      s->out->drain.message));
    return true;
}

bool repair_gives_back(const struct upgrade_pass *s)
{
    const struct node_input *in = s->p->in;
    const struct claim *c = &s->out->claim;
    const char *driver = upgrade_pass_now(s, TIER_DRIVER);
    bool works_on_it = task_pod_find(in->pod_list, TASK_RESET) ||
                       task_pod_find(in->pod_list, TASK_REBOOT);
    return claim_kinds[c->kind].repairs && in->view.node->ready && !works_on_it &&
           claim_closes(c) && !*upgrade_pass_now(s, TIER_STACK) &&
           (!*driver || str_eq(driver, c->to.hash[TIER_DRIVER]));
}
