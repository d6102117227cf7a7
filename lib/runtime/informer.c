#include "runtime/informer.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/exchange.h"
#include "kube/frame.h"
#include "kube/object.h"
#include "kube/reply.h"
#include "kube/split.h"
#include "kube/watch_step.h"
#include "kube/whole.h"
#include "runtime/unreadable.h"

enum {
    /* The server sends a bookmark about every minute: a stream silent for more than two minutes
     * is dead. */
    SILENCE_MS = 150 * 1000,
    /* kube-apiserver responds 200 even for an expired version and sends the 410 as the first
     * frame. So a resumed watch is healthy after this time without an ERROR frame, or at a
     * bookmark. After a silent watch, only a frame counts. */
    RESUMED_MS = 1000,
    ERROR_BODY_MAX = 64 * 1024,
};

struct informer {
    struct informer_options options;
    struct table *table;
    struct loop *loop;
    loop_fn *on_change;
    void *arg;
    struct watch_state watch;
    struct timer delay;   /* the state machine's delay */
    struct timer silence; /* ends a dead stream */
    struct timer resumed; /* then a resumed stream is healthy */
    int64_t heard_ms;     /* last list or event */
    int64_t listed_ms;    /* send time of a list's first page */
    struct exchange exchange;
    int64_t sent_ms; /* send time of the request */
    struct split split;
    struct whole whole; /* before the splitter, while it lists */
    struct err failure; /* of one frame or page in flight */
    bool silent;        /* the previous stream was silent: the next needs a frame */
    char *problem;
    enum err_kind trouble; /* kind of the problem; ERR_NONE: none */
    bool started, absent;
    bool looks;        /* an absent resource is listed again */
    int64_t looked_ms; /* last time it was found absent */
    uint64_t restarts;
    struct unreadable unreadable;
};

static void act(struct informer *inf, const struct watch_next *next);
static void go(struct informer *inf, struct watch_input in);

/* The next number of a pseudo-random sequence (splitmix64). */
static uint32_t draw(struct informer *inf)
{
    uint64_t x = inf->options.seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t) (x >> 32);
}

static struct watch_next informer_step(struct informer *inf, struct watch_input in)
{
    in.now_ms = loop_now(inf->loop);
    in.random = draw(inf);
    return watch_step(&inf->watch, &in);
}

static void informer_set_problem(struct informer *inf, enum err_kind kind, const char *sentence)
{
    bool was = inf->problem != NULL;
    outage_note(inf->options.outage, inf->trouble, kind, sentence);
    inf->trouble = kind;
    xstrset(&inf->problem, sentence);
    if (inf->on_change && was != (sentence != NULL))
        inf->on_change(inf->arg);
}

/* ---- lists */

/* Takes the whole text of a list's item. */
static bool on_whole_item(void *arg, const char *text, size_t len)
{
    struct informer *inf = arg;
    return table_list_text(inf->table, text, len);
}

/* Takes an item of a list. */
static int on_item(void *arg, const char *text, size_t len, struct err *e)
{
    (void) e;
    struct informer *inf = arg;
    if (table_list_passes(inf->table, text, len))
        return 0;
    CLEANUP_ERR struct err why = { 0 };
    CLEANUP_JSON json_t *object = json_parse_stored(text, len, &why);
    if (object)
        table_list_item(inf->table, object);
    else
        unreadable_item(&inf->unreadable, text, len, &why);
    return 0;
}

/* Takes an item that is too large. */
static int on_bad_item(void *arg, const char *text, size_t len, const struct err *why,
                       struct err *e)
{
    (void) e;
    struct informer *inf = arg;
    unreadable_item(&inf->unreadable, text, len, why);
    return 0;
}

/* ---- watches */

static int take_error_frame(const json_t *status, struct err *e)
{
    CLEANUP_FREE char *text = json_compact(status);
    return reply_error((int) json_int(status, "code", 500), text, strlen(text), e);
}

/* The table is complete again, or the watch completes it in order. */
static void take_proof(struct informer *inf)
{
    inf->silent = false;
    informer_set_problem(inf, ERR_NONE, NULL);
}

/* All events up to the bookmark's version arrived. */
static void take_bookmark(struct informer *inf, const json_t *object)
{
    table_bookmark(inf->table, object_rv(object));
    take_proof(inf);
}

static int take_event(struct informer *inf, const char *type, const json_t *object, struct err *e)
{
    if (!json_is_object(object))
        return err_set(e, ERR_INVALID, "a watch event without an object");
    if (str_eq(type, "ERROR"))
        return take_error_frame(object, e);
    bool deleted = str_eq(type, "DELETED");
    if (str_eq(type, "BOOKMARK"))
        take_bookmark(inf, object);
    else if (deleted || str_eq(type, "ADDED") || str_eq(type, "MODIFIED"))
        table_event(inf->table, object, deleted);
    else
        return err_set(e, ERR_INVALID, "a watch event of unknown type");
    return 0;
}

