#include "sim/serve/front.h"

#include <errno.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "serve/http1.h"
#include "serve/listener.h"
#include "serve/status_text.h"

enum {
    CONNECTIONS_MAX = 1024,
    PARTS_PER_TURN = 1000,      /* of a response, before other clients are served */
    UNSENT_ENOUGH = 256 * 1024, /* limit of buffered bytes for a watch whose client does not read */
    ANSWER_MAX = 1 << 30,
    IDLE_SECS = 120, /* of a connection without activity, unless it is a watch */
    BOOKMARK_MS = 60 * 1000,
    WARNINGS_MAX = 4096, /* bytes of all warnings of a response */
    REFUSED_SECS = 2,
    FIRST_SECS = 10, /* from the connection to its first bytes, including the handshake */
};

/* One client. */
struct connection {
    TAILQ_ENTRY(connection) link;
    struct front *front;
    struct lws *wsi;
    struct http1 *in;
    struct buf out;
    size_t sent;             /* bytes of `out` that are sent */
    struct api_watch *watch; /* being streamed */
    int64_t watch_until_ms;  /* virtual */
    int64_t bookmark_ms;     /* virtual: due time of the next one */
    bool close;              /* once `out` is sent */
    bool refused; /* further input is discarded: an immediate close could lose the response */
};
TAILQ_HEAD(connections, connection);

struct front {
    struct front_options options;
    struct listener listener;
    bool full; /* out of descriptors: no connection is accepted until one ends */
    struct connections connections;
    size_t connection_count;
};

/* ---- responses */

static int64_t now_of(const struct front *f)
{
    return f->options.now_ms(f->options.now_arg);
}

static void send_problem(struct connection *c)
{
    const char *sentence;
    int status = http1_problem(c->in, &sentence);
    buf_printf(&c->out,
               "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: text/plain; "
               "charset=utf-8\r\nContent-Length: "
               "%zu\r\n\r\n%s\n",
               status, status_text(status), strlen(sentence) + 1, sentence);
    c->close = c->refused = true;
    lws_set_timeout(c->wsi, PENDING_TIMEOUT_HTTP_CONTENT, REFUSED_SECS);
}

/* One header for each as far as there is room: `299 - "unknown field \"spec.x\""`. A warning that
 * no header can carry is left out. */
static void send_warnings(struct buf *out, const json_t *unknown)
{
    size_t room = WARNINGS_MAX;
    JSON_EACH (path, unknown) {
        CLEANUP_FREE char *text = xasprintf("unknown field \"%s\"", json_string_value(path));
        bool odd = strlen(json_string_value(path)) != json_string_length(path);
        for (const char *c = text; *c; c++)
            odd = odd || (unsigned char) *c < ' ' || *c == 0x7f;
        if (odd || strlen(text) > room)
            continue;
        room -= strlen(text);
        buf_str(out, "Warning: 299 - \"");
        for (const char *c = text; *c; c++)
            buf_printf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
        buf_str(out, "\"\r\n");
    }
}

static void send_answer(struct connection *c, const struct api_answer *a)
{
    buf_printf(
        &c->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-cache, private\r\n",
        a->status, status_text(a->status), a->content_type ? a->content_type : "application/json");
    if (a->retry_after_s)
        buf_printf(&c->out, "Retry-After: %d\r\n", a->retry_after_s);
    send_warnings(&c->out, a->unknown);
    if (c->close)
        buf_str(&c->out, "Connection: close\r\n");
    if (a->watch) {
        buf_str(&c->out, "Transfer-Encoding: chunked\r\n\r\n");
        return;
    }
    buf_printf(&c->out, "Content-Length: %zu\r\n\r\n", a->len);
    if (str_eq(http1_request(c->in)->method, "HEAD"))
        return; /* no body */
    if (a->len > 0 && !buf_add(&c->out, a->body, a->len))
        c->close = true; /* the client detects that the body is too short */
}

static void start_watch(struct connection *c, struct api_watch *watch)
{
    int64_t now = now_of(c->front);
    c->watch = watch;
    c->watch_until_ms = now + api_watch_timeout_ms(watch);
    c->bookmark_ms = now + BOOKMARK_MS;
}

static void add_chunk(struct connection *c, const char *bytes, size_t n)
{
    buf_printf(&c->out, "%zx\r\n", n);
    if (!buf_add(&c->out, bytes, n))
        c->close = true;
    buf_str(&c->out, "\r\n");
}

static void end_watch(struct connection *c)
{
    buf_str(&c->out, "0\r\n\r\n");
    api_watch_free(c->watch);
    c->watch = NULL;
    http1_next(c->in); /* its request was kept until now */
}

