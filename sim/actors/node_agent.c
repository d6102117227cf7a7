/* Ostler's agent on a machine: writes its findings into the inventory of the node's GpuNode if they
 * differ. A scenario can silence it, or make it report false findings. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/actors/kubelet.h"
#include "sim/api/patch.h"

#define USER "system:serviceaccount:ostler-operands:ostler-node"
#define API_VERSION "ostler.dev/v1alpha1"
#define KIND "GpuNode"

/* From a change on the machine to the agent's report. */
static const struct spec_delay look_takes = { 200, 2000 };
/* From a change of a GPU: it looks for lost GPUs at once, reads the kernel log every 10 s, and what
 * NVML reports is renewed every minute and noticed within 10 s. */
static const struct spec_delay sign_takes[] = {
    [SIGN_ON_BUS] = { 200, 2000 },
    [SIGN_IN_LOG] = { 500, 12000 },
    [SIGN_OF_NVML] = { 500, 70000 },
};
enum {
    ABSENT_LOOKS = 3,
    AGAIN_MS = 20 * 1000,     /* to the next scan while GPUs seem to be gone */
    RETRY_MS = 5 * 60 * 1000, /* after a scan that could not be reported */
    REST_MS = 30 * 60 * 1000, /* period after which it restores an inventory that others changed */
};

static void node_agent_look(void *arg);

/* Sockets of container runtimes. */
static const struct place {
    const char *runtime, *kubelet; /* parts of the kubelet's texts about both; NULL: any */
    const char *name, *distribution, *socket;
} places[] = {
    { "containerd://", "+k3s", "containerd", "k3s", "/run/k3s/containerd/containerd.sock" },
    { "containerd://", "+rke2", "containerd", "rke2", "/run/k3s/containerd/containerd.sock" },
    { "containerd://", "+k0s", "containerd", "k0s", "/run/k0s/containerd.sock" },
    { "containerd://", NULL, "containerd", "stock", "/run/containerd/containerd.sock" },
    { "cri-o://", NULL, "cri-o", "stock", "/run/crio/crio.sock" },
    { "docker://", NULL, "docker", "stock", "/run/docker.sock" },
};

static json_t *runtimes_of(const struct spec_shape *s)
{
    const char *runtime = s->runtime ? s->runtime : "containerd://",
               *kubelet = str_or_empty(s->kubelet);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct place *p = &places[i];
        if (str_has_prefix(runtime, p->runtime) && (!p->kubelet || strstr(kubelet, p->kubelet)))
            return json_pack("[{s:s, s:s, s:s}]", "name", p->name, "distribution", p->distribution,
                             "socket", p->socket);
    }
    return json_array();
}

/* All MIG devices are of one GPU. */
static json_t *node_agent_gpus_of(const struct machine *m)
{
    bool divided = machine_is_divided(m);
    json_t *gpus = json_array();
    for (int i = 0; i < (divided ? m->gpus > 0 : m->gpus); i++) {
        json_t *gpu = json_pack("{s:o, s:s}", "address", gpus_address(i), "bus",
                                gpus_is_silent(m, i) ? "Silent" : "Answers");
        if (m->module)
            json_object_set_new(gpu, "driver", json_string("nvidia"));
        if (divided && m->module)
            json_object_set_new(gpu, "migInstances", json_integer(m->gpus));
        json_array_append_new(gpus, gpu);
    }
    return gpus;
}

/* The version is the part of the tag before the system's name. */
static json_t *module_of(const struct machine *m)
{
    CLEANUP_FREE char *version = m->module ? xstrndup(m->module, strcspn(m->module, "-")) : NULL;
    return json_pack("{s:b, s:s*}", "loaded", version != NULL, "version", version);
}

