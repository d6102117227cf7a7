#include "node/inventory/pci.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "node/inventory/text.h"
#include "node/inventory/uevent.h"

#define DEVICES "sys/bus/pci/devices"

enum { MELLANOX = 0x15b3, ENTRIES_MAX = 16384, UEVENT_MAX = 8192 };

/* Base class. */
enum { BASE_NETWORK = 0x02 };

const char *pci_bus_name(enum bus_state state)
{
    static const char *const names[] = { [BUS_ANSWERS] = "Answers",
                                         [BUS_SILENT] = "Silent",
                                         [BUS_SUSPENDED] = "Suspended",
                                         [BUS_GONE] = "Gone" };
    return names[state];
}

bool pci_is_address(const char *text)
{
    struct part rest = { text, strlen(text) }, domain, bus, device;
    return part_next(&rest, ':', &domain) && part_next(&rest, ':', &bus) &&
           part_next(&rest, '.', &device) && domain.len >= 4 && domain.len <= 8 &&
           part_is_hex(domain, domain.len) && part_is_hex(bus, 2) && part_is_hex(device, 2) &&
           rest.len == 1 && rest.at[0] >= '0' && rest.at[0] <= '7';
}

struct pci_device *pci_find(const struct pci_devices *devices, const char *address)
{
    for (size_t i = 0; i < devices->len; i++)
        if (str_eq(devices->items[i].address, address))
            return &devices->items[i];
    return NULL;
}

bool pci_add(struct view *v, struct pci_devices *devices, const struct pci_device *device)
{
    if (!devices->items)
        devices->items = arena_alloc(&v->arena, PCI_DEVICES_MAX * sizeof *devices->items);
    if (devices->len == PCI_DEVICES_MAX)
        return false;
    size_t i = devices->len++;
    for (; i > 0 && strcmp(devices->items[i - 1].address, device->address) > 0; i--)
        devices->items[i] = devices->items[i - 1];
    devices->items[i] = *device;
    return true;
}

/* The path of a file of a device. */
static const char *pci_path(struct view *v, const char *name, const char *file)
{
    return arena_printf(&v->arena, DEVICES "/%s/%s", name, file);
}

/* Reads the first bytes of a file of a device into `ret`, as a text of at most `size` - 1 bytes.
 * Returns 0 or an errno. */
static int peek(const struct root *root, const char *address, const char *file, char *ret,
                size_t size)
{
    char path[sizeof DEVICES + PCI_ADDRESS_MAX + sizeof "power/runtime_status" + 2];
    size_t len = 0;
    snprintf(path, sizeof path, DEVICES "/%s/%s", address, file);
    int why = root_peek(root, path, ret, size - 1, &len);
    ret[len] = '\0';
    return why;
}

enum bus_state pci_bus_state(const struct root *root, const char *address, int *ret_why)
{
    char power[sizeof "suspended"], id[sizeof "\xff\xff\xff\xff"];
    int why = 0;
    bool asleep = peek(root, address, "power/runtime_status", power, sizeof power) == 0 &&
                  str_eq(power, "suspended");
    if (!asleep)
        why = peek(root, address, "config", id, sizeof id);
    if (ret_why)
        *ret_why = why;
    if (asleep)
        return BUS_SUSPENDED;
    return why == 0 && memcmp(id, "\xff\xff\xff\xff", sizeof id) == 0 ? BUS_SILENT : BUS_ANSWERS;
}

static enum bus_state bus_state_of(struct view *v, const char *name)
{
    int why;
    enum bus_state state = pci_bus_state(v->root, name, &why);
    if (why)
        view_note(v, pci_path(v, name, "config"), why);
    return state;
}

static int numa_node_of(struct view *v, const char *name)
{
    const char *text;
    int64_t node = -1;
    view_text(v, pci_path(v, name, "numa_node"), 16, &text);
    return text && str_parse_int(text, -1, 4095, &node) ? (int) node : -1;
}

/* Adds one entry of the bus. False if it could not be read, so that the number of GPUs is not
 * known. */
static bool pci_take(struct view *v, const char *name, struct pci_bus *ret)
{
    const char *path = pci_path(v, name, "uevent");
    CLEANUP_BUF struct buf text = BUF_INIT(UEVENT_MAX);
    struct uevent u;
    if (!pci_is_address(name))
        return true;
    enum sight sight = view_read(v, path, &text);
    if (sight != SEEN)
        return sight == ABSENT; /* removed meanwhile */
    if (!uevent_parse(part_of_buf(&text), &u)) {
        view_note(v, path, EINVAL);
        return false;
    }
    uint32_t class = u.class >> 8;
    ret->network_cards += u.vendor == MELLANOX && class >> 8 == BASE_NETWORK;
    const struct vendor *vendor = vendor_of_pci(u.vendor);
    bool is_gpu = vendor && vendor_makes_gpus(vendor, class);
    bool is_switch = vendor && vendor->switches && class == vendor->switches;
    /* A virtual function of a GPU of this host is for guests: the GPU itself is listed too. */
    if (!(is_gpu || is_switch) || view_is(v, pci_path(v, name, "physfn"), S_IFDIR) == SEEN)
        return true;
    struct pci_device device = { .vendor = vendor,
                                 .address = arena_strdup(&v->arena, name),
                                 .device = arena_printf(&v->arena, "%04x", u.device),
                                 .driver = part_shown(&v->arena, u.driver, PCI_DRIVER_MAX),
                                 .bus = bus_state_of(v, name),
                                 .numa_node = numa_node_of(v, name),
                                 .minor = -1 };
    return pci_add(v, is_gpu ? &ret->gpus : &ret->switches, &device);
}

const struct vendor *pci_vendor(const struct pci_devices *gpus)
{
    const struct vendor *first = NULL;
    for (size_t i = 0; i < gpus->len; i++)
        if (!first || gpus->items[i].vendor < first)
            first = gpus->items[i].vendor;
    return first ? first : &vendors[VENDOR_NVIDIA];
}

void pci_look(struct view *v, struct pci_bus *ret)
{
    CLEANUP_FOLDER struct folder bus = { 0 };
    enum sight sight = view_folder(v, DEVICES, ENTRIES_MAX, &bus);
    /* Without a PCI bus there are no GPUs; without sysfs nothing is known. */
    bool complete = sight == SEEN || (sight == ABSENT && view_is(v, "sys/bus", S_IFDIR) == SEEN);
    const char *name;
    if (sight == ABSENT && !complete)
        view_report(v, "sys/bus", "sysfs is not there");
    while (sight == SEEN && (name = view_next(v, &bus)))
        complete &= pci_take(v, name, ret);
    ret->gpus.known = ret->switches.known = complete && (sight != SEEN || bus.why == 0);
}
