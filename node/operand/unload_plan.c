#include "node/operand/unload_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "node/inventory/modules.h"
#include "node/inventory/pci.h"
#include "node/operand/vfio.h"

#define MODULES "proc/modules"
#define BOUND "sys/bus/pci/drivers/vfio-pci"

enum {
    MODULES_BYTES = 512 * 1024,
    VALUE_MAX = 64,
    STATE_MAX = 128,
    ENTRIES_MAX = 1024,
    HOLDERS_MAX = 64,
    PATH_LEN = 128,
    BUSY_MAX = 256,
};

/* Dependent modules first, so that each is unused when its turn comes. */
static const char *const order[UNLOAD_MODULES_MAX] = { "nvidia_drm", "nvidia_modeset",
                                                       "nvidia_uvm", "nvidia_peermem",
                                                       "nvidia_fs",  "nvidia_vgpu_vfio",
                                                       "gdrdrv",     "nvidia" };
/* The kernel's own drivers of the same GPUs. */
static const char *const others[UNLOAD_OTHERS_MAX] = { "nova_drm", "nova_core", "nouveau" };

/* Adds a line in the form of proc/modules for a module in sysfs; nothing if it is not loaded. */
static void add_line(const struct view *v, const char *name, struct buf *ret)
{
    char path[PATH_LEN];
    const char *references, *holder;
    CLEANUP_FOLDER struct folder holders = { 0 };
    int end;
    snprintf(path, sizeof path, "sys/module/%s/refcnt", name);
    if (view_text(v, path, VALUE_MAX, &references) != SEEN)
        return;
    buf_printf(ret, "%s 0 %s ", name, str_or_empty(references));
    snprintf(path, sizeof path, "sys/module/%s/holders", name);
    bool there = view_folder(v, path, HOLDERS_MAX, &holders) == SEEN;
    size_t before = ret->len;
    while (there && (holder = folder_next(&holders, &end)))
        buf_printf(ret, "%.*s,", (int) VALUE_MAX, holder);
    buf_printf(ret, "%s Live 0x0\n", ret->len == before ? "-" : "");
}

/* Reads proc/modules. If it does not exist, sysfs may list the modules. */
static int list_modules(const struct view *v, struct buf *ret)
{
    int why = root_read(v->root, MODULES, ret);
    if (why != ENOENT || view_is(v, "sys/module", S_IFDIR) != SEEN)
        return why;
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        add_line(v, order[i], ret);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        add_line(v, others[i], ret);
    return 0;
}

static bool unload_plan_find(struct part text, const char *name, struct module_line *ret)
{
    while (modules_next(&text, ret))
        if (part_is(ret->name, name))
            return true;
    return false;
}

static bool goes(struct part name)
{
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (part_is(name, order[i]))
            return true;
    return false;
}

/* Finds a user of the module that Ostler does not unload; then the module stays. */
static bool find_stranger(const struct module_line *line, struct part *ret)
{
    struct part users = line->users;
    while (module_next_user(&users, ret))
        if (!goes(*ret))
            return true;
    return false;
}

/* More references than from modules mean users that are not modules. */
static int take_modules(struct part text, struct unload_plan *ret, struct err *e)
{
    char busy[BUSY_MAX] = "";
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        struct module_line line;
        struct part stranger;
        if (!unload_plan_find(text, order[i], &line))
            continue;
        ret->modules[ret->module_count++] = order[i];
        if (find_stranger(&line, &stranger))
            return err_set(e, ERR_CONFLICT, "DriverInUse: the module %.*s uses %s",
                           (int) stranger.len, stranger.at, order[i]);
        if (line.references > module_user_count(&line))
            snprintf(busy + strlen(busy), sizeof busy - strlen(busy), " %s", order[i]);
    }
    return *busy ? err_set(e, ERR_CONFLICT, "DriverInUse: processes on this node use%s", busy) : 0;
}

static void take_others(struct part text, struct unload_plan *ret)
{
    struct module_line line;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (unload_plan_find(text, others[i], &line))
            ret->others[ret->other_count++] = others[i];
}

/* A sysfs value of a device: one short line. */
static const char *unload_plan_value_of(const struct view *v, const char *address, const char *name)
{
    char path[PATH_LEN];
    const char *value;
    snprintf(path, sizeof path, BOUND "/%s/%s", address, name);
    return view_text(v, path, VALUE_MAX, &value) == SEEN ? str_or_empty(value) : "";
}

/* Bound by hand, not by the kernel's command line, which would be an admin's setting for the
 * machine. */
static bool is_bound_by_hand(const struct view *v, const char *address)
{
    char id[8];
    snprintf(id, sizeof id, "0x%04x", vendors[VENDOR_NVIDIA].pci);
    return pci_is_address(address) && str_eq(unload_plan_value_of(v, address, "vendor"), id) &&
           str_has_prefix(unload_plan_value_of(v, address, "class"), "0x03") &&
           str_eq(unload_plan_value_of(v, address, "driver_override"), "vfio-pci");
}

static void take_devices(const struct view *v, struct unload_plan *ret)
{
    CLEANUP_FOLDER struct folder devices = { 0 };
    int end;
    const char *name;
    if (view_folder(v, BOUND, ENTRIES_MAX, &devices) != SEEN)
        return;
    while (ret->device_count < UNLOAD_DEVICES_MAX && (name = folder_next(&devices, &end)))
        if (is_bound_by_hand(v, name))
            ret->devices[ret->device_count++] = (struct unload_device){
                arena_strdup(v->arena, name), vfio_is_in_use(v, BOUND, name)
            };
}

int unload_plan_make(const struct view *v, const char *revision, struct unload_plan *ret,
                     struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(MODULES_BYTES);
    const char *state;
    struct module_line line;
    *ret = (struct unload_plan){ 0 };
    int why = list_modules(v, &text);
    if (why)
        return err_set(e, ERR_SYSTEM, "cannot know which modules are loaded: %s: %s", MODULES,
                       strerror(why));
    struct part list = { buf_text(&text), text.len };
    view_text(v, UNLOAD_STATE, STATE_MAX, &state);
    ret->keeps = unload_plan_find(list, "nvidia", &line) && *revision && str_eq(state, revision);
    if (ret->keeps)
        return 0;
    if (take_modules(list, ret, e) < 0)
        return -1;
    take_others(list, ret);
    take_devices(v, ret);
    return 0;
}
