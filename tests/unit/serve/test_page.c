#include "serve/page.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "serve/ring.h"
#include "serve/server.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/web_client.h"

enum { TIMEOUT_S = 2, STALL_S = 4, RING_SIZE = 64 << 10, LARGE = 4 << 20, CROWD = 200 };

static const struct page_file files[] = {
    { "/", "text/html; charset=utf-8", "<p>page\n", 8 },
    { "/app.js", "text/javascript; charset=utf-8", "go()\n", 5 },
};

struct world {
    struct web_client client;
    struct server *server;
    struct page *page;
    struct ring *ring;
    struct page_body *large; /* one body for all that ask for it */
};

static void answer(void *arg, const struct http1_request *r, struct page_answer *ret)
{
    struct world *w = arg;
    struct buf text = BUF_INIT(4096);
    if (str_eq(r->target, "/large")) {
        ret->status = 200;
        ret->body = page_body_ref(w->large);
        return;
    }
    if (str_eq(r->target, "/own")) {
        struct buf own = BUF_INIT(LARGE);
        assert_non_null(buf_grow(&own, LARGE - 1));
        ret->status = 200;
        ret->body = page_body_new(&own);
        return;
    }
    ret->status = str_eq(r->target, "/data.json") || str_eq(r->target, "/events") ? 200 : 404;
    ret->stream = str_eq(r->target, "/events");
    ret->from = ring_end(w->ring);
    buf_str(&text, ret->stream ? "retry: 1\n\n" : "{}");
    if (ret->status == 200 && !ret->stream)
        strcpy(ret->tag, "me-7");
    ret->body = page_body_new(&text);
}

static void write_metrics(void *arg, struct buf *out)
{
    (void) arg;
    buf_str(out, "m 1\n");
}

static void turn(void *arg)
{
    const struct world *w = arg;
    assert_int_equal(server_run_once(w->server, 1), 0);
}

static int open_world(void **state)
{
    static struct world world;
    struct world *w = &world;
    struct err e = { 0 };
    struct buf large = BUF_INIT(2 * LARGE);
    char *bytes = buf_grow(&large, LARGE);
    assert_non_null(bytes);
    memset(bytes, 'x', LARGE);
    *w = (struct world){ .ring = ring_new(RING_SIZE), .large = page_body_new(&large) };
    const struct server_options so = { .listen = "", .metrics = write_metrics };
    w->server = server_new(&so, &e);
    assert_non_null(w->server);
    const struct page_options o = { .listen = "127.0.0.1:0",
                                    .hosts = "fleet.example",
                                    .timeout_s = TIMEOUT_S,
                                    .stall_s = STALL_S,
                                    .files = files,
                                    .file_count = ARRAY_LEN(files),
                                    .beside = w->server,
                                    .ring = w->ring,
                                    .answer = answer,
                                    .arg = w };
    w->page = page_new(&o, &e);
    if (!w->page)
        fail_msg("%s", err_msg(&e));
    w->client = (struct web_client){ page_port(w->page), turn, w };
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    struct world *w = *state;
    server_free(w->server);
    page_free(w->page);
    ring_free(w->ring);
    page_body_unref(w->large);
    return 0;
}

/* ---- one request */

#define GET_OF(target, host, more) "GET " target " HTTP/1.1\r\nHost: " host "\r\n" more "\r\n"
#define GET(target, more) GET_OF(target, "localhost:1", more)
#define SITE(site) "Sec-Fetch-Site: " site "\r\n"
#define OPENED "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"

