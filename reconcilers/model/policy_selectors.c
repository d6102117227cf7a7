/* Rejects selectors of a policy that depend on labels that Ostler writes itself. */
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/assignment.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/policy_problems.h"

/* Such a selector would loop: Ostler labels a node because the selector matches, then the selector
 * no longer matches, Ostler removes the label, and so on for ever. Ostler labels only nodes that
 * lack the label, so only conditions that hold without it and fail with it are checked. */

/* Whether a map has the label; value NULL: any value. */
static bool policy_selectors_has(const json_t *labels, const char *key, const char *value)
{
    const char *given = json_key(labels, key);
    return given && (!value || str_eq(given, value));
}

static bool pools_give(const json_t *spec, const char *key, const char *value)
{
    size_t i;
    json_t *pool;
    json_array_foreach (json_object_get(spec, "pools"), i, pool)
        if (policy_selectors_has(json_object_get(pool, "nodeLabels"), key, value))
            return true;
    return false;
}

/* The assignment labels, whose values cannot be predicted. */
static bool is_assignment(const char *key)
{
    for (const struct operand_row *o = operand_rows; o->section; o++)
        if (o->off_label && str_eq(key, o->off_label))
            return true;
    for (enum tier t = 0; t < TIERS; t++)
        if (str_eq(key, tiers[t].label))
            return true;
    return str_eq(key, LABEL_REMOVAL);
}

static bool policy_selectors_is_given(const json_t *spec, const char *key, const char *value)
{
    bool present = vendor_of_present(key) && (!value || str_eq(value, "true"));
    return present || is_assignment(key) ||
           policy_selectors_has(json_at(spec, "nodes.labels"), key, value) ||
           pools_give(spec, key, value);
}

/* Whether an expression holds until Ostler has labelled the node. */
static bool holds_until_given(const json_t *spec, const json_t *expression)
{
    const char *key = json_key(expression, "key"), *operator= json_key(expression, "operator");
    if (key && str_eq(operator, "DoesNotExist"))
        return policy_selectors_is_given(spec, key, NULL);
    size_t i;
    json_t *value;
    if (key && str_eq(operator, "NotIn"))
        json_array_foreach (json_object_get(expression, "values"), i, value)
            if (json_is_string(value) &&
                policy_selectors_is_given(spec, key, json_string_value(value)))
                return true;
    return false;
}

static void check_nodes(const json_t *spec, const struct policy_place *root,
                        struct policy_problems *problems)
{
    struct policy_place nodes = { .up = root, .kind = PLACE_FIELD, .name = "nodes" };
    struct policy_place selector = { .up = &nodes, .kind = PLACE_FIELD, .name = "selector" };
    struct policy_place expressions = { .up = &selector,
                                        .kind = PLACE_FIELD,
                                        .name = "matchExpressions" };
    size_t i;
    json_t *expression;
    json_array_foreach (json_at(spec, "nodes.selector.matchExpressions"), i, expression) {
        struct policy_place at = { .up = &expressions, .kind = PLACE_ITEM, .index = i };
        if (holds_until_given(spec, expression))
            policy_problem_add(problems, &at,
                               "asks for nodes without the label \"%s\", which Ostler gives to the "
                               "nodes that are found",
                               json_key(expression, "key"));
    }
}

/* A pool's labels change with the pool, so no pool may select by them. */
static void check_pools(const json_t *spec, const struct policy_place *root,
                        struct policy_problems *problems)
{
    struct policy_place pools = { .up = root, .kind = PLACE_FIELD, .name = "pools" };
    size_t i;
    json_t *pool, *value;
    const char *key;
    json_array_foreach (json_object_get(spec, "pools"), i, pool) {
        struct policy_place item = { .up = &pools, .kind = PLACE_ITEM, .index = i };
        struct policy_place at = { .up = &item, .kind = PLACE_FIELD, .name = "nodeSelector" };
        json_object_foreach (json_object_get(pool, "nodeSelector"), key, value)
            if (is_assignment(key) || pools_give(spec, key, NULL))
                policy_problem_add(
                    problems, &at,
                    "asks for the label \"%s\", which Ostler gives to nodes by their pool", key);
    }
}

void policy_check_selectors(const json_t *spec, struct policy_problems *problems)
{
    const struct policy_place root = { .kind = PLACE_FIELD, .name = "spec" };
    check_nodes(spec, &root, problems);
    check_pools(spec, &root, problems);
}
