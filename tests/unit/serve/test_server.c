#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { ANSWER_TIMEOUT_MS = 5000 };

/* `arg` is the sentence, or NULL. */
static char *says(void *arg)
{
    return arg ? xstrdup(arg) : NULL;
}

static const struct health_check alive[] = { { "loop", says, NULL } };
static const struct health_check ready[] = { { "cache", says, NULL },
                                             { "api", says, "connection refused" } };

/* `arg`: how many lines. */
static void write_metrics(void *arg, struct buf *out)
{
    for (size_t i = 0; i < *(size_t *) arg; i++)
        buf_printf(out, "m{i=\"%06zu\"} 1\n", i);
}

static struct server *start(size_t *metric_lines)
{
    const struct server_options o = {
        .listen = "127.0.0.1:0",
        .healthz = { "healthz", alive, ARRAY_LEN(alive) },
        .readyz = { "readyz", ready, ARRAY_LEN(ready) },
        .metrics = write_metrics,
        .metrics_arg = metric_lines,
    };
    struct err e = { 0 };
    struct server *s = server_new(&o, &e);
    if (!s)
        fail_msg("%s", err_msg(&e));
    return s;
}

static int dial(const struct server *s)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t) server_port(s)),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *) &to, sizeof to), 0);
    return fd;
}

/* Serves and reads until the server closes; true when it did in time. */
static bool read_all(struct server *s, int fd, struct buf *out)
{
    struct clock clock = clock_system();
    int64_t deadline = clock_mono_ms(&clock) + ANSWER_TIMEOUT_MS;
    while (clock_mono_ms(&clock) < deadline) {
        char part[65536];
        ssize_t n = recv(fd, part, sizeof part, MSG_DONTWAIT);
        if (n > 0)
            assert_true(buf_add(out, part, (size_t) n));
        else if (n == 0 || errno != EAGAIN)
            return true;
        else
            assert_int_equal(server_run_once(s, 10), 0);
    }
    return false;
}

/* Sends bytes and gives all that comes back. */
static void exchange(struct server *s, const char *bytes, struct buf *out)
{
    int fd = dial(s);
    assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
    if (!read_all(s, fd, out))
        fail_msg("no end of the answer to %s: %s", bytes, buf_text(out));
    close(fd);
}

#define GET(target) "GET " target " HTTP/1.1\r\nHost: x\r\n\r\n"
#define TEXT "content-type: text/plain; charset=utf-8\r\n"