static const struct row {
    const char *name;
    const char *request;
    int status;
    const char *head; /* a part of the head, or NULL */
    const char *body; /* a part of the body; "": it has none */
} rows[] = {
    { "the page", GET("/", ""), 200, "content-type: text/html; charset=utf-8\r\n", "<p>page\n" },
    { "a file", GET("/app.js", ""), 200, "cache-control: max-age=300\r\n", "go()\n" },
    { "data", GET("/data.json", ""), 200, "content-type: application/json\r\n", "{}" },
    { "data is not kept", GET("/data.json", ""), 200, "cache-control: no-store\r\n", "{}" },
    { "data has its tag", GET("/data.json", ""), 200, "etag: \"me-7\"\r\n", "{}" },
    { "data that has not changed", GET("/data.json", "If-None-Match: \"me-7\"\r\n"), 304,
      "etag: \"me-7\"\r\n", "" },
    { "data that has changed", GET("/data.json", "If-None-Match: \"me-6\"\r\n"), 200, NULL, "{}" },
    { "one of several tags", GET("/data.json", "If-None-Match: \"a\", \"me-7\"\r\n"), 304, NULL,
      "" },
    { "HEAD has the length and no body", "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", 200,
      "content-length: 8\r\n", "" },
    { "HEAD of a stream ends", "HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n", 200,
      "content-type: text/event-stream\r\n", "" },
    { "HEAD of another Host has no body", "HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421,
      "content-type: text/plain", "" },
    { "elsewhere", GET("/x", ""), 404, NULL, "{}" },
    { "another Host", GET_OF("/", "evil.example", ""), 421, NULL, "--fleet-hosts" },
    { "another Host for data", GET_OF("/data.json", "evil.example:1", ""), 421, NULL, "localhost" },
    { "another Host for a stream", GET_OF("/events", "evil.example:1", ""), 421, NULL,
      "localhost" },
    { "a forwarded prefix proves nothing",
      GET_OF("/", "evil.example", "X-Forwarded-Host: localhost\r\nX-Forwarded-Uri: /proxy/\r\n"),
      421, NULL, "localhost" },
    { "a Host that is allowed", GET_OF("/", "Fleet.example:443", ""), 200, NULL, "<p>page\n" },
    { "no Host", "GET / HTTP/1.1\r\n\r\n", 421, NULL, "localhost" },
    { "two Hosts", GET("/", "Host: evil.example\r\n"), 400, NULL, "repeated" },
    { "the page's own request", GET("/data.json", SITE("same-origin")), 200, NULL, "{}" },
    { "what a user typed", GET("/data.json", SITE("none") OPENED), 200, NULL, "{}" },
    { "another site's request", GET("/data.json", SITE("cross-site")), 403, NULL, "another site" },
    { "a neighbour's request", GET("/data.json", SITE("same-site")), 403, NULL, "another site" },
    { "another site's image", GET("/", SITE("cross-site") "Sec-Fetch-Mode: no-cors\r\n"), 403, NULL,
      "another site" },
    { "another site's frame",
      GET("/", SITE("cross-site") "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"), 403,
      NULL, "another site" },
    { "another site's link to the page", GET("/", SITE("cross-site") OPENED), 200, NULL, "<p>" },
    { "another site's link to data", GET("/data.json", SITE("cross-site") OPENED), 403, NULL,
      "another site" },
    { "another site's stream", GET("/events", SITE("cross-site")), 403, NULL, "another site" },
    { "POST", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405,
      "allow: GET, HEAD\r\n", "only GET" },
    { "a GET with a body", GET("/", "Content-Length: 1\r\n") "x", 400, NULL, "body" },
    { "an upgrade is a plain GET",
      GET("/", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"), 200,
      NULL, "<p>" },
    { "no HTTP at all", "\x16\x03\x01\r\n\r\n", 400, NULL, "request" },
};

/* What every answer has, also a refusal. */
static const char *const always[] = {
    "\r\ncontent-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n",
    "\r\nx-content-type-options: nosniff\r\n",
    "\r\nx-frame-options: DENY\r\n",
    "\r\nreferrer-policy: no-referrer\r\n",
    "\r\ncross-origin-opener-policy: same-origin\r\n",
    "\r\ncross-origin-resource-policy: same-origin\r\n",
    "\r\ncache-control: ",
    "\r\nconnection: close\r\n",
};

static void check_answer(const char *text, const struct row *row)
{
    CLEANUP_FREE char *status = xasprintf("HTTP/1.1 %d ", row->status);
    if (!str_has_prefix(text, status))
        fail_msg("want %s: %s", status, text);
    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (!strstr(text, always[i]))
            fail_msg("no %s in %s", always[i], text);
    assert_null(strcasestr(text, "set-cookie"));
    assert_null(strcasestr(text, "access-control"));
    if (row->head && !strstr(text, row->head))
        fail_msg("no %s in %s", row->head, text);
    const char *body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    if (*row->body ? !strstr(body, row->body) : body[4] != '\0')
        fail_msg("want the body \"%s\": %s", row->body, text);
}

static void check_row(void **state)
{
    const struct row *row = *state;
    void *opened;
    open_world(&opened);
    struct world *w = opened;
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    web_exchange(&w->client, row->request, &out);
    check_answer(buf_text(&out), row);
    close_world(&opened);
}

static void files_have_tags_by_their_content(void **state)
{
    struct world *w = *state;
    CLEANUP_BUF struct buf page = BUF_INIT(4096), script = BUF_INIT(4096), again = BUF_INIT(4096);
    web_exchange(&w->client, GET("/", ""), &page);
    web_exchange(&w->client, GET("/app.js", ""), &script);
    const char *tag = strstr(buf_text(&page), "etag: ");
    assert_non_null(tag);
    CLEANUP_FREE char *value = xstrndup(tag + 6, strcspn(tag + 6, "\r"));
    assert_null(strstr(buf_text(&script), value));
    CLEANUP_FREE char *request = xasprintf(GET("/", "If-None-Match: %s\r\n"), value);
    web_exchange(&w->client, request, &again);
    assert_true(str_has_prefix(buf_text(&again), "HTTP/1.1 304 Not Modified\r\n"));
    assert_null(strstr(buf_text(&again), "<p>"));
}

static void large_heads_are_refused(void **state)
{
    struct world *w = *state;
    CLEANUP_FREE char *request = xasprintf(GET("/", "X: %09000d\r\n"), 0);
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    web_exchange(&w->client, request, &out);
    assert_true(str_has_prefix(buf_text(&out), "HTTP/1.1 431 "));
}

static void large_bodies_come_whole(void **state)
{
    struct world *w = *state;
    CLEANUP_BUF struct buf out = BUF_INIT(2 * LARGE);
    web_exchange(&w->client, GET("/large", ""), &out);
    const char *body = strstr(buf_text(&out), "\r\n\r\n");
    assert_non_null(body);
    assert_int_equal(strlen(body + 4), LARGE);
    web_turns(&w->client, 3);
    assert_int_equal(w->large->refs, 1);
}

/* Each keeps another body in memory: of a shared one there may be any number. */
static void slow_clients_keep_a_bounded_number_of_bodies(void **state)
{
    struct world *w = *state;
    int fds[8];
    CLEANUP_BUF struct buf refused = BUF_INIT(4096), large = BUF_INIT(2 * LARGE);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = web_dial(&w->client);
        web_say(fds[i], i < 5 ? GET("/large", "") : GET("/own", ""));
        web_turns(&w->client, 3);
    }
    for (size_t i = 0; i < 7; i++) {
        char head[16] = "";
        assert_int_equal(recv(fds[i], head, sizeof head - 1, 0), sizeof head - 1);
        assert_string_equal(head, "HTTP/1.1 200 OK");
    }
    web_exchange(&w->client, GET("/own", ""), &refused);
    assert_true(str_has_prefix(buf_text(&refused), "HTTP/1.1 503 "));
    web_exchange(&w->client, GET("/app.js", ""), &large);
    assert_true(str_has_prefix(buf_text(&large), "HTTP/1.1 200 "));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    web_turns(&w->client, 10);
    buf_reset(&large);
    web_exchange(&w->client, GET("/own", ""), &large);
    assert_true(str_has_prefix(buf_text(&large), "HTTP/1.1 200 "));
}

