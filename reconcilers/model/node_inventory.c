#include "reconcilers/model/node_inventory.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/cri_socket.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vendor.h"

/* Agents write printable text, because users read it in a terminal. */
static bool is_printable(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            return false;
    return true;
}

/* A text that is longer than an agent's, or has other bytes, counts as absent. */
static void node_inventory_take_text(const json_t *object, const char *path, char *ret, size_t size)
{
    const char *text = json_str_or_empty(object, path);
    if (strlen(text) < size && is_printable(text))
        snprintf(ret, size, "%s", text);
}

static bool is_lost(const char *bus)
{
    return str_eq(bus, "Silent") || str_eq(bus, "Gone");
}

static void take_slices(struct node_inventory *i, const json_t *devices)
{
    JSON_EACH (device, devices) {
        if (!*i->slice)
            node_inventory_take_text(device, "profile", i->slice, sizeof i->slice);
        i->many_kinds |= !str_eq(json_str(device, "profile"), i->slice);
    }
}

/* Counts a GPU that the driver serves. */
static void take_driven(struct node_inventory *i, const json_t *gpu)
{
    i->driven++;
    i->divided += json_int(gpu, "migInstances", 0) > 0;
    take_slices(i, json_object_get(gpu, "migDevices"));
    int64_t memory_mib = json_int(gpu, "memoryMiB", 0);
    if (!i->memory_mib && memory_mib > 0 && memory_mib <= INT32_MAX)
        i->memory_mib = (uint32_t) memory_mib;
    if (!*i->product)
        node_inventory_take_text(gpu, "product", i->product, sizeof i->product);
    i->alike += *i->product && str_eq(json_str(gpu, "product"), i->product);
}

/* As 16 bits of domain, then bus, device and function. An address of another form is not kept. */
static void node_inventory_take_address(struct node_inventory *i, const json_t *gpu)
{
    unsigned domain, bus, device, function;
    size_t n = 0;
    while (n < INVENTORY_ADDRESSES_MAX && i->addresses[n])
        n++;
    if (n < INVENTORY_ADDRESSES_MAX && sscanf(json_str_or_empty(gpu, "address"), "%4x:%2x:%2x.%1x",
                                              &domain, &bus, &device, &function) == 4)
        i->addresses[n] = domain << 16 | bus << 8 | (device & 0x1f) << 3 | (function & 7);
}

static void take_gpu(struct node_inventory *i, const json_t *gpu)
{
    const char *driver = json_str(gpu, "driver");
    if (!str_eq(driver, "vfio-pci"))
        node_inventory_take_address(i, gpu);
    if (is_lost(json_str(gpu, "bus"))) {
        if (!i->lost++)
            node_inventory_take_text(gpu, "address", i->lost_address, sizeof i->lost_address);
        return;
    }
    i->gpus++;
    if (str_eq(driver, vendors[i->vendor].module))
        take_driven(i, gpu);
    i->nouveau += str_eq(driver, "nouveau");
    i->passed_on += str_eq(driver, "vfio-pci");
}

/* The vendor of a GPU. Agents write its PCI vendor id unless it is NVIDIA's. NULL: no row has that
 * id, as with a newer agent. */
static const struct vendor *vendor_of_gpu(const json_t *gpu)
{
    unsigned id;
    const char *text = json_str(gpu, "vendor");
    if (!text)
        return &vendors[VENDOR_NVIDIA];
    return sscanf(text, "%4x", &id) == 1 ? vendor_of_pci(id) : NULL;
}

/* On a machine with GPUs of several vendors, those of the first vendor count. */
static void take_gpus(struct node_inventory *i, const json_t *inventory)
{
    const json_t *gpus = json_object_get(inventory, "gpus");
    const struct vendor *first = NULL, *v;
    i->gpus_known = json_is_array(gpus) && json_array_size(gpus) <= INVENTORY_GPUS_MAX;
    if (!i->gpus_known)
        gpus = NULL;
    JSON_EACH (gpu, gpus)
        if ((v = vendor_of_gpu(gpu)) && (!first || v < first))
            first = v;
    i->vendor = first ? vendor_row(first) : 0;
    JSON_EACH (gpu, gpus)
        if (first && vendor_of_gpu(gpu) == first)
            take_gpu(i, gpu);
    i->no_network_card = json_int(inventory, "networkCards", -1) == 0;
    int64_t looks = json_int(inventory, "absentLooks", 0);
    i->absent_looks = looks > 0 && looks <= INVENTORY_ABSENT_LOOKS ? (uint8_t) looks : 0;
}

/* The kubelet's runtime: the one that its configuration names, else the only one. NULL: not
 * known. */
static const json_t *node_inventory_runtime_of(const json_t *runtimes, const char *endpoint)
{
    if (endpoint)
        return json_find(runtimes, "socket", cri_socket(endpoint));
    return json_array_size(runtimes) == 1 ? json_array_get(runtimes, 0) : NULL;
}

