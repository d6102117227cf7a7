/* A queue of keys: each key is in it once, is worked on once at a time, and can return after a
 * delay. Semantics of client-go: a key added during its work is due again afterwards; failures
 * back off per key. */
#ifndef OSTLER_RUNTIME_QUEUE_H
#define OSTLER_RUNTIME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/map.h"

enum {
    /* Per key: 5 ms, doubled after each consecutive failure, at most 1000 s (client-go's default
     * item limiter). */
    QUEUE_BACKOFF_FIRST_MS = 5,
    QUEUE_BACKOFF_MAX_MS = 1000 * 1000,
    /* Another writer's change arrives by watch, mostly within milliseconds. A retry before that
     * would decide the same again. */
    QUEUE_OVERTAKEN_MS = 250,
};

/* How work on a key ended. */
enum queue_end {
    QUEUE_WELL,
    QUEUE_FAILED,
    QUEUE_OVERTAKEN, /* another writer came first: its change adds the key again */
};

struct queue_item;

/* Zero-initialised = empty. */
struct queue {
    struct map items; /* by key: all keys that wait, are delayed, in progress or failed */
    struct queue_item *head, *tail; /* due now, in order */
    struct heap delayed;
    size_t depth;           /* due now */
    int64_t backoff_max_ms; /* most milliseconds between retries; 0: QUEUE_BACKOFF_MAX_MS */
    uint64_t adds, retries;
};

/* Makes a key due now. */
void queue_add(struct queue *q, const char *key);
/* Makes a key due at `at`, or earlier if it was due earlier. */
void queue_add_at(struct queue *q, const char *key, int64_t at);
/* The next due key, or NULL. It is in progress, and borrowed, until queue_done(). */
const char *queue_take(struct queue *q, int64_t now);
/* Ends the work on a key. A key added during its work is due at once. A failed key returns after
 * its backoff. An overtaken key returns when it is added, or after QUEUE_OVERTAKEN_MS if its
 * backoff is shorter. Neither returns before retry_after_ms (-1: none from the server), which
 * parks the key. A parked key may still be read, without a request. */
void queue_done(struct queue *q, const char *key, enum queue_end end, int64_t retry_after_ms,
                int64_t now);
/* Until when the API server asked for no requests for a key; 0: it did not, or the key has
 * succeeded since. */
int64_t queue_parked_until(const struct queue *q, const char *key);
/* Ends the work on a parked key without a request: it is due at queue_parked_until(), and its
 * failures stay. */
void queue_put_back(struct queue *q, const char *key);
/* When the next delayed key is due; INT64_MAX if there is none, INT64_MIN if a key is due now. */
int64_t queue_deadline(const struct queue *q);
/* Consecutive failures of a key. */
int queue_failures(const struct queue *q, const char *key);
/* Removes all keys. */
void queue_clear(struct queue *q);

#endif