/* The watch brought an event that was taken. */
static void informer_hear(struct informer *inf, const char *rv)
{
    informer_step(inf, (struct watch_input){ .event = WATCH_SEEN, .rv = rv });
    if (inf->silent)
        take_proof(inf);
    inf->heard_ms = loop_now(inf->loop);
    loop_timer_set(inf->loop, &inf->silence, loop_now(inf->loop) + SILENCE_MS);
}

/* Takes a line of a watch: {"type": …, "object": …}; NULL: unreadable, see the error. `keeps`:
 * it changes nothing. */
static int take_frame(struct informer *inf, const json_t *frame, bool keeps, struct err *e)
{
    const json_t *object = json_object_get(frame, "object");
    if (!frame || (!keeps && take_event(inf, json_str_or_empty(frame, "type"), object, e) < 0))
        return -1;
    informer_hear(inf, json_str(object, "metadata.resourceVersion"));
    return 0;
}

/* `ret_parsed`: the whole text could be read. */
static int parse_frame(struct informer *inf, const char *text, size_t len, bool *ret_parsed,
                       struct err *e)
{
    CLEANUP_ERR struct err why = { 0 };
    bool keeps = false;
    CLEANUP_JSON json_t *frame = json_parse_stored(text, len, &why);
    *ret_parsed = frame != NULL;
    if (!frame)
        frame = unreadable_frame(&inf->unreadable, text, len, &why, &keeps, e);
    return take_frame(inf, frame, keeps, e);
}

static int on_frame(void *arg, const char *text, size_t len, struct err *e)
{
    struct informer *inf = arg;
    struct frame frame;
    if (table_event_passes(inf->table, text, len, frame.rv)) {
        informer_hear(inf, frame.rv);
        return 0;
    }
    bool parsed, known = inf->table->hash_of && frame_read(text, len, &frame);
    if (known &&
        (table_event_repeats(inf->table, &frame) || table_event_relabels(inf->table, &frame))) {
        informer_hear(inf, frame.rv);
        return 0;
    }
    if (parse_frame(inf, text, len, &parsed, e) < 0)
        return -1;
    if (known && parsed)
        table_event_hash(inf->table, &frame);
    return 0;
}

/* Takes a frame that is too large. */
static int on_bad_frame(void *arg, const char *text, size_t len, const struct err *why,
                        struct err *e)
{
    struct informer *inf = arg;
    bool keeps = false;
    CLEANUP_JSON json_t *frame = unreadable_frame(&inf->unreadable, text, len, why, &keeps, e);
    return take_frame(inf, frame, keeps, e);
}

static void informer_on_begin(void *arg)
{
    struct informer *inf = arg;
    if (inf->exchange.status == 200 && inf->watch.phase == WATCH_STREAMING && inf->problem &&
        !inf->silent)
        loop_timer_set(inf->loop, &inf->resumed, loop_now(inf->loop) + RESUMED_MS);
}

static void on_resumed(void *arg)
{
    take_proof(arg);
}

static int informer_feed(void *arg, const char *bytes, size_t n)
{
    struct informer *inf = arg;
    bool whole = inf->table->read && inf->split.mode == SPLIT_LIST;
    return whole ? whole_feed(&inf->whole, bytes, n, &inf->failure)
                 : split_feed(&inf->split, bytes, n, &inf->failure);
}

/* What an admin can do about it. */
static const char *advice(const struct informer *inf, enum err_kind kind)
{
    if (kind == ERR_NOT_FOUND)
        return inf->options.resource == RESOURCE_POLICY
                   ? "; install the CustomResourceDefinition: kubectl apply --server-side -f crds/"
                   : "; this API server does not have the resource";
    if (kind == ERR_FORBIDDEN)
        return "; grant the permission: the chart's ClusterRole and Roles have all that Ostler "
               "needs";
    if (kind == ERR_UNAUTHORIZED)
        return "; renew the credentials";
    return "";
}

/* The failure as one sentence; owned by the caller. */
static char *describe_failure(const struct informer *inf, const struct err *e, bool lists)
{
    const char *name = resource_name(inf->options.resource);
    if (lists)
        return xasprintf("the watch of %s missed events: %s; Ostler changes nothing until it has "
                         "listed %s again",
                         name, err_msg(e), name);
    return xasprintf("cannot %s %s: %s%s", inf->watch.synced ? "watch" : "list", name, err_msg(e),
                     advice(inf, e->kind));
}

