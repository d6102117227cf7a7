#include "node/operand/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/inventory/root.h"

#define MAJORS "proc/devices"
#define BLOCK_DEVICES "\nBlock devices:"
#define DIGITS "0123456789"

enum {
    MAJORS_MAX = 64 * 1024,
    NUMBER_MAX = 32,
    NODES_MAX = 16 * 1024,
    MAJOR_DIGITS = 4,
    NODE_MODE = 0666
};

/* Minor numbers from nvidia-container-toolkit v1.20.0, internal/nvidia-devices and
 * internal/info/proc/devices. Old drivers have one name for all nodes of the module nvidia. */
static const struct {
    const char *name, *module, *old_module;
    unsigned minor;
} nodes[] = {
    { "nvidiactl", "nvidia", "nvidia-frontend", 255 },
    { "nvidia-modeset", "nvidia-modeset", "nvidia-frontend", 254 },
    { "nvidia-uvm", "nvidia-uvm", NULL, 0 },
    { "nvidia-uvm-tools", "nvidia-uvm", NULL, 1 },
    { "gdrdrv", "gdrdrv", NULL, 0 },
};

/* Parses a line like " 195 nvidia". */
static bool is_line_of(const char *line, const char *name, unsigned *ret)
{
    const char *number = line + strspn(line, " "), *at = number + strspn(number, DIGITS);
    size_t len = strlen(name);
    if (at == number || at - number > MAJOR_DIGITS || *at != ' ' || strncmp(at + 1, name, len) != 0)
        return false;
    *ret = (unsigned) strtoul(number, NULL, 10);
    return at[1 + len] == '\n' || at[1 + len] == '\0';
}

/* The major number of a character device; block devices follow those in the text. */
static bool find_major(const char *text, const char *name, unsigned *ret)
{
    const char *end = strstr(text, BLOCK_DEVICES), *line = name ? text : NULL;
    while (line && (!end || line < end)) {
        if (is_line_of(line, name, ret))
            return true;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

size_t devices_of_modules(const char *text, struct device ret[DEVICES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        unsigned major;
        if (find_major(text, nodes[i].module, &major) ||
            find_major(text, nodes[i].old_module, &major))
            ret[n++] = (struct device){ nodes[i].name, major, nodes[i].minor };
    }
    return n;
}

/* Whether the node exists with these numbers. */
static bool is_there(int folder, const struct device *d)
{
    struct stat st;
    return fstatat(folder, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == makedev(d->major, d->minor);
}

/* mknod() applies the umask, so the mode is set afterwards. */
int device_make(int folder, const struct device *d, mode_t mode, device_make_fn *make)
{
    if (is_there(folder, d))
        return 0;
    if (unlinkat(folder, d->name, 0) < 0 && errno != ENOENT)
        return errno;
    if (make(folder, d->name, S_IFCHR | mode, makedev(d->major, d->minor)) < 0 && errno != EEXIST)
        return errno;
    return fchmodat(folder, d->name, mode, 0) < 0 ? errno : 0;
}

static int read_majors(const struct root *root, struct buf *ret, struct err *e)
{
    int why = root_read(root, MAJORS, ret);
    return why ? err_set(e, ERR_SYSTEM, "cannot read %s: %s", MAJORS, strerror(why)) : 0;
}

int devices_major(const struct root *root, const char *module, unsigned *ret, struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(MAJORS_MAX);
    return read_majors(root, &text, e) < 0 ? -1 : find_major(buf_text(&text), module, ret);
}

int devices_make(const struct root *root, const char *path, device_make_fn *make, struct err *e)
{
    CLEANUP_BUF struct buf text = BUF_INIT(MAJORS_MAX);
    struct device devices[DEVICES_MAX];
    if (read_majors(root, &text, e) < 0)
        return -1;
    size_t n = devices_of_modules(buf_text(&text), devices);
    CLEANUP_FD int folder = resolve(root->fd, path, true);
    if (folder < 0)
        return err_set(e, ERR_SYSTEM, "cannot open %s: %s", path, strerror(errno));
    for (size_t i = 0; i < n; i++) {
        int why = device_make(folder, &devices[i], NODE_MODE, make);
        if (why)
            return err_set(e, ERR_SYSTEM, "cannot create %s/%s: %s", path, devices[i].name,
                           strerror(why));
    }
    return 0;
}

/* ---- links */

int device_link(int links, const struct device *d, const char *target)
{
    char name[NUMBER_MAX], now[PATH_MAX], beside[NUMBER_MAX + 8];
    snprintf(name, sizeof name, "%u:%u", d->major, d->minor);
    ssize_t len = readlinkat(links, name, now, sizeof now);
    if (len == (ssize_t) strlen(target) && memcmp(now, target, (size_t) len) == 0)
        return 0;
    snprintf(beside, sizeof beside, ".%s.new", name);
    if (unlinkat(links, beside, 0) < 0 && errno != ENOENT)
        return errno;
    return symlinkat(target, links, beside) < 0 || renameat(links, beside, links, name) < 0 ? errno
                                                                                            : 0;
}

static int link_one(int folder, const char *name, int links, const char *as, struct err *e)
{
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISCHR(st.st_mode))
        return 0;
    CLEANUP_FREE char *target = xasprintf("%s/%s", as, name);
    const struct device d = { name, major(st.st_rdev), minor(st.st_rdev) };
    int why = device_link(links, &d, target);
    return why ? err_set(e, ERR_SYSTEM, "cannot create the link %u:%u to %s: %s", d.major, d.minor,
                         target, strerror(why))
               : 0;
}

/* Links the nodes of one directory whose names start with `prefix`; the directory need not
 * exist. */
static int link_folder(const struct root *root, const char *path, const char *prefix, int links,
                       const char *as, struct err *e)
{
    CLEANUP_FOLDER struct folder f = { 0 };
    const char *name;
    if (folder_open(&f, root, path, NODES_MAX) == ENOENT)
        return 0;
    while ((name = folder_next(&f)))
        if (str_has_prefix(name, prefix) && link_one(dirfd(f.dir), name, links, as, e) < 0)
            return -1;
    return f.why ? err_set(e, ERR_SYSTEM, "cannot read %s: %s", path, strerror(f.why)) : 0;
}

int devices_link(const struct root *root, const char *folder, const char *links, const char *as,
                 struct err *e)
{
    /* The last row is for IMEX: nvidia-caps-imex-channels/channel0. */
    static const struct {
        const char *folder, *prefix;
    } places[] = { { "", "nvidia" }, { "", "gdrdrv" }, { "/nvidia-caps-imex-channels", "" } };
    CLEANUP_FD int fd = resolve(root->fd, links, true);
    int rc = 0;
    if (fd < 0)
        return err_set(e, ERR_SYSTEM, "cannot open %s: %s", links, strerror(errno));
    for (size_t i = 0; i < ARRAY_LEN(places) && rc == 0; i++) {
        CLEANUP_FREE char *from = xasprintf("%s%s", folder, places[i].folder),
                          *to = xasprintf("%s%s", as, places[i].folder);
        rc = link_folder(root, from, places[i].prefix, fd, to, e);
    }
    return rc;
}
