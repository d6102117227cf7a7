#include "reconcilers/plan/deadline.h"

/* A quiet server is heard of once a minute. Nobody is told when: so it is looked for. */
enum { HEARD_AGAIN_S = 10 };

bool deadline_is_over(const struct node_input *in, int64_t since_s, int64_t timeout_s, struct plan *plan)
{
    const struct node *n = in->view.node;
    int64_t from = since_s > n->up_since_s ? since_s : n->up_since_s;
    int64_t lasted = in->now_s > from ? in->now_s - from : 0;
    if (!n->ready)
        return false;
    if (lasted > in->watched_s)
        lasted = in->watched_s;
    if (lasted - in->age_s >= timeout_s)
        return true;
    plan_requeue(plan, (lasted < timeout_s ? timeout_s - lasted : HEARD_AGAIN_S) * 1000);
    return false;
}
