/* Read-only access to a host through its root directory `/`, wherever it is mounted. Files, links
 * and directories are read up to a limit; devices, FIFOs and sockets are only detected. No link
 * leads outside.
 *
 * Functions return 0 or an errno. ENOENT: it does not exist. Others: it may exist and could not be
 * read. */
#ifndef OSTLER_NODE_INVENTORY_ROOT_H
#define OSTLER_NODE_INVENTORY_ROOT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct root {
    int fd;
};

#define CLEANUP_ROOT CLEANUP(root_close)

/* Opens the directory; the error names it. */
int root_open(struct root *r, const char *folder, struct err *e);
void root_close(struct root *r);

/* Appends a file's contents to `ret`; EFBIG if the buffer's limit is too small, EINVAL if it is not
 * a regular file. */
int root_read(const struct root *r, const char *path, struct buf *ret);
/* Reads at most the first `size` bytes of a file, for files that must not be read further. */
int root_peek(const struct root *r, const char *path, char *ret, size_t size, size_t *ret_len);
/* The file type that a path leads to, as bits of S_IFMT. */
int root_type(const struct root *r, const char *path, mode_t *ret);
/* When the file that a path leads to was last written, in seconds since 1970. */
int root_written(const struct root *r, const char *path, int64_t *ret_s);
/* Whether a path leads to anything that can be reached. */
bool root_has(const struct root *r, const char *path);
/* Whether two paths lead to the same file or directory, through links or mounts; "." is the root.
 */
bool root_same(const struct root *r, const char *path, const char *other);
/* Reads a link's target into an array of `size` bytes; ENAMETOOLONG if it does not fit, EINVAL if
 * it is not a link. */
int root_link(const struct root *r, const char *path, char *ret, size_t size);

/* An iteration over a directory. Zero-initialized = none. */
struct folder {
    DIR *dir;
    size_t left;      /* number of entries that it may still return */
    int why;          /* why it ended early: E2BIG beyond its limit, or the errno; 0: it did not */
    const char *path; /* borrowed */
};

#define CLEANUP_FOLDER CLEANUP(folder_close)

/* It returns at most `max` entries. `path` is borrowed. */
int folder_open(struct folder *f, const struct root *r, const char *path, size_t max);
/* The next name except "." and "..", in no order, valid until the next call. NULL at the end, or if
 * it is not open; then see `why`. */
const char *folder_next(struct folder *f);
/* The target of a link in it, like root_link(). */
int folder_link(const struct folder *f, const char *name, char *ret, size_t size);
/* The major number of the character device that an entry of proc/PID/fd leads to; -1: another kind
 * of file. Sends no request to a file server, which might not respond. Only for links of procfs:
 * other links may lead out of the root. */
int folder_device(const struct folder *f, const char *name, int *ret);
void folder_close(struct folder *f);

/* ---- paths below a directory as if it were the root (resolve.c): absolute links start there and
 * ".." stops there, so that nothing outside is reached. The kernel does that (openat2, Linux 5.6).
 * If it cannot, or a seccomp profile blocks the call, this code follows the links itself. */

/* Opens a path below the directory with O_PATH, which has no effect on devices or FIFOs. `follow`:
 * also follow a link at the end. Returns the descriptor, or -1 with errno. */
int resolve(int folder, const char *path, bool follow);
/* The two implementations. The first fails with ENOSYS or EPERM if the call is not available, and
 * with EAGAIN if a change interfered. */
int resolve_by_kernel(int folder, const char *path, bool follow);
int resolve_by_hand(int folder, const char *path, bool follow);

#endif
