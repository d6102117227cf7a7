#include "client/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/failure.h"
#include "client/headers.h"
#include "client/http_failure.h"
#include "client/http_options.h"
#include "client/limits.h"
#include "client/sockets.h"
#include "client/warnings.h"

/* Requests that use each other's connections, one after the other: HTTP/1.1 has one request at a time on each. The lease has its
 * own, so that what happens to other requests does not touch it. */
enum lane_id { LANE_WATCH, LANE_UNARY, LANE_LEASE, LANE_COUNT };

struct lane {
    struct http *http;
    enum lane_id id;
    CURLM *multi;
    struct sockets sockets;
    int64_t timer_at; /* when libcurl wants to be called; INT64_MAX: not by time */
    int64_t close_at; /* when its connections are closed; INT64_MAX: it is in use, or has none */
    size_t running;
};

enum call_state {
    CALL_WAITING,   /* starts in the next turn, since libcurl takes no handle from inside its callbacks; a read, when there is room */
    CALL_RUNNING,
    CALL_CANCELLED, /* ends in this or the next turn, for the same reason */
};

struct call {
    struct call *next;
    uint64_t id;
    enum call_state state;
    struct lane *lane;
    struct transport_sink sink;
    struct request request;
    CURL *easy;
    struct http_lists lists;
    struct headers headers;
    size_t body_bytes;
    bool status_told;
    const char *refused; /* why we ended it ourselves; static text, NULL: we did not */
    int64_t started_at;
    char detail[CURL_ERROR_SIZE];
};

struct http {
    struct config *config;
    const struct clock *clock;
    int epoll_fd;
    struct lane lanes[LANE_COUNT];
    struct call *calls; /* oldest first */
    bool unsettled;     /* a call may be started or is to be freed */
    uint64_t last_id;
    unsigned tls_generation;
    struct warnings warnings;
    struct http_answers answers;
};

/* ---- libcurl's view of the loop */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    (void) easy;
    (void) socket_arg;
    struct lane *lane = arg;
    int epoll_fd = lane->http->epoll_fd;
    if (what == CURL_POLL_REMOVE) {
        (void) epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    struct epoll_event ev = { .data.u64 = (uint64_t) lane->id << 32 | (uint32_t) fd };
    ev.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    int rc = epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &ev);
    if (rc < 0 && errno == ENOENT)
        rc = epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev);
    return rc;
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
    (void) multi;
    struct lane *lane = arg;
    lane->timer_at = timeout_ms < 0 ? INT64_MAX : clock_mono_ms(lane->http->clock) + timeout_ms;
    return 0;
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void) purpose;
    struct lane *lane = arg;
    return sockets_open(&lane->sockets, address->family, address->socktype, address->protocol);
}

static int on_close(void *arg, curl_socket_t fd)
{
    struct lane *lane = arg;
    sockets_close(&lane->sockets, fd);
    return 0;
}

/* ---- what comes in; returning less than was given ends the transfer */

static size_t refuse(struct call *call, const char *why)
{
    call->refused = why;
    return 0;
}

static void tell_answer(const struct call *call, int status)
{
    if (call->lane->http->answers.fn)
        call->lane->http->answers.fn(call->lane->http->answers.arg, call->request.method, status);
}

static void finish_headers(struct call *call)
{
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || call->status_told) /* 100 Continue: the real one follows. Trailers: it was there */
        return;
    call->status_told = true;
    tell_answer(call, (int) status);
    if (call->headers.warning)
        warnings_log_once(&call->lane->http->warnings, call->headers.warning);
    if (call->sink.on_status)
        call->sink.on_status(call->sink.arg, (int) status);
}

static size_t on_header(char *line, size_t size, size_t n, void *arg)
{
    (void) size;
    struct call *call = arg;
    if (call->state == CALL_CANCELLED)
        return 0;
    if (!headers_add(&call->headers, line, n))
        return refuse(call, "the header of the answer is too long");
    if (n <= 2 && (*line == '\r' || *line == '\n'))
        finish_headers(call);
    return n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
    (void) size;
    struct call *call = arg;
    if (call->state == CALL_CANCELLED)
        return 0;
    call->body_bytes += n;
    if (call->request.class != REQUEST_WATCH && call->body_bytes > LIMIT_BODY_BYTES)
        return refuse(call, "the answer is too long");
    if (call->sink.on_bytes && call->sink.on_bytes(call->sink.arg, bytes, n) < 0)
        return refuse(call, "the answer is not taken: it is too long or not what was asked for");
    return n;
}

/* ---- one transfer */

static void set_callbacks(struct call *call)
{
    CURL *easy = call->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->detail);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call->lane);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, call->lane);
}

