#include "base/heap.h"

#include <stdlib.h>

#include "base/mem.h"

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_put(struct heap *h, size_t i, struct heap_item *item)
{
    h->items[i] = item;
    item->place = i + 1;
}

static void sift_up(struct heap *h, size_t i)
{
    struct heap_item *item = h->items[i];
    for (; i > 0 && before(item, h->items[(i - 1) / 2]); i = (i - 1) / 2)
        heap_put(h, i, h->items[(i - 1) / 2]);
    heap_put(h, i, item);
}

static void sift_down(struct heap *h, size_t i)
{
    struct heap_item *item = h->items[i];
    for (size_t child; (child = 2 * i + 1) < h->len; i = child) {
        if (child + 1 < h->len && before(h->items[child + 1], h->items[child]))
            child++;
        if (!before(h->items[child], item))
            break;
        heap_put(h, i, h->items[child]);
    }
    heap_put(h, i, item);
}

void heap_set(struct heap *h, struct heap_item *item, int64_t at)
{
    heap_remove(h, item);
    if (h->len == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 16;
        h->items = xreallocarray(h->items, h->cap, sizeof *h->items);
    }
    item->at = at;
    item->order = h->next_order++;
    heap_put(h, h->len++, item);
    sift_up(h, h->len - 1);
}

void heap_remove(struct heap *h, struct heap_item *item)
{
    if (!item->place)
        return;
    size_t i = item->place - 1;
    item->place = 0;
    struct heap_item *last = h->items[--h->len];
    if (last == item)
        return;
    heap_put(h, i, last);
    sift_up(h, i);
    sift_down(h, last->place - 1);
}

struct heap_item *heap_first(const struct heap *h)
{
    return h->len ? h->items[0] : NULL;
}

bool heap_holds(const struct heap_item *item)
{
    return item->place != 0;
}

void heap_clear(struct heap *h)
{
    free(h->items);
    *h = (struct heap){ 0 };
}
