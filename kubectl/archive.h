/* A .tar.gz that is written file by file: ustar, whose names are short, through zlib. */
#ifndef OSTLER_KUBECTL_ARCHIVE_H
#define OSTLER_KUBECTL_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct archive;

/* A new file that only its owner can read; one that is there is not overwritten. Until it is whole it has another name beside
 * that. Everything in it is below the folder `top` and was made at `time_s`. Both texts are copied. */
struct archive *archive_new(const char *path, const char *top, int64_t time_s, struct err *e);
/* Adds a file; what goes wrong is said at the end. Of the last part of its name 99 bytes are kept. */
void archive_add(struct archive *ar, const char *name, const char *bytes, size_t len);
/* Ends it and frees it: -1 where something could not be written, or it is not whole, and then the file is gone. */
int archive_end(struct archive *ar, bool whole, struct err *e);

#endif
