#include "reconcilers/decide/deadline.h"

#include "base/clock.h"

/* A quiet API server sends a bookmark once a minute. No event announces it, so the deadline is
 * checked again. */
enum { HEARD_AGAIN_S = 10 };

/* A time in the future comes from a wrong clock, such as a kubelet's, and is ignored. */
static int64_t latest_s(const struct node_input *in, int64_t a_s, int64_t b_s)
{
    return b_s > a_s && !clock_is_ahead(b_s, in->now_s) ? b_s : a_s;
}

int64_t deadline_from_s(const struct node_input *in, int64_t since_s)
{
    int64_t from_s = latest_s(in, in->watched_since_s, since_s);
    from_s = latest_s(in, from_s, in->stays_since_s);
    return latest_s(in, from_s, in->view.node->up_since_s);
}

/* `from_s`: when the time began; `age_s`: how long nothing was heard. Requests a requeue if it is
 * not over. */
static bool deadline_passed(const struct node_pass *p, int64_t from_s, int64_t timeout_s,
                            int64_t age_s)
{
    int64_t now_s = p->in->now_s, lasted_s = now_s > from_s ? now_s - from_s : 0;
    if (lasted_s - age_s >= timeout_s)
        return true;
    actions_requeue(p->actions,
                    (lasted_s < timeout_s ? timeout_s - lasted_s : HEARD_AGAIN_S) * 1000);
    return false;
}

bool deadline_of_boot_is_over(const struct node_pass *p, int64_t since_s, int64_t timeout_s)
{
    return deadline_passed(p, latest_s(p->in, p->in->watched_since_s, since_s), timeout_s,
                           p->in->age_s);
}

bool deadline_is_over(const struct node_pass *p, int64_t since_s, int64_t timeout_s, bool of_proof)
{
    const struct node_input *in = p->in;
    int64_t age_s = of_proof && in->tasks_age_s > in->age_s ? in->tasks_age_s : in->age_s;
    return in->view.node->ready &&
           deadline_passed(p, deadline_from_s(in, since_s), timeout_s, age_s);
}
