/* Writes a .tar.gz file by file: ustar through zlib, so file names must be short. */
#ifndef OSTLER_KUBECTL_ARCHIVE_H
#define OSTLER_KUBECTL_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct archive;

/* Creates a file that only its owner can read, and never overwrites one. It has a temporary name
 * until it is complete. All entries are below the directory `top` with the time `time_s`. Copies
 * both texts. */
struct archive *archive_new(const char *path, const char *top, int64_t time_s, struct err *e);
/* Adds a file; archive_end() reports errors. Keeps 99 bytes of the last part of the name. */
void archive_add(struct archive *ar, const char *name, const char *bytes, size_t len);
/* Completes and frees the archive. Returns -1 on a write error or if it is not `whole`; then the
 * file is removed. */
int archive_end(struct archive *ar, bool whole, struct err *e);

#endif
