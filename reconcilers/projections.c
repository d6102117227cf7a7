#include "reconcilers/projections.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/vendor.h"
#include "reconcilers/model/names.h"

#define MANAGED_FIELDS "metadata.managedFields"

static const char *const of_others[] = { MANAGED_FIELDS, NULL };

/* An editor of the policy may give it 150,000 labels, which would take 20 MiB as a cached tree. */
static const char *const of_policies[] = { "metadata.labels", MANAGED_FIELDS,
                                           "metadata.ownerReferences", NULL };

/* Managers of a child's spec are read. The spec itself is either what Ostler applied, or another
 * manager owns it. Of the fields in a template it is enough that another manager owns the spec: the
 * apply after a repair restores them. */
static const char *const of_children[] = { "spec", "status.conditions",
                                           MANAGED_FIELDS ".fieldsV1.f:spec.f:template", NULL };

/* A kubelet may report resources with any name, in any number: those with a vendor's prefix are
 * kept. add_prefixes() completes the paths: "status.capacity.!a.example/!b.example/". */
enum { PREFIXES_MAX = 256 };
static char of_allocatable[PREFIXES_MAX] = "status.allocatable.";
static char of_capacity[PREFIXES_MAX] = "status.capacity.";

/* Of the annotations, only Ostler's own and those that keep autoscalers away are read. */
static const char *const of_nodes[] = {
    MANAGED_FIELDS,
    ("metadata.annotations.!ostler.dev/!" ANNOTATION_KEEPS_KARPENTER
     "!" ANNOTATION_KEEPS_CLUSTER_AUTOSCALER),
    "spec.podCIDR",
    "spec.podCIDRs",
    "status.addresses",
    of_allocatable,
    of_capacity,
    "status.conditions.lastHeartbeatTime",
    "status.config",
    "status.daemonEndpoints",
    "status.declaredFeatures",
    "status.features",
    "status.images",
    "status.nodeInfo.machineID",
    "status.nodeInfo.systemUUID",
    "status.runtimeHandlers",
    "status.volumesAttached",
    "status.volumesInUse",
    NULL,
};

/* The identity of holders is read. Of the status's writer, only the time is. */
static const char *const of_reports[] = {
    (MANAGED_FIELDS ".fieldsV1"),         "status.inventory.holders.minors",
    "status.inventory.holders.processes", "status.inventory.heldBy",
    "status.inventory.unreadable",        NULL
};

/* ---- objects that any user may create: `ostler plan --simulate` recreates them from these
 * fields */

#define OF_METADATA                                                                                \
    "metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.generation",             \
        "metadata.name", "metadata.namespace", "metadata.resourceVersion", "metadata.uid"
#define OF_CONTAINERS(list) list ".image", list ".resources.limits", list ".restartPolicy"
#define OF_STATUSES(list)                                                                          \
    list ".lastState", list ".name", list ".ready", list ".restartCount", list ".state"

static const char *const of_pods[] = {
    OF_METADATA,
    "metadata.annotations.=" KUBELET_MIRROR,
    "metadata.labels",
    "metadata.ownerReferences",
    OF_CONTAINERS("spec.containers"),
    OF_CONTAINERS("spec.initContainers"),
    "spec.nodeName",
    "spec.resourceClaims.name",
    "spec.resourceClaims.resourceClaimName",
    "spec.resourceClaims.resourceClaimTemplateName",
    "spec.restartPolicy",
    "spec.tolerations",
    "spec.volumes.emptyDir.medium",
    "spec.volumes.hostPath.type",
    "status.conditions.message",
    "status.conditions.reason",
    "status.conditions.status",
    "status.conditions.type",
    OF_STATUSES("status.containerStatuses"),
    OF_STATUSES("status.initContainerStatuses"),
    "status.message",
    "status.phase",
    "status.reason",
    "status.startTime",
    NULL,
};

/* What another operator's DaemonSet runs, and on which nodes. Its status changes with every node
 * that joins. */
static const char *const of_foreign[] = {
    OF_METADATA,
    "spec.template.metadata.labels",
    "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    "spec.template.spec.containers.image",
    "spec.template.spec.initContainers.image",
    "spec.template.spec.nodeSelector",
    "spec.template.spec.volumes.hostPath.type",
    "status.observedGeneration",
    NULL,
};

/* A device has dozens of attributes and capacities. */
static const char *const of_slices[] = { OF_METADATA, "spec.devices.name", "spec.driver",
                                         "spec.nodeName", NULL };

static const char *const of_budgets[] = { OF_METADATA, "spec", "status", NULL };

const struct split_view *projection_bare_view(enum resource_id resource)
{
    static const char *const without_status[] = { MANAGED_FIELDS, "status", NULL };
    static const struct split_view bare = { without_status, false };
    return resource == RESOURCE_NODE || resource == RESOURCE_POD || resource == RESOURCE_TASK
               ? &bare
               : NULL;
}

/* Completes a path to a map of resources, once. */
static void add_prefixes(char path[static PREFIXES_MAX])
{
    if (strchr(path, '!'))
        return;
    EACH_VENDOR (v) {
        size_t len = strlen(path);
        snprintf(path + len, PREFIXES_MAX - len, "!%s", v->prefix);
    }
}

const struct split_view *projection_view(enum resource_id resource)
{
    static const struct split_view others = { of_others, false };
    static const struct split_view rows[RESOURCE_COUNT] = {
        [RESOURCE_NODE] = { of_nodes, false },
        [RESOURCE_POLICY] = { of_policies, false },
        [RESOURCE_POD] = { of_pods, true },
        [RESOURCE_BUDGET] = { of_budgets, true },
        [RESOURCE_FOREIGN] = { of_foreign, true },
        [RESOURCE_SLICE] = { of_slices, true },
        [RESOURCE_DAEMONSET] = { of_children, false },
        [RESOURCE_SERVICE] = { of_children, false },
        [RESOURCE_SERVICEMONITOR] = { of_children, false },
        [RESOURCE_GPU_NODE] = { of_reports, false },
    };
    add_prefixes(of_allocatable);
    add_prefixes(of_capacity);
    return rows[resource].paths ? &rows[resource] : &others;
}
