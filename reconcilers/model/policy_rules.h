#ifndef OSTLER_MODEL_POLICY_RULES_H
#define OSTLER_MODEL_POLICY_RULES_H

#include <stdbool.h>

#include <jansson.h>

/*
 * What the type and format of a field cannot say. The CRD says the same in CEL, rule by rule with
 * the same messages; a test compares them.
 */
struct policy_rule {
    const char *message;            /* what must be; NULL ends a list */
    bool (*holds)(const json_t *value); /* of a value whose type and format are right */
};

/* Whether a key of a label or taint is under kubernetes.io or k8s.io: no policy can ask for those on nodes. */
bool policy_key_of_kubernetes(const char *key);
/* The same of a taint's key: those that autoscalers give away are anybody's. */
bool policy_taint_of_kubernetes(const char *key);

/* Keys of a map of labels. */
extern const struct policy_rule policy_rules_keys[];
/* Labels for nodes: no keys of Kubernetes' or ours. */
extern const struct policy_rule policy_rules_node_labels[];
/* Labels for objects that Ostler makes: none that it sets itself. */
extern const struct policy_rule policy_rules_child_labels[];
/* The key of the taint of GPU nodes, and of the startup taint. */
extern const struct policy_rule policy_rules_taint_key[];
extern const struct policy_rule policy_rules_own_taint_key[];
/* An item of matchExpressions. */
extern const struct policy_rule policy_rules_expression[];
extern const struct policy_rule policy_rules_toleration[];
/* The name of a variable, by the operand that gets it: policy_rules_variable_DRIVER, … */
#define OPERAND(id, ...) extern const struct policy_rule policy_rules_variable_##id[];
#define OPERAND_OF_POLICY(...)
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"
extern const struct policy_rule policy_rules_plugin_config[];
extern const struct policy_rule policy_rules_pool_name[];
/* The driver, of the policy and of a pool. */
extern const struct policy_rule policy_rules_driver[];

#endif