/* Reads wait, since lists are large. Writes never do: who submits them bounds them, and may submit them only for so long. */
static bool has_room(const struct call *call)
{
    return call->request.class != REQUEST_READ || call->lane->running < READ_CONNECTIONS;
}

/* Watches that were begun with another certificate or authority go on anew from where they were. All other requests are let
 * finish; libcurl itself does not use their connections again. */
static void drop_old_watches(struct http *h)
{
    if (h->tls_generation == h->config->tls_generation)
        return;
    h->tls_generation = h->config->tls_generation;
    sockets_drop(&h->lanes[LANE_WATCH].sockets);
}

static void start(struct http *h, struct call *call)
{
    config_refresh(h->config, clock_mono_ms(h->clock));
    drop_old_watches(h);
    call->easy = curl_easy_init();
    if (!call->easy)
        abort();
    http_options_set(call->easy, h->config, &call->request, &call->lists);
    set_callbacks(call);
    call->started_at = clock_mono_ms(h->clock);
    call->state = CALL_RUNNING;
    call->lane->running++;
    call->lane->close_at = INT64_MAX;
    curl_multi_add_handle(call->lane->multi, call->easy);
}

static void leave_lane(struct call *call)
{
    struct lane *lane = call->lane;
    curl_multi_remove_handle(lane->multi, call->easy);
    curl_easy_cleanup(call->easy);
    lane->running--;
    lane->http->unsettled = true; /* there is room for the next one */
    if (lane->running == 0)
        lane->close_at = clock_mono_ms(lane->http->clock) + IDLE_CLOSE_MS;
}

static void call_free(struct call *call)
{
    if (call->easy)
        leave_lane(call);
    http_lists_clear(&call->lists);
    headers_clear(&call->headers);
    request_clear(&call->request);
    free(call);
}

/* ---- how it ended */

/* Whether it failed, and how. */
static bool failure_of(const struct call *call, CURLcode code, int status, struct failure *ret)
{
    if (code == CURLE_OK && !call->status_told) /* nothing but a 1xx */
        code = CURLE_WEIRD_SERVER_REPLY;
    if (code == CURLE_OK && status != 401)
        return false;
    const struct clock *clock = call->lane->http->clock;
    http_failure_read(call->easy, code, ret);
    if (*call->detail)
        ret->detail = call->detail;
    ret->waited_ms = clock_mono_ms(clock) - call->started_at;
    ret->now_us = clock_wall_us(clock);
    return true;
}

/* What a failure means for the requests after this one. */
static void learn(struct call *call, const struct failure *f)
{
    if (f->kind == FAILURE_SERVER_CERT || f->kind == FAILURE_OWN_CERT || f->kind == FAILURE_TLS ||
        f->kind == FAILURE_UNAUTHORIZED)
        config_doubt(call->lane->http->config);
}

static void deliver(struct call *call, CURLcode code)
{
    long status = 0;
    struct failure f;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!call->status_told)
        tell_answer(call, 0);
    struct transport_result result = { .status = (int) status, .retry_after_ms = call->headers.retry_after_ms };
    if (call->refused) {
        err_set(&result.err, ERR_TOO_LARGE, "%s %s: %s", call->request.method, call->request.path, call->refused);
    } else if (failure_of(call, code, result.status, &f)) {
        failure_describe(&f, call->lane->http->config, &result.err);
        learn(call, &f);
    }
    if (call->sink.on_done)
        call->sink.on_done(call->sink.arg, &result);
    err_clear(&result.err);
}

static void unlink_call(struct http *h, const struct call *call)
{
    struct call **at = &h->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

/* Hands out every transfer that has ended. Sinks may submit and cancel: both only mark calls. */
static void finish_ended(struct lane *lane)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(lane->multi, &left))) {
        struct call *call = NULL;
        CURLcode code = message->data.result; /* gone once the handle is removed */
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **) &call);
        if (call->state == CALL_CANCELLED)
            continue; /* settle() frees it */
        unlink_call(lane->http, call);
        deliver(call, code);
        call_free(call);
    }
}

/* ---- lanes */

static void lane_init(struct http *h, enum lane_id id)
{
    struct lane *lane = &h->lanes[id];
    *lane = (struct lane){ .http = h, .id = id, .multi = curl_multi_init(), .timer_at = INT64_MAX, .close_at = INT64_MAX };
    if (!lane->multi)
        abort();
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long) CONNECTIONS_PER_LANE);
}

static void lane_clear(struct lane *lane)
{
    curl_multi_cleanup(lane->multi);
    sockets_clear(&lane->sockets);
}

