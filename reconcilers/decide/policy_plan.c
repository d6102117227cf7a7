#include "reconcilers/decide/policy_plan.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/action.h"
#include "reconcilers/decide/children.h"
#include "reconcilers/decide/detecting.h"
#include "reconcilers/decide/retry.h"
#include "reconcilers/decide/status.h"

/* The status waits this long for the responses to other writes. */
enum { STATUS_DELAY_MS = 250 };

/* Sets the policy's finalizers with or without Ostler's, as a guarded merge patch. */
static void plan_finalizer(const struct cluster_view *v, bool present, enum reason reason,
                           const char *message, struct actions *actions)
{
    CLEANUP_JSON json_t *finalizers = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach (json_at(v->object, "metadata.finalizers"), i, entry)
        if (!str_eq(json_string_value(entry), POLICY_FINALIZER))
            json_array_append(finalizers, entry);
    if (present)
        json_array_append_new(finalizers, json_string(POLICY_FINALIZER));
    CLEANUP_JSON json_t *patch = json_pack(
        "{s:{s:s, s:s, s:O}}", "metadata", "uid", object_uid(v->object), "resourceVersion",
        json_str_or_empty(v->object, "metadata.resourceVersion"), "finalizers", finalizers);
    action_add(actions, request_merge_patch(RESOURCE_POLICY, NULL, POLICY_NAME, patch),
               VERB_FINALIZER, POLICY_TARGET, reason, "%s", message);
}

/* Ostler's own intermediate steps cause no Event. */
static bool is_step(enum reason r)
{
    static const enum reason steps[] = {
        REASON_DETECTING,
        REASON_WAITING_FOR_FINALIZER,
        REASON_WAITING_FOR_REVISION,
        REASON_WAITING_FOR_OTHER_STACK,
        REASON_WAITING_FOR_TOOLKIT,
        REASON_WAITING_FOR_STACK,
        REASON_WAITING_FOR_GPU_PODS,
        REASON_WAITING_FOR_PROCESSES,
        REASON_WAITING_FOR_DRIVER,
        REASON_WAITING_FOR_APPROVAL,
        REASON_WAITING_FOR_WINDOW,
        REASON_WAITING_FOR_IMAGES,
        REASON_WAITING_FOR_JOBS,
    };
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (steps[i] == r)
            return true;
    return false;
}

/* Adds an Event when Ready changes its status or reason. */
static void plan_notice_of(const struct cluster_view *v, const struct condition *ready,
                           struct actions *actions)
{
    const json_t *before = condition_find(json_at(v->object, "status.conditions"), "Ready");
    if (str_eq(json_str(before, "status"), ready->status) &&
        str_eq(json_str(before, "reason"), ready->reason))
        return;
    enum reason reason = reason_parse(ready->reason);
    if (is_step(reason) || str_eq(ready->status, "Unknown"))
        return;
    bool good = str_eq(ready->status, "True");
    actions_add_notice(
        actions,
        &(struct notice){ .resource = RESOURCE_POLICY,
                          .name = (char *) object_name(v->object),
                          .uid = (char *) object_uid(v->object),
                          .warning = reason == REASON_INVALID_SPEC || v->tally->states[NODE_FAILED],
                          .reason = reason_text(good ? REASON_READY : REASON_NOT_READY),
                          .action = "Reconcile",
                          .note = (char *) ready->message });
}

/* Adds an Event for a retry request that is invalid, once for each request: afterwards the status
 * reports it. */
static void plan_notice_of_retry(const struct cluster_view *v, struct arena *a,
                                 struct actions *actions)
{
    const char *problem = retry_problem(v, a);
    const json_t *before = condition_find(json_at(v->object, "status.conditions"), "RollingOut");
    if (problem && !strstr(json_str_or_empty(before, "message"), problem))
        actions_add_notice(actions, &(struct notice){ .resource = RESOURCE_POLICY,
                                                      .name = (char *) object_name(v->object),
                                                      .uid = (char *) object_uid(v->object),
                                                      .warning = true,
                                                      .reason = reason_text(REASON_RETRY_UNKNOWN),
                                                      .action = "Rollout",
                                                      .note = (char *) problem });
}

static bool is_rolling_out(const struct cluster_view *v)
{
    const struct rollout_report *r = v->rollout;
    return v->tally->moving || (r && r->known && (r->active || r->waiting));
}

