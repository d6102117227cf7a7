/* The resources that Ostler uses, one row each: paths and verbs. A test compares the verbs with
 * the chart's rules, so that RBAC is neither too wide nor too narrow. */
#ifndef OSTLER_KUBE_RESOURCE_H
#define OSTLER_KUBE_RESOURCE_H

#include <stdbool.h>

/* id, API group ("" = core), version, kind, plural, namespaced, verbs, subresources ("" = none),
 * one verb for each */
#define RESOURCES(X)                                                                               \
    X(POLICY, "ostler.dev", "v1alpha1", "GpuClusterPolicy", "gpuclusterpolicies", false,           \
      "list,watch,patch", "status", "patch")                                                       \
    X(GPU_NODE, "ostler.dev", "v1alpha1", "GpuNode", "gpunodes", false,                            \
      "list,watch,create,patch,delete", "status", "patch")                                         \
    X(NODE, "", "v1", "Node", "nodes", false, "list,watch,patch", "status", "patch")               \
    X(POD, "", "v1", "Pod", "pods", true, "list,watch,delete", "eviction,log", "create,get")       \
    /* Pods again: Ostler's own, watched to their end. POD has the others while they run. */       \
    X(TASK, "", "v1", "Pod", "pods", true, "list,watch,create,delete", "", "")                     \
    X(DAEMONSET, "apps", "v1", "DaemonSet", "daemonsets", true, "list,watch,create,patch,delete",  \
      "", "")                                                                                      \
    /* DaemonSets again: foreign ones that serve GPUs, in all namespaces. */                       \
    X(FOREIGN, "apps", "v1", "DaemonSet", "daemonsets", true, "list,watch", "", "")                \
    X(REVISION, "apps", "v1", "ControllerRevision", "controllerrevisions", true,                   \
      "list,watch,create,patch,delete", "", "")                                                    \
    X(CONFIGMAP, "", "v1", "ConfigMap", "configmaps", true, "list,watch", "", "")                  \
    X(SERVICE, "", "v1", "Service", "services", true, "list,watch,create,patch,delete", "", "")    \
    X(RUNTIMECLASS, "node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false,                  \
      "list,watch,create,patch,delete", "", "")                                                    \
    X(SERVICEMONITOR, "monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors", true,    \
      "list,watch,create,patch,delete", "", "")                                                    \
    X(BUDGET, "policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", true, "list,watch",   \
      "", "")                                                                                      \
    X(SLICE, "resource.k8s.io", "v1", "ResourceSlice", "resourceslices", false, "list,watch", "",  \
      "")                                                                                          \
    X(LEASE, "coordination.k8s.io", "v1", "Lease", "leases", true, "get,create,update", "", "")    \
    X(EVENT, "events.k8s.io", "v1", "Event", "events", true, "create,patch", "", "")               \
    /* Prerequisites. `ostler cleanup` and `install-crds` have more permissions on these two. */   \
    X(CRD, "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",  \
      false, "get", "", "")                                                                        \
    X(NAMESPACE, "", "v1", "Namespace", "namespaces", false, "get", "", "")                        \
    /* Ostler's own Deployment; `ostler cleanup` has its own permission to delete it. */           \
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
    const char *verbs;             /* comma-separated, exactly what Ostler uses */
    const char *subresources;      /* comma-separated: "status", "eviction,log"; "": none */
    const char *subresource_verbs; /* one verb for each, in their order */
};

/* The row of a resource. */
const struct resource *resource_get(enum resource_id id);
/* The name in metrics and logs: the plural, or a separate name for one of two rows that share
 * it. */
const char *resource_name(enum resource_id id);
/* "v1" or "apps/v1", for apiVersion. Static text. */
const char *resource_api_version(enum resource_id id);
/* The URL path of a collection (name NULL) or an object, with percent-encoded segments. `ns`
 * NULL on a namespaced resource means all namespaces. `subresource` may be NULL. Owned by the
 * caller. */
char *resource_path(enum resource_id id, const char *ns, const char *name, const char *subresource);

#endif
