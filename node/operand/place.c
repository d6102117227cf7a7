#include "node/operand/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "node/inventory/root.h"

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
    CLEANUP_FD int above = folder_of(root, folder, &last);
    if (above < 0 || (mkdirat(above, last, 0755) < 0 && errno != EEXIST))
        return -1;
    return folder_of(root, path, name);
}

int place_put(const struct root *root, const char *path, const char *text, struct err *e)
{
    const char *name;
    CLEANUP_FD int folder = made_folder_of(root, path, &name);
    int why = folder < 0 ? errno : file_put(folder, name, 0644, text, strlen(text));
    return why ? err_set(e, ERR_SYSTEM, "cannot write %s: %s", path, strerror(why)) : 0;
}

int place_remove(const struct root *root, const char *path, struct err *e)
{
    const char *name;
    CLEANUP_FD int folder = folder_of(root, path, &name);
    if ((folder < 0 || unlinkat(folder, name, 0) < 0) && errno != ENOENT)
        return err_set(e, ERR_SYSTEM, "cannot remove %s: %s", path, strerror(errno));
    return 0;
}

int place_write(const struct root *root, const char *path, const char *text)
{
    const char *name;
    CLEANUP_FD int folder = folder_of(root, path, &name);
    CLEANUP_FD int fd = folder < 0
                            ? -1
                            : openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
}

int place_self(const char *to, struct err *e)
{
    CLEANUP_FD int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int why = from < 0 ? errno : file_copy(AT_FDCWD, to, 0755, from);
    return why ? err_set(e, ERR_SYSTEM, "cannot copy this program to %s: %s", to, strerror(why))
               : 0;
}

void place_last_words(const char *file, const char *text)
{
    struct stat st;
    CLEANUP_FD int fd = open(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    /* Best effort: the text is on standard error as well. */
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(fd, 0) == 0 &&
        write(fd, text, strlen(text)) < 0)
        fprintf(stderr, "%s cannot be written\n", file);
}
