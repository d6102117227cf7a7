/* Converts an inventory to the JSON form of the GpuNode. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/inventory/inventory.h"

/* Holders that the printer column names, and length limits of its text. */
enum { NAMED_MAX = 2, NAMES_MAX = 63, NAMES_ROOM = 512 };

static const char *const flavours[] = {
    [FLAVOUR_UNKNOWN] = NULL, [FLAVOUR_OPEN] = "Open", [FLAVOUR_PROPRIETARY] = "Proprietary"
};

static void inventory_json_set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_text(text));
}

/* A negative number is not known. */
static void set_number(json_t *object, const char *key, int64_t number)
{
    if (number >= 0)
        json_object_set_new(object, key, json_integer(number));
}

static void set_object(json_t *object, const char *key, json_t *member_steal)
{
    if (json_object_size(member_steal) > 0)
        json_object_set_new(object, key, member_steal);
    else
        json_decref(member_steal);
}

static void set_mig_devices(json_t *object, const struct pci_device *d)
{
    if (!d->mig)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < d->mig_count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "profile", d->mig[i].profile, "uuid", d->mig[i].uuid));
    json_object_set_new(object, "migDevices", list);
}

static json_t *device_json(const struct pci_device *d)
{
    json_t *o = json_object();
    inventory_json_set_text(o, "address", d->address);
    /* without a vendor, a GPU is NVIDIA's, as in older inventories */
    if (d->vendor != &vendors[VENDOR_NVIDIA])
        json_object_set_new(o, "vendor", json_textf("%04x", d->vendor->pci));
    inventory_json_set_text(o, "device", d->device);
    inventory_json_set_text(o, "bus", pci_bus_name(d->bus));
    inventory_json_set_text(o, "driver", d->driver);
    set_number(o, "numaNode", d->numa_node);
    inventory_json_set_text(o, "product", d->product);
    inventory_json_set_text(o, "uuid", d->uuid);
    set_number(o, "minor", d->minor);
    if (d->memory_mib)
        set_number(o, "memoryMiB", d->memory_mib);
    if (d->mig_instances)
        set_number(o, "migInstances", d->mig_instances);
    set_mig_devices(o, d);
    return o;
}

static void set_devices(json_t *object, const char *key, const struct pci_devices *devices)
{
    if (!devices->known)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < devices->len; i++)
        json_array_append_new(list, device_json(&devices->items[i]));
    json_object_set_new(object, key, list);
}

static json_t *os_json(const struct os_release *os)
{
    json_t *o = json_object();
    inventory_json_set_text(o, "id", os->id);
    inventory_json_set_text(o, "version", os->version);
    inventory_json_set_text(o, "variant", os->variant);
    inventory_json_set_text(o, "name", os->name);
    return o;
}

static json_t *module_json(const struct module_facts *m)
{
    json_t *o = json_object();
    if (!m->known)
        return o;
    json_object_set_new(o, "loaded", json_boolean(m->loaded));
    if (!m->loaded)
        return o;
    inventory_json_set_text(o, "version", m->version);
    inventory_json_set_text(o, "flavour", flavours[m->flavour]);
    set_number(o, "references", m->references);
    json_object_set_new(o, "inUse", json_boolean(m->in_use));
    json_object_set_new(o, "inTree", json_boolean(m->in_tree));
    json_object_set_new(o, "signed", json_boolean(!m->is_unsigned));
    json_t *dependents = json_array();
    for (size_t i = 0; i < m->dependent_count; i++)
        json_array_append_new(dependents, json_text(m->dependents[i]));
    json_object_set_new(o, "dependents", dependents);
    return o;
}

static json_t *host_driver_json(const struct host_driver *d)
{
    json_t *o = json_object();
    if (!d->known && !d->installed)
        return o;
    json_object_set_new(o, "installed", json_boolean(d->installed));
    inventory_json_set_text(o, "smi", d->smi);
    inventory_json_set_text(o, "library", d->library);
    inventory_json_set_text(o, "version", d->version);
    return o;
}

static json_t *host_toolkit_json(const struct host_toolkit *t)
{
    json_t *o = json_object();
    if (!t->program)
        return o;
    json_object_set_new(o, "installed", json_boolean(t->installed));
    inventory_json_set_text(o, "program", t->program);
    inventory_json_set_text(o, "version", t->version);
    inventory_json_set_text(o, "handler", t->handler);
    inventory_json_set_text(o, "config", t->config);
    if (t->handler)
        json_object_set_new(o, "default", json_boolean(t->standard));
    return o;
}

