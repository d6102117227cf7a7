/* A queue of keys: each key is there once, is worked on by one at a time, and comes back after a delay when asked. client-go's
 * semantics: a key that is added while it is being worked on is due again when that is over; failures back off per key. */
#ifndef OSTLER_RUNTIME_QUEUE_H
#define OSTLER_RUNTIME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/map.h"

enum {
    /* Per key: 5 ms, doubled at each failure in a row, at most 1000 s (client-go's default item limiter). */
    QUEUE_BACKOFF_FIRST_MS = 5,
    QUEUE_BACKOFF_MAX_MS = 1000 * 1000,
    /* What others wrote comes by watch, mostly within milliseconds: before it is here, the same would be decided again. */
    QUEUE_OVERTAKEN_MS = 250,
};

/* How the work on a key ended. */
enum queue_end {
    QUEUE_WELL,
    QUEUE_FAILED,
    QUEUE_OVERTAKEN, /* somebody wrote in between: what they wrote adds the key again */
};

struct queue_item;

/* Zero-initialised = empty. */
struct queue {
    struct map items;           /* by key: everything that is waiting, delayed, worked on or remembered for its failures */
    struct queue_item *head, *tail; /* due now, in order */
    struct heap delayed;
    size_t depth;               /* due now */
    int64_t backoff_max_ms;     /* at most this between failures; 0: QUEUE_BACKOFF_MAX_MS */
    uint64_t adds, retries;
};

/* Due now. */
void queue_add(struct queue *q, const char *key);
/* Due at `at`, or earlier when it was due earlier already. */
void queue_add_at(struct queue *q, const char *key, int64_t at);
/* The next key that is due, or NULL; it is being worked on until queue_done(). Borrowed until then. */
const char *queue_take(struct queue *q, int64_t now);
/* The work on a key is over. Added meanwhile, it is due again at once. Otherwise one that failed comes back after its backoff,
 * and one that was overtaken when it is added, or after QUEUE_OVERTAKEN_MS where its backoff is shorter; neither before
 * retry_after_ms (-1: the server asked for nothing), which parks the key. A parked key may be looked at, without a request. */
void queue_done(struct queue *q, const char *key, enum queue_end end, int64_t retry_after_ms, int64_t now);
/* Until when no request should be sent for a key, because the server asked for that; 0: it did not, or the key has done well
 * since. */
int64_t queue_parked_until(const struct queue *q, const char *key);
/* The work on a parked key ends without a request: due again at queue_parked_until(), its failures as they were. */
void queue_put_back(struct queue *q, const char *key);
/* When the next delayed key is due; INT64_MAX when none is. A key that is due now gives INT64_MIN. */
int64_t queue_deadline(const struct queue *q);
/* Failures of a key in a row. */
int queue_failures(const struct queue *q, const char *key);
/* Forgets all keys. */
void queue_clear(struct queue *q);

#endif
