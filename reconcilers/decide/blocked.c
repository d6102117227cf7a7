/* The policy's status while Ostler may do nothing: it reports that, why, and what to do. The rest
 * stays. */
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/action.h"
#include "reconcilers/decide/policy_plan.h"
#include "reconcilers/decide/status.h"

/* Replaces the condition of this type in a list, or adds it. */
static void replace_condition(json_t *conditions, const json_t *before, const struct condition *c,
                              const struct cluster_view *v)
{
    json_t *fresh = condition_json(c, before, object_generation(v->object), v->now);
    size_t i;
    json_t *entry;
    json_array_foreach (conditions, i, entry) {
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
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
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
    if (json_equal(status, json_object_get(v->object, "status")))
        return;
    CLEANUP_JSON json_t *apply = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:O}", "apiVersion", POLICY_API_VERSION, "kind", POLICY_KIND,
        "metadata", "name", POLICY_NAME, "uid", object_uid(v->object), "status", status);
    action_add(actions, request_apply_status(RESOURCE_POLICY, NULL, POLICY_NAME, apply),
               VERB_STATUS, POLICY_TARGET, REASON_STATUS_CHANGED, "Stalled=True %s: %s",
               reason_text(v->blocked->reason), v->blocked->message);
}
