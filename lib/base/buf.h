/* A growing byte buffer with a limit that is given when it is made. Always NUL-terminated, so `data` is a string too. */
#ifndef OSTLER_BASE_BUF_H
#define OSTLER_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

/* `data` is NULL until the first byte comes. */
struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max; /* most bytes that it takes */
};

#define BUF_INIT(limit) { .data = NULL, .len = 0, .cap = 0, .max = (limit) }
#define CLEANUP_BUF CLEANUP(buf_clear)

/* Appends; false when the limit would be passed (then nothing is appended). */
bool buf_add(struct buf *b, const void *bytes, size_t n) __attribute__((warn_unused_result));
/* Appends n bytes that are not set yet, and returns where they begin; NULL when the limit would be passed. */
char *buf_grow(struct buf *b, size_t n) __attribute__((warn_unused_result));
/* Appends a string; what passes the limit aborts: only for text whose size is bounded by the program. */
void buf_str(struct buf *b, const char *s);
/* The same of a text that is put together. */
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* The bytes as a string, "" when there are none; valid until the buffer changes. */
const char *buf_text(const struct buf *b);
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
/* What is kept of an emptied buffer: most objects fit, and one that was longer does not cost its memory for ever. */
enum { BUF_KEPT = 256 << 10 };

/* Empties it and keeps the memory, where that is not more than BUF_KEPT. */
void buf_reset(struct buf *b);
/* Hands the bytes out as an owned string (never NULL); the buffer is empty afterwards. */
char *buf_take(struct buf *b);
/* Frees the memory. */
void buf_clear(struct buf *b);

#endif
