/* `ostler cleanup`: deletes the policy if requested, and waits until the leading Ostler (without
 * one, this process) has removed everything. Last, it deletes what a cluster has only for
 * Ostler. */
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/engine/engine.h"
#include "controller/engine/engine_state.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"

enum {
    /* A lease that is not renewed expires after 15 s, the cluster lease after a minute. A lease
     * not acquired after this time has a live holder. */
    PATIENCE_MS = 20 * 1000,
    CLAIM_PATIENCE_MS = 75 * 1000,
    TICK_MS = 500,
    /* How often the cleanup logs what it waits for. */
    TELL_MS = 10 * 1000,
    ANSWER_MAX = 64 * 1024,
};

/* ---- ownership of the cluster */

/* Nothing is touched before the owner is known, or if it is another installation. */
static bool engine_cleanup_is_ours(const struct engine *en)
{
    return !en->cluster_lease || lease_is_leading(en->cluster_lease);
}

static bool is_anothers(const struct engine *en)
{
    return !engine_cleanup_is_ours(en) && lease_holder(en->cluster_lease) &&
           lease_is_renewed(en->cluster_lease);
}

/* One sentence that the caller frees. */
static char *why_not_ours(const struct engine *en)
{
    char *problem = engine_why_lease_fails((void *) en);
    if (problem)
        return problem;
    if (!engine_cleanup_is_ours(en) && lease_holder(en->cluster_lease))
        return xasprintf(
            "the Ostler in namespace %s managed this cluster last (Lease " CLUSTER_LEASE_NAMESPACE
            "/" CLUSTER_LEASE_NAME "), and may "
            "still run",
            lease_holder(en->cluster_lease));
    if (en->lease && lease_holder(en->lease))
        return xstrdup(
            "a running Ostler holds the lease: stop it first (helm uninstall, or scale it to 0)");
    return xstrdup("this Ostler does not hold the Lease yet");
}

/* ---- what is left */

static bool is_policy_going(const struct engine *en)
{
    return !en->cluster.object || object_is_deleting(en->cluster.object);
}

static size_t marked_nodes(const struct cluster *c)
{
    size_t n = 0;
    MAP_EACH (e, &c->slots) {
        const struct node *node = ((const struct node_slot *) e->value)->node;
        /* A node that is down is cleaned later, by the Ostler that runs when the node returns. */
        n += node && !node->deleting && node->ready && cluster_bears_ours(node);
    }
    return n;
}

/* The process that does the work knows from its passes; an observer checks that nothing is left. */
static bool is_clean(const struct engine *en)
{
    const struct cluster *c = &en->cluster;
    if (en->mode == ENGINE_WORKING)
        return en->reconcilers.cleaned && (!en->o.wishes.delete_policy || !c->object);
    return en->o.wishes.delete_policy && !c->object && !marked_nodes(c) && !policy_children(c);
}

/* ---- steps */

/* Only a policy that is being deleted: the operator's account may annotate no other. The watch
 * may not have reported the deletion yet. */
static bool wants_force(const struct engine *en)
{
    const json_t *policy = en->cluster.object;
    bool goes = policy &&
                (object_is_deleting(policy) || str_eq(object_uid(policy), en->cleanup.deleted));
    return en->o.wishes.force && goes && !object_annotation(policy, POLICY_FORCE_REMOVAL);
}

static struct request force(const struct engine *en)
{
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:s, s:{s:s}}}", "metadata", "uid",
                                           object_uid(en->cluster.object), "annotations",
                                           POLICY_FORCE_REMOVAL, "true");
    return request_merge_patch(RESOURCE_POLICY, NULL, POLICY_NAME, patch);
}

static bool wants_deletion(const struct engine *en)
{
    return en->o.wishes.delete_policy && !is_policy_going(en);
}

static bool wants_to_wait(const struct engine *en)
{
    return !is_clean(en);
}

/* This process may delete the leases when no other Ostler holds them. */
static bool wants_its_end(const struct engine *en)
{
    return en->o.wishes.delete_operator && en->lease && !lease_is_leading(en->lease);
}

enum {
    OWN = 1, /* concerns this installation: also runs if another one owns the cluster */
    /* waits for the deletion's end: otherwise a new installation's objects would vanish, too */
    TO_ITS_END = 2,
};

