/* Pods. */
#include "sim/api/types.h"

#include "sim/api/complete.h"

static const struct field node_selector_requirement_fields[] = {
    FIELD("key", STRING, .fallback = ""),
    FIELD("operator", STRING, .fallback = ""),
    FIELD("values", LIST_OF | STRING),
    { 0 },
};
static const struct type type_node_selector_requirement = { "NodeSelectorRequirement", node_selector_requirement_fields, NULL };

static const struct field node_selector_term_fields[] = {
    FIELD("matchExpressions", LIST_OF | STRUCT, .of = &type_node_selector_requirement),
    FIELD("matchFields", LIST_OF | STRUCT, .of = &type_node_selector_requirement),
    { 0 },
};
static const struct type type_node_selector_term = { "NodeSelectorTerm", node_selector_term_fields, NULL };

static const struct field preferred_scheduling_term_fields[] = {
    FIELD("preference", STRUCT, .of = &type_node_selector_term, .fallback = "{}"),
    FIELD("weight", INT32, .fallback = "0"),
    { 0 },
};
static const struct type type_preferred_scheduling_term = { "PreferredSchedulingTerm", preferred_scheduling_term_fields, NULL };

static const struct field node_selector_fields[] = {
    FIELD("nodeSelectorTerms", LIST_OF | STRUCT, .of = &type_node_selector_term),
    { 0 },
};
static const struct type type_node_selector = { "NodeSelector", node_selector_fields, NULL };

static const struct field node_affinity_fields[] = {
    FIELD("preferredDuringSchedulingIgnoredDuringExecution", LIST_OF | STRUCT, .of = &type_preferred_scheduling_term),
    FIELD("requiredDuringSchedulingIgnoredDuringExecution", STRUCT, .of = &type_node_selector),
    { 0 },
};
static const struct type type_node_affinity = { "NodeAffinity", node_affinity_fields, NULL };

