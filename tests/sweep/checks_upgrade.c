/* Checks of upgrades: who is asked to leave, and when a node's driver may be changed. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "tests/sweep/checks.h"

/* By its value where the policy gives it another key (rollout.taintKey). */
static bool is_of_upgrade(const json_t *taint)
{
    const char *value = json_str(taint, "value");
    return str_eq(json_str(taint, "key"), TAINT_UPGRADE) || str_eq(value, "Upgrade") ||
           str_eq(value, "Rollback") || str_eq(value, "Repair");
}

bool check_is_closed(const json_t *node)
{
    size_t i;
    json_t *taint;
    json_array_foreach (json_at(node, "spec.taints"), i, taint)
        if (is_of_upgrade(taint) && str_eq(json_str(taint, "effect"), "NoSchedule"))
            return true;
    return false;
}

bool check_claim_of(const json_t *node, struct reading_claim *ret)
{
    return check_is_closed(node) && reading_claim(node, ret);
}

/* Whole ones, shares of them, and slices; NVIDIA has plugins for network cards, too. */
bool check_is_gpu(const char *resource)
{
    return str_eq(resource, RESOURCE_GPU) || str_eq(resource, RESOURCE_GPU ".shared") ||
           str_has_prefix(resource, RESOURCE_MIG);
}

static bool uses_gpu(const json_t *pod)
{
    size_t i;
    json_t *container, *value;
    const char *key;
    json_array_foreach (json_at(pod, "spec.containers"), i, container)
        json_object_foreach (json_at(container, "resources.limits"), key, value)
            if (check_is_gpu(key))
                return true;
    return false;
}

/* One-off pods that Ostler makes itself. */
static bool is_task(const json_t *pod)
{
    return object_label(pod, LABEL_TASK) && str_eq(object_label(pod, LABEL_MANAGED_BY), MANAGED_BY);
}

/* Whether the policy wants pods to leave that use no GPU, too. */
static bool wants_all(const struct invariants *v)
{
    return str_eq(json_str(check_policy(v), "spec.rollout.drain.mode"), "AllPods");
}

/* The agent on its node says that it has a GPU open. */
static bool is_named(const struct invariants *v, const json_t *pod)
{
    const json_t *report = api_get(v->run->api, kind_named("gpunodes"), NULL,
                                   json_str_or_empty(pod, "spec.nodeName"));
    return json_find(json_at(report, "status.inventory.holders"), "podUid", object_uid(pod)) !=
           NULL;
}

/* Neither comes back anywhere else. Ostler does not ask a static pod to leave, whatever the agent
 * reports. */
static bool is_of_the_node(const struct invariants *v, const json_t *pod)
{
    const char *kind = json_str(object_controller(pod), "kind");
    return !uses_gpu(pod) &&
           ((str_eq(kind, "DaemonSet") && !is_named(v, pod)) || str_eq(kind, "Node"));
}

/* A claim of this node may ask this pod to leave. Before a reboot by a pod, a repair asks all. */
static bool may_ask(const struct invariants *v, const json_t *pod, const struct reading_claim *c)
{
    bool asked = uses_gpu(pod) || wants_all(v) || is_named(v, pod),
         reboots = str_eq(c->kind, "Repair") &&
                   str_eq(json_str(check_policy(v), "spec.health.reboot"), "Pod") &&
                   (str_eq(c->phase, "Draining") || str_eq(c->phase, "Unloading") ||
                    str_eq(c->phase, "Resetting") || str_eq(c->phase, "Rebooting"));
    return (asked && str_eq(c->phase, "Draining")) || reboots;
}

void check_eviction(struct invariants *v, const struct api_commit *c)
{
    const json_t *pod = c->before;
    struct reading_claim claim;
    if (!check_is_kind(c->kind, "pods") || is_task(pod ? pod : c->after))
        return;
    check_tried(v, INVARIANT_S4_EVICTION);
    const char *name = json_str_or_empty(pod, "spec.nodeName");
    const json_t *node = api_get(v->run->api, kind_named("nodes"), NULL, name);
    /* The node may have gone, or another one of its name may have come, while the request was on
     * its way. */
    if (check_is_recent(v, name))
        return;
    bool leaves = pod && !is_of_the_node(v, pod) && node && check_claim_of(node, &claim) &&
                  may_ask(v, pod, &claim);
    if (!leaves)
        check_failed(v, INVARIANT_S4_EVICTION, "%s/%s", object_namespace(pod ? pod : c->after),
                     object_name(pod ? pod : c->after));
}