static void clients_that_say_nothing_are_closed(void **state)
{
    struct world *w = *state;
    int silent = web_dial(&w->client), half = web_dial(&w->client);
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    web_say(half, "GET / HTTP/1.1\r\nHost: ");
    assert_true(web_read(&w->client, silent, NULL, &out));
    assert_true(web_read(&w->client, half, NULL, &out));
    assert_int_equal(out.len, 0);
    close(silent);
    close(half);
}

/* ---- streams */

static int open_stream(struct world *w)
{
    int fd = web_dial(&w->client);
    web_say(fd, GET("/events", ""));
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    assert_true(web_read(&w->client, fd, "retry: 1\n\n", &out));
    assert_non_null(strstr(buf_text(&out), "content-type: text/event-stream\r\n"));
    assert_null(strstr(buf_text(&out), "content-length"));
    return fd;
}

static void publish(struct world *w, const char *frame)
{
    ring_add(w->ring, frame, strlen(frame));
    page_wake(w->page);
}

static void streams_get_each_frame(void **state)
{
    struct world *w = *state;
    publish(w, "before\n\n");
    int one = open_stream(w), two = open_stream(w);
    CLEANUP_BUF struct buf first = BUF_INIT(4096), second = BUF_INIT(4096);
    assert_int_equal(page_streams(w->page), 2);
    publish(w, "a\n\n");
    assert_true(web_read(&w->client, one, "a\n\n", &first));
    publish(w, "b\n\n");
    assert_true(web_read(&w->client, one, "b\n\n", &first));
    assert_true(web_read(&w->client, two, "b\n\n", &second));
    assert_string_equal(buf_text(&first), "a\n\nb\n\n");
    assert_string_equal(buf_text(&second), "a\n\nb\n\n");
    close(one);
    web_turns(&w->client, 3);
    assert_int_equal(page_streams(w->page), 1);
    close(two);
}

