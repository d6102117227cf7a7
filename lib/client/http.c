#include "client/http.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "client/failure.h"
#include "client/headers.h"
#include "client/http_failure.h"
#include "client/http_lane.h"
#include "client/http_options.h"
#include "client/limits.h"
#include "client/tls_memory.h"

/* The lease has its own lane, so that other requests cannot affect it. */
enum lane_id { LANE_WATCH, LANE_UNARY, LANE_LEASE, LANE_COUNT };

enum { WAIT_MAX_MS = 60 * 1000 };

enum call_state {
    /* Starts in the next turn, since libcurl accepts no handle inside its callbacks; a read
     * waits for room. */
    CALL_WAITING,
    CALL_RUNNING,
    CALL_CANCELLED, /* ends in this or the next turn, for that reason */
    CALL_BROKEN,    /* fails in this or the next turn; `detail` says why */
};

struct call {
    TAILQ_ENTRY(call) link;
    uint64_t id;
    enum call_state state;
    struct http *http;
    struct lane *lane;
    struct transport_sink sink;
    struct request request;
    CURL *easy;
    struct http_lists lists;
    struct headers headers;
    bool status_told;
    const char *refused; /* why we ended it, static text; NULL: we did not */
    int64_t started_at;
    char detail[CURL_ERROR_SIZE];
};

struct http {
    struct config *config;
    const struct clock *clock;
    int epoll_fd;
    struct lane lanes[LANE_COUNT];
    TAILQ_HEAD(, call) calls; /* oldest first */
    bool unsettled;           /* calls must be started or freed */
    uint64_t last_id;
    unsigned tls_generation;
    uint64_t warnings[LIMIT_WARNINGS]; /* hashes of the logged `Warning:` headers */
    size_t warning_count;
    struct http_answers answers;
};

/* ---- callbacks for input; a result below the input's size ends the transfer */

static size_t http_refuse(struct call *call, const char *why)
{
    call->refused = why;
    return 0;
}

static void report_answer(const struct call *call, int status)
{
    if (call->http->answers.fn)
        call->http->answers.fn(call->http->answers.arg, call->request.method, status);
}

/* Logs a `Warning:` header of the API server (a deprecation) once, while there is room to remember
 * it. */
static void log_warning(struct http *h, const char *text)
{
    uint64_t hash = str_hash(text, strlen(text));
    for (size_t i = 0; i < h->warning_count; i++)
        if (h->warnings[i] == hash)
            return;
    if (h->warning_count == LIMIT_WARNINGS)
        return;
    h->warnings[h->warning_count++] = hash;
    log_warn("the API server warns", "warning", text);
}

static void finish_headers(struct call *call)
{
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    /* a 100 Continue precedes the real status; trailers follow it */
    if (status < 200 || call->status_told)
        return;
    call->status_told = true;
    report_answer(call, (int) status);
    if (call->headers.warning)
        log_warning(call->http, call->headers.warning);
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
        return http_refuse(call, "the header of the answer is too long");
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
    if (call->sink.on_bytes && call->sink.on_bytes(call->sink.arg, bytes, n) < 0)
        return http_refuse(call, "Ostler rejects the answer: it is too long or malformed");
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
}

/* Reads wait, since lists are large. Writes never wait: their caller limits their number, and
 * may submit them only until a deadline. */
static bool http_has_room(const struct call *call)
{
    return call->request.class != REQUEST_READ || call->lane->running < READ_CONNECTIONS;
}

/* The call fails in this or the next turn: it may be inside libcurl now. */
static void break_call(struct call *call, const char *what, const char *why)
{
    call->state = CALL_BROKEN;
    call->http->unsettled = true;
    snprintf(call->detail, sizeof call->detail, "%s%s", what, why);
}

/* Restarts watches that use another certificate or authority. Other requests finish; libcurl
 * does not reuse their connections. */
