#include "controller/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/metrics.h"
#include "base/str.h"
#include "base/terminal.h"
#include "controller/fleet_frames.h"
#include "serve/page_gate.h"
#include "serve/ring.h"

enum {
    RING_SIZE = 768 << 10,     /* with 64 viewers and a snapshot of 5,000 nodes less than 1.5 MiB */
    FRAME_MAX = RING_SIZE / 2, /* of a longer one, no viewer could read all in time */
    TEXT_MAX = 256 << 20,
    ERROR_MAX = 1 << 16,
    CHANGES_MAX = 2000, /* nodes in a frame; for more a snapshot is shorter */
    FRAME_MS = 250,
    /* Most changes of a node change the policy's counts, and its frame has as many bytes as the
     * rows of forty nodes. */
    POLICY_MS = 1000,
    BEAT_MS = 25 * 1000, /* proxies end connections on which nothing comes for a minute */
    LOOK_MS = 60 * 1000, /* without a stream, a viewer may come back for so long */
    SNAPSHOT_MS = 2000,  /* viewers who come within this time share one */
};

struct fleet {
    struct fleet_options o;
    struct ring *ring;
    struct page *page;
    bool watched;
    int64_t looked_ms; /* when a viewer was last seen */
    /* What the next frames are about: names, which the keys own. */
    struct map names;
    bool policy, too_many, due;
    struct timer frame_timer, beat_timer, snapshot_timer;
    int64_t framed_ms, policy_ms; /* when the last frame was made, and the policy's last one */
    struct page_body *snapshot;   /* of this state; NULL: none is kept */
    uint64_t snapshot_sequence;
    uint64_t frames;
    struct metric *metric_streams, *metric_frames, *metric_bytes, *metric_resets, *metric_refused;
};

/* Requests come between the loop's turns, whose time is that of the last one. */
static int64_t now_ms(const struct fleet *f)
{
    return clock_mono_ms(loop_clock(f->o.loop));
}

static void as_of(const struct fleet *f, char ret[static CLOCK_TEXT_MAX])
{
    clock_rfc3339(f->o.texts.as_of_us(f->o.texts.arg), ret);
}

/* ---- frames */

static void names_clear(struct fleet *f)
{
    map_clear_with(&f->names, free);
    f->names = (struct map){ 0 };
}

static void frame_publish(struct fleet *f, const struct buf *frame)
{
    ring_add(f->ring, frame->data, frame->len);
    f->frames++;
    f->framed_ms = now_ms(f);
}

/* Fills an empty frame, and gives it its id. */
typedef void frame_fn(const struct fleet *f, const char *now, const char *id, struct buf *out);

static void fill_nodes(const struct fleet *f, const char *now, const char *id, struct buf *out)
{
    if (f->too_many)
        fleet_frame_reset(id, out);
    else
        fleet_frame_nodes(&f->o.texts, &f->names, now, id, out);
}

static void fill_policy(const struct fleet *f, const char *now, const char *id, struct buf *out)
{
    fleet_frame_policy(&f->o.texts, now, id, out);
}

static void frame_make(struct fleet *f, frame_fn *fill)
{
    CLEANUP_BUF struct buf frame = BUF_INIT(TEXT_MAX);
    char now[CLOCK_TEXT_MAX], id[PAGE_TAG_MAX];
    as_of(f, now);
    fleet_id(f->o.holder, ring_sequence(f->ring) + 1, id);
    fill(f, now, id, &frame);
    if (frame.len > FRAME_MAX) {
        buf_reset(&frame);
        fleet_frame_reset(id, &frame);
    }
    frame_publish(f, &frame);
}

static void snapshot_drop(void *arg)
{
    struct fleet *f = arg;
    page_body_unref(TAKE(f->snapshot));
}

static void on_frame_due(void *arg)
{
    struct fleet *f = arg;
    bool policy = f->policy && !f->too_many && now_ms(f) - f->policy_ms >= POLICY_MS;
    if (f->too_many || f->names.len > 0)
        frame_make(f, fill_nodes);
    if (policy) {
        frame_make(f, fill_policy);
        f->policy_ms = f->framed_ms;
    }
    f->policy = f->due = f->policy && !f->too_many && !policy;
    f->too_many = false;
    names_clear(f);
    if (f->due)
        loop_timer_set(f->o.loop, &f->frame_timer, now_ms(f) + FRAME_MS);
    page_wake(f->page);
}

void fleet_changed(struct fleet *f, const char *name)
{
    if (!f || !f->watched)
        return;
    if (!name) {
        f->policy = true;
    } else if (!f->too_many && !map_get(&f->names, name)) {
        f->too_many = f->names.len >= CHANGES_MAX;
        char *copy = xstrdup(name);
        map_put(&f->names, copy, copy);
    }
    if (f->too_many)
        names_clear(f);
    if (!f->due)
        loop_timer_set(f->o.loop, &f->frame_timer, now_ms(f) + FRAME_MS);
    f->due = true;
}