static void a_quiet_stream_outlives_every_timeout(void **state)
{
    struct world *w = *state;
    int fd = open_stream(w);
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    for (int64_t until = clock_now_ms() + (TIMEOUT_S + 1) * 1000; clock_now_ms() < until;)
        assert_int_equal(server_run_once(w->server, 100), 0);
    publish(w, "late\n\n");
    assert_true(web_read(&w->client, fd, "late\n\n", &out));
    close(fd);
}

static void a_stream_serves_no_second_request(void **state)
{
    struct world *w = *state;
    int fd = open_stream(w);
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    web_say(fd, GET("/", ""));
    assert_true(web_read(&w->client, fd, NULL, &out));
    assert_string_equal(buf_text(&out), "");
    assert_int_equal(page_streams(w->page), 0);
    close(fd);
}

static void the_65th_stream_is_refused(void **state)
{
    struct world *w = *state;
    int fds[PAGE_STREAMS_MAX];
    CLEANUP_BUF struct buf out = BUF_INIT(4096), page = BUF_INIT(4096), frame = BUF_INIT(4096);
    for (size_t i = 0; i < PAGE_STREAMS_MAX; i++)
        fds[i] = open_stream(w);
    web_exchange(&w->client, GET("/events", ""), &out);
    assert_true(str_has_prefix(buf_text(&out), "HTTP/1.1 503 "));
    assert_int_equal(page_counts(w->page).refused_streams, 1);
    assert_int_equal(page_streams(w->page), PAGE_STREAMS_MAX);
    web_exchange(&w->client, GET("/", ""), &page); /* others are still served */
    assert_true(str_has_prefix(buf_text(&page), "HTTP/1.1 200 "));
    publish(w, "a\n\n"); /* and none was pushed out */
    for (size_t i = 0; i < PAGE_STREAMS_MAX; i++) {
        buf_reset(&frame);
        assert_true(web_read(&w->client, fds[i], "a\n\n", &frame));
        close(fds[i]);
    }
    web_turns(&w->client, 10);
    assert_int_equal(page_streams(w->page), 0);
    close(open_stream(w)); /* a place is free again */
}

/* A client with small buffers, so that it falls behind soon. */
static int open_slow_stream(struct world *w)
{
    int fd = open_stream(w);
    const int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    return fd;
}

/* Frames until the ring has overwritten what a client that does not read has not got. */
static void publish_much(struct world *w, int megabytes)
{
    CLEANUP_FREE char *frame = xasprintf("data: %016000d\n\n", 1);
    for (size_t sent = 0; sent < (size_t) megabytes << 20; sent += strlen(frame)) {
        publish(w, frame);
        web_turns(&w->client, 1);
    }
}

static void a_stream_that_falls_behind_begins_anew(void **state)
{
    struct world *w = *state;
    int slow = open_slow_stream(w), quick = open_stream(w);
    CLEANUP_BUF struct buf out = BUF_INIT(64 << 20), other = BUF_INIT(4096);
    publish_much(w, 8);
    assert_true(web_read(&w->client, slow, "event: reset\ndata: {}\n\n", &out));
    assert_int_equal(page_counts(w->page).resets > 0, true);
    /* Whatever it was in the middle of, the next frame is whole. */
    assert_non_null(strstr(buf_text(&out), "\nevent: reset\ndata: {}\n\n"));
    publish(w, "data: next\n\n");
    assert_true(web_read(&w->client, slow, "\n\ndata: next\n\n", &out));
    close(slow);
    close(quick);
}