static json_t *runtimes_json(const struct runtimes *runtimes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < runtimes->len; i++) {
        const struct runtime *r = &runtimes->items[i];
        json_t *o = json_object();
        inventory_json_set_text(o, "name", r->name);
        inventory_json_set_text(o, "distribution", r->distribution);
        inventory_json_set_text(o, "socket", r->socket);
        inventory_json_set_text(o, "config", r->config);
        if (r->config_version)
            set_number(o, "configVersion", r->config_version);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *kubelet_json(const struct kubelet *k)
{
    json_t *o = json_object();
    inventory_json_set_text(o, "root", k->root);
    inventory_json_set_text(o, "endpoint", k->endpoint);
    return o;
}

static json_t *holder_json(const struct holder *h)
{
    json_t *o = json_object(), *minors = json_array();
    inventory_json_set_text(o, "podUid", h->pod_uid);
    inventory_json_set_text(o, "container", h->container);
    inventory_json_set_text(o, "unit", h->unit);
    inventory_json_set_text(o, "process", h->process);
    /* The pid of a container's process has no meaning outside, and changes with each job. */
    if (!h->pod_uid && !h->container)
        set_number(o, "pid", h->pid);
    set_number(o, "processes", h->processes);
    for (int i = 0; i < MINORS_MAX; i++)
        if (h->minors >> i & 1)
            json_array_append_new(minors, json_integer(i));
    json_object_set_new(o, "minors", minors);
    return o;
}

/* "nv-hostengine, python3 and 2 more", as short as a printer column. Host processes come first, as
 * in the list. */
static json_t *inventory_json_names_of(const struct holders *holders)
{
    CLEANUP_BUF struct buf text = BUF_INIT(NAMES_ROOM);
    size_t named = holders->len < NAMED_MAX ? holders->len : NAMED_MAX,
           more = holders->len - named + holders->left_out;
    for (size_t i = 0; i < named; i++)
        buf_printf(&text, "%s%s", i ? ", " : "",
                   holders->items[i].process ? holders->items[i].process : "unknown");
    if (more)
        buf_printf(&text, " and %zu more", more);
    CLEANUP_FREE char *shortened = str_shortened(buf_text(&text), NAMES_MAX);
    return json_text(shortened);
}

static void set_holders(json_t *object, const struct holders *holders)
{
    if (!holders->known)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < holders->len; i++)
        json_array_append_new(list, holder_json(&holders->items[i]));
    json_object_set_new(object, "holders", list);
    if (holders->len)
        json_object_set_new(object, "heldBy", inventory_json_names_of(holders));
    if (holders->left_out)
        set_number(object, "holdersLeftOut", (int64_t) holders->left_out);
    json_object_set_new(object, "holdersComplete", json_boolean(holders->complete));
}

static void set_unreadable(json_t *object, const struct troubles *troubles)
{
    json_t *list = json_array();
    for (size_t i = 0; i < troubles->len; i++) {
        json_t *o = json_object();
        inventory_json_set_text(o, "path", troubles->items[i].path);
        inventory_json_set_text(o, "reason", troubles->items[i].reason);
        json_array_append_new(list, o);
    }
    if (troubles->len)
        json_object_set(object, "unreadable", list);
    json_decref(list);
}

json_t *inventory_json(const struct inventory *i)
{
    json_t *o = json_object();
    inventory_json_set_text(o, "bootId", i->os.boot_id);
    inventory_json_set_text(o, "machine", i->os.machine);
    inventory_json_set_text(o, "kernel", i->os.kernel);
    set_object(o, "os", os_json(&i->os.release));
    if (i->secure_boot != SECURE_BOOT_UNKNOWN)
        json_object_set_new(o, "secureBoot", json_boolean(i->secure_boot == SECURE_BOOT_ON));
    set_devices(o, "gpus", &i->bus.gpus);
    if (i->bus.gpus.known)
        json_object_set_new(o, "networkCards", json_integer(i->bus.network_cards));
    set_devices(o, "nvSwitches", &i->bus.switches);
    set_object(o, "module", module_json(&i->module));
    if (i->module.known)
        json_object_set_new(o, "nouveau", json_boolean(i->module.nouveau));
    if (i->driver.container_known)
        json_object_set_new(o, "driverContainer", json_boolean(i->driver.container));
    set_object(o, "hostDriver", host_driver_json(&i->driver));
    if (i->runtimes.known)
        json_object_set_new(o, "runtimes", runtimes_json(&i->runtimes));
    set_object(o, "kubelet", kubelet_json(&i->kubelet));
    set_object(o, "hostToolkit", host_toolkit_json(&i->toolkit));
    set_holders(o, &i->holders);
    set_unreadable(o, &i->troubles);
    return o;
}

/* A copy without constantly changing facts. New reference; NULL for NULL. */
static json_t *at_rest(const json_t *inventory)
{
    json_t *copy = json_deep_copy(inventory);
    json_object_del(json_at(copy, "module"), "references");
    return copy;
}

bool inventory_same(const json_t *a, const json_t *b)
{
    CLEANUP_JSON json_t *left = at_rest(a), *right = at_rest(b);
    return left == right || json_equal(left, right);
}

uint64_t inventory_hash(const json_t *inventory, bool lasting)
{
    static const char *const of_jobs[] = { "holders", "heldBy", "holdersLeftOut",
                                           "holdersComplete" };
    CLEANUP_JSON json_t *copy = at_rest(inventory);
    for (size_t i = 0; lasting && i < ARRAY_LEN(of_jobs); i++)
        json_object_del(copy, of_jobs[i]);
    if (lasting)
        json_object_del(json_at(copy, "module"), "inUse");
    CLEANUP_FREE char *text = json_canonical(copy);
    return str_hash(text, strlen(text));
}

uint64_t inventory_users(const json_t *inventory)
{
    int64_t left_out = json_int(inventory, "holdersLeftOut", 0);
    return json_array_size(json_object_get(inventory, "holders")) +
           (uint64_t) (left_out > 0 ? left_out : 0) +
           json_is_true(json_at(inventory, "module.inUse"));
}
