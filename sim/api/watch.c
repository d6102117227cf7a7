/* Watches. */
#include "sim/api/read.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/event_view.h"
#include "sim/api/state.h"
#include "sim/api/text.h"

/* The shortest default timeout of a watch. */
enum { WATCH_TIMEOUT_S = 1800 };

#define INITIAL_EVENTS_END "k8s.io/initial-events-end"

struct api_watch {
    struct api *api;
    const struct kind *kind;
    const struct kind *stored; /* the kind under which its objects are kept */
    struct filter filter;
    /* objects that are sent first; `objects` is NULL if there are none */
    struct page initial;
    size_t initial_told;
    bool initial_end; /* their final bookmark must still be sent */
    bool bookmarks;
    enum table_form table;
    bool columns_told; /* only the first table has columns */
    uint64_t told;     /* the version up to which everything was sent */
    int64_t timeout_ms;
};

/* Where a watch begins: with a list or not, and at which version. */
static int find_start(struct api_watch *w, const struct list_options *o, struct refusal *r)
{
    int64_t rv = 0;
    if (*o->rv && !str_parse_int(o->rv, 0, INT64_MAX, &rv))
        return refuse(r, 500,
                      "resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": "
                      "invalid syntax",
                      o->rv, o->rv);
    w->told = rv > 0 && !o->initial_events ? (uint64_t) rv : w->api->store.rv;
    bool lists = o->initial_events || (rv == 0 && !o->asks_initial);
    if (!lists)
        return 0;
    struct list_options whole = { .rv = "", .continuation = "" };
    w->initial_end = o->initial_events && o->bookmarks;
    return page_read(w->api, w->kind, &whole, &w->filter, &w->initial, r);
}

/* The requested timeout, within the range of the clock. */
static int64_t timeout_s(const struct list_options *o)
{
    int64_t asked = o->timeout_s > 0 ? o->timeout_s : WATCH_TIMEOUT_S;
    return asked < INT32_MAX ? asked : INT32_MAX;
}

int watch_open(struct api *api, const struct kind *k, const struct list_options *o,
               struct filter *filter_steal, enum table_form table, struct api_watch **ret,
               struct refusal *r)
{
    struct api_watch *w = xcalloc(1, sizeof *w);
    *w = (struct api_watch){ .api = api,
                             .kind = k,
                             .stored = event_stored_kind(k),
                             .filter = *filter_steal,
                             .bookmarks = o->bookmarks,
                             .table = table,
                             .timeout_ms = timeout_s(o) * 1000 };
    *filter_steal = (struct filter){ 0 };
    if (find_start(w, o, r) < 0) {
        api_watch_free(w);
        return -1;
    }
    *ret = w;
    return 0;
}

void api_watch_free(struct api_watch *w)
{
    if (!w)
        return;
    filter_clear(&w->filter);
    page_clear(&w->initial);
    free(w);
}

/* ---- frames: one line each, in the buffer that all watches share */

static enum api_watch_news frame_end(struct api_watch *w, enum api_watch_news news)
{
    buf_str(&w->api->frame, "}\n");
    return news;
}

static void frame_begin(struct api_watch *w, const char *type)
{
    buf_reset(&w->api->frame);
    buf_printf(&w->api->frame, "{\"type\":\"%s\",\"object\":", type);
}

static void add_object(struct api_watch *w, json_t *object)
{
    if (w->table) {
        CLEANUP_JSON json_t *table = table_of(w->api, w->kind, w->table, object, false);
        /* Only the first table has columns. */
        if (w->columns_told)
            json_object_set_new(table, "columnDefinitions", json_null());
        w->columns_told = true;
        text_add(&w->api->frame, table);
    } else if (w->kind == w->stored) {
        text_add_stored(w->api, &w->api->frame, object);
    } else {
        CLEANUP_JSON json_t *view = event_view(w->kind, object);
        text_add(&w->api->frame, view);
    }
}

static enum api_watch_news watch_send(struct api_watch *w, const char *type, json_t *object)
{
    frame_begin(w, type);
    add_object(w, object);
    return frame_end(w, API_WATCH_FRAME);
}

static enum api_watch_news send_bookmark(struct api_watch *w, bool ends_initial)
{
    frame_begin(w, "BOOKMARK");
    buf_printf(&w->api->frame,
               "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"%" PRIu64
               "\"%s}}",
               w->kind->kind, kind_api_version(w->kind), w->told,
               ends_initial ? ",\"annotations\":{\"" INITIAL_EVENTS_END "\":\"true\"}" : "");
    return frame_end(w, API_WATCH_FRAME);
}

static enum api_watch_news send_gone(struct api_watch *w)
{
    CLEANUP_REFUSAL struct refusal gone = { 0 };
    refuse(&gone, 410, "too old resource version: %" PRIu64 " (%" PRIu64 ")", w->told,
           w->api->store.first);
    CLEANUP_JSON json_t *status = refusal_status(&gone);
    frame_begin(w, "ERROR");
    text_add(&w->api->frame, status);
    return frame_end(w, API_WATCH_GONE);
}

/* The event of a commit behind the filter: an object that stops matching is DELETED. NULL: no
 * event. */
static const char *watch_type_of(const struct api_watch *w, const struct api_commit *c)
{
    if (c->kind != w->stored)
        return NULL;
    bool was = filter_matches(&w->filter, c->before), is = filter_matches(&w->filter, c->after);
    if (is)
        return was ? "MODIFIED" : "ADDED";
    return was ? "DELETED" : NULL;
}

static enum api_watch_news send_commit(struct api_watch *w, const struct api_commit *c,
                                       const char *type)
{
    if (filter_matches(&w->filter, c->after))
        return watch_send(w, type, c->after);
    CLEANUP_JSON json_t *last = api_last_state(c->before, c->rv);
    return watch_send(w, type, last);
}

static enum api_watch_news send_next(struct api_watch *w)
{
    if (w->initial_told < json_array_size(w->initial.objects))
        return watch_send(w, "ADDED", json_array_get(w->initial.objects, w->initial_told++));
    page_clear(&w->initial);
    w->initial_told = 0;
    if (w->initial_end) {
        w->initial_end = false;
        return send_bookmark(w, true);
    }
    if (!store_knows_since(&w->api->store, w->told))
        return send_gone(w);
    while (w->told < w->api->store.rv) {
        const struct api_commit *c = store_commit_at(&w->api->store, ++w->told);
        const char *type = watch_type_of(w, c);
        if (type)
            return send_commit(w, c, type);
    }
    return API_WATCH_NOTHING;
}

/* The frame that was written last. */
static const char *frame_of(const struct api_watch *w, size_t *ret_len)
{
    *ret_len = w->api->frame.len;
    return w->api->frame.data;
}

enum api_watch_news api_watch_next(struct api_watch *w, const char **ret, size_t *ret_len)
{
    enum api_watch_news news = send_next(w);
    *ret = frame_of(w, ret_len);
    return news;
}

const char *api_watch_bookmark(struct api_watch *w, size_t *ret_len)
{
    if (!w->bookmarks || w->initial.objects || w->initial_end)
        return NULL;
    send_bookmark(w, false);
    return frame_of(w, ret_len);
}

int64_t api_watch_timeout_ms(const struct api_watch *w)
{
    return w->timeout_ms;
}

bool api_watch_wants(const struct api_watch *w, const struct api_commit *c)
{
    return c->rv > w->told && watch_type_of(w, c);
}

const struct kind *api_watch_kind(const struct api_watch *w)
{
    return w->kind;
}

uint64_t api_watch_rv(const struct api_watch *w)
{
    return w->told;
}
