#include "reconcilers/model/policy_fields.h"

#include <stdlib.h>

#include "reconcilers/model/names.h"

#define MINUTES 60
#define HOURS (60 * MINUTES)
#define DAYS (24 * HOURS)

/* Rows by type: name, then the type's parameters. Rare members follow as designated
 * initialisers. */
#define OBJECT(n, c, ...)                                                                          \
    {                                                                                              \
        .name = n, .type = FIELD_OBJECT, .children = c, ##__VA_ARGS__                              \
    }
#define LIST(n, c, most, ...)                                                                      \
    {                                                                                              \
        .name = n, .type = FIELD_LIST, .children = c, .max = most, ##__VA_ARGS__                   \
    }
#define STRINGS(n, f, most, ...)                                                                   \
    {                                                                                              \
        .name = n, .type = FIELD_STRINGS, .format = f, .max = most, ##__VA_ARGS__                  \
    }
#define MAP(n, most, r, ...)                                                                       \
    {                                                                                              \
        .name = n, .type = FIELD_MAP, .format = FORMAT_LABEL_VALUE, .max = most, .rules = r,       \
        ##__VA_ARGS__                                                                              \
    }
#define ENUM_MAP(n, v, most, r)                                                                    \
    {                                                                                              \
        .name = n, .type = FIELD_MAP, .values = v, .max = most, .rules = r                         \
    }
#define STRING(n, f, d, ...)                                                                       \
    {                                                                                              \
        .name = n, .type = FIELD_STRING, .format = f, .fallback = d, ##__VA_ARGS__                 \
    }
#define ENUM(n, v, d, ...)                                                                         \
    {                                                                                              \
        .name = n, .type = FIELD_ENUM, .values = v, .fallback = d, ##__VA_ARGS__                   \
    }
#define BOOL(n, d, ...)                                                                            \
    {                                                                                              \
        .name = n, .type = FIELD_BOOL, .fallback = d, ##__VA_ARGS__                                \
    }
#define INT(n, d, lo, hi, ...)                                                                     \
    {                                                                                              \
        .name = n, .type = FIELD_INT, .fallback = d, .min = lo, .max = hi, ##__VA_ARGS__           \
    }
#define COUNT(n, d, hi)                                                                            \
    {                                                                                              \
        .name = n, .type = FIELD_COUNT, .format = FORMAT_PERCENT, .fallback = d, .min = 1,         \
        .max = hi                                                                                  \
    }
#define DURATION(n, d, lo, hi, ...)                                                                \
    {                                                                                              \
        .name = n, .type = FIELD_DURATION, .format = FORMAT_DURATION, .fallback = d, .min = lo,    \
        .max = hi, ##__VA_ARGS__                                                                   \
    }
