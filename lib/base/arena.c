#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, ALIGN = _Alignof(max_align_t) };

struct arena_chunk {
    struct arena_chunk *next;
    size_t used;
    size_t cap;
    max_align_t data[];
};

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        abort();
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct arena_chunk *c = a->head;
    if (!c || c->cap - c->used < size) {
        size_t cap = size > CHUNK ? size : CHUNK;
        c = xcalloc(1, sizeof *c + cap);
        c->cap = cap;
        c->next = a->head;
        a->head = c;
    }
    void *p = (char *) c->data + c->used;
    c->used += size;
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(arena_alloc(a, n), s, n);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    CLEANUP_FREE char *s = FORMATTED(fmt);
    return arena_strdup(a, s);
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    CLEANUP_FREE char *s = xvasprintf(fmt, ap);
    return arena_strdup(a, s);
}

void arena_free(struct arena *a)
{
    while (a->head) {
        struct arena_chunk *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}
