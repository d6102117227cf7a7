#include "node/show.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/str.h"

enum { HEALTH_TEXT_MAX = 1024 };

static const char *known(const char *text)
{
    return text ? text : "not known";
}

static void show_device(const struct pci_device *d, FILE *out)
{
    fprintf(out, "  %s  %s  %s, %s", d->address, d->device ? d->device : "----",
            d->driver ? d->driver : "no driver", pci_bus_name(d->bus));
    if (d->numa_node >= 0)
        fprintf(out, ", NUMA node %d", d->numa_node);
    if (d->product)
        fprintf(out, ", %s", d->product);
    if (d->memory_mib)
        fprintf(out, ", %" PRId64 " MiB", d->memory_mib);
    if (d->minor >= 0)
        fprintf(out, ", %s%d", d->vendor->gpu_device, d->minor);
    if (d->mig_instances)
        fprintf(out, ", %d MIG instances", d->mig_instances);
    for (size_t i = 0; d->mig && i < d->mig_count; i++)
        fprintf(out, "%s %s", i == 0 ? ":" : ",", d->mig[i].profile);
    fputc('\n', out);
}

static void show_devices(const char *what, const struct pci_devices *devices, FILE *out)
{
    if (!devices->known) {
        fprintf(out, "%s: not known\n", what);
        return;
    }
    fprintf(out, "%s: %zu\n", what, devices->len);
    for (size_t i = 0; i < devices->len; i++)
        show_device(&devices->items[i], out);
}

static void show_os(const struct inventory *i, FILE *out)
{
    static const char *const secure_boot[] = {
        [SECURE_BOOT_UNKNOWN] = "not known", [SECURE_BOOT_OFF] = "off", [SECURE_BOOT_ON] = "on"
    };
    const struct os_release *r = &i->os.release;
    if (i->os.machine)
        fprintf(out, "machine: %s\n", i->os.machine);
    fprintf(out, "system: %s, kernel %s, boot %s, Secure Boot %s\n",
            known(r->name ? r->name : r->id), known(i->os.kernel), known(i->os.boot_id),
            secure_boot[i->secure_boot]);
}

static void show_module(const struct module_facts *m, FILE *out)
{
    static const char *const flavours[] = {
        [FLAVOUR_UNKNOWN] = "", [FLAVOUR_OPEN] = ", open", [FLAVOUR_PROPRIETARY] = ", proprietary"
    };
    if (!m->known)
        fprintf(out, "module: not known\n");
    else if (!m->loaded)
        fprintf(out, "module: not loaded%s\n", m->nouveau ? "; nouveau is" : "");
    else
        fprintf(out, "module: %s%s%s%s%s\n", known(m->version), flavours[m->flavour],
                m->in_tree ? ", in tree" : "", m->is_unsigned ? ", unsigned" : "",
                m->in_use ? ", in use" : "");
}

static void show_drivers(const struct host_driver *d, FILE *out)
{
    if (d->smi || d->library)
        fprintf(out, "%s on the host: %s%s%s%s%s\n",
                d->installed ? "driver" : "library of a driver", str_or_empty(d->smi),
                d->smi && d->library ? ", " : "", str_or_empty(d->library), d->version ? ", " : "",
                str_or_empty(d->version));
    if (d->container)
        fprintf(out, "driver container: running\n");
}

static void show_runtimes(const struct inventory *i, FILE *out)
{
    for (size_t n = 0; n < i->runtimes.len; n++) {
        const struct runtime *r = &i->runtimes.items[n];
        fprintf(out, "runtime: %s (%s), %s, %s", r->name, r->distribution, r->socket,
                r->config ? r->config : "no configuration");
        if (r->config_version)
            fprintf(out, " version %d", r->config_version);
        fputc('\n', out);
    }
    if (i->runtimes.len == 0)
        fprintf(out, "runtime: %s\n", i->runtimes.known ? "none found" : "not known");
    fprintf(out, "kubelet: %s%s%s\n", known(i->kubelet.root), i->kubelet.endpoint ? ", uses " : "",
            str_or_empty(i->kubelet.endpoint));
}

static void show_holder(const struct holder *h, FILE *out)
{
    if (h->pod_uid)
        fprintf(out, "  pod %s", h->pod_uid);
    else if (h->container)
        fprintf(out, "  container %.12s", h->container);
    else if (h->unit)
        fprintf(out, "  unit %s", h->unit);
    else
        fprintf(out, "  process %d", h->pid);
    fprintf(out, ": %s", known(h->process));
    if (h->processes > 1)
        fprintf(out, " and %u more", h->processes - 1);
    for (int i = 0; i < MINORS_MAX; i++)
        if (h->minors >> i & 1)
            fprintf(out, " nvidia%d", i);
    fputc('\n', out);
}

static void show_holders(const struct holders *holders, FILE *out)
{
    if (!holders->known) {
        fprintf(out, "holders: not known\n");
        return;
    }
    fprintf(out, "holders: %zu%s\n", holders->len + holders->left_out,
            holders->complete ? "" : ", and perhaps more");
    for (size_t i = 0; i < holders->len; i++)
        show_holder(&holders->items[i], out);
}

static void show_fault(const struct logged_fault *fault, const struct pci_bus *bus, FILE *out)
{
    const struct xid_event *e = &fault->event;
    const char *recovery = gpu_recovery_name((enum gpu_recovery) e->recovery);
    char address[PCI_ADDRESS_MAX], last[CLOCK_TEXT_MAX];
    fault_address(e, bus, address);
    clock_rfc3339(fault->last_s * 1000 * 1000, last);
    fprintf(out, "  %s  %s %u, count %u, last at %s", address, e->nvswitch ? "SXid" : "Xid", e->xid,
            fault->count, last);
    if (e->fatal)
        fprintf(out, ", %s", e->fatal == XID_FATAL ? "fatal" : "not fatal");
    if (recovery)
        fprintf(out, ", recovery: %s", recovery);
    fputc('\n', out);
}

static void show_faults(const struct faults *f, const struct pci_bus *bus, FILE *out)
{
    if (!f)
        return;
    if (f->why) {
        fprintf(out, "faults: not known\n");
        return;
    }
    fprintf(out, "faults: %zu\n", f->len);
    for (size_t i = 0; i < f->len; i++)
        show_fault(&f->items[i], bus, out);
}

static void show_health(const struct card_healths *list, FILE *out)
{
    for (size_t i = 0; i < list->len; i++) {
        CLEANUP_BUF struct buf text = BUF_INIT(HEALTH_TEXT_MAX);
        card_health_print(&list->items[i], &text);
        fprintf(out, "health: %s: %s\n", list->items[i].address, buf_text(&text));
    }
}

void show_inventory(const struct inventory *i, FILE *out)
{
    show_os(i, out);
    show_devices("GPUs", &i->bus.gpus, out);
    show_devices("NVSwitches", &i->bus.switches, out);
    show_module(&i->module, out);
    show_drivers(&i->driver, out);
    show_runtimes(i, out);
    show_holders(&i->holders, out);
    show_health(&i->health, out);
    show_faults(i->faults, &i->bus, out);
    for (size_t n = 0; n < i->view.troubles.len; n++)
        fprintf(out, "unreadable: %s: %s\n", i->view.troubles.items[n].path,
                i->view.troubles.items[n].reason);
}