/* ---- viewers come and go */

static void look_away(struct fleet *f)
{
    f->watched = f->policy = f->too_many = f->due = false;
    loop_timer_cancel(f->o.loop, &f->frame_timer);
    names_clear(f);
    snapshot_drop(f);
    ring_forget(f->ring);
}

static void on_beat_due(void *arg)
{
    struct fleet *f = arg;
    int64_t now = now_ms(f);
    if (page_streams(f->page) > 0)
        f->looked_ms = now;
    if (now - f->looked_ms >= LOOK_MS) {
        look_away(f);
        return;
    }
    if (page_streams(f->page) > 0 && now - f->framed_ms >= BEAT_MS) {
        CLEANUP_BUF struct buf beat = BUF_INIT(4096);
        char text[CLOCK_TEXT_MAX];
        as_of(f, text);
        fleet_frame_beat(f->o.texts.hears(f->o.texts.arg) ? text : NULL, &beat);
        ring_add_beat(f->ring, beat.data, beat.len);
        page_wake(f->page);
        f->framed_ms = now;
    }
    int64_t next = f->framed_ms + BEAT_MS;
    loop_timer_set(f->o.loop, &f->beat_timer, next > now ? next : now + BEAT_MS);
}

static void look(struct fleet *f)
{
    int64_t now = now_ms(f);
    f->looked_ms = now;
    if (f->watched)
        return;
    f->watched = true;
    f->framed_ms = now;
    loop_timer_set(f->o.loop, &f->beat_timer, now + BEAT_MS);
}

/* ---- answers */

static void answer_text(struct page_answer *ret, int status, struct buf *text)
{
    ret->status = status;
    ret->body = page_body_new(text);
}

/* The page shows a command with the leader's name, to copy: no other text may come in there, and
 * whoever may write the Lease could. */
static bool is_name_of_pod(const char *s)
{
    return s && *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.")] == '\0' && *s != '-';
}

static void answer_error(struct page_answer *ret, int status, const char *error, const char *leader)
{
    struct buf text = BUF_INIT(ERROR_MAX);
    buf_str(&text, "{\"error\":");
    if (!terminal_add_json(&text, error))
        buf_str(&text, "\"\"");
    if (is_name_of_pod(leader))
        buf_printf(&text, ",\"leader\":\"%s\"", leader);
    buf_str(&text, "}");
    answer_text(ret, status, &text);
}

static void answer_snapshot(struct fleet *f, const struct http1_request *r, const char *rest,
                            struct page_answer *ret)
{
    (void) rest;
    look(f);
    uint64_t sequence = ring_sequence(f->ring);
    fleet_id(f->o.holder, sequence, ret->tag);
    ret->status = 304;
    if (page_tag_matches(r->headers[HTTP1_IF_NONE_MATCH], ret->tag))
        return;
    if (f->snapshot && f->snapshot_sequence != sequence)
        snapshot_drop(f);
    if (!f->snapshot) {
        struct buf text = BUF_INIT(TEXT_MAX);
        f->o.texts.snapshot(f->o.texts.arg, ret->tag, &text);
        f->snapshot = page_body_new(&text);
        f->snapshot_sequence = sequence;
        loop_timer_set(f->o.loop, &f->snapshot_timer, now_ms(f) + SNAPSHOT_MS);
    }
    ret->status = 200;
    ret->body = page_body_ref(f->snapshot);
}

/* The id after which a viewer wants to continue; NULL: from now on. A browser that connects again
 * sends the header. */
static const char *wanted_after(const struct http1_request *r, const char *query)
{
    const char *header = r->headers[HTTP1_LAST_EVENT_ID], *after = NULL;
    if (header && *header)
        return header;
    return str_is_option(query, "after", &after) ? after : NULL;
}

static void answer_events(struct fleet *f, const struct http1_request *r, const char *query,
                          struct page_answer *ret)
{
    struct buf text = BUF_INIT(4096);
    char now[CLOCK_TEXT_MAX];
    look(f);
    const char *after = wanted_after(r, query);
    uint64_t sequence;
    ret->from = ring_end(f->ring);
    bool found = !after || (fleet_id_parse(after, f->o.holder, &sequence) &&
                            ring_find(f->ring, sequence, &ret->from));
    buf_str(&text, "retry: 2000\n");
    as_of(f, now);
    if (found) {
        fleet_frame_beat(f->o.texts.hears(f->o.texts.arg) ? now : NULL, &text);
    } else {
        ret->from = ring_end(f->ring);
        fleet_frame_reset(NULL, &text);
    }
    ret->stream = true;
    answer_text(ret, 200, &text);
}

