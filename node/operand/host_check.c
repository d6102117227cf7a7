#include "node/operand/host_check.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/str.h"
#include "node/agent/ready_files.h"
#include "node/inventory/host_driver.h"
#include "node/inventory/module.h"

#define MODULES "proc/modules"

static int unknown(struct view *v, const char *path, struct err *e)
{
    const char *reason = "it is not there";
    for (size_t i = 0; i < v->troubles.len; i++)
        if (str_eq(v->troubles.items[i].path, path))
            reason = v->troubles.items[i].reason;
    return err_set(e, ERR_SYSTEM, "cannot check whether the host has its own driver: %s: %s", path,
                   reason);
}

/* A module that is being loaded counts too. A killed driver container leaves its lock and its
 * modules behind: they are not the host's. */
static int host_check_judge(struct view *v, const struct module_facts *m,
                            const struct host_driver *d, struct err *e)
{
    enum sight loaded = view_is(v, READY_MODULE_FILE, S_IFREG),
               lock = view_is(v, DRIVER_LOCK_FILE, S_IFREG);
    /* A kernel without loadable modules has no list of them. */
    if (loaded == UNREADABLE || (!m->known && view_is(v, "sys/module", S_IFDIR) != SEEN))
        return unknown(v, m->known ? READY_MODULE_FILE : MODULES, e);
    if (lock == UNREADABLE)
        return unknown(v, DRIVER_LOCK_FILE, e);
    if ((m->loaded || loaded == SEEN) && lock == ABSENT)
        return err_set(
            e, ERR_EXISTS,
            "HostDriver: the module nvidia%s%s is loaded, and no driver container has loaded it",
            m->version ? " " : "", str_or_empty(m->version));
    if (d->smi)
        return err_set(e, ERR_EXISTS, "HostDriver: a driver is installed on the host (%s)", d->smi);
    return 0;
}

int host_check(const struct root *root, struct err *e)
{
    CLEANUP_VIEW struct view v = { .root = root };
    struct module_facts module;
    struct host_driver driver;
    module_look(&v, &vendors[VENDOR_NVIDIA], &module);
    host_driver_look(&v, &module, &driver);
    if (host_check_judge(&v, &module, &driver, e) < 0)
        return -1;
    for (size_t i = 0; i < v.troubles.len; i++)
        fprintf(stderr, "cannot be checked: %s: %s\n", v.troubles.items[i].path,
                v.troubles.items[i].reason);
    return 0;
}
