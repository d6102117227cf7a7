#include "reconcilers/recent_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"

void recent_events_init(struct recent_events *r)
{
    *r = (struct recent_events){ 0 };
    STAILQ_INIT(&r->list);
}

static bool is_repeated(const struct recent_event *e, const struct notice *n, const char *note)
{
    return e->resource == n->resource && str_eq(e->name, n->name) && str_eq(e->reason, n->reason) &&
           str_eq(e->note, note);
}

static void forget(struct recent_events *r, struct recent_event *e)
{
    STAILQ_REMOVE(&r->list, e, recent_event, link);
    r->bytes -= e->bytes;
    free(e);
}

/* An earlier one like it; NULL: there is none. */
static struct recent_event *find(const struct recent_events *r, const struct notice *n,
                                 const char *note)
{
    struct recent_event *e;
    STAILQ_FOREACH (e, &r->list, link)
        if (is_repeated(e, n, note))
            return e;
    return NULL;
}

void recent_events_add(struct recent_events *r, const struct notice *n, int64_t now_s)
{
    CLEANUP_FREE char *note = str_shortened(str_or_empty(n->note), RECENT_NOTE_MAX);
    struct recent_event *before = find(r, n, note);
    unsigned count = before ? before->count + 1 : 1;
    if (before)
        forget(r, before);
    size_t name_size = strlen(n->name) + 1, note_size = strlen(note) + 1,
           bytes = sizeof(struct recent_event) + name_size + note_size;
    struct recent_event *e = xcalloc(1, bytes);
    e->last_s = now_s;
    e->count = count;
    e->resource = n->resource;
    e->warning = n->warning;
    e->reason = n->reason;
    e->bytes = bytes;
    e->note = e->name + name_size;
    memcpy(e->name, n->name, name_size);
    memcpy(e->note, note, note_size);
    STAILQ_INSERT_TAIL(&r->list, e, link);
    r->bytes += bytes;
    while (r->bytes > RECENT_EVENTS_MAX)
        forget(r, STAILQ_FIRST(&r->list));
}

static json_t *event_json(const struct recent_event *e)
{
    char time[CLOCK_TEXT_MAX];
    clock_rfc3339(e->last_s * 1000000, time);
    return json_pack("{s:{s:s}, s:{s:s, s:o}, s:s, s:s, s:o, s:s, s:I, s:s}", "metadata",
                     "namespace", "default", "regarding", "kind", resource_get(e->resource)->kind,
                     "name", json_text(e->name), "type", e->warning ? "Warning" : "Normal",
                     "reason", e->reason, "note", json_text(e->note), "eventTime", time,
                     "deprecatedCount", (json_int_t) e->count, "reportingController",
                     "ostler.dev/ostler");
}

json_t *recent_events_of(const struct recent_events *r, enum resource_id resource, const char *name)
{
    json_t *list = json_array();
    const struct recent_event *e;
    STAILQ_FOREACH (e, &r->list, link)
        if (e->resource == resource && str_eq(e->name, name))
            json_array_append_new(list, event_json(e));
    return list;
}

void recent_events_clear(struct recent_events *r)
{
    while (!STAILQ_EMPTY(&r->list))
        forget(r, STAILQ_FIRST(&r->list));
}
