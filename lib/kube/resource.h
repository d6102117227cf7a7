/* The resources that Ostler talks to, one row each: their paths and what may be done to them. A test holds the verbs against
 * the rules of the chart, so that RBAC is neither too wide nor too narrow. */
#ifndef OSTLER_KUBE_RESOURCE_H
#define OSTLER_KUBE_RESOURCE_H

#include <stdbool.h>

/* id, API group ("" = core), version, kind, plural, namespaced, verbs, subresources ("" = none), the verb on each */
#define RESOURCES(X)                                                                               \
    X(POLICY, "ostler.dev", "v1alpha1", "GpuClusterPolicy", "gpuclusterpolicies", false,           \
      "list,watch,patch", "status", "patch")                                                       \
    X(GPU_NODE, "ostler.dev", "v1alpha1", "GpuNode", "gpunodes", false,                            \
      "list,watch,create,patch,delete", "status", "patch")                                         \
    X(NODE, "", "v1", "Node", "nodes", false, "list,watch,patch",                            \
      "status", "patch")                                                                           \
    X(POD, "", "v1", "Pod", "pods", true, "list,watch,delete", "eviction,log", "create,get")       \
    /* Pods again: those that Ostler makes itself, which are watched to their end, and the others only while they run. */ \
    X(TASK, "", "v1", "Pod", "pods", true, "list,watch,create,delete", "", "")                     \
    X(DAEMONSET, "apps", "v1", "DaemonSet", "daemonsets", true,                                    \
      "list,watch,create,patch,delete", "", "")                                                    \
    /* DaemonSets again: of all namespaces, those that serve GPUs for somebody else. */                      \
    X(FOREIGN, "apps", "v1", "DaemonSet", "daemonsets", true, "list,watch", "", "")                \
    X(REVISION, "apps", "v1", "ControllerRevision", "controllerrevisions", true,                   \
      "list,watch,create,patch,delete", "", "")                                                    \
    X(CONFIGMAP, "", "v1", "ConfigMap", "configmaps", true, "list,watch", "", "")                  \
    X(SERVICE, "", "v1", "Service", "services", true, "list,watch,create,patch,delete", "", "")    \
    X(RUNTIMECLASS, "node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false,                  \
      "list,watch,create,patch,delete", "", "")                                                    \
    X(SERVICEMONITOR, "monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors", true,    \
      "list,watch,create,patch,delete", "", "")                                                    \
    X(BUDGET, "policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", true, "list,watch", "", "") \
    X(SLICE, "resource.k8s.io", "v1", "ResourceSlice", "resourceslices", false, "list,watch", "", "")     \
    X(LEASE, "coordination.k8s.io", "v1", "Lease", "leases", true, "get,create,update", "", "")    \
    X(EVENT, "events.k8s.io", "v1", "Event", "events", true, "create,patch", "", "")               \
    /* What Ostler stands on. `ostler cleanup` and `install-crds` do more to these two, by rights of their own. */ \
    X(CRD, "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false, "get", "", "") \
    X(NAMESPACE, "", "v1", "Namespace", "namespaces", false, "get", "", "")                       \
    /* Ostler's own, which `ostler cleanup` deletes by a right of its own. */                      \
    X(DEPLOYMENT, "apps", "v1", "Deployment", "deployments", true, "", "", "")

enum resource_id {
#define X(id, ...) RESOURCE_##id,
    RESOURCES(X)
#undef X
    RESOURCE_COUNT
};

struct resource {
    const char *group;
    const char *version;
    const char *kind;
    const char *plural;
    bool namespaced;
    const char *verbs;             /* comma-separated, what Ostler uses and nothing else */
    const char *subresources;      /* comma-separated: "status", "eviction,log"; "": none is used */
    const char *subresource_verbs; /* the verb on each of them, in their order */
};

/* The row of a resource. */
const struct resource *resource_get(enum resource_id id);
/* What objects of this row are called in metrics and logs: the plural, or for one of two rows that share it a name of its own. */
const char *resource_name(enum resource_id id);
/* "v1" or "apps/v1", for apiVersion. Static text. */
const char *resource_api_version(enum resource_id id);
/* The URL path of a collection (name NULL) or an object, with percent-encoded segments; `ns` NULL on a namespaced resource is
 * all namespaces. `subresource` may be NULL. Owned by the caller. */
char *resource_path(enum resource_id id, const char *ns, const char *name, const char *subresource);

#endif
