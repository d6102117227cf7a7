/* A growing byte buffer with a fixed limit. It is always NUL-terminated, so `data` is also a
 * string. */
#ifndef OSTLER_BASE_BUF_H
#define OSTLER_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* `data` is NULL until the first byte arrives. */
struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max; /* limit in bytes */
};

#define BUF_INIT(limit)                                                                            \
    {                                                                                              \
        .data = NULL, .len = 0, .cap = 0, .max = (limit)                                           \
    }
#define CLEANUP_BUF CLEANUP(buf_clear)

/* Appends bytes; false if the limit would be exceeded (then it appends nothing). */
bool buf_add(struct buf *b, const void *bytes, size_t n) __attribute__((warn_unused_result));
/* Appends n uninitialised bytes and returns where they begin; NULL if the limit would be
 * exceeded. */
char *buf_grow(struct buf *b, size_t n) __attribute__((warn_unused_result));
/* Appends a string and aborts beyond the limit: only for text whose size the program bounds. */
void buf_str(struct buf *b, const char *s);
/* The same for a formatted text. */
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* Longest decimal number, in bytes. */
enum { BUF_NUMBER_MAX = 20 };

/* Writes a number in decimal at `to` and returns its end: much faster than a format. */
char *buf_digits(char to[static BUF_NUMBER_MAX], int64_t n);
/* Appends a number in decimal; like buf_str(). */
void buf_number(struct buf *b, int64_t n);
/* The content as a string, "" if there is none; valid until the buffer changes. */
const char *buf_text(const struct buf *b);
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
/* Memory that buf_reset() keeps: most objects fit, and a longer one does not occupy its memory
 * for ever. */
enum { BUF_KEPT = 256 << 10 };

/* Empties the buffer; keeps its memory if that is at most BUF_KEPT. */
void buf_reset(struct buf *b);
/* Returns the bytes as an owned string (never NULL) and empties the buffer. */
char *buf_take(struct buf *b);
/* Frees the memory. */
void buf_clear(struct buf *b);

#endif
