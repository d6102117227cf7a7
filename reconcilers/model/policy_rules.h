#ifndef OSTLER_MODEL_POLICY_RULES_H
#define OSTLER_MODEL_POLICY_RULES_H

#include <stdbool.h>

#include <jansson.h>

/* Rules that type and format of a field cannot express. The CRD has the same rules in CEL with the
 * same messages; a test compares them. */
struct policy_rule {
    const char *message;                /* the requirement; NULL ends a list */
    bool (*holds)(const json_t *value); /* for a value with valid type and format; NULL: */
    bool (*refuses)(const char *text);  /* whether the string, or a key of the map, is wrong */
};

/* Whether a value with valid type and format meets the rule. */
bool policy_rule_holds(const struct policy_rule *r, const json_t *value);

/* Whether a label or taint key is under kubernetes.io or k8s.io. A policy cannot ask for such keys
 * on nodes. */
bool policy_key_of_kubernetes(const char *key);
/* The same for taint keys, except those that autoscalers reserve for users. */
bool policy_taint_of_kubernetes(const char *key);

/* Keys of a map of labels. */
extern const struct policy_rule policy_rules_keys[];
/* Node labels: no keys of Kubernetes or Ostler. */
extern const struct policy_rule policy_rules_node_labels[];
/* Labels for objects that Ostler creates: none that Ostler sets itself. */
extern const struct policy_rule policy_rules_child_labels[];
/* The key of the taint of GPU nodes, and of the startup taint. */
extern const struct policy_rule policy_rules_taint_key[];
extern const struct policy_rule policy_rules_own_taint_key[];
/* An item of matchExpressions. */
extern const struct policy_rule policy_rules_expression[];
extern const struct policy_rule policy_rules_toleration[];
/* The name of a variable, for each operand: policy_rules_variable_DRIVER, … */
#define OPERAND(id, ...) extern const struct policy_rule policy_rules_variable_##id[];
#define OPERAND_OF_POLICY(...)
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"
/* Keys of a map: numbers of Xids. */
extern const struct policy_rule policy_rules_xids[];
extern const struct policy_rule policy_rules_plugin_config[];
extern const struct policy_rule policy_rules_pool_name[];
/* The driver section of the policy and of a pool. */
extern const struct policy_rule policy_rules_driver[];

#endif