static bool front_has_room(const struct connection *c)
{
    return c->out.len - c->sent < UNSENT_ENOUGH;
}

/* Writes the watch's news as far as the client reads. */
static void front_print(struct connection *c, int64_t now_ms)
{
    const char *frame;
    size_t n;
    while (c->watch && front_has_room(c)) {
        enum api_watch_news news = api_watch_next(c->watch, &frame, &n);
        if (news == API_WATCH_NOTHING)
            break;
        add_chunk(c, frame, n);
        if (news == API_WATCH_GONE)
            end_watch(c);
    }
    if (!c->watch || !front_has_room(c))
        return;
    bool over = now_ms >= c->watch_until_ms;
    if (over || now_ms >= c->bookmark_ms) {
        frame = api_watch_bookmark(c->watch, &n);
        if (frame)
            add_chunk(c, frame, n);
        c->bookmark_ms = now_ms + BOOKMARK_MS;
    }
    if (over)
        end_watch(c);
}

/* ---- requests */

static const char *user_of(const struct front *f, const char *authorization)
{
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return NULL;
    const char *token = authorization + 7 + strspn(authorization + 7, " ");
    for (size_t i = 0; i < f->options.user_count; i++)
        if (strlen(token) == strlen(f->options.users[i].token) &&
            lws_timingsafe_bcmp(token, f->options.users[i].token, (uint32_t) strlen(token)) == 0)
            return f->options.users[i].user;
    return NULL;
}

static void front_serve(struct connection *c)
{
    struct front *f = c->front;
    const struct http1_request *r = http1_request(c->in);
    const struct api_call call = {
        .method = r->method,
        .target = r->target,
        .content_type = r->headers[HTTP1_CONTENT_TYPE],
        .accept = r->headers[HTTP1_ACCEPT],
        .user_agent = r->headers[HTTP1_USER_AGENT],
        .user = user_of(f, r->headers[HTTP1_AUTHORIZATION]),
        .body = r->body,
        .body_len = r->body_len,
    };
    struct api_answer answer = { 0 };
    api_serve(f->options.api, &call, &answer);
    c->close = c->close || r->close;
    send_answer(c, &answer);
    if (answer.watch)
        start_watch(c, TAKE(answer.watch));
    api_answer_clear(&answer);
}

/* Serves complete requests one by one: the next request of a connection waits for the response to
 * this one. */
