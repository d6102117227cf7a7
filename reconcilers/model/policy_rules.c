#include "reconcilers/model/policy_rules.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/autoscaler.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/operand.h"
#include "reconcilers/model/policy_formats.h"

/* Whether a label key is under a domain or one of its subdomains. */
static bool is_under(const char *key, const char *domain)
{
    const char *slash = strchr(key, '/');
    size_t n = strlen(domain);
    if (!slash || (size_t) (slash - key) < n)
        return false;
    const char *start = slash - n;
    return strncmp(start, domain, n) == 0 && (start == key || start[-1] == '.');
}

bool policy_key_of_kubernetes(const char *key)
{
    return is_under(key, "kubernetes.io") || is_under(key, "k8s.io");
}

bool policy_taint_of_kubernetes(const char *key)
{
    return policy_key_of_kubernetes(key) && !autoscaler_gives_key(key);
}

static bool policy_rules_is_ours(const char *key)
{
    return is_under(key, "ostler.dev");
}

bool policy_rule_holds(const struct policy_rule *r, const json_t *value)
{
    if (r->holds)
        return r->holds(value);
    JSON_EACH_MEMBER (key, member, value)
        if (r->refuses(key))
            return false;
    return !json_is_string(value) || !r->refuses(json_string_value(value));
}

static bool is_no_label_key(const char *key)
{
    return !policy_format_matches(FORMAT_LABEL_KEY, key);
}

static bool no_key_of_children(const json_t *map)
{
    return !json_object_get(map, "app.kubernetes.io/managed-by") &&
           !json_object_get(map, "app.kubernetes.io/component");
}

static bool values_fit_operator(const json_t *expression)
{
    const char *op = json_str_or_empty(expression, "operator");
    bool compares = str_eq(op, "In") || str_eq(op, "NotIn");
    return compares == (json_array_size(json_object_get(expression, "values")) > 0);
}

static bool key_fits_operator(const json_t *toleration)
{
    if (str_eq(json_str(toleration, "operator"), "Exists"))
        return !json_str(toleration, "value");
    return json_str(toleration, "key");
}

static bool seconds_fit_effect(const json_t *toleration)
{
    return !json_at(toleration, "tolerationSeconds") ||
           str_eq(json_str(toleration, "effect"), "NoExecute");
}

static bool is_read(const char *key)
{
    return vendor_of_present(key) || str_eq(key, LABEL_DEPLOY_OPERANDS);
}

static bool is_of_the_loader(const char *name)
{
    return str_has_prefix(name, "LD_");
}

/* Up to five digits, as for an SXid: 1 to 99999. */
static bool is_no_xid(const char *key)
{
    size_t digits = strspn(key, "0123456789");
    return key[0] < '1' || key[0] > '9' || key[digits] || digits > 5;
}

static bool is_default_pool(const char *name)
{
    return str_eq(name, "default");
}

static bool is_free(enum operand operand, const json_t *name)
{
    const char *const *v = operand_get(operand)->variables;
    while (v && *v && !str_eq(*v, json_string_value(name)))
        v++;
    return !v || !*v;
}

