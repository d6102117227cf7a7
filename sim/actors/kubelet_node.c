/* Writes the Node object as a kubelet does. */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "sim/actors/kubelet.h"

enum {
    CPUS = 32,
    MEMORY_MIB = 131072,
    PODS = 110,
    /* devices of a missing plugin stay in the capacity for so long */
    DEVICE_GRACE_MS = 5 * 60 * 1000,
};

/* From registration to the first Ready, while the network starts. */
static const struct spec_delay settling = { 3000, 15000 };

static const struct {
    const char *type, *status, *reason, *message;
} healthy[] = {
    { "MemoryPressure", "False", "KubeletHasSufficientMemory",
      "kubelet has sufficient memory available" },
    { "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure" },
    { "PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available" },
    { "Ready", "True", "KubeletReady", "kubelet is posting ready status" },
};

static json_t *node_condition(size_t row, bool ready, const json_t *old, const char *now)
{
    bool no_network = str_eq(healthy[row].type, "Ready") && !ready;
    const char *status = no_network ? "False" : healthy[row].status;
    const json_t *before = condition_find(old, healthy[row].type);
    const char *since = str_eq(json_str(before, "status"), status)
                            ? json_str(before, "lastTransitionTime")
                            : NULL;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", healthy[row].type, "status", status,
                     "reason", no_network ? "KubeletNotReady" : healthy[row].reason, "message",
                     no_network ? "container runtime network not ready: NetworkReady=false "
                                  "reason:NetworkPluginNotReady message:Network plugin "
                                  "returns error: cni plugin not initialized"
                                : healthy[row].message,
                     "lastHeartbeatTime", now, "lastTransitionTime", since ? since : now);
}

/* The kubelet's own conditions, and those of others unchanged. */
static json_t *kubelet_node_conditions_of(const struct machine *m, bool ready, const json_t *old)
{
    char now[CLOCK_TEXT_MAX];
    actors_now(m->a, now);
    json_t *out = json_array();
    for (size_t row = 0; row < ARRAY_LEN(healthy); row++)
        json_array_append_new(out, node_condition(row, ready, old, now));
    JSON_EACH (c, old)
        if (!condition_find(out, json_str_or_empty(c, "type")))
            json_array_append(out, c);
    return out;
}

/* Sets the plugin's devices in a resource list. */
static void set_devices(const struct machine *m, int64_t gpus, json_t *list)
{
    json_object_set_new(list, machine_resource(m), json_textf("%lld", (long long) gpus));
    JSON_EACH_MEMBER (resource, number, m->shape->more)
        json_object_set_new(list, resource,
                            json_textf("%lld", (long long) machine_gives(m, resource, gpus)));
}

/* Devices that its plugin gives out. */
static int64_t given_out(const struct machine *m)
{
    return m->devices - gpus_withheld(m);
}

static json_t *resources_of(const struct machine *m, int64_t gpus)
{
    const struct spec_shape *s = m->shape;
    json_t *list = json_pack(
        "{s:o, s:s, s:o, s:o}", "cpu", json_textf("%lld", (long long) (s->cpus ? s->cpus : CPUS)),
        "ephemeral-storage", "1000Gi", "memory",
        json_textf("%lldMi", (long long) (s->memory_mib ? s->memory_mib : MEMORY_MIB)), "pods",
        json_textf("%lld", (long long) (s->pods ? s->pods : PODS)));
    if (m->plugged)
        set_devices(m, gpus, list);
    return list;
}

static const char *or_usual(const char *text, const char *usual)
{
    return text ? text : usual;
}

static json_t *info_of(const struct machine *m)
{
    const struct spec_shape *s = m->shape;
    const char *kubelet = or_usual(s->kubelet, "v1.36.3");
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "architecture",
                     or_usual(s->architecture, "amd64"), "bootID", m->boot_id,
                     "containerRuntimeVersion", or_usual(s->runtime, "containerd://2.1.4"),
                     "kernelVersion", or_usual(s->kernel, ""), "kubeProxyVersion", "",
                     "kubeletVersion", kubelet, "machineID", m->name, "operatingSystem", "linux",
                     "osImage", or_usual(s->os_image, ""), "systemUUID", m->name);
}

static json_t *addresses_of(const struct machine *m)
{
    enum { IN_A_NETWORK = 250 };
    CLEANUP_FREE char *address = xasprintf("10.0.%d.%d", m->number / IN_A_NETWORK,
                                           m->number % IN_A_NETWORK + 1);
    return json_pack("[{s:s, s:s}, {s:s, s:s}]", "type", "InternalIP", "address", address, "type",
                     "Hostname", "address", m->name);
}

