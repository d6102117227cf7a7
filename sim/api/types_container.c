/* Containers. */
#include "sim/api/types.h"

#include "sim/api/complete.h"

static const struct field config_map_key_selector_fields[] = {
    FIELD("key", STRING, .fallback = ""),
    FIELD("name", STRING, .fallback = ""),
    FIELD("optional", BOOL | KEEP_ZERO),
    { 0 },
};
static const struct type type_config_map_key_selector = { "ConfigMapKeySelector", config_map_key_selector_fields, NULL };

static const struct field object_field_selector_fields[] = {
    FIELD("apiVersion", STRING, .fallback = "v1"),
    FIELD("fieldPath", STRING, .fallback = ""),
    { 0 },
};
const struct type type_object_field_selector = { "ObjectFieldSelector", object_field_selector_fields, NULL };

static const struct field resource_field_selector_fields[] = {
    FIELD("containerName", STRING),
    FIELD("divisor", QUANTITY | KEEP_ZERO),
    FIELD("resource", STRING, .fallback = ""),
    { 0 },
};
const struct type type_resource_field_selector = { "ResourceFieldSelector", resource_field_selector_fields, NULL };

static const struct field secret_key_selector_fields[] = {
    FIELD("key", STRING, .fallback = ""),
    FIELD("name", STRING, .fallback = ""),
    FIELD("optional", BOOL | KEEP_ZERO),
    { 0 },
};
static const struct type type_secret_key_selector = { "SecretKeySelector", secret_key_selector_fields, NULL };

static const struct field env_var_source_fields[] = {
    FIELD("configMapKeyRef", STRUCT, .of = &type_config_map_key_selector),
    FIELD("fieldRef", STRUCT, .of = &type_object_field_selector),
    FIELD("fileKeyRef", FREE),
    FIELD("resourceFieldRef", STRUCT, .of = &type_resource_field_selector),
    FIELD("secretKeyRef", STRUCT, .of = &type_secret_key_selector),
    { 0 },
};
static const struct type type_env_var_source = { "EnvVarSource", env_var_source_fields, NULL };

static const struct field env_var_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("value", STRING),
    FIELD("valueFrom", STRUCT, .of = &type_env_var_source),
    { 0 },
};
static const struct type type_env_var = { "EnvVar", env_var_fields, NULL };

static const struct field config_map_env_source_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("optional", BOOL | KEEP_ZERO),
    { 0 },
};
static const struct type type_config_map_env_source = { "ConfigMapEnvSource", config_map_env_source_fields, NULL };

static const struct field secret_env_source_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("optional", BOOL | KEEP_ZERO),
    { 0 },
};
static const struct type type_secret_env_source = { "SecretEnvSource", secret_env_source_fields, NULL };

static const struct field env_from_source_fields[] = {
    FIELD("configMapRef", STRUCT, .of = &type_config_map_env_source),
    FIELD("prefix", STRING),
    FIELD("secretRef", STRUCT, .of = &type_secret_env_source),
    { 0 },
};
static const struct type type_env_from_source = { "EnvFromSource", env_from_source_fields, NULL };

static const struct field exec_action_fields[] = {
    FIELD("command", LIST_OF | STRING),
    { 0 },
};
static const struct type type_exec_action = { "ExecAction", exec_action_fields, NULL };

