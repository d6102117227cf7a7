/* Checks of upgrades: who is asked to leave, and when a node's driver may be changed. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "tests/sweep/checks.h"

bool check_is_closed(const json_t *node)
{
    size_t i;
    json_t *taint;
    json_array_foreach (json_at(node, "spec.taints"), i, taint)
        if (str_eq(json_str(taint, "key"), TAINT_UPGRADE) && str_eq(json_str(taint, "effect"), CLAIM_TAINT_EFFECT))
            return true;
    return false;
}

bool check_claim_of(const json_t *node, struct claim *ret)
{
    const char *text = object_annotation(node, ANNOTATION_CLAIM);
    return text && check_is_closed(node) && claim_parse(text, ret, NULL);
}

static bool uses_gpu(const json_t *pod)
{
    size_t i;
    json_t *container, *value;
    const char *key;
    json_array_foreach (json_at(pod, "spec.containers"), i, container)
        json_object_foreach (json_at(container, "resources.limits"), key, value)
            if (str_has_prefix(key, RESOURCE_PREFIX))
                return true;
    return false;
}

void check_eviction(struct invariants *v, const struct api_commit *c)
{
    const json_t *pod = c->before;
    struct claim claim;
    if (!check_is_kind(c->kind, "pods"))
        return;
    check_tried(v, INVARIANT_S4_EVICTION);
    const json_t *node = pod ? api_get(v->run->api, kind_named("nodes"), NULL, json_str_or_empty(pod, "spec.nodeName")) : NULL;
    if (node && check_is_recent(v, node))
        return;
    if (!pod || !uses_gpu(pod) || !node || !check_claim_of(node, &claim) || claim.phase != CLAIM_DRAINING)
        check_failed(v, INVARIANT_S4_EVICTION, "%s/%s", object_namespace(pod ? pod : c->after), object_name(pod ? pod : c->after));
}

/* Whether a node's claim says that it is closed. */
static bool claims(const json_t *node)
{
    const char *text = object_annotation(node, ANNOTATION_CLAIM);
    struct claim claim;
    return text && claim_parse(text, &claim, NULL) && claim_closes(&claim);
}

void check_closed(struct invariants *v, const struct api_commit *c)
{
    if (!check_is_kind(c->kind, "nodes") || !c->before || !c->after || claims(c->before) == claims(c->after))
        return;
    check_tried(v, INVARIANT_S3_CLOSED);
    if (check_is_closed(c->after) != claims(c->after))
        check_failed(v, INVARIANT_S3_CLOSED, "%s", object_name(c->after));
}

/* A driver that comes for the first time, or goes with the policy or at a person's wish, needs no claim; nor does one that somebody had changed by hand. */
void check_claimed(struct invariants *v, const struct api_commit *c)
{
    const char *was = object_label(c->before, LABEL_DRIVER), *is = object_label(c->after, LABEL_DRIVER);
    const json_t *policy = check_policy(v);
    struct claim claim;
    if (!check_is_kind(c->kind, "nodes") || !was || str_eq(was, is) || !policy || object_is_deleting(policy) ||
        object_label(c->after, LABEL_MANAGED))
        return;
    check_tried(v, INVARIANT_S3_CLAIMED);
    bool claimed = check_claim_of(c->before, &claim) && claim_phase_has_slot(claim.phase);
    if (!claimed && is)
        check_failed(v, INVARIANT_S3_CLAIMED, "%s: %s to %s", object_name(c->after), was, is);
}
