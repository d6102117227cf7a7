/* Atomic writes: a reader sees either the whole new file or the old one. */
#ifndef OSTLER_BASE_FILE_H
#define OSTLER_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Writes a file into a directory (AT_FDCWD: `name` is a path). Its bytes are on disk before it
 * appears. It first writes NAME.new and neither follows nor opens a file that another program
 * left there. Returns 0 or an errno. */
int file_put(int folder, const char *name, mode_t mode, const void *bytes, size_t len);
/* The same, with the bytes that another descriptor has left to read. */
int file_copy(int folder, const char *name, mode_t mode, int from);
/* Resolves a path that a file names: a relative one starts at that file's directory. Owned by
 * the caller. */
char *file_beside(const char *file, const char *path);

#endif
