#include "runtime/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "kube/exchange.h"

/* These limits apply to each share of Events. Sources: client-go's tools/events (series) and
 * tools/record/events_cache.go (spam filter). */
enum {
    SERIES_REFRESH_MS = 30 * 60 * 1000, /* how often a running series is written */
    SERIES_FORGET_MS = 6 * 60 * 1000,   /* an Event repeated after this starts anew */
    BURST = 25,                         /* Events of one object at once */
    REFILL_MS = 5 * 60 * 1000,          /* one more after this time */
    BURST_ALL = 100,                    /* for all objects: limits a starting fleet */
    REFILL_ALL_MS = 1000,               /* one more after this time */
    KEYS_MAX = 4096,                    /* series in memory; beyond, all are forgotten */
    SWEEP_FROM = 64,                    /* series in memory from which the ended ones are dropped */
    KEY_MAX = 17,                       /* a hash in hexadecimal */
    IN_FLIGHT_MAX = 4,
    WAITING_MAX = 64,
    NOTE_MAX = 1000, /* the API accepts 1 kB */
};

/* A repeated Event of one object, counted as a series. Another message is another Event. */
struct series {
    int64_t began_us; /* with `serial` in the name of the Event object */
    uint64_t serial;
    int64_t count;
    int64_t last_ms, written_ms;
};

/* How many Events remain for an object, or for all objects. */
struct bucket {
    int tokens; /* counted from a full bucket: 0 = full, -1 = one used */
    int64_t filled_ms;
};

struct waiting {
    STAILQ_ENTRY(waiting) link;
    enum event_share share;
    struct request request;
};

struct recorder {
    struct recorder_options o;
    struct map series;
    struct map buckets;
    struct bucket all[EVENT_SHARES];
    STAILQ_HEAD(, waiting) queue;
    size_t waiting[EVENT_SHARES];
    struct exchange sending[IN_FLIGHT_MAX];
    uint64_t dropped, serial;
};

static struct exchange *free_place(struct recorder *r)
{
    for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
        if (!r->sending[i].id)
            return &r->sending[i];
    return NULL;
}

static void recorder_pump(struct recorder *r)
{
    struct exchange *place;
    struct waiting *w;
    while ((w = STAILQ_FIRST(&r->queue)) && (place = free_place(r)) &&
           clock_mono_ms(r->o.clock) < r->o.fence(r->o.arg)) {
        STAILQ_REMOVE_HEAD(&r->queue, link);
        r->waiting[w->share]--;
        exchange_send(place, w->request);
        free(w);
    }
}

static void recorder_on_reply(void *arg, struct reply *reply)
{
    struct recorder *r = arg;
    r->dropped += reply->err.kind != ERR_NONE;
    recorder_pump(r);
}

static void recorder_send(struct recorder *r, enum event_share share, struct request request)
{
    if (r->waiting[share] >= WAITING_MAX) {
        request_clear(&request);
        r->dropped++;
        return;
    }
    struct waiting *w = xcalloc(1, sizeof *w);
    w->request = request;
    w->share = share;
    STAILQ_INSERT_TAIL(&r->queue, w, link);
    r->waiting[share]++;
    recorder_pump(r);
}

/* Refills the bucket by the elapsed time; returns whether an Event remains. */
static bool recorder_fill(struct bucket *b, int burst, int64_t refill_ms, int64_t now)
{
    int64_t more = (now - b->filled_ms) / refill_ms;
    b->tokens = more < -b->tokens ? b->tokens + (int) more : 0;
    b->filled_ms += more * refill_ms;
    return b->tokens > -burst;
}

/* ---- what is remembered */

/* Whether a series or a bucket is as if it were not there. */
static bool series_is_over(void *value, int64_t now)
{
    return now - ((const struct series *) value)->last_ms > SERIES_FORGET_MS;
}

static bool bucket_is_over(void *value, int64_t now)
{
    struct bucket *b = value;
    recorder_fill(b, BURST, REFILL_MS, now);
    return b->tokens == 0;
}

static void forget_over(struct map *m, bool (*is_over)(void *value, int64_t now), int64_t now)
{
    struct map kept = { 0 };
    MAP_EACH (e, m) {
        if (is_over(e->value, now))
            free(e->value);
        else
            map_put(&kept, e->key, e->value);
    }
    map_clear(m);
    *m = kept;
}

/* The value of what a text names, zeroed if it is new. The text's hash stands for it: texts of this
 * length would take more memory than all else here. */
static void *entry_of(struct map *m, const char *text, size_t size,
                      bool (*is_over)(void *value, int64_t now), int64_t now)
{
    char key[KEY_MAX];
    snprintf(key, sizeof key, "%016llx", (unsigned long long) str_hash(text, strlen(text)));
    void *value = map_get(m, key);
    if (value)
        return value;
    if (m->len >= SWEEP_FROM && (m->len & (m->len - 1)) == 0) /* 64, 128, 256, … */
        forget_over(m, is_over, now);
    if (m->len >= KEYS_MAX)
        map_clear_with(m, free);
    return map_make(m, key, size, size);
}

