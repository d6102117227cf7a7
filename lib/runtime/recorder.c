#include "runtime/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "kube/exchange.h"

/* These limits apply to important Events and, separately, to all others. Sources: client-go's
 * tools/events (series) and tools/record/events_cache.go (spam filter). */
enum {
    SERIES_REFRESH_MS = 30 * 60 * 1000, /* how often a running series is written */
    SERIES_FORGET_MS = 6 * 60 * 1000,   /* an Event repeated after this starts anew */
    BURST = 25,                         /* Events of one object at once */
    REFILL_MS = 5 * 60 * 1000,          /* one more after this time */
    BURST_ALL = 100,                    /* for all objects: limits a starting fleet */
    REFILL_ALL_MS = 1000,               /* one more after this time */
    KEYS_MAX = 4096,                    /* series in memory; beyond, all are forgotten */
    IN_FLIGHT_MAX = 4,
    WAITING_MAX = 64,
    NOTE_MAX = 1000, /* the API accepts 1 kB */
};

/* A repeated Event of one object, counted as a series. Another message is another Event. */
struct series {
    char *key;
    char *name; /* of the Event object */
    int64_t count;
    int64_t last_ms, written_ms;
};

/* How many Events remain for an object, or for all objects. */
struct bucket {
    char *key;
    int tokens; /* counted from a full bucket: 0 = full, -1 = one used */
    int64_t filled_ms;
};

/* Important Events and others: neither uses the other's limit. */
enum { KINDS = 2 };

struct waiting {
    struct waiting *next;
    bool important;
    struct request request;
};

struct recorder {
    struct recorder_options o;
    struct map series;
    struct map buckets;
    struct bucket all[KINDS];
    struct waiting *head, *tail;
    size_t waiting[KINDS];
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
    while (r->head && (place = free_place(r)) && clock_mono_ms(r->o.clock) < r->o.fence(r->o.arg)) {
        struct waiting *w = r->head;
        r->head = w->next;
        if (!r->head)
            r->tail = NULL;
        r->waiting[w->important]--;
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

static void recorder_send(struct recorder *r, bool important, struct request request)
{
    if (r->waiting[important] >= WAITING_MAX) {
        request_clear(&request);
        r->dropped++;
        return;
    }
    struct waiting *w = xcalloc(1, sizeof *w);
    w->request = request;
    w->important = important;
    if (r->tail)
        r->tail->next = w;
    else
        r->head = w;
    r->tail = w;
    r->waiting[important]++;
    recorder_pump(r);
}

static void clear_series(struct map *m)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(m, &cursor))) {
        struct series *s = e->value;
        free(s->key);
        free(s->name);
        free(s);
    }
    map_clear(m);
}

static void clear_buckets(struct map *m)
{
    size_t cursor = 0;
    const struct map_entry *e;
    while ((e = map_next(m, &cursor))) {
        struct bucket *b = e->value;
        free(b->key);
        free(b);
    }
    map_clear(m);
}

/* Refills the bucket by the elapsed time; returns whether an Event remains. */
static bool recorder_fill(struct bucket *b, int burst, int64_t refill_ms, int64_t now)
{
    int64_t more = (now - b->filled_ms) / refill_ms;
    b->tokens = more < -b->tokens ? b->tokens + (int) more : 0;
    b->filled_ms += more * refill_ms;
    return b->tokens > -burst;
}

static bool take_token(struct recorder *r, const char *object, bool important)
{
    CLEANUP_FREE char *key = xasprintf("%s/%d", object, important);
    struct bucket *all = &r->all[important];
    int64_t now = loop_now(r->o.loop);
    struct bucket *b = map_get(&r->buckets, key);
    if (!b) {
        if (r->buckets.len >= KEYS_MAX)
            clear_buckets(&r->buckets);
        b = xcalloc(1, sizeof *b);
        *b = (struct bucket){ .key = xstrdup(key), .filled_ms = now };
        map_put(&r->buckets, b->key, b);
    }
    bool left = recorder_fill(b, BURST, REFILL_MS, now),
         left_of_all = recorder_fill(all, BURST_ALL, REFILL_ALL_MS, now);
    if (!left || !left_of_all)
        return false;
    b->tokens--;
    all->tokens--;
    return true;
}

