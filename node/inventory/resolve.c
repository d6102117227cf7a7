/* Opens paths below a directory as if it were the root: root.h. */
#include "node/inventory/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* LINKS_MAX: the kernel's limit of links in one path. */
enum { LINKS_MAX = 40, DEPTH_MAX = 64 };

int resolve_by_kernel(int folder, const char *path, bool follow)
{
    struct open_how how = { .flags = O_PATH | O_CLOEXEC | (follow ? 0U : O_NOFOLLOW),
                            .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    return (int) syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/* The position: the directories from the root down to here, so that ".." never leaves the root. */
struct walk {
    int at[DEPTH_MAX];
    int depth; /* number of entries in at[]; at[0] is the root, which the caller owns */
    int links;
    char rest[PATH_MAX]; /* the unresolved rest of the path */
};

static void resolve_leave(struct walk *w, int depth)
{
    while (w->depth > depth)
        close(w->at[--w->depth]);
}

static int enter(struct walk *w, int fd)
{
    if (w->depth == DEPTH_MAX) {
        close(fd);
        errno = ELOOP;
        return -1;
    }
    w->at[w->depth++] = fd;
    return 0;
}

/* Prepends the target of a link to the rest. */
static int go_by_link(struct walk *w, int link)
{
    char text[PATH_MAX], joined[PATH_MAX];
    ssize_t n = readlinkat(link, "", text, sizeof text - 1);
    if (n < 0)
        return -1;
    text[n] = '\0';
    if (++w->links > LINKS_MAX) {
        errno = ELOOP;
        return -1;
    }
    if ((size_t) snprintf(joined, sizeof joined, "%s/%s", text, w->rest) >= sizeof joined) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (text[0] == '/')
        resolve_leave(w, 1);
    memcpy(w->rest, joined, sizeof joined);
    return 0;
}

/* Takes the next name from the rest; false at the end. */
static bool next_name(struct walk *w, char name[static NAME_MAX + 1])
{
    size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");
    if (!len)
        return false;
    snprintf(name, NAME_MAX + 1, "%.*s", (int) len, w->rest + skip);
    /* "x/" at the end means that x is a directory or a link to one: the slash stays, and the link
     * is followed. */
    memmove(w->rest, w->rest + skip + len, strlen(w->rest + skip + len) + 1);
    return true;
}

static int resolve_step(struct walk *w, const char *name, bool follow)
{
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0) {
        resolve_leave(w, w->depth > 1 ? w->depth - 1 : 1);
        return 0;
    }
    int fd = openat(w->at[w->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return -1;
    bool known = fstat(fd, &st) == 0;
    if (known && S_ISLNK(st.st_mode) && (follow || w->rest[0])) {
        int rc = go_by_link(w, fd);
        int reason = errno;
        close(fd);
        errno = reason;
        return rc;
    }
    return enter(w, fd);
}

int resolve_by_hand(int folder, const char *path, bool follow)
{
    struct walk w = { .at = { folder }, .depth = 1 };
    char name[NAME_MAX + 1];
    if ((size_t) snprintf(w.rest, sizeof w.rest, "%s", path) >= sizeof w.rest) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int rc = 0;
    while (rc == 0 && next_name(&w, name))
        rc = resolve_step(&w, name, follow);
    /* Closes the directories on the way, but not the caller's root. */
    int fd = rc == 0 ? fcntl(w.at[w.depth - 1], F_DUPFD_CLOEXEC, 0) : -1;
    int reason = errno;
    resolve_leave(&w, 1);
    errno = reason;
    return fd;
}

int resolve(int folder, const char *path, bool follow)
{
    int fd = resolve_by_kernel(folder, path, follow);
    /* EAGAIN: the kernel cannot guarantee the path, because something on the machine was renamed or
     * mounted while it followed "..". That is frequent where containers start and stop. */
    return fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN)
               ? resolve_by_hand(folder, path, follow)
               : fd;
}
