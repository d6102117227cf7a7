/* GET requests: one object, lists in pages, tables. */
#include "sim/api/serve.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/event_view.h"
#include "sim/api/state.h"
#include "sim/api/text.h"

int serve_get(struct serving *s)
{
    const struct path *p = &s->path;
    uint64_t rv;
    if (version_parse(s->api, str_or_empty(path_parameter(p, "resourceVersion")), &rv,
                      &s->refusal) < 0)
        return -1;
    json_t *object = api_get(s->api, p->kind, p->ns, p->name);
    if (!object)
        return refuse_not_found(&s->refusal, p->kind, p->name);
    return serve_object(s, 200, event_view(p->kind, object));
}

int serve_filter(struct serving *s, struct list_options *ret, struct filter *ret_filter)
{
    const struct path *p = &s->path;
    if (list_options_parse(p, ret, &s->refusal) < 0)
        return -1;
    return filter_compile(p->kind, p->ns, path_parameter(p, "labelSelector"),
                          path_parameter(p, "fieldSelector"), ret_filter, &s->refusal);
}

/* The metadata of a list; a token is of a form that needs no escapes in JSON. */
static void add_list_metadata(struct buf *out, const struct page *page)
{
    buf_printf(out, "{\"resourceVersion\":\"%" PRIu64 "\"", page->rv);
    if (page->continuation)
        buf_printf(out, ",\"continue\":\"%s\"", page->continuation);
    if (page->continuation && page->remaining > 0)
        buf_printf(out, ",\"remainingItemCount\":%" PRId64, page->remaining);
    buf_str(out, "}");
}

static void add_list(struct api *api, struct buf *out, const struct kind *k,
                     const struct page *page)
{
    buf_printf(out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":", k->kind,
               kind_api_version(k));
    add_list_metadata(out, page);
    buf_str(out, ",\"items\":[");
    JSON_EACH_AT (i, object, page->objects) {
        CLEANUP_JSON json_t *view = event_view(k, object);
        buf_str(out, i ? "," : "");
        text_add_item(api, out, k, view);
    }
    buf_str(out, "]}");
}

static void add_table(struct serving *s, struct buf *out, const struct page *page)
{
    CLEANUP_JSON json_t *table = table_of(s->api, s->path.kind, s->table, page->objects, true);
    CLEANUP_BUF struct buf metadata = BUF_INIT(API_TEXT_MAX);
    add_list_metadata(&metadata, page);
    json_object_set_new(table, "metadata", json_loadb(metadata.data, metadata.len, 0, NULL));
    text_add(out, table);
}

int serve_page(struct serving *s, const struct page *page)
{
    struct buf out = BUF_INIT(API_TEXT_MAX);
    if (s->table)
        add_table(s, &out, page);
    else
        add_list(s->api, &out, s->path.kind, page);
    return serve_text(s, 200, &out);
}

int serve_list(struct serving *s)
{
    struct list_options o;
    CLEANUP_FILTER struct filter filter = { 0 };
    if (serve_filter(s, &o, &filter) < 0)
        return -1;
    if (o.watch) {
        s->answer->status = 200;
        s->answer->content_type = "application/json";
        return watch_open(s->api, s->path.kind, &o, &filter, s->table, &s->answer->watch,
                          &s->refusal);
    }
    CLEANUP_PAGE struct page page = { 0 };
    if (page_read(s->api, s->path.kind, &o, &filter, &page, &s->refusal) < 0)
        return -1;
    return serve_page(s, &page);
}