#define QUANTITY(n)                                                                                \
    {                                                                                              \
        .name = n, .type = FIELD_QUANTITY, .format = FORMAT_QUANTITY                               \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

#define VALUES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define FLAGS(f) .flags = f
#define RULES(r) .rules = r

static const struct policy_field expression_fields[] = {
    STRING("key", FORMAT_LABEL_KEY, NULL, FLAGS(FIELD_REQUIRED)),
    ENUM("operator", VALUES("In", "NotIn", "Exists", "DoesNotExist"), NULL, FLAGS(FIELD_REQUIRED)),
    STRINGS("values", FORMAT_LABEL_VALUE, 64),
    END,
};

static const struct policy_field selector_fields[] = {
    MAP("matchLabels", 32, policy_rules_keys),
    LIST("matchExpressions", expression_fields, 32, RULES(policy_rules_expression)),
    END,
};

#define VARIABLE_FIELDS(r)                                                                         \
    STRING("name", FORMAT_VARIABLE, NULL, RULES(r), FLAGS(FIELD_REQUIRED)),                        \
        STRING("value", FORMAT_TEXT, NULL, FLAGS(FIELD_REQUIRED)), END

/* variable_fields_DRIVER, …; an operand without a field `env` has no use for its own. */
#define OPERAND(id, ...)                                                                           \
    __attribute__((unused)) static const struct policy_field variable_fields_##id[] = {            \
        VARIABLE_FIELDS(policy_rules_variable_##id)                                                \
    };
#define OPERAND_OF_POLICY(...)
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"

static const struct policy_field quantity_fields[] = {
    QUANTITY("cpu"),
    QUANTITY("memory"),
    QUANTITY("ephemeral-storage"),
    END,
};

static const struct policy_field resource_fields[] = {
    OBJECT("requests", quantity_fields),
    OBJECT("limits", quantity_fields),
    END,
};

static const struct policy_field toleration_fields[] = {
    STRING("key", FORMAT_LABEL_KEY, NULL),
    ENUM("operator", VALUES("Equal", "Exists"), "Equal"),
    STRING("value", FORMAT_LABEL_VALUE, NULL),
    ENUM("effect", VALUES("NoSchedule", "PreferNoSchedule", "NoExecute"), NULL),
    INT("tolerationSeconds", NULL, 0, 2147483647),
    END,
};

/* Fields of several operands, which the tables below combine. */
#define IMAGE_FIELDS                                                                               \
    STRING("repository", FORMAT_REPOSITORY, NULL), STRING("image", FORMAT_IMAGE, NULL),            \
        STRING("version", FORMAT_VERSION, NULL)
#define PULL_FIELDS                                                                                \
    ENUM("imagePullPolicy", VALUES("Always", "IfNotPresent", "Never"), "IfNotPresent"),            \
        STRINGS("imagePullSecrets", FORMAT_SUBDOMAIN, 8, FLAGS(FIELD_UNIQUE))
#define COMMAND_FIELDS(id)                                                                         \
    LIST("env", variable_fields_##id, 64, FLAGS(FIELD_UNIQUE)), STRINGS("args", FORMAT_ARGUMENT, 32)
#define POD_FIELDS                                                                                 \
    OBJECT("resources", resource_fields),                                                          \
        STRING("priorityClassName", FORMAT_SUBDOMAIN, "system-node-critical"),                     \
        MAP("labels", 32, policy_rules_child_labels),                                              \
        LIST("tolerations", toleration_fields, 16, RULES(policy_rules_toleration))
static const struct policy_field named_fields[] = { STRING("name", FORMAT_SUBDOMAIN, NULL), END };

/* The name of the ConfigMap or Secret alone makes a revision: only the kubelet reads the
 * content. */
#define DRIVER_FILE_FIELDS                                                                         \
    OBJECT("repoConfig", named_fields), OBJECT("certConfig", named_fields),                        \
        OBJECT("kernelModuleConfig", named_fields), STRING("secretEnv", FORMAT_SUBDOMAIN, NULL)
static const struct policy_field rdma_fields[] = { BOOL("enabled", "false"),
                                                   BOOL("useHostMofed", "false"), END };

static const struct policy_field gdrcopy_fields[] = { BOOL("enabled", "false"), IMAGE_FIELDS, END };

/* Fields that make a driver revision and so may differ between pools. */
#define DRIVER_REVISION_FIELDS(id)                                                                 \
    ENUM("source", VALUES("Auto", "Container", "COS", "Host"), "Auto"),                            \
        ENUM("kernelModule", VALUES("Auto", "Open", "Proprietary"), "Auto"),                       \
        BOOL("precompiled", "false"), IMAGE_FIELDS, COMMAND_FIELDS(id), DRIVER_FILE_FIELDS,        \
        OBJECT("rdma", rdma_fields), OBJECT("gdrcopy", gdrcopy_fields)

#define TAINT_FIELDS                                                                               \
    BOOL("enabled", "true"),                                                                       \
        STRING("key", FORMAT_LABEL_KEY, NVIDIA_GPU, RULES(policy_rules_taint_key)),                \
        STRING("value", FORMAT_LABEL_VALUE, "present"),                                            \
        ENUM("effect", VALUES("NoSchedule", "PreferNoSchedule"), "NoSchedule"),                    \
        BOOL("foreign", "false")

static const struct policy_field taint_fields[] = { TAINT_FIELDS, END };

static const struct policy_field startup_taint_fields[] = {
    BOOL("enabled", "true"),
    STRING("key", FORMAT_LABEL_KEY, TAINT_STARTUP, RULES(policy_rules_own_taint_key)),
    DURATION("timeout", "30m", 1 * MINUTES, 1 * DAYS),
    END,
};

static const struct policy_field nodes_fields[] = {
    OBJECT("selector", selector_fields),
    OBJECT("taint", taint_fields),
    OBJECT("startupTaint", startup_taint_fields),
    MAP("labels", 32, policy_rules_node_labels),
    END,
};

/* One probe of ostler-node takes up to 50 seconds (DRIVER_PROBE_MS). */
static const struct policy_field startup_probe_fields[] = {
    INT("initialDelaySeconds", "5", 0, 3600),
    INT("periodSeconds", "10", 1, 3600),
    INT("timeoutSeconds", "60", 60, 3600),
    INT("failureThreshold", "60", 1, 10000),
    END,
};

/* Fields of the operands' sections, named by the rows of operand_rows.h: for the policy, and with
 * the prefix POOL_ for a pool. */
#define DRIVER_FIELDS(id)                                                                          \
    DRIVER_REVISION_FIELDS(id), OBJECT("startupProbe", startup_probe_fields), PULL_FIELDS,         \
        POD_FIELDS
#define POOL_DRIVER_FIELDS(id) DRIVER_REVISION_FIELDS(id)

/* Toolkit fields that make a stack revision, so pools may override them. The first two have no
 * default: if `source` is absent, `enabled` decides it. */
#define POOL_TOOLKIT_FIELDS(id)                                                                    \
    BOOL("enabled", NULL), ENUM("source", VALUES("Auto", "Ostler", "Host"), NULL),                 \
        STRING("installDir", FORMAT_INSTALL_DIR, "/usr/local/nvidia"), IMAGE_FIELDS,               \
        COMMAND_FIELDS(id)

#define TOOLKIT_FIELDS(id) POOL_TOOLKIT_FIELDS(id), PULL_FIELDS, POD_FIELDS

static const struct policy_field plugin_config_fields[] = {
    STRING("name", FORMAT_SUBDOMAIN, NULL),
    STRING("default", FORMAT_DATA_KEY, NULL),
    END,
};

/* Device plugin fields likewise. The rules of a whole `config` need not hold for a pool's part of
 * it. */
#define PLUGIN_REVISION_FIELDS(id, ...)                                                            \
    BOOL("enabled", "true"), ENUM("migStrategy", VALUES("none", "single", "mixed"), "none"),       \
        OBJECT("config", plugin_config_fields, __VA_ARGS__), IMAGE_FIELDS, COMMAND_FIELDS(id)

#define PLUGIN_FIELDS(id)                                                                          \
    PLUGIN_REVISION_FIELDS(id, RULES(policy_rules_plugin_config)), PULL_FIELDS, POD_FIELDS
#define POOL_PLUGIN_FIELDS(id) PLUGIN_REVISION_FIELDS(id, FLAGS(FIELD_OVERRIDES))

static const struct policy_field service_monitor_fields[] = {
    BOOL("enabled", "false"),
    DURATION("interval", "30s", 1, 1 * HOURS),
    MAP("labels", 32, policy_rules_child_labels),
    END,
};

/* Fields of a follower without special needs. One DaemonSet serves all pools, so pools can override
 * no more than this. */
#define FOLLOWER_FIELDS(id)                                                                        \
    BOOL("enabled", "true"), IMAGE_FIELDS, PULL_FIELDS, COMMAND_FIELDS(id), POD_FIELDS
#define POOL_FOLLOWER_FIELDS(id) BOOL("enabled", "true")

#define EXPORTER_FIELDS(id)                                                                        \
    STRING("metricsConfig", FORMAT_SUBDOMAIN, NULL), DURATION("interval", "30s", 1, 1 * HOURS),    \
        OBJECT("serviceMonitor", service_monitor_fields), FOLLOWER_FIELDS(id)
#define POOL_EXPORTER_FIELDS(id) POOL_FOLLOWER_FIELDS(id)

/* Its image, its pull settings and its command are Ostler's own. */
#define NODE_CARDS_FIELDS(id) BOOL("enabled", "true"), POD_FIELDS
#define POOL_NODE_CARDS_FIELDS(id) POOL_FOLLOWER_FIELDS(id)

#define AGENT_FIELDS(id)                                                                           \
    BOOL("enabled", "true"), ENUM("labels", VALUES("Auto", "Ostler", "None"), "Auto"),             \
        STRING("seccompProfile", FORMAT_PROFILE, NULL), PULL_FIELDS

#define VALIDATION_FIELDS(id)                                                                      \
    BOOL("enabled", "true"), DURATION("timeout", "10m", 1 * MINUTES, 1 * DAYS), IMAGE_FIELDS,      \
        PULL_FIELDS

/* fields_DRIVER, … */
#define OPERAND(id, name, section, fields, ...)                                                    \
    static const struct policy_field fields_##id[] = { fields(id), END };
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"

/* pool_fields_DRIVER, … */
#define OPERAND(id, name, section, fields, ...)                                                    \
    static const struct policy_field pool_fields_##id[] = { POOL_##fields(id), END };
#define OPERAND_OF_POLICY(...)
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"

static const struct policy_field pool_taint_fields[] = { TAINT_FIELDS, END };

static const struct policy_field pool_fields[] = {
    STRING("name", FORMAT_POOL, NULL, RULES(policy_rules_pool_name), FLAGS(FIELD_REQUIRED)),
    MAP("nodeSelector", 16, policy_rules_keys, .min = 1, FLAGS(FIELD_REQUIRED)),
    MAP("nodeLabels", 32, policy_rules_node_labels),
#define OPERAND(id, name, section, fields, section_rules, ...)                                     \
    OBJECT(section, pool_fields_##id, RULES(section_rules), FLAGS(FIELD_OVERRIDES)),
#define OPERAND_OF_POLICY(...)
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"
    OBJECT("taint", pool_taint_fields, FLAGS(FIELD_OVERRIDES)),
    END,
};

static const struct policy_field canary_fields[] = {
    INT("nodes", "1", 0, 100),
    DURATION("soak", "15m", 0, 7 * DAYS),
    END,
};

static const struct policy_field window_fields[] = {
    STRING("schedule", FORMAT_SCHEDULE, NULL, FLAGS(FIELD_REQUIRED)),
    DURATION("duration", NULL, 1 * MINUTES, 7 * DAYS, FLAGS(FIELD_REQUIRED)),
    STRING("timeZone", FORMAT_TIME_ZONE, "UTC"),
    END,
};

static const struct policy_field drain_fields[] = {
    ENUM("mode", VALUES("GpuPods", "AllPods"), "GpuPods"),
    DURATION("waitForJobs", NULL, 0, 365 * DAYS),
    DURATION("timeout", "15m", 1 * MINUTES, 7 * DAYS),
    ENUM("onTimeout", VALUES("Release", "Delete"), "Release"),
    BOOL("deleteEmptyDir", "true"),
    BOOL("force", "false"),
    OBJECT("podSelector", selector_fields),
    END,
};

static const struct policy_field timeouts_fields[] = {
    DURATION("install", "30m", 1 * MINUTES, 1 * DAYS),
    DURATION("validation", "10m", 1 * MINUTES, 1 * DAYS),
    END,
};

static const struct policy_field rollout_fields[] = {
    BOOL("paused", "false"),
    ENUM("approval", VALUES("Automatic", "Manual"), "Automatic"),
    COUNT("maxParallel", "1", 10000),
    COUNT("maxUnavailable", "25%", 10000),
    COUNT("maxUnavailableGpus", NULL, 1000000),
    STRING("topologyKey", FORMAT_LABEL_KEY, NULL),
    STRING("taintKey", FORMAT_LABEL_KEY, TAINT_UPGRADE, RULES(policy_rules_own_taint_key)),
    ENUM("order", VALUES("IdleFirst", "Name"), "IdleFirst"),
    OBJECT("canary", canary_fields),
    DURATION("soak", "0s", 0, 7 * DAYS),
    COUNT("failureThreshold", "1", 10000),
    ENUM("onFailure", VALUES("Rollback", "Pause"), "Rollback"),
    LIST("windows", window_fields, 16),
    OBJECT("drain", drain_fields),
    OBJECT("timeouts", timeouts_fields),
    END,
};

static const struct policy_field brake_fields[] = {
    DURATION("window", "10m", 1 * MINUTES, 24 * HOURS),
    COUNT("maxNodes", "20%", 10000),
    INT("floor", "2", 0, 10000),
    DURATION("cooldown", "15m", 1 * MINUTES, 24 * HOURS),
    END,
};

static const struct policy_field attempts_fields[] = {
    INT("reset", "1", 0, 4),
    INT("reboot", "2", 0, 4),
    DURATION("per", "168h", 1 * HOURS, 30 * DAYS),
    END,
};

static const struct policy_field health_fields[] = {
    ENUM("mode", VALUES("Observe", "Close", "Repair"), "Close"),
    BOOL("kernelLog", "false"),
    ENUM_MAP("xids", VALUES("None", "Event", "ResetWhenIdle", "Close", "Reboot", "Human"), 64,
             policy_rules_xids),
    ENUM("afterJobs", VALUES("Wait", "Drain"), "Wait"),
    DURATION("drainAfter", "4h", 0, 30 * DAYS),
    ENUM("reboot", VALUES("None", "Pod", "Sentinel"), "None"),
    OBJECT("brake", brake_fields),
    OBJECT("attempts", attempts_fields),
    END,
};

const struct policy_field policy_fields[] = {
    OBJECT("nodes", nodes_fields),
#define OPERAND(id, name, section, fields, section_rules, ...)                                     \
    OBJECT(section, fields_##id, RULES(section_rules)),
#define OPERAND_WITHIN(...)
#include "reconcilers/model/operand_rows.h"
    LIST("pools", pool_fields, 32, FLAGS(FIELD_UNIQUE)),
    OBJECT("rollout", rollout_fields),
    OBJECT("health", health_fields),
    END,
};
