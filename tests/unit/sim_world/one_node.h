/* A simulated cluster of one GPU node with a policy. */
#ifndef OSTLER_TESTS_SIM_WORLD_ONE_NODE_H
#define OSTLER_TESTS_SIM_WORLD_ONE_NODE_H

#include "base/json.h"
#include "base/str.h"
#include "sim/api/access.h"
#include "sim/api/builtin.h"
#include "tests/unit/support/suite.h"

static inline void create(struct api *api, json_t *object_steal)
{
    CLEANUP_JSON json_t *object = object_steal;
    CLEANUP_REFUSAL struct refusal r = { 0 };
    if (api_create(api, "admin", kind_of(json_str(object, "apiVersion"), json_str(object, "kind")),
                   object, &r) < 0)
        fail_msg("%s", r.message);
}

static inline void create_cluster(struct api *api)
{
    static const char *const namespaces[] = { "ostler-system", "elsewhere", "ostler-operands" };
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
        create(api, json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                              "metadata", "name", namespaces[i]));
    size_t i;
    json_t *crd;
    CLEANUP_JSON json_t *crds = builtin_crds();
    json_array_foreach (crds, i, crd)
        create(api, json_incref(crd));
    create(api, json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:{s:s, s:s, s:s, s:s}}}", "apiVersion",
                          "v1", "kind", "Node", "metadata", "name", "gpu-1", "labels",
                          "feature.node.kubernetes.io/pci-0302_10de.present", "true", "status",
                          "nodeInfo", "osImage", "Ubuntu 24.04.1 LTS", "kernelVersion",
                          "6.8.0-49-generic", "containerRuntimeVersion", "containerd://2.1.4",
                          "architecture", "amd64"));
    create(api, json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:b}}}", "apiVersion", "ostler.dev/v1alpha1",
                          "kind", "GpuClusterPolicy", "metadata", "name", "default", "spec",
                          "toolkit", "enabled", 0));
}

#endif