static void drop_old_watches(struct http *h)
{
    if (h->tls_generation == h->config->tls_generation)
        return;
    h->tls_generation = h->config->tls_generation;
    for (struct call *call = TAILQ_FIRST(&h->calls); call; call = TAILQ_NEXT(call, link))
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a freed call has left the list. */
        if (call->state == CALL_RUNNING && call->request.class == REQUEST_WATCH)
            break_call(call, "the certificates were renewed", "");
}

static void http_start(struct http *h, struct call *call)
{
    config_refresh(h->config, clock_mono_ms(h->clock));
    drop_old_watches(h);
    call->easy = http_options_new(h->config, &call->request, &call->lists);
    set_callbacks(call);
    call->started_at = clock_mono_ms(h->clock);
    call->state = CALL_RUNNING;
    lane_add(call->lane, call->easy);
}

static void call_free(struct call *call)
{
    if (call->easy) {
        lane_remove(call->lane, call->easy);
        call->http->unsettled = true; /* there is room for the next call */
    }
    http_lists_clear(&call->lists);
    headers_clear(&call->headers);
    request_clear(&call->request);
    free(call);
}

/* ---- results */

/* Whether it failed, and how. */
static bool failure_of(const struct call *call, CURLcode code, int status, struct failure *ret)
{
    if (code == CURLE_OK && !call->status_told) /* only a 1xx arrived */
        code = CURLE_WEIRD_SERVER_REPLY;
    if (code == CURLE_OK && status != 401)
        return false;
    const struct clock *clock = call->http->clock;
    http_failure_read(call->easy, code, ret);
    if (*call->detail)
        ret->detail = call->detail;
    ret->waited_ms = clock_mono_ms(clock) - call->started_at;
    ret->now_us = clock_wall_us(clock);
    return true;
}

/* Draws conclusions from a failure for later requests. */
static void learn(struct call *call, const struct failure *f)
{
    if (f->kind == FAILURE_SERVER_CERT || f->kind == FAILURE_OWN_CERT || f->kind == FAILURE_TLS ||
        f->kind == FAILURE_UNAUTHORIZED)
        config_doubt(call->http->config);
}

static void deliver(struct call *call, CURLcode code)
{
    long status = 0;
    struct failure f;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!call->status_told)
        report_answer(call, 0);
    struct transport_result result = { .status = (int) status,
                                       .retry_after_ms = call->headers.retry_after_ms,
                                       .date_s = call->headers.date_s };
    if (call->refused) {
        err_set(&result.err, ERR_TOO_LARGE, "%s %s: %s", call->request.method, call->request.path,
                call->refused);
    } else if (failure_of(call, code, result.status, &f)) {
        failure_describe(&f, call->http->config, &result.err);
        learn(call, &f);
    }
    if (call->sink.on_done)
        call->sink.on_done(call->sink.arg, &result);
    err_clear(&result.err);
}

/* Called inside libcurl. */
static void fail_unwatched(CURL *easy, int os_errno)
{
    struct call *call = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **) &call);
    /* not libcurl's own handle, nor a call that ends anyway */
    if (call && call->state == CALL_RUNNING)
        break_call(call, "its socket cannot be watched: ", strerror(os_errno));
}

/* Delivers every ended transfer. Sinks may submit and cancel: both only mark calls. */
static void finish_ended(struct http *h, struct lane *lane)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(lane->multi, &left))) {
        struct call *call = NULL;
        CURLcode code = message->data.result; /* invalid after the handle is removed */
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **) &call);
        if (call->state == CALL_CANCELLED)
            continue; /* settle() frees it */
        TAILQ_REMOVE(&h->calls, call, link);
        deliver(call, code);
        call_free(call);
    }
}

/* ---- turns */

/* Starts waiting calls, fails broken ones and frees cancelled ones. Never call it from
 * libcurl's callbacks. */
static void settle(struct http *h)
{
    if (!h->unsettled)
        return;
    h->unsettled = false;
    for (struct call *call = TAILQ_FIRST(&h->calls), *next; call; call = next) {
        next = TAILQ_NEXT(call, link);
        if (call->state == CALL_BROKEN || call->state == CALL_CANCELLED) {
            TAILQ_REMOVE(&h->calls, call, link);
            if (call->state == CALL_BROKEN)
                deliver(call, CURLE_RECV_ERROR);
            call_free(call);
        } else if (call->state == CALL_WAITING && http_has_room(call)) {
            http_start(h, call);
        }
    }
}