static const struct row {
    const char *name;
    const char *request;
    const char *status; /* the status line's beginning; "" when the connection just ends */
    const char *head;   /* a part of the head, or NULL */
    const char *body;   /* NULL: whatever it says */
} rows[] = {
    { "healthz", GET("/healthz"), "HTTP/1.1 200 OK\r\n", TEXT, "ok" },
    { "one check", GET("/healthz/loop"), "HTTP/1.1 200 OK\r\n", "content-length: 2\r\n", "ok" },
    { "a slash at the end asks all", GET("/healthz/"), "HTTP/1.1 200 OK\r\n", TEXT, "ok" },
    { "no such check", GET("/healthz/x"), "HTTP/1.1 404 Not Found\r\n", TEXT,
      "healthz has no check \"x\"\n" },
    { "readyz fails with the sentence", GET("/readyz"), "HTTP/1.1 500 Internal Server Error\r\n",
      TEXT, "[+]cache ok\n[-]api failed: connection refused\nreadyz check failed\n" },
    { "parameters", GET("/readyz?verbose&exclude=api"), "HTTP/1.1 200 OK\r\n", TEXT,
      "[+]cache ok\n[+]api excluded: ok\nreadyz check passed\n" },
    { "parameters with escapes", GET("/readyz?exclude=%61pi"), "HTTP/1.1 200 OK\r\n", NULL, "ok" },
    { "metrics", GET("/metrics"), "HTTP/1.1 200 OK\r\n",
      "content-type: text/plain; version=0.0.4; charset=utf-8\r\n",
      "m{i=\"000000\"} 1\nm{i=\"000001\"} 1\n" },
    { "nothing below metrics", GET("/metrics/x"), "HTTP/1.1 404 ", TEXT, NULL },
    { "HEAD has the length and no body", "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\n", "content-length: 32\r\n", "" },
    { "elsewhere", GET("/"), "HTTP/1.1 404 Not Found\r\n", TEXT,
      "the paths are /metrics, /healthz and /readyz\n" },
    { "a longer name is elsewhere", GET("/healthzz"), "HTTP/1.1 404 ", NULL, NULL },
    { "HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "connection: close\r\n",
      "ok" },
    { "DELETE", "DELETE /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 ",
      "allow: GET, HEAD\r\n", NULL },
    { "POST", "POST /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 ", "allow: GET, HEAD\r\n",
      NULL },
    { "a GET with a body", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 400 ", NULL, NULL },
    { "a GET with an empty body", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 ", NULL, "ok" },
    { "a request behind another's body",
      "POST /x HTTP/1.1\r\nContent-Length: 18446744073709551617\r\nContent-Length: -1\r\n\r\nGET "
      "/healthz HTTP/1.1\r\n\r\n",
      "HTTP/1.1 405 ", NULL, NULL },
    { "pipelined requests: the first is answered", GET("/healthz") GET("/readyz"),
      "HTTP/1.1 200 OK\r\n", NULL, "ok" },
    { "an unknown upgrade",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\n",
      "HTTP/1.0 403 ", NULL, NULL },
    { "HTTP/2",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nHTTP2-Settings: "
      "AAMAAABkAAQAAP__\r\nConnection: Upgrade, "
      "HTTP2-Settings\r\n\r\n",
      "", NULL, NULL },
    { "HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.0 403 ", NULL, NULL },
    { "WebSocket",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: "
      "Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
      "", NULL, NULL },
    { "CONNECT", "CONNECT other:1 HTTP/1.1\r\nHost: other:1\r\n\r\n", "", NULL, NULL },
    { "no HTTP at all", "\x16\x03\x01\x02\x01\x01\x01\x01\x01\r\n\r\n", "HTTP/1.0 403 ", NULL,
      NULL },
};

static void check_row(void **state)
{
    const struct row *row = *state;
    size_t lines = 2;
    struct server *s = start(&lines);
    CLEANUP_BUF struct buf answer = BUF_INIT(1 << 20);
    exchange(s, row->request, &answer);
    const char *text = buf_text(&answer);
    if (!str_has_prefix(text, row->status) || (*row->status == '\0' && *text != '\0'))
        fail_msg("want %s: %s", row->status, text);
    if (row->head)
        assert_non_null(strstr(text, row->head));
    if (row->body) {
        const char *body = strstr(text, "\r\n\r\n");
        assert_non_null(body);
        assert_string_equal(body + 4, row->body);
    }
    server_free(s);
}

static void large_answers_come_whole(void **state)
{
    (void) state;
    size_t lines = 200000;
    struct server *s = start(&lines);
    CLEANUP_BUF struct buf answer = BUF_INIT(16 << 20), want = BUF_INIT(16 << 20);
    exchange(s, GET("/metrics"), &answer);
    write_metrics(&lines, &want);
    const char *body = strstr(buf_text(&answer), "\r\n\r\n");
    assert_non_null(body);
    assert_true(strcmp(body + 4, buf_text(&want)) == 0);
    server_free(s);
}

static void a_request_in_pieces_is_answered(void **state)
{
    (void) state;
    size_t lines = 0;
    struct server *s = start(&lines);
    int fd = dial(s);
    for (const char *p = GET("/healthz"); *p; p++) {
        assert_int_equal(send(fd, p, 1, MSG_NOSIGNAL), 1);
        assert_int_equal(server_run_once(s, 5), 0);
    }
    CLEANUP_BUF struct buf answer = BUF_INIT(4096);
    assert_true(read_all(s, fd, &answer));
    assert_true(str_has_prefix(buf_text(&answer), "HTTP/1.1 200 OK\r\n"));
    close(fd);
    server_free(s);
}

static void headers_up_to_the_limit_are_read(void **state)
{
    (void) state;
    size_t lines = 0;
    struct server *s = start(&lines);
    for (int length = 7000; length <= 20000; length += 13000) {
        CLEANUP_FREE char *request = xasprintf(
            "GET /healthz HTTP/1.1\r\nAuthorization: Bearer %0*d\r\n\r\n", length, 0);
        CLEANUP_BUF struct buf answer = BUF_INIT(4096);
        exchange(s, request, &answer);
        bool answered = str_has_prefix(buf_text(&answer), "HTTP/1.1 200 OK\r\n");
        assert_int_equal(answered, length < 8192);
    }
    server_free(s);
}

enum { CROWD = 700 };

/* A crowd of clients that say `bytes` and then nothing more. */
static void crowd_in(struct server *s, const char *bytes, int fds[CROWD])
{
    for (int i = 0; i < CROWD; i++) {
        fds[i] = dial(s);
        /* An evicted one may be closed already. */
        (void) !send(fds[i], bytes, strlen(bytes), MSG_NOSIGNAL);
        assert_int_equal(server_run_once(s, 0), 0);
    }
}

static void check_probe_in_a_crowd(void **state)
{
    size_t lines = 100000; /* a scrape of 1.7 MB, which no socket takes at once */
    struct server *s = start(&lines);
    int fds[CROWD];
    crowd_in(s, *state, fds);
    CLEANUP_BUF struct buf answer = BUF_INIT(4096);
    struct clock clock = clock_system();
    int64_t before = clock_mono_ms(&clock);
    exchange(s, GET("/healthz"), &answer);
    assert_true(str_has_prefix(buf_text(&answer), "HTTP/1.1 200 OK\r\n"));
    assert_true(clock_mono_ms(&clock) - before < 2000);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
    server_free(s);
}

static void scrapes_beyond_the_memory_are_refused(void **state)
{
    (void) state;
    size_t lines = 100000;
    struct server *s = start(&lines);
    int fds[12];
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = dial(s);
        send(fds[i], GET("/metrics"), strlen(GET("/metrics")), MSG_NOSIGNAL);
        for (int turn = 0; turn < 5; turn++)
            server_run_once(s, 1);
    }
    CLEANUP_BUF struct buf answer = BUF_INIT(4096);
    exchange(s, GET("/metrics"), &answer);
    assert_true(str_has_prefix(buf_text(&answer), "HTTP/1.1 503 Service Unavailable\r\n"));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    server_free(s);
}

/* A program's own descriptors behind one epoll descriptor. */
struct program {
    int epoll;
    int event;
    int calls;
};

static void on_program(void *arg)
{
    struct program *p = arg;
    p->calls++;
    struct epoll_event ready_event;
    while (epoll_wait(p->epoll, &ready_event, 1, 0) == 1) {
        uint64_t value;
        assert_int_equal(read(ready_event.data.fd, &value, sizeof value), sizeof value);
    }
}

static void adopted_descriptors_are_called_when_readable(void **state)
{
    (void) state;
    size_t lines = 0;
    struct server *s = start(&lines);
    CLEANUP_ERR struct err e = { 0 };
    struct program p = { .epoll = epoll_create1(EPOLL_CLOEXEC),
                         .event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
    assert_int_equal(epoll_ctl(p.epoll, EPOLL_CTL_ADD, p.event,
                               &(struct epoll_event){ .events = EPOLLIN, .data.fd = p.event }),
                     0);
    assert_int_equal(server_adopt(s, p.epoll, on_program, &p, &e), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(server_run_once(s, 1), 0);
    assert_int_equal(p.calls, 0);
    assert_int_equal(write(p.event, &(uint64_t){ 1 }, 8), 8);
    for (int i = 0; i < 5 && p.calls == 0; i++)
        assert_int_equal(server_run_once(s, -1), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(server_run_once(s, 0), 0);
    assert_int_equal(p.calls, 1);
    server_free(s);
    /* The caller's descriptor is still open. */
    assert_int_equal(epoll_wait(p.epoll, &(struct epoll_event){ 0 }, 1, 0), 0);
    close(p.epoll);
    close(p.event);
}

static void waits_are_bounded_and_do_not_spin(void **state)
{
    (void) state;
    size_t lines = 0;
    struct server *s = start(&lines);
    struct clock clock = clock_system();
    int64_t start_ms = clock_mono_ms(&clock);
    assert_int_equal(server_run_once(s, 0), 0);
    int turns = 0;
    while (clock_mono_ms(&clock) - start_ms < 300) {
        assert_int_equal(server_run_once(s, 100), 0);
        turns++;
    }
    assert_true(turns <= 6); /* three, and what starting left over */
    assert_true(clock_mono_ms(&clock) - start_ms < 1000);
    server_free(s);
}

static void nothing_is_left_open(void **state)
{
    (void) state;
    size_t lines = 0;
    int before = dup(0);
    close(before);
    struct server *s = start(&lines);
    int event = eventfd(0, EFD_CLOEXEC), client = dial(s);
    assert_int_equal(server_adopt(s, event, on_program, NULL, NULL), 0);
    server_run_once(s, 10);
    server_free(s);
    close(event);
    close(client);
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

static void a_bad_address_is_an_error(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    const struct server_options o = { .listen = "nowhere", .metrics = write_metrics };
    assert_null(server_new(&o, &e));
    assert_int_equal(e.kind, ERR_INVALID);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_row, rows);
    suite_add(&s, "a large answer comes whole", large_answers_come_whole, NULL);
    suite_add(&s, "a request that comes byte by byte is answered", a_request_in_pieces_is_answered,
              NULL);
    suite_add(&s, "headers up to the limit are read", headers_up_to_the_limit_are_read, NULL);
    suite_add(&s, "700 silent clients do not keep a probe out", check_probe_in_a_crowd, "");
    suite_add(&s, "700 clients with half a request do not", check_probe_in_a_crowd,
              "GET /healthz HTTP/1.1\r\nHost: ");
    suite_add(&s, "700 clients that do not take their answer do not", check_probe_in_a_crowd,
              GET("/metrics"));
    suite_add(&s, "scrapes beyond the memory for them are refused",
              scrapes_beyond_the_memory_are_refused, NULL);
    suite_add(&s, "an adopted descriptor is called when it is readable",
              adopted_descriptors_are_called_when_readable, NULL);
    suite_add(&s, "waits are bounded and do not spin", waits_are_bounded_and_do_not_spin, NULL);
    suite_add(&s, "nothing is left open", nothing_is_left_open, NULL);
    suite_add(&s, "a bad address is an error", a_bad_address_is_an_error, NULL);
    return suite_run(&s, "server");
}