/* Containers that have the module open; their processes have the same names. */
static json_t *holders_of(const struct machine *m)
{
    json_t *holders = json_array();
    for (size_t i = 0; i < m->pod_count; i++)
        for (size_t k = 0; k < m->pods[i]->box_count; k++)
            if (m->pods[i]->boxes[k].holds_module)
                json_array_append_new(holders,
                                      json_pack("{s:s, s:s, s:i, s:[]}", "podUid", m->pods[i]->uid,
                                                "process", m->pods[i]->boxes[k].name, "processes",
                                                1, "minors"));
    return holders;
}

/* Text for the printer column; NULL: no holders. */
static char *node_agent_names_of(const json_t *holders)
{
    size_t count = json_array_size(holders);
    const char *first = json_str_or_empty(json_array_get(holders, 0), "process");
    return count == 0   ? NULL
           : count == 1 ? xstrdup(first)
                        : xasprintf("%s and %zu more", first, count - 1);
}

/* Constant facts of a machine, from a real agent's findings on such a machine. */
static void take_from_host(json_t *seen, const json_t *host)
{
    static const char *const keys[] = { "os",          "secureBoot", "hostDriver",
                                        "hostToolkit", "runtimes",   "kubelet" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(host, keys[i]))
            json_object_set(seen, keys[i], json_object_get(host, keys[i]));
}

static json_t *seen_of(const struct machine *m)
{
    json_t *holders = holders_of(m);
    CLEANUP_FREE char *names = node_agent_names_of(holders);
    const char *root = strstr(str_or_empty(m->shape->kubelet), "+k0s") ? "/var/lib/k0s/kubelet"
                                                                       : "/var/lib/kubelet";
    json_t *os = m->shape->os_image ? json_pack("{s:s}", "name", m->shape->os_image) : NULL;
    json_t *seen = json_pack(
        "{s:s, s:s*, s:o, s:[], s:o, s:b, s:b, s:{s:b}, s:o, s:{s:s}, s:o, s:b, s:s*, s:o*}",
        "bootId", m->boot_id, "kernel", m->shape->kernel, "gpus", node_agent_gpus_of(m),
        "nvSwitches", "module", module_of(m), "nouveau", 0, "driverContainer", m->pid_file,
        "hostDriver", "installed", m->shape->host_driver != NULL, "runtimes", runtimes_of(m->shape),
        "kubelet", "root", root, "holders", holders, "holdersComplete", 1, "heldBy", names, "os",
        os);
    take_from_host(seen, m->shape->host);
    return seen;
}

/* The container of the running agent; NULL: none. */
static struct box *box_of(const struct machine *m)
{
    for (size_t i = 0; i < m->pod_count; i++)
        for (size_t k = 0; k < m->pods[i]->box_count; k++)
            if (m->pods[i]->boxes[k].state == BOX_RUNNING &&
                operand_is_agent(&m->pods[i]->boxes[k]))
                return &m->pods[i]->boxes[k];
    return NULL;
}

/* Whether the agent reads the kernel log. */
static bool reads_log(const struct box *b)
{
    JSON_EACH (arg, json_object_get(b->spec, "args"))
        if (str_eq(json_string_value(arg), "--kernel-log"))
            return true;
    return false;
}

/* Adds the health of the GPUs. `said` is its last report. */
static void add_health(json_t *seen, const struct machine *m, const json_t *said)
{
    const struct box *b = box_of(m);
    json_t *health = gpus_health(m);
    if (health)
        json_object_set_new(seen, "health", health);
    if (b && reads_log(b))
        json_object_set_new(seen, "faults", gpus_faults(m, json_object_get(said, "faults")));
}

static bool finds_none(const json_t *inventory)
{
    const json_t *gpus = json_object_get(inventory, "gpus");
    return json_is_array(gpus) && json_array_size(gpus) == 0;
}

/* Consecutive scans without a GPU since the boot, unless the scenario sets the number. */
static void count_absence(json_t *inventory, const json_t *said)
{
    if (!finds_none(inventory) || json_object_get(inventory, "absentLooks"))
        return;
    bool goes_on = finds_none(said) &&
                   str_eq(json_str(said, "bootId"), json_str(inventory, "bootId"));
    int64_t looks = goes_on ? json_int(said, "absentLooks", 0) + 1 : 1;
    json_object_set_new(inventory, "absentLooks",
                        json_integer(looks < ABSENT_LOOKS ? looks : ABSENT_LOOKS));
}

