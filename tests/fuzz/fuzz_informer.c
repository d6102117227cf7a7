/* An informer and a server that answers as it likes: the input is a series of edits, a letter each
 * with the bytes that it needs. The server keeps a few objects with their whole history, and
 * answers lists and watches of them with pages, frames cut anywhere, bookmarks, refusals, 410,
 * garbage, objects that cannot be read, or not at all. Whatever the order:
 * - the table is what the server has said, to the version up to which it was said;
 * - where it cannot be, because a list is under way or events were missed, there is a problem, and
 *   whoever rests on it was told;
 * - a watch that brings nothing is given up, and no request comes before the time that a
 *   Retry-After named;
 * - there is at most one request, and the informer waits for it; without one there is a timer, or
 *   the resource is absent;
 * - a watch goes on at the version that was said last, and a page follows the one before; one that
 *   was opened again after a
 *   failure is not well before a bookmark, or a second without an error;
 * - no record goes back to an older version, also where answers to writes come in between;
 * - as soon as the server behaves, the table is whole again within minutes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/split.h"
#include "runtime/informer.h"
#include "tests/unit/support/thing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    NAMES = 6,
    FACTS_MAX = 400,
    EDITS_MAX = 600,
    PAGE_MAX = 4,
    TEXT_MAX = 64 << 10,
    HEALED_IN_MS = 10 * 60 * 1000,
    DOUBT_MS = 1000,
    SILENCE_MS = 150 * 1000,
    JUMP_MAX_MS = 255 * 1000,
};

/* Fails the run. */
#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* What happened to an object at a version. */
struct fact {
    uint64_t rv;
    int name;
    int uid;   /* of its incarnation */
    char text; /* '-': of no interest */
    bool gone;
    enum { READABLE, NO_TEXT, TOO_DEEP } form;
};

struct harness {
    const uint8_t *at, *end; /* of the input */
    int64_t now_ms;
    struct clock clock;
    struct loop *loop;
    struct table table;
    struct informer *informer;
    bool optional;

    struct fact facts[FACTS_MAX];
    size_t fact_count;
    uint64_t rv;
    int uids;
    size_t written; /* 1 + the place of a fact whose writer waits for the answer; 0: none */

    /* the request that is open */
    uint64_t open, submitted;
    struct transport_sink sink;
    bool watches, answered;
    size_t stream_at;     /* the next fact of a watch */
    uint64_t list_rv;     /* of the list */
    int list_at;          /* its next name */
    bool list_keeps;      /* it has brought an object without a name */
    int list_held[NAMES]; /* uid of what the table had of each name when it began; 0: nothing */
    bool nameless;        /* its next page brings one */

    /* what the informer was told */
    uint64_t told; /* up to this version, where not `mixed` */
    bool mixed;    /* items of a list that has not ended */
    bool keeps;    /* the last whole list has dropped nothing */
    bool gap;      /* 410, and no list since */
    uint64_t unreadable;
    /* the newest version of each that an answer to a write has brought into the table */
    uint64_t taken[NAMES];
    uint64_t shown[NAMES]; /* the newest version of each that the table has shown */
    /* a watch was opened again after a failure, and is not well before this time but by a bookmark
     */
    int64_t doubt_until;
    int64_t heard_ms;   /* when the watch brought its last frame, or was opened */
    int64_t not_before; /* as the server asked by Retry-After */
    bool silent;        /* a watch was given up as silent, and nothing was heard since */
    bool told_synced, told_problem; /* what on_change() has seen last */
};

/* ---- the input */

static unsigned take(struct harness *h, unsigned below)
{
    return h->at < h->end ? *h->at++ % below : 0;
}

/* ---- the server's history */

static const struct fact *fact_as_of(const struct harness *h, int name, uint64_t rv)
{
    for (size_t i = h->fact_count; i > 0; i--)
        if (h->facts[i - 1].name == name && h->facts[i - 1].rv <= rv)
            return &h->facts[i - 1];
    return NULL;
}

static bool exists(const struct fact *f)
{
    return f && !f->gone;
}