/* In this order, skipping unwanted steps. A step that neither deletes nor annotates waits. */
static const struct step {
    bool (*wanted)(const struct engine *en);
    size_t wish;               /* without `wanted`: the offset of a cleanup wish */
    enum resource_id resource; /* what it deletes; it annotates a policy with the name NULL */
    const char *name;          /* NULL: the operands' namespace */
    int flags;
    const char *step;
    const char *waiting; /* message during the step; NULL: what is left on nodes */
} steps[] = {
#define WISH(member) NULL, offsetof(struct cleanup_wishes, member)
#define WAIT RESOURCE_COUNT, NULL
    { wants_deletion, 0, RESOURCE_POLICY, POLICY_NAME, 0, "delete gpuclusterpolicy/" POLICY_NAME,
      NULL },
    { wants_force, 0, RESOURCE_POLICY, NULL, 0,
      "annotate gpuclusterpolicy/" POLICY_NAME " with " POLICY_FORCE_REMOVAL, NULL },
    { wants_to_wait, 0, WAIT, 0, "wait until nodes and objects are cleaned up", NULL },
    { WISH(delete_operator), RESOURCE_DEPLOYMENT, DEPLOYMENT_NAME, OWN,
      "delete Deployment " DEPLOYMENT_NAME, NULL },
    { wants_its_end, 0, WAIT, OWN, "wait until the previous Ostler has ended",
      "the previous Ostler still holds its lease" },
    { WISH(delete_namespace), RESOURCE_NAMESPACE, NULL, TO_ITS_END,
      "delete the operands' namespace", "the operands' namespace is being deleted" },
    { WISH(delete_crds), RESOURCE_CRD, CRD_POLICY, TO_ITS_END,
      "delete CustomResourceDefinition " CRD_POLICY, CRD_POLICY " is being deleted" },
    { WISH(delete_crds), RESOURCE_CRD, CRD_GPU_NODE, TO_ITS_END,
      "delete CustomResourceDefinition " CRD_GPU_NODE, CRD_GPU_NODE " is being deleted" },
#undef WISH
#undef WAIT
};

static bool step_waits(size_t step)
{
    return steps[step].resource == RESOURCE_COUNT;
}

/* The request of a step that does not wait. */
static struct request request_of(const struct engine *en, const struct step *s)
{
    const char *ns = s->resource == RESOURCE_DEPLOYMENT ? en->o.lease_namespace : NULL;
    if (s->resource != RESOURCE_POLICY)
        return request_delete(s->resource, ns, s->name ? s->name : en->o.cluster.operand_namespace,
                              NULL, 0);
    if (!s->name)
        return force(en);
    return request_delete(RESOURCE_POLICY, NULL, s->name, object_uid(en->cluster.object), 0);
}

/* Whether the step must still run. */
static bool engine_cleanup_is_wanted(const struct engine *en, size_t step)
{
    const struct step *s = &steps[step];
    bool wanted = s->wanted ? s->wanted(en)
                            : *(const bool *) ((const char *) &en->o.wishes + s->wish);
    return ((s->flags & OWN) || !en->cleanup.leaves) && wanted;
}

/* One sentence that the caller frees. */
static char *what_is_left(const struct engine *en)
{
    const struct cluster *c = &en->cluster;
    const char *waiting = en->cleanup.step < ARRAY_LEN(steps) ? steps[en->cleanup.step].waiting
                                                              : NULL;
    if (waiting)
        return xstrdup(waiting);
    if (!engine_cleanup_is_ours(en))
        return why_not_ours(en);
    char *problem = en->leading ? NULL : engine_why_lease_fails((void *) en);
    problem = problem ? problem : engine_why_watches_fail((void *) en);
    if (problem)
        return problem;
    const json_t *ready = condition_of(c->object, "Ready");
    if (c->object && *json_str_or_empty(ready, "message"))
        return xstrdup(json_str(ready, "message"));
    return xasprintf(
        "nodes with labels, annotations or taints of Ostler: %zu; objects of Ostler: %zu%s",
        marked_nodes(c), policy_children(c), c->object ? "; and the policy" : "");
}

static void engine_cleanup_look_now(struct engine *en);

static void engine_cleanup_give_up(struct engine *en, const char *why_steal)
{
    CLEANUP_FREE char *why = (char *) why_steal;
    log_error("cannot clean up", "err", why);
    engine_stop(en, 1);
}

static void engine_cleanup_on_reply(void *arg, struct reply *reply)
{
    struct engine *en = arg;
    struct cleanup *cl = &en->cleanup;
    const struct err *e = &reply->err;
    const char *step = steps[cl->step].step;
    if (e->kind == ERR_NOT_FOUND ||
        (e->kind == ERR_NONE && !(steps[cl->step].flags & TO_ITS_END))) {
        log_info("done", "step", step);
        cl->step++;
        engine_cleanup_look_now(en);
    } else if (e->kind == ERR_FORBIDDEN || e->kind == ERR_INVALID) {
        engine_cleanup_give_up(en, xasprintf("cannot %s: %s", step, err_msg(e)));
    } else if (e->kind != ERR_NONE && e->kind != ERR_CONFLICT) {
        log_warn("failed: trying again", "step", step, "err", err_msg(e));
    }
}

/* The policy exists again after its deletion, or where none was: its author would recreate it
 * after each deletion. */
static bool is_made_again(const struct engine *en)
{
    const struct cleanup *cl = &en->cleanup;
    bool waits = cl->step < ARRAY_LEN(steps) && step_waits(cl->step);
    return waits && en->o.wishes.delete_policy && !cl->leaves && !is_policy_going(en) &&
           !str_eq(object_uid(en->cluster.object), cl->deleted);
}

