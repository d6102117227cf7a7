/* Checks of who is taken out of service: how many at a time, for which revision, and by which
 * means. Counted on the server's own state. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/names.h"
#include "tests/sweep/checks.h"

/* What others did to a node so lately counts either way: Ostler may not have heard of it. */
enum { RECENT_MS = 60 * 1000 };

/* ---- what is read of a node */

static bool is_up(const json_t *node)
{
    return str_eq(check_condition(node, "Ready"), "True");
}

static bool is_cordoned(const json_t *node)
{
    return json_bool(node, "spec.unschedulable", false);
}

bool check_keeps_place(const json_t *node, const struct reading_claim *claim)
{
    return reading_has_place(claim) && (is_up(node) || strcmp(claim->phase, "Rebooting") == 0);
}

/* Whether others have it out of service, or a fault of its GPUs has. */
static bool is_out(const json_t *node)
{
    return !is_up(node) || is_cordoned(node) || check_is_unhealthy(node);
}

bool check_is_recent(const struct invariants *v, const char *node)
{
    int64_t at_ms = check_noted(&v->services, node);
    return at_ms >= 0 && v->run->sim.now_ms - at_ms < RECENT_MS;
}

void check_budget_commit(struct invariants *v, const struct api_commit *c)
{
    if (!check_is_kind(c->kind, "nodes"))
        return;
    bool theirs = !str_eq(c->user, OSTLER_USER) && c->before && c->after &&
                  (reading_is_closed(c->before) != reading_is_closed(c->after) ||
                   !str_eq(object_annotation(c->before, ANNOTATION_CLAIM),
                           object_annotation(c->after, ANNOTATION_CLAIM)));
    if (theirs || !c->before || !c->after || is_up(c->before) != is_up(c->after) ||
        is_cordoned(c->before) != is_cordoned(c->after))
        check_note(v, &v->services, object_name(c->after ? c->after : c->before));
}

/* ---- what a write takes out of service */

/* The claim of a node that is closed as well. */
static bool closing_claim(const json_t *node, struct reading_claim *ret)
{
    return reading_is_closed(node) && reading_claim(node, ret);
}

static bool is_failed(const struct reading_claim *c)
{
    return str_eq(c->phase, "Failed");
}

/* A repair that only waits on a node that is closed for its fault: the closing has the place. */
static bool only_waits(const json_t *node, const struct reading_claim *c)
{
    return str_eq(c->kind, "Repair") && str_eq(c->phase, "Waiting") && check_is_unhealthy(node);
}

/* A node that fails goes out of the count, and comes back into it when it is tried again. A claim
 * that a node gets because another client removed the one before, or because its policy is gone,
 * closes nothing that was open: that is not asked. */
bool check_is_taking(const struct invariants *v, const struct api_commit *c, struct taking *ret)
{
    struct reading_claim before;
    *ret = (struct taking){ 0 };
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after ||
        !closing_claim(c->after, &ret->claim))
        return false;
    bool had = closing_claim(c->before, &before), closed = had && !is_failed(&before);
    if (had && !str_eq(before.policy, ret->claim.policy))
        return false;
    if (!had && (reading_is_closed(c->before) || check_is_recent(v, object_name(c->before))))
        return false;
    ret->was_ours = closed && !only_waits(c->before, &before);
    ret->was_out = had || is_out(c->before);
    ret->begins = reading_has_place(&ret->claim) && !(closed && reading_has_place(&before));
    return !is_failed(&ret->claim) && (!closed || ret->begins);
}

const json_t *check_policy_of(const struct invariants *v, const struct reading_claim *claim)
{
    const json_t *policy = check_policy(v);
    bool same = policy && str_eq(object_uid(policy), claim->policy) &&
                object_generation(policy) == claim->generation;
    return same ? policy : NULL;
}

/* ---- S1 */

struct tally_of_nodes {
    size_t all, ours, out, begun;
    size_t unhealthy;                /* closed for a fault */
    size_t gpus, our_gpus, out_gpus; /* the same, counted in GPUs */
};

/* What its kubelet offers, or did when the node was claimed: while its driver is off it offers
 * none. */
static size_t gpus_of(const json_t *node, const struct reading_claim *claim)
{
    size_t gpus = 0;
    const char *key;
    json_t *value;
    json_object_foreach (json_at(node, "status.allocatable"), key, value)
        if (check_is_gpu(key))
            gpus += (size_t) strtoul(str_or_empty(json_string_value(value)), NULL, 10);
    return claim && (size_t) claim->gpus > gpus ? (size_t) claim->gpus : gpus;
}

