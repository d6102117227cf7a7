#include "serve/server.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "serve/listener.h"
#include "serve/status_text.h"

enum {
    CONNECTIONS_MAX = 512, /* beyond, the oldest is closed: idle clients cannot block a probe */
    HEADERS_MAX = 8192,    /* bytes of request headers; enough for a bearer token */
    TIMEOUT_SECS = 10, /* for a request to arrive, and for each part of a response to be taken */
    BODY_MAX = 32 * 1024 * 1024,
    ANSWER_MAX = BODY_MAX + 1024,
    UNSENT_MAX = 8 * 1024 * 1024 /* unsent responses in memory; beyond, scrapes are rejected */
};

/* One client with one request: each response closes its connection. Clients here ask every few
 * seconds at most. Successive requests on a connection, or bodies, can make libwebsockets 4.1.6
 * loop for ever or read freed memory. */
struct connection {
    TAILQ_ENTRY(connection) link;
    struct lws *wsi;
    struct buf answer; /* head and body; empty until the request is complete */
    size_t sent;       /* sent bytes of `answer` */
};
TAILQ_HEAD(connections, connection);

struct server {
    struct server_options options;
    struct listener listener;
    struct connections connections; /* oldest first */
    size_t connection_count;
    size_t connection_max;
    size_t unsent; /* unsent bytes of all responses */
};

static int answer_metrics(struct server *s, const char *rest, const char *query, struct buf *out)
{
    (void) query;
    if (*rest)
        return 404;
    if (s->unsent > UNSENT_MAX) {
        buf_str(out, "too many answers are pending\n");
        return 503;
    }
    s->options.metrics(s->options.metrics_arg, out);
    return 200;
}

static int answer_healthz(struct server *s, const char *rest, const char *query, struct buf *out)
{
    return health_answer(&s->options.healthz, rest, query, out);
}

static int answer_readyz(struct server *s, const char *rest, const char *query, struct buf *out)
{
    return health_answer(&s->options.readyz, rest, query, out);
}

#define TEXT "text/plain; charset=utf-8"
#define METRICS "text/plain; version=0.0.4; charset=utf-8"

static const struct route {
    const char *path; /* the path and everything below it */
    const char *type;
    /* `rest` is the path below, without its slash. Returns the status. */
    int (*answer)(struct server *s, const char *rest, const char *query, struct buf *out);
} routes[] = {
    { "/metrics", METRICS, answer_metrics },
    { "/healthz", TEXT, answer_healthz },
    { "/readyz", TEXT, answer_readyz },
};

static const struct route *find_route(const char *path, const char **ret_rest)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (!str_has_prefix(path, routes[i].path))
            continue;
        const char *rest = path + strlen(routes[i].path);
        if (*rest == '\0' || *rest == '/') {
            *ret_rest = *rest ? rest + 1 : rest;
            return &routes[i];
        }
    }
    return NULL;
}

/* Joins the query's parameters, which libwebsockets has split and unescaped. */
static void read_query(struct lws *wsi, struct buf *out)
{
    char part[HEADERS_MAX];
    for (int i = 0;; i++) {
        int n = lws_hdr_copy_fragment(wsi, part, sizeof part, WSI_TOKEN_HTTP_URI_ARGS, i);
        if (n < 0)
            return;
        buf_printf(out, "%s%s", i ? "&" : "", part);
    }
}

static bool has_body(struct lws *wsi)
{
    char length[8]; /* "0" fits; anything longer is more than 0 */
    return lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0 &&
           (lws_hdr_copy(wsi, length, sizeof length, WSI_TOKEN_HTTP_CONTENT_LENGTH) < 0 ||
            !str_eq(length, "0"));
}

/* Fills the body and returns the status. */
static int make_body(struct server *s, struct lws *wsi, const char *path, int method,
                     struct buf *out, const char **ret_type)
{
    *ret_type = TEXT;
    if (method != LWSHUMETH_GET && method != LWSHUMETH_HEAD) {
        buf_str(out, "only GET and HEAD are served\n");
        return 405;
    }
    if (has_body(wsi)) {
        buf_str(out, "a request must not have a body\n");
        return 400;
    }
    const char *rest;
    const struct route *route = find_route(path, &rest);
    int status = 404;
    if (route) {
        CLEANUP_BUF struct buf query = BUF_INIT(2 * HEADERS_MAX);
        read_query(wsi, &query);
        status = route->answer(s, rest, buf_text(&query), out);
        if (status == 200)
            *ret_type = route->type;
    }
    if (status == 404 && out->len == 0)
        buf_str(out, "the paths are /metrics, /healthz and /readyz\n");
    return status;
}

static void make_answer(struct server *s, struct connection *c, const char *path)
{
    char *uri;
    int uri_len, method = lws_http_get_uri_and_method(c->wsi, &uri, &uri_len);
    CLEANUP_BUF struct buf body = BUF_INIT(BODY_MAX);
    const char *type;
    int status = make_body(s, c->wsi, path, method, &body, &type);
    buf_printf(&c->answer,
               "HTTP/1.1 %d %s\r\n"
               "server: ostler\r\n"
               "connection: close\r\n"
               "content-type: %s\r\n"
               "content-length: %zu\r\n"
               "cache-control: no-store\r\n"
               "x-content-type-options: nosniff\r\n"
               "%s\r\n",
               status, status_text(status), type, body.len,
               status == 405 ? "allow: GET, HEAD\r\n" : "");
    if (method != LWSHUMETH_HEAD)
        buf_str(&c->answer, buf_text(&body));
    s->unsent += c->answer.len;
}

