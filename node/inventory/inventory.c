#include "node/inventory/inventory.h"

#include <errno.h>
#include <string.h>

#include "node/inventory/kernel_log.h"
#include "node/inventory/nvml.h"
#include "node/inventory/pci.h"

void inventory_look(const struct root *root, struct inventory *ret)
{
    *ret = (struct inventory){ .view.root = root };
    struct view *v = &ret->view;
    os_look(v, &ret->os);
    pci_look(v, &ret->bus);
    gpu_read(v, &ret->bus.gpus);
    nvml_look(v, ret->os.boot_id, &ret->bus.gpus, &ret->health);
    const struct vendor *vendor = pci_vendor(&ret->bus.gpus);
    module_look(v, vendor, &ret->module);
    ret->secure_boot = secure_boot_look(v);
    host_driver_look(v, &ret->module, &ret->driver);
    runtime_look(v, &ret->runtimes);
    kubelet_look(v, &ret->kubelet);
    runtime_put_first(&ret->runtimes, ret->kubelet.endpoint);
    host_toolkit_look(v, &ret->runtimes, &ret->toolkit);
    holders_look(v, vendor, &ret->module, &ret->holders);
}

/* Why the kernel log says nothing. */
static const char *log_reason(struct inventory *i, int why)
{
    if (why == EPERM)
        return "CAP_SYSLOG is missing";
    if (why == NO_STAMPS)
        return "it has no time stamps (printk.time is 0)";
    return arena_strdup(&i->view.arena, strerror(why));
}

void inventory_add_faults(struct inventory *i, const struct faults *faults)
{
    i->faults = faults;
    if (faults->why)
        view_report(&i->view, KERNEL_LOG_NAME, log_reason(i, faults->why));
}

void inventory_clear(struct inventory *i)
{
    view_clear(&i->view);
    *i = (struct inventory){ 0 };
}
