#include "reconcilers/view/edit.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/view/snapshot.h"
#include "reconcilers/model/claim.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"

void edit_clear(struct edit *d)
{
    json_decref(d->patch);
    free(d->said);
    free(d->undo);
    free(d->warning);
    *d = (struct edit){ 0 };
}

/* A patch that is restricted to this object and version. */
static json_t *guarded(const json_t *object)
{
    return json_pack("{s:{s:s, s:s}}", "metadata", "uid", object_uid(object), "resourceVersion",
                     json_str_or_empty(object, "metadata.resourceVersion"));
}

json_t *edit_mark(const json_t *object, const char *where, const char *key, const char *value)
{
    json_t *patch = guarded(object), *marks = json_object();
    json_object_set_new(marks, key, value ? json_text(value) : json_null());
    json_object_set_new(json_object_get(patch, "metadata"), where, marks);
    return patch;
}

/* ---- the rollout */

static json_t *patch_of_paused(const json_t *policy, json_t *value_steal)
{
    json_t *patch = guarded(policy);
    json_object_set_new(patch, "spec", json_pack("{s:{s:o}}", "rollout", "paused", value_steal));
    return patch;
}

void edit_pause(const json_t *policy, struct edit *ret)
{
    int64_t active = json_int(policy, "status.rollout.active", 0),
            pending = json_int(policy, "status.rollout.pending", 0);
    int64_t waiting = json_int(policy, "status.rollout.waiting", 0);
    *ret = (struct edit){ .warning = snapshot_keeper(policy) };
    if (json_bool(policy, "spec.rollout.paused", false)) {
        ret->said = xstrdup("the rollout is paused already; nothing was changed");
        return;
    }
    ret->patch = patch_of_paused(policy, json_true());
    CLEANUP_FREE char *going = active ? xasprintf("%lld under way will finish", (long long) active)
                                      : xstrdup("none is under way");
    CLEANUP_FREE char *closed =
        waiting
            ? xasprintf("; %lld are tainted and wait for their jobs until the rollout is resumed: "
                        "hold them to return them to service",
                        (long long) waiting)
            : xstrdup("");
    ret->said = xasprintf("paused: no further upgrade starts (%lld have not started); %s%s",
                          (long long) pending, going, closed);
    ret->undo = xstrdup("kubectl gpu resume");
}

void edit_resume(const json_t *policy, struct edit *ret)
{
    *ret = (struct edit){ .warning = snapshot_keeper(policy) };
    if (!json_bool(policy, "spec.rollout.paused", false)) {
        ret->said = xstrdup("the rollout is not paused; nothing was changed");
        return;
    }
    /* Removes the field and empty parents instead of setting false, so that the policy is the
     * same as before the pause. */
    ret->patch = patch_of_paused(policy, json_null());
    if (json_object_size(json_at(policy, "spec.rollout")) == 1)
        json_set_at(ret->patch, "spec.rollout", json_null());
    ret->said = xasprintf("resumed: upgrades may start again (%lld have not started)",
                          (long long) json_int(policy, "status.rollout.pending", 0));
    ret->undo = xstrdup("kubectl gpu pause");
}

int edit_approve(const json_t *policy, const char *hash, struct edit *ret, struct err *e)
{
    const char *there = json_str(policy, "status.rollout.plan.hash"),
               *approved = object_annotation(policy, POLICY_APPROVED);
    bool manual = str_eq(json_str(policy, "spec.rollout.approval"), "Manual");
    *ret = (struct edit){ 0 };
    if (!manual)
        return err_set(e, ERR_INVALID,
                       "spec.rollout.approval is not Manual: no plan waits for approval");
    if (!there)
        return err_set(e, ERR_INVALID,
                       "there is no plan: every node runs what the policy says, or Ostler has not "
                       "planned yet");
    if (json_int(policy, "status.observedGeneration", -1) != object_generation(policy))
        return err_set(e, ERR_INVALID,
                       "Ostler has not seen the policy's last change yet, so the plan is stale: "
                       "wait for it in kubectl gpu status, then approve");
    if (hash && !str_eq(hash, there))
        return err_set(e, ERR_INVALID,
                       "the plan is %s, not %s: see kubectl gpu plan, and approve that one", there,
                       hash);
    if (str_eq(approved, there)) {
        ret->said = xasprintf("plan %s is approved already; nothing was changed", there);
        return 0;
    }
    ret->patch = edit_mark(policy, "annotations", POLICY_APPROVED, there);
    ret->said = xasprintf("approved plan %s: %s", there,
                          json_str_or_empty(policy, "status.rollout.plan.message"));
    ret->undo = xasprintf("kubectl gpu pause, or kubectl annotate gpuclusterpolicy " POLICY_NAME
                          " " POLICY_APPROVED "-");
    ret->warning = snapshot_keeper(policy);
    return 0;
}

/* ---- one node */

/* Owned by the caller. */
static char *under_way(const json_t *node)
{
    static const struct {
        const char *before, *after; /* the noun of its claim's kind is between them, if any */
    } texts[HELD_WAY_COUNT] = {
        [HELD_IN_SERVICE] = { "; its last attempt changed nothing, and it is in service", NULL },
        [HELD_BACK] = { "; its ", " was about to start, and it returns to service" },
        [HELD_STAYS] = { "; it stays out of service, because an earlier attempt changed it", NULL },
        [HELD_GOES_ON] = { "; its ", " is already under way and continues" },
        [HELD_FAILED] = { "; its ",
                          " failed, and it stays out of service without a retry or a rollback" },
    };
    struct claim c;
    const char *text = object_annotation(node, ANNOTATION_CLAIM);
    if (!text || !claim_parse(text, &c, NULL))
        return xstrdup("");
    enum held_way way = snapshot_held_way(node, &c);
    const char *noun = texts[way].after ? claim_kinds[c.kind].noun : "";
    return xasprintf("%s%s%s", texts[way].before, noun, str_or_empty(texts[way].after));
}

void edit_hold(const json_t *node, struct edit *ret)
{
    const char *name = object_name(node);
    *ret = (struct edit){ .warning = snapshot_keeper(node) };
    if (snapshot_node_is_held(node)) {
        CLEANUP_FREE char *setter = snapshot_setter(node, "f:metadata f:labels f:" LABEL_HOLD);
        ret->said = xasprintf("%s is held already%s%s; nothing was changed", name,
                              setter ? ", by " : "", str_or_empty(setter));
        return;
    }
    ret->patch = edit_mark(node, "labels", LABEL_HOLD, "true");
    CLEANUP_FREE char *way = under_way(node);
    ret->said = xasprintf("%s is held: it is not upgraded or repaired until it is released%s", name,
                          way);
    ret->undo = xasprintf("kubectl gpu release %s", name);
}

void edit_release(const json_t *node, struct edit *ret)
{
    const char *name = object_name(node);
    bool cordoned = json_bool(node, "spec.unschedulable", false);
    *ret = (struct edit){ .warning = snapshot_keeper(node) };
    if (!snapshot_node_is_held(node)) {
        ret->said = xasprintf(
            "%s is not held; nothing was changed%s", name,
            cordoned ? ". It is cordoned, which also prevents upgrades: kubectl uncordon" : "");
        return;
    }
    ret->patch = edit_mark(node, "labels", LABEL_HOLD, NULL);
    ret->said = xasprintf("%s is released: it is upgraded when its turn comes%s", name,
                          cordoned ? "; it is also cordoned, which prevents upgrades" : "");
    ret->undo = xasprintf("kubectl gpu hold %s", name);
}