/* Closes the connections of a lane on which nothing runs. What its last requests took goes back to the system. */
static void lane_renew(struct lane *lane)
{
    lane_clear(lane);
    lane_init(lane->http, lane->id);
    malloc_trim(0);
}

/* ---- turns */

/* Starts what waits and frees what is cancelled. Not from inside libcurl's callbacks. */
static void settle(struct http *h)
{
    if (!h->unsettled)
        return;
    h->unsettled = false;
    for (struct call **at = &h->calls; *at;) {
        struct call *call = *at;
        if (call->state == CALL_CANCELLED) {
            *at = call->next;
            call_free(call);
            continue;
        }
        if (call->state == CALL_WAITING && has_room(call))
            start(h, call);
        at = &call->next;
    }
}

static int curl_events(uint32_t events)
{
    return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

void http_turn(struct http *h)
{
    int running;
    settle(h);
    struct epoll_event events[EVENTS_PER_TURN];
    int n = epoll_wait(h->epoll_fd, events, EVENTS_PER_TURN, 0);
    for (int i = 0; i < n; i++) {
        struct lane *lane = &h->lanes[events[i].data.u64 >> 32];
        int fd = (int) (events[i].data.u64 & UINT32_MAX);
        curl_multi_socket_action(lane->multi, fd, curl_events(events[i].events), &running);
    }
    for (size_t i = 0; i < LANE_COUNT; i++) {
        struct lane *lane = &h->lanes[i];
        if (lane->timer_at <= clock_mono_ms(h->clock)) {
            lane->timer_at = INT64_MAX; /* libcurl sets the next one from inside */
            curl_multi_socket_action(lane->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        finish_ended(lane);
        if (lane->close_at <= clock_mono_ms(h->clock))
            lane_renew(lane);
    }
    settle(h);
}

int64_t http_deadline(const struct http *h)
{
    int64_t at = h->unsettled ? clock_mono_ms(h->clock) : INT64_MAX;
    for (size_t i = 0; i < LANE_COUNT; i++) {
        const struct lane *lane = &h->lanes[i];
        int64_t due = lane->timer_at < lane->close_at ? lane->timer_at : lane->close_at;
        if (due < at)
            at = due;
    }
    return at;
}

int http_fd(const struct http *h)
{
    return h->epoll_fd;
}

/* ---- the seam */

static enum lane_id lane_of(enum request_class class)
{
    switch (class) {
    case REQUEST_WATCH:
        return LANE_WATCH;
    case REQUEST_LEASE:
        return LANE_LEASE;
    case REQUEST_READ:
    case REQUEST_WRITE:
        break;
    }
    return LANE_UNARY;
}

static uint64_t submit(void *self, struct request *request_steal, const struct transport_sink *sink)
{
    struct http *h = self;
    struct call *call = xcalloc(1, sizeof *call);
    call->id = ++h->last_id;
    call->state = CALL_WAITING;
    call->lane = &h->lanes[lane_of(request_steal->class)];
    call->sink = *sink;
    call->request = *request_steal;
    call->headers.retry_after_ms = -1;
    struct call **end = &h->calls;
    while (*end)
        end = &(*end)->next;
    *end = call;
    h->unsettled = true;
    *request_steal = (struct request){ 0 };
    return call->id;
}

static void cancel(void *self, uint64_t id)
{
    struct http *h = self;
    for (struct call *call = h->calls; call; call = call->next) {
        if (call->id != id)
            continue;
        call->state = CALL_CANCELLED;
        h->unsettled = true;
        return;
    }
}

struct transport http_transport(struct http *h)
{
    return (struct transport){ .submit = submit, .cancel = cancel, .self = h };
}

void http_on_answer(struct http *h, struct http_answers answers)
{
    h->answers = answers;
}

/* ---- life */

struct http *http_new(struct config *config, const struct clock *clock, struct err *e)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        err_set(e, ERR_SYSTEM, "libcurl cannot be started");
        return NULL;
    }
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) {
        err_set(e, ERR_SYSTEM, "cannot make an epoll descriptor: %s", strerror(errno));
        curl_global_cleanup();
        return NULL;
    }
    struct http *h = xcalloc(1, sizeof *h);
    h->config = config;
    h->clock = clock;
    h->epoll_fd = epoll_fd;
    h->tls_generation = config->tls_generation;
    for (size_t i = 0; i < LANE_COUNT; i++)
        lane_init(h, (enum lane_id) i);
    return h;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    for (struct call *call = h->calls, *next; call; call = next) {
        next = call->next;
        call_free(call);
    }
    for (size_t i = 0; i < LANE_COUNT; i++)
        lane_clear(&h->lanes[i]);
    close(h->epoll_fd);
    free(h);
    curl_global_cleanup();
}