void http_turn(struct http *h)
{
    settle(h);
    struct epoll_event events[EVENTS_PER_TURN];
    int n = epoll_wait(h->epoll_fd, events, EVENTS_PER_TURN, 0);
    for (int i = 0; i < n; i++)
        lane_serve(&h->lanes[lane_of_event(&events[i])], &events[i]);
    for (size_t i = 0; i < LANE_COUNT; i++) {
        lane_serve_due(&h->lanes[i]);
        finish_ended(h, &h->lanes[i]);
        lane_close_idle(&h->lanes[i]);
    }
    settle(h);
}

int64_t http_deadline(const struct http *h)
{
    int64_t at = h->unsettled ? clock_mono_ms(h->clock) : INT64_MAX;
    for (size_t i = 0; i < LANE_COUNT; i++) {
        int64_t due = lane_deadline(&h->lanes[i]);
        if (due < at)
            at = due;
    }
    return at;
}

int http_fd(const struct http *h)
{
    return h->epoll_fd;
}

bool http_wait(struct http *h, int64_t until_ms, int also)
{
    int64_t now = clock_mono_ms(h->clock), due = http_deadline(h),
            at = due < until_ms ? due : until_ms;
    int64_t wait = at > now ? at - now : 0;
    struct pollfd fds[] = { { .fd = h->epoll_fd, .events = POLLIN },
                            { .fd = also, .events = POLLIN } };
    if (poll(fds, ARRAY_LEN(fds), wait < WAIT_MAX_MS ? (int) wait : WAIT_MAX_MS) < 0 &&
        errno != EINTR)
        abort();
    http_turn(h);
    return fds[1].revents;
}

/* ---- transport */

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

static uint64_t http_submit(void *self, struct request *request_steal,
                            const struct transport_sink *sink)
{
    struct http *h = self;
    struct call *call = xcalloc(1, sizeof *call);
    call->id = ++h->last_id;
    call->state = CALL_WAITING;
    call->http = h;
    call->lane = &h->lanes[lane_of(request_steal->class)];
    call->sink = *sink;
    call->request = *request_steal;
    call->headers.retry_after_ms = -1;
    TAILQ_INSERT_TAIL(&h->calls, call, link);
    h->unsettled = true;
    *request_steal = (struct request){ 0 };
    return call->id;
}

static void http_cancel(void *self, uint64_t id)
{
    struct http *h = self;
    for (struct call *call = TAILQ_FIRST(&h->calls); call; call = TAILQ_NEXT(call, link)) {
        if (call->id != id)
            continue;
        call->state = CALL_CANCELLED;
        h->unsettled = true;
        return;
    }
}

struct transport http_transport(struct http *h)
{
    return (struct transport){ .submit = http_submit, .cancel = http_cancel, .self = h };
}

void http_on_answer(struct http *h, struct http_answers answers)
{
    h->answers = answers;
}

/* ---- construction */

struct http *http_new(struct config *config, const struct clock *clock, struct err *e)
{
    tls_memory_hook();
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
    TAILQ_INIT(&h->calls);
    h->config = config;
    h->clock = clock;
    h->epoll_fd = epoll_fd;
    h->tls_generation = config->tls_generation;
    for (uint32_t i = 0; i < LANE_COUNT; i++)
        lane_init(&h->lanes[i], &(const struct lane_place){ i, epoll_fd, clock, fail_unwatched });
    return h;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    for (struct call *call; (call = TAILQ_FIRST(&h->calls));) {
        TAILQ_REMOVE(&h->calls, call, link);
        call_free(call);
    }
    for (size_t i = 0; i < LANE_COUNT; i++)
        lane_clear(&h->lanes[i]);
    close(h->epoll_fd);
    free(h);
    curl_global_cleanup();
}
