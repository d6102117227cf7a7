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

/* The values of members: NULL is left out. */

static json_t *number(int64_t n, int64_t least)
{
    return n < least ? NULL : json_integer(n);
}

static json_t *fact(bool known, bool is_so)
{
    return known ? json_boolean(is_so) : NULL;
}

/* An object that has members. */
static json_t *some(json_t *object_steal)
{
    if (json_object_size(object_steal) > 0)
        return object_steal;
    json_decref(object_steal);
    return NULL;
}

static json_t *mig_devices_json(const struct pci_device *d)
{
    json_t *list = d->mig ? json_array() : NULL;
    for (size_t i = 0; list && i < d->mig_count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "profile", d->mig[i].profile, "uuid", d->mig[i].uuid));
    return list;
}

static json_t *device_json(const struct pci_device *d)
{
    /* without a vendor, a GPU is NVIDIA's, as in older inventories */
    bool nvidias = d->vendor == &vendors[VENDOR_NVIDIA];
    return json_pack("{s:s, s:o*, s:s*, s:s, s:s*, s:o*, s:s*, s:s*, s:o*, s:o*, s:o*, s:o*}",
                     "address", d->address, "vendor",
                     nvidias ? NULL : json_textf("%04x", d->vendor->pci), "device", d->device,
                     "bus", pci_bus_name(d->bus), "driver", d->driver, "numaNode",
                     number(d->numa_node, 0), "product", d->product, "uuid", d->uuid, "minor",
                     number(d->minor, 0), "memoryMiB", number(d->memory_mib, 1), "migInstances",
                     number(d->mig_instances, 1), "migDevices", mig_devices_json(d));
}

static json_t *devices_json(const struct pci_devices *devices)
{
    json_t *list = devices->known ? json_array() : NULL;
    for (size_t i = 0; list && i < devices->len; i++)
        json_array_append_new(list, device_json(&devices->items[i]));
    return list;
}

static json_t *os_json(const struct os_release *os)
{
    return some(json_pack("{s:s*, s:s*, s:s*, s:s*}", "id", os->id, "version", os->version,
                          "variant", os->variant, "name", os->name));
}

static json_t *module_json(const struct module_facts *m)
{
    if (!m->loaded)
        return m->known ? json_pack("{s:b}", "loaded", false) : NULL;
    json_t *dependents = json_array();
    for (size_t i = 0; i < m->dependent_count; i++)
        json_array_append_new(dependents, json_text(m->dependents[i]));
    return json_pack("{s:b, s:s*, s:s*, s:o*, s:b, s:b, s:b, s:o}", "loaded", true, "version",
                     m->version, "flavour", flavours[m->flavour], "references",
                     number(m->references, 0), "inUse", m->in_use, "inTree", m->in_tree, "signed",
                     !m->is_unsigned, "dependents", dependents);
}

static json_t *host_driver_json(const struct host_driver *d)
{
    if (!d->known && !d->installed)
        return NULL;
    return json_pack("{s:b, s:s*, s:s*, s:s*}", "installed", d->installed, "smi", d->smi, "library",
                     d->library, "version", d->version);
}

static json_t *host_toolkit_json(const struct host_toolkit *t)
{
    if (!t->program)
        return NULL;
    return json_pack("{s:b, s:s, s:s*, s:s*, s:s*, s:o*}", "installed", t->installed, "program",
                     t->program, "version", t->version, "handler", t->handler, "config", t->config,
                     "default", fact(t->handler, t->standard));
}

static json_t *runtimes_json(const struct runtimes *runtimes)
{
    json_t *list = runtimes->known ? json_array() : NULL;
    for (size_t i = 0; list && i < runtimes->len; i++) {
        const struct runtime *r = &runtimes->items[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s*, s:o*}", "name", r->name,
                                              "distribution", r->distribution, "socket", r->socket,
                                              "config", r->config, "configVersion",
                                              number(r->config_version, 1)));
    }
    return list;
}

static json_t *kubelet_json(const struct kubelet *k)
{
    return some(json_pack("{s:s*, s:s*}", "root", k->root, "endpoint", k->endpoint));
}