static void on_state(struct connection *c, enum http1_state state)
{
    while (state == HTTP1_REQUEST && !c->watch && !c->close && front_has_room(c)) {
        front_serve(c);
        if (!c->watch && !c->close)
            state = http1_next(c->in);
    }
    if (state == HTTP1_CONTINUE)
        buf_str(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
    else if (state == HTTP1_BAD && !c->close)
        send_problem(c);
}

static int write_part(struct connection *c)
{
    size_t left = c->out.len - c->sent;
    if (left == 0)
        return c->close && !c->watch && !c->refused ? -1 : 0;
    int n = listener_write(c->wsi, c->out.data + c->sent, left, LWS_WRITE_RAW);
    if (n < 0)
        return -1;
    c->sent += (size_t) n;
    if (c->sent == c->out.len) {
        buf_reset(&c->out);
        c->sent = 0;
        if (c->out.cap > UNSENT_ENOUGH)
            buf_clear(&c->out);
    } else if (c->watch && c->sent >= UNSENT_ENOUGH) {
        buf_consume(&c->out, c->sent); /* a busy watch may never have sent all */
        c->sent = 0;
    }
    return 0;
}

static void want_write(struct connection *c)
{
    if (!c->refused)
        lws_set_timeout(c->wsi, c->watch ? NO_PENDING_TIMEOUT : PENDING_TIMEOUT_HTTP_KEEPALIVE_IDLE,
                        IDLE_SECS);
    if (c->out.len > c->sent || (c->close && !c->watch && !c->refused))
        lws_callback_on_writable(c->wsi);
}

static int on_bytes(struct connection *c, const char *bytes, size_t n)
{
    if (c->refused)
        return 0;
    if (c->watch) /* after a watch, the connection can only end */
        return -1;
    on_state(c, http1_feed(c->in, bytes, n));
    front_print(c, now_of(c->front));
    want_write(c);
    return 0;
}

/* Writes as much as the client takes now: between two turns thousands of events may come. */
static int on_writable(struct connection *c)
{
    for (int i = 0; i < PARTS_PER_TURN; i++) {
        if (write_part(c) < 0)
            return -1;
        if (!c->watch && !c->close && front_has_room(c))
            on_state(c, http1_feed(c->in, "", 0));
        front_print(c, now_of(c->front));
        if (c->sent == c->out.len || lws_send_pipe_choked(c->wsi))
            break;
    }
    want_write(c);
    return 0;
}

static int connection_add(struct front *f, struct lws *wsi)
{
    if (f->connection_count >= CONNECTIONS_MAX)
        return -1;
    struct connection *c = xcalloc(1, sizeof *c);
    *c = (struct connection){
        .front = f, .wsi = wsi, .in = http1_new(), .out = BUF_INIT(ANSWER_MAX)
    };
    TAILQ_INSERT_TAIL(&f->connections, c, link);
    f->connection_count++;
    lws_set_opaque_user_data(wsi, c);
    lws_set_timeout(wsi, PENDING_TIMEOUT_SSL_ACCEPT, FIRST_SECS);
    return 0;
}

static void connection_remove(struct connection *c)
{
    if (c->watch)
        api_watch_free(c->watch);
    http1_free(c->in);
    buf_clear(&c->out);
    TAILQ_REMOVE(&c->front->connections, c, link);
    c->front->connection_count--;
    free(c);
}

/* Pauses the listener while there are no descriptors: waiting clients would wake the loop
 * constantly. */
static void let_in(struct front *f, bool in)
{
    if (f->full == in)
        lws_rx_flow_control(f->listener.socket, in);
    f->full = !in;
}

/* ---- libwebsockets */

static int on_client(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len)
{
    (void) user;
    struct front *f = lws_context_user(lws_get_context(wsi));
    struct connection *c = lws_get_opaque_user_data(wsi);
    /* Only these of about eighty reasons matter. */
    if (reason == LWS_CALLBACK_RAW_ADOPT)
        return connection_add(f, wsi);
    if (reason == LWS_CALLBACK_RAW_RX && c)
        return on_bytes(c, in, len);
    if (reason == LWS_CALLBACK_RAW_WRITEABLE && c)
        return on_writable(c);
    if (reason == LWS_CALLBACK_WSI_DESTROY)
        let_in(f, true);
    if (reason == LWS_CALLBACK_WSI_DESTROY && c) {
        lws_set_opaque_user_data(wsi, NULL);
        connection_remove(c);
    }
    return 0;
}

#define CLIENT_PROTOCOL "client"

static void on_connections(void *arg)
{
    struct front *f = arg;
    lws_sock_file_fd_type d;
    for (int i = 0; i < LISTENER_ACCEPTS; i++) {
        d.sockfd = listener_accept(&f->listener);
        if (d.sockfd < 0) {
            if (errno == EMFILE || errno == ENFILE)
                let_in(f, false);
            return;
        }
        lws_adopt_descriptor_vhost(f->listener.vhost, LWS_ADOPT_SOCKET | LWS_ADOPT_ALLOW_SSL, d,
                                   CLIENT_PROTOCOL, NULL);
    }
}

static int front_start(struct front *f, struct err *e)
{
    const char *certificate = f->options.certificate, *key = f->options.key;
    const struct listener_options o = {
        .address = f->options.listen,
        .option = "--listen",
        .server = "the API server",
        .causes = "no timer or no memory, or TLS refused the certificate",
        .clients = { .name = CLIENT_PROTOCOL, .callback = on_client },
        .on_connections = on_connections,
        .info = { .user = f,
                  .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
                  .server_ssl_cert_mem = certificate,
                  .server_ssl_cert_mem_len = (unsigned) strlen(certificate) + 1,
                  .server_ssl_private_key_mem = key,
                  .server_ssl_private_key_mem_len = (unsigned) strlen(key) + 1,
                  .alpn = "http/1.1",
                  .timeout_secs = FIRST_SECS,
                  .fd_limit_per_thread = CONNECTIONS_MAX + LISTENER_BESIDE },
    };
    return listener_open(&f->listener, &o, e);
}

struct front *front_new(const struct front_options *o, struct err *e)
{
    struct front *f = xcalloc(1, sizeof *f);
    f->options = *o;
    TAILQ_INIT(&f->connections);
    if (front_start(f, e) < 0) {
        front_free(f);
        return NULL;
    }
    return f;
}

int front_port(const struct front *f)
{
    return f->listener.port;
}

int front_run_once(struct front *f, int64_t timeout_ms)
{
    return listener_run_once(&f->listener, timeout_ms);
}

void front_wake(struct front *f)
{
    struct connection *c;
    int64_t now = now_of(f);
    TAILQ_FOREACH (c, &f->connections, link) {
        if (!c->watch)
            continue;
        front_print(c, now);
        want_write(c);
    }
}

void front_free(struct front *f)
{
    if (!f)
        return;
    f->full = false;
    listener_close(&f->listener); /* frees connections through on_client() */
    free(f);
}
