#include "reconcilers/decide/owner.h"

#include "base/str.h"
#include "reconcilers/model/foreign.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/pod.h"
#include "reconcilers/decide/marks.h"

const char *owner_seen_by(const struct node_pods *p, struct arena *a)
{
    return p->foreign_pod ? arena_printf(a, "pod %s", p->foreign_pod)
                          : arena_printf(a, "ResourceSlice %s", p->foreign_slice);
}

static bool is_taken(const struct node_input *in)
{
    return str_eq(node_label(&in->view, LABEL_MANAGED), "true") || node_is_assigned(&in->view) ||
           node_label(&in->view, LABEL_REMOVAL) || in->pods->of[OPERAND_DEVICE_PLUGIN].present ||
           marks_closed(&in->view);
}

static struct owner others(const struct node_pass *p, const char *who, const char *remedy)
{
    const char *name = p->in->view.node->head.key;
    if (!remedy)
        remedy = arena_printf(
            p->a, "remove that and run: kubectl label node %s " LABEL_MANAGED "=true", name);
    return (struct owner){
        .kind = OWNER_OTHERS,
        .message = arena_printf(
            p->a, "node %s is served by another GPU stack: %s. To hand it to Ostler, %s", name, who,
            remedy)
    };
}

/* A DaemonSet in kube-system comes from the cluster's operator. Elsewhere a user may create one,
 * which delays a node only for the given time. */
static struct owner coming(const struct node_pass *p)
{
    const struct foreign *f = p->in->foreign;
    if (f->of_cluster)
        return others(p, arena_printf(p->a, "%s (DaemonSet %s)", f->sign->sentence, f->head.key),
                      f->sign->remedy);
    int64_t left_s = p->in->discovered_since_s + OWNER_SETTLES_S - p->in->now_s;
    if (left_s <= 0)
        return (struct owner){ .kind = OWNER_OSTLER };
    return (struct owner){ .kind = OWNER_NOT_KNOWN,
                           .message = arena_printf(p->a,
                                                   "DaemonSet %s would serve node %s: Ostler waits "
                                                   "%d s for its pod before it takes the node",
                                                   f->head.key, p->in->view.node->head.key,
                                                   OWNER_SETTLES_S),
                           .again_ms = left_s * 1000 };
}

/* Whether it would serve the same as Ostler. */
static bool is_beside(const struct sign *sign, const struct policy_pool *pool)
{
    return sign && !(sign->place == SIGN_CLAIMS && !policy_pool_runs(pool, OPERAND_DEVICE_PLUGIN));
}

struct owner owner_of_node(const struct node_pass *p, const struct node_facts *facts)
{
    const struct node_input *in = p->in;
    const struct node_pods *pods = in->pods;
    const struct policy_pool *pool = &in->policy->pools[p->v->pool];
    /* On a node that is only watched, no operand of Ostler's conflicts with another stack. */
    if (pool->only_watched || is_taken(in))
        return (struct owner){ .kind = OWNER_OSTLER };
    const struct sign *sign = detect_foreign_node(facts);
    if (sign)
        return others(p, sign->sentence, sign->remedy);
    if (is_beside(pods->foreign, pool))
        return others(
            p, arena_printf(p->a, "%s (%s)", pods->foreign->sentence, owner_seen_by(pods, p->a)),
            pods->foreign->remedy);
    if (in->view.node->gpus > 0)
        return others(
            p,
            arena_printf(p->a, "it can allocate %s already, and not from Ostler's device plugin",
                         vendors[in->view.node->vendor].resource),
            NULL);
    return in->foreign && is_beside(in->foreign->sign, pool)
               ? coming(p)
               : (struct owner){ .kind = OWNER_OSTLER };
}
