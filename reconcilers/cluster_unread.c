#include "reconcilers/cluster_unread.h"

#include "base/mem.h"
#include "kube/split.h"

#define MANAGED_FIELDS "metadata.managedFields"

static const char *const of_others[] = { MANAGED_FIELDS, NULL };

/* Who manages fields of a child's spec is looked at. What the spec says is what Ostler has said, or somebody else has it. Of the
 * fields in a template it is enough that somebody has the spec: they come back with the apply that follows on a repair. */
static const char *const of_children[] = { "spec", "status.conditions", MANAGED_FIELDS ".fieldsV1.f:spec.f:template", NULL };

static const char *const of_nodes[] = {
    MANAGED_FIELDS,
    "spec.podCIDR",
    "spec.podCIDRs",
    "status.addresses",
    "status.conditions.lastHeartbeatTime",
    "status.daemonEndpoints",
    "status.images",
    "status.nodeInfo.machineID",
    "status.nodeInfo.systemUUID",
    "status.volumesAttached",
    "status.volumesInUse",
    NULL,
};

/* Of who holds a GPU it is looked at who that is. Of who wrote it the time is. */
static const char *const of_reports[] = { MANAGED_FIELDS ".fieldsV1",
                                          "status.inventory.holders.minors",
                                          "status.inventory.holders.processes",
                                          "status.inventory.heldBy",
                                          "status.inventory.unreadable",
                                          NULL };

#define OF_CONTAINERS(list)                                                                                                   \
    list ".args", list ".command", list ".env", list ".envFrom", list ".imagePullPolicy", list ".lifecycle",                  \
    list ".livenessProbe",                                                                                                    \
        list ".ports", list ".readinessProbe", list ".securityContext", list ".startupProbe", list ".terminationMessagePath", \
        list ".terminationMessagePolicy", list ".volumeMounts"
#define OF_STATUSES(list) list ".containerID", list ".image", list ".imageID", list ".started"

static const char *const of_pods[] = {
    "metadata.annotations",
    MANAGED_FIELDS,
    OF_CONTAINERS("spec.containers"),
    OF_CONTAINERS("spec.initContainers"),
    "spec.affinity",
    "spec.ephemeralContainers",
    "spec.nodeSelector",
    "spec.securityContext",
    "spec.tolerations.tolerationSeconds",
    "spec.volumes.configMap",
    "spec.volumes.csi",
    "spec.volumes.downwardAPI",
    "spec.volumes.persistentVolumeClaim",
    "spec.volumes.projected",
    "spec.volumes.secret",
    "status.conditions.lastProbeTime",
    "status.conditions.lastTransitionTime",
    OF_STATUSES("status.containerStatuses"),
    OF_STATUSES("status.initContainerStatuses"),
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
    "status.startTime",
    NULL,
};
_Static_assert(ARRAY_LEN(of_pods) <= SPLIT_PATHS_MAX, "so many paths can be left out");

const char *const *cluster_unread(enum resource_id resource)
{
    static const char *const *const rows[RESOURCE_COUNT] = {
        [RESOURCE_NODE] = of_nodes,           [RESOURCE_POD] = of_pods,
        [RESOURCE_DAEMONSET] = of_children,   [RESOURCE_SERVICE] = of_children,
        [RESOURCE_SERVICEMONITOR] = of_children, [RESOURCE_GPU_NODE] = of_reports,
    };
    return rows[resource] ? rows[resource] : of_others;
}
