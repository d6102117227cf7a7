/* One client of the simulated network: its requests and the responses to them. */
#include <stdlib.h>

#include "sim/world/wire_state.h"

/* ---- received data */

void flight_put(struct flight *f, const char *bytes, size_t n)
{
    if (!buf_add(&f->bytes, bytes, n))
        abort();
}

void flight_leave_news(struct flight *f)
{
    struct wire_client *c = f->client;
    if (!c || !f->in_news)
        return;
    struct flight **at = &c->news_head, *before = NULL;
    while (*at != f) {
        before = *at;
        at = &before->next_news;
    }
    *at = f->next_news;
    if (c->news_tail == f)
        c->news_tail = before;
    f->in_news = false;
}

void flight_free(struct flight *f)
{
    struct wire *w = f->wire;
    flight_leave_news(f);
    *(f->prev ? &f->prev->next : &w->head) = f->next;
    *(f->next ? &f->next->prev : &w->tail) = f->prev;
    sim_cancel(w->o.sim, &f->event);
    stream_free(w, f->stream);
    request_clear(&f->request);
    buf_clear(&f->bytes);
    err_clear(&f->result.err);
    free(f);
}

void flight_report(struct flight *f)
{
    struct wire_client *c = f->client;
    if (!c) {
        flight_free(f);
        return;
    }
    if (!f->in_news) {
        f->in_news = true;
        f->next_news = NULL;
        *(c->news_tail ? &c->news_tail->next_news : &c->news_head) = f;
        c->news_tail = f;
    }
    c->o.news(c->o.arg);
}

void flight_end(struct flight *f, int status, enum err_kind kind, const char *message)
{
    f->ended = true;
    f->result.status = status;
    if (message)
        err_set(&f->result.err, kind, "%s", message);
    flight_report(f);
}

/* The client has gone. A write on its way may still reach the server; other flights are freed. */
static void abandon(struct flight *f)
{
    flight_leave_news(f);
    f->client = NULL;
    bool may_arrive = f->phase == FLIGHT_GOING && *f->request.method != 'G';
    if (!may_arrive && f->phase != FLIGHT_SERVING)
        flight_free(f);
}

/* ---- the transport interface */

static uint64_t wire_client_submit(void *self, struct request *request_steal,
                                   const struct transport_sink *sink)
{
    struct wire_client *c = self;
    struct wire *w = c->wire;
    uint64_t id = ++w->last_id;
    if (c->cut) {
        request_clear(request_steal);
        return id;
    }
    if (w->o.sent)
        w->o.sent(w->o.arg, c, request_steal);
    struct flight *f = xcalloc(1, sizeof *f);
    *f = (struct flight){ .prev = w->tail,
                          .wire = w,
                          .client = c,
                          .user = c->o.user,
                          .user_agent = c->o.user_agent,
                          .id = id,
                          .request = *request_steal,
                          .sink = *sink,
                          .deadline_ms = w->o.sim->now_ms + request_steal->timeout_ms,
                          .event = { .fn = wire_arrive, .arg = f },
                          .bytes = BUF_INIT(WIRE_BYTES_MAX),
                          .result.retry_after_ms = -1 };
    *request_steal = (struct request){ 0 };
    *(w->tail ? &w->tail->next : &w->head) = f;
    w->tail = f;
    sim_after(w->o.sim, &f->event, wire_latency(w));
    return id;
}

/* A flight that the client waits for, or NULL. */
static struct flight *wire_client_find(const struct wire_client *c, uint64_t id)
{
    struct flight *f = c->wire->tail;
    while (f && f->id != id)
        f = f->prev;
    return f && f->client == c ? f : NULL;
}

static void wire_client_cancel(void *self, uint64_t id)
{
    struct flight *f = wire_client_find(self, id);
    if (f)
        abandon(f);
}

static void note_taken(const struct flight *f, struct wire_taken t)
{
    const struct wire *w = f->wire;
    t.request = &f->request;
    t.id = f->id;
    if (w->o.taken)
        w->o.taken(w->o.arg, f->client, &t);
}

