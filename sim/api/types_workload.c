/* Kinds that make pods, and budgets for them. */
#include "sim/api/types.h"

#include "sim/api/complete.h"

static const struct field controller_revision_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("data", FREE),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("revision", INT64, .fallback = "0"),
    { 0 },
};
const struct type type_controller_revision = { "ControllerRevision", controller_revision_fields, NULL };

static const struct field rolling_update_daemon_set_fields[] = {
    FIELD("maxSurge", INT_OR_STRING | KEEP_ZERO),
    FIELD("maxUnavailable", INT_OR_STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_rolling_update_daemon_set = { "RollingUpdateDaemonSet", rolling_update_daemon_set_fields, NULL };

static const struct field daemon_set_update_strategy_fields[] = {
    FIELD("rollingUpdate", STRUCT, .of = &type_rolling_update_daemon_set),
    FIELD("type", STRING),
    { 0 },
};
static const struct type type_daemon_set_update_strategy = { "DaemonSetUpdateStrategy", daemon_set_update_strategy_fields, NULL };

static const struct field daemon_set_spec_fields[] = {
    FIELD("minReadySeconds", INT32),
    FIELD("revisionHistoryLimit", INT32 | KEEP_ZERO, .fallback = "10"),
    FIELD("selector", STRUCT, .of = &type_label_selector),
    FIELD("template", STRUCT, .of = &type_pod_template_spec, .fallback = "{}"),
    FIELD("updateStrategy", STRUCT, .of = &type_daemon_set_update_strategy, .fallback = "{}"),
    { 0 },
};
static const struct type type_daemon_set_spec = { "DaemonSetSpec", daemon_set_spec_fields, complete_daemon_set_spec };

static const struct field daemon_set_condition_fields[] = {
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_daemon_set_condition = { "DaemonSetCondition", daemon_set_condition_fields, NULL };

static const struct field daemon_set_status_fields[] = {
    FIELD("collisionCount", INT32 | KEEP_ZERO),
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_daemon_set_condition),
    FIELD("currentNumberScheduled", INT32, .fallback = "0"),
    FIELD("desiredNumberScheduled", INT32, .fallback = "0"),
    FIELD("numberAvailable", INT32),
    FIELD("numberMisscheduled", INT32, .fallback = "0"),
    FIELD("numberReady", INT32, .fallback = "0"),
    FIELD("numberUnavailable", INT32),
    FIELD("observedGeneration", INT64),
    FIELD("updatedNumberScheduled", INT32),
    { 0 },
};
static const struct type type_daemon_set_status = { "DaemonSetStatus", daemon_set_status_fields, NULL };

static const struct field daemon_set_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_daemon_set_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_daemon_set_status, .fallback = "{}"),
    { 0 },
};
const struct type type_daemon_set = { "DaemonSet", daemon_set_fields, complete_daemon_set };

static const struct field rolling_update_deployment_fields[] = {
    FIELD("maxSurge", INT_OR_STRING | KEEP_ZERO),
    FIELD("maxUnavailable", INT_OR_STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_rolling_update_deployment = { "RollingUpdateDeployment", rolling_update_deployment_fields, NULL };

static const struct field deployment_strategy_fields[] = {
    FIELD("rollingUpdate", STRUCT, .of = &type_rolling_update_deployment),
    FIELD("type", STRING),
    { 0 },
};
static const struct type type_deployment_strategy = { "DeploymentStrategy", deployment_strategy_fields, NULL };

static const struct field deployment_spec_fields[] = {
    FIELD("minReadySeconds", INT32),
    FIELD("paused", BOOL),
    FIELD("progressDeadlineSeconds", INT32 | KEEP_ZERO, .fallback = "600"),
    FIELD("replicas", INT32 | KEEP_ZERO, .fallback = "1"),
    FIELD("revisionHistoryLimit", INT32 | KEEP_ZERO, .fallback = "10"),
    FIELD("selector", STRUCT, .of = &type_label_selector),
    FIELD("strategy", STRUCT, .of = &type_deployment_strategy, .fallback = "{}"),
    FIELD("template", STRUCT, .of = &type_pod_template_spec, .fallback = "{}"),
    { 0 },
};
static const struct type type_deployment_spec = { "DeploymentSpec", deployment_spec_fields, complete_deployment_spec };

static const struct field deployment_condition_fields[] = {
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("lastUpdateTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_deployment_condition = { "DeploymentCondition", deployment_condition_fields, NULL };

static const struct field deployment_status_fields[] = {
    FIELD("availableReplicas", INT32),
    FIELD("collisionCount", INT32 | KEEP_ZERO),
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_deployment_condition),
    FIELD("observedGeneration", INT64),
    FIELD("readyReplicas", INT32),
    FIELD("replicas", INT32),
    FIELD("terminatingReplicas", INT32 | KEEP_ZERO),
    FIELD("unavailableReplicas", INT32),
    FIELD("updatedReplicas", INT32),
    { 0 },
};
static const struct type type_deployment_status = { "DeploymentStatus", deployment_status_fields, NULL };

static const struct field deployment_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_deployment_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_deployment_status, .fallback = "{}"),
    { 0 },
};
const struct type type_deployment = { "Deployment", deployment_fields, NULL };

static const struct field replica_set_spec_fields[] = {
    FIELD("minReadySeconds", INT32),
    FIELD("replicas", INT32 | KEEP_ZERO, .fallback = "1"),
    FIELD("selector", STRUCT, .of = &type_label_selector),
    FIELD("template", STRUCT, .of = &type_pod_template_spec, .fallback = "{}"),
    { 0 },
};
static const struct type type_replica_set_spec = { "ReplicaSetSpec", replica_set_spec_fields, NULL };

static const struct field replica_set_condition_fields[] = {
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_replica_set_condition = { "ReplicaSetCondition", replica_set_condition_fields, NULL };

static const struct field replica_set_status_fields[] = {
    FIELD("availableReplicas", INT32),
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_replica_set_condition),
    FIELD("fullyLabeledReplicas", INT32),
    FIELD("observedGeneration", INT64),
    FIELD("readyReplicas", INT32),
    FIELD("replicas", INT32, .fallback = "0"),
    FIELD("terminatingReplicas", INT32 | KEEP_ZERO),
    { 0 },
};
static const struct type type_replica_set_status = { "ReplicaSetStatus", replica_set_status_fields, NULL };

static const struct field replica_set_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_replica_set_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_replica_set_status, .fallback = "{}"),
    { 0 },
};
const struct type type_replica_set = { "ReplicaSet", replica_set_fields, NULL };

