/* Evictions of pods: deletions that the PodDisruptionBudgets of the pod must allow. */
#include "sim/api/write.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "kube/selector.h"
#include "sim/api/admit.h"
#include "sim/api/state.h"

#define VIOLATES "Cannot evict pod as it would violate the pod's disruption budget."
#define DENIES "The disruption budget %s does not allow evicting pods currently"
#define CAUSE "DisruptionBudget"

/* The server writes to a budget as its own client. */
#define SERVER_USER "system:apiserver"
#define SERVER_MANAGER "kube-apiserver"

enum {
    RETRY_S = 10, /* when the controller of budgets has not looked at one yet */
    DISRUPTED_PODS_MAX = 2000,
};

/* One eviction in progress. */
struct eviction {
    struct api *api;
    const char *user;
    const json_t *pod;    /* owned */
    const json_t *budget; /* owned; NULL: none is in the way */
    struct delete_options options;
    bool dry_run;
};

static void eviction_clear(struct eviction *v)
{
    json_decref((json_t *) v->pod);
    json_decref((json_t *) v->budget);
}

static void read_options(const json_t *body, struct eviction *v)
{
    const json_t *options = json_object_get(body, "deleteOptions");
    v->options = (struct delete_options){
        .grace_s = json_int(options, "gracePeriodSeconds", -1),
        .uid = json_str(options, "preconditions.uid"),
        .rv = json_str(options, "preconditions.resourceVersion"),
    };
    v->dry_run = json_array_size(json_object_get(options, "dryRun")) > 0;
}

/* Whether the eviction of a pod disrupts nothing: it has ended, has not started, or is already
 * deleted. */
static bool disrupts_nothing(const json_t *pod)
{
    static const char *const phases[] = { "Succeeded", "Failed", "Pending", NULL };
    return str_is_any_of(json_str(pod, "status.phase"), phases) || object_is_deleting(pod);
}

/* ---- the pod's budget */

/* A budget without a selector matches no pod. */
static bool is_for(const json_t *budget, const json_t *pod)
{
    const json_t *label_selector = json_at(budget, "spec.selector");
    if (!label_selector)
        return false;
    CLEANUP_ERR struct err e = { 0 };
    struct selector selector = { 0 };
    bool is = selector_compile(label_selector, &selector, &e) == 0 &&
              selector_matches(&selector, selector_lookup_json, json_at(pod, "metadata.labels"));
    selector_clear(&selector);
    return is;
}

static int find_budget(struct eviction *v, struct refusal *r)
{
    const struct kind *k = kind_named("poddisruptionbudgets");
    const char *ns = object_namespace(v->pod);
    for (size_t i = api_from(v->api, k, ns); i < api_count(v->api, k); i++) {
        json_t *budget = api_at(v->api, k, i);
        if (!str_eq(object_namespace(budget), ns))
            break;
        if (!is_for(budget, v->pod))
            continue;
        if (v->budget)
            return refuse(r, 500,
                          "This pod has more than one PodDisruptionBudget, which the eviction "
                          "subresource does not "
                          "support.");
        v->budget = json_incref(budget);
    }
    return 0;
}

static int refuse_unobserved(const char *name, struct refusal *r)
{
    refuse(r, 429, VIOLATES);
    refuse_cause(r, CAUSE, NULL, "The disruption budget %s is still being processed by the server.",
                 name);
    r->retry_after_s = RETRY_S;
    return -1;
}

static int refuse_exhausted(const json_t *budget, struct refusal *r)
{
    const char *name = object_name(budget);
    int64_t healthy = json_int(budget, "status.currentHealthy", 0),
            desired = json_int(budget, "status.desiredHealthy", 0);
    const json_t *allowed = condition_of(budget, "DisruptionAllowed");
    const char *reason = json_str_or_empty(allowed, "reason"),
               *message = json_str_or_empty(allowed, "message");
    bool explained = *message && str_eq(json_str(allowed, "status"), "False");
    refuse(r, 429, VIOLATES);
    /* The counts are invalid if the controller's last sync failed. */
    if (explained && str_eq(reason, "SyncFailed"))
        refuse_cause(r, CAUSE, NULL, DENIES " because it failed sync: %s", name, message);
    else if (healthy <= desired)
        refuse_cause(r, CAUSE, NULL,
                     "The disruption budget %s needs %" PRId64 " healthy pods and has %" PRId64
                     " currently",
                     name, desired, healthy);
    else if (explained)
        refuse_cause(r, CAUSE, NULL, DENIES " (%s): %s", name, reason, message);
    else
        refuse_cause(r, CAUSE, NULL, DENIES, name);
    return -1;
}

/* Whether the budget lets an unready pod go: by its policy, or since it is met without the pod. */
static bool lets_unhealthy_go(const json_t *budget, const json_t *pod)
{
    if (condition_is_true(pod, "Ready"))
        return false;
    int64_t healthy = json_int(budget, "status.currentHealthy", 0),
            desired = json_int(budget, "status.desiredHealthy", 0);
    return str_eq(json_str(budget, "spec.unhealthyPodEvictionPolicy"), "AlwaysAllow") ||
           (desired > 0 && healthy >= desired);
}

