/* One pass's memory: what a reconcile builds lives here and goes at once, so decision code has no frees. */
#ifndef OSTLER_BASE_ARENA_H
#define OSTLER_BASE_ARENA_H

#include <stddef.h>

#include "base/mem.h"

struct arena_chunk;

/* Zero-initialised = empty. */
struct arena {
    struct arena_chunk *head;
};

#define CLEANUP_ARENA CLEANUP(arena_free)

/* Zeroed, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* A copy of a text. */
char *arena_strdup(struct arena *a, const char *s);
/* A text that is put together. */
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
/* Frees everything that was allocated from it. */
void arena_free(struct arena *a);

#endif