static const struct field pod_affinity_term_fields[] = {
    FIELD("labelSelector", STRUCT, .of = &type_label_selector),
    FIELD("matchLabelKeys", LIST_OF | STRING),
    FIELD("mismatchLabelKeys", LIST_OF | STRING),
    FIELD("namespaceSelector", STRUCT, .of = &type_label_selector),
    FIELD("namespaces", LIST_OF | STRING),
    FIELD("topologyKey", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_pod_affinity_term = { "PodAffinityTerm", pod_affinity_term_fields, NULL };

static const struct field weighted_pod_affinity_term_fields[] = {
    FIELD("podAffinityTerm", STRUCT, .of = &type_pod_affinity_term, .fallback = "{}"),
    FIELD("weight", INT32, .fallback = "0"),
    { 0 },
};
static const struct type type_weighted_pod_affinity_term = { "WeightedPodAffinityTerm", weighted_pod_affinity_term_fields, NULL };

static const struct field pod_affinity_fields[] = {
    FIELD("preferredDuringSchedulingIgnoredDuringExecution", LIST_OF | STRUCT, .of = &type_weighted_pod_affinity_term),
    FIELD("requiredDuringSchedulingIgnoredDuringExecution", LIST_OF | STRUCT, .of = &type_pod_affinity_term),
    { 0 },
};
static const struct type type_pod_affinity = { "PodAffinity", pod_affinity_fields, NULL };

static const struct field pod_anti_affinity_fields[] = {
    FIELD("preferredDuringSchedulingIgnoredDuringExecution", LIST_OF | STRUCT, .of = &type_weighted_pod_affinity_term),
    FIELD("requiredDuringSchedulingIgnoredDuringExecution", LIST_OF | STRUCT, .of = &type_pod_affinity_term),
    { 0 },
};
static const struct type type_pod_anti_affinity = { "PodAntiAffinity", pod_anti_affinity_fields, NULL };

static const struct field affinity_fields[] = {
    FIELD("nodeAffinity", STRUCT, .of = &type_node_affinity),
    FIELD("podAffinity", STRUCT, .of = &type_pod_affinity),
    FIELD("podAntiAffinity", STRUCT, .of = &type_pod_anti_affinity),
    { 0 },
};
static const struct type type_affinity = { "Affinity", affinity_fields, NULL };

static const struct field pod_dns_config_option_fields[] = {
    FIELD("name", STRING),
    FIELD("value", STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_pod_dns_config_option = { "PodDNSConfigOption", pod_dns_config_option_fields, NULL };

static const struct field pod_dns_config_fields[] = {
    FIELD("nameservers", LIST_OF | STRING),
    FIELD("options", LIST_OF | STRUCT, .of = &type_pod_dns_config_option),
    FIELD("searches", LIST_OF | STRING),
    { 0 },
};
static const struct type type_pod_dns_config = { "PodDNSConfig", pod_dns_config_fields, NULL };

static const struct field host_alias_fields[] = {
    FIELD("hostnames", LIST_OF | STRING),
    FIELD("ip", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_host_alias = { "HostAlias", host_alias_fields, NULL };

static const struct field pod_os_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_pod_os = { "PodOS", pod_os_fields, NULL };

static const struct field pod_readiness_gate_fields[] = {
    FIELD("conditionType", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_pod_readiness_gate = { "PodReadinessGate", pod_readiness_gate_fields, NULL };

static const struct field pod_resource_claim_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("resourceClaimName", STRING | KEEP_ZERO),
    FIELD("resourceClaimTemplateName", STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_pod_resource_claim = { "PodResourceClaim", pod_resource_claim_fields, NULL };

static const struct field pod_scheduling_gate_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_pod_scheduling_gate = { "PodSchedulingGate", pod_scheduling_gate_fields, NULL };

static const struct field sysctl_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("value", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_sysctl = { "Sysctl", sysctl_fields, NULL };

static const struct field pod_security_context_fields[] = {
    FIELD("appArmorProfile", FREE),
    FIELD("fsGroup", INT64 | KEEP_ZERO),
    FIELD("fsGroupChangePolicy", STRING | KEEP_ZERO),
    FIELD("runAsGroup", INT64 | KEEP_ZERO),
    FIELD("runAsNonRoot", BOOL | KEEP_ZERO),
    FIELD("runAsUser", INT64 | KEEP_ZERO),
    FIELD("seLinuxChangePolicy", STRING | KEEP_ZERO),
    FIELD("seLinuxOptions", FREE),
    FIELD("seccompProfile", FREE),
    FIELD("supplementalGroups", LIST_OF | INT64),
    FIELD("supplementalGroupsPolicy", STRING | KEEP_ZERO),
    FIELD("sysctls", LIST_OF | STRUCT, .of = &type_sysctl),
    FIELD("windowsOptions", FREE),
    { 0 },
};
static const struct type type_pod_security_context = { "PodSecurityContext", pod_security_context_fields, NULL };

static const struct field toleration_fields[] = {
    FIELD("effect", STRING),   FIELD("key", STRING),
    FIELD("operator", STRING), FIELD("tolerationSeconds", INT64 | KEEP_ZERO),
    FIELD("value", STRING),    { 0 },
};
const struct type type_toleration = { "Toleration", toleration_fields, NULL };

static const struct field topology_spread_constraint_fields[] = {
    FIELD("labelSelector", STRUCT, .of = &type_label_selector),
    FIELD("matchLabelKeys", LIST_OF | STRING),
    FIELD("maxSkew", INT32, .fallback = "0"),
    FIELD("minDomains", INT32 | KEEP_ZERO),
    FIELD("nodeAffinityPolicy", STRING | KEEP_ZERO),
    FIELD("nodeTaintsPolicy", STRING | KEEP_ZERO),
    FIELD("topologyKey", STRING, .fallback = ""),
    FIELD("whenUnsatisfiable", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_topology_spread_constraint = { "TopologySpreadConstraint", topology_spread_constraint_fields,
                                                             NULL };

static const struct field pod_spec_fields[] = {
    FIELD("activeDeadlineSeconds", INT64 | KEEP_ZERO),
    FIELD("affinity", STRUCT, .of = &type_affinity),
    FIELD("automountServiceAccountToken", BOOL | KEEP_ZERO),
    FIELD("containers", LIST_OF | STRUCT, .of = &type_container),
    FIELD("dnsConfig", STRUCT, .of = &type_pod_dns_config),
    FIELD("dnsPolicy", STRING, .fallback = "ClusterFirst"),
    FIELD("enableServiceLinks", BOOL | KEEP_ZERO),
    FIELD("ephemeralContainers", LIST_OF | STRUCT, .of = &type_ephemeral_container),
    FIELD("hostAliases", LIST_OF | STRUCT, .of = &type_host_alias),
    FIELD("hostIPC", BOOL),
    FIELD("hostNetwork", BOOL),
    FIELD("hostPID", BOOL),
    FIELD("hostUsers", BOOL | KEEP_ZERO),
    FIELD("hostname", STRING),
    FIELD("hostnameOverride", STRING | KEEP_ZERO),
    FIELD("imagePullSecrets", LIST_OF | STRUCT, .of = &type_local_object_reference),
    FIELD("initContainers", LIST_OF | STRUCT, .of = &type_container),
    FIELD("nodeName", STRING),
    FIELD("nodeSelector", MAP_OF | STRING),
    FIELD("os", STRUCT, .of = &type_pod_os),
    FIELD("overhead", MAP_OF | QUANTITY),
    FIELD("preemptionPolicy", STRING | KEEP_ZERO),
    FIELD("priority", INT32 | KEEP_ZERO),
    FIELD("priorityClassName", STRING),
    FIELD("readinessGates", LIST_OF | STRUCT, .of = &type_pod_readiness_gate),
    FIELD("resourceClaims", LIST_OF | STRUCT, .of = &type_pod_resource_claim),
    FIELD("resources", STRUCT, .of = &type_resource_requirements),
    FIELD("restartPolicy", STRING, .fallback = "Always"),
    FIELD("runtimeClassName", STRING | KEEP_ZERO),
    FIELD("schedulerName", STRING, .fallback = "default-scheduler"),
    FIELD("schedulingGates", LIST_OF | STRUCT, .of = &type_pod_scheduling_gate),
    FIELD("schedulingGroup", FREE),
    FIELD("securityContext", STRUCT, .of = &type_pod_security_context, .fallback = "{}"),
    FIELD("serviceAccount", STRING),
    FIELD("serviceAccountName", STRING),
    FIELD("setHostnameAsFQDN", BOOL | KEEP_ZERO),
    FIELD("shareProcessNamespace", BOOL | KEEP_ZERO),
    FIELD("subdomain", STRING),
    FIELD("terminationGracePeriodSeconds", INT64 | KEEP_ZERO, .fallback = "30"),
    FIELD("tolerations", LIST_OF | STRUCT, .of = &type_toleration),
    FIELD("topologySpreadConstraints", LIST_OF | STRUCT, .of = &type_topology_spread_constraint),
    FIELD("volumes", LIST_OF | STRUCT, .of = &type_volume),
    { 0 },
};
static const struct type type_pod_spec = { "PodSpec", pod_spec_fields, complete_pod_spec };

static const struct field pod_condition_fields[] = {
    FIELD("lastProbeTime", TIME, .fallback = "null"),
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("observedGeneration", INT64),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_pod_condition = { "PodCondition", pod_condition_fields, NULL };

static const struct field container_state_running_fields[] = {
    FIELD("startedAt", TIME, .fallback = "null"),
    { 0 },
};
static const struct type type_container_state_running = { "ContainerStateRunning", container_state_running_fields, NULL };

static const struct field container_state_terminated_fields[] = {
    FIELD("containerID", STRING),
    FIELD("exitCode", INT32, .fallback = "0"),
    FIELD("finishedAt", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("reason", STRING),
    FIELD("signal", INT32),
    FIELD("startedAt", TIME, .fallback = "null"),
    { 0 },
};
static const struct type type_container_state_terminated = { "ContainerStateTerminated", container_state_terminated_fields,
                                                             NULL };

static const struct field container_state_waiting_fields[] = {
    FIELD("message", STRING),
    FIELD("reason", STRING),
    { 0 },
};
static const struct type type_container_state_waiting = { "ContainerStateWaiting", container_state_waiting_fields, NULL };

static const struct field container_state_fields[] = {
    FIELD("running", STRUCT, .of = &type_container_state_running),
    FIELD("terminated", STRUCT, .of = &type_container_state_terminated),
    FIELD("waiting", STRUCT, .of = &type_container_state_waiting),
    { 0 },
};
static const struct type type_container_state = { "ContainerState", container_state_fields, NULL };

static const struct field container_status_fields[] = {
    FIELD("allocatedResources", MAP_OF | QUANTITY),
    FIELD("allocatedResourcesStatus", LIST_OF | FREE),
    FIELD("containerID", STRING),
    FIELD("image", STRING, .fallback = ""),
    FIELD("imageID", STRING, .fallback = ""),
    FIELD("lastState", STRUCT, .of = &type_container_state, .fallback = "{}"),
    FIELD("name", STRING, .fallback = ""),
    FIELD("ready", BOOL, .fallback = "false"),
    FIELD("resources", STRUCT, .of = &type_resource_requirements),
    FIELD("restartCount", INT32, .fallback = "0"),
    FIELD("started", BOOL | KEEP_ZERO),
    FIELD("state", STRUCT, .of = &type_container_state, .fallback = "{}"),
    FIELD("stopSignal", STRING | KEEP_ZERO),
    FIELD("user", FREE),
    FIELD("volumeMounts", LIST_OF | FREE),
    { 0 },
};
static const struct type type_container_status = { "ContainerStatus", container_status_fields, NULL };

static const struct field host_ip_fields[] = {
    FIELD("ip", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_host_ip = { "HostIP", host_ip_fields, NULL };

static const struct field node_allocatable_resource_claim_status_fields[] = {
    FIELD("containers", LIST_OF | STRING),
    FIELD("resourceClaimName", STRING | KEEP_ZERO, .fallback = ""),
    FIELD("resources", MAP_OF | QUANTITY),
    { 0 },
};
static const struct type type_node_allocatable_resource_claim_status = { "NodeAllocatableResourceClaimStatus",
                                                                         node_allocatable_resource_claim_status_fields, NULL };

static const struct field pod_ip_fields[] = {
    FIELD("ip", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_pod_ip = { "PodIP", pod_ip_fields, NULL };

static const struct field pod_resource_claim_status_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("resourceClaimName", STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_pod_resource_claim_status = { "PodResourceClaimStatus", pod_resource_claim_status_fields, NULL };

static const struct field pod_status_fields[] = {
    FIELD("allocatedResources", MAP_OF | QUANTITY),
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_pod_condition),
    FIELD("containerStatuses", LIST_OF | STRUCT, .of = &type_container_status),
    FIELD("ephemeralContainerStatuses", LIST_OF | STRUCT, .of = &type_container_status),
    FIELD("extendedResourceClaimStatus", FREE),
    FIELD("hostIP", STRING),
    FIELD("hostIPs", LIST_OF | STRUCT, .of = &type_host_ip),
    FIELD("initContainerStatuses", LIST_OF | STRUCT, .of = &type_container_status),
    FIELD("message", STRING),
    FIELD("nodeAllocatableResourceClaimStatuses", LIST_OF | STRUCT, .of = &type_node_allocatable_resource_claim_status),
    FIELD("nominatedNodeName", STRING),
    FIELD("observedGeneration", INT64),
    FIELD("phase", STRING),
    FIELD("podIP", STRING),
    FIELD("podIPs", LIST_OF | STRUCT, .of = &type_pod_ip),
    FIELD("qosClass", STRING),
    FIELD("reason", STRING),
    FIELD("resize", STRING),
    FIELD("resourceClaimStatuses", LIST_OF | STRUCT, .of = &type_pod_resource_claim_status),
    FIELD("resources", STRUCT, .of = &type_resource_requirements),
    FIELD("startTime", TIME),
    { 0 },
};
static const struct type type_pod_status = { "PodStatus", pod_status_fields, NULL };

static const struct field pod_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_pod_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_pod_status, .fallback = "{}"),
    { 0 },
};
const struct type type_pod = { "Pod", pod_fields, complete_pod };

static const struct field pod_template_spec_fields[] = {
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_pod_spec, .fallback = "{}"),
    { 0 },
};
const struct type type_pod_template_spec = { "PodTemplateSpec", pod_template_spec_fields, NULL };