static void post(struct recorder *r, const struct event *e, const char *name)
{
    char micro[CLOCK_TEXT_MAX];
    clock_rfc3339_micro(clock_wall_us(r->o.clock), micro);
    CLEANUP_FREE char *note = str_shortened(e->note, NOTE_MAX);
    CLEANUP_JSON json_t *event = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:{s:s, s:s, s:s, s:s}}",
        "apiVersion", "events.k8s.io/v1", "kind", "Event", "metadata", "name", name, "namespace",
        "default", "eventTime", micro, "reportingController", "ostler.dev/ostler",
        "reportingInstance", r->o.instance, "action", e->action, "reason", e->reason, "type",
        e->warning ? "Warning" : "Normal", "note", json_text(note), "regarding", "apiVersion",
        resource_api_version(e->regarding.resource), "kind",
        resource_get(e->regarding.resource)->kind, "name", e->regarding.name, "uid",
        e->regarding.uid);
    recorder_send(r, e->important, request_create(RESOURCE_EVENT, "default", event));
}

static void patch_series(struct recorder *r, bool important, struct series *s)
{
    char micro[CLOCK_TEXT_MAX];
    clock_rfc3339_micro(clock_wall_us(r->o.clock), micro);
    CLEANUP_JSON json_t *patch = json_pack("{s:{s:I, s:s}}", "series", "count",
                                           (json_int_t) s->count, "lastObservedTime", micro);
    s->written_ms = s->last_ms;
    recorder_send(r, important, request_merge_patch(RESOURCE_EVENT, "default", s->name, patch));
}

/* Takes the key. */
static struct series *series_new(struct recorder *r, const struct event *e, char *key_steal)
{
    if (r->series.len >= KEYS_MAX)
        clear_series(&r->series);
    struct series *s = xcalloc(1, sizeof *s);
    s->key = key_steal;
    map_put(&r->series, s->key, s);
    s->name = xasprintf("%.200s.%llx%llx", e->regarding.name,
                        (unsigned long long) clock_wall_us(r->o.clock),
                        (unsigned long long) r->serial++);
    return s;
}

void recorder_event(struct recorder *r, const struct event *e)
{
    const char *kind = resource_get(e->regarding.resource)->kind;
    CLEANUP_FREE char *object = xasprintf("%s/%s", kind, e->regarding.uid);
    if (!take_token(r, object, e->important)) {
        r->dropped++;
        return;
    }
    int64_t now = loop_now(r->o.loop);
    char *key = xasprintf("%s/%s/%s/%d/%016llx", object, e->action, e->reason, e->warning,
                          (unsigned long long) str_hash(e->note, strlen(e->note)));
    struct series *s = map_get(&r->series, key);
    bool fresh = !s || now - s->last_ms > SERIES_FORGET_MS;
    if (s && fresh) {
        map_remove(&r->series, key);
        free(s->key);
        free(s->name);
        free(TAKE(s));
    }
    if (s)
        free(key);
    else
        s = series_new(r, e, key);
    s->count++;
    s->last_ms = now;
    if (fresh)
        post(r, e, s->name);
    else if (s->count == 2 || now - s->written_ms > SERIES_REFRESH_MS)
        patch_series(r, e->important, s);
}

struct recorder *recorder_new(const struct recorder_options *o)
{
    struct recorder *r = xcalloc(1, sizeof *r);
    r->o = *o;
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
    while (r->head) {
        struct waiting *w = r->head;
        r->head = w->next;
        request_clear(&w->request);
        free(w);
    }
    clear_series(&r->series);
    clear_buckets(&r->buckets);
    free(r);
}
