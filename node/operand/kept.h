/* Keeps copies of files before a program changes them, to restore them byte for byte. The copies
 * are in memory, and in one file on disk in case this process dies. */
#ifndef OSTLER_NODE_OPERAND_KEPT_H
#define OSTLER_NODE_OPERAND_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Limits: files, and bytes of all files. A runtime's configuration has a few KiB. */
enum { KEPT_FILES_MAX = 8, KEPT_BYTES_MAX = 4 << 20 };

struct kept_file {
    char *path;       /* owned; with links resolved if the file existed */
    bool is_there;    /* false: there was no file, and restoring removes the current one */
    mode_t mode;      /* permission bits of the file */
    struct buf bytes; /* owned */
};

/* Zero-initialized = nothing kept. */
struct kept {
    struct kept_file files[KEPT_FILES_MAX];
    size_t len;
};

#define CLEANUP_KEPT CLEANUP(kept_clear)

/* Keeps a copy of a file, which need not exist. -1: it cannot be read, is not a regular file, or
 * exceeds the limits. */
int kept_add(struct kept *k, const char *path, struct err *e);
bool kept_differs(const struct kept *k);
/* Restores changed files and removes files that did not exist. Continues after an error, and
 * returns the last one. */
int kept_put_back(const struct kept *k, struct err *e);
/* Writes all copies into one file atomically; its directory must exist. */
int kept_save(const struct kept *k, const char *file, struct err *e);
/* Loads the copies of such a file into `k`, which is empty. 1: loaded; 0: no such file; -1: it
 * cannot be used. */
int kept_load(struct kept *k, const char *file, struct err *e);
/* The same from the file's bytes. False: wrong format; the caller must then clear `k`. */
bool kept_read(struct kept *k, const char *bytes, size_t len);
void kept_copy(struct kept *k, const struct kept_file *file);
/* Frees the copies; `k` can be used again. */
void kept_clear(struct kept *k);

#endif
