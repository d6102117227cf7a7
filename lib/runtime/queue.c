#include "runtime/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct queue_item {
    struct heap_item delay;
    struct queue_item *next;
    bool queued;  /* in the list of due keys */
    bool working; /* taken and not done */
    bool dirty;   /* added during its work */
    int failures;
    int64_t parked_until; /* no request before, as the server asked; 0: not parked */
    char key[];
};

static struct queue_item *item_of(struct queue *q, const char *key)
{
    return MAP_MAKE(struct queue_item, key, &q->items, key);
}

/* Makes a key due now, or after the work on it. */
static void enqueue(struct queue *q, struct queue_item *it)
{
    it->dirty = it->working;
    if (it->working)
        return;
    heap_remove(&q->delayed, &it->delay);
    if (it->queued)
        return;
    it->queued = true;
    it->next = NULL;
    if (q->tail)
        q->tail->next = it;
    else
        q->head = it;
    q->tail = it;
    q->depth++;
}

void queue_add(struct queue *q, const char *key)
{
    struct queue_item *it = item_of(q, key);
    q->adds++;
    enqueue(q, it);
}

void queue_add_at(struct queue *q, const char *key, int64_t at)
{
    struct queue_item *it = item_of(q, key);
    if (it->queued || (heap_holds(&it->delay) && it->delay.at <= at))
        return;
    heap_set(&q->delayed, &it->delay, at);
}

static void take_due(struct queue *q, int64_t now)
{
    struct heap_item *first;
    while ((first = heap_first(&q->delayed)) && first->at <= now) {
        struct queue_item *it = container_of(first, struct queue_item, delay);
        heap_remove(&q->delayed, first);
        enqueue(q, it);
    }
}

const char *queue_take(struct queue *q, int64_t now)
{
    take_due(q, now);
    struct queue_item *it = q->head;
    if (!it)
        return NULL;
    q->head = it->next;
    if (!q->head)
        q->tail = NULL;
    q->depth--;
    it->queued = false;
    it->working = true;
    return it->key;
}

static int64_t backoff_ms(const struct queue *q, int failures)
{
    int64_t max = q->backoff_max_ms ? q->backoff_max_ms : QUEUE_BACKOFF_MAX_MS;
    int64_t ms = QUEUE_BACKOFF_FIRST_MS;
    for (int i = 1; i < failures && ms < max; i++)
        ms *= 2;
    return ms < max ? ms : max;
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void forget_idle(struct queue *q, struct queue_item *it)
{
    if (it->queued || it->working || it->failures || heap_holds(&it->delay))
        return;
    free(map_remove(&q->items, it->key));
}

void queue_done(struct queue *q, const char *key, enum queue_end end, int64_t retry_after_ms,
                int64_t now)
{
    struct queue_item *it = map_get(&q->items, key);
    if (!it)
        return;
    bool failed = end != QUEUE_WELL;
    bool again = it->dirty; /* what arrived meanwhile may fix the failure */
    it->working = it->dirty = false;
    it->failures = failed ? it->failures + 1 : 0;
    it->parked_until = failed && retry_after_ms > 0 ? now + retry_after_ms : 0;
    q->retries += failed;
    if (again) {
        enqueue(q, it);
    } else if (failed) {
        int64_t wait = longer(backoff_ms(q, it->failures),
                              end == QUEUE_OVERTAKEN ? QUEUE_OVERTAKEN_MS : 0);
        queue_add_at(q, key, now + longer(wait, retry_after_ms));
    }
    forget_idle(q, it);
}

int64_t queue_parked_until(const struct queue *q, const char *key)
{
    const struct queue_item *it = map_get(&q->items, key);
    return it ? it->parked_until : 0;
}

void queue_put_back(struct queue *q, const char *key)
{
    struct queue_item *it = map_get(&q->items, key);
    if (!it)
        return;
    it->working = it->dirty = false;
    queue_add_at(q, key, it->parked_until);
    forget_idle(q, it);
}

int64_t queue_deadline(const struct queue *q)
{
    if (q->head)
        return INT64_MIN;
    const struct heap_item *first = heap_first(&q->delayed);
    return first ? first->at : INT64_MAX;
}

int queue_failures(const struct queue *q, const char *key)
{
    const struct queue_item *it = map_get(&q->items, key);
    return it ? it->failures : 0;
}

void queue_clear(struct queue *q)
{
    map_clear_with(&q->items, free);
    heap_clear(&q->delayed);
    *q = (struct queue){ 0 };
}
