#include "node/operand/vfio.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum {
    PROCESSES_MAX = 65536,
    FILES_MAX = 1 << 18,
    LINK_LEN = 256,
    PATH_LEN = 160,
    PID_MAX = 1 << 22
};

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

static void find_group(const struct view *v, const char *bound, const char *address,
                       struct names *ret)
{
    char path[PATH_LEN], target[LINK_LEN];
    snprintf(path, sizeof path, "%s/%s/iommu_group", bound, address);
    if (root_link(v->root, path, target, sizeof target) != 0)
        return;
    snprintf(ret->group, sizeof ret->group, "/dev/vfio/%.32s", last_of(target));
    snprintf(ret->unsafe_group, sizeof ret->unsafe_group, "/dev/vfio/noiommu-%.32s",
             last_of(target));
}

static void find_device(const struct view *v, const char *bound, const char *address,
                        struct names *ret)
{
    char path[PATH_LEN];
    int why = 0;
    CLEANUP_FOLDER struct folder f = { 0 };
    snprintf(path, sizeof path, "%s/%s/vfio-dev", bound, address);
    const char *name = folder_open(&f, v->root, path, 1) == 0 ? folder_next(&f, &why) : NULL;
    if (name)
        snprintf(ret->device, sizeof ret->device, "/dev/vfio/devices/%.32s", name);
}

/* Whether a process has one of them open; -1: that cannot be seen. A process that ends meanwhile
 * has none. */
static int look_at_process(const struct view *v, const char *pid, const struct names *names,
                           size_t *files_left)
{
    char path[PATH_LEN], target[LINK_LEN];
    CLEANUP_FOLDER struct folder files = { 0 };
    const char *name;
    snprintf(path, sizeof path, "proc/%.16s/fd", pid);
    int why = folder_open(&files, v->root, path, *files_left);
    while (why == 0 && (name = folder_next(&files, &why)))
        if (folder_link(&files, name, target, sizeof target) == 0 &&
            (str_eq(target, names->group) || str_eq(target, names->unsafe_group) ||
             str_eq(target, names->device)))
            return 1;
    if (files.dir)
        *files_left = files.left;
    return why == 0 || why == ENOENT || why == ESRCH ? 0 : -1;
}

bool vfio_is_in_use(const struct view *v, const char *bound, const char *address)
{
    struct names names = { .group = "" };
    size_t files_left = FILES_MAX;
    CLEANUP_FOLDER struct folder processes = { 0 };
    const char *pid;
    int64_t number;
    int why = 0;
    find_group(v, bound, address, &names);
    find_device(v, bound, address, &names);
    if ((!*names.group && !*names.device) ||
        view_folder(v, "proc", PROCESSES_MAX, &processes) != SEEN)
        return true;
    while ((pid = folder_next(&processes, &why)))
        if (str_parse_int(pid, 1, PID_MAX, &number) &&
            look_at_process(v, pid, &names, &files_left) != 0)
            return true;
    return why != 0;
}
