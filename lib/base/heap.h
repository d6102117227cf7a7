/* A binary heap of deadlines. Items are embedded in what they belong to; equal deadlines come out in the order they went in. */
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

/* Puts the item in, or moves it when it is in already. */
void heap_set(struct heap *h, struct heap_item *item, int64_t at);
/* Takes the item out; nothing happens when it is not in. */
void heap_remove(struct heap *h, struct heap_item *item);
/* The earliest item, or NULL. */
struct heap_item *heap_first(const struct heap *h);
/* Whether the item is in a heap. */
bool heap_holds(const struct heap_item *item);
/* Lets all items go, which are their owners' matter, and frees the memory. */
void heap_clear(struct heap *h);

#endif
