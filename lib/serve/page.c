#include "serve/page.h"

#include <errno.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/str.h"
#include "serve/listener.h"
#include "serve/page_gate.h"
#include "serve/ring.h"
#include "serve/server.h"

enum {
    UNSENT_MAX = 8 << 20, /* bodies of connections that are no streams; beyond, none is made */
    ASKING_MAX = 64,      /* connections that are no streams; beyond, the oldest is closed */
    HEADERS_MAX = 8192,
    TIMEOUT_SECS = 10,
    STALL_SECS = 60,
    LINGER_SECS = 2,      /* for the client to close after the answer */
    TURN_MAX = 256 << 10, /* bytes for one viewer, before the others get their turn */
    HEAD_MAX = 4096,
    /* The kernel's memory for a client that does not read, which counts as Ostler's: it would be up
     * to 4 MiB for each. The kernel doubles the number. */
    SOCKET_BUFFER = 32 << 10,
};

struct piece {
    const char *bytes;
    size_t len;
};

/* One connection with one request. What it sends is not its own: a file, a body that others send,
 * too, or the ring. */
struct viewer {
    TAILQ_ENTRY(viewer) link;
    struct page *page;
    struct lws *wsi;
    struct http1 *in; /* NULL: the request is complete */
    size_t received;
    struct buf head;
    struct page_body *body;
    struct piece pieces[2]; /* what is left of head and body */
    bool stream;            /* then the ring follows, from this position */
    uint64_t at;
    bool waits; /* of a stream: until the client takes what there is */
    bool over;  /* the answer is sent: only the end is read */
};
TAILQ_HEAD(viewers, viewer);

struct page {
    struct page_options options;
    struct listener listener;
    struct viewers asking; /* oldest first */
    struct viewers streams;
    size_t asking_count, stream_count;
    char (*tags)[PAGE_TAG_MAX]; /* of the files */
    struct page_counts counts;
};

struct page_body *page_body_new(struct buf *text_steal)
{
    struct page_body *b = xcalloc(1, sizeof *b);
    *b = (struct page_body){ .refs = 1, .text = *text_steal };
    *text_steal = (struct buf){ .max = text_steal->max };
    if (b->text.len > 0) { /* a buffer has up to twice the memory that its text needs */
        b->text.cap = b->text.len + 1;
        b->text.data = xreallocarray(b->text.data, b->text.cap, 1);
    }
    return b;
}

struct page_body *page_body_ref(struct page_body *b)
{
    b->refs++;
    return b;
}

void page_body_unref(struct page_body *b)
{
    if (!b || --b->refs > 0)
        return;
    buf_clear(&b->text);
    free(b);
}

/* ---- answers */

#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json"
#define EVENTS "text/event-stream"

static void answer_begin(struct viewer *v, const struct page_head *h, const char *bytes, bool whole)
{
    page_print_head(h, &v->head);
    v->pieces[0] = (struct piece){ v->head.data, v->head.len };
    v->pieces[1] = (struct piece){ bytes, whole ? h->len : 0 };
}

/* `r` is NULL if there is no whole request. */
static void answer_refusal(struct viewer *v, const struct http1_request *r, int status,
                           const char *sentence)
{
    struct buf text = BUF_INIT(HEAD_MAX);
    buf_printf(&text, "%s\n", sentence);
    v->body = page_body_new(&text);
    const struct page_head h = {
        .status = status, .type = TEXT, .tag = "", .len = v->body->text.len
    };
    answer_begin(v, &h, buf_text(&v->body->text), !r || !str_eq(r->method, "HEAD"));
}

static void answer_file(struct viewer *v, const struct http1_request *r, size_t i)
{
    const struct page *p = v->page;
    const struct page_file *f = &p->options.files[i];
    bool same = page_tag_matches(r->headers[HTTP1_IF_NONE_MATCH], p->tags[i]);
    const struct page_head h = { .status = same ? 304 : 200,
                                 .type = same ? NULL : f->type,
                                 .tag = p->tags[i],
                                 .len = f->len,
                                 .kept = true };
    answer_begin(v, &h, f->bytes, !same && str_eq(r->method, "GET"));
}

static void stream_begin(struct viewer *v, uint64_t from)
{
    struct page *p = v->page;
    TAILQ_REMOVE(&p->asking, v, link);
    p->asking_count--;
    TAILQ_INSERT_TAIL(&p->streams, v, link);
    p->stream_count++;
    v->stream = true;
    v->at = from;
    lws_set_timeout(v->wsi, NO_PENDING_TIMEOUT, 0);
}

/* What clients that read slowly keep in memory. A shared body is divided among them. */
static size_t unsent(const struct page *p)
{
    size_t sum = 0;
    const struct viewer *v;
    TAILQ_FOREACH (v, &p->asking, link)
        sum += v->body ? v->body->text.len / v->body->refs : 0;
    return sum;
}

