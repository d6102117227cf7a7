#include "node/inventory/holders.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "node/inventory/cgroup.h"
#include "node/inventory/module.h"
#include "node/inventory/nvml_process.h"
#include "node/inventory/text.h"

/* Limits of one scan; beyond PROCESSES_MAX processes or FILES_MAX open files of all processes, the
 * result is partial. */
enum {
    PROCESSES_MAX = 65536,
    FILES_MAX = 1 << 18,
    CGROUP_MAX = 32768,
    DEVICES_MAX = 65536,
    NAME_TEXT_MAX = 256,
    PID_MAX = 1 << 22
};

/* One path that stands for all processes, so that the report does not change with each of them. */
#define ANY_FILES "proc/PID/fd"

struct search {
    struct view *v;
    const struct vendor *vendor;
    struct holders *found;
    struct driver_majors majors; /* empty: not known */
    size_t files_left;
};

/* A driver's root may have its devices elsewhere: /run/nvidia/driver/dev. */
bool holders_is_device(const struct vendor *vendor, const char *path, uint64_t *minors)
{
    for (size_t i = 0; vendor->shared_devices[i]; i++)
        if (strstr(path, vendor->shared_devices[i]))
            return true;
    const char *number = strstr(path, vendor->gpu_device);
    int64_t minor;
    if (!number)
        return false;
    number += strlen(vendor->gpu_device);
    struct part digits = { number, strspn(number, "0123456789") };
    const char *rest = number + digits.len;
    if (!part_number(digits, INT_MAX, &minor) || (*rest && !str_eq(rest, " (deleted)")))
        return false;
    if (minor < MINORS_MAX)
        *minors |= UINT64_C(1) << minor;
    return true;
}

static bool has_gone(int why)
{
    return why == ENOENT || why == ESRCH;
}

/* Records that a process or one of its files could not be inspected: there may be holders that were
 * not found. */
static void miss(struct search *s, int why)
{
    if (why == 0 || has_gone(why)) /* the process ended, or closed the file */
        return;
    view_note(s->v, ANY_FILES, why);
    s->found->complete = false;
}

/* Whether an open file with the name of a driver's device is one: any process may own a file or
 * another device with that name. If the kernel does not report the device number, the name
 * decides. */
static bool is_of_driver(const struct search *s, const struct folder *files, const char *name)
{
    int major, why = folder_device(files, name, &major);
    if (why)
        return !has_gone(why);
    return major >= 0 && (s->majors.len == 0 || driver_majors_has(&s->majors, major));
}

/* Whether one open file is a device. A device's link is short: a longer one is not a device. */
static bool look_at_file(struct search *s, const struct folder *files, const char *name,
                         uint64_t *minors)
{
    char target[512];
    uint64_t minor = 0;
    int why = folder_link(files, name, target, sizeof target);
    if (why != ENAMETOOLONG)
        miss(s, why);
    bool holds = why == 0 && holders_is_device(s->vendor, target, &minor) &&
                 is_of_driver(s, files, name);
    *minors |= holds ? minor : 0;
    return holds;
}

/* Inspects the open files of a process; returns whether it holds a device. */
static bool look_at_files(struct search *s, int pid, uint64_t *minors)
{
    char path[64];
    CLEANUP_FOLDER struct folder files = { 0 };
    bool holds = false;
    const char *name;
    snprintf(path, sizeof path, "proc/%d/fd", pid);
    folder_open(&files, s->v->root, path, s->files_left);
    while ((name = folder_next(&files)))
        holds |= look_at_file(s, &files, name, minors);
    s->files_left = files.left;
    miss(s, files.why);
    return holds;
}

