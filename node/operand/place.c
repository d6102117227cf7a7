#include "node/operand/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "node/inventory/resolve.h"

/* Opens the directory of a path, or returns -1 with errno; *name is the last part of the path. */
static int folder_of(const struct root *root, const char *path, const char **name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int) (slash - path) : 1, slash ? path : ".");
    return resolve(root->fd, folder, true);
}

/* The same, but creates the directory if only that is missing. */
static int made_folder_of(const struct root *root, const char *path, const char **name)
{
    char folder[PATH_MAX];
    const char *last;
    int fd = folder_of(root, path, name);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    snprintf(folder, sizeof folder, "%.*s", (int) (*name - path - 1), path);
    int above = folder_of(root, folder, &last);
    if (above < 0)
        return -1;
    int why = mkdirat(above, last, 0755) < 0 && errno != EEXIST ? errno : 0;
    close(above);
    errno = why;
    return why ? -1 : folder_of(root, path, name);
}

int place_put(const struct root *root, const char *path, const char *text, struct err *e)
{
    const char *name;
    int folder = made_folder_of(root, path, &name);
    int why = folder < 0 ? errno : file_put(folder, name, 0644, text, strlen(text));
    if (folder >= 0)
        close(folder);
    return why ? err_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(why)) : 0;
}

int place_remove(const struct root *root, const char *path, struct err *e)
{
    const char *name;
    int folder = folder_of(root, path, &name);
    int why = folder < 0 || unlinkat(folder, name, 0) < 0 ? errno : 0;
    if (folder >= 0)
        close(folder);
    return why && why != ENOENT
               ? err_set(e, ERR_SYSTEM, "cannot take %s away: %s", path, strerror(why))
               : 0;
}

int place_write(const struct root *root, const char *path, const char *text)
{
    const char *name;
    int folder = folder_of(root, path, &name);
    if (folder < 0)
        return errno;
    int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int why = fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    close(folder);
    return why;
}