/* From now on the table may lack events, until a list is complete or a resumed watch is healthy.
 * That is a problem: readers of the table must not act. */
static void informer_fail(struct informer *inf, const struct err *e, int64_t retry_after_ms)
{
    inf->restarts++;
    struct watch_next next = informer_step(
        inf, (struct watch_input){
                 .event = WATCH_FAILED, .error = e->kind, .retry_after_ms = retry_after_ms });
    bool lists = next.what == WATCH_DO_LIST; /* an expired version, which is normal */
    CLEANUP_FREE char *sentence = describe_failure(inf, e, lists);
    if (lists)
        log_info("watch missed events", "resource", resource_name(inf->options.resource), "err",
                 sentence);
    else if (!outage_is_general(e->kind) && !str_eq(sentence, inf->problem))
        log_warn("watch failed", "resource", resource_name(inf->options.resource), "err", sentence);
    informer_set_problem(inf, e->kind, sentence);
    act(inf, &next);
}

/* The CRD is not installed, or Ostler may not read it: it counts as an empty list. */
static void take_absence(struct informer *inf)
{
    inf->absent = true;
    inf->looks = false;
    table_list_begin(inf->table);
    table_list_end(inf->table, inf->table->rv); /* all known objects are gone */
    watch_state_clear(&inf->watch);
    inf->watch.synced = true;
    informer_set_problem(inf, ERR_NONE, NULL);
    if (inf->on_change)
        inf->on_change(inf->arg);
    inf->looked_ms = loop_now(inf->loop);
}

static void take_page_end(struct informer *inf)
{
    const struct buf *text = split_envelope(&inf->split);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *envelope = split_complete(&inf->split)
                                        ? json_parse(buf_text(text), text->len, &e)
                                        : NULL;
    const char *rv = json_str_or_empty(envelope, "metadata.resourceVersion");
    if (!*rv) {
        err_set(&e, ERR_SERVER,
                envelope ? "the list has no resourceVersion" : "the list is incomplete");
        informer_fail(inf, &e, -1);
        return;
    }
    struct watch_next next = informer_step(
        inf, (struct watch_input){
                 .event = WATCH_PAGE, .rv = rv, .token = json_str(envelope, "metadata.continue") });
    inf->absent = false;
    if (next.list_complete) {
        inf->looks = false;
        table_list_end(inf->table, object_rv_parse(rv));
        inf->heard_ms = loop_now(inf->loop);
        take_proof(inf);
        if (inf->on_change)
            inf->on_change(inf->arg);
    }
    act(inf, &next);
}

static void cancel_stream_timers(struct informer *inf)
{
    loop_timer_cancel(inf->loop, &inf->silence);
    loop_timer_cancel(inf->loop, &inf->resumed);
}

/* Cancels the request in flight and the wait for a retry. */
static void stop(struct informer *inf)
{
    exchange_cancel(&inf->exchange);
    cancel_stream_timers(inf);
    loop_timer_cancel(inf->loop, &inf->delay);
}

static void informer_on_reply(void *arg, struct reply *reply)
{
    struct informer *inf = arg;
    const struct transport_result *result = reply->result;
    int status = inf->exchange.status;
    cancel_stream_timers(inf);
    server_clock_note(inf->options.clock, result->date_s, inf->sent_ms, loop_now(inf->loop));
    CLEANUP_ERR struct err e = inf->failure;
    inf->failure = (struct err){ 0 };
    bool streaming = inf->watch.phase == WATCH_STREAMING;
    if (e.kind == ERR_NONE && status && status != 200)
        reply_error(status, reply->body, reply->len, &e);
    /* A watch that the client ends on timeout has ended normally. */
    bool over_time = streaming && status == 200 && result->err.kind == ERR_TIMEOUT;
    if (e.kind == ERR_NONE && result->err.kind != ERR_NONE && !over_time)
        err_set(&e, result->err.kind, "%s", err_msg(&result->err));

    /* A resource that Ostler may list but not watch is present: as absent, it would vanish and
     * return with each list. */
    bool absent = e.kind == ERR_NOT_FOUND || (e.kind == ERR_FORBIDDEN && !streaming);
    if (absent && inf->options.optional) {
        take_absence(inf);
    } else if (e.kind != ERR_NONE) {
        informer_fail(inf, &e, result->retry_after_ms);
    } else if (streaming) {
        go(inf, (struct watch_input){ .event = WATCH_CLOSED, .retry_after_ms = -1 });
    } else {
        take_page_end(inf);
    }
}