/* Delivers the bytes in one piece or two; returns the flight, or NULL if it has ended. */
static struct flight *give_bytes(struct wire_client *c, struct flight *f)
{
    struct wire *w = c->wire;
    uint64_t id = f->id;
    struct transport_sink sink = f->sink;
    CLEANUP_BUF struct buf bytes = f->bytes;
    f->bytes = (struct buf) BUF_INIT(WIRE_BYTES_MAX);
    size_t cut = w->o.split_one_in && rng_one_in(&w->cuts, w->o.split_one_in)
                     ? rng_below(&w->cuts, bytes.len)
                     : 0;
    for (size_t at = 0, end = cut ? cut : bytes.len; f && at < bytes.len;
         at = end, end = bytes.len) {
        note_taken(f, (struct wire_taken){
                          .part = WIRE_BYTES, .bytes = bytes.data + at, .len = end - at });
        int taken = sink.on_bytes ? sink.on_bytes(sink.arg, bytes.data + at, end - at) : 0;
        f = wire_client_find(c, id);
        if (f && taken < 0) {
            f->ended = true;
            err_set(&f->result.err, ERR_TOO_LARGE, "the client rejects the answer");
            break;
        }
    }
    return f;
}

/* Whether the response ended abnormally. A watch that the client ends at its timeout has not. */
static bool is_broken(const struct flight *f)
{
    bool over_time = f->request.class == REQUEST_WATCH && f->result.status == 200 &&
                     f->result.err.kind == ERR_TIMEOUT;
    return f->result.err.kind != ERR_NONE && !over_time;
}

/* Delivers a flight's data; its sink may end this flight and any other at any moment. */
static void give(struct wire_client *c, struct flight *f)
{
    struct transport_sink sink = f->sink;
    uint64_t id = f->id;
    if (f->status_due)
        note_taken(f, (struct wire_taken){ .part = WIRE_STATUS, .status = f->result.status });
    if (f->status_due && sink.on_status) {
        sink.on_status(sink.arg, f->result.status);
        f = wire_client_find(c, id);
    }
    if (f)
        f->status_due = false;
    if (f && f->bytes.len)
        f = give_bytes(c, f);
    if (!f || !f->ended)
        return;
    enum request_class class = f->request.class;
    note_taken(f, (struct wire_taken){
                      .part = WIRE_END, .status = f->result.status, .broken = is_broken(f) });
    struct transport_result result = f->result;
    f->result.err = (struct err){ 0 };
    flight_free(f);
    sink.on_done(sink.arg, &result);
    err_clear(&result.err);
    if (fault_draw(c->wire->o.faults, FAULT_ANSWERED, class, NULL, c->wire->o.sim->now_ms))
        wire_client_cut(c);
}

/* The first flight with news; NULL: none has any. */
static struct flight *take_news(struct wire_client *c)
{
    struct flight *f = c->news_head;
    if (!f)
        return NULL;
    c->news_head = f->next_news;
    if (!c->news_head)
        c->news_tail = NULL;
    f->in_news = false;
    return f;
}

void wire_client_deliver(struct wire_client *c)
{
    struct flight *f;
    while ((f = take_news(c)) != NULL)
        give(c, f);
}

struct wire_client *wire_client_new(struct wire *w, const struct wire_client_options *o)
{
    struct wire_client *c = xcalloc(1, sizeof *c);
    *c = (struct wire_client){ .o = *o,
                               .wire = w,
                               .number = ++w->clients,
                               .transport = { wire_client_submit, wire_client_cancel, c } };
    return c;
}

void wire_client_cut(struct wire_client *c)
{
    c->cut = true;
    for (struct flight *f = c->wire->head, *next; f; f = next) {
        next = f->next;
        if (f->client == c)
            abandon(f);
    }
}

void wire_client_free(struct wire_client *c)
{
    if (!c)
        return;
    wire_client_cut(c);
    free(c);
}

bool wire_client_is_cut(const struct wire_client *c)
{
    return c->cut;
}

const struct transport *wire_client_transport(const struct wire_client *c)
{
    return &c->transport;
}

uint64_t wire_client_number(const struct wire_client *c)
{
    return c->number;
}
