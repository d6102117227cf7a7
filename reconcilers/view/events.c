#include "reconcilers/view/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/task.h"

#define OSTLER_CONTROLLER "ostler.dev/ostler"

/* ---- selection */

struct picking {
    const struct events_wanted *wanted;
    json_t *gpu_nodes; /* by name; empty: unknown */
    json_t *pods;      /* by "namespace/name" */
};

static const char *events_text_of(const json_t *event, const char *path, const char *old)
{
    const char *text = json_str(event, path);
    return text ? text : json_str(event, old);
}

/* Time of the last occurrence. */
static const char *events_time_of(const json_t *event)
{
    static const char *const paths[] = { "series.lastObservedTime", "deprecatedLastTimestamp",
                                         "eventTime", "metadata.creationTimestamp" };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const char *time = json_str(event, paths[i]);
        if (time && clock_parse_rfc3339(time) >= 0)
            return time;
    }
    return NULL;
}

static bool is_wanted_node(const struct picking *p, const char *name)
{
    for (size_t i = 0; i < p->wanted->node_count; i++)
        if (str_eq(p->wanted->nodes[i], name))
            return true;
    return p->wanted->node_count == 0;
}

/* Whether this is a pod that Ostler creates for a single node. */
static bool is_task_of(const char *pod, const char *node)
{
    char name[TASK_NAME_MAX];
    bool same = false;
    for (int kind = 0; kind < TASK_COUNT && !same; kind++) {
        task_name((enum task_kind) kind, node, name);
        same = str_eq(name, pod);
    }
    return same;
}

/* A deleted pod is identified by its Event's kubelet, or by its name. */
static bool is_wanted_pod(const struct picking *p, const json_t *event)
{
    const char *name = json_str_or_empty(event, "regarding.name"),
               *host = json_str(event, "deprecatedSource.host");
    CLEANUP_FREE char *key = xasprintf("%s/%s", json_str_or_empty(event, "regarding.namespace"),
                                       name);
    const json_t *pod = json_object_get(p->pods, key);
    if (p->wanted->node_count == 0)
        return true;
    if (pod || (host && *host))
        return is_wanted_node(p, pod ? task_node(pod) : host);
    for (size_t i = 0; i < p->wanted->node_count; i++)
        if (is_task_of(name, p->wanted->nodes[i]))
            return true;
    return false;
}

/* Other components report much about nodes; only nodes with GPUs matter here. */
static bool events_is_wanted(const struct picking *p, const json_t *event)
{
    const char *kind = json_str_or_empty(event, "regarding.kind"),
               *name = json_str_or_empty(event, "regarding.name");
    bool ours = str_eq(events_text_of(event, "reportingController", "deprecatedSource.component"),
                       OSTLER_CONTROLLER);
    const char *time = events_time_of(event);
    if (p->wanted->since_us && (!time || clock_parse_rfc3339(time) < p->wanted->since_us))
        return false;
    if (str_eq(kind, "Node") || str_eq(kind, GPU_NODE_KIND))
        return is_wanted_node(p, name) &&
               (ours || json_object_get(p->gpu_nodes, name) || p->wanted->node_count);
    if (str_eq(kind, "Pod"))
        return is_wanted_pod(p, event);
    return p->wanted->node_count == 0;
}

/* The namespace `default` has Events of all cluster-scoped objects, and of its own pods. */
static bool is_of_default(const json_t *event)
{
    const char *kind = json_str_or_empty(event, "regarding.kind");
    return str_eq(kind, "Node") || str_eq(kind, GPU_NODE_KIND) || str_eq(kind, POLICY_KIND);
}

/* ---- rows */

static json_t *events_row_of(const json_t *event)
{
    const char *ns = json_str_or_empty(event, "regarding.namespace"), *time = events_time_of(event);
    const char *by = events_text_of(event, "reportingController", "deprecatedSource.component");
    json_int_t count = json_int(event, "series.count", json_int(event, "deprecatedCount", 1));
    return json_pack("{s:s, s:s, s:o, s:s, s:s, s:I, s:s}", "time", str_or_empty(time), "type",
                     json_str_or_empty(event, "type"), "object",
                     json_textf("%s %s%s%s", json_str_or_empty(event, "regarding.kind"), ns,
                                *ns ? "/" : "", json_str_or_empty(event, "regarding.name")),
                     "reason", json_str_or_empty(event, "reason"), "note",
                     str_or_empty(events_text_of(event, "note", "message")), "count", count, "by",
                     str_or_empty(by));
}

static int by_time(const json_t *a, const json_t *b)
{
    int64_t s = clock_parse_rfc3339(json_str_or_empty(a, "time"));
    int64_t t = clock_parse_rfc3339(json_str_or_empty(b, "time"));
    return s != t ? (s > t) - (s < t)
                  : strcmp(json_str_or_empty(a, "note"), json_str_or_empty(b, "note"));
}

static void add_rows(json_t *rows, const json_t *events, bool of_default, const struct picking *p)
{
    JSON_EACH (event, events)
        if ((!of_default || is_of_default(event)) && events_is_wanted(p, event))
            json_array_append_new(rows, events_row_of(event));
}

json_t *events_view(const json_t *snapshot, const struct events_wanted *wanted)
{
    CLEANUP_JSON json_t *pods = snapshot_by_key(json_object_get(snapshot, "pods"));
    CLEANUP_JSON json_t *gpu_nodes = snapshot_by_key(json_object_get(snapshot, "reports"));
    struct picking p = { .wanted = wanted, .pods = pods, .gpu_nodes = gpu_nodes };
    json_t *rows = json_array();
    add_rows(rows, json_object_get(snapshot, "policyEvents"), true, &p);
    add_rows(rows, json_object_get(snapshot, "events"), true, &p);
    add_rows(rows, json_object_get(snapshot, "operandEvents"), false, &p);
    add_rows(rows, json_object_get(snapshot, "ownEvents"), false, &p);
    return snapshot_sorted(rows, by_time);
}

json_t *events_news(const json_t *before, const json_t *list)
{
    CLEANUP_JSON json_t *known = json_object();
    json_t *news = json_array();
    JSON_EACH (row, before) {
        CLEANUP_FREE char *key = json_canonical(row);
        json_object_set_new(known, key, json_true());
    }
    JSON_EACH (row, list) {
        CLEANUP_FREE char *key = json_canonical(row);
        if (!json_object_get(known, key))
            json_array_append(news, row);
    }
    return news;
}

/* ---- text output */

void events_print(const json_t *list, const struct paint *p, struct buf *out)
{
    struct grid g = { .headless = true };
    JSON_EACH (row, list) {
        long long count = snapshot_count(row, "count");
        const char *at = json_str_or_empty(row, "time");
        CLEANUP_FREE char *time = xasprintf("%.19s%s", at, *at ? "Z" : "-");
        CLEANUP_FREE char *times = count > 1 ? xasprintf(" (%lld times)", count) : xstrdup("");
        CLEANUP_FREE char *note = xasprintf("%s%s", json_str_or_empty(row, "note"), times);
        const char *type = json_str_or_empty(row, "type");
        grid_row(&g, str_eq(type, "Warning") ? YELLOW : PLAIN,
                 (const char *const[]){ time, type, json_str_or_empty(row, "object"),
                                        json_str_or_empty(row, "reason"), note },
                 5);
    }
    grid_print(&g, p, out);
    grid_clear(&g);
}
