#include "sim/actors/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/selector.h"

/* Gt and Lt compare whole numbers. */
static bool compares(const char *value, const json_t *values, bool greater)
{
    int64_t have, bound;
    if (!str_parse_int(str_or_empty(value), INT64_MIN, INT64_MAX, &have) ||
        !str_parse_int(str_or_empty(json_string_value(json_array_get(values, 0))), INT64_MIN,
                       INT64_MAX, &bound))
        return false;
    return greater ? have > bound : have < bound;
}

/* Checks one NodeSelectorRequirement against the node's value, NULL: none. */
static bool meets(const json_t *requirement, const char *value)
{
    const char *operator= json_str_or_empty(requirement, "operator");
    const json_t *values = json_object_get(requirement, "values");
    if (str_eq(operator, "In"))
        return value && json_has_text(values, value);
    if (str_eq(operator, "NotIn"))
        return !value || !json_has_text(values, value);
    if (str_eq(operator, "Exists"))
        return value != NULL;
    if (str_eq(operator, "DoesNotExist"))
        return value == NULL;
    if (str_eq(operator, "Gt") || str_eq(operator, "Lt"))
        return value && compares(value, values, str_eq(operator, "Gt"));
    return false;
}

/* Checks all requirements of a term; an empty term matches nothing. */
static bool meets_term(const json_t *term, const json_t *node)
{
    const json_t *expressions = json_object_get(term, "matchExpressions"),
                 *fields = json_object_get(term, "matchFields");
    if (json_array_size(expressions) + json_array_size(fields) == 0)
        return false;
    JSON_EACH (requirement, expressions)
        if (!meets(requirement, object_label(node, json_str_or_empty(requirement, "key"))))
            return false;
    JSON_EACH (requirement, fields)
        if (!str_eq(json_str(requirement, "key"), "metadata.name") ||
            !meets(requirement, object_name(node)))
            return false;
    return true;
}

static const json_t *required_terms(const json_t *pod_spec)
{
    return json_at(
        pod_spec,
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
}

bool fit_affinity(const json_t *pod_spec, const json_t *node)
{
    JSON_EACH_MEMBER (key, value, json_object_get(pod_spec, "nodeSelector"))
        if (!str_eq(object_label(node, key), json_string_value(value)))
            return false;
    const json_t *terms = required_terms(pod_spec);
    JSON_EACH (term, terms)
        if (meets_term(term, node))
            return true;
    return terms == NULL;
}

const char *fit_pinned_node(const json_t *pod_spec)
{
    const json_t *terms = required_terms(pod_spec);
    const json_t *fields = json_object_get(json_array_get(terms, 0), "matchFields"),
                 *field = json_array_get(fields, 0);
    if (json_array_size(terms) != 1 || !str_eq(json_str(field, "key"), "metadata.name") ||
        !str_eq(json_str(field, "operator"), "In"))
        return NULL;
    return json_string_value(json_array_get(json_object_get(field, "values"), 0));
}

bool fit_tolerates(const json_t *toleration, const json_t *taint)
{
    const char *effect = json_str_or_empty(toleration, "effect"),
               *key = json_str_or_empty(toleration, "key");
    if (*effect && !str_eq(effect, json_str_or_empty(taint, "effect")))
        return false;
    if (*key && !str_eq(key, json_str_or_empty(taint, "key")))
        return false;
    if (str_eq(json_str(toleration, "operator"), "Exists"))
        return true;
    return *key &&
           str_eq(json_str_or_empty(toleration, "value"), json_str_or_empty(taint, "value"));
}

static unsigned effect_of(const json_t *taint)
{
    const char *effect = json_str_or_empty(taint, "effect");
    if (str_eq(effect, "NoSchedule"))
        return TAINT_NO_SCHEDULE;
    return str_eq(effect, "NoExecute") ? TAINT_NO_EXECUTE : TAINT_PREFER_NO_SCHEDULE;
}

const json_t *fit_untolerated(const json_t *tolerations, const json_t *taints, unsigned effects)
{
    JSON_EACH (taint, taints) {
        bool tolerated = !(effect_of(taint) & effects);
        JSON_EACH (toleration, tolerations)
            tolerated = tolerated || fit_tolerates(toleration, taint);
        if (!tolerated)
            return taint;
    }
    return NULL;
}

const json_t *fit_taint(const json_t *node, const char *key, const char *effect)
{
    JSON_EACH (taint, json_at(node, "spec.taints"))
        if (str_eq(json_str(taint, "key"), key) &&
            (!effect || str_eq(json_str(taint, "effect"), effect)))
            return taint;
    return NULL;
}

bool pod_is_finished(const json_t *pod)
{
    const char *phase = json_str_or_empty(json_object_get(pod, "status"), "phase");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

bool fit_labels(const json_t *label_selector, const json_t *object)
{
    struct selector s = { 0 };
    if (!label_selector || selector_compile(label_selector, &s, NULL) < 0)
        return false;
    bool matches = selector_matches(&s, selector_lookup_json, json_at(object, "metadata.labels"));
    selector_clear(&s);
    return matches;
}

bool fit_pattern(const char *pattern, const char *text)
{
    if (!pattern)
        return true;
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}
