#include "node/inventory/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

int root_open(struct root *r, const char *folder, struct err *e)
{
    r->fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (r->fd >= 0)
        return 0;
    enum err_kind kind = errno == ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM;
    return err_set(e, kind, "cannot open the root directory %s: %s", folder, strerror(errno));
}

void root_close(struct root *r)
{
    file_close(&r->fd);
}

/* Opens for reading what an O_PATH descriptor refers to. The caller has checked its type: a device
 * is never opened (that would start a watchdog), and the file cannot have been replaced. */
static int open_again(int path_fd, int flags)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", path_fd);
    int fd = open(self, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    /* Without procfs nothing can be read, and files must not seem absent. */
    if (fd < 0 && errno == ENOENT)
        errno = access("/proc/self/fd", X_OK) == 0 ? ENOENT : ENOSYS;
    return fd;
}

/* Opens a file or directory for reading if it has this type: the descriptor, or -1 with errno. */
static int open_type(const struct root *r, const char *path, mode_t type, int flags)
{
    CLEANUP_FD int place = resolve(r->fd, path, true);
    struct stat st;
    if (place < 0 || fstat(place, &st) < 0)
        return -1;
    if ((st.st_mode & S_IFMT) == type)
        return open_again(place, flags);
    errno = type == S_IFDIR ? ENOTDIR : EINVAL;
    return -1;
}

int root_read(const struct root *r, const char *path, struct buf *ret)
{
    CLEANUP_FD int fd = open_type(r, path, S_IFREG, 0);
    return fd < 0 ? errno : file_read_all(fd, ret);
}

int root_peek(const struct root *r, const char *path, char *ret, size_t size, size_t *ret_len)
{
    CLEANUP_FD int fd = open_type(r, path, S_IFREG, 0);
    ssize_t n = fd < 0 ? -1 : read(fd, ret, size);
    if (n < 0)
        return errno;
    *ret_len = (size_t) n;
    return 0;
}

static int look_at(const struct root *r, const char *path, struct stat *ret)
{
    CLEANUP_FD int fd = resolve(r->fd, path, true);
    return fd < 0 || fstat(fd, ret) < 0 ? errno : 0;
}

int root_type(const struct root *r, const char *path, mode_t *ret)
{
    struct stat st = { 0 };
    int why = look_at(r, path, &st);
    if (why == 0)
        *ret = st.st_mode & S_IFMT;
    return why;
}

int root_written(const struct root *r, const char *path, int64_t *ret_s)
{
    struct stat st = { 0 };
    int why = look_at(r, path, &st);
    if (why == 0)
        *ret_s = st.st_mtime;
    return why;
}

bool root_has(const struct root *r, const char *path)
{
    struct stat st;
    return look_at(r, path, &st) == 0;
}

bool root_same(const struct root *r, const char *path, const char *other)
{
    struct stat a = { 0 }, b = { 0 };
    return look_at(r, path, &a) == 0 && look_at(r, other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* readlinkat() does not report truncation. */
static int link_text(int fd, const char *name, char *ret, size_t size)
{
    ssize_t n = readlinkat(fd, name, ret, size);
    /* With an empty name, readlinkat() returns ENOENT for a file that is not a link. */
    if (n < 0)
        return errno == ENOENT && !*name ? EINVAL : errno;
    if ((size_t) n == size)
        return ENAMETOOLONG;
    ret[n] = '\0';
    return 0;
}

int root_link(const struct root *r, const char *path, char *ret, size_t size)
{
    CLEANUP_FD int fd = resolve(r->fd, path, false);
    return fd < 0 ? errno : link_text(fd, "", ret, size);
}

int folder_open(struct folder *f, const struct root *r, const char *path, size_t max)
{
    int fd = open_type(r, path, S_IFDIR, O_DIRECTORY);
    *f = (struct folder){ .dir = fd < 0 ? NULL : fdopendir(fd), .left = max, .path = path };
    f->why = f->dir ? 0 : errno;
    if (!f->dir)
        file_close(&fd);
    return f->why;
}

const char *folder_next(struct folder *f)
{
    const struct dirent *entry;
    if (!f->dir)
        return NULL;
    do {
        errno = 0;
        entry = readdir(f->dir);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    f->why = !entry ? errno : f->left == 0 ? E2BIG : 0;
    if (!entry || f->why)
        return NULL;
    f->left--;
    return entry->d_name;
}

int folder_link(const struct folder *f, const char *name, char *ret, size_t size)
{
    return link_text(dirfd(f->dir), name, ret, size);
}

int folder_device(const struct folder *f, const char *name, int *ret)
{
    struct statx st;
    if (statx(dirfd(f->dir), name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
        return errno;
    *ret = S_ISCHR(st.stx_mode) ? (int) st.stx_rdev_major : -1;
    return 0;
}

void folder_close(struct folder *f)
{
    if (f->dir)
        closedir(f->dir);
    f->dir = NULL;
}
