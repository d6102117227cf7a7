/* Kinds that make pods, and budgets for them. */
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"
#include "sim/api/validate.h"

#define SPEC SPOT(NULL, "spec")
#define TEMPLATE SPOT(SPEC, "template")

static const char *const daemon_strategies[] = { "RollingUpdate", "OnDelete", NULL };
static const char *const deployment_strategies[] = { "Recreate", "RollingUpdate", NULL };

/* Selector and template, and that they match. `what` is the kind in messages; `kept` the kind whose
 * pods always restart, NULL if they may end. */
static void validate_template(const json_t *spec, const char *what, const char *kept,
                              struct refusal *r)
{
    static const char *const always[] = { "Always", NULL };
    const json_t *selector = json_object_get(spec, "selector"),
                 *labels = json_at(spec, "template.metadata.labels");
    const struct spot *selector_at = SPOT(SPEC, "selector"),
                      *labels_at = SPOT(SPOT(TEMPLATE, "metadata"), "labels");
    const struct spot *pod_at = SPOT(TEMPLATE, "spec");
    if (selector) {
        validate_label_selector(selector, selector_at, r);
        if (json_object_size(json_object_get(selector, "matchLabels")) +
                json_array_size(json_object_get(selector, "matchExpressions")) ==
            0)
            spot_invalid(r, selector_at, selector, "empty selector is invalid for %s", what);
    }
    /* An invalid selector is reported above. */
    CLEANUP_ERR struct err e = { 0 };
    struct selector compiled = { 0 };
    bool matches = selector && selector_compile(selector, &compiled, &e) == 0 &&
                   selector_matches(&compiled, selector_lookup_json, labels);
    selector_clear(&compiled);
    if (!matches && !e.kind)
        spot_invalid(r, labels_at, labels, "`selector` does not match template `labels`");
    validate_labels(labels, labels_at, r);
    validate_pod_spec(json_at(spec, "template.spec"), pod_at, r);
    if (!kept)
        return;
    validate_word(json_at(spec, "template.spec"), "restartPolicy", always, pod_at, r);
    CLEANUP_FREE char *why = xasprintf("activeDeadlineSeconds in %s is not Supported", kept);
    if (json_at(spec, "template.spec.activeDeadlineSeconds"))
        spot_forbidden(r, SPOT(pod_at, "activeDeadlineSeconds"), why);
}

/* Whether the spec is the same tree as before. */
static bool is_unchanged(const json_t *before, const json_t *after)
{
    return before && json_object_get(before, "spec") == json_object_get(after, "spec");
}

static void validate_strategy(const json_t *spec, const char *key, const char *const *types,
                              const char *both_zero, struct refusal *r)
{
    const json_t *strategy = json_object_get(spec, key),
                 *rolling = json_object_get(strategy, "rollingUpdate");
    const struct spot *at = SPOT(SPEC, key), *rolling_at = SPOT(at, "rollingUpdate");
    const struct spot *unavailable = SPOT(rolling_at, "maxUnavailable"),
                      *surge = SPOT(rolling_at, "maxSurge");
    const char *type = json_str_or_empty(strategy, "type");
    if (!str_eq(type, types[0]) && !str_eq(type, types[1])) {
        spot_not_supported(r, at, strategy, types);
        return;
    }
    if (!str_eq(type, "RollingUpdate"))
        return;
    validate_amount(json_object_get(rolling, "maxUnavailable"), unavailable, r);
    validate_amount(json_object_get(rolling, "maxSurge"), surge, r);
    bool none = validate_is_nothing(json_object_get(rolling, "maxUnavailable")),
         no_surge = validate_is_nothing(json_object_get(rolling, "maxSurge"));
    if (rolling && none && no_surge && both_zero)
        spot_invalid(r, unavailable, json_object_get(rolling, "maxUnavailable"), "%s", both_zero);
    else if (rolling && none && no_surge)
        spot_required(r, unavailable, "cannot be 0 when maxSurge is 0");
    else if (rolling && !none && !no_surge && !both_zero)
        spot_invalid(r, surge, json_object_get(rolling, "maxSurge"),
                     "may not be set when maxUnavailable is non-zero");
}

static void validate_same_selector(const json_t *before, const json_t *after, struct refusal *r)
{
    if (before)
        validate_immutable(json_object_get(before, "spec"), json_object_get(after, "spec"),
                           "selector", SPEC, r);
}

void validate_daemon_set(const json_t *before, const json_t *after, struct refusal *r)
{
    static const char *const numbers[] = { "minReadySeconds", "revisionHistoryLimit", NULL };
    const json_t *spec = json_object_get(after, "spec");
    if (is_unchanged(before, after))
        return;
    validate_template(spec, "daemonset", "DaemonSet", r);
    validate_none_negative(spec, numbers, SPEC, r);
    validate_strategy(spec, "updateStrategy", daemon_strategies, NULL, r);
    validate_same_selector(before, after, r);
}

