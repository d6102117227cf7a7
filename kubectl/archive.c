#include "kubectl/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 512 };

struct archive {
    char *path, *top;
    char *part; /* the temporary name */
    int64_t time_s;
    gzFile gz;
    bool failed;
};

/* A header of POSIX's ustar. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100],
        magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

static int set_exists(const char *path, struct err *e)
{
    return err_set(e, ERR_SYSTEM, "%s already exists: give another file with -f FILE", path);
}

struct archive *archive_new(const char *path, const char *top, int64_t time_s, struct err *e)
{
    struct stat there;
    if (lstat(path, &there) == 0) {
        set_exists(path, e);
        return NULL;
    }
    CLEANUP_FREE char *part = xasprintf("%s.XXXXXX", path);
    int fd = mkostemp(part, O_CLOEXEC);
    if (fd < 0) {
        err_set(e, ERR_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
        return NULL;
    }
    struct archive *ar = xcalloc(1, sizeof *ar);
    *ar = (struct archive){ .path = xstrdup(path),
                            .top = xstrdup(top),
                            .part = TAKE(part),
                            .time_s = time_s,
                            .gz = gzdopen(fd, "wb") };
    ar->failed = !ar->gz;
    if (!ar->gz)
        close(fd);
    return ar;
}

static void archive_put(struct archive *ar, const void *bytes, size_t len)
{
    if (!ar->failed && len > 0)
        ar->failed = gzwrite(ar->gz, bytes, (unsigned) len) != (int) len;
}

/* Puts the file name into the second field and its directory into the first; tar joins both. */
static void set_name(struct header *h, const char *top, const char *name)
{
    const char *slash = strrchr(name, '/');
    int folder = slash ? (int) (slash - name) : 0;
    snprintf(h->name, sizeof h->name, "%s", slash ? slash + 1 : name);
    snprintf(h->prefix, sizeof h->prefix, "%s%s%.*s", top, folder ? "/" : "", folder, name);
}

static void put_header(struct archive *ar, const char *name, size_t len)
{
    struct header h;
    unsigned sum = 0;
    memset(&h, 0, sizeof h);
    set_name(&h, ar->top, name);
    snprintf(h.mode, sizeof h.mode, "%07o", 0600);
    snprintf(h.uid, sizeof h.uid, "%07o", 0);
    snprintf(h.gid, sizeof h.gid, "%07o", 0);
    snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long) len);
    snprintf(h.mtime, sizeof h.mtime, "%011llo", (unsigned long long) ar->time_s);
    h.type = '0';
    memcpy(h.magic, "ustar", sizeof h.magic);
    memcpy(h.version, "00", sizeof h.version);
    memset(h.checksum, ' ', sizeof h.checksum);
    for (size_t i = 0; i < sizeof h; i++)
        sum += ((const unsigned char *) &h)[i];
    snprintf(h.checksum, sizeof h.checksum, "%06o", sum & 0777777);
    archive_put(ar, &h, sizeof h);
}

void archive_add(struct archive *ar, const char *name, const char *bytes, size_t len)
{
    static const char zeros[BLOCK];
    _Static_assert(sizeof(struct header) == BLOCK, "ustar");
    put_header(ar, name, len);
    archive_put(ar, bytes, len);
    archive_put(ar, zeros, (BLOCK - len % BLOCK) % BLOCK);
}

/* As `rename`, but fails with EEXIST if the name exists. Some file systems cannot do that
 * atomically, and some have no links: there it creates the name first. */
static int rename_to_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) == 0)
        return unlink(from);
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    close(fd);
    return rename(from, to);
}

/* Gives the file its final name, unless another program has created that name. */
static int give_name(const struct archive *ar, struct err *e)
{
    int rc = rename_to_new(ar->part, ar->path);
    if (rc < 0 && errno == EEXIST)
        return set_exists(ar->path, e);
    return rc < 0 ? err_set(e, ERR_SYSTEM, "%s cannot be written: %s", ar->path, strerror(errno))
                  : 0;
}

int archive_end(struct archive *ar, bool whole, struct err *e)
{
    static const char zeros[2 * BLOCK];
    archive_put(ar, zeros, sizeof zeros);
    if (ar->gz && gzclose(ar->gz) != Z_OK)
        ar->failed = true;
    int rc = ar->failed ? err_set(e, ERR_SYSTEM, "%s could not be written completely", ar->path)
             : !whole ? err_set(e, ERR_TIMEOUT, "stopped by a signal: %s was not written", ar->path)
                      : give_name(ar, e);
    if (rc < 0)
        unlink(ar->part);
    free(ar->part);
    free(ar->path);
    free(ar->top);
    free(ar);
    return rc;
}