static void count_gpus(struct tally_of_nodes *n, size_t gpus, bool ours, bool out)
{
    n->gpus += gpus;
    n->our_gpus += ours ? gpus : 0;
    n->out_gpus += out ? gpus : 0;
}

static struct tally_of_nodes count(const struct invariants *v)
{
    const struct kind *nodes = kind_named("nodes");
    struct tally_of_nodes n = { 0 };
    for (size_t i = 0; i < api_count(v->run->api, nodes); i++) {
        const json_t *node = api_at(v->run->api, nodes, i);
        struct reading_claim claim;
        bool claimed = closing_claim(node, &claim),
             ours = claimed && !is_failed(&claim) && !only_waits(node, &claim);
        bool recent = check_is_recent(v, object_name(node));
        bool out = ours || (object_label(node, LABEL_STACK) && is_out(node) && !recent);
        n.unhealthy += check_is_unhealthy(node);
        n.all += object_label(node, LABEL_GPU_PRESENT) != NULL;
        n.ours += ours;
        n.out += out;
        count_gpus(&n, gpus_of(node, claimed ? &claim : NULL), ours, out);
        n.begun += ours && check_keeps_place(node, &claim) && !recent;
    }
    return n;
}

/* Which of both it is about. */
static enum invariant_id budget_of(const struct tally_of_nodes *n)
{
    return n->unhealthy ? INVARIANT_H8_BUDGET : INVARIANT_S1_BUDGET;
}

static void check_line(struct invariants *v, const struct tally_of_nodes *n, size_t max,
                       size_t used, const char *what, const json_t *node)
{
    if (used > max)
        check_failed(v, budget_of(n), "with %s %zu nodes %s, and %zu may", object_name(node), used,
                     what, max);
}

/* A node with more GPUs than may be out of service goes alone. */
static void check_gpus(struct invariants *v, size_t max, const struct tally_of_nodes *n,
                       const struct taking *t, const json_t *node)
{
    size_t used = t->was_out ? n->our_gpus : n->out_gpus, own = gpus_of(node, &t->claim);
    if (used > max && used > own)
        check_failed(v, budget_of(n), "with the %zu of %s %zu GPUs are out of service, and %zu may",
                     own, object_name(node), used, max);
}

void check_budget(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    const json_t *policy = check_is_taking(v, c, &t) ? check_policy_of(v, &t.claim) : NULL;
    if (!policy)
        return;
    struct tally_of_nodes n = count(v);
    check_tried(v, INVARIANT_S1_BUDGET);
    if (n.unhealthy)
        check_tried(v, INVARIANT_H8_BUDGET);
    if (!t.was_ours)
        check_line(v, &n, reading_limit(policy, "maxUnavailable", n.all),
                   t.was_out ? n.ours : n.out, "are out of service", c->after);
    if (!t.was_ours)
        check_gpus(v, reading_limit(policy, "maxUnavailableGpus", n.gpus), &n, &t, c->after);
    if (t.begins)
        check_line(v, &n, reading_limit(policy, "maxParallel", n.all), n.begun, "are being changed",
                   c->after);
}

/* ---- S2 */

void check_cordon(struct invariants *v, const struct api_commit *c)
{
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after)
        return;
    check_tried(v, INVARIANT_S2_CORDON);
    if (is_cordoned(c->before) != is_cordoned(c->after))
        check_failed(v, INVARIANT_S2_CORDON, "%s", object_name(c->after));
}

/* ---- S11 */

static bool has_failed(const struct invariants *v, const char *tier, const char *hash,
                       const char *pool)
{
    CLEANUP_FREE char *name = xasprintf("%s-%s", tier, hash);
    CLEANUP_FREE char *key = xasprintf(ANNOTATION_FAILED "%s", pool);
    const json_t *record = api_get(v->run->api, kind_named("controllerrevisions"),
                                   OPERAND_NAMESPACE, name);
    const char *failed = record ? object_annotation(record, key) : NULL;
    return failed && *failed; /* it is emptied before it goes: the revision is tried again */
}

void check_failed_revision(struct invariants *v, const struct api_commit *c)
{
    struct taking t;
    const json_t *policy = check_is_taking(v, c, &t) ? check_policy_of(v, &t.claim) : NULL;
    if (!policy || !str_eq(t.claim.kind, "Upgrade"))
        return;
    bool driver = !str_eq(t.claim.driver, t.claim.from_driver);
    const char *tier = driver ? "driver" : "stack", *hash = driver ? t.claim.driver : t.claim.stack;
    check_tried(v, INVARIANT_S11_FAILED);
    if (has_failed(v, tier, hash, reading_pool(policy, c->after)))
        check_failed(v, INVARIANT_S11_FAILED, "%s: %s-%s", object_name(c->after), tier, hash);
}
