#include "node/operand/unload_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "node/inventory/module.h"
#include "node/inventory/pci.h"

#define MODULES "proc/modules"
#define BOUND "sys/bus/pci/drivers/vfio-pci"

enum {
    MODULES_BYTES = 512 * 1024,
    VALUE_MAX = 64,
    STATE_MAX = 128,
    ENTRIES_MAX = 1024,
    HOLDERS_MAX = 64,
    BUSY_MAX = 256,
    PROCESSES_MAX = 65536,
    FILES_MAX = 1 << 18,
    LINK_LEN = 256,
    PATH_LEN = 160,
    PID_MAX = 1 << 22,
};

/* Dependent modules first, so that each is unused when its turn comes. */
static const char *const order[UNLOAD_MODULES_MAX] = { "nvidia_drm", "nvidia_modeset",
                                                       "nvidia_uvm", "nvidia_peermem",
                                                       "nvidia_fs",  "nvidia_vgpu_vfio",
                                                       "gdrdrv",     "nvidia" };
/* The kernel's own drivers of the same GPUs. */
static const char *const others[UNLOAD_OTHERS_MAX] = { "nova_drm", "nova_core", "nouveau" };

/* Adds a line in the form of proc/modules for a module in sysfs; nothing if it is not loaded. */
static void add_line(struct view *v, const char *name, struct buf *ret)
{
    const char *references, *holder;
    CLEANUP_FOLDER struct folder holders = { 0 };
    if (view_text(v, arena_printf(&v->arena, "sys/module/%s/refcnt", name), VALUE_MAX,
                  &references) != SEEN)
        return;
    buf_printf(ret, "%s 0 %s ", name, str_or_empty(references));
    view_folder(v, arena_printf(&v->arena, "sys/module/%s/holders", name), HOLDERS_MAX, &holders);
    size_t before = ret->len;
    while ((holder = folder_next(&holders)))
        buf_printf(ret, "%.*s,", (int) VALUE_MAX, holder);
    buf_printf(ret, "%s Live 0x0\n", ret->len == before ? "-" : "");
}

/* Reads proc/modules. If it does not exist, sysfs may list the modules. */
static int list_modules(struct view *v, struct buf *ret)
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
    size_t i = 0;
    while (i < ARRAY_LEN(order) && !part_is(name, order[i]))
        i++;
    return i < ARRAY_LEN(order);
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

static const char *bound_path(struct view *v, const char *address, const char *name)
{
    return arena_printf(&v->arena, BOUND "/%s/%s", address, name);
}

/* A sysfs value of a device: one short line. */
static const char *unload_plan_value_of(struct view *v, const char *address, const char *name)
{
    const char *value;
    view_text(v, bound_path(v, address, name), VALUE_MAX, &value);
    return str_or_empty(value);
}

/* ---- GPUs that virtual machines use */

/* Its device files: "/dev/vfio/17" of the group, "/dev/vfio/noiommu-17" without an IOMMU,
 * "/dev/vfio/devices/vfio3" of the device alone; "": none. */
struct names {
    char group[PATH_LEN];
    char unsafe_group[PATH_LEN];
    char device[PATH_LEN];
};

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void find_group(struct view *v, const char *address, struct names *ret)
{
    char target[LINK_LEN];
    if (root_link(v->root, bound_path(v, address, "iommu_group"), target, sizeof target) != 0)
        return;
    snprintf(ret->group, sizeof ret->group, "/dev/vfio/%.32s", last_of(target));
    snprintf(ret->unsafe_group, sizeof ret->unsafe_group, "/dev/vfio/noiommu-%.32s",
             last_of(target));
}

static void find_device(struct view *v, const char *address, struct names *ret)
{
    CLEANUP_FOLDER struct folder f = { 0 };
    folder_open(&f, v->root, bound_path(v, address, "vfio-dev"), 1);
    const char *name = folder_next(&f);
    if (name)
        snprintf(ret->device, sizeof ret->device, "/dev/vfio/devices/%.32s", name);
}

/* Whether a process has one of them open; -1: that cannot be seen. A process that ends meanwhile
 * has none. */
static int look_at_process(struct view *v, const char *pid, const struct names *names,
                           size_t *files_left)
{
    char path[PATH_LEN], target[LINK_LEN];
    CLEANUP_FOLDER struct folder files = { 0 };
    const char *name;
    snprintf(path, sizeof path, "proc/%.16s/fd", pid);
    folder_open(&files, v->root, path, *files_left);
    while ((name = folder_next(&files)))
        if (folder_link(&files, name, target, sizeof target) == 0 &&
            (str_eq(target, names->group) || str_eq(target, names->unsafe_group) ||
             str_eq(target, names->device)))
            return 1;
    *files_left = files.left;
    return files.why == 0 || files.why == ENOENT || files.why == ESRCH ? 0 : -1;
}

/* Whether a process has the device open, through its group or directly; also true if that cannot be
 * seen. */
static bool is_in_use(struct view *v, const char *address)
{
    struct names names = { .group = "" };
    size_t files_left = FILES_MAX;
    CLEANUP_FOLDER struct folder processes = { 0 };
    const char *pid;
    int64_t number;
    find_group(v, address, &names);
    find_device(v, address, &names);
    if ((!*names.group && !*names.device) ||
        view_folder(v, "proc", PROCESSES_MAX, &processes) != SEEN)
        return true;
    while ((pid = folder_next(&processes)))
        if (str_parse_int(pid, 1, PID_MAX, &number) &&
            look_at_process(v, pid, &names, &files_left) != 0)
            return true;
    return processes.why != 0;
}

/* ---- the plan */

/* Bound by hand, not by the kernel's command line, which would be an admin's setting for the
 * machine. */
static bool is_bound_by_hand(struct view *v, const char *address)
{
    char id[8];
    snprintf(id, sizeof id, "0x%04x", vendors[VENDOR_NVIDIA].pci);
    return pci_is_address(address) && str_eq(unload_plan_value_of(v, address, "vendor"), id) &&
           str_has_prefix(unload_plan_value_of(v, address, "class"), "0x03") &&
           str_eq(unload_plan_value_of(v, address, "driver_override"), "vfio-pci");
}

static void take_devices(struct view *v, struct unload_plan *ret)
{
    CLEANUP_FOLDER struct folder devices = { 0 };
    const char *name;
    view_folder(v, BOUND, ENTRIES_MAX, &devices);
    while (ret->device_count < UNLOAD_DEVICES_MAX && (name = folder_next(&devices)))
        if (is_bound_by_hand(v, name))
            ret->devices[ret->device_count++] = (struct unload_device){
                arena_strdup(&v->arena, name), is_in_use(v, name)
            };
}

int unload_plan_make(struct view *v, const char *revision, struct unload_plan *ret, struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(MODULES_BYTES);
    const char *state;
    struct module_line line;
    *ret = (struct unload_plan){ 0 };
    int why = list_modules(v, &text);
    if (why)
        return err_set(e, ERR_SYSTEM, "cannot list the loaded modules: %s: %s", MODULES,
                       strerror(why));
    struct part list = part_of_buf(&text);
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