static json_t *kubelet_node_status_of(const struct machine *m, bool ready, const json_t *old)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "capacity", resources_of(m, m->capacity),
                     "allocatable", resources_of(m, given_out(m)), "conditions",
                     kubelet_node_conditions_of(m, ready, json_object_get(old, "conditions")),
                     "nodeInfo", info_of(m), "addresses", addresses_of(m));
}

static json_t *new_node(const struct machine *m)
{
    json_t *labels = json_pack("{s:s, s:s, s:s}", "kubernetes.io/arch",
                               or_usual(m->shape->architecture, "amd64"), "kubernetes.io/hostname",
                               m->name, "kubernetes.io/os", "linux");
    if (m->shape->labels)
        json_object_update(labels, (json_t *) m->shape->labels);
    if (m->labels)
        json_object_update(labels, (json_t *) m->labels);
    json_t *metadata = json_pack("{s:s, s:o}", "name", m->name, "labels", labels);
    if (m->shape->annotations)
        json_object_set(metadata, "annotations", (json_t *) m->shape->annotations);
    json_t *spec = json_object();
    if (m->shape->taints)
        json_object_set(spec, "taints", (json_t *) m->shape->taints);
    return json_pack("{s:o, s:o}", "metadata", metadata, "spec", spec);
}

static void heartbeat(void *arg)
{
    node_post_ready(arg);
}

static void post_ready_after(struct machine *m, int64_t ms)
{
    m->heartbeat_event.fn = heartbeat;
    m->heartbeat_event.arg = m;
    sim_after(m->a->sim, &m->heartbeat_event, ms);
}

void node_post_ready(struct machine *m)
{
    const struct kind *k = m->a->kinds.node;
    const json_t *node = machine_talks(m) ? api_get(m->a->api, k, "", m->name) : NULL;
    m->capacity = m->devices;
    if (node)
        object_set_status(m->a, KUBELET_USER, k, node,
                          kubelet_node_status_of(m, true, json_object_get(node, "status")));
    if (m->a->world.latencies.heartbeat_ms > 0)
        post_ready_after(m, m->a->world.latencies.heartbeat_ms);
}

void node_register(struct machine *m, bool at_once)
{
    const struct kind *k = m->a->kinds.node;
    if (api_get(m->a->api, k, "", m->name)) {
        node_post_ready(m);
        return;
    }
    CLEANUP_JSON json_t *node = new_node(m);
    json_object_set_new(node, "status", kubelet_node_status_of(m, at_once, NULL));
    api_create(m->a->api, KUBELET_USER, k, node, NULL);
    if (!at_once)
        post_ready_after(m, kubelet_draw(m->kubelet, settling));
    else if (m->a->world.latencies.heartbeat_ms > 0)
        post_ready_after(m, m->a->world.latencies.heartbeat_ms);
}

/* ---- devices */

static void write_devices(void *arg)
{
    struct machine *m = arg;
    const struct kind *k = m->a->kinds.node;
    const json_t *node = machine_talks(m) ? api_get(m->a->api, k, "", m->name) : NULL;
    if (!node)
        return;
    if (m->devices > m->capacity)
        m->capacity = m->devices;
    CLEANUP_JSON json_t *capacity = json_object();
    CLEANUP_JSON json_t *allocatable = json_object();
    set_devices(m, m->capacity, capacity);
    set_devices(m, given_out(m), allocatable);
    const char *resource = machine_resource(m);
    if (json_equal(json_object_get(json_at(node, "status.capacity"), resource),
                   json_object_get(capacity, resource)) &&
        json_equal(json_object_get(json_at(node, "status.allocatable"), resource),
                   json_object_get(allocatable, resource)))
        return;
    object_set_status(m->a, KUBELET_USER, k, node,
                      json_pack("{s:O, s:O}", "capacity", capacity, "allocatable", allocatable));
}

static void forget_devices(void *arg)
{
    struct machine *m = arg;
    m->capacity = m->devices;
    write_devices(m);
}

void node_note_devices(struct machine *m)
{
    m->plugged = true;
    m->node_event = (struct sim_event){ .item = m->node_event.item, .fn = write_devices, .arg = m };
    m->capacity_event = (struct sim_event){ .item = m->capacity_event.item,
                                            .fn = forget_devices,
                                            .arg = m };
    if (!heap_holds(&m->node_event.item))
        sim_after(m->a->sim, &m->node_event,
                  kubelet_draw(m->kubelet, m->a->world.latencies.device_update));
    if (m->devices == 0)
        sim_after(m->a->sim, &m->capacity_event, DEVICE_GRACE_MS);
    else
        sim_cancel(m->a->sim, &m->capacity_event);
}
