#include "tests/sweep/sight.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/sweep/life.h"

/* kube-apiserver sends a bookmark about each minute. When two of them are missing, and some time
 * for their way, a stream is dead. */
enum { SILENCE_MS = 155 * 1000, BODY_MAX = 256 << 20, HEAD_MAX = 16 };
/* The lease passes on when it was not renewed for 15 s. A third of that is left for clocks that go
 * at another speed, and for a write that is on its way. */
enum { LEASE_MS = 10 * 1000 };

/* The beginning of a frame that says that the stream is no longer usable. */
#define ERROR_HEAD "{\"type\":\"ERROR\""

/* What a client knows of the objects of one kind. */
struct view {
    bool asked; /* it has asked for them at all */
    bool whole; /* a whole list has come, and nothing was missed since */
    /* the server does not have that kind, or does not show it to this client */
    bool absent;
    const char *doubt; /* what is wrong with the watch; NULL: nothing. Static text */
    /* the watch that was opened last, whose answer has begun; 0: none is open */
    uint64_t stream;
    int64_t heard_ms;    /* when anything last came */
    struct buf body;     /* of the page under way */
    char head[HEAD_MAX]; /* how the line of the stream begins */
    size_t head_len;
};

/* What a client knows of the lease. */
struct lease_view {
    char *own;       /* its name in the lease; NULL: it has not asked for it */
    int64_t sent_ms; /* when its last write of the lease was sent */
    /* when the last one was sent whose answer says that it holds it; -1: none was */
    int64_t held_ms;
    /* a renewal was refused, or the lease was not there, and no answer has said since that it holds
     * it */
    bool refused;
    struct buf body; /* of the answer under way */
};

struct client {
    uint64_t number;
    struct lease_view lease;
    struct view views[RESOURCE_COUNT];
};

struct sight {
    struct client **clients;
    size_t count;
};

/* Kinds that Ostler decides on and always asks for. ConfigMaps are asked for when a policy names
 * one, PodDisruptionBudgets only tell when to ask again for an eviction, and the two below may be
 * missing. */
static const enum resource_id needed[] = { RESOURCE_POLICY,    RESOURCE_NODE,
                                           RESOURCE_POD,       RESOURCE_TASK,
                                           RESOURCE_DAEMONSET, RESOURCE_REVISION,
                                           RESOURCE_SERVICE,   RESOURCE_RUNTIMECLASS };
/* Kinds without which Ostler works: when the server refuses them (403) or has none such (404). */
static const enum resource_id optional[] = { RESOURCE_GPU_NODE, RESOURCE_SERVICEMONITOR,
                                             RESOURCE_FOREIGN, RESOURCE_SLICE };

static bool is_optional(enum resource_id id)
{
    for (size_t i = 0; i < ARRAY_LEN(optional); i++)
        if (id == optional[i])
            return true;
    return false;
}

static struct client *find(const struct sight *s, uint64_t number)
{
    for (size_t i = s->count; i-- > 0;)
        if (s->clients[i]->number == number)
            return s->clients[i];
    return NULL;
}

static struct client *client_of(struct sight *s, uint64_t number)
{
    struct client *c = find(s, number);
    if (c)
        return c;
    c = xcalloc(1, sizeof *c);
    c->number = number;
    c->lease = (struct lease_view){ .held_ms = -1, .body = BUF_INIT(BODY_MAX) };
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        c->views[i].body = (struct buf) BUF_INIT(BODY_MAX);
    s->clients = xreallocarray(s->clients, s->count + 1, sizeof *s->clients);
    s->clients[s->count++] = c;
    return c;
}

struct sight *sight_new(void)
{
    return xcalloc(1, sizeof(struct sight));
}

void sight_free(struct sight *s)
{
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < RESOURCE_COUNT; k++)
            buf_clear(&s->clients[i]->views[k].body);
        buf_clear(&s->clients[i]->lease.body);
        free(s->clients[i]->lease.own);
        free(s->clients[i]);
    }
    free(s->clients);
    free(s);
}

/* Whether it is a page of a list that what is known is made from: neither one object nor a look at
 * some of them. */
static bool is_page(const struct request *r)
{
    return r->class == REQUEST_READ && strstr(r->path, "limit=") && !r->looks;
}

/* ---- what is sent */

