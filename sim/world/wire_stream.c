/* Watches over the simulated network: frames, bookmarks and ends. */
#include <stdlib.h>
#include <string.h>

#include "sim/world/wire_state.h"

enum { BOOKMARK_MS = 60 * 1000 };

/* The frame for a stream whose version is too old. */
#define GONE_FRAME                                                                                 \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"   \
    "\"status\":\"Failure\","                                                                      \
    "\"message\":\"too old resource version\",\"reason\":\"Expired\",\"code\":410}}\n"

void stream_free(struct wire *w, struct stream *s)
{
    if (!s)
        return;
    sim_cancel(w->o.sim, &s->flush);
    sim_cancel(w->o.sim, &s->bookmark);
    sim_cancel(w->o.sim, &s->end);
    api_watch_free(s->watch);
    free(s);
}

/* Whether the server holds back data for this stream. */
static bool is_held(const struct flight *f)
{
    const struct wire *w = f->wire;
    return f->stream->silent ||
           (w->frozen && (!w->frozen_kind || w->frozen_kind == api_watch_kind(f->stream->watch)));
}

void stream_end(struct flight *f, enum err_kind kind, const char *message)
{
    stream_free(f->wire, TAKE(f->stream));
    sim_cancel(f->wire->o.sim, &f->event);
    flight_end(f, 200, kind, message);
}

static uint64_t *forgotten_rv(const struct flight *f)
{
    return &f->wire->forgotten_rv[kind_index(api_watch_kind(f->stream->watch))];
}

static void report_gone(struct flight *f)
{
    flight_put(f, GONE_FRAME, strlen(GONE_FRAME));
    stream_end(f, ERR_NONE, NULL);
}

void stream_gone(struct flight *f)
{
    *forgotten_rv(f) = api_rv(f->wire->o.api);
    report_gone(f);
}

/* Passes all new frames to the client; false if the stream has ended. */
static bool pull(struct flight *f, bool twice)
{
    const char *frame = NULL;
    size_t len = 0;
    enum api_watch_news news;
    size_t before = f->bytes.len, last = before;
    while ((news = api_watch_next(f->stream->watch, &frame, &len)) == API_WATCH_FRAME) {
        last = f->bytes.len;
        flight_put(f, frame, len);
    }
    if (twice && f->bytes.len > before) {
        CLEANUP_FREE char *copy = xstrndup(f->bytes.data + last, f->bytes.len - last);
        flight_put(f, copy, strlen(copy));
    }
    if (f->bytes.len > before)
        f->wire->counts.deliveries++;
    if (news != API_WATCH_GONE)
        return true;
    flight_put(f, frame, len);
    stream_end(f, ERR_NONE, NULL);
    return false;
}

static void end_by_fault(struct flight *f, enum fault_effect effect)
{
    if (effect == FAULT_FORGET)
        *forgotten_rv(f) = api_rv(f->wire->o.api);
    bool reset = effect == FAULT_RESET;
    stream_end(f, reset ? ERR_UNREACHABLE : ERR_NONE, reset ? "the connection was reset" : NULL);
}

/* A fault instead of data; true if there is nothing more to do now. */
static bool stopped(struct flight *f, const struct fault *fault)
{
    if (fault->effect == FAULT_DIE)
        f->client->o.die(f->client->o.arg);
    else if (fault->effect == FAULT_DELAY)
        sim_after(f->wire->o.sim, &f->stream->flush, fault->delay_ms);
    else if (fault->effect == FAULT_GONE)
        stream_gone(f);
    else if (fault->effect == FAULT_SILENCE)
        f->stream->silent = true;
    else if (fault->effect == FAULT_DUPLICATE)
        return false;
    else
        end_by_fault(f, fault->effect);
    return true;
}

static void on_flush(void *arg)
{
    struct flight *f = arg;
    struct wire *w = f->wire;
    if (is_held(f))
        return;
    const struct fault *fault = fault_draw(w->o.faults, FAULT_FRAMES, REQUEST_WATCH, NULL,
                                           w->o.sim->now_ms);
    if (fault && stopped(f, fault))
        return;
    if (pull(f, fault && fault->effect == FAULT_DUPLICATE))
        flight_report(f);
}

static void put_bookmark(struct flight *f)
{
    size_t len;
    const char *text = api_watch_bookmark(f->stream->watch, &len);
    if (text)
        flight_put(f, text, len);
}

static void on_bookmark(void *arg)
{
    struct flight *f = arg;
    sim_after(f->wire->o.sim, &f->stream->bookmark, BOOKMARK_MS);
    if (is_held(f) || !pull(f, false))
        return;
    put_bookmark(f);
    flight_report(f);
}

/* A server that holds back data also holds back the end: the client's timeout ends the stream. */
static void on_end(void *arg)
{
    struct flight *f = arg;
    if (is_held(f) || !pull(f, false))
        return;
    put_bookmark(f);
    stream_end(f, ERR_NONE, NULL);
}

static void on_patience_over(void *arg)
{
    struct flight *f = arg;
    stream_free(f->wire, TAKE(f->stream));
    flight_end(f, 200, ERR_TIMEOUT, "the stream went on for too long");
}

/* The status line arrives first; new frames follow. */
static void on_open(void *arg)
{
    struct flight *f = arg;
    f->status_due = true;
    f->event.fn = on_patience_over;
    sim_at(f->wire->o.sim, &f->event, f->deadline_ms);
    flight_report(f);
    if (api_watch_rv(f->stream->watch) < *forgotten_rv(f))
        report_gone(f);
    else
        stream_wake(f);
}

void stream_open(struct flight *f, struct api_watch *watch_steal)
{
    struct sim *sim = f->wire->o.sim;
    struct stream *s = xcalloc(1, sizeof *s);
    *s = (struct stream){ .watch = watch_steal,
                          .flush = { .fn = on_flush, .arg = f },
                          .bookmark = { .fn = on_bookmark, .arg = f },
                          .end = { .fn = on_end, .arg = f } };
    f->stream = s;
    f->event.fn = on_open;
    sim_after(sim, &f->event, wire_latency(f->wire));
    sim_after(sim, &s->bookmark, BOOKMARK_MS);
    sim_after(sim, &s->end, api_watch_timeout_ms(s->watch));
}

void stream_notice(struct flight *f, const struct api_commit *c)
{
    if (!heap_holds(&f->stream->flush.item) && f->event.fn != on_open &&
        api_watch_wants(f->stream->watch, c))
        stream_wake(f);
}

void stream_wake(struct flight *f)
{
    if (!heap_holds(&f->stream->flush.item))
        sim_after(f->wire->o.sim, &f->stream->flush, wire_latency(f->wire));
}
