#include "sim/api/merge_type.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

#define END { .name = NULL }
#define MAP(field) { field, .how = MERGE_MAP }
#define ATOMIC(field) { field, .how = MERGE_ATOMIC }
#define SET(field) { field, .how = MERGE_SET }
/* A scalar that the server's own type always has. */
#define ALWAYS(field) { field, .how = MERGE_SCALAR, .always = true }
#define UNOWNED(field) { field, .how = MERGE_UNOWNED }
#define META_ROWS                                                                                                            \
    MAP("labels"), MAP("annotations"), { "finalizers", .how = MERGE_SET, .patch_key = "" },                                  \
        { "ownerReferences", .how = MERGE_LIST, .keys = { { "uid" } }, .patch_key = "uid", .whole_items = true }
#define META UNOWNED("apiVersion"), UNOWNED("kind"), { "metadata", .how = MERGE_FIELDS, .always = true, .fields = root_meta }
#define SPEC(rows) { "spec", .how = MERGE_FIELDS, .always = true, .fields = (rows) }
#define STATUS(rows) { "status", .how = MERGE_FIELDS, .always = true, .fields = (rows) }
#define FIELDS(...) { .how = MERGE_FIELDS, .fields = (const struct merge_type[]){ __VA_ARGS__, END } }
/* What a write of an object with a status subresource does not set, and what one of its status does not. */
#define RESETS .reset = { "status" }, .status_reset = { "spec" }

/* Of templates, whose names and times are fields as any other. */
static const struct merge_type object_meta[] = { META_ROWS, END };

static const struct merge_type root_meta[] = {
    META_ROWS,
    UNOWNED("name"),
    UNOWNED("namespace"),
    UNOWNED("uid"),
    UNOWNED("resourceVersion"),
    UNOWNED("generation"),
    UNOWNED("creationTimestamp"),
    UNOWNED("managedFields"),
    UNOWNED("selfLink"),
    END,
};

static const struct merge_type node_spec[] = {
    { "podCIDRs", .how = MERGE_SET, .patch_key = "" },
    END,
};

static const struct merge_type daemon_endpoints[] = {
    { "kubeletEndpoint", .how = MERGE_FIELDS, .always = true },
    END,
};

static const struct merge_type node_status[] = {
    { "addresses", .how = MERGE_LIST, .keys = { { "type" } }, .patch_key = "type" },
    MAP("allocatable"),
    MAP("capacity"),
    { "conditions", .how = MERGE_LIST, .keys = { { "type" } }, .patch_key = "type" },
    { "daemonEndpoints", .how = MERGE_FIELDS, .always = true, .fields = daemon_endpoints },
    { "nodeInfo", .how = MERGE_FIELDS, .always = true },
    END,
};

static const struct merge_type node_affinity[] = {
    ATOMIC("requiredDuringSchedulingIgnoredDuringExecution"),
    END,
};

static const struct merge_type affinity[] = {
    { "nodeAffinity", .how = MERGE_FIELDS, .fields = node_affinity },
    END,
};

static const struct merge_type env_source[] = {
    ATOMIC("configMapKeyRef"),
    ATOMIC("fieldRef"),
    ATOMIC("fileKeyRef"),
    ATOMIC("resourceFieldRef"),
    ATOMIC("secretKeyRef"),
    END,
};

static const struct merge_type env_var[] = {
    { "valueFrom", .how = MERGE_FIELDS, .fields = env_source },
    END,
};

static const struct merge_type resources[] = {
    { "claims", .how = MERGE_LIST, .keys = { { "name" } } },
    MAP("limits"),
    MAP("requests"),
    END,
};