static void begin_page(struct view *v, const struct request *r)
{
    buf_reset(&v->body);
    v->asked = true;
    if (strstr(r->path, "continue="))
        return;
    v->whole = false;
    v->stream = 0;
}

/* A client that opens a watch while one is open has given that up. */
static void begin_stream(struct view *v)
{
    v->asked = true;
    if (v->stream)
        v->doubt = "its watch was given up";
    v->stream = 0;
    v->head_len = 0;
}

/* The other lease says which installation is the cluster's; its holder is a namespace. */
bool sight_is_election(const struct request *r)
{
    return r->class == REQUEST_LEASE && strstr(r->path, "/namespaces/" OSTLER_NAMESPACE "/leases");
}

/* The holder of the lease by what was sent or answered; "": none. Owned. There is a lease for every
 * two seconds of a life, so its text is searched, not parsed: holders are named in plain letters,
 * and managedFields have objects under their keys. */
static char *holder_in(const char *text, size_t len)
{
    static const char key[] = "\"holderIdentity\":\"";
    const char *at = memmem(text, len, key, strlen(key));
    if (!at)
        return xstrdup("");
    at += strlen(key);
    const char *end = memchr(at, '"', (size_t) (text + len - at));
    return end ? xstrndup(at, (size_t) (end - at)) : xstrdup("");
}

static void send_lease(struct lease_view *l, const struct request *r, int64_t now_ms)
{
    buf_reset(&l->body);
    if (!r->body)
        return;
    CLEANUP_FREE char *holder = holder_in(r->body, strlen(r->body));
    l->sent_ms = now_ms;
    if (*holder && !l->own)
        l->own = TAKE(holder);
}

void sight_sent(struct sight *s, uint64_t client, const struct request *r, int64_t now_ms)
{
    if (sight_is_election(r))
        send_lease(&client_of(s, client)->lease, r, now_ms);
    if (r->resource == RESOURCE_COUNT || (r->class != REQUEST_WATCH && !is_page(r)))
        return;
    struct view *v = &client_of(s, client)->views[r->resource];
    if (!v->asked)
        v->heard_ms = now_ms;
    if (r->class == REQUEST_WATCH)
        begin_stream(v);
    else
        begin_page(v, r);
}

/* ---- what is taken */

/* Where a string ends, from its opening quote; NULL: it does not. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at : NULL;
}

/* Whether all containers of a JSON text are closed. */
static bool is_closed(const char *text, size_t len)
{
    int depth = 0;
    const char *end = text + len;
    for (const char *at = text; at && at < end; at++) {
        if (*at == '"' && !(at = string_end(at, end)))
            return false;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
    }
    return depth == 0;
}

/* What is before the items of a list, as an object of its own; NULL: no such text has come whole. A
 * new reference. */
static json_t *head_of(const char *text, size_t len)
{
    static const char items[] = ",\"items\":[";
    const char *at = memmem(text, len, items, strlen(items));
    if (!at || !is_closed(text, len))
        return NULL;
    CLEANUP_FREE char *head = xasprintf("%.*s}", (int) (at - text), text);
    return json_loads(head, 0, NULL);
}

/* A page has come whole: whether it is the last one. */
static bool is_last_page(const struct view *v)
{
    json_t *page = head_of(v->body.data ? v->body.data : "", v->body.len);
    const char *token = json_string_value(
        json_object_get(json_object_get(page, "metadata"), "continue"));
    bool last = page && (!token || !*token);
    json_decref(page);
    return last;
}

static void end_page(struct view *v, const struct wire_taken *t, bool may_be_absent)
{
    bool refused = t->status == 403 || t->status == 404; /* that is all in the head of the answer */
    v->absent = may_be_absent && (refused || (v->absent && (t->broken || t->status != 200)));
    if (t->broken || t->status != 200 || !is_last_page(v))
        return;
    v->whole = true;
    v->doubt = NULL;
}

/* After a 410 only a list helps. After any other end the watch goes on where it was. */
static void end_stream(struct view *v, const struct wire_taken *t)
{
    v->stream = 0;
    if (t->status == 410)
        v->whole = false;
    if (t->status != 200)
        v->doubt = "its watch is refused";
    else if (t->broken)
        v->doubt = "its watch broke";
}