static void answer_program(struct viewer *v, const struct http1_request *r)
{
    struct page *p = v->page;
    if (unsent(p) > UNSENT_MAX) {
        answer_refusal(v, r, 503, "too many answers are pending");
        return;
    }
    struct page_answer a = { .status = 404 };
    p->options.answer(p->options.arg, r, &a);
    v->body = a.body;
    if (a.stream && p->stream_count >= PAGE_STREAMS_MAX) {
        page_body_unref(TAKE(v->body));
        p->counts.refused_streams++;
        answer_refusal(v, r, 503, "all streams are taken: close another window with this page");
        return;
    }
    bool get = str_eq(r->method, "GET"),
         same = a.status == 304 || (a.status == 200 && !a.stream &&
                                    page_tag_matches(r->headers[HTTP1_IF_NONE_MATCH], a.tag));
    const struct page_head h = { .status = same ? 304 : a.status,
                                 .type = same       ? NULL
                                         : a.stream ? EVENTS
                                                    : JSON,
                                 .tag = a.tag,
                                 .len = v->body ? v->body->text.len : 0,
                                 .endless = a.stream };
    answer_begin(v, &h, v->body ? buf_text(&v->body->text) : "", get && !same);
    if (a.stream && get)
        stream_begin(v, a.from);
}

static void count_refusal(struct page *p, int status)
{
    p->counts.refused_hosts += status == 421;
    p->counts.refused_sites += status == 403;
}

static void page_serve(struct viewer *v, const struct http1_request *r)
{
    struct page *p = v->page;
    const char *sentence;
    int status = page_gate(r, p->options.hosts, &sentence);
    count_refusal(p, status);
    if (status) {
        answer_refusal(v, r, status, sentence);
        return;
    }
    for (size_t i = 0; i < p->options.file_count; i++)
        if (str_eq(r->target, p->options.files[i].path)) {
            answer_file(v, r, i);
            return;
        }
    answer_program(v, r);
}

/* ---- sending */

/* What comes next, 0 bytes if there is nothing now. A viewer whose frames are overwritten begins
 * anew: the empty line ends the frame that it may be in the middle of, and its type is replaced. */
static struct piece viewer_next(struct viewer *v)
{
    static const char reset[] = "\nevent: reset\ndata: {}\n\n";
    for (size_t i = 0; i < ARRAY_LEN(v->pieces); i++)
        if (v->pieces[i].len > 0)
            return v->pieces[i];
    struct piece next = { 0 };
    if (!v->stream)
        return next;
    if (ring_read(v->page->options.ring, v->at, &next.bytes, &next.len))
        return next;
    v->page->counts.resets++;
    v->at = ring_end(v->page->options.ring);
    v->pieces[0] = (struct piece){ reset, sizeof reset - 1 };
    return v->pieces[0];
}

static void viewer_sent(struct viewer *v, size_t n)
{
    v->page->counts.bytes += n;
    for (size_t i = 0; i < ARRAY_LEN(v->pieces); i++)
        if (v->pieces[i].len > 0) {
            v->pieces[i].bytes += n;
            v->pieces[i].len -= n;
            return;
        }
    v->at += n;
}

/* The time that a stream waits counts from its first wait, as its client may take nothing. */
static int wait_writable(struct viewer *v)
{
    if (v->stream && !v->waits)
        lws_set_timeout(v->wsi, PENDING_TIMEOUT_HTTP_CONTENT, v->page->options.stall_s);
    v->waits = v->stream;
    lws_callback_on_writable(v->wsi);
    return 0;
}

static void took_some(struct viewer *v)
{
    if (!v->stream)
        lws_set_timeout(v->wsi, PENDING_TIMEOUT_HTTP_CONTENT, v->page->options.timeout_s);
    else if (v->waits)
        lws_set_timeout(v->wsi, NO_PENDING_TIMEOUT, 0);
    v->waits = false;
}

/* Nothing is left for now. A stream waits for the next frame; else the client closes first, so that
 * its system does not drop what it has not read yet. */
static int sent_all(struct viewer *v)
{
    buf_clear(&v->head);
    page_body_unref(TAKE(v->body));
    if (v->stream || v->over)
        return 0;
    v->over = true;
    lws_set_timeout(v->wsi, PENDING_TIMEOUT_HTTP_CONTENT, LINGER_SECS);
    return shutdown(lws_get_socket_fd(v->wsi), SHUT_WR);
}

/* The socket takes all, or says when it takes more: nothing is copied into libwebsockets' buffers,
 * which each slow viewer would have for itself. */