static void commit(struct harness *h, int name, char text, int form, bool gone)
{
    const struct fact *last = fact_as_of(h, name, h->rv);
    if (h->fact_count == FACTS_MAX || (gone && !exists(last)))
        return;
    int uid = exists(last) ? last->uid : ++h->uids;
    h->rv += 1 + take(h, 3); /* others write too */
    h->facts[h->fact_count++] = (struct fact){ h->rv, name, uid, text, gone, form };
}

static char *object_text(const struct fact *f)
{
    static const char nested[] = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                      ended[] = "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]";
    CLEANUP_FREE char *deep = xasprintf(",\"status\":%s%s%s%s%s%s", nested, nested, nested, ended,
                                        ended, ended);
    return xasprintf("{\"metadata\":{\"name\":\"%c\",\"uid\":\"u%d\",\"resourceVersion\":\"%llu\"},"
                     "\"spec\":{\"text\":\"%c\"}%s}",
                     'a' + f->name, f->uid, (unsigned long long) f->rv, f->text,
                     f->form == READABLE  ? ""
                     : f->form == NO_TEXT ? ",\"status\":{\"x\":\"\\ud800\"}"
                                          : deep);
}

/* ---- the transport */

static int64_t mono_ms(void *self)
{
    return ((struct harness *) self)->now_ms;
}

static int64_t wall_us(void *self)
{
    return ((struct harness *) self)->now_ms * 1000;
}

