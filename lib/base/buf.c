#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct buf *b, size_t need)
{
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap *= 2;
    b->data = xreallocarray(b->data, cap, 1);
    b->cap = cap;
}

char *buf_grow(struct buf *b, size_t n)
{
    if (n > b->max - b->len)
        return NULL;
    reserve(b, b->len + n + 1);
    char *bytes = b->data + b->len;
    b->len += n;
    b->data[b->len] = '\0';
    return bytes;
}

bool buf_add(struct buf *b, const void *bytes, size_t n)
{
    char *to = buf_grow(b, n);
    if (to && n)
        memcpy(to, bytes, n);
    return to != NULL;
}

void buf_str(struct buf *b, const char *s)
{
    bool fits = buf_add(b, s, strlen(s));
    assert(fits);
    (void) fits;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    char text[256]; /* enough for most texts */
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int len = vsnprintf(text, sizeof text, fmt, ap);
    if (len >= 0 && (size_t) len < sizeof text) {
        buf_str(b, text);
    } else {
        CLEANUP_FREE char *s = xvasprintf(fmt, again);
        buf_str(b, s);
    }
    va_end(again);
    va_end(ap);
}

char *buf_digits(char to[static BUF_NUMBER_MAX], int64_t n)
{
    if (n >= 0 && n < 10) { /* most numbers */
        *to = (char) ('0' + n);
        return to + 1;
    }
    char digits[BUF_NUMBER_MAX];
    size_t len = 0;
    uint64_t rest = n < 0 ? -(uint64_t) n : (uint64_t) n;
    do
        digits[len++] = (char) ('0' + rest % 10);
    while (rest /= 10);
    if (n < 0)
        *to++ = '-';
    while (len)
        *to++ = digits[--len];
    return to;
}

void buf_number(struct buf *b, int64_t n)
{
    char text[BUF_NUMBER_MAX + 1];
    *buf_digits(text, n) = '\0';
    buf_str(b, text);
}

const char *buf_text(const struct buf *b)
{
    return b->data ? b->data : "";
}

void buf_consume(struct buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0)
        return;
    b->len -= n;
    memmove(b->data, b->data + n, b->len + 1);
}

void buf_reset(struct buf *b)
{
    if (b->cap > BUF_KEPT)
        buf_clear(b);
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

char *buf_take(struct buf *b)
{
    char *s = b->data ? b->data : xstrdup("");
    *b = (struct buf){ .max = b->max };
    return s;
}

void buf_clear(struct buf *b)
{
    free(b->data);
    *b = (struct buf){ .max = b->max };
}
