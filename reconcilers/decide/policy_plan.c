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
    JSON_EACH (entry, json_at(v->object, "metadata.finalizers"))
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
    const json_t *before = condition_of(v->object, "Ready");
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
    const json_t *before = condition_of(v->object, "RollingOut");
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

/* Whether the status changes. `told`: the condition for the log. */
static bool write_status(const struct cluster_view *v, json_t *status, const struct condition *told,
                         struct actions *actions)
{
    if (json_equal(status, json_object_get(v->object, "status")))
        return false;
    CLEANUP_JSON json_t *apply = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:O}", "apiVersion", POLICY_API_VERSION, "kind", POLICY_KIND,
        "metadata", "name", POLICY_NAME, "uid", object_uid(v->object), "status", status);
    action_add(actions, request_apply_status(RESOURCE_POLICY, NULL, POLICY_NAME, apply),
               VERB_STATUS, POLICY_TARGET, REASON_STATUS_CHANGED, "%s=%s %s: %s", told->type,
               told->status, told->reason, told->message);
    return true;
}

static void plan_status(const struct cluster_view *v, const struct err *failure, struct arena *a,
                        struct actions *actions)
{
    struct condition conditions[STATUS_CONDITIONS] = { 0 };
    status_conditions(v, failure, a, conditions);
    CLEANUP_JSON json_t *status = status_json(v, conditions);
    if (v->counts_wait_ms && !json_equal(status, json_object_get(v->object, "status")) &&
        !policy_plan_is_news(v, conditions, status)) {
        actions_requeue(actions, v->counts_wait_ms);
        return;
    }
    if (!write_status(v, status, &conditions[STATUS_READY], actions))
        return;
    plan_notice_of(v, &conditions[STATUS_READY], actions);
    plan_notice_of_retry(v, a, actions);
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
             v->tally->gpu > 0 /* there will be something to remove */)
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

/* ---- the status while Ostler may do nothing: it reports that, why, and what to do; the rest stays
 */

/* Replaces the condition of this type in a list, or adds it. */
static void replace_condition(json_t *conditions, const json_t *before, const struct condition *c,
                              const struct cluster_view *v)
{
    json_t *fresh = condition_json(c, before, object_generation(v->object), v->now);
    JSON_EACH_AT (i, entry, conditions) {
        if (entry == condition_find(conditions, c->type)) {
            json_array_set_new(conditions, i, fresh);
            return;
        }
    }
    json_array_append_new(conditions, fresh);
}

/* Only members that exist already, besides conditions: the CRD on the API server may know no
 * others. */
static json_t *blocked_status(const struct cluster_view *v)
{
    const struct prerequisite_problem *p = v->blocked;
    const char *reason = reason_text(p->reason);
    const struct condition said[] = {
        { "Ready", "False", reason, p->message },
        { "Reconciling", "False", reason, "nothing is under way" },
        { "Stalled", "True", reason, p->message },
        { "Degraded", "True", reason, p->message },
    };
    const json_t *old = json_object_get(v->object, "status"),
                 *before = json_object_get(old, "conditions");
    json_t *status = json_is_object(old) ? json_deep_copy(old) : json_object();
    if (!json_is_array(json_object_get(status, "conditions")))
        json_object_set_new(status, "conditions", json_array());
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        replace_condition(json_object_get(status, "conditions"), before, &said[i], v);
    /* A plan that waits for approval keeps its spec's generation, because the approving user must
     * see it. */
    if (!json_at(status, "rollout.plan"))
        json_object_set_new(status, "observedGeneration",
                            json_integer(object_generation(v->object)));
    if (json_at(status, "summary")) {
        CLEANUP_FREE char *text = str_shortened(p->message, STATUS_SUMMARY_MAX);
        json_set_at(status, "summary.message", json_text(text));
    }
    return status;
}

void policy_plan_blocked(const struct cluster_view *v, struct actions *actions)
{
    if (!v->object)
        return;
    CLEANUP_JSON json_t *status = blocked_status(v);
    const struct condition stalled = { "Stalled", "True", reason_text(v->blocked->reason),
                                       v->blocked->message };
    write_status(v, status, &stalled, actions);
}
