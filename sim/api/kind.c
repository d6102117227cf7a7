#include "sim/api/kind.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

#define IN(group, version) group, version, group "/" version

/* "events" of events.k8s.io stand before those of the core: kind_named() takes the first. */
static const struct kind kinds[] = {
    { IN("", "v1"), "Namespace", "namespaces", "namespace", "ns", "", false, SUB_STATUS, 0 },
    { IN("", "v1"), "Node", "nodes", "node", "no", "", false, SUB_STATUS, 0 },
    { IN("", "v1"), "Pod", "pods", "pod", "po", "all", true,
      SUB_STATUS | SUB_EVICTION | SUB_BINDING | SUB_LOG,
      KIND_GENERATION | KIND_GRACEFUL | KIND_RETURNS_DELETED },
    { IN("", "v1"), "ConfigMap", "configmaps", "configmap", "cm", "", true, SUB_NONE, 0 },
    { IN("", "v1"), "Service", "services", "service", "svc", "all", true, SUB_STATUS,
      KIND_PUT_CREATES | KIND_RETURNS_DELETED },
    { IN("", "v1"), "ServiceAccount", "serviceaccounts", "serviceaccount", "sa", "", true, SUB_NONE,
      KIND_RETURNS_DELETED },
    { IN("events.k8s.io", "v1"), "Event", "events", "event", "ev", "", true, SUB_NONE,
      KIND_PUT_CREATES },
    { IN("", "v1"), "Event", "events", "event", "ev", "", true, SUB_NONE, KIND_PUT_CREATES },
    { IN("apps", "v1"), "ControllerRevision", "controllerrevisions", "controllerrevision", "", "",
      true, SUB_NONE, 0 },
    { IN("apps", "v1"), "DaemonSet", "daemonsets", "daemonset", "ds", "all", true, SUB_STATUS,
      KIND_GENERATION },
    { IN("apps", "v1"), "Deployment", "deployments", "deployment", "deploy", "all", true,
      SUB_STATUS | SUB_SCALE, KIND_GENERATION },
    { IN("apps", "v1"), "ReplicaSet", "replicasets", "replicaset", "rs", "all", true,
      SUB_STATUS | SUB_SCALE, KIND_GENERATION },
    { IN("batch", "v1"), "Job", "jobs", "job", "", "all", true, SUB_STATUS,
      KIND_GENERATION | KIND_ORPHANS },
    { IN("coordination.k8s.io", "v1"), "Lease", "leases", "lease", "", "", true, SUB_NONE,
      KIND_PUT_CREATES | KIND_NEEDS_VERSION },
    { IN("node.k8s.io", "v1"), "RuntimeClass", "runtimeclasses", "runtimeclass", "", "", false,
      SUB_NONE, KIND_PUT_CREATES | KIND_NEEDS_VERSION },
    { IN("policy", "v1"), "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget",
      "pdb", "", true, SUB_STATUS, KIND_GENERATION | KIND_NEEDS_VERSION },
    { IN("resource.k8s.io", "v1"), "ResourceSlice", "resourceslices", "resourceslice", "", "",
      false, SUB_NONE, KIND_GENERATION },
    { IN("scheduling.k8s.io", "v1"), "PriorityClass", "priorityclasses", "priorityclass", "pc", "",
      false, SUB_NONE, KIND_GENERATION },
    { IN("apiextensions.k8s.io", "v1"), "CustomResourceDefinition", "customresourcedefinitions",
      "customresourcedefinition", "crd,crds", "api-extensions", false, SUB_STATUS,
      KIND_GENERATION | KIND_NEEDS_VERSION },
    { IN("ostler.dev", "v1alpha1"), "GpuClusterPolicy", "gpuclusterpolicies", "gpuclusterpolicy",
      "gpupolicy", "gpu", false, SUB_STATUS, KIND_GENERATION | KIND_CUSTOM | KIND_NEEDS_VERSION },
    { IN("ostler.dev", "v1alpha1"), "GpuNode", "gpunodes", "gpunode", "gpun", "gpu", false,
      SUB_STATUS, KIND_GENERATION | KIND_CUSTOM | KIND_NEEDS_VERSION },
    { IN("monitoring.coreos.com", "v1"), "ServiceMonitor", "servicemonitors", "servicemonitor",
      "smon", "prometheus-operator", true, SUB_NONE,
      KIND_GENERATION | KIND_CUSTOM | KIND_NEEDS_VERSION },
};

size_t kind_count(void)
{
    return ARRAY_LEN(kinds);
}

const struct kind *kind_at(size_t index)
{
    return &kinds[index];
}

size_t kind_index(const struct kind *k)
{
    return (size_t) (k - kinds);
}

const struct kind *kind_of_path(const char *group, const char *version, const char *plural)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i].plural, plural) && str_eq(kinds[i].group, group) &&
            str_eq(kinds[i].version, version))
            return &kinds[i];
    return NULL;
}

const struct kind *kind_of(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i].kind, kind) && str_eq(kind_api_version(&kinds[i]), api_version))
            return &kinds[i];
    return NULL;
}

const struct kind *kind_named(const char *plural)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i].plural, plural))
            return &kinds[i];
    fprintf(stderr, "sim: there is no kind with the plural %s\n", plural);
    abort();
}

const char *kind_api_version(const struct kind *k)
{
    return *k->group ? k->group_version : k->group_version + 1;
}