static int check_budget(const json_t *budget, struct refusal *r)
{
    struct kind singular = *kind_named("poddisruptionbudgets");
    singular.plural = singular.singular;
    int64_t allowed = json_int(budget, "status.disruptionsAllowed", 0);
    if (json_int(budget, "status.observedGeneration", 0) < object_generation(budget))
        return refuse_unobserved(object_name(budget), r);
    if (allowed < 0)
        return refuse_forbidden(r, &singular, object_name(budget),
                                "pdb disruptions allowed is negative");
    if (json_object_size(json_at(budget, "status.disruptedPods")) > DISRUPTED_PODS_MAX)
        return refuse_forbidden(
            r, &singular, object_name(budget),
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
    return allowed == 0 ? refuse_exhausted(budget, r) : 0;
}

/* ---- what is written */

/* A copy that may be changed in its status. New reference. */
static json_t *with_own_status(const json_t *object)
{
    json_t *copy = json_copy((json_t *) object);
    json_object_set_new(copy, "status", json_deep_copy(json_object_get(object, "status")));
    return copy;
}

/* Replaces the condition of its type in the status, or adds it. */
static void set_condition(json_t *object, json_t *condition_steal)
{
    if (!json_at(object, "status.conditions"))
        json_set_at(object, "status.conditions", json_array());
    json_t *conditions = json_at(object, "status.conditions");
    JSON_EACH_AT (i, condition, conditions) {
        if (str_eq(json_str(condition, "type"), json_str(condition_steal, "type"))) {
            json_array_set_new(conditions, i, condition_steal);
            return;
        }
    }
    json_array_append_new(conditions, condition_steal);
}

/* Takes one disruption from the budget and records the pod. */
static int spend(const struct eviction *v, struct refusal *r)
{
    if (check_budget(v->budget, r) < 0)
        return -1;
    CLEANUP_JSON json_t *budget = with_own_status(v->budget);
    int64_t left = json_int(budget, "status.disruptionsAllowed", 0) - 1;
    char now[CLOCK_TEXT_MAX];
    api_now(v->api, now);
    json_set_at(budget, "status.disruptionsAllowed", json_integer(left));
    if (left == 0) {
        struct condition spent = { .type = "DisruptionAllowed",
                                   .status = "False",
                                   .reason = "InsufficientPods",
                                   .message = "" };
        const json_t *previous = json_at(budget, "status.conditions");
        set_condition(budget, condition_json(&spent, previous, object_generation(budget), now));
    }
    if (!json_at(budget, "status.disruptedPods"))
        json_set_at(budget, "status.disruptedPods", json_object());
    json_object_set_new(json_at(budget, "status.disruptedPods"), object_name(v->pod),
                        json_string(now));
    struct write w = write_by(SERVER_USER, API_UPDATE, kind_named("poddisruptionbudgets"),
                              object_namespace(budget), object_name(budget));
    w.manager = SERVER_MANAGER;
    w.subresource = "status";
    w.dry_run = v->dry_run;
    return write_update(v->api, &w, budget, NULL, r);
}

/* Sets the condition DisruptionTarget on the pod, without a manager. */
static int mark_pod(const struct eviction *v, struct refusal *r)
{
    CLEANUP_JSON json_t *pod = with_own_status(v->pod);
    char now[CLOCK_TEXT_MAX];
    api_now(v->api, now);
    set_condition(pod, json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", "DisruptionTarget", "status",
                                 "True", "lastTransitionTime", now, "reason",
                                 "EvictionByEvictionAPI", "message", "Eviction API: evicting"));
    struct write w = write_by(v->user, API_UPDATE, kind_named("pods"), object_namespace(pod),
                              object_name(pod));
    w.subresource = "status";
    CLEANUP_ADMISSION struct admission a = { 0 };
    if (admission_begin(&a, v->api, &w, r) < 0 || admission_take(&a, pod, r) < 0)
        return -1;
    a.applied = true;
    return admission_update(&a, NULL, r);
}

static int delete_pod(const struct eviction *v, bool dry_run, struct refusal *r)
{
    struct write w = write_by(v->user, API_EVICT, kind_named("pods"), object_namespace(v->pod),
                              object_name(v->pod));
    w.subresource = "eviction";
    w.dry_run = dry_run;
    return write_delete(v->api, &w, &v->options, NULL, NULL, r);
}

/* Marks and deletes a pod. The mark makes a new version, so the preconditions of the eviction are
 * checked before. */
static int mark_and_delete(struct eviction *v, struct refusal *r)
{
    if (delete_pod(v, true, r) < 0)
        return -1;
    if (v->dry_run)
        return 0;
    v->options.rv = NULL;
    return mark_pod(v, r) < 0 ? -1 : delete_pod(v, false, r);
}

int evict_pod(struct api *api, const char *user, const char *ns, const char *name,
              const json_t *eviction, struct refusal *r)
{
    const struct kind *pods = kind_named("pods");
    CLEANUP(eviction_clear)
    struct eviction v = { .api = api,
                          .user = user,
                          .pod = json_incref(api_get(api, pods, ns, name)) };
    if (!v.pod)
        return refuse_not_found(r, pods, name);
    read_options(eviction, &v);
    if (!disrupts_nothing(v.pod) && find_budget(&v, r) < 0)
        return -1;
    if (v.budget && !lets_unhealthy_go(v.budget, v.pod) && spend(&v, r) < 0)
        return -1;
    return mark_and_delete(&v, r);
}
