/* The table of Events. */
#include "sim/api/table.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "sim/api/text.h"

/* All of this reads events as they are stored: in the view of the core group. */

static const char *first_seen(const struct cell *c)
{
    const char *time = json_str(c->object, "firstTimestamp");
    return time ? time : json_str(c->object, "eventTime");
}

static json_t *cell_first_seen(const struct cell *c)
{
    CLEANUP_FREE char *age = table_age(first_seen(c), c->now_us);
    return json_text(age);
}

static json_t *cell_last_seen(const struct cell *c)
{
    const char *time = json_str(c->object, "lastTimestamp");
    if (json_at(c->object, "series"))
        time = json_str(c->object, "series.lastObservedTime");
    else if (!time)
        time = first_seen(c);
    CLEANUP_FREE char *age = table_age(time, c->now_us);
    return json_text(age);
}

static json_t *cell_count(const struct cell *c)
{
    if (json_at(c->object, "series"))
        return json_integer(json_int(c->object, "series.count", 0));
    int64_t count = json_int(c->object, "count", 0);
    return json_integer(count ? count : 1);
}

/* "pod/driver-x2x9t". */
static json_t *cell_subject(const struct cell *c)
{
    const char *name = json_str_or_empty(c->object, "involvedObject.name");
    CLEANUP_FREE char *kind = text_lower(json_str_or_empty(c->object, "involvedObject.kind"));
    return *name ? json_textf("%s/%s", kind, name) : json_text(kind);
}

/* The text at the first of two paths that has one. */
static const char *first_text(const json_t *object, const char *path, const char *other)
{
    const char *text = json_str_or_empty(object, path);
    return *text ? text : json_str_or_empty(object, other);
}

/* "kubelet, gpu-1". */
static json_t *cell_source(const struct cell *c)
{
    const char *component = first_text(c->object, "source.component", "reportingComponent");
    const char *host = first_text(c->object, "source.host", "reportingInstance");
    return *host ? json_textf("%s, %s", component, host) : json_text(component);
}

static json_t *cell_message(const struct cell *c)
{
    static const char blanks[] = " \t\r\n";
    const char *text = json_str_or_empty(c->object, c->path);
    text += strspn(text, blanks);
    size_t n = strlen(text);
    while (n > 0 && strchr(blanks, text[n - 1]))
        n--;
    CLEANUP_FREE char *trimmed = xstrndup(text, n);
    return json_text(trimmed);
}

static const struct column event_columns[] = {
    { "Last Seen", "string", 0, cell_last_seen, "", NULL },
    { "Type", "string", 0, cell_text, "type", NULL },
    { "Reason", "string", 0, cell_text, "reason", NULL },
    { "Object", "string", 0, cell_subject, "", NULL },
    { "Subobject", "string", 1, cell_text, "involvedObject.fieldPath", NULL },
    { "Source", "string", 1, cell_source, "", NULL },
    { "Message", "string", 0, cell_message, "message", NULL },
    { "First Seen", "string", 1, cell_first_seen, "", NULL },
    { "Count", "string", 1, cell_count, "", NULL },
    { "Name", "string", 1, cell_text, "metadata.name", NULL },
};
const struct columns columns_of_event = COLUMNS(event_columns);