static const struct merge_type container[] = {
    { "env", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name", .fields = env_var },
    { "ports", .how = MERGE_LIST, .keys = { { "containerPort" }, { "protocol", "TCP" } }, .patch_key = "containerPort" },
    { "resources", .how = MERGE_FIELDS, .always = true, .fields = resources },
    { "volumeDevices", .how = MERGE_LIST, .keys = { { "devicePath" } }, .patch_key = "devicePath" },
    { "volumeMounts", .how = MERGE_LIST, .keys = { { "mountPath" } }, .patch_key = "mountPath" },
    END,
};

static const struct merge_type spread_constraint[] = {
    ATOMIC("labelSelector"),
    END,
};

static const struct merge_type secret_volume[] = {
    ATOMIC("secretRef"),
    END,
};

static const struct merge_type scale_io_volume[] = {
    { "secretRef", .how = MERGE_ATOMIC, .always = true },
    END,
};

static const struct merge_type csi_volume[] = {
    ATOMIC("nodePublishSecretRef"),
    MAP("volumeAttributes"),
    END,
};

static const struct merge_type claim_resources[] = {
    MAP("limits"),
    MAP("requests"),
    END,
};

static const struct merge_type claim_spec[] = {
    ATOMIC("dataSource"),
    { "resources", .how = MERGE_FIELDS, .always = true, .fields = claim_resources },
    ATOMIC("selector"),
    END,
};

static const struct merge_type claim_template[] = {
    { "metadata", .how = MERGE_FIELDS, .always = true, .fields = object_meta },
    { "spec", .how = MERGE_FIELDS, .always = true, .fields = claim_spec },
    END,
};

static const struct merge_type ephemeral_volume[] = {
    { "volumeClaimTemplate", .how = MERGE_FIELDS, .fields = claim_template },
    END,
};

static const struct merge_type flex_volume[] = {
    MAP("options"),
    ATOMIC("secretRef"),
    END,
};

static const struct merge_type volume[] = {
    { "cephfs", .how = MERGE_FIELDS, .fields = secret_volume },
    { "cinder", .how = MERGE_FIELDS, .fields = secret_volume },
    { "csi", .how = MERGE_FIELDS, .fields = csi_volume },
    { "ephemeral", .how = MERGE_FIELDS, .fields = ephemeral_volume },
    { "flexVolume", .how = MERGE_FIELDS, .fields = flex_volume },
    { "iscsi", .how = MERGE_FIELDS, .fields = secret_volume },
    { "rbd", .how = MERGE_FIELDS, .fields = secret_volume },
    { "scaleIO", .how = MERGE_FIELDS, .fields = scale_io_volume },
    { "storageos", .how = MERGE_FIELDS, .fields = secret_volume },
    END,
};

static const struct merge_type pod_spec[] = {
    { "affinity", .how = MERGE_FIELDS, .fields = affinity },
    { "containers", .how = MERGE_LIST, .always = true, .keys = { { "name" } }, .patch_key = "name", .fields = container },
    { "ephemeralContainers", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name", .fields = container },
    { "hostAliases", .how = MERGE_LIST, .keys = { { "ip" } }, .patch_key = "ip" },
    { "imagePullSecrets", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name", .whole_items = true },
    { "initContainers", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name", .fields = container },
    ATOMIC("nodeSelector"),
    MAP("overhead"),
    { "resourceClaims", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name" },
    { "resources", .how = MERGE_FIELDS, .fields = resources },
    { "schedulingGates", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name" },
    { "topologySpreadConstraints", .how = MERGE_LIST, .keys = { { "topologyKey" }, { "whenUnsatisfiable" } },
      .patch_key = "topologyKey", .fields = spread_constraint },
    { "volumes", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name", .fields = volume },
    END,
};

static const struct merge_type pod_status[] = {
    MAP("allocatedResources"),
    { "conditions", .how = MERGE_LIST, .keys = { { "type" } }, .patch_key = "type" },
    { "hostIPs", .how = MERGE_ATOMIC, .patch_key = "ip" },
    { "podIPs", .how = MERGE_LIST, .keys = { { "ip" } }, .patch_key = "ip" },
    { "resourceClaimStatuses", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name" },
    { "resources", .how = MERGE_FIELDS, .fields = resources },
    END,
};

static const struct merge_type pod_template[] = {
    { "metadata", .how = MERGE_FIELDS, .always = true, .fields = object_meta },
    { "spec", .how = MERGE_FIELDS, .always = true, .fields = pod_spec },
    END,
};

static const struct merge_type daemon_set_spec[] = {
    { "selector", .how = MERGE_ATOMIC, .always = true },
    { "template", .how = MERGE_FIELDS, .always = true, .fields = pod_template },
    { "updateStrategy", .how = MERGE_FIELDS, .always = true },
    END,
};

static const struct merge_type service_spec[] = {
    { "ports", .how = MERGE_LIST, .keys = { { "port" }, { "protocol", "TCP" } }, .patch_key = "port" },
    ATOMIC("selector"),
    END,
};

static const struct merge_type service_status[] = {
    { "conditions", .how = MERGE_LIST, .keys = { { "type" } }, .patch_key = "type" },
    { "loadBalancer", .how = MERGE_FIELDS, .always = true },
    END,
};

static const struct merge_type overhead[] = {
    MAP("podFixed"),
    END,
};

static const struct merge_type scheduling[] = {
    ATOMIC("nodeSelector"),
    END,
};

static const struct merge_type budget_spec[] = {
    ATOMIC("selector"),
    END,
};

static const struct merge_type budget_status[] = {
    { "conditions", .how = MERGE_LIST, .keys = { { "type" } }, .patch_key = "type" },
    MAP("disruptedPods"),
    END,
};

static const struct merge_type job_spec[] = {
    ATOMIC("selector"),
    { "template", .how = MERGE_FIELDS, .always = true, .fields = pod_template },
    END,
};

static const struct merge_type uncounted_pods[] = {
    SET("failed"),
    SET("succeeded"),
    END,
};

static const struct merge_type job_status[] = {
    { "conditions", .how = MERGE_ATOMIC, .patch_key = "type" },
    { "uncountedTerminatedPods", .how = MERGE_FIELDS, .fields = uncounted_pods },
    END,
};

static const struct merge_type deployment_spec[] = {
    { "selector", .how = MERGE_ATOMIC, .always = true },
    { "strategy", .how = MERGE_FIELDS, .always = true },
    { "template", .how = MERGE_FIELDS, .always = true, .fields = pod_template },
    END,
};

static const struct merge_type replica_set_spec[] = {
    { "selector", .how = MERGE_ATOMIC, .always = true },
    { "template", .how = MERGE_FIELDS, .always = true, .fields = pod_template },
    END,
};

static const struct merge_type crd_spec[] = {
    { "names", .how = MERGE_FIELDS, .always = true },
    END,
};

static const struct merge_type crd_status[] = {
    { "acceptedNames", .how = MERGE_FIELDS, .always = true },
    { "conditions", .how = MERGE_LIST, .keys = { { "type" } } },
    END,
};

static const struct merge_type conditions_only[] = {
    { "conditions", .how = MERGE_LIST, .keys = { { "type" } }, .patch_key = "type" },
    END,
};

/* ---- GpuClusterPolicy: a test holds it equal to the definition */

static const struct merge_type policy_operand[] = {
    { "env", .how = MERGE_LIST, .keys = { { "name" } } },
    SET("imagePullSecrets"),
    MAP("labels"),
    END,
};

static const struct merge_type policy_monitor[] = {
    MAP("labels"),
    END,
};

static const struct merge_type policy_exporter[] = {
    { "env", .how = MERGE_LIST, .keys = { { "name" } } },
    SET("imagePullSecrets"),
    MAP("labels"),
    { "serviceMonitor", .how = MERGE_FIELDS, .fields = policy_monitor },
    END,
};

static const struct merge_type policy_selector[] = {
    MAP("matchLabels"),
    END,
};

static const struct merge_type policy_nodes[] = {
    MAP("labels"),
    { "selector", .how = MERGE_FIELDS, .fields = policy_selector },
    END,
};

static const struct merge_type policy_pool_operand[] = {
    { "env", .how = MERGE_LIST, .keys = { { "name" } } },
    END,
};

static const struct merge_type policy_pool[] = {
    { "devicePlugin", .how = MERGE_FIELDS, .fields = policy_pool_operand },
    { "driver", .how = MERGE_FIELDS, .fields = policy_pool_operand },
    MAP("nodeLabels"),
    MAP("nodeSelector"),
    { "toolkit", .how = MERGE_FIELDS, .fields = policy_pool_operand },
    END,
};

static const struct merge_type policy_drain[] = {
    { "podSelector", .how = MERGE_FIELDS, .fields = policy_selector },
    END,
};

static const struct merge_type policy_rollout[] = {
    { "drain", .how = MERGE_FIELDS, .fields = policy_drain },
    END,
};

static const struct merge_type policy_validation[] = {
    SET("imagePullSecrets"),
    END,
};

static const struct merge_type policy_spec[] = {
    { "devicePlugin", .how = MERGE_FIELDS, .fields = policy_operand },
    { "driver", .how = MERGE_FIELDS, .fields = policy_operand },
    { "exporter", .how = MERGE_FIELDS, .fields = policy_exporter },
    { "nodeAgent", .how = MERGE_FIELDS, .fields = policy_validation },
    { "nodes", .how = MERGE_FIELDS, .fields = policy_nodes },
    { "pools", .how = MERGE_LIST, .keys = { { "name" } }, .fields = policy_pool },
    { "rollout", .how = MERGE_FIELDS, .fields = policy_rollout },
    { "toolkit", .how = MERGE_FIELDS, .fields = policy_operand },
    { "validation", .how = MERGE_FIELDS, .fields = policy_validation },
    END,
};

static const struct merge_type policy_counts[] = {
    { "states", .how = MERGE_LIST, .keys = { { "state" } } },
    END,
};

static const struct merge_type policy_pool_status[] = {
    { "targets", .how = MERGE_LIST, .keys = { { "revision" } } },
    END,
};

static const struct merge_type policy_status[] = {
    { "conditions", .how = MERGE_LIST, .keys = { { "type" } } },
    { "nodes", .how = MERGE_FIELDS, .fields = policy_counts },
    { "operands", .how = MERGE_LIST, .keys = { { "name" } } },
    { "pools", .how = MERGE_LIST, .keys = { { "name" } }, .fields = policy_pool_status },
    END,
};

/* ---- ServiceMonitor, as the Prometheus operator defines it */

static const struct merge_type slice_spec[] = {
    { "pool", .how = MERGE_FIELDS, .always = true },
    ATOMIC("devices"),
    END,
};

static const struct merge_type monitor_spec[] = {
    ATOMIC("selector"),
    END,
};

static const struct merge_root roots[] = {
    { "Node", .type = FIELDS(META, SPEC(node_spec), STATUS(node_status)), RESETS },
    { "Pod", .type = FIELDS(META, SPEC(pod_spec), STATUS(pod_status)), .reset = { "status" },
      .status_reset = { "spec", "metadata.deletionTimestamp", "metadata.ownerReferences" } },
    { "DaemonSet", .type = FIELDS(META, SPEC(daemon_set_spec), STATUS(conditions_only)), RESETS },
    { "Deployment", .type = FIELDS(META, SPEC(deployment_spec), STATUS(conditions_only)), .reset = { "status" },
      .status_reset = { "spec", "metadata.labels" } },
    { "ReplicaSet", .type = FIELDS(META, SPEC(replica_set_spec), STATUS(conditions_only)), RESETS },
    { "Job", .type = FIELDS(META, SPEC(job_spec), STATUS(job_status)), RESETS },
    { "Service", .type = FIELDS(META, SPEC(service_spec), STATUS(service_status)), RESETS },
    { "Namespace", .type = FIELDS(META, SPEC(NULL), STATUS(conditions_only)), RESETS },
    { "PodDisruptionBudget", .type = FIELDS(META, SPEC(budget_spec), STATUS(budget_status)), RESETS },
    { "CustomResourceDefinition", .type = FIELDS(META, SPEC(crd_spec), STATUS(crd_status)), RESETS },
    { "ControllerRevision", .type = FIELDS(META, ATOMIC("data"), ALWAYS("revision")) },
    { "ConfigMap", .type = FIELDS(META, MAP("data"), MAP("binaryData")) },
    { "Secret", .type = FIELDS(META, MAP("data"), MAP("stringData")) },
    { "ServiceAccount",
      .type = FIELDS(META, { "secrets", .how = MERGE_LIST, .keys = { { "name" } }, .patch_key = "name", .whole_items = true }) },
    { "Lease", .type = FIELDS(META, SPEC(NULL)) },
    { "ResourceSlice", .type = FIELDS(META, SPEC(slice_spec)) },
    { "PriorityClass", .type = FIELDS(META, ALWAYS("value")) },
    { "RuntimeClass", .type = FIELDS(META, ALWAYS("handler"), { "overhead", .how = MERGE_FIELDS, .fields = overhead },
                                     { "scheduling", .how = MERGE_FIELDS, .fields = scheduling }) },
    { "Role", .type = FIELDS(META) },
    { "ClusterRole", .type = FIELDS(META) },
    { "RoleBinding", .type = FIELDS(META, { "roleRef", .how = MERGE_ATOMIC, .always = true }) },
    { "ClusterRoleBinding", .type = FIELDS(META, { "roleRef", .how = MERGE_ATOMIC, .always = true }) },
    { "Event", "",
      .type = FIELDS(META, ATOMIC("related"), { "involvedObject", .how = MERGE_ATOMIC, .always = true },
                     { "source", .how = MERGE_FIELDS, .always = true }, ALWAYS("eventTime"), ALWAYS("firstTimestamp"),
                     ALWAYS("lastTimestamp"), ALWAYS("reportingComponent"), ALWAYS("reportingInstance")) },
    { "Event", "events.k8s.io",
      .type = FIELDS(META, ATOMIC("related"), { "regarding", .how = MERGE_ATOMIC, .always = true },
                     { "deprecatedSource", .how = MERGE_FIELDS, .always = true }, ALWAYS("eventTime"),
                     ALWAYS("deprecatedFirstTimestamp"), ALWAYS("deprecatedLastTimestamp")) },
    { "GpuClusterPolicy",
      .type = FIELDS(META, { "spec", .how = MERGE_FIELDS, .fields = policy_spec },
                     { "status", .how = MERGE_FIELDS, .fields = policy_status }),
      .reset = { "status" }, .status_reset = { "spec", "metadata" } },
    { "ServiceMonitor", .type = FIELDS(META, { "spec", .how = MERGE_FIELDS, .fields = monitor_spec }) },
};
/* Kinds of definitions that nobody here knows. */
static const struct merge_root unknown = {
   
    .type = FIELDS(META, { "spec", .how = MERGE_FREE }, { "status", .how = MERGE_FREE }),
};

/* "" for the core group. */
static bool is_of_group(const char *api_version, const char *group)
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t) (slash - api_version) : 0;
    return strlen(group) == len && strncmp(api_version, group, len) == 0;
}

const struct merge_root *merge_root_of(const json_t *object)
{
    const char *kind = str_or_empty(json_key(object, "kind"));
    const char *api_version = str_or_empty(json_key(object, "apiVersion"));
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        const struct merge_root *root = &roots[i];
        if (strcmp(root->kind, kind) == 0 && (!root->group || is_of_group(api_version, root->group)))
            return root;
    }
    return &unknown;
}
