/* Memory for one pass: what a reconcile builds lives here and is freed at once, so that decision
 * code needs no frees. */
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

/* Returns zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* A copy of a text. */
char *arena_strdup(struct arena *a, const char *s);
/* A formatted text. */
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
/* The same with a list of arguments, which it consumes. */
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);
/* Frees everything that the arena allocated. */
void arena_free(struct arena *a);

#endif