/* The number behind a name in a path; -1: the name is not there. */
static int64_t number_in(const char *path, const char *name)
{
    const char *at = strstr(path, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static void begin_watch(struct harness *h, const char *path)
{
    DEMAND(!h->mixed && number_in(path, "resourceVersion=") == (int64_t) h->told);
    h->stream_at = 0;
    while (h->stream_at < h->fact_count && h->facts[h->stream_at].rv <= h->told)
        h->stream_at++;
}

static void begin_list(struct harness *h)
{
    h->list_rv = h->rv;
    h->list_at = 0;
    h->list_keeps = false;
    for (int name = 0; name < NAMES; name++) {
        const struct thing *t = thing_get(&h->table, (char[]){ (char) ('a' + name), 0 });
        h->list_held[name] = t ? atoi(RECORD_UID(&t->head) + 1) : 0;
    }
}

static uint64_t submit(void *self, struct request *request_steal, const struct transport_sink *sink)
{
    struct harness *h = self;
    DEMAND(!h->open && h->now_ms >= h->not_before);
    const char *path = request_steal->path;
    h->heard_ms = h->now_ms;
    h->watches = strstr(path, "watch=true") != NULL;
    h->answered = false;
    if (h->watches)
        begin_watch(h, path);
    else if (strstr(path, "continue="))
        DEMAND(number_in(path, "continue=t") == h->list_at);
    else
        begin_list(h);
    h->sink = *sink;
    request_clear(request_steal);
    return h->open = ++h->submitted;
}

static void cancel(void *self, uint64_t id)
{
    struct harness *h = self;
    DEMAND(id && id == h->open);
    h->silent = h->watches;
    h->open = 0;
}

/* ---- answers */

static void status(struct harness *h, int code)
{
    if (h->answered)
        return;
    h->answered = true;
    if (code == 200 && h->watches && informer_state(h->informer).problem)
        h->doubt_until = h->silent ? INT64_MAX : h->now_ms + DOUBT_MS;
    h->sink.on_status(h->sink.arg, code);
}

static void done(struct harness *h, int code, enum err_kind kind)
{
    h->open = 0;
    h->doubt_until = 0;
    struct transport_result r = { .status = code,
                                  .retry_after_ms = -1,
                                  .err = { kind, (char *) "as the input wants" } };
    if (code == 429 || code == 503)
        r.retry_after_ms = transport_retry_after_ms(take(h, 200));
    if (informer_state(h->informer).present)
        h->not_before = h->now_ms + r.retry_after_ms;
    h->sink.on_done(h->sink.arg, &r);
}

/* Sends a text in pieces; whether it was taken. What was not taken has ended the request. */
static bool send(struct harness *h, const char *text, size_t len)
{
    size_t piece = take(h, 8) ? len : 1 + take(h, 64);
    for (size_t i = 0, n; i < len; i += n) {
        n = len - i < piece ? len - i : piece;
        CLEANUP_FREE char *bytes = xcalloc(1, n); /* of its own, so that a byte too far is seen */
        memcpy(bytes, text + i, n);
        if (h->sink.on_bytes(h->sink.arg, bytes, n) == 0)
            continue;
        done(h, 200, ERR_TOO_LARGE);
        return false;
    }
    return true;
}

/* The items of a page, with commas between them. */
static void add_items(struct harness *h, struct buf *page, int *left)
{
    if (h->nameless)
        buf_str(page, "{\"metadata\":{\"name\":\"\\ud800\"}}");
    h->list_keeps |= h->nameless;
    h->unreadable += h->nameless;
    bool comma = h->nameless;
    h->nameless = false;
    for (; h->list_at<NAMES && * left> 0; h->list_at++) {
        const struct fact *f = fact_as_of(h, h->list_at, h->list_rv);
        if (!exists(f))
            continue;
        CLEANUP_FREE char *text = object_text(f);
        buf_printf(page, "%s%s", comma ? "," : "", text);
        comma = true;
        h->unreadable += f->form != READABLE;
        --*left;
    }
}

static void end_list(struct harness *h)
{
    h->told = h->list_rv;
    h->keeps = h->list_keeps;
    h->mixed = h->gap = h->silent = false;
}

/* A page of the list, which breaks off after `cut` per mille of its text. */
static void answer_list(struct harness *h, int items, unsigned cut)
{
    CLEANUP_BUF struct buf page = BUF_INIT(TEXT_MAX);
    int left = items;
    uint64_t unreadable = h->unreadable;
    buf_str(&page, "{\"items\":[");
    add_items(h, &page, &left);
    buf_printf(&page, "],\"metadata\":{\"resourceVersion\":\"%llu\"",
               (unsigned long long) h->list_rv);
    bool last = h->list_at == NAMES;
    if (!last)
        buf_printf(&page, ",\"continue\":\"t%d\"", h->list_at);
    buf_str(&page, "}}");
    h->mixed = true;
    status(h, 200);
    size_t len = cut < 1000 ? page.len * cut / 1000 : page.len;
    DEMAND(send(h, page.data, len));
    if (len < page.len) {
        h->unreadable = unreadable; /* or more */
        done(h, 200, take(h, 2) ? ERR_UNREACHABLE : ERR_NONE);
        return;
    }
    int held[NAMES];
    memcpy(held, h->list_held, sizeof held);
    if (last)
        end_list(h);
    done(h, 200, ERR_NONE);
    for (int name = 0; last && name < NAMES; name++) {
        const struct fact *f = fact_as_of(h, name, h->told);
        bool stays = exists(f) && f->form != READABLE && f->uid == held[name];
        DEMAND(!stays || thing_get(&h->table, (char[]){ (char) ('a' + name), 0 }));
    }
}

static void answer_watch(struct harness *h, unsigned frames)
{
    status(h, 200);
    for (; frames > 0 && h->stream_at < h->fact_count; frames--, h->stream_at++) {
        const struct fact *f = &h->facts[h->stream_at];
        const char name[] = { (char) ('a' + f->name), 0 };
        CLEANUP_FREE char *object = object_text(f);
        const char *type = f->gone                                     ? "DELETED"
                           : exists(fact_as_of(h, f->name, f->rv - 1)) ? "MODIFIED"
                                                                       : "ADDED";
        CLEANUP_FREE char *frame = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
        bool held = thing_get(&h->table, name) != NULL;
        h->told = f->rv;
        h->heard_ms = h->now_ms;
        h->unreadable += f->form != READABLE;
        h->doubt_until = h->silent ? 0 : h->doubt_until;
        h->silent = false;
        DEMAND(send(h, frame, strlen(frame)));
        DEMAND(!held || f->gone || f->form == READABLE || thing_get(&h->table, name));
    }
}

/* ---- edits */

static void edit_put(struct harness *h)
{
    int name = (int) take(h, NAMES);
    commit(h, name, "xyzvw-"[take(h, 6)], READABLE, false);
}

static void edit_delete(struct harness *h)
{
    int name = (int) take(h, NAMES);
    commit(h, name, 'g', READABLE, true);
}

static void edit_bad(struct harness *h)
{
    int name = (int) take(h, NAMES), what = (int) take(h, 4);
    commit(h, name, 'b', what & 1 ? NO_TEXT : TOO_DEEP, what & 2);
}

static void edit_write(struct harness *h)
{
    size_t before = h->fact_count;
    commit(h, (int) take(h, NAMES), 'o', READABLE, false);
    if (h->fact_count > before)
        h->written = h->fact_count;
}

static void edit_answer_write(struct harness *h)
{
    if (!h->written)
        return;
    const struct fact *f = &h->facts[h->written - 1];
    CLEANUP_FREE char *text = object_text(f);
    CLEANUP_JSON json_t *object = json_parse(text, strlen(text), NULL);
    if (table_written(&h->table, object))
        h->taken[f->name] = f->rv;
    h->written = 0;
}

static void pass(struct harness *h, int64_t ms)
{
    int64_t end = h->now_ms + ms;
    while (loop_deadline(h->loop) <= end) {
        if (loop_deadline(h->loop) > h->now_ms)
            h->now_ms = loop_deadline(h->loop);
        loop_turn(h->loop);
    }
    h->now_ms = end;
    loop_turn(h->loop);
}

static void edit_pass(struct harness *h)
{
    static const int64_t spans[] = { 1, 500, 1000, 1700, 5000, 60000, 151000, 400000 };
    pass(h, spans[take(h, ARRAY_LEN(spans))]);
}

/* As a process that was stopped. */
static void edit_jump(struct harness *h)
{
    h->now_ms += 1000 * take(h, JUMP_MAX_MS / 1000 + 1);
    loop_turn(h->loop);
}

static void edit_answer(struct harness *h)
{
    if (!h->open)
        return;
    if (h->watches)
        answer_watch(h, take(h, 8));
    else
        answer_list(h, (int) take(h, PAGE_MAX + 1), 1000);
}

static void edit_break(struct harness *h)
{
    static const enum err_kind kinds[] = { ERR_UNREACHABLE, ERR_TIMEOUT, ERR_UNAUTHORIZED,
                                           ERR_NONE };
    if (!h->open)
        return;
    if (!h->watches && take(h, 2)) {
        answer_list(h, PAGE_MAX, take(h, 250) * 4);
        return;
    }
    if (h->watches && take(h, 2)) {
        status(h, 200);
        send(h, "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\"}", take(h, 52));
    }
    enum err_kind kind = kinds[take(h, ARRAY_LEN(kinds))];
    if (kind == ERR_NONE)
        status(h, 200);
    done(h, h->answered ? 200 : 0, kind);
}

static void edit_bookmark(struct harness *h)
{
    if (!h->open || !h->watches)
        return;
    status(h, 200);
    if (h->stream_at == h->fact_count)
        h->told = h->rv;
    CLEANUP_FREE char *frame = xasprintf(
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%llu\"}}}\n",
        (unsigned long long) h->told);
    h->doubt_until = 0;
    h->silent = false;
    h->heard_ms = h->now_ms;
    DEMAND(send(h, frame, strlen(frame)));
}

static char *status_object(int code)
{
    const char *reason = code == 410 ? "Expired" : "Other";
    return xasprintf(
        "{\"kind\":\"Status\",\"code\":%d,\"reason\":\"%s\",\"message\":\"as the input wants\"}",
        code, reason);
}

static int any_code(struct harness *h)
{
    static const int codes[] = { 410, 500, 429, 503, 403, 404, 504, 401, 400 };
    return codes[take(h, ARRAY_LEN(codes))];
}

/* There is nothing of the resource, nor the resource itself. */
static void take_absence(struct harness *h)
{
    h->told = 0;
    memset(h->taken, 0, sizeof h->taken);
    memset(h->shown, 0, sizeof h->shown); /* an answer to a write may still come */
    h->mixed = h->keeps = h->gap = h->silent = false;
}

static void edit_refuse(struct harness *h)
{
    if (!h->open || h->answered)
        return;
    int code = any_code(h);
    CLEANUP_FREE char *body = status_object(code);
    status(h, code);
    if (!send(h, body, strlen(body)))
        return;
    h->gap |= code == 410 && h->watches;
    if (h->optional && (code == 404 || (code == 403 && !h->watches)))
        take_absence(h);
    done(h, code, ERR_NONE);
}

static void edit_error_frame(struct harness *h)
{
    if (!h->open || !h->watches)
        return;
    int code = any_code(h);
    CLEANUP_FREE char *object = status_object(code),
                      *frame = xasprintf("{\"type\":\"ERROR\",\"object\":%s}\n", object);
    status(h, 200);
    h->gap |= code == 410;
    if (h->optional && code == 404)
        take_absence(h);
    DEMAND(!send(h, frame, strlen(frame)));
}

static void edit_garbage(struct harness *h)
{
    static const char *const frames[] = {
        "]",
        "<html>",
        "{}\n",
        "{\"type\":\"MODIFIED\",\"object\":\"text\"}\n",
        "{\"type\":\"SURPRISE\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n",
        "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"\\ud800\"}}}\n",
        "{\"object\":{\"metadata\":{\"name\":\"a\"},\"x\":\"\\ud800\"}}\n"
    };
    static const char *const lists[] = { "<html>", "[]", "}", "{\"items\":[1]}", "{\"items\":[{]" };
    if (!h->open)
        return;
    const char *text = h->watches ? frames[take(h, ARRAY_LEN(frames))]
                                  : lists[take(h, ARRAY_LEN(lists))];
    if (!h->watches && h->answered)
        return; /* it could be in the middle of something */
    status(h, 200);
    DEMAND(!send(h, text, strlen(text)));
}

static void edit_nameless(struct harness *h)
{
    h->nameless = h->open && !h->watches;
}

static void edit_list_anew(struct harness *h)
{
    h->not_before = 0;
    informer_list_anew(h->informer);
}

static void edit_look_again(struct harness *h)
{
    informer_look_again(h->informer, take(h, 2) ? INFORMER_ABSENT_RETRY_MS : 0);
}

static const struct edit {
    char letter;
    void (*fn)(struct harness *h);
} edits[] = {
    { 'p', edit_put },        { 'd', edit_delete },       { 'b', edit_bad },
    { 'w', edit_write },      { 'o', edit_answer_write }, { 't', edit_pass },
    { 'j', edit_jump },       { 'a', edit_answer },       { 'x', edit_break },
    { 'k', edit_bookmark },   { 'r', edit_refuse },       { 'e', edit_error_frame },
    { 'g', edit_garbage },    { 'n', edit_nameless },     { 'l', edit_list_anew },
    { 'q', edit_look_again },
};

static void next_edit(struct harness *h)
{
    unsigned letter = take(h, 256);
    const struct edit *d = &edits[letter % ARRAY_LEN(edits)];
    for (size_t i = 0; i < ARRAY_LEN(edits); i++)
        if ((unsigned) edits[i].letter == letter)
            d = &edits[i];
    d->fn(h);
}

/* ---- what must hold */

static bool shows(const struct thing *t, const struct fact *f)
{
    CLEANUP_FREE char *uid = xasprintf("u%d", f->uid);
    return str_eq(RECORD_UID(&t->head), uid) && t->text[0] == f->text;
}

static void check_record(const struct harness *h, int name)
{
    const struct thing *t = thing_get(&h->table, (char[]){ (char) ('a' + name), 0 });
    /* an answer to a write may be ahead of the watch */
    uint64_t rv = t && t->head.rv > h->told ? t->head.rv : h->told;
    const struct fact *f = fact_as_of(h, name, rv);
    bool is_there = exists(f) && f->text != '-';
    if (is_there && f->form != READABLE)
        return; /* what was known of it before, or nothing */
    if (t && rv > h->told)
        DEMAND(is_there && f->rv == rv && shows(t, f));
    else if (t)
        DEMAND(is_there ? shows(t, f) : h->keeps);
    else
        DEMAND(!is_there);
}

/* Nothing that was newer comes back as it was before, not by a list that was begun before a write
 * either. */
static void check_order(struct harness *h)
{
    for (int name = 0; name < NAMES; name++) {
        const struct thing *t = thing_get(&h->table, (char[]){ (char) ('a' + name), 0 });
        DEMAND(t ? t->head.rv >= h->shown[name] : h->mixed || h->taken[name] <= h->told);
        h->shown[name] = t ? t->head.rv : h->shown[name];
    }
}

static void check(struct harness *h)
{
    const struct informer *inf = h->informer;
    bool absent = !informer_state(inf).present;
    bool trusted = informer_state(inf).synced && !absent && !informer_state(inf).looks &&
                   !informer_state(inf).problem;
    DEMAND(!trusted || (!h->mixed && !h->gap && !(h->open && !h->watches)));
    DEMAND(!(h->open && h->watches && h->now_ms < h->doubt_until) || informer_state(inf).problem);
    DEMAND(!h->open || !h->watches || h->now_ms - h->heard_ms <= SILENCE_MS + JUMP_MAX_MS);
    DEMAND(h->open || absent || loop_deadline(h->loop) != INT64_MAX);
    DEMAND(h->told_synced == informer_state(inf).synced &&
           h->told_problem == (informer_state(inf).problem != NULL));
    DEMAND(informer_state(inf).unreadable >= h->unreadable);
    check_order(h);
    for (int name = 0; !h->mixed && name < NAMES; name++)
        check_record(h, name);
}

static void on_change(void *arg)
{
    struct harness *h = arg;
    h->told_synced = informer_state(h->informer).synced;
    h->told_problem = informer_state(h->informer).problem != NULL;
}

static bool is_well(const struct harness *h)
{
    const struct informer_state now = informer_state(h->informer);
    return now.synced && !now.problem && now.present && h->open && h->watches && h->told == h->rv;
}

/* From here on the server behaves. */
static void heal(struct harness *h)
{
    int64_t begin = h->now_ms;
    h->nameless = false;
    while (!is_well(h)) {
        DEMAND(h->now_ms - begin < HEALED_IN_MS);
        if (!h->open && !informer_state(h->informer).present)
            informer_look_again(h->informer, 0);
        else if (!h->open)
            pass(h, loop_deadline(h->loop) - h->now_ms);
        else if (!h->watches && h->answered)
            done(h, 200, ERR_NONE); /* half an answer */
        else if (!h->watches)
            answer_list(h, NAMES + 1, 1000);
        else
            answer_watch(h, FACTS_MAX), edit_bookmark(h);
        check(h);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const status_path[] = { "status", NULL };
    static const struct split_view bare = { status_path, false };
    static struct harness h; /* it is large */
    h = (struct harness){ .at = data, .end = data + size, .now_ms = 1000, .rv = 10 };
    log_setup(LOG_ERROR, false);
    h.clock = (struct clock){ .mono_ms = mono_ms, .wall_us = wall_us, .self = &h };
    h.loop = loop_new_virtual(&h.clock);
    const struct transport transport = { .submit = submit, .cancel = cancel, .self = &h };
    const struct table_ops ops = thing_ops(NULL);
    table_init(&h.table, &ops);
    h.table.hash_of = thing_hash;
    h.table.matters = thing_matters;
    unsigned flags = take(&h, 256);
    h.optional = flags & 1;
    const struct informer_options options = { .resource = RESOURCE_NODE,
                                              .optional = h.optional,
                                              .seed = flags,
                                              .bare = flags & 2 ? &bare : NULL };
    h.informer = informer_new(&options, &h.table, &transport, h.loop, on_change, &h);
    loop_turn(h.loop);
    informer_start(h.informer);
    for (int i = 0; i < EDITS_MAX && h.at < h.end; i++) {
        next_edit(&h);
        check(&h);
    }
    heal(&h);
    informer_free(h.informer);
    DEMAND(!h.open && loop_deadline(h.loop) == INT64_MAX);
    table_clear(&h.table);
    loop_free(h.loop);
    return 0;
}