static void a_client_that_takes_nothing_is_closed(void **state)
{
    struct world *w = *state;
    int slow = open_slow_stream(w);
    publish_much(w, 8);
    assert_int_equal(page_streams(w->page), 1);
    for (int64_t until = clock_now_ms() + 3 * STALL_S * 1000;
         page_streams(w->page) && clock_now_ms() < until;)
        assert_int_equal(server_run_once(w->server, 100), 0);
    assert_int_equal(page_streams(w->page), 0);
    close(slow);
}

/* Half of them read, half never do; all come and go, and the page stays open for others. */
static void two_hundred_clients_come_and_go(void **state)
{
    static const char *const asks[] = { GET("/events", ""), GET("/large", ""),
                                        GET("/data.json", ""), "GET /ev" };
    struct world *w = *state;
    int fds[CROWD];
    CLEANUP_BUF struct buf out = BUF_INIT(4096);
    for (int i = 0; i < CROWD; i++) {
        fds[i] = web_dial(&w->client);
        (void) !send(fds[i], asks[i / 2 % 4], strlen(asks[i / 2 % 4]), MSG_NOSIGNAL);
        web_turns(&w->client, 1);
    }
    for (int round = 0; round < 300; round++) {
        char part[65536];
        publish(w, "data: x\n\n");
        web_turns(&w->client, 1);
        for (int i = 0; i < CROWD; i += 2)
            (void) !recv(fds[i], part, sizeof part, MSG_DONTWAIT);
        if (round % 3 == 0) { /* one leaves, another comes */
            close(fds[round % CROWD]);
            fds[round % CROWD] = web_dial(&w->client);
            (void) !send(fds[round % CROWD], asks[0], strlen(asks[0]), MSG_NOSIGNAL);
        }
    }
    assert_true(page_streams(w->page) <= PAGE_STREAMS_MAX);
    web_exchange(&w->client, GET("/", ""), &out);
    assert_true(str_has_prefix(buf_text(&out), "HTTP/1.1 200 "));
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
    web_turns(&w->client, 50);
    assert_int_equal(page_streams(w->page), 0);
    assert_int_equal(w->large->refs, 1);
}

static void nothing_is_left_open(void **state)
{
    (void) state;
    int before = dup(0);
    close(before);
    void *opened;
    open_world(&opened);
    struct world *w = opened;
    int stream = open_stream(w), silent = web_dial(&w->client);
    web_turns(&w->client, 3);
    close_world(&opened);
    close(stream);
    close(silent);
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

static void a_taken_port_is_an_error(void **state)
{
    struct world *w = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FREE char *address = xasprintf("127.0.0.1:%d", page_port(w->page));
    const struct page_options o = {
        .listen = address, .hosts = "", .beside = w->server, .ring = w->ring, .answer = answer
    };
    assert_null(page_new(&o, &e));
    assert_non_null(strstr(err_msg(&e), "--fleet-listen"));
}

static const struct suite_check checks[] = {
    { "files have tags by their content", files_have_tags_by_their_content },
    { "a head that is too large is refused", large_heads_are_refused },
    { "a large body comes whole, and is freed", large_bodies_come_whole },
    { "slow clients keep a bounded number of bodies",
      slow_clients_keep_a_bounded_number_of_bodies },
    { "clients that say nothing are closed", clients_that_say_nothing_are_closed },
    { "streams get each frame", streams_get_each_frame },
    { "a quiet stream outlives every timeout", a_quiet_stream_outlives_every_timeout },
    { "a stream serves no second request", a_stream_serves_no_second_request },
    { "the 65th stream is refused, and pushes none out", the_65th_stream_is_refused },
    { "a stream that falls behind begins anew", a_stream_that_falls_behind_begins_anew },
    { "a client that takes nothing is closed", a_client_that_takes_nothing_is_closed },
    { "200 clients, half of which never read, come and go", two_hundred_clients_come_and_go },
    { "a taken port is an error", a_taken_port_is_an_error },
};

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    SUITE_CHECKS(&s, checks, open_world, close_world);
    suite_add(&s, "nothing is left open", nothing_is_left_open, NULL);
    return suite_run(&s, "page");
}