static int viewer_send(struct viewer *v)
{
    if (v->in)
        return 0;
    for (size_t sent = 0; sent < TURN_MAX;) {
        struct piece next = viewer_next(v);
        if (next.len == 0)
            return sent_all(v);
        size_t n = next.len < TURN_MAX ? next.len : TURN_MAX;
        ssize_t took = send(lws_get_socket_fd(v->wsi), next.bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (took < 0)
            return errno == EAGAIN || errno == EINTR ? wait_writable(v) : -1;
        took_some(v);
        viewer_sent(v, (size_t) took);
        sent += (size_t) took;
    }
    lws_callback_on_writable(v->wsi);
    return 0;
}

/* ---- receiving */

static int viewer_received(struct viewer *v, const char *bytes, size_t n)
{
    if (v->stream)
        return -1; /* a stream's connection serves no other request */
    if (!v->in)
        return 0;
    v->received += n;
    bool large = v->received > HEADERS_MAX;
    enum http1_state state = large ? HTTP1_BAD : http1_feed(v->in, bytes, n);
    if (state != HTTP1_REQUEST && state != HTTP1_BAD)
        return 0;
    const char *sentence = "the request is too large";
    int status = large ? 431 : state == HTTP1_BAD ? http1_problem(v->in, &sentence) : 0;
    if (status)
        answer_refusal(v, NULL, status, sentence);
    else
        page_serve(v, http1_request(v->in));
    http1_free(TAKE(v->in));
    return viewer_send(v);
}

static void viewer_add(struct page *p, struct lws *wsi)
{
    struct viewer *v = xcalloc(1, sizeof *v);
    *v = (struct viewer){ .page = p, .wsi = wsi, .in = http1_new(), .head = BUF_INIT(HEAD_MAX) };
    TAILQ_INSERT_TAIL(&p->asking, v, link);
    p->asking_count++;
    lws_set_opaque_user_data(wsi, v);
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, p->options.timeout_s);
}

static void viewer_remove(struct viewer *v)
{
    struct page *p = v->page;
    TAILQ_REMOVE(v->stream ? &p->streams : &p->asking, v, link);
    p->stream_count -= v->stream;
    p->asking_count -= !v->stream;
    http1_free(v->in);
    buf_clear(&v->head);
    page_body_unref(v->body);
    free(v);
}

/* ---- libwebsockets, which gives bytes and takes timeouts; its own HTTP has more states than this
 * needs */

static int on_viewer(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len)
{
    (void) user;
    struct viewer *v = lws_get_opaque_user_data(wsi);
    if (reason == LWS_CALLBACK_RAW_ADOPT)
        viewer_add(lws_vhost_user(lws_get_vhost(wsi)), wsi);
    else if (reason == LWS_CALLBACK_RAW_RX && v)
        return viewer_received(v, in, len);
    else if (reason == LWS_CALLBACK_RAW_WRITEABLE && v)
        return viewer_send(v);
    if (reason == LWS_CALLBACK_WSI_DESTROY && v) {
        lws_set_opaque_user_data(wsi, NULL);
        viewer_remove(v);
    }
    return 0;
}

#define VIEWER_PROTOCOL "page"

static void on_connections(void *arg)
{
    struct page *p = arg;
    lws_sock_file_fd_type d;
    const int buffer = SOCKET_BUFFER;
    for (int i = 0; i < LISTENER_ACCEPTS; i++) {
        d.sockfd = listener_accept(&p->listener);
        if (d.sockfd < 0)
            return;
        setsockopt(d.sockfd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
        if (p->asking_count >= ASKING_MAX)
            lws_set_timeout(TAILQ_FIRST(&p->asking)->wsi, PENDING_TIMEOUT_HTTP_CONTENT,
                            LWS_TO_KILL_SYNC);
        /* closes it on failure */
        lws_adopt_descriptor_vhost(p->listener.vhost, LWS_ADOPT_SOCKET, d, VIEWER_PROTOCOL, NULL);
    }
}

static void make_tags(struct page *p)
{
    p->tags = xcalloc(p->options.file_count + 1, sizeof *p->tags);
    for (size_t i = 0; i < p->options.file_count; i++) {
        const struct page_file *f = &p->options.files[i];
        snprintf(p->tags[i], sizeof p->tags[i], "%016llx",
                 (unsigned long long) str_hash(f->bytes, f->len));
    }
}

struct page *page_new(const struct page_options *o, struct err *e)
{
    struct page *p = xcalloc(1, sizeof *p);
    p->options = *o;
    p->options.timeout_s = o->timeout_s ? o->timeout_s : TIMEOUT_SECS;
    p->options.stall_s = o->stall_s ? o->stall_s : STALL_SECS;
    TAILQ_INIT(&p->asking);
    TAILQ_INIT(&p->streams);
    make_tags(p);
    const struct listener_options lo = {
        .address = o->listen,
        .option = "--fleet-listen",
        .beside = server_listener(o->beside),
        .server = "the fleet page's server",
        .causes = "no memory",
        .clients = { .name = VIEWER_PROTOCOL, .callback = on_viewer },
        .on_connections = on_connections,
        .info = { .user = p },
    };
    if (listener_open(&p->listener, &lo, e) < 0) {
        page_free(p);
        return NULL;
    }
    return p;
}

int page_port(const struct page *p)
{
    return p->listener.port;
}

size_t page_streams(const struct page *p)
{
    return p->stream_count;
}

struct page_counts page_counts(const struct page *p)
{
    return p->counts;
}

void page_wake(struct page *p)
{
    struct viewer *v;
    TAILQ_FOREACH (v, &p->streams, link)
        wait_writable(v);
}

void page_free(struct page *p)
{
    if (!p)
        return;
    free(p->tags);
    free(p);
}