static const struct field http_header_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("value", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_http_header = { "HTTPHeader", http_header_fields, NULL };

static const struct field http_get_action_fields[] = {
    FIELD("host", STRING),
    FIELD("httpHeaders", LIST_OF | STRUCT, .of = &type_http_header),
    FIELD("path", STRING, .fallback = "/"),
    FIELD("port", INT_OR_STRING | KEEP_ZERO),
    FIELD("scheme", STRING, .fallback = "HTTP"),
    { 0 },
};
static const struct type type_http_get_action = { "HTTPGetAction", http_get_action_fields, NULL };

static const struct field sleep_action_fields[] = {
    FIELD("seconds", INT64, .fallback = "0"),
    { 0 },
};
static const struct type type_sleep_action = { "SleepAction", sleep_action_fields, NULL };

static const struct field tcp_socket_action_fields[] = {
    FIELD("host", STRING),
    FIELD("port", INT_OR_STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_tcp_socket_action = { "TCPSocketAction", tcp_socket_action_fields, NULL };

static const struct field lifecycle_handler_fields[] = {
    FIELD("exec", STRUCT, .of = &type_exec_action),
    FIELD("httpGet", STRUCT, .of = &type_http_get_action),
    FIELD("sleep", STRUCT, .of = &type_sleep_action),
    FIELD("tcpSocket", STRUCT, .of = &type_tcp_socket_action),
    { 0 },
};
static const struct type type_lifecycle_handler = { "LifecycleHandler", lifecycle_handler_fields, NULL };

static const struct field lifecycle_fields[] = {
    FIELD("postStart", STRUCT, .of = &type_lifecycle_handler),
    FIELD("preStop", STRUCT, .of = &type_lifecycle_handler),
    FIELD("stopSignal", STRING | KEEP_ZERO),
    { 0 },
};
static const struct type type_lifecycle = { "Lifecycle", lifecycle_fields, NULL };

static const struct field grpc_action_fields[] = {
    FIELD("port", INT32, .fallback = "0"),
    FIELD("service", STRING | KEEP_ZERO, .fallback = ""),
    { 0 },
};
static const struct type type_grpc_action = { "GRPCAction", grpc_action_fields, NULL };

static const struct field probe_fields[] = {
    FIELD("exec", STRUCT, .of = &type_exec_action),
    FIELD("failureThreshold", INT32, .fallback = "3"),
    FIELD("grpc", STRUCT, .of = &type_grpc_action),
    FIELD("httpGet", STRUCT, .of = &type_http_get_action),
    FIELD("initialDelaySeconds", INT32),
    FIELD("periodSeconds", INT32, .fallback = "10"),
    FIELD("successThreshold", INT32, .fallback = "1"),
    FIELD("tcpSocket", STRUCT, .of = &type_tcp_socket_action),
    FIELD("terminationGracePeriodSeconds", INT64 | KEEP_ZERO),
    FIELD("timeoutSeconds", INT32, .fallback = "1"),
    { 0 },
};
static const struct type type_probe = { "Probe", probe_fields, NULL };

static const struct field container_port_fields[] = {
    FIELD("containerPort", INT32, .fallback = "0"),
    FIELD("hostIP", STRING),
    FIELD("hostPort", INT32),
    FIELD("name", STRING),
    FIELD("protocol", STRING, .fallback = "TCP"),
    { 0 },
};
static const struct type type_container_port = { "ContainerPort", container_port_fields, NULL };

static const struct field resource_claim_fields[] = {
    FIELD("name", STRING, .fallback = ""),
    FIELD("request", STRING),
    { 0 },
};
static const struct type type_resource_claim = { "ResourceClaim", resource_claim_fields, NULL };

static const struct field resource_requirements_fields[] = {
    FIELD("claims", LIST_OF | STRUCT, .of = &type_resource_claim),
    FIELD("limits", MAP_OF | QUANTITY),
    FIELD("requests", MAP_OF | QUANTITY),
    { 0 },
};
const struct type type_resource_requirements = { "ResourceRequirements", resource_requirements_fields, NULL };

static const struct field capabilities_fields[] = {
    FIELD("add", LIST_OF | STRING),
    FIELD("drop", LIST_OF | STRING),
    { 0 },
};
static const struct type type_capabilities = { "Capabilities", capabilities_fields, NULL };

static const struct field security_context_fields[] = {
    FIELD("allowPrivilegeEscalation", BOOL | KEEP_ZERO),
    FIELD("appArmorProfile", FREE),
    FIELD("capabilities", STRUCT, .of = &type_capabilities),
    FIELD("privileged", BOOL | KEEP_ZERO),
    FIELD("procMount", STRING | KEEP_ZERO),
    FIELD("readOnlyRootFilesystem", BOOL | KEEP_ZERO),
    FIELD("runAsGroup", INT64 | KEEP_ZERO),
    FIELD("runAsNonRoot", BOOL | KEEP_ZERO),
    FIELD("runAsUser", INT64 | KEEP_ZERO),
    FIELD("seLinuxOptions", FREE),
    FIELD("seccompProfile", FREE),
    FIELD("windowsOptions", FREE),
    { 0 },
};
static const struct type type_security_context = { "SecurityContext", security_context_fields, NULL };

static const struct field volume_device_fields[] = {
    FIELD("devicePath", STRING, .fallback = ""),
    FIELD("name", STRING, .fallback = ""),
    { 0 },
};
static const struct type type_volume_device = { "VolumeDevice", volume_device_fields, NULL };

static const struct field volume_mount_fields[] = {
    FIELD("mountPath", STRING, .fallback = ""),
    FIELD("mountPropagation", STRING | KEEP_ZERO),
    FIELD("name", STRING, .fallback = ""),
    FIELD("readOnly", BOOL),
    FIELD("recursiveReadOnly", STRING | KEEP_ZERO),
    FIELD("subPath", STRING),
    FIELD("subPathExpr", STRING),
    { 0 },
};
static const struct type type_volume_mount = { "VolumeMount", volume_mount_fields, NULL };

static const struct field container_fields[] = {
    FIELD("args", LIST_OF | STRING),
    FIELD("command", LIST_OF | STRING),
    FIELD("env", LIST_OF | STRUCT, .of = &type_env_var),
    FIELD("envFrom", LIST_OF | STRUCT, .of = &type_env_from_source),
    FIELD("image", STRING),
    FIELD("imagePullPolicy", STRING),
    FIELD("lifecycle", STRUCT, .of = &type_lifecycle),
    FIELD("livenessProbe", STRUCT, .of = &type_probe),
    FIELD("name", STRING, .fallback = ""),
    FIELD("ports", LIST_OF | STRUCT, .of = &type_container_port),
    FIELD("readinessProbe", STRUCT, .of = &type_probe),
    FIELD("resizePolicy", LIST_OF | FREE),
    FIELD("resources", STRUCT, .of = &type_resource_requirements, .fallback = "{}"),
    FIELD("restartPolicy", STRING | KEEP_ZERO),
    FIELD("restartPolicyRules", LIST_OF | FREE),
    FIELD("securityContext", STRUCT, .of = &type_security_context),
    FIELD("startupProbe", STRUCT, .of = &type_probe),
    FIELD("stdin", BOOL),
    FIELD("stdinOnce", BOOL),
    FIELD("terminationMessagePath", STRING, .fallback = "/dev/termination-log"),
    FIELD("terminationMessagePolicy", STRING, .fallback = "File"),
    FIELD("tty", BOOL),
    FIELD("volumeDevices", LIST_OF | STRUCT, .of = &type_volume_device),
    FIELD("volumeMounts", LIST_OF | STRUCT, .of = &type_volume_mount),
    FIELD("workingDir", STRING),
    { 0 },
};
const struct type type_container = { "Container", container_fields, complete_container };

static const struct field ephemeral_container_fields[] = {
    FIELD("args", LIST_OF | STRING),
    FIELD("command", LIST_OF | STRING),
    FIELD("env", LIST_OF | STRUCT, .of = &type_env_var),
    FIELD("envFrom", LIST_OF | STRUCT, .of = &type_env_from_source),
    FIELD("image", STRING),
    FIELD("imagePullPolicy", STRING),
    FIELD("lifecycle", STRUCT, .of = &type_lifecycle),
    FIELD("livenessProbe", STRUCT, .of = &type_probe),
    FIELD("name", STRING, .fallback = ""),
    FIELD("ports", LIST_OF | STRUCT, .of = &type_container_port),
    FIELD("readinessProbe", STRUCT, .of = &type_probe),
    FIELD("resizePolicy", LIST_OF | FREE),
    FIELD("resources", STRUCT, .of = &type_resource_requirements, .fallback = "{}"),
    FIELD("restartPolicy", STRING),
    FIELD("restartPolicyRules", LIST_OF | FREE),
    FIELD("securityContext", STRUCT, .of = &type_security_context),
    FIELD("startupProbe", STRUCT, .of = &type_probe),
    FIELD("stdin", BOOL),
    FIELD("stdinOnce", BOOL),
    FIELD("targetContainerName", STRING),
    FIELD("terminationMessagePath", STRING),
    FIELD("terminationMessagePolicy", STRING),
    FIELD("tty", BOOL),
    FIELD("volumeDevices", LIST_OF | STRUCT, .of = &type_volume_device),
    FIELD("volumeMounts", LIST_OF | STRUCT, .of = &type_volume_mount),
    FIELD("workingDir", STRING),
    { 0 },
};
const struct type type_ephemeral_container = { "EphemeralContainer", ephemeral_container_fields, NULL };
