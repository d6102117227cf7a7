#include "node/operand/unload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "node/operand/place.h"
#include "node/operand/unload_plan.h"

#define UNBIND "sys/bus/pci/drivers/vfio-pci/unbind"

int unload_module(const char *name)
{
    return syscall(SYS_delete_module, name, O_NONBLOCK) < 0 ? errno : 0;
}

/* ENOENT: it was unloaded meanwhile. */
static int unload_take_out(unload_module_fn *unload, const char *name)
{
    int why = unload(name);
    if (why == 0)
        fprintf(stderr, "unloaded %s\n", name);
    return why == ENOENT ? 0 : why;
}

static int unload_modules(const struct unload_plan *p, unload_module_fn *unload, struct err *e)
{
    for (size_t i = 0; i < p->module_count; i++) {
        int why = unload_take_out(unload, p->modules[i]);
        if (why)
            return err_set(e, ERR_CONFLICT, "DriverInUse: %s cannot be unloaded: %s", p->modules[i],
                           strerror(why));
    }
    for (size_t i = 0; i < p->other_count; i++) {
        const char *name = p->others[i];
        int why = unload_take_out(unload, name);
        if (why)
            return err_set(e, ERR_CONFLICT,
                           "NouveauLoaded: %s holds the GPU (%s); keep it from loading "
                           "(modprobe.blacklist=%s) and reboot",
                           name, strerror(why), name);
    }
    return 0;
}

/* Unbinds a GPU from vfio-pci. Clears its override first, so that it has no driver and requests
 * none. */
static void give_back(const struct root *root, const char *address)
{
    char path[128];
    snprintf(path, sizeof path, "sys/bus/pci/drivers/vfio-pci/%s/driver_override", address);
    int why = place_write(root, path, "\n");
    if (why == 0) {
        why = place_write(root, UNBIND, address);
        /* The next scan must still see that it is bound by hand. */
        if (why)
            place_write(root, path, "vfio-pci\n");
    }
    if (why)
        fprintf(stderr, "%s stays with vfio-pci: %s\n", address, strerror(why));
    else
        fprintf(stderr, "%s is unbound from vfio-pci\n", address);
}

static void give_devices_back(const struct root *root, const struct unload_plan *p)
{
    for (size_t i = 0; i < p->device_count; i++) {
        if (p->devices[i].in_use)
            fprintf(stderr, "%s is in use by a virtual machine: it stays there\n",
                    p->devices[i].address);
        else
            give_back(root, p->devices[i].address);
    }
}

int unload_run(const struct root *root, const char *revision, unload_module_fn *unload,
               struct err *e)
{
    CLEANUP_VIEW struct view v = { .root = root };
    struct unload_plan plan;
    if (unload_plan_make(&v, revision, &plan, e) < 0)
        return -1;
    if (plan.keeps)
        fprintf(stderr, "the modules of this revision are loaded already: they are not unloaded\n");
    /* The state file would be believed about later modules of another revision: not every image
     * rewrites it. */
    else if (place_remove(root, UNLOAD_STATE, e) < 0)
        return -1;
    if (unload_modules(&plan, unload, e) < 0)
        return -1;
    give_devices_back(root, &plan);
    return 0;
}