static void answer_node(struct fleet *f, const struct http1_request *r, const char *rest,
                        struct page_answer *ret)
{
    (void) r;
    struct buf text = BUF_INIT(TEXT_MAX);
    size_t len = strlen(rest);
    CLEANUP_FREE char *name = str_has_suffix(rest, ".json") ? xstrndup(rest, len - 5) : NULL;
    if (name && f->o.texts.node(f->o.texts.arg, name, &text)) {
        answer_text(ret, 200, &text);
        return;
    }
    buf_clear(&text);
    answer_error(ret, 404, "Ostler knows no GPU node of this name", NULL);
}

static const struct route {
    const char *path;
    char end; /* of the path: what follows is `rest` */
    void (*answer)(struct fleet *f, const struct http1_request *r, const char *rest,
                   struct page_answer *ret);
} routes[] = {
    { "/fleet.json", '?', answer_snapshot },
    { "/events", '?', answer_events },
    { "/node", '/', answer_node },
};

static const struct route *route_find(const char *target, const char **ret_rest)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        size_t n = strlen(routes[i].path);
        if (strncmp(target, routes[i].path, n) != 0)
            continue;
        *ret_rest = target[n] ? target + n + 1 : "";
        if (target[n] == routes[i].end || (target[n] == '\0' && routes[i].end == '?'))
            return &routes[i];
    }
    return NULL;
}

static void on_request(void *arg, const struct http1_request *r, struct page_answer *ret)
{
    struct fleet *f = arg;
    const char *rest;
    const struct route *route = route_find(r->target, &rest);
    if (!route) {
        answer_error(ret, 404, "the paths are /, /fleet.json, /events and /node/NAME.json", NULL);
        return;
    }
    CLEANUP_FREE char *leader = NULL;
    CLEANUP_FREE char *why = f->o.texts.why_nothing(f->o.texts.arg, &leader);
    if (why)
        answer_error(ret, 503, why, leader);
    else
        route->answer(f, r, rest, ret);
}

/* ---- metrics */

static void fleet_metrics_add(struct fleet *f)
{
    static const char *const by_reason[] = { "reason", NULL };
    struct metrics *m = f->o.metrics;
    f->metric_streams = metrics_gauge(m, "ostler_page_streams",
                                      "Viewers of the fleet page with an open stream.", NULL);
    f->metric_frames = metrics_counter(m, "ostler_page_frames_total",
                                       "Frames made for the streams of the fleet page.", NULL);
    f->metric_bytes = metrics_counter(m, "ostler_page_sent_bytes_total",
                                      "Bytes that the fleet page's server sent.", NULL);
    f->metric_resets = metrics_counter(m, "ostler_page_resets_total",
                                       "Viewers of the fleet page that fell behind and began anew.",
                                       NULL);
    f->metric_refused = metrics_counter(
        m, "ostler_page_refused_total",
        "Requests that the fleet page refused, by reason: the Host, another site, or too many "
        "streams.",
        by_reason);
}

void fleet_update_metrics(struct fleet *f)
{
    if (!f)
        return;
    struct page_counts c = page_counts(f->page);
    metric_set(f->metric_streams, NULL, (double) page_streams(f->page));
    metric_set(f->metric_frames, NULL, (double) f->frames);
    metric_set(f->metric_bytes, NULL, (double) c.bytes);
    metric_set(f->metric_resets, NULL, (double) c.resets);
    metric_set(f->metric_refused, (const char *const[]){ "host" }, (double) c.refused_hosts);
    metric_set(f->metric_refused, (const char *const[]){ "site" }, (double) c.refused_sites);
    metric_set(f->metric_refused, (const char *const[]){ "streams" }, (double) c.refused_streams);
}

/* ---- life */

struct fleet *fleet_new(const struct fleet_options *o, struct err *e)
{
    struct fleet *f = xcalloc(1, sizeof *f);
    f->o = *o;
    f->ring = ring_new(RING_SIZE);
    f->frame_timer = (struct timer){ .fn = on_frame_due, .arg = f };
    f->beat_timer = (struct timer){ .fn = on_beat_due, .arg = f };
    f->snapshot_timer = (struct timer){ .fn = snapshot_drop, .arg = f };
    const struct page_options po = { .listen = o->listen,
                                     .hosts = o->hosts,
                                     .files = o->files,
                                     .file_count = o->file_count,
                                     .beside = o->server,
                                     .ring = f->ring,
                                     .answer = on_request,
                                     .arg = f };
    f->page = page_new(&po, e);
    if (!f->page) {
        fleet_free(f);
        return NULL;
    }
    fleet_metrics_add(f);
    return f;
}

int fleet_port(const struct fleet *f)
{
    return page_port(f->page);
}

void fleet_free(struct fleet *f)
{
    if (!f)
        return;
    names_clear(f);
    page_body_unref(f->snapshot);
    page_free(f->page);
    ring_free(f->ring);
    free(f);
}