/* The runtime of a name: the kubelet's names, without their suffix. */
static enum host_runtime runtime_named(const char *name)
{
    CLEANUP_FREE char *prefix = name ? xasprintf("%s://", name) : NULL;
    for (size_t i = RUNTIME_CONTAINERD; i < RUNTIME_COUNT; i++)
        if (str_eq(prefix, host_runtimes[i].prefix))
            return (enum host_runtime) i;
    return RUNTIME_UNKNOWN;
}

static enum host_distribution distribution_named(const char *name)
{
    for (size_t i = 0; i < DISTRIBUTION_COUNT; i++)
        if (str_eq(name, host_distributions[i].name))
            return (enum host_distribution) i;
    return DISTRIBUTION_STOCK;
}

static void take_runtime(struct node_inventory *i, const json_t *inventory)
{
    const json_t *runtimes = json_object_get(inventory, "runtimes");
    const char *endpoint = json_str(inventory, "kubelet.endpoint");
    const json_t *used = node_inventory_runtime_of(runtimes, endpoint);
    if (used) {
        i->runtime = runtime_named(json_str(used, "name"));
        i->distribution = distribution_named(json_str(used, "distribution"));
    }
    if (used && !str_eq(json_str(inventory, "kubelet.root"),
                        host_distributions[i->distribution].kubelet_root))
        node_inventory_take_text(inventory, "kubelet.root", i->kubelet_root,
                                 sizeof i->kubelet_root);
    i->no_handler = json_str(used, "config") &&
                    !str_eq(json_str(inventory, "hostToolkit.handler"), "nvidia");
    bool none = json_is_array(runtimes) && json_array_size(runtimes) == 0;
    i->runtime_missing = json_is_array(runtimes) && !used && (none || endpoint);
}

/* A toolkit under another name that is not the default runtime cannot be requested by Ostler's
 * pods. */
static enum host_toolkit toolkit_of(const json_t *toolkit)
{
    const char *handler = json_str(toolkit, "handler");
    bool fits = str_eq(handler, "nvidia"), used = json_bool(toolkit, "default", false);
    if (!handler || (!fits && !used))
        return HOST_TOOLKIT_NONE;
    if (!json_bool(toolkit, "installed", false))
        return HOST_TOOLKIT_MISSING;
    return fits ? HOST_TOOLKIT_NVIDIA : HOST_TOOLKIT_DEFAULT;
}

struct node_inventory *node_inventory_read(const json_t *inventory)
{
    if (!json_is_object(inventory))
        return NULL;
    struct node_inventory *i = xcalloc(1, sizeof *i);
    i->boot = str_hash_id(json_str(inventory, "bootId"));
    take_gpus(i, inventory);
    take_runtime(i, inventory);
    i->host_toolkit = toolkit_of(json_object_get(inventory, "hostToolkit"));
    node_inventory_take_text(inventory, "hostToolkit.version", i->toolkit_version,
                             sizeof i->toolkit_version);
    node_inventory_take_text(inventory, "machine", i->machine, sizeof i->machine);
    i->module_loaded = json_bool(inventory, "module.loaded", false);
    node_inventory_take_text(inventory, "module.version", i->module_version,
                             sizeof i->module_version);
    i->driver_container = json_bool(inventory, "driverContainer", false);
    i->host_driver = json_bool(inventory, "hostDriver.installed", false);
    i->google_driver = i->host_driver &&
                       str_has_prefix(str_or_empty(json_str(inventory, "hostDriver.library")),
                                      GOOGLE_DRIVER_DIR "/");
    i->secure_boot = json_bool(inventory, "secureBoot", false);
    i->health_listed = json_array_size(json_object_get(inventory, "health")) > 0;
    gpu_heard_read(json_object_get(inventory, "health"), &i->heard);
    i->faults_listed = json_is_array(json_object_get(inventory, "faults"));
    return i;
}

bool node_inventory_address(const struct node_inventory *i, size_t gpu,
                            char ret[static INVENTORY_ADDRESS_MAX])
{
    uint32_t packed = gpu < INVENTORY_ADDRESSES_MAX ? i->addresses[gpu] : 0;
    snprintf(ret, INVENTORY_ADDRESS_MAX, "%04x:%02x:%02x.%x", packed >> 16, packed >> 8 & 0xff,
             packed >> 3 & 0x1f, packed & 7);
    return packed;
}

bool node_inventory_same(const struct node_inventory *a, const struct node_inventory *b)
{
    if (!a || !b)
        return a == b;
    /* Both are allocated with xcalloc(), so padding is equal too. */
    const size_t from = offsetof(struct node_inventory, boot);
    return memcmp((const char *) a + from, (const char *) b + from, sizeof *a - from) == 0;
}

bool node_inventory_shows_none(const struct node_inventory *i)
{
    return i->gpus_known && !i->gpus && !i->lost && i->absent_looks >= INVENTORY_ABSENT_LOOKS;
}