#define OPERAND(id, ...)                                                                           \
    static bool is_free_in_##id(const json_t *name)                                                \
    {                                                                                              \
        return is_free(OPERAND_##id, name);                                                        \
    }
#define OPERAND_OF_POLICY(...)
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"

static bool default_has_a_map(const json_t *config)
{
    return !json_str(config, "default") || json_str(config, "name");
}

static bool has_digest(const json_t *driver)
{
    return str_has_prefix(json_str_or_empty(driver, "version"), "sha256:");
}

static bool precompiled_has_no_digest(const json_t *driver)
{
    return !json_bool(driver, "precompiled", false) || !has_digest(driver);
}

static bool cos_has_no_digest(const json_t *driver)
{
    return !str_eq(json_str(driver, "source"), "COS") || !has_digest(driver);
}

#define RULE_KEYS                                                                                  \
    {                                                                                              \
        "every key must be a label key, such as \"team\" or \"example.com/team\"", NULL,           \
            is_no_label_key                                                                        \
    }
#define RULE_NOT_OURS                                                                              \
    {                                                                                              \
        "keys under ostler.dev belong to Ostler and cannot be set here", NULL,                     \
            policy_rules_is_ours                                                                   \
    }
#define RULE_NOT_OF_KUBERNETES                                                                     \
    {                                                                                              \
        "keys under kubernetes.io and k8s.io belong to Kubernetes and cannot be used here", NULL,  \
            policy_taint_of_kubernetes                                                             \
    }
#define RULE_NOT_OF_THE_LOADER                                                                     \
    {                                                                                              \
        "names that begin with LD_ are refused: they decide which code a privileged container "    \
        "loads",                                                                                   \
            NULL, is_of_the_loader                                                                 \
    }
#define RULE_FREE(is_free_there)                                                                   \
    {                                                                                              \
        "is set by Ostler itself and cannot be set here", is_free_there, NULL                      \
    }
#define RULES_END                                                                                  \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }

const struct policy_rule policy_rules_keys[] = { RULE_KEYS, RULES_END };

const struct policy_rule policy_rules_node_labels[] = {
    RULE_KEYS,
    { "keys under kubernetes.io and k8s.io belong to Kubernetes and cannot be set here", NULL,
      policy_key_of_kubernetes },
    RULE_NOT_OURS,
    { LABEL_GPU_PRESENT " and " LABEL_DEPLOY_OPERANDS
                        " say which nodes are served and cannot be set here",
      NULL, is_read },
    RULES_END,
};

const struct policy_rule policy_rules_child_labels[] = {
    RULE_KEYS,
    RULE_NOT_OURS,
    { "app.kubernetes.io/managed-by and app.kubernetes.io/component are set by Ostler",
      no_key_of_children, NULL },
    RULES_END,
};

const struct policy_rule policy_rules_taint_key[] = {
    RULE_NOT_OF_KUBERNETES,
    { "keys under ostler.dev belong to Ostler and cannot be used here", NULL,
      policy_rules_is_ours },
    RULES_END,
};

const struct policy_rule policy_rules_own_taint_key[] = { RULE_NOT_OF_KUBERNETES, RULES_END };

const struct policy_rule policy_rules_expression[] = {
    { "values must hold at least one value for In and NotIn, and none for Exists and DoesNotExist",
      values_fit_operator, NULL },
    RULES_END,
};

const struct policy_rule policy_rules_toleration[] = {
    { "Exists takes no value; Equal (the default) needs a key", key_fits_operator, NULL },
    { "tolerationSeconds needs effect NoExecute", seconds_fit_effect, NULL },
    RULES_END,
};

#define OPERAND(id, ...)                                                                           \
    const struct policy_rule policy_rules_variable_##id[] = { RULE_NOT_OF_THE_LOADER,              \
                                                              RULE_FREE(is_free_in_##id),          \
                                                              RULES_END };
#define OPERAND_OF_POLICY(...)
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"

const struct policy_rule policy_rules_xids[] = {
    { "every key must be the number of an Xid, such as \"109\"", NULL, is_no_xid },
    RULES_END,
};

const struct policy_rule policy_rules_plugin_config[] = {
    { "default is a key of the ConfigMap that name gives: set name too", default_has_a_map, NULL },
    RULES_END,
};

const struct policy_rule policy_rules_pool_name[] = {
    { "default is the name of the pool of all other nodes", NULL, is_default_pool },
    RULES_END,
};

const struct policy_rule policy_rules_driver[] = {
    { "a precompiled driver has one image for each kernel: version cannot be a digest",
      precompiled_has_no_digest, NULL },
    { "the installer of Container-Optimized OS takes the driver's own version, such as 580.178.04: "
      "version cannot be a digest",
      cos_has_no_digest, NULL },
    RULES_END,
};
