/* Nodes, namespaces and the small kinds. */
#include "sim/api/types.h"

#include "sim/api/complete.h"

static const struct field namespace_spec_fields[] = {
    FIELD("finalizers", LIST_OF | STRING),
    { 0 },
};
static const struct type type_namespace_spec = { "NamespaceSpec", namespace_spec_fields, NULL };

static const struct field namespace_condition_fields[] = {
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_namespace_condition = { "NamespaceCondition", namespace_condition_fields, NULL };

static const struct field namespace_status_fields[] = {
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_namespace_condition),
    FIELD("phase", STRING),
    { 0 },
};
static const struct type type_namespace_status = { "NamespaceStatus", namespace_status_fields, NULL };

static const struct field namespace_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_namespace_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_namespace_status, .fallback = "{}"),
    { 0 },
};
const struct type type_namespace = { "Namespace", namespace_fields, complete_namespace };

static const struct field taint_fields[] = {
    FIELD("effect", STRING, .fallback = ""),
    FIELD("key", STRING, .fallback = ""),
    FIELD("timeAdded", TIME),
    FIELD("value", STRING),
    { 0 },
};
static const struct type type_taint = { "Taint", taint_fields, NULL };

static const struct field node_spec_fields[] = {
    FIELD("configSource", FREE),  FIELD("externalID", STRING),
    FIELD("podCIDR", STRING),     FIELD("podCIDRs", LIST_OF | STRING),
    FIELD("providerID", STRING),  FIELD("taints", LIST_OF | STRUCT, .of = &type_taint),
    FIELD("unschedulable", BOOL), { 0 },
};
static const struct type type_node_spec = { "NodeSpec", node_spec_fields, complete_node_spec };

