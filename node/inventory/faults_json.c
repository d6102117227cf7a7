/* Converts faults to the JSON form of the GpuNode, and back. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "node/inventory/faults.h"

enum { US = 1000 * 1000, XID_MAX = UINT16_MAX };

/* ---- to JSON */

/* The device of a bus whose address begins with this text. */
static const char *beginning_with(const struct pci_devices *devices, const char *prefix)
{
    for (size_t i = 0; i < devices->len; i++)
        if (str_has_prefix(devices->items[i].address, prefix))
            return devices->items[i].address;
    return NULL;
}

void fault_address(const struct xid_event *event, const struct pci_bus *bus,
                   char ret[static PCI_ADDRESS_MAX])
{
    const struct xid_place *p = &event->place;
    char prefix[PCI_ADDRESS_MAX];
    int n = snprintf(prefix, sizeof prefix, "%04" PRIx32 ":%02x:%02x.", p->domain, p->bus,
                     p->device);
    const char *listed = p->function >= 0
                             ? NULL
                             : beginning_with(event->nvswitch ? &bus->switches : &bus->gpus,
                                              prefix);
    if (listed)
        snprintf(ret, PCI_ADDRESS_MAX, "%s", listed);
    else
        snprintf(ret, PCI_ADDRESS_MAX, "%.*s%d", n, prefix, p->function >= 0 ? p->function : 0);
}

static json_t *time_json(int64_t s)
{
    char text[CLOCK_TEXT_MAX];
    clock_rfc3339(s * US, text);
    return json_text(text);
}

static json_t *fault_json(const struct logged_fault *fault, const struct pci_bus *bus,
                          const char *boot_id)
{
    const struct xid_event *e = &fault->event;
    char address[PCI_ADDRESS_MAX];
    fault_address(e, bus, address);
    return json_pack("{s:s, s:i, s:o*, s:o*, s:s*, s:I, s:o, s:o, s:s}", "address", address, "xid",
                     e->xid, "nvswitch", e->nvswitch ? json_true() : NULL, "fatal",
                     e->fatal ? json_boolean(e->fatal == XID_FATAL) : NULL, "recovery",
                     gpu_recovery_name((enum gpu_recovery) e->recovery), "count",
                     (json_int_t) fault->count, "first", time_json(fault->first_s), "last",
                     time_json(fault->last_s), "bootId", *fault->boot ? fault->boot : boot_id);
}

json_t *faults_json(const struct faults *f, const struct pci_bus *bus, const char *boot_id)
{
    if (!f || f->why || !f->read_s || !boot_id)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < f->len; i++)
        json_array_append_new(list, fault_json(&f->items[i], bus, boot_id));
    return list;
}

/* ---- from JSON */

static bool read_place(const char *address, struct xid_place *ret)
{
    unsigned domain, bus, device, function;
    if (!address || !pci_is_address(address) ||
        sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
        return false;
    *ret = (struct xid_place){ domain, (uint8_t) bus, (uint8_t) device, (int8_t) function };
    return true;
}

/* A time in seconds, at most `most_s`; 0: it is missing or wrong. */
static int64_t read_time_s(const json_t *o, const char *key, int64_t most_s)
{
    const char *text = json_str(o, key);
    int64_t us = text ? clock_parse_rfc3339(text) : -1;
    return us < 0 ? 0 : us / US > most_s ? most_s : us / US;
}

static bool read_boot(const json_t *o, const char *boot_id, char ret[static BOOT_ID_MAX + 1])
{
    const char *boot = json_str_or_empty(o, "bootId");
    size_t len = strlen(boot);
    if (len == 0 || len > BOOT_ID_MAX)
        return false;
    memcpy(ret, str_eq(boot, boot_id) ? "" : boot, str_eq(boot, boot_id) ? 1 : len + 1);
    return true;
}

/* No fault of this boot is in the future. One of an earlier boot may be: the clock may be wrong
 * until the machine has reached a time server. */
static bool read_times(const json_t *o, int64_t now_s, struct logged_fault *ret)
{
    int64_t most_s = *ret->boot ? INT64_MAX : now_s;
    ret->first_s = read_time_s(o, "first", most_s);
    ret->last_s = read_time_s(o, "last", most_s);
    return ret->first_s && ret->first_s <= ret->last_s;
}

static bool read_fault(const json_t *o, const char *boot_id, int64_t now_s,
                       struct logged_fault *ret)
{
    int64_t xid = json_int(o, "xid", -1), count = json_int(o, "count", 0);
    const json_t *fatal = json_at(o, "fatal");
    *ret = (struct logged_fault){ .event.nvswitch = json_bool(o, "nvswitch", false) };
    if (!read_boot(o, boot_id, ret->boot) ||
        !read_place(json_str(o, "address"), &ret->event.place) || xid < 0 || xid > XID_MAX ||
        count < 1 || count > INT32_MAX || !read_times(o, now_s, ret))
        return false;
    ret->event.xid = (uint16_t) xid;
    ret->event.recovery = gpu_recovery_parse(json_str(o, "recovery"));
    if (json_is_boolean(fatal))
        ret->event.fatal = json_is_true(fatal) ? XID_FATAL : XID_NONFATAL;
    ret->count = ret->said = (uint32_t) count;
    ret->said_s = ret->last_s;
    return xid_event_is_possible(&ret->event);
}

void faults_join(struct faults *f, const json_t *said, const char *boot_id, int64_t now_s)
{
    *f = (struct faults){ .joined = true };
    JSON_EACH (item, said) {
        struct logged_fault fault;
        if (read_fault(item, boot_id, now_s, &fault))
            faults_add(f, &fault);
    }
}
