#include "sim/api/complete.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/draft.h"
#include "sim/api/prepare.h"
#include "sim/api/text.h"

static const char *text_at(const struct draft *d, const char *key)
{
    return str_or_empty(json_string_value(draft_get(d, key)));
}

/* ---- pods */

/* Whether an image has the tag "latest", explicitly or by default. */
static bool is_latest(const char *image)
{
    if (!*image || strchr(image, '@'))
        return false;
    const char *slash = strrchr(image, '/'), *tag = strrchr(slash ? slash : image, ':');
    return !tag || str_eq(tag, ":latest");
}

void complete_container(struct draft *d)
{
    draft_default(d, "imagePullPolicy", is_latest(text_at(d, "image")) ? "Always" : "IfNotPresent");
}

void complete_image_volume_source(struct draft *d)
{
    draft_default(d, "pullPolicy", is_latest(text_at(d, "reference")) ? "Always" : "IfNotPresent");
}

void complete_volume(struct draft *d)
{
    if (json_object_size(d->value) <= (draft_get(d, "name") ? 1 : 0))
        draft_set(d, "emptyDir", json_object());
}

static const char *const container_lists[] = { "containers", "initContainers" };

/* Calls a function on each container of a pod's spec. */
static void each_container(struct draft *spec, draft_item_fn *change)
{
    for (size_t l = 0; l < ARRAY_LEN(container_lists); l++)
        draft_each(spec, container_lists[l], change, NULL);
}

static void set_host_port(struct draft *port, size_t i, const void *arg)
{
    (void) i;
    (void) arg;
    if (draft_get(port, "containerPort"))
        draft_default_value(port, "hostPort", json_incref(draft_get(port, "containerPort")));
}

/* In the host's network, the ports of containers are ports of the host. */
static void set_host_ports(struct draft *container, size_t i, const void *arg)
{
    (void) i;
    draft_each(container, "ports", set_host_port, arg);
}

void complete_pod_spec(struct draft *d)
{
    const char *account = text_at(d, "serviceAccountName");
    if (*account)
        draft_default(d, "serviceAccount", account);
    else if (*text_at(d, "serviceAccount"))
        draft_default(d, "serviceAccountName", text_at(d, "serviceAccount"));
}

/* A limit without a request is also the request. */
static void request_limits(struct draft *container, size_t i, const void *arg)
{
    (void) i;
    (void) arg;
    json_t *limits = json_object_get(draft_get(container, "resources"), "limits");
    if (!limits)
        return;
    struct draft resources = draft_at(container, "resources");
    struct draft requests = draft_at(&resources, "requests");
    JSON_EACH_MEMBER (key, amount, limits)
        draft_default_value(&requests, key, json_incref(amount));
    draft_put(&resources, "requests", &requests);
    draft_put(container, "resources", &resources);
}

void complete_pod(struct draft *d)
{
    struct draft spec = draft_at(d, "spec");
    draft_default_value(&spec, "enableServiceLinks", json_true());
    each_container(&spec, request_limits);
    if (json_is_true(draft_get(&spec, "hostNetwork")))
        each_container(&spec, set_host_ports);
    draft_put(d, "spec", &spec);
}

/* ---- workloads */

/* The two numbers of a rolling update. */
static void complete_strategy(struct draft *spec, const char *key, json_t *unavailable_steal,
                              json_t *surge_steal)
{
    CLEANUP_JSON json_t *unavailable = unavailable_steal;
    CLEANUP_JSON json_t *surge = surge_steal;
    struct draft strategy = draft_at(spec, key);
    draft_default(&strategy, "type", "RollingUpdate");
    if (str_eq(text_at(&strategy, "type"), "RollingUpdate")) {
        struct draft rolling = draft_at(&strategy, "rollingUpdate");
        draft_default_value(&rolling, "maxUnavailable", json_incref(unavailable));
        draft_default_value(&rolling, "maxSurge", json_incref(surge));
        draft_put(&strategy, "rollingUpdate", &rolling);
    }
    draft_put(spec, key, &strategy);
}

/* An annotation counts the templates of a DaemonSet; each has it as soon as it is read. */
void complete_daemon_set(struct draft *d)
{
    if (object_annotation(d->value, TEMPLATE_GENERATION))
        return;
    struct draft metadata = draft_at(d, "metadata"),
                 annotations = draft_at(&metadata, "annotations");
    draft_default(&annotations, TEMPLATE_GENERATION, "0");
    draft_put(&metadata, "annotations", &annotations);
    draft_put(d, "metadata", &metadata);
}

void complete_daemon_set_spec(struct draft *d)
{
    complete_strategy(d, "updateStrategy", json_integer(1), json_integer(0));
}

void complete_deployment_spec(struct draft *d)
{
    complete_strategy(d, "strategy", json_string("25%"), json_string("25%"));
}

void complete_job_spec(struct draft *d)
{
    if (!draft_get(d, "parallelism") && !draft_get(d, "completions"))
        draft_set(d, "completions", json_integer(1));
    draft_default_value(d, "parallelism", json_integer(1));
    draft_default_value(d, "backoffLimit",
                        json_integer(draft_get(d, "backoffLimitPerIndex") ? INT32_MAX : 6));
    draft_default(d, "podReplacementPolicy",
                  draft_get(d, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
}

/* ---- services, namespaces, nodes, definitions */

void complete_service_port(struct draft *d)
{
    if (!draft_get(d, "targetPort") && draft_get(d, "port"))
        draft_set(d, "targetPort", json_incref(draft_get(d, "port")));
}

void complete_service_spec(struct draft *d)
{
    const char *type = text_at(d, "type");
    if (str_eq(type, "ExternalName"))
        return;
    draft_default(d, "internalTrafficPolicy", "Cluster");
    if (str_eq(type, "NodePort") || str_eq(type, "LoadBalancer"))
        draft_default(d, "externalTrafficPolicy", "Cluster");
    if (str_eq(type, "LoadBalancer") && !draft_get(d, "allocateLoadBalancerNodePorts"))
        draft_set(d, "allocateLoadBalancerNodePorts", json_true());
}

void complete_namespace(struct draft *d)
{
    const char *name = json_str(d->value, "metadata.name");
    if (name) {
        struct draft metadata = draft_at(d, "metadata"), labels = draft_at(&metadata, "labels");
        draft_default(&labels, "kubernetes.io/metadata.name", name);
        draft_put(&metadata, "labels", &labels);
        draft_put(d, "metadata", &metadata);
    }
}

void complete_node_spec(struct draft *d)
{
    if (*text_at(d, "podCIDR") && !draft_get(d, "podCIDRs"))
        draft_set(d, "podCIDRs", json_pack("[s]", text_at(d, "podCIDR")));
}

void complete_node_status(struct draft *d)
{
    if (draft_get(d, "capacity") && !draft_get(d, "allocatable"))
        draft_set(d, "allocatable", json_incref(draft_get(d, "capacity")));
}

void complete_custom_resource_definition_spec(struct draft *d)
{
    struct draft names = draft_at(d, "names");
    const char *kind = text_at(&names, "kind");
    CLEANUP_FREE char *singular = text_lower(kind);
    CLEANUP_FREE char *list = xasprintf("%sList", kind);
    draft_default(&names, "singular", singular);
    draft_default(&names, "listKind", list);
    draft_put(d, "names", &names);
    draft_default_value(d, "conversion", json_pack("{s:s}", "strategy", "None"));
}