/* The steps that docs/ARCHITECTURE.md has in its table; "": no claim. */
static const struct {
    const char *from, *to;
} steps[] = {
    { "", "Waiting" },
    { "", "Draining" },
    { "", "Unloading" },
    { "Waiting", "Draining" },
    { "Waiting", "Unloading" },
    { "Waiting", "" },
    { "Draining", "Waiting" },
    { "Draining", "Unloading" },
    { "Draining", "Failed" },
    { "Draining", "" },
    { "Unloading", "Draining" },
    { "Unloading", "Resetting" },
    { "Unloading", "Rebooting" },
    { "Unloading", "Installing" },
    { "Unloading", "Failed" },
    { "Unloading", "" },
    { "Unloading", "Resetting" },
    { "Unloading", "Rebooting" },
    { "Resetting", "Rebooting" },
    { "Resetting", "Installing" },
    { "Resetting", "Failed" },
    { "Resetting", "" },
    { "Rebooting", "Installing" },
    { "Rebooting", "Failed" },
    { "Rebooting", "" },
    { "Installing", "Validating" },
    { "Installing", "Unloading" },
    { "Installing", "Failed" },
    { "Installing", "" },
    { "Validating", "Unloading" },
    { "Validating", "Failed" },
    { "Validating", "" },
    { "Failed", "Waiting" },
    { "Failed", "Draining" },
    { "Failed", "Unloading" },
    { "Failed", "" },
};

static bool step_exists(const char *from, const char *to)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (str_eq(steps[i].from, from) && str_eq(steps[i].to, to))
            return true;
    return false;
}

/* "" without a claim. False: another client wrote an invalid one. */
static bool phase_of(const json_t *node, struct reading_claim *ret)
{
    *ret = (struct reading_claim){ 0 };
    return reading_claim(node, ret) || !object_annotation(node, ANNOTATION_CLAIM);
}

void check_steps(struct invariants *v, const struct api_commit *c)
{
    struct reading_claim from, to;
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after ||
        !phase_of(c->before, &from) || !phase_of(c->after, &to) || str_eq(from.phase, to.phase))
        return;
    check_tried(v, INVARIANT_S3_STEPS);
    if (!step_exists(from.phase, to.phase))
        check_failed(v, INVARIANT_S3_STEPS, "%s, from \"%s\" to \"%s\"", object_name(c->after),
                     from.phase, to.phase);
}

/* Whether a node's claim says that it is closed. */
static bool claims(const json_t *node)
{
    struct reading_claim claim;
    return reading_claim(node, &claim) && reading_closes(&claim);
}

void check_closed(struct invariants *v, const struct api_commit *c)
{
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after ||
        claims(c->before) == claims(c->after))
        return;
    check_tried(v, INVARIANT_S3_CLOSED);
    if (check_is_closed(c->after) != claims(c->after))
        check_failed(v, INVARIANT_S3_CLOSED, "%s", object_name(c->after));
}

/* Whether a label of a driver names one that Ostler has made. */
static bool names_a_driver(const struct invariants *v, const char *hash)
{
    CLEANUP_FREE char *name = xasprintf("driver-%s", hash);
    return api_get(v->run->api, kind_named("controllerrevisions"), OPERAND_NAMESPACE, name) != NULL;
}

/* Whether a driver's pod of another revision is on the node. */
static bool runs_another(const struct invariants *v, const char *node, const char *hash)
{
    const struct kind *pods = kind_named("pods");
    for (size_t i = 0; i < api_count(v->run->api, pods); i++) {
        const json_t *pod = api_at(v->run->api, pods, i);
        if (str_eq(json_str(pod, "spec.nodeName"), node) &&
            str_eq(object_namespace(pod), OPERAND_NAMESPACE) &&
            str_eq(object_label(pod, LABEL_COMPONENT), operand_name(OPERAND_DRIVER)) &&
            !str_eq(object_label(pod, LABEL_REVISION), hash))
            return true;
    }
    return false;
}

/* A driver that comes for the first time, or goes with the policy or at a user's wish, needs no
 * claim. Nor does the repair of an invalid label that a user wrote, where no driver would leave for
 * it. */
void check_claimed(struct invariants *v, const struct api_commit *c)
{
    const char *was = object_label(c->before, LABEL_DRIVER),
               *is = object_label(c->after, LABEL_DRIVER);
    const json_t *policy = check_policy(v);
    struct reading_claim claim;
    if (!check_is_kind(c->kind, "nodes") || !was || str_eq(was, is) || !policy ||
        object_is_deleting(policy) || object_label(c->after, LABEL_MANAGED))
        return;
    check_tried(v, INVARIANT_S3_CLAIMED);
    bool claimed = check_claim_of(c->before, &claim) && reading_has_place(&claim);
    if (!claimed && is && (names_a_driver(v, was) || runs_another(v, object_name(c->after), is)))
        check_failed(v, INVARIANT_S3_CLAIMED, "%s: %s to %s", object_name(c->after), was, is);
}
