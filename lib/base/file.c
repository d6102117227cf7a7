#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 64 * 1024 };

static int file_write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR)
            return errno;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t) n : 0;
    }
    return 0;
}

static int copy_all(int to, int from)
{
    CLEANUP_FREE char *chunk = xcalloc(1, CHUNK);
    ssize_t n;
    while ((n = read(from, chunk, CHUNK)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        int why = n < 0 ? errno : file_write_all(to, chunk, (size_t) n);
        if (why)
            return why;
    }
    return 0;
}

/* Writes either `bytes` or the rest of `from`. */
static int file_fill(int fd, mode_t mode, const void *bytes, size_t len, int from)
{
    int why = from >= 0 ? copy_all(fd, from) : file_write_all(fd, bytes, len);
    /* Sets the mode regardless of the process's umask. */
    if (why == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
        why = errno;
    if (close(fd) < 0 && why == 0)
        why = errno;
    return why;
}

static int file_put_now(int folder, const char *name, mode_t mode, const void *bytes, size_t len,
                        int from)
{
    CLEANUP_FREE char *new = xasprintf("%s.new", name);
    /* Remove a foreign file first: opening a FIFO would block for ever. */
    unlinkat(folder, new, 0);
    int fd = openat(folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return errno;
    int why = file_fill(fd, mode, bytes, len, from);
    if (why == 0 && renameat(folder, new, folder, name) == 0)
        return 0;
    why = why ? why : errno;
    unlinkat(folder, new, 0);
    return why;
}

int file_put(int folder, const char *name, mode_t mode, const void *bytes, size_t len)
{
    return file_put_now(folder, name, mode, bytes, len, -1);
}

int file_copy(int folder, const char *name, mode_t mode, int from)
{
    return file_put_now(folder, name, mode, NULL, 0, from);
}

int file_write(const char *path, mode_t mode, const void *bytes, size_t len, struct err *e)
{
    int why = file_put(AT_FDCWD, path, mode, bytes, len);
    return why ? err_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(why)) : 0;
}

int file_read_all(int fd, struct buf *ret)
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

void file_close(int *fd)
{
    int why = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = why;
}

char *file_beside(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    if (*path == '/' || !slash)
        return xstrdup(path);
    return xasprintf("%.*s/%s", (int) (slash - file), file, path);
}
