/* Selectors of labels and of nodes, and tolerations. */
#include "base/json.h"
#include "base/str.h"
#include "sim/api/validate.h"

/* How many values an operator takes. */
enum arity { ARITY_MANY, ARITY_ONE, ARITY_NONE };

static const struct condition_kind {
    const char *name;
    enum arity arity;
    bool of_nodes; /* known to selectors of nodes alone */
} condition_kinds[] = {
    { "In", ARITY_MANY, false },     { "NotIn", ARITY_MANY, false },
    { "Exists", ARITY_NONE, false }, { "DoesNotExist", ARITY_NONE, false },
    { "Gt", ARITY_ONE, true },       { "Lt", ARITY_ONE, true },
};

static const struct condition_kind *condition_kind_of(const char *name, bool of_nodes)
{
    for (size_t i = 0; i < ARRAY_LEN(condition_kinds); i++)
        if (str_eq(condition_kinds[i].name, name) && (of_nodes || !condition_kinds[i].of_nodes))
            return &condition_kinds[i];
    return NULL;
}

/* One condition of either kind of selector. */
static void validate_requirement(const json_t *requirement, bool of_nodes, const struct spot *at,
                                 struct refusal *r)
{
    size_t count = json_array_size(json_object_get(requirement, "values"));
    const struct spot *values = SPOT(at, "values");
    const struct condition_kind *o = condition_kind_of(json_str_or_empty(requirement, "operator"),
                                                       of_nodes);
    if (!o)
        spot_invalid(r, SPOT(at, "operator"), json_object_get(requirement, "operator"),
                     "not a valid selector operator");
    else if (o->arity == ARITY_MANY && count == 0)
        spot_required(r, values, "must be specified when `operator` is 'In' or 'NotIn'");
    else if (o->arity == ARITY_ONE && count != 1)
        spot_required(r, values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    else if (o->arity == ARITY_NONE && count > 0)
        spot_forbidden(r, values,
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    validate_qualified_name(json_str_or_empty(requirement, "key"), SPOT(at, "key"), r);
}

static void validate_requirements(const json_t *list, bool of_nodes, const struct spot *at,
                                  struct refusal *r)
{
    JSON_EACH_AT (i, requirement, list)
        validate_requirement(requirement, of_nodes, SPOT_ITEM(at, i), r);
}

void validate_label_selector(const json_t *selector, const struct spot *at, struct refusal *r)
{
    validate_labels(json_object_get(selector, "matchLabels"), SPOT(at, "matchLabels"), r);
    validate_requirements(json_object_get(selector, "matchExpressions"), false,
                          SPOT(at, "matchExpressions"), r);
}

static void validate_field(const json_t *requirement, const struct spot *at, struct refusal *r)
{
    if (!str_eq(json_key(requirement, "key"), "metadata.name"))
        spot_invalid(r, SPOT(at, "key"), json_object_get(requirement, "key"),
                     "not a valid field selector key");
}

void validate_node_selector(const json_t *selector, const struct spot *at, struct refusal *r)
{
    const struct spot *terms = SPOT(at, "nodeSelectorTerms");
    const json_t *list = json_object_get(selector, "nodeSelectorTerms");
    if (selector && json_array_size(list) == 0)
        spot_required(r, terms, "must have at least one node selector term");
    JSON_EACH_AT (i, term, list) {
        const struct spot *here = SPOT_ITEM(terms, i);
        validate_requirements(json_object_get(term, "matchExpressions"), true,
                              SPOT(here, "matchExpressions"), r);
        JSON_EACH_AT (j, field, json_object_get(term, "matchFields"))
            validate_field(field, SPOT_ITEM(SPOT(here, "matchFields"), j), r);
    }
}

static const char *const toleration_effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute",
                                                  NULL };
static const char *const toleration_operators[] = { "Equal", "Exists", NULL };

static void validate_toleration(const json_t *t, const struct spot *at, struct refusal *r)
{
    const char *key = json_str_or_empty(t, "key"), *how = json_str_or_empty(t, "operator");
    const struct spot *how_at = SPOT(at, "operator");
    if (*key)
        validate_qualified_name(key, SPOT(at, "key"), r);
    else if (!str_eq(how, "Exists"))
        spot_invalid_text(r, how_at, how,
                          "operator must be Exists when `key` is empty, which means \"match all "
                          "values and all keys\"");
    if (json_object_get(t, "tolerationSeconds") && !str_eq(json_key(t, "effect"), "NoExecute"))
        spot_invalid_text(r, SPOT(at, "effect"), json_str_or_empty(t, "effect"),
                          "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (str_eq(how, "Exists") && *json_str_or_empty(t, "value"))
        spot_invalid_text(r, how_at, json_str_or_empty(t, "value"),
                          "value must be empty when `operator` is 'Exists'");
    if (*how)
        validate_word(t, "operator", toleration_operators, at, r);
    if (*json_str_or_empty(t, "effect"))
        validate_word(t, "effect", toleration_effects, at, r);
}

void validate_tolerations(const json_t *tolerations, const struct spot *at, struct refusal *r)
{
    JSON_EACH_AT (i, t, tolerations)
        validate_toleration(t, SPOT_ITEM(at, i), r);
}