static bool node_agent_create(const struct machine *m, const struct kind *kind)
{
    CLEANUP_JSON json_t *object = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", API_VERSION,
                                            "kind", KIND, "metadata", "name", m->name);
    return api_create(m->a->api, USER, kind, object, NULL) == 0;
}

/* False if the server refuses it. */
static bool write_into(const struct machine *m, const struct kind *kind, const json_t *there,
                       const json_t *inventory)
{
    if (json_equal(json_at(there, "status.inventory"), inventory))
        return true;
    CLEANUP_JSON json_t *object = json_deep_copy(there);
    json_set_at(object, "status.inventory", json_incref((json_t *) inventory));
    return api_update(m->a->api, USER, kind, "status", object, NULL) == 0;
}

/* Reports its findings, with the scenario's changes. Returns the time to the next scan. */
static int64_t node_agent_report(const struct machine *m, const struct kind *kind)
{
    const json_t *there = api_get(m->a->api, kind, "", m->name);
    CLEANUP_JSON json_t *seen = seen_of(m);
    add_health(seen, m, json_at(there, "status.inventory"));
    CLEANUP_JSON json_t *inventory = m->agent_says ? patch_merge(seen, m->agent_says)
                                                   : json_incref(seen);
    /* It creates no GpuNode for a node without GPUs. */
    if (!there && json_array_size(json_object_get(inventory, "gpus")) == 0)
        return REST_MS;
    if (!there && !node_agent_create(m, kind))
        return RETRY_MS;
    there = api_get(m->a->api, kind, "", m->name);
    count_absence(inventory, json_at(there, "status.inventory"));
    if (!write_into(m, kind, there, inventory))
        return RETRY_MS;
    return finds_none(inventory) && json_int(inventory, "absentLooks", 0) < ABSENT_LOOKS ? AGAIN_MS
                                                                                         : REST_MS;
}

/* Scans within that time, or at an earlier planned time. */
static void look_within(struct machine *m, int64_t ms)
{
    if (heap_holds(&m->agent_event.item) && m->agent_event.item.at <= m->a->sim->now_ms + ms)
        return;
    sim_cancel(m->a->sim, &m->agent_event);
    m->agent_event = (struct sim_event){ .item = m->agent_event.item,
                                         .fn = node_agent_look,
                                         .arg = m };
    sim_after(m->a->sim, &m->agent_event, ms);
}

static void node_agent_look(void *arg)
{
    struct machine *m = arg;
    const struct kind *kind = kind_of(API_VERSION, KIND);
    if (box_of(m) && !m->agent_silent)
        look_within(m, machine_talks(m) && kind ? node_agent_report(m, kind) : RETRY_MS);
}

void agent_note(struct machine *m)
{
    if (box_of(m))
        look_within(m, kubelet_draw(m->kubelet, look_takes));
}

void agent_note_fault(struct machine *m, enum gpu_sign sign)
{
    const struct box *b = box_of(m);
    if (b && sign == SIGN_IN_LOG && !reads_log(b))
        sign = SIGN_OF_NVML;
    if (b)
        look_within(m, kubelet_draw(m->kubelet, sign_takes[sign]));
}

void agent_step(struct box *b)
{
    agent_note(b->pod->machine);
}

void agent_report(struct machine *m, const json_t *patch)
{
    m->agent_says = patch;
    m->agent_silent = false;
    agent_note(m);
}

void agent_silence(struct machine *m)
{
    m->agent_silent = true;
}

void agent_restart(struct machine *m)
{
    struct box *b = box_of(m);
    if (b)
        box_end(b, 1, "ostler-node: it was ended");
}

int agent_sees(const struct machine *m)
{
    const json_t *said = json_object_get(m->agent_says, "gpus");
    return json_is_array(said) ? (int) json_array_size(said) : m->gpus;
}
