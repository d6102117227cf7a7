/* Files: atomic writes, whole reads, and descriptors that close themselves. A reader of a file sees
 * either the whole new file or the old one. */
#ifndef OSTLER_BASE_FILE_H
#define OSTLER_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Writes a file into a directory (AT_FDCWD: `name` is a path). Its bytes are on disk before it
 * appears. It first writes NAME.new and neither follows nor opens a file that another program
 * left there. Returns 0 or an errno. */
int file_put(int folder, const char *name, mode_t mode, const void *bytes, size_t len);
/* The same by path, with an error that names the file. */
int file_write(const char *path, mode_t mode, const void *bytes, size_t len, struct err *e);
/* The same, with the bytes that another descriptor has left to read. */
int file_copy(int folder, const char *name, mode_t mode, int from);
/* Appends all that a descriptor has left to read. Returns 0, an errno, or EFBIG beyond the buffer's
 * limit. */
int file_read_all(int fd, struct buf *ret);
/* Closes a descriptor that is not below 0, sets it to -1, and keeps errno. */
void file_close(int *fd);
#define CLEANUP_FD CLEANUP(file_close)
/* Moves a descriptor to a new owner: yields it and leaves -1. */
#define TAKE_FD(fd)                                                                                \
    ({                                                                                             \
        int take_fd_ = (fd);                                                                       \
        (fd) = -1;                                                                                 \
        take_fd_;                                                                                  \
    })
/* Resolves a path that a file names: a relative one starts at that file's directory. Owned by
 * the caller. */
char *file_beside(const char *file, const char *path);

#endif