void validate_deployment(const json_t *before, const json_t *after, struct refusal *r)
{
    static const char *const numbers[] = { "replicas", "minReadySeconds", "revisionHistoryLimit",
                                           "progressDeadlineSeconds", NULL };
    const json_t *spec = json_object_get(after, "spec"),
                 *strategy = json_object_get(spec, "strategy");
    if (is_unchanged(before, after))
        return;
    validate_none_negative(spec, numbers, SPEC, r);
    validate_template(spec, "deployment", "ReplicaSet", r);
    if (str_eq(json_key(strategy, "type"), "Recreate") &&
        json_object_get(strategy, "rollingUpdate"))
        spot_forbidden(r, SPOT(SPOT(SPEC, "strategy"), "rollingUpdate"),
                       "may not be specified when strategy `type` is 'Recreate'");
    else
        validate_strategy(spec, "strategy", deployment_strategies,
                          "may not be 0 when `maxSurge` is 0", r);
    validate_same_selector(before, after, r);
}

void validate_replica_set(const json_t *before, const json_t *after, struct refusal *r)
{
    static const char *const numbers[] = { "replicas", "minReadySeconds", NULL };
    if (is_unchanged(before, after))
        return;
    validate_none_negative(json_object_get(after, "spec"), numbers, SPEC, r);
    validate_template(json_object_get(after, "spec"), "replicaset", "ReplicaSet", r);
    validate_same_selector(before, after, r);
}

void validate_status(const json_t *before, const json_t *after, struct refusal *r)
{
    const json_t *was = json_object_get(before, "status"), *is = json_object_get(after, "status");
    if (was == is)
        return;
    JSON_EACH_MEMBER (key, value, is)
        validate_not_negative(is, key, SPOT(NULL, "status"), r);
}

/* ---- jobs */

void validate_job(const json_t *before, const json_t *after, struct refusal *r)
{
    static const char *const numbers[] = { "parallelism",
                                           "completions",
                                           "activeDeadlineSeconds",
                                           "backoffLimit",
                                           "ttlSecondsAfterFinished",
                                           NULL };
    static const char *const fixed[] = { "completions", "selector", "template", "completionMode" };
    const json_t *spec = json_object_get(after, "spec");
    const struct spot *selector = SPOT(SPEC, "selector");
    if (is_unchanged(before, after))
        return;
    validate_none_negative(spec, numbers, SPEC, r);
    validate_template(spec, "job", NULL, r);
    if (str_eq(json_str(spec, "template.spec.restartPolicy"), "Always"))
        spot_required(r, SPOT(SPOT(TEMPLATE, "spec"), "restartPolicy"),
                      "valid values: \"OnFailure\", \"Never\"");
    if (!json_object_get(spec, "selector"))
        spot_required(r, selector, "");
    if (!before && !json_bool(spec, "manualSelector", false) &&
        json_object_size(json_at(spec, "selector.matchLabels")) != 1)
        spot_invalid(r, selector, json_object_get(spec, "selector"),
                     "`selector` not auto-generated");
    for (size_t i = 0; before && i < ARRAY_LEN(fixed); i++)
        validate_immutable(json_object_get(before, "spec"), spec, fixed[i], SPEC, r);
}

/* ---- budgets, revisions */

void validate_pod_disruption_budget(const json_t *before, const json_t *after, struct refusal *r)
{
    static const char *const policies[] = { "AlwaysAllow", "IfHealthyBudget", NULL };
    const json_t *spec = json_object_get(after, "spec");
    if (is_unchanged(before, after))
        return;
    if (json_object_get(spec, "minAvailable") && json_object_get(spec, "maxUnavailable"))
        spot_invalid(r, SPEC, spec, "minAvailable and maxUnavailable cannot be both set");
    validate_amount(json_object_get(spec, "minAvailable"), SPOT(SPEC, "minAvailable"), r);
    validate_amount(json_object_get(spec, "maxUnavailable"), SPOT(SPEC, "maxUnavailable"), r);
    validate_label_selector(json_object_get(spec, "selector"), SPOT(SPEC, "selector"), r);
    validate_word(spec, "unhealthyPodEvictionPolicy", policies, SPEC, r);
}

void validate_controller_revision(const json_t *before, const json_t *after, struct refusal *r)
{
    const struct spot *data = SPOT(NULL, "data");
    const json_t *was = json_object_get(before, "data"), *is = json_object_get(after, "data"),
                 *number = json_object_get(after, "revision");
    if (!is && !before)
        spot_required(r, data, "data is mandatory");
    else if (is && !json_is_object(is))
        spot_required(r, data, "data must be a valid JSON object");
    if (json_integer_value(number) < 0)
        spot_invalid(r, SPOT(NULL, "revision"), number, "must be greater than or equal to 0");
    if (before && was != is && !json_equal(was, is))
        spot_invalid(r, data, is, "field is immutable");
}