/* Whether the status differs in more than counts and their texts. */
static bool policy_plan_is_news(const struct cluster_view *v,
                                const struct condition conditions[static STATUS_CONDITIONS],
                                const json_t *status)
{
    const json_t *before = json_object_get(v->object, "status");
    if (!is_rolling_out(v) ||
        json_int(before, "observedGeneration", -1) != json_int(status, "observedGeneration", -1))
        return true;
    for (size_t i = 0; i < STATUS_CONDITIONS; i++) {
        const json_t *was = condition_find(json_object_get(before, "conditions"),
                                           conditions[i].type);
        if (!str_eq(json_str(was, "status"), conditions[i].status) ||
            !str_eq(json_str(was, "reason"), conditions[i].reason))
            return true;
    }
    return json_int(before, "rollout.failed", 0) != json_int(status, "rollout.failed", 0);
}

static void plan_status(const struct cluster_view *v, const struct err *failure, struct arena *a,
                        struct actions *actions)
{
    struct condition conditions[STATUS_CONDITIONS] = { 0 };
    status_conditions(v, failure, a, conditions);
    CLEANUP_JSON json_t *status = status_json(v, conditions);
    if (json_equal(status, json_object_get(v->object, "status")))
        return;
    if (v->counts_wait_ms && !policy_plan_is_news(v, conditions, status)) {
        actions_requeue(actions, v->counts_wait_ms);
        return;
    }
    CLEANUP_JSON json_t *apply = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:O}", "apiVersion", POLICY_API_VERSION, "kind", POLICY_KIND,
        "metadata", "name", POLICY_NAME, "uid", object_uid(v->object), "status", status);
    action_add(actions, request_apply_status(RESOURCE_POLICY, NULL, POLICY_NAME, apply),
               VERB_STATUS, POLICY_TARGET, REASON_STATUS_CHANGED, "Ready=%s %s: %s",
               conditions[STATUS_READY].status, conditions[STATUS_READY].reason,
               conditions[STATUS_READY].message);
    plan_notice_of(v, &conditions[STATUS_READY], actions);
    plan_notice_of_retry(v, a, actions);
}

/* Whether nodes have anything that would have to be removed. */
static bool has_something_to_clean(const struct tally *t)
{
    return t->gpu > 0;
}

static bool plan_removal(const struct cluster_view *v, struct actions *actions)
{
    CLEANUP_ERR struct err e = { 0 };
    size_t left = children_plan(v, actions, &e);
    bool done = v->settled && left == 0 && v->tally->states[NODE_REMOVING] == 0 && v->reports == 0;
    /* Also from a policy that is not being deleted, when everything of Ostler's leaves the cluster:
     * nothing else would remove it. */
    if (done && object_has_finalizer(v->object, POLICY_FINALIZER))
        plan_finalizer(
            v, false, REASON_CLEANED,
            "everything of Ostler's is gone: Ostler removes its finalizer from the policy",
            actions);
    return done;
}

bool policy_plan(const struct cluster_view *v, struct arena *a, struct actions *actions)
{
    CLEANUP_ERR struct err e = { 0 };
    bool done = false;
    actions->keep_going = true;
    if (v->mode == MODE_REMOVE)
        done = plan_removal(v, actions);
    else if (v->mode == MODE_MANAGE && !object_has_finalizer(v->object, POLICY_FINALIZER) &&
             has_something_to_clean(v->tally))
        plan_finalizer(v, true, REASON_FINALIZER_NEEDED,
                       "Ostler is about to label and taint nodes: its finalizer keeps the policy "
                       "until these are clean",
                       actions);
    else if (v->mode == MODE_MANAGE)
        children_plan(v, actions, &e);
    const struct err *failure = e.kind != ERR_NONE ? &e : v->failure;
    /* While children change, or nodes are not reconciled yet, the status would be stale at once. */
    bool later = ((actions->len > 0 && !failure) || v->settling) && !v->status_overdue;
    if (later)
        actions_requeue(actions, STATUS_DELAY_MS);
    if (detecting_wait_s(v))
        actions_requeue(actions, detecting_wait_s(v) * 1000);
    if (v->object && !done && !later)
        plan_status(v, failure, a, actions);
    return done;
}
