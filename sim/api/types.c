#include "sim/api/types.h"

#include "base/mem.h"
#include "base/str.h"
#include "sim/api/kind.h"

static const struct kind_type {
    const char *group;
    const struct type *type;
} kind_types[] = {
    { "", &type_namespace },
    { "", &type_node },
    { "", &type_pod },
    { "", &type_config_map },
    { "", &type_service },
    { "", &type_service_account },
    { "events.k8s.io", &type_events_event },
    { "", &type_event },
    { "apps", &type_controller_revision },
    { "apps", &type_daemon_set },
    { "apps", &type_deployment },
    { "apps", &type_replica_set },
    { "batch", &type_job },
    { "coordination.k8s.io", &type_lease },
    { "node.k8s.io", &type_runtime_class },
    { "policy", &type_pod_disruption_budget },
    { "resource.k8s.io", &type_resource_slice },
    { "scheduling.k8s.io", &type_priority_class },
    { "apiextensions.k8s.io", &type_custom_resource_definition },
};

const struct type *type_of_kind(const struct kind *k)
{
    for (size_t i = 0; i < ARRAY_LEN(kind_types); i++)
        if (str_eq(kind_types[i].type->name, k->kind) && str_eq(kind_types[i].group, k->group))
            return kind_types[i].type;
    return NULL;
}

const struct field *type_field(const struct type *t, const char *name)
{
    for (const struct field *f = t->fields; f->name; f++)
        if (str_eq(f->name, name))
            return f;
    return NULL;
}