static void informer_send(struct informer *inf, struct request request, enum split_mode mode)
{
    whole_clear(&inf->whole);
    split_clear(&inf->split);
    split_init(&inf->split, mode, inf->options.view, mode == SPLIT_LIST ? on_item : on_frame, inf);
    whole_init(&inf->whole, &inf->split, on_whole_item, inf);
    inf->split.on_bad = mode == SPLIT_LIST ? on_bad_item : on_bad_frame;
    inf->sent_ms = loop_now(inf->loop);
    exchange_send(&inf->exchange, request);
}

static void act(struct informer *inf, const struct watch_next *next)
{
    const struct list_options *o = &inf->options.list;
    switch (next->what) {
    case WATCH_DO_NOTHING:
        break;
    case WATCH_DO_LIST:
        if (!inf->watch.token) {
            inf->listed_ms = loop_now(inf->loop);
            table_list_begin(inf->table);
        }
        informer_send(inf, request_list(inf->options.resource, o, inf->watch.token), SPLIT_LIST);
        break;
    case WATCH_DO_STREAM:
        informer_send(inf, request_watch(inf->options.resource, o, inf->watch.rv, next->timeout_s),
                      SPLIT_FRAMES);
        loop_timer_set(inf->loop, &inf->silence, loop_now(inf->loop) + SILENCE_MS);
        break;
    case WATCH_DO_WAIT:
        loop_timer_set(inf->loop, &inf->delay, loop_now(inf->loop) + next->delay_ms);
        break;
    }
}

static void go(struct informer *inf, struct watch_input in)
{
    struct watch_next next = informer_step(inf, in);
    act(inf, &next);
}

static void on_delay(void *arg)
{
    go(arg, (struct watch_input){ .event = WATCH_DELAY_OVER });
}

static void on_silence(void *arg)
{
    struct informer *inf = arg;
    stop(inf);
    inf->silent = true;
    CLEANUP_ERR struct err e = { 0 };
    err_set(&e, ERR_TIMEOUT, "the stream was silent for %d s", SILENCE_MS / 1000);
    informer_fail(inf, &e, -1);
}

struct informer *informer_new(const struct informer_options *o, struct table *table,
                              const struct transport *transport, struct loop *loop,
                              loop_fn *on_change, void *arg)
{
    struct informer *inf = xcalloc(1, sizeof *inf);
    inf->options = *o;
    inf->table = table;
    inf->loop = loop;
    inf->unreadable = (struct unreadable){ .resource = o->resource,
                                           .table = table,
                                           .bare = o->bare };
    inf->on_change = on_change;
    inf->arg = arg;
    inf->exchange = (struct exchange){ .transport = transport,
                                       .done = informer_on_reply,
                                       .arg = inf,
                                       .began = informer_on_begin,
                                       .feed = informer_feed,
                                       .body = BUF_INIT(ERROR_BODY_MAX) };
    inf->delay = (struct timer){ .fn = on_delay, .arg = inf };
    inf->silence = (struct timer){ .fn = on_silence, .arg = inf };
    inf->resumed = (struct timer){ .fn = on_resumed, .arg = inf };
    return inf;
}

void informer_start(struct informer *inf)
{
    if (inf->started)
        return;
    inf->started = true;
    go(inf, (struct watch_input){ .event = WATCH_STARTED });
}

void informer_list_anew(struct informer *inf)
{
    if (!inf->started || inf->absent)
        return;
    stop(inf);
    go(inf, (struct watch_input){ .event = WATCH_AGAIN });
    if (inf->on_change)
        inf->on_change(inf->arg);
}

void informer_look_again(struct informer *inf, int64_t apart_ms)
{
    if (!inf->absent || inf->exchange.id || loop_now(inf->loop) - inf->looked_ms < apart_ms)
        return;
    stop(inf); /* a failed list may be waiting for its retry */
    inf->looks = true;
    go(inf, (struct watch_input){ .event = WATCH_STARTED });
}

struct informer_state informer_state(const struct informer *inf)
{
    return (struct informer_state){
        .started = inf->started,
        .synced = inf->watch.synced,
        .present = !inf->absent,
        .looks = inf->looks,
        .problem = inf->problem,
        .listed_ms = inf->listed_ms,
        .silent_ms = loop_now(inf->loop) - inf->heard_ms,
        .restarts = inf->restarts,
        .unreadable = inf->unreadable.count,
    };
}

void informer_free(struct informer *inf)
{
    if (!inf)
        return;
    stop(inf);
    whole_clear(&inf->whole);
    split_clear(&inf->split);
    err_clear(&inf->failure);
    watch_state_clear(&inf->watch);
    unreadable_clear(&inf->unreadable);
    free(inf->problem);
    free(inf);
}
