#include "node/inventory/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/inventory/resolve.h"

int root_open(struct root *r, const char *folder, struct err *e)
{
    r->fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (r->fd >= 0)
        return 0;
    enum err_kind kind = errno == ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM;
    return err_set(e, kind, "cannot open the root folder %s: %s", folder, strerror(errno));
}

void root_close(struct root *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
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
    int place = resolve(r->fd, path, true);
    struct stat st;
    if (place < 0)
        return -1;
    int fd = -1;
    if (fstat(place, &st) == 0) {
        if ((st.st_mode & S_IFMT) == type)
            fd = open_again(place, flags);
        else
            errno = type == S_IFDIR ? ENOTDIR : EINVAL;
    }
    int reason = errno;
    close(place);
    errno = reason;
    return fd;
}

static int root_read_all(int fd, struct buf *ret)
{
    char chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (!buf_add(ret, chunk, (size_t) n))
            return EFBIG;
    }
    return 0;
}

int root_read(const struct root *r, const char *path, struct buf *ret)
{
    int fd = open_type(r, path, S_IFREG, 0);
    if (fd < 0)
        return errno;
    int why = root_read_all(fd, ret);
    close(fd);
    return why;
}

int root_peek(const struct root *r, const char *path, char *ret, size_t size, size_t *ret_len)
{
    int fd = open_type(r, path, S_IFREG, 0);
    if (fd < 0)
        return errno;
    ssize_t n = read(fd, ret, size);
    int why = n < 0 ? errno : 0;
    close(fd);
    if (why == 0)
        *ret_len = (size_t) n;
    return why;
}

int root_type(const struct root *r, const char *path, mode_t *ret)
{
    int fd = resolve(r->fd, path, true);
    struct stat st;
    if (fd < 0)
        return errno;
    int why = fstat(fd, &st) < 0 ? errno : 0;
    close(fd);
    if (why == 0)
        *ret = st.st_mode & S_IFMT;
    return why;
}

/* Whether `path` is the file that `own` describes. */
static bool is_it(const struct stat *own, const struct root *r, const char *path)
{
    struct stat there;
    int fd = resolve(r->fd, path, true);
    bool same = fd >= 0 && fstat(fd, &there) == 0 && own->st_dev == there.st_dev &&
                own->st_ino == there.st_ino;
    if (fd >= 0)
        close(fd);
    return same;
}

bool root_is_at(const struct root *r, const char *path)
{
    struct stat own;
    return fstat(r->fd, &own) == 0 && is_it(&own, r, path);
}

bool root_same(const struct root *r, const char *path, const char *other)
{
    struct stat own;
    int fd = resolve(r->fd, path, true);
    bool same = fd >= 0 && fstat(fd, &own) == 0 && is_it(&own, r, other);
    if (fd >= 0)
        close(fd);
    return same;
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
    int fd = resolve(r->fd, path, false);
    if (fd < 0)
        return errno;
    int why = link_text(fd, "", ret, size);
    close(fd);
    return why;
}

int folder_open(struct folder *f, const struct root *r, const char *path, size_t max)
{
    int fd = open_type(r, path, S_IFDIR, O_DIRECTORY);
    f->dir = fd < 0 ? NULL : fdopendir(fd);
    f->left = max;
    if (f->dir)
        return 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    return why;
}

const char *folder_next(struct folder *f, int *why)
{
    const struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(f->dir);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    *why = entry ? 0 : errno;
    if (!entry)
        return NULL;
    if (f->left == 0) {
        *why = E2BIG;
        return NULL;
    }
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