/* Writes the next part; 0 if more follows, -1 (which closes the connection) at the end. */
static int send_part(struct connection *c)
{
    size_t left = c->answer.len - c->sent;
    if (left == 0)
        return 0; /* writable before any request */
    lws_set_timeout(c->wsi, PENDING_TIMEOUT_HTTP_CONTENT, TIMEOUT_SECS);
    int n = listener_write(c->wsi, c->answer.data + c->sent, left, LWS_WRITE_HTTP);
    if (n < 0 || (size_t) n == left)
        return -1;
    c->sent += (size_t) n;
    lws_callback_on_writable(c->wsi);
    return 0;
}

static int on_request(struct server *s, struct connection *c, const char *uri, size_t len)
{
    if (c->answer.len > 0)
        return -1;
    CLEANUP_FREE char *path = xstrndup(uri, len);
    make_answer(s, c, path);
    return send_part(c);
}

static void connection_add(struct server *s, struct lws *wsi)
{
    struct connection *c = xcalloc(1, sizeof *c);
    *c = (struct connection){ .wsi = wsi, .answer = BUF_INIT(ANSWER_MAX) };
    TAILQ_INSERT_TAIL(&s->connections, c, link);
    s->connection_count++;
    lws_set_opaque_user_data(wsi, c);
}

static void connection_remove(struct server *s, struct connection *c)
{
    s->unsent -= c->answer.len;
    buf_clear(&c->answer);
    TAILQ_REMOVE(&s->connections, c, link);
    s->connection_count--;
    free(c);
}

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t len)
{
    (void) user;
    struct server *s = lws_context_user(lws_get_context(wsi));
    struct connection *c = lws_get_opaque_user_data(wsi);
    /* Only these of some eighty reasons matter. Upgrades and CONNECT end the connection; no
     * reaction to an upgrade would accept it. */
    if (reason == LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED)
        connection_add(s, wsi);
    else if (reason == LWS_CALLBACK_HTTP)
        return on_request(s, c, in, len);
    else if (reason == LWS_CALLBACK_HTTP_WRITEABLE)
        return send_part(c);
    else if (reason == LWS_CALLBACK_HTTP_CONFIRM_UPGRADE || reason == LWS_CALLBACK_RAW_ADOPT ||
             reason == LWS_CALLBACK_RAW_RX)
        return -1;
    else if (reason == LWS_CALLBACK_WSI_DESTROY && c)
        connection_remove(s, c);
    return 0;
}

static void evict_oldest(struct server *s)
{
    struct connection *c, *next;
    size_t before = s->connection_count;
    for (c = TAILQ_FIRST(&s->connections); c && s->connection_count == before; c = next) {
        next = TAILQ_NEXT(c, link);
        /* A connection that still flushes stays for a moment; then the next one is closed. */
        lws_set_timeout(c->wsi, PENDING_TIMEOUT_HTTP_CONTENT, LWS_TO_KILL_SYNC);
    }
}

static void on_connections(void *arg)
{
    struct server *s = arg;
    for (int i = 0; i < LISTENER_ACCEPTS; i++) {
        int fd = listener_accept(&s->listener);
        if (fd < 0)
            return;
        if (s->connection_count >= s->connection_max)
            evict_oldest(s);
        /* closes it on failure */
        lws_adopt_socket_vhost(s->listener.vhost, fd);
    }
}

int server_adopt(struct server *s, int fd, void (*on_readable)(void *arg), void *arg, struct err *e)
{
    int copy = dup(fd);
    if (copy < 0 || !listener_watch(&s->listener, copy, on_readable, arg))
        return err_set(e, ERR_SYSTEM, "the server cannot watch descriptor %d", fd);
    return 0;
}

static size_t connections_allowed(void)
{
    /* The program needs descriptors for other purposes, too. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 2 > CONNECTIONS_MAX)
        return CONNECTIONS_MAX;
    return limit.rlim_cur / 2;
}

static int server_start(struct server *s, struct err *e)
{
    const struct listener_options o = {
        .address = s->options.listen,
        .option = "--listen",
        .server = "the HTTP server",
        .causes = "no timer, no memory or no /dev/urandom (see libwebsockets' messages at log "
                  "level debug)",
        .clients = { .name = "http", .callback = on_http },
        .on_connections = on_connections,
        .info = { .user = s,
                  .server_string = "ostler",
                  /* The default tables would be as large as the limit of open files. */
                  .fd_limit_per_thread = (unsigned) s->connection_max + LISTENER_BESIDE +
                                         LISTENER_PAGE,
                  .max_http_header_data = HEADERS_MAX,
                  .timeout_secs = TIMEOUT_SECS,
                  .timeout_secs_ah_idle = TIMEOUT_SECS,
                  .keepalive_timeout = TIMEOUT_SECS },
    };
    return listener_open(&s->listener, &o, e);
}

struct server *server_new(const struct server_options *o, struct err *e)
{
    struct server *s = xcalloc(1, sizeof *s);
    s->options = *o;
    s->connection_max = connections_allowed();
    TAILQ_INIT(&s->connections);
    if (server_start(s, e) < 0) {
        server_free(s);
        return NULL;
    }
    return s;
}

int server_port(const struct server *s)
{
    return s->listener.port;
}

int server_run_once(struct server *s, int timeout_ms)
{
    return listener_run_once(&s->listener, timeout_ms);
}

const struct listener *server_listener(const struct server *s)
{
    return &s->listener;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    listener_close(&s->listener); /* calls on_http() for all connections */
    free(s);
}
