#include "tests/unit/support/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/tree.h"

enum { TEXT_MAX = 64 * 1024, TURNS_MAX = 10000 };

/* ---- the clock */

static int64_t mono_ms(void *self)
{
    const struct world *w = self;
    return w->now_ms;
}

static int64_t wall_us(void *self)
{
    const struct world *w = self;
    return WORLD_EPOCH_US + w->now_ms * 1000;
}

/* ---- the transport */

static struct world_call *find(const struct world *w, uint64_t id)
{
    for (size_t i = 0; i < w->call_count; i++)
        if (w->calls[i].id == id)
            return &w->calls[i];
    return NULL;
}

static void forget(struct world *w, struct world_call *call)
{
    request_clear(&call->request);
    size_t i = (size_t) (call - w->calls);
    memmove(call, call + 1, (w->call_count - i - 1) * sizeof *call);
    w->call_count--;
}

static uint64_t submit(void *self, struct request *request_steal, const struct transport_sink *sink)
{
    struct world *w = self;
    w->calls = xreallocarray(w->calls, w->call_count + 1, sizeof *w->calls);
    w->calls[w->call_count++] = (struct world_call){ .id = ++w->submitted,
                                                     .request = *request_steal,
                                                     .sink = *sink };
    *request_steal = (struct request){ 0 };
    return w->submitted;
}

static void cancel(void *self, uint64_t id)
{
    struct world *w = self;
    struct world_call *call = find(w, id);
    if (!call)
        return;
    w->cancelled++;
    forget(w, call);
}

/* ---- answers */

static void wake(struct world *w)
{
    if (eventfd_write(w->wake_fd, 1) < 0)
        abort();
}

static void deliver_later(struct world *w, struct world_delivery delivery)
{
    w->deliveries = xreallocarray(w->deliveries, w->delivery_count + 1, sizeof *w->deliveries);
    w->deliveries[w->delivery_count++] = delivery;
    wake(w);
}

static void end(struct world *w, uint64_t id, const struct transport_result *result)
{
    struct world_call *call = find(w, id);
    struct transport_sink sink = call->sink;
    forget(w, call);
    sink.on_done(sink.arg, result);
}

static void deliver(struct world *w, const struct world_delivery *d)
{
    const struct world_call *call = find(w, d->id);
    if (!call) /* cancelled meanwhile */
        return;
    struct transport_sink sink = call->sink;
    switch (d->what) {
    case DELIVER_STATUS:
        if (sink.on_status)
            sink.on_status(sink.arg, d->result.status);
        break;
    case DELIVER_BYTES:
        if (sink.on_bytes && sink.on_bytes(sink.arg, d->bytes, strlen(d->bytes)) < 0)
            end(w, d->id,
                &(struct transport_result){
                    200, -1, 0, { ERR_TOO_LARGE, (char *) "the client rejects the answer" } });
        break;
    case DELIVER_DONE:
        end(w, d->id, &d->result);
        break;
    }
}

static void delivery_clear(struct world_delivery *d)
{
    free(d->bytes);
    err_clear(&d->result.err);
}

static void on_wake(void *arg)
{
    struct world *w = arg;
    eventfd_t count;
    if (eventfd_read(w->wake_fd, &count) < 0)
        return;
    /* What the sinks bring about is for the next turn. */
    size_t n = w->delivery_count;
    struct world_delivery *now = TAKE(w->deliveries);
    w->delivery_count = 0;
    for (size_t i = 0; i < n; i++) {
        deliver(w, &now[i]);
        delivery_clear(&now[i]);
    }
    free(now);
}

/* ---- life and time */

void world_init(struct world *w)
{
    *w = (struct world){ .now_ms = 1000,
                         .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                         .said = BUF_INIT(TEXT_MAX) };
    w->clock = (struct clock){ .mono_ms = mono_ms, .wall_us = wall_us, .self = w };
    w->transport = (struct transport){ .submit = submit, .cancel = cancel, .self = w };
    w->loop = loop_new(&w->clock);
    loop_add_fd(w->loop, w->wake_fd, on_wake, w);
    log_setup(LOG_ERROR, false);
}

void world_clear(struct world *w)
{
    loop_free(w->loop);
    close(w->wake_fd);
    buf_clear(&w->said);
    while (w->call_count)
        forget(w, &w->calls[w->call_count - 1]);
    free(w->calls);
    for (size_t i = 0; i < w->delivery_count; i++)
        delivery_clear(&w->deliveries[i]);
    free(w->deliveries);
}