/* What is refused for all objects leaves no bucket behind. */
static bool take_token(struct recorder *r, const char *object, enum event_share share)
{
    CLEANUP_FREE char *key = xasprintf("%s/%d", object, (int) share);
    struct bucket *all = &r->all[share];
    int64_t now = loop_now(r->o.loop);
    if (!recorder_fill(all, BURST_ALL, REFILL_ALL_MS, now))
        return false;
    struct bucket *b = entry_of(&r->buckets, key, sizeof *b, bucket_is_over, now);
    if (!b->filled_ms)
        b->filled_ms = now;
    if (!recorder_fill(b, BURST, REFILL_MS, now))
        return false;
    b->tokens--;
    all->tokens--;
    return true;
}

/* ---- requests */

/* The name of the Event object, which no other has. */
static char *event_name(const struct series *s, const struct notice *n)
{
    return xasprintf("%.200s.%llx%llx", n->name, (unsigned long long) s->began_us,
                     (unsigned long long) s->serial);
}

static void post(struct recorder *r, const struct notice *n, const struct series *s)
{
    char micro[CLOCK_TEXT_MAX];
    clock_rfc3339_micro(clock_wall_us(r->o.clock), micro);
    CLEANUP_FREE char *name = event_name(s, n);
    CLEANUP_FREE char *note = str_shortened(n->note, NOTE_MAX);
    CLEANUP_JSON json_t *event = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:{s:s, s:s, s:s, s:s}}",
        "apiVersion", "events.k8s.io/v1", "kind", "Event", "metadata", "name", name, "namespace",
        "default", "eventTime", micro, "reportingController", "ostler.dev/ostler",
        "reportingInstance", r->o.instance, "action", n->action, "reason", n->reason, "type",
        n->warning ? "Warning" : "Normal", "note", json_text(note), "regarding", "apiVersion",
        resource_api_version(n->resource), "kind", resource_get(n->resource)->kind, "name", n->name,
        "uid", n->uid);
    recorder_send(r, n->share, request_create(RESOURCE_EVENT, "default", event));
}

static void patch_series(struct recorder *r, const struct notice *n, struct series *s)
{
    char micro[CLOCK_TEXT_MAX];
    clock_rfc3339_micro(clock_wall_us(r->o.clock), micro);
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:I, s:s}}", "series", "count",
                                           (json_int_t) s->count, "lastObservedTime", micro);
    CLEANUP_FREE char *name = event_name(s, n);
    s->written_ms = s->last_ms;
    recorder_send(r, n->share, request_merge_patch(RESOURCE_EVENT, "default", name, patch));
}

void recorder_event(struct recorder *r, const struct notice *n)
{
    CLEANUP_FREE char *object = xasprintf("%s/%s", resource_get(n->resource)->kind, n->uid);
    if (!take_token(r, object, n->share)) {
        r->dropped++;
        return;
    }
    int64_t now = loop_now(r->o.loop);
    CLEANUP_FREE char *key = xasprintf("%s/%s/%s/%d/%016llx", object, n->action, n->reason,
                                       n->warning,
                                       (unsigned long long) str_hash(n->note, strlen(n->note)));
    struct series *s = entry_of(&r->series, key, sizeof *s, series_is_over, now);
    bool fresh = s->count == 0 || series_is_over(s, now);
    if (fresh)
        *s = (struct series){ .began_us = clock_wall_us(r->o.clock), .serial = r->serial++ };
    s->count++;
    s->last_ms = now;
    if (fresh)
        post(r, n, s);
    else if (s->count == 2 || now - s->written_ms > SERIES_REFRESH_MS)
        patch_series(r, n, s);
}

struct recorder *recorder_new(const struct recorder_options *o)
{
    struct recorder *r = xcalloc(1, sizeof *r);
    r->o = *o;
    STAILQ_INIT(&r->queue);
    /* The responses are not read. */
    for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
        r->sending[i] = (struct exchange){
            .transport = o->transport, .done = recorder_on_reply, .arg = r, .loses = true
        };
    return r;
}

uint64_t recorder_dropped(const struct recorder *r)
{
    return r->dropped;
}

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < IN_FLIGHT_MAX; i++)
        exchange_cancel(&r->sending[i]);
    for (struct waiting *w; (w = STAILQ_FIRST(&r->queue));) {
        STAILQ_REMOVE_HEAD(&r->queue, link);
        request_clear(&w->request);
        free(w);
    }
    map_clear_with(&r->series, free);
    map_clear_with(&r->buckets, free);
    free(r);
}