static const struct field job_spec_fields[] = {
    FIELD("activeDeadlineSeconds", INT64 | KEEP_ZERO),
    FIELD("backoffLimit", INT32 | KEEP_ZERO, .fallback = "6"),
    FIELD("backoffLimitPerIndex", INT32 | KEEP_ZERO),
    FIELD("completionMode", STRING | KEEP_ZERO, .fallback = "NonIndexed"),
    FIELD("completions", INT32 | KEEP_ZERO),
    FIELD("managedBy", STRING | KEEP_ZERO),
    FIELD("manualSelector", BOOL | KEEP_ZERO, .fallback = "false"),
    FIELD("maxFailedIndexes", INT32 | KEEP_ZERO),
    FIELD("parallelism", INT32 | KEEP_ZERO),
    FIELD("podFailurePolicy", FREE),
    FIELD("podReplacementPolicy", STRING | KEEP_ZERO),
    FIELD("selector", STRUCT, .of = &type_label_selector),
    FIELD("successPolicy", FREE),
    FIELD("suspend", BOOL | KEEP_ZERO, .fallback = "false"),
    FIELD("template", STRUCT, .of = &type_pod_template_spec, .fallback = "{}"),
    FIELD("ttlSecondsAfterFinished", INT32 | KEEP_ZERO),
    { 0 },
};
static const struct type type_job_spec = { "JobSpec", job_spec_fields, complete_job_spec };

static const struct field job_condition_fields[] = {
    FIELD("lastProbeTime", TIME, .fallback = "null"),
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_job_condition = { "JobCondition", job_condition_fields, NULL };

static const struct field job_status_fields[] = {
    FIELD("active", INT32),
    FIELD("completedIndexes", STRING),
    FIELD("completionTime", TIME),
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_job_condition),
    FIELD("failed", INT32),
    FIELD("failedIndexes", STRING | KEEP_ZERO),
    FIELD("ready", INT32 | KEEP_ZERO),
    FIELD("startTime", TIME),
    FIELD("succeeded", INT32),
    FIELD("terminating", INT32 | KEEP_ZERO),
    FIELD("uncountedTerminatedPods", FREE),
    { 0 },
};
static const struct type type_job_status = { "JobStatus", job_status_fields, NULL };

static const struct field job_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_job_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_job_status, .fallback = "{}"),
    { 0 },
};
const struct type type_job = { "Job", job_fields, NULL };

static const struct field pod_disruption_budget_spec_fields[] = {
    FIELD("maxUnavailable", INT_OR_STRING | KEEP_ZERO),
    FIELD("minAvailable", INT_OR_STRING | KEEP_ZERO),
    FIELD("selector", STRUCT, .of = &type_label_selector),
    FIELD("unhealthyPodEvictionPolicy", STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_pod_disruption_budget_spec = { "PodDisruptionBudgetSpec", pod_disruption_budget_spec_fields, NULL };

static const struct field pod_disruption_budget_status_fields[] = {
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_condition),
    FIELD("currentHealthy", INT32, .fallback = "0"),
    FIELD("desiredHealthy", INT32, .fallback = "0"),
    FIELD("disruptedPods", MAP_OF | TIME),
    FIELD("disruptionsAllowed", INT32, .fallback = "0"),
    FIELD("expectedPods", INT32, .fallback = "0"),
    FIELD("observedGeneration", INT64),
    { 0 },
};
static const struct type type_pod_disruption_budget_status = { "PodDisruptionBudgetStatus", pod_disruption_budget_status_fields,
                                                               NULL };

static const struct field pod_disruption_budget_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_pod_disruption_budget_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_pod_disruption_budget_status, .fallback = "{}"),
    { 0 },
};
const struct type type_pod_disruption_budget = { "PodDisruptionBudget", pod_disruption_budget_fields, NULL };