/* Of each line of a stream only the beginning is read: an error says that events were missed. */
static void take_frames(struct view *v, const struct wire_taken *t)
{
    for (const char *at = t->bytes, *end = t->bytes + t->len; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t) (end - at));
        size_t n = (size_t) ((line_end ? line_end : end) - at), room = HEAD_MAX - v->head_len;
        memcpy(v->head + v->head_len, at, n < room ? n : room);
        v->head_len += n < room ? n : room;
        if (v->head_len >= strlen(ERROR_HEAD) &&
            memcmp(v->head, ERROR_HEAD, strlen(ERROR_HEAD)) == 0)
            v->whole = false;
        if (line_end)
            v->head_len = 0;
        at = line_end ? line_end + 1 : end;
    }
}

static void take_stream(struct view *v, const struct wire_taken *t)
{
    if (t->part == WIRE_STATUS && t->status == 200) {
        v->stream = t->id;
        v->doubt = NULL;
    }
    if (t->part == WIRE_BYTES)
        take_frames(v, t);
    if (t->part == WIRE_END)
        end_stream(v, t);
}

/* Who is told that another one holds it does not hold it. */
static void take_lease(struct lease_view *l, const struct wire_taken *t)
{
    if (t->part == WIRE_BYTES && !buf_add(&l->body, t->bytes, t->len))
        abort(); /* no lease is that long */
    if (t->part != WIRE_END || t->broken)
        return;
    if (t->status == 404 || t->status == 409)
        l->refused = true;
    if (t->status != 200 && t->status != 201)
        return;
    CLEANUP_FREE char *holder = holder_in(l->body.data ? l->body.data : "", l->body.len);
    bool own = l->own && strcmp(holder, l->own) == 0;
    l->refused = l->refused && !own;
    if (!own)
        l->held_ms = -1;
    else if (*t->request->method != 'G')
        l->held_ms = l->sent_ms;
}

void sight_taken(struct sight *s, uint64_t client, const struct wire_taken *t, int64_t now_ms)
{
    const struct request *r = t->request;
    if (sight_is_election(r))
        take_lease(&client_of(s, client)->lease, t);
    if (r->resource == RESOURCE_COUNT || (r->class != REQUEST_WATCH && !is_page(r)))
        return;
    struct view *v = &client_of(s, client)->views[r->resource];
    v->heard_ms = now_ms;
    if (r->class == REQUEST_WATCH)
        take_stream(v, t);
    else if (t->part == WIRE_BYTES && !buf_add(&v->body, t->bytes, t->len))
        abort(); /* no page is that long */
    else if (t->part == WIRE_END)
        end_page(v, t, is_optional(r->resource));
}

/* ---- what comes of it */

static const char *doubt_of(const struct view *v, int64_t now_ms)
{
    if (v->absent)
        return NULL;
    if (!v->whole)
        return "no whole list has come since events were missed";
    if (v->doubt)
        return v->doubt;
    return now_ms - v->heard_ms > SILENCE_MS ? "nothing has come for too long" : NULL;
}

static char *doubt_among(const struct client *c, const enum resource_id *ids, size_t n, bool always,
                         int64_t now_ms)
{
    for (size_t i = 0; i < n; i++) {
        const struct view *v = &c->views[ids[i]];
        const char *why = always || v->asked ? doubt_of(v, now_ms) : NULL;
        if (why)
            return xasprintf("%s: %s", resource_name(ids[i]), why);
    }
    return NULL;
}

char *sight_doubt(const struct sight *s, uint64_t client, int64_t now_ms)
{
    const struct client *c = find(s, client);
    if (!c)
        return xstrdup("nothing was ever listed");
    char *why = doubt_among(c, needed, ARRAY_LEN(needed), true, now_ms);
    return why ? why : doubt_among(c, optional, ARRAY_LEN(optional), false, now_ms);
}

const char *sight_lease_doubt(const struct sight *s, uint64_t client, int64_t now_ms)
{
    const struct client *c = find(s, client);
    if (!c || c->lease.held_ms < 0)
        return "no answer has said that it holds the lease";
    if (c->lease.refused)
        return "a renewal of the lease was refused, and the lease was not read since";
    return now_ms >= c->lease.held_ms + LEASE_MS ? "no renewal of the lease was answered in time"
                                                 : NULL;
}
