/* A life takes and gives back six million small pieces of memory for JSON values. malloc() keeps
 * few pieces of a size at hand and then searches; here each size has its own list, without limit.
 * Pieces are never given back to the system: the next life needs as many. */
#include "tests/sweep/pool.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/support/sanitized.h"

enum {
    UNIT = 16,
    SIZES = 33, /* up to 512 bytes, with the header */
    CHUNK = 1 << 20,
    TEXT_MAX = 256 << 20,
};

/* What precedes each piece: its size in units; 0: it is malloc()'s. */
typedef uint64_t header;

struct piece {
    struct piece *next;
};

static struct piece *lists[SIZES];
static char *fresh, *fresh_end; /* what was never used */

static void *mark(char *place, header size)
{
    header *h = (header *) (void *) place;
    *h = size;
    return h + 1;
}

static void *pool_malloc(size_t n)
{
    size_t size = (n + sizeof(header) + UNIT - 1) / UNIT;
    if (size >= SIZES) {
        char *place = xreallocarray(NULL, n + UNIT, 1);
        return mark(place + UNIT - sizeof(header), 0); /* as aligned as before */
    }
    struct piece *p = lists[size];
    if (p) {
        lists[size] = p->next;
        __builtin_prefetch(p->next); /* which is read when the next piece is taken */
        return p;
    }
    if ((size_t) (fresh_end - fresh) < size * UNIT) {
        fresh = xreallocarray(NULL, CHUNK, 1);
        fresh_end = fresh + CHUNK;
    }
    fresh += size * UNIT;
    return mark(fresh - size * UNIT, size);
}

static void pool_free(void *memory)
{
    if (!memory)
        return;
    header size = ((header *) memory)[-1];
    if (size == 0) {
        free((char *) memory - UNIT);
        return;
    }
    struct piece *p = memory;
    p->next = lists[size];
    lists[size] = p;
}

static int dump(const char *bytes, size_t n, void *arg)
{
    return buf_add(arg, bytes, n) ? 0 : -1;
}

/* Instead of jansson's, which is in a shared library: the text is free()d by those who asked for
 * it. */
char *json_dumps(const json_t *value, size_t flags)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    if (json_dump_callback(value, dump, &text, flags) == 0)
        return buf_take(&text);
    buf_clear(&text);
    return NULL;
}

void pool_hook_jansson(void)
{
    if (!SANITIZED)
        json_set_alloc_funcs(pool_malloc, pool_free);
}