/* Runs as many steps as possible now. */
static void engine_cleanup_look_now(struct engine *en)
{
    struct cleanup *cl = &en->cleanup;
    if (cl->exchange.id || en->stopping || !(engine_cleanup_is_ours(en) || cl->leaves) ||
        !cluster_synced(&en->cluster))
        return;
    while (cl->step < ARRAY_LEN(steps) && !engine_cleanup_is_wanted(en, cl->step))
        cl->step++;
    if (is_made_again(en))
        engine_cleanup_give_up(
            en,
            xstrdup("the policy was created again (by Argo CD or Flux?): remove it there first"));
    else if (cl->step == ARRAY_LEN(steps)) {
        log_info("clean", "message",
                 cl->leaves ? "nothing of this installation is left"
                            : "nothing of Ostler is left in the cluster");
        engine_stop(en, 0);
    } else if (!step_waits(cl->step)) {
        struct request request = request_of(en, &steps[cl->step]);
        if (request_deletes(&request) && request.resource == RESOURCE_POLICY)
            xstrset(&cl->deleted, object_uid(en->cluster.object));
        exchange_send(&cl->exchange, request);
    }
}

/* Another installation owns the cluster, the policy and everything from it. A release that is
 * being deleted has nothing left to clean up; a cleanup that was requested explicitly fails. */
static void engine_cleanup_leave(struct engine *en)
{
    char *why = xasprintf(
        "the Ostler in namespace %s manages this cluster (Lease " CLUSTER_LEASE_NAMESPACE
        "/" CLUSTER_LEASE_NAME "): the "
        "policy and the objects of that Ostler are not changed",
        lease_holder(en->cluster_lease));
    if (!en->o.wishes.delete_policy) {
        engine_cleanup_give_up(en, why);
        return;
    }
    log_info("nothing to clean up", "message", why);
    free(why);
    en->cleanup.leaves = true;
    if (!en->o.wishes.delete_operator)
        engine_stop(en, 0);
}

static const char *who_works(const struct engine *en)
{
    return en->leading                                             ? "this process"
           : lease_holder(en->lease) && engine_cleanup_is_ours(en) ? "the Ostler that leads"
                                                                   : "no process yet";
}

/* Logs regularly what the cleanup waits for, and gives up at the timeout. */
static void engine_cleanup_log(struct engine *en)
{
    struct cleanup *cl = &en->cleanup;
    int64_t now = loop_now(en->o.loop), timeout_ms = en->o.wishes.timeout_ms;
    bool foreign = !engine_cleanup_is_ours(en) && lease_holder(en->cluster_lease);
    int64_t patience_ms = foreign ? CLAIM_PATIENCE_MS : PATIENCE_MS;
    if (is_anothers(en) && !cl->leaves) {
        engine_cleanup_leave(en);
    } else if (timeout_ms && now >= cl->began_ms + timeout_ms) {
        CLEANUP_FREE char *left = what_is_left(en);
        engine_cleanup_give_up(
            en, xasprintf("not done after %lld s: %s", (long long) timeout_ms / 1000, left));
    } else if (!en->leading && !en->o.wishes.delete_policy && now >= cl->began_ms + patience_ms) {
        engine_cleanup_give_up(en, why_not_ours(en));
    } else if (now >= cl->told_ms + TELL_MS) {
        CLEANUP_FREE char *left = what_is_left(en);
        cl->told_ms = now;
        log_info("waiting", "by", who_works(en), "message", left);
    }
}

static void on_tick(void *arg)
{
    struct engine *en = arg;
    engine_cleanup_look_now(en);
    if (!en->stopping)
        engine_cleanup_log(en);
    if (!en->stopping)
        loop_timer_set(en->o.loop, &en->cleanup.tick, loop_now(en->o.loop) + TICK_MS);
}

void engine_cleanup_init(struct engine *en)
{
    struct cleanup *cl = &en->cleanup;
    /* Only errors, which are short, are read: the response to a deletion may be the whole
     * object. */
    cl->exchange = (struct exchange){ .transport = en->o.transport,
                                      .done = engine_cleanup_on_reply,
                                      .arg = en,
                                      .body = BUF_INIT(ANSWER_MAX),
                                      .loses = true };
    cl->tick = (struct timer){ .fn = on_tick, .arg = en };
    cl->began_ms = cl->told_ms = loop_now(en->o.loop);
    if (en->o.cleanup)
        loop_timer_set(en->o.loop, &cl->tick, cl->began_ms + TICK_MS);
}

void engine_cleanup_look(struct engine *en)
{
    if (en->o.cleanup)
        engine_cleanup_look_now(en);
}

void engine_cleanup_clear(struct engine *en)
{
    exchange_cancel(&en->cleanup.exchange);
    loop_timer_cancel(en->o.loop, &en->cleanup.tick);
    free(TAKE(en->cleanup.deleted));
}
