/* Files that others read while they are written: each is there whole, or as it was before. */
#ifndef OSTLER_BASE_FILE_H
#define OSTLER_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Puts a file into a folder (AT_FDCWD: `name` is a path): its bytes are on the disk when it is seen. It is written as NAME.new
 * first, and nothing that somebody put there is followed or opened. 0, or an errno. */
int file_put(int folder, const char *name, mode_t mode, const void *bytes, size_t len);
/* The same of what another descriptor has left to read. */
int file_copy(int folder, const char *name, mode_t mode, int from);
/* The path of what a file names: an absolute one as it is, another one as from that file's folder. Owned by the caller. */
char *file_beside(const char *file, const char *path);

#endif