static json_t *holder_json(const struct holder *h)
{
    json_t *minors = json_array();
    for (int i = 0; i < MINORS_MAX; i++)
        if (h->minors >> i & 1)
            json_array_append_new(minors, json_integer(i));
    /* The pid of a container's process has no meaning outside, and changes with each job. */
    bool outside = !h->pod_uid && !h->container;
    return json_pack("{s:s*, s:s*, s:s*, s:s*, s:o*, s:i, s:o}", "podUid", h->pod_uid, "container",
                     h->container, "unit", h->unit, "process", h->process, "pid",
                     outside ? json_integer(h->pid) : NULL, "processes", (int) h->processes,
                     "minors", minors);
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
    json_object_set_new(object, "holdersLeftOut", number((int64_t) holders->left_out, 1));
    json_object_set_new(object, "holdersComplete", json_boolean(holders->complete));
}

static json_t *unreadable_json(const struct troubles *troubles)
{
    json_t *list = troubles->len ? json_array() : NULL;
    for (size_t i = 0; i < troubles->len; i++)
        json_array_append_new(list, json_pack("{s:s*, s:s}", "path", troubles->items[i].path,
                                              "reason", troubles->items[i].reason));
    return list;
}

json_t *inventory_json(const struct inventory *i)
{
    const struct pci_bus *bus = &i->bus;
    json_t *o = json_pack(
        "{s:s*, s:s*, s:s*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, "
        "s:o*}",
        "bootId", i->os.boot_id, "machine", i->os.machine, "kernel", i->os.kernel, "os",
        os_json(&i->os.release), "secureBoot",
        fact(i->secure_boot != SECURE_BOOT_UNKNOWN, i->secure_boot == SECURE_BOOT_ON), "gpus",
        devices_json(&bus->gpus), "networkCards",
        bus->gpus.known ? json_integer(bus->network_cards) : NULL, "nvSwitches",
        devices_json(&bus->switches), "module", module_json(&i->module), "nouveau",
        fact(i->module.known, i->module.nouveau), "driverContainer",
        fact(i->driver.container_known, i->driver.container), "hostDriver",
        host_driver_json(&i->driver), "runtimes", runtimes_json(&i->runtimes), "kubelet",
        kubelet_json(&i->kubelet), "hostToolkit", host_toolkit_json(&i->toolkit));
    set_holders(o, &i->holders);
    json_object_set_new(o, "health", card_health_json(&i->health));
    json_object_set_new(o, "faults", faults_json(i->faults, bus, i->os.boot_id));
    json_object_set_new(o, "unreadable", unreadable_json(&i->view.troubles));
    return o;
}

/* A copy without constantly changing facts. New reference; NULL for NULL. */
static json_t *at_rest(const json_t *inventory)
{
    json_t *copy = json_deep_copy(inventory);
    json_object_del(json_at(copy, "module"), "references");
    JSON_EACH (fault, json_object_get(copy, "faults")) {
        json_object_del(fault, "first");
        json_object_del(fault, "last");
    }
    return copy;
}

bool inventory_same(const json_t *a, const json_t *b)
{
    CLEANUP_JSON json_t *left = at_rest(a), *right = at_rest(b);
    return left == right || json_equal(left, right);
}

/* Which faults there are, whatever their order and their counts; NULL if that is not known. New
 * reference. */
static json_t *faults_without_counts(const json_t *faults)
{
    json_t *by_name = faults ? json_object() : NULL;
    JSON_EACH (fault, faults) {
        CLEANUP_JSON json_t *copy = json_copy(fault);
        json_object_del(copy, "count");
        CLEANUP_FREE char *name = json_canonical(copy);
        json_object_set_new(by_name, name, json_true());
    }
    return by_name;
}

uint64_t inventory_hash(const json_t *inventory, bool lasting)
{
    static const char *const of_jobs[] = { "holders", "heldBy", "holdersLeftOut",
                                           "holdersComplete" };
    CLEANUP_JSON json_t *copy = at_rest(inventory);
    for (size_t i = 0; lasting && i < ARRAY_LEN(of_jobs); i++)
        json_object_del(copy, of_jobs[i]);
    if (lasting) {
        json_object_del(json_at(copy, "module"), "inUse");
        json_object_set_new(copy, "faults", faults_without_counts(json_object_get(copy, "faults")));
    }
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

uint64_t inventory_fault_counts(const json_t *inventory)
{
    uint64_t sum = 0;
    JSON_EACH (fault, json_object_get(inventory, "faults"))
        sum += (uint64_t) json_int(fault, "count", 0);
    return sum;
}