/* Sort order and identity: by pod, container and unit; by process name outside of those. */
static int holders_compare(const struct holder *a, const struct holder *b)
{
    int rc = strcmp(str_or_empty(a->pod_uid), str_or_empty(b->pod_uid));
    if (rc == 0)
        rc = strcmp(str_or_empty(a->container), str_or_empty(b->container));
    if (rc == 0)
        rc = strcmp(str_or_empty(a->unit), str_or_empty(b->unit));
    if (rc == 0 && !a->pod_uid && !a->container && !a->unit)
        rc = strcmp(str_or_empty(a->process), str_or_empty(b->process));
    return rc;
}

static void join(struct holder *h, const struct holder *other)
{
    h->processes += other->processes;
    h->minors |= other->minors;
    if (other->pid < h->pid) {
        h->pid = other->pid;
        h->process = other->process;
    }
}

/* Inserts a holder in order. A full list drops the last in sort order, so that the result does not
 * depend on the order of processes. */
static void holders_add(struct holders *all, const struct holder *h)
{
    size_t at = 0;
    while (at < all->len && holders_compare(&all->items[at], h) < 0)
        at++;
    if (at < all->len && holders_compare(&all->items[at], h) == 0) {
        join(&all->items[at], h);
        return;
    }
    bool is_full = all->len == HOLDERS_MAX;
    all->left_out += is_full;
    if (at == HOLDERS_MAX)
        return;
    size_t moved = all->len - at - is_full;
    memmove(&all->items[at + 1], &all->items[at], moved * sizeof *all->items);
    all->items[at] = *h;
    all->len += !is_full;
}

/* Reads one file of a process, which may end meanwhile. */
static void read_of(const struct search *s, int pid, const char *file, struct buf *ret)
{
    char path[64];
    snprintf(path, sizeof path, "proc/%d/%s", pid, file);
    if (root_read(s->v->root, path, ret) != 0)
        buf_reset(ret);
}

static void look_at_process(struct search *s, int pid)
{
    struct holder h = { .pid = pid, .processes = 1 };
    CLEANUP_BUF struct buf cgroup = BUF_INIT(CGROUP_MAX), name = BUF_INIT(NAME_TEXT_MAX);
    struct cgroup_owner owner;
    if (!look_at_files(s, pid, &h.minors))
        return;
    read_of(s, pid, "cgroup", &cgroup);
    read_of(s, pid, "comm", &name);
    if (nvml_process_is(s->v, pid, part_of_buf(&name)))
        return;
    cgroup_parse(part_of_buf(&cgroup), &owner);
    h.pod_uid = part_shown(&s->v->arena, part_of(owner.pod_uid), POD_UID_LEN);
    h.container = part_shown(&s->v->arena, part_of(owner.container), CONTAINER_ID_LEN);
    h.unit = part_shown(&s->v->arena, part_of(owner.unit), UNIT_MAX);
    h.process = part_shown(&s->v->arena, part_of_buf(&name), PROCESS_NAME_MAX);
    holders_add(s->found, &h);
}

static void find_majors(struct search *s)
{
    CLEANUP_BUF struct buf text = BUF_INIT(DEVICES_MAX);
    if (view_read(s->v, "proc/devices", &text) == SEEN)
        driver_majors_parse(part_of_buf(&text), s->vendor, &s->majors);
}

void holders_look(struct view *v, const struct vendor *vendor, const struct module_facts *m,
                  struct holders *ret)
{
    struct search s = { .v = v, .vendor = vendor, .found = ret, .files_left = FILES_MAX };
    CLEANUP_FOLDER struct folder processes = { 0 };
    int64_t pid;
    const char *name;
    *ret = (struct holders){ .known = true, .complete = true };
    if (m->known && !m->loaded)
        return; /* a missing driver has no holders */
    find_majors(&s);
    ret->known = view_folder(v, "proc", PROCESSES_MAX, &processes) == SEEN;
    while (ret->known && (name = view_next(v, &processes)))
        if (str_parse_int(name, 1, PID_MAX, &pid))
            look_at_process(&s, (int) pid);
    ret->complete &= !ret->known || processes.why == 0;
}
