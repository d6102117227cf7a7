/* Copies of files as they were before a program changes them, to put them back byte for byte. In memory, and in one file on the
 * disk for when this process does not live to do it. */
#ifndef OSTLER_NODE_OPERAND_KEPT_H
#define OSTLER_NODE_OPERAND_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* How many files there are at most, and the bytes of all together. A runtime's configuration has a few KiB. */
enum { KEPT_FILES_MAX = 8, KEPT_BYTES_MAX = 4 << 20 };

struct kept_file {
    char *path;       /* owned; without links, where the file was there */
    bool is_there;    /* false: there was none, and putting it back takes away what is there */
    mode_t mode;      /* of the file: permissions */
    struct buf bytes; /* owned */
};

/* Zero-initialised = nothing kept. */
struct kept {
    struct kept_file files[KEPT_FILES_MAX];
    size_t len;
};

#define CLEANUP_KEPT CLEANUP(kept_clear)

/* Keeps a copy of a file, which need not be there. -1: it cannot be read, is no file, or there are too many or too large ones. */
int kept_add(struct kept *k, const char *path, struct err *e);
/* Whether one of the files is not as it was. */
bool kept_differs(const struct kept *k);
/* Writes what differs as it was, and takes away files that were not there. Goes on after an error, and returns the last one. */
int kept_put_back(const struct kept *k, struct err *e);
/* The copies in one file, whole or not at all; its folder has to be there. */
int kept_save(const struct kept *k, const char *file, struct err *e);
/* Adds the copies of such a file to `k`, which is empty. 1: they are there; 0: there is no such file; -1: it cannot be used. */
int kept_load(struct kept *k, const char *file, struct err *e);
/* The same from the file's bytes. False: they are not such a file; `k` then has to be cleared. */
bool kept_read(struct kept *k, const char *bytes, size_t len);
/* Adds a copy of a copy. */
void kept_copy(struct kept *k, const struct kept_file *file);
/* Frees the copies; the struct can be used again. */
void kept_clear(struct kept *k);

#endif