static const struct field node_address_fields[] = {
    FIELD("address", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_node_address = { "NodeAddress", node_address_fields, NULL };

static const struct field node_condition_fields[] = {
    FIELD("lastHeartbeatTime", TIME, .fallback = "null"),
    FIELD("lastTransitionTime", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("reason", STRING),
    FIELD("status", STRING, .fallback = ""),
    FIELD("type", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_node_condition = { "NodeCondition", node_condition_fields, NULL };

static const struct field daemon_endpoint_fields[] = {
    FIELD("Port", INT32, .fallback = "0"),
    { 0 },
};
static const struct type type_daemon_endpoint = { "DaemonEndpoint", daemon_endpoint_fields, NULL };

static const struct field node_daemon_endpoints_fields[] = {
    FIELD("kubeletEndpoint", STRUCT, .of = &type_daemon_endpoint, .fallback = "{}"),
    { 0 },
};
static const struct type type_node_daemon_endpoints = { "NodeDaemonEndpoints", node_daemon_endpoints_fields, NULL };

static const struct field container_image_fields[] = {
    FIELD("names", LIST_OF | STRING),
    FIELD("sizeBytes", INT64),
    { 0 },
};
static const struct type type_container_image = { "ContainerImage", container_image_fields, NULL };

static const struct field node_system_info_fields[] = {
    FIELD("architecture", STRING, .fallback = ""),
    FIELD("bootID", STRING, .fallback = ""),
    FIELD("containerRuntimeVersion", STRING, .fallback = ""),
    FIELD("kernelVersion", STRING, .fallback = ""),
    FIELD("kubeProxyVersion", STRING, .fallback = ""),
    FIELD("kubeletVersion", STRING, .fallback = ""),
    FIELD("machineID", STRING, .fallback = ""),
    FIELD("operatingSystem", STRING, .fallback = ""),
    FIELD("osImage", STRING, .fallback = ""),
    FIELD("swap", FREE),
    FIELD("systemUUID", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_node_system_info = { "NodeSystemInfo", node_system_info_fields, NULL };

static const struct field node_status_fields[] = {
    FIELD("addresses", LIST_OF | STRUCT, .of = &type_node_address),
    FIELD("allocatable", MAP_OF | QUANTITY),
    FIELD("capacity", MAP_OF | QUANTITY),
    FIELD("conditions", LIST_OF | STRUCT, .of = &type_node_condition),
    FIELD("config", FREE),
    FIELD("daemonEndpoints", STRUCT, .of = &type_node_daemon_endpoints, .fallback = "{}"),
    FIELD("declaredFeatures", LIST_OF | STRING),
    FIELD("features", FREE),
    FIELD("images", LIST_OF | STRUCT, .of = &type_container_image),
    FIELD("nodeInfo", STRUCT, .of = &type_node_system_info, .fallback = "{}"),
    FIELD("phase", STRING),
    FIELD("runtimeHandlers", LIST_OF | FREE),
    FIELD("volumesAttached", LIST_OF | FREE),
    FIELD("volumesInUse", LIST_OF | STRING),
    { 0 },
};
static const struct type type_node_status = { "NodeStatus", node_status_fields, complete_node_status };

static const struct field node_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_node_spec, .fallback = "{}"),
    FIELD("status", STRUCT, .of = &type_node_status, .fallback = "{}"),
    { 0 },
};
const struct type type_node = { "Node", node_fields, NULL };

static const struct field config_map_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("binaryData", MAP_OF | BYTES),
    FIELD("data", MAP_OF | STRING),
    FIELD("immutable", BOOL | KEEP_ZERO),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    { 0 },
};
const struct type type_config_map = { "ConfigMap", config_map_fields, NULL };

static const struct field service_port_fields[] = {
    FIELD("appProtocol", STRING | KEEP_ZERO),
    FIELD("name", STRING),
    FIELD("nodePort", INT32),
    FIELD("port", INT32, .fallback = "0"),
    FIELD("protocol", STRING, .fallback = "TCP"),
    FIELD("targetPort", INT_OR_STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_service_port = { "ServicePort", service_port_fields, complete_service_port };

static const struct field service_spec_fields[] = {
    FIELD("allocateLoadBalancerNodePorts", BOOL | KEEP_ZERO),
    FIELD("clusterIP", STRING),
    FIELD("clusterIPs", LIST_OF | STRING),
    FIELD("externalIPs", LIST_OF | STRING),
    FIELD("externalName", STRING),
    FIELD("externalTrafficPolicy", STRING),
    FIELD("healthCheckNodePort", INT32),
    FIELD("internalTrafficPolicy", STRING | KEEP_ZERO),
    FIELD("ipFamilies", LIST_OF | STRING),
    FIELD("ipFamilyPolicy", STRING | KEEP_ZERO),
    FIELD("loadBalancerClass", STRING | KEEP_ZERO),
    FIELD("loadBalancerIP", STRING),
    FIELD("loadBalancerSourceRanges", LIST_OF | STRING),
    FIELD("ports", LIST_OF | STRUCT, .of = &type_service_port),
    FIELD("publishNotReadyAddresses", BOOL),
    FIELD("selector", MAP_OF | STRING),
    FIELD("sessionAffinity", STRING, .fallback = "None"),
    FIELD("sessionAffinityConfig", FREE),
    FIELD("trafficDistribution", STRING | KEEP_ZERO),
    FIELD("type", STRING, .fallback = "ClusterIP"),
    { 0 },
};
static const struct type type_service_spec = { "ServiceSpec", service_spec_fields, complete_service_spec };

static const struct field service_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_service_spec, .fallback = "{}"),
    FIELD("status", FREE, .fallback = "{}"),
    { 0 },
};
const struct type type_service = { "Service", service_fields, NULL };

static const struct field service_account_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("automountServiceAccountToken", BOOL | KEEP_ZERO),
    FIELD("imagePullSecrets", LIST_OF | STRUCT, .of = &type_local_object_reference),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("secrets", LIST_OF | STRUCT, .of = &type_object_reference),
    { 0 },
};
const struct type type_service_account = { "ServiceAccount", service_account_fields, NULL };

static const struct field event_series_fields[] = {
    FIELD("count", INT32),
    FIELD("lastObservedTime", MICRO_TIME, .fallback = "null"),
    { 0 },
};
static const struct type type_event_series = { "EventSeries", event_series_fields, NULL };

static const struct field event_source_fields[] = {
    FIELD("component", STRING),
    FIELD("host", STRING),
    { 0 },
};
static const struct type type_event_source = { "EventSource", event_source_fields, NULL };

static const struct field event_fields[] = {
    FIELD("action", STRING),
    FIELD("apiVersion", STRING),
    FIELD("count", INT32),
    FIELD("eventTime", MICRO_TIME, .fallback = "null"),
    FIELD("firstTimestamp", TIME, .fallback = "null"),
    FIELD("involvedObject", STRUCT, .of = &type_object_reference, .fallback = "{}"),
    FIELD("kind", STRING),
    FIELD("lastTimestamp", TIME, .fallback = "null"),
    FIELD("message", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("reason", STRING),
    FIELD("related", STRUCT, .of = &type_object_reference),
    FIELD("reportingComponent", STRING, .fallback = ""),
    FIELD("reportingInstance", STRING, .fallback = ""),
    FIELD("series", STRUCT, .of = &type_event_series),
    FIELD("source", STRUCT, .of = &type_event_source, .fallback = "{}"),
    FIELD("type", STRING),
    { 0 },
};
const struct type type_event = { "Event", event_fields, NULL };

static const struct field events_event_series_fields[] = {
    FIELD("count", INT32, .fallback = "0"),
    FIELD("lastObservedTime", MICRO_TIME, .fallback = "null"),
    { 0 },
};
static const struct type type_events_event_series = { "EventSeries", events_event_series_fields, NULL };

static const struct field events_event_fields[] = {
    FIELD("action", STRING),
    FIELD("apiVersion", STRING),
    FIELD("deprecatedCount", INT32),
    FIELD("deprecatedFirstTimestamp", TIME, .fallback = "null"),
    FIELD("deprecatedLastTimestamp", TIME, .fallback = "null"),
    FIELD("deprecatedSource", STRUCT, .of = &type_event_source, .fallback = "{}"),
    FIELD("eventTime", MICRO_TIME, .fallback = "null"),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("note", STRING),
    FIELD("reason", STRING),
    FIELD("regarding", STRUCT, .of = &type_object_reference, .fallback = "{}"),
    FIELD("related", STRUCT, .of = &type_object_reference),
    FIELD("reportingController", STRING),
    FIELD("reportingInstance", STRING),
    FIELD("series", STRUCT, .of = &type_events_event_series),
    FIELD("type", STRING),
    { 0 },
};
const struct type type_events_event = { "Event", events_event_fields, NULL };

static const struct field lease_spec_fields[] = {
    FIELD("acquireTime", MICRO_TIME),
    FIELD("holderIdentity", STRING | KEEP_ZERO),
    FIELD("leaseDurationSeconds", INT32 | KEEP_ZERO),
    FIELD("leaseTransitions", INT32 | KEEP_ZERO),
    FIELD("renewTime", MICRO_TIME),
    { 0 },
};
static const struct type type_lease_spec = { "LeaseSpec", lease_spec_fields, NULL };

static const struct field lease_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_lease_spec, .fallback = "{}"),
    { 0 },
};
const struct type type_lease = { "Lease", lease_fields, NULL };

static const struct field overhead_fields[] = {
    FIELD("podFixed", MAP_OF | QUANTITY),
    { 0 },
};
static const struct type type_overhead = { "Overhead", overhead_fields, NULL };

static const struct field scheduling_fields[] = {
    FIELD("nodeSelector", MAP_OF | STRING),
    FIELD("tolerations", LIST_OF | STRUCT, .of = &type_toleration),
    { 0 },
};
static const struct type type_scheduling = { "Scheduling", scheduling_fields, NULL };

static const struct field runtime_class_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("handler", STRING, .fallback = ""),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("overhead", STRUCT, .of = &type_overhead),
    FIELD("scheduling", STRUCT, .of = &type_scheduling),
    { 0 },
};
const struct type type_runtime_class = { "RuntimeClass", runtime_class_fields, NULL };

static const struct field priority_class_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("description", STRING),
    FIELD("globalDefault", BOOL),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("preemptionPolicy", STRING | KEEP_ZERO, .fallback = "PreemptLowerPriority"),
    FIELD("value", INT32, .fallback = "0"),
    { 0 },
};
const struct type type_priority_class = { "PriorityClass", priority_class_fields, NULL };

/* Of devices nothing is checked: nobody here allocates them. */
static const struct field resource_slice_spec_fields[] = {
    FIELD("driver", STRING, .fallback = ""),
    FIELD("pool", FREE),
    FIELD("nodeName", STRING),
    FIELD("nodeSelector", FREE),
    FIELD("allNodes", BOOL),
    FIELD("devices", LIST_OF | FREE),
    FIELD("perDeviceNodeSelection", BOOL),
    FIELD("sharedCounters", LIST_OF | FREE),
    { 0 },
};
static const struct type type_resource_slice_spec = { "ResourceSliceSpec", resource_slice_spec_fields, NULL };

static const struct field resource_slice_fields[] = {
    FIELD("apiVersion", STRING),
    FIELD("kind", STRING),
    FIELD("metadata", STRUCT, .of = &type_object_meta, .fallback = "{}"),
    FIELD("spec", STRUCT, .of = &type_resource_slice_spec, .fallback = "{}"),
    { 0 },
};
const struct type type_resource_slice = { "ResourceSlice", resource_slice_fields, NULL };
