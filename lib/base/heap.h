/* A binary heap of deadlines. Its owner embeds each item; items with equal deadlines keep their
 * order. */
#ifndef OSTLER_BASE_HEAP_H
#define OSTLER_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised = in no heap. */
struct heap_item {
    int64_t at;
    uint64_t order;
    size_t place; /* index + 1; 0: not in the heap */
};

/* Zero-initialised = empty. */
struct heap {
    struct heap_item **items;
    size_t len, cap;
    uint64_t next_order;
};

/* Inserts the item, or moves it if it is already in the heap. */
void heap_set(struct heap *h, struct heap_item *item, int64_t at);
/* Removes the item; no effect if it is not in the heap. */
void heap_remove(struct heap *h, struct heap_item *item);
/* The earliest item, or NULL. */
struct heap_item *heap_first(const struct heap *h);
/* Whether the item is in a heap. */
bool heap_holds(const struct heap_item *item);
/* Removes all items (their owners free them) and frees the memory. */
void heap_clear(struct heap *h);

#endif