void world_turn(struct world *w)
{
    loop_turn(w->loop);
}

static bool is_due(const struct world *w)
{
    return w->delivery_count > 0 || loop_deadline(w->loop) <= w->now_ms;
}

/* Turns until nothing is due at this time. */
static void settle(struct world *w)
{
    int turns = 0;
    do {
        if (++turns > TURNS_MAX)
            fail_msg("something is due again and again at %lld ms", (long long) w->now_ms);
        world_turn(w);
    } while (is_due(w));
}

void world_pass(struct world *w, int64_t ms)
{
    int64_t end_ms = w->now_ms + ms;
    settle(w);
    while (loop_deadline(w->loop) <= end_ms) {
        if (loop_deadline(w->loop) > w->now_ms)
            w->now_ms = loop_deadline(w->loop);
        settle(w);
    }
    if (end_ms > w->now_ms)
        w->now_ms = end_ms;
    settle(w);
}

void world_jump(struct world *w, int64_t ms)
{
    w->now_ms += ms;
}

/* ---- what the test sees and says */

size_t world_open(const struct world *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->call_count; i++)
        n += !w->calls[i].answered;
    return n;
}

struct world_call *world_call(const struct world *w, size_t place)
{
    size_t left = place;
    for (size_t i = 0; i < w->call_count; i++)
        if (!w->calls[i].answered && left-- == 0)
            return &w->calls[i];
    fail_msg("there is no request %zu", place);
    abort();
}

static void add_line(struct buf *b, const struct request *r)
{
    const char *timeout = strstr(r->path, "&timeoutSeconds=");
    int n = (int) (timeout ? (size_t) (timeout - r->path) : strlen(r->path));
    buf_printf(b, "%s%s %.*s", b->len ? "\n" : "", r->method, n, r->path);
}

void world_expect(const struct world *w, const char *lines)
{
    CLEANUP_BUF struct buf b = BUF_INIT(TEXT_MAX);
    for (size_t i = 0; i < w->call_count; i++)
        if (!w->calls[i].answered)
            add_line(&b, &w->calls[i].request);
    assert_string_equal(buf_text(&b), lines);
}

json_t *world_body(const struct world *w, size_t place)
{
    const char *text = world_call(w, place)->request.body;
    assert_non_null(text);
    return json_parse(text, strlen(text), NULL);
}

void world_expect_body(const struct world *w, size_t place, const char *body)
{
    CLEANUP_JSON json_t *got = world_body(w, place);
    assert_tree(got, body);
}

void world_say(struct world *w, const char *word)
{
    buf_printf(&w->said, "%s%s", w->said.len ? " " : "", word);
}

void world_expect_said(struct world *w, const char *want)
{
    assert_string_equal(buf_text(&w->said), want);
    buf_reset(&w->said);
}

void world_status(struct world *w, size_t place, int status)
{
    deliver_later(w, (struct world_delivery){ .what = DELIVER_STATUS,
                                              .id = world_call(w, place)->id,
                                              .result.status = status });
}

void world_bytes(struct world *w, size_t place, const char *text)
{
    deliver_later(w, (struct world_delivery){ .what = DELIVER_BYTES,
                                              .id = world_call(w, place)->id,
                                              .bytes = json_quoted(text) });
}

static void finish(struct world *w, size_t place, struct transport_result result)
{
    struct world_call *call = world_call(w, place);
    call->answered = true;
    result.date_s = w->date_s;
    deliver_later(
        w, (struct world_delivery){ .what = DELIVER_DONE, .id = call->id, .result = result });
}

void world_done(struct world *w, size_t place, int status)
{
    finish(w, place, (struct transport_result){ .status = status, .retry_after_ms = -1 });
}

void world_reply(struct world *w, size_t place, int status, const char *body)
{
    world_refuse(w, place, status, -1, body);
}

void world_refuse(struct world *w, size_t place, int status, int64_t retry_after_ms,
                  const char *body)
{
    world_status(w, place, status);
    if (*body)
        world_bytes(w, place, body);
    finish(w, place,
           (struct transport_result){ .status = status, .retry_after_ms = retry_after_ms });
}

void world_break(struct world *w, size_t place, int status, enum err_kind kind, const char *message)
{
    struct transport_result result = { .status = status, .retry_after_ms = -1 };
    err_set(&result.err, kind, "%s", message);
    finish(w, place, result);
}
