/* A host through its root folder: `/` of the machine, wherever it is mounted. It is only read: files, links and folders, each up
 * to a limit; of devices, FIFOs and sockets nothing but that they are there. No link leads out of it.
 *
 * Functions return 0, or an errno: ENOENT says that it is not there, anything else that it may be there and could not be read. */
#ifndef OSTLER_NODE_INVENTORY_ROOT_H
#define OSTLER_NODE_INVENTORY_ROOT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct root {
    int fd;
};

#define CLEANUP_ROOT CLEANUP(root_close)

/* Opens the folder; the error names it. */
int root_open(struct root *r, const char *folder, struct err *e);
void root_close(struct root *r);

/* Adds what is in a file to `ret`; EFBIG when that is more than the buffer takes, EINVAL when it is no regular file. */
int root_read(const struct root *r, const char *path, struct buf *ret);
/* The first bytes of a file, at most `size`: for what must not be read any further. */
int root_peek(const struct root *r, const char *path, char *ret, size_t size, size_t *ret_len);
/* What a path leads to, in the bits of S_IFMT. */
int root_type(const struct root *r, const char *path, mode_t *ret);
/* Whether a path leads to the root folder itself, as where it is mounted a second time. */
bool root_is_at(const struct root *r, const char *path);
/* Whether two paths lead to one file or folder, by links or by mounts. */
bool root_same(const struct root *r, const char *path, const char *other);
/* The text of a link, in an array with `size` bytes; ENAMETOOLONG when it does not fit, EINVAL when it is no link. */
int root_link(const struct root *r, const char *path, char *ret, size_t size);

/* A folder that is being gone through. Zero-initialised = none. */
struct folder {
    DIR *dir;
    size_t left; /* how many entries it may still give */
};

#define CLEANUP_FOLDER CLEANUP(folder_close)

/* At most `max` entries will come from it. */
int folder_open(struct folder *f, const struct root *r, const char *path, size_t max);
/* The next name but "." and "..", in no order, valid until the next call; NULL at the end, where *why says whether that was all:
 * 0, E2BIG when there are more entries than may come, or what reading them failed with. */
const char *folder_next(struct folder *f, int *why);
/* The text of a link in it, as root_link(). */
int folder_link(const struct folder *f, const char *name, char *ret, size_t size);
/* The major of the character device that an entry of proc/PID/fd leads to, -1: it is something else. No server of files is asked,
 * which might not answer. Other links may lead out of the root: it is for those of procfs alone. */
int folder_device(const struct folder *f, const char *name, int *ret);
void folder_close(struct folder *f);

#endif
