#include "reconcilers/view/nodes.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "reconcilers/model/gpu_node.h"
#include "reconcilers/model/names.h"
#include "reconcilers/model/reason.h"

/* ---- view */

static bool nodes_is_wanted(const struct nodes_wanted *w, const json_t *report)
{
    bool named = w->name_count == 0;
    for (size_t i = 0; i < w->name_count; i++)
        named = named || str_eq(w->names[i], object_name(report));
    return named && (!w->state || strcasecmp(w->state, snapshot_node_state(report)) == 0);
}

/* Copies a text from the report's status under another name. */
static void copy_text(json_t *row, const char *name, const json_t *status, const char *path)
{
    const char *text = json_str(status, path);
    if (text && *text)
        json_object_set_new(row, name, json_text(text));
}

/* "yes", "no", or "unknown": whether the node runs the policy's target. NULL: it has none. */
static const char *is_current(const json_t *status, const json_t *report, const json_t *policy)
{
    if (str_eq(snapshot_node_state(report), "Unmanaged"))
        return NULL;
    /* Its target is the previous revision, not the policy's. */
    if (gpu_node_falls_back(status))
        return "no";
    if (seen_is_outdated(status))
        return "no";
    /* A host's driver has no revision: then the stack's target shows whether there is a target. */
    const char *tier = str_eq(json_str(status, "driver.version"), GPU_NODE_HOST_DRIVER)
                           ? "stack.target"
                           : "driver.target";
    return snapshot_report_is_stale(report, policy) || !json_str(status, tier) ? "unknown" : "yes";
}

/* 0: now, or it is no time. */
static int64_t seconds_until(const char *time, int64_t now_us)
{
    int64_t at_us = clock_parse_rfc3339(time);
    return at_us > now_us ? (at_us - now_us) / 1000000 : 0;
}

static json_t *nodes_row_of(const json_t *report, const json_t *node, const json_t *policy,
                            int64_t now_us)
{
    static const struct {
        const char *name, *path;
    } texts[] = {
        { "reason", "reason" },
        { "message", "message" },
        { "since", "since" },
        { "product", "product" },
        { "driver", "driver.version" },
        { "loaded", "inventory.module.version" },
        { "revision", "driver.revision" },
        { "target", "driver.target" },
        { "stackRevision", "stack.revision" },
        { "stackTarget", "stack.target" },
        { "next", "next.reason" },
        { "until", "next.until" },
        { "kernel", "inventory.kernel" },
        { "os", "inventory.os.name" },
        { "holders", "inventory.heldBy" },
        { "health", "health.level" },
        { "fault", "health.reason" },
        { "healthState", "health.state" },
    };
    const json_t *status = json_object_get(report, "status"),
                 *first = json_array_get(json_at(status, "waitingFor"), 0);
    json_t *row = json_pack("{s:s, s:s}", "name", object_name(report), "state",
                            snapshot_node_state(report));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        copy_text(row, texts[i].name, status, texts[i].path);
    json_object_set_new(row, "seconds",
                        json_integer(term_seconds_since(json_str(status, "since"), now_us)));
    const char *until = json_str(row, "until");
    if (until)
        json_object_set_new(row, "untilSeconds", json_integer(seconds_until(until, now_us)));
    if (json_object_get(status, "gpus"))
        json_object_set_new(row, "gpus", json_integer(json_int(status, "gpus", 0)));
    if (is_current(status, report, policy))
        json_object_set_new(row, "current", json_string(is_current(status, report, policy)));
    if (first)
        json_object_set_new(row, "waitingFor",
                            json_textf("%s %s", json_str_or_empty(first, "kind"),
                                       json_str_or_empty(first, "name")));
    if (node) {
        json_object_set_new(row, "held", json_boolean(snapshot_node_is_held(node)));
        json_object_set_new(row, "cordoned",
                            json_boolean(json_bool(node, "spec.unschedulable", false)));
    }
    return row;
}

static int nodes_by_name(const json_t *a, const json_t *b)
{
    return strverscmp(json_str_or_empty(a, "name"), json_str_or_empty(b, "name"));
}

json_t *nodes_view(const json_t *snapshot, const struct nodes_wanted *wanted, int64_t now_us)
{
    const json_t *nodes = json_object_get(snapshot, "nodes");
    CLEANUP_JSON json_t *by = snapshot_by_key(nodes);
    json_t *rows = json_array();
    JSON_EACH (item, json_object_get(snapshot, "reports")) {
        if (!nodes_is_wanted(wanted, item))
            continue;
        const json_t *node = json_object_get(by, object_name(item));
        json_t *row = nodes_row_of(item, node, json_object_get(snapshot, "policy"), now_us);
        /* Nodes are selected by their GPU label: a node without it cannot be held. */
        if (nodes && !node)
            json_object_set_new(row, "held", json_false());
        json_array_append_new(rows, row);
    }
    return snapshot_sorted(rows, nodes_by_name);
}

/* ---- text output */

static enum colour colour_of(const char *state)
{
    static const struct {
        const char *state;
        enum colour colour;
    } rows[] = { { "Ready", GREEN }, { "Failed", RED },      { "Unhealthy", RED },
                 { "Lost", RED },    { "Unsupported", RED }, { "ForeignStack", DIM } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_eq(rows[i].state, state))
            return rows[i].colour;
    return YELLOW;
}

static const char *text_or_dash(const json_t *row, const char *name)
{
    const char *text = json_str(row, name);
    return text && *text ? text : "-";
}

/* "held", "cordoned": what admins did. */
static const char *people(const json_t *row)
{
    bool held = json_bool(row, "held", false), cordoned = json_bool(row, "cordoned", false);
    if (!json_object_get(row, "held"))
        return "?";
    return held && cordoned ? "held, cordoned" : held ? "held" : cordoned ? "cordoned" : "-";
}

/* "WaitingToRetry in 4m": what has to end first, and when that ends by itself. Owned by the caller.
 */
static char *next_text(const json_t *row)
{
    int64_t in_s = json_int(row, "untilSeconds", 0);
    CLEANUP_FREE char *span = term_span(in_s);
    return xasprintf("%s%s%s", text_or_dash(row, "next"), in_s > 0 ? " in " : "",
                     in_s > 0 ? span : "");
}

/* "Close, Closed": what the fault asks for, and what Ostler does about it. Owned by the caller. */
static char *health_text(const json_t *row)
{
    const char *state = json_str(row, "healthState");
    bool only_reported = !state || str_eq(state, "Reported");
    return xasprintf("%s%s%s", text_or_dash(row, "health"), only_reported ? "" : ", ",
                     only_reported ? "" : state);
}

static void add_row(struct grid *g, const json_t *row, bool wide)
{
    CLEANUP_FREE char *since = term_span(json_int(row, "seconds", 0));
    CLEANUP_FREE char *gpus = json_object_get(row, "gpus")
                                  ? xasprintf("%lld", snapshot_count(row, "gpus"))
                                  : xstrdup("-");
    CLEANUP_FREE char *next = next_text(row), *health = health_text(row);
    const char *loaded = json_str(row, "loaded"),
               *driver = loaded ? loaded : text_or_dash(row, "driver");
    const char *cells[] = { json_str_or_empty(row, "name"),
                            text_or_dash(row, "state"),
                            text_or_dash(row, "reason"),
                            json_int(row, "seconds", -1) < 0 ? "-" : since,
                            gpus,
                            driver,
                            text_or_dash(row, "current"),
                            people(row),
                            text_or_dash(row, "product"),
                            text_or_dash(row, "kernel"),
                            text_or_dash(row, "os"),
                            text_or_dash(row, "holders"),
                            health,
                            text_or_dash(row, "fault"),
                            next,
                            text_or_dash(row, "waitingFor"),
                            text_or_dash(row, "message") };
    grid_row(g, colour_of(cells[1]), cells, wide ? ARRAY_LEN(cells) : 9);
}

void nodes_print(const json_t *list, const struct paint *p, struct buf *out)
{
    static const char *const titles[] = {
        "NAME",    "STATE",  "REASON",  "SINCE",       "GPUS",    "DRIVER",
        "CURRENT", "PEOPLE", "PRODUCT", "KERNEL",      "OS",      "HOLDERS",
        "HEALTH",  "FAULT",  "NEXT",    "WAITING-FOR", "MESSAGE",
    };
    struct grid g = { 0 };
    grid_row(&g, PLAIN, titles, p->wide ? ARRAY_LEN(titles) : 9);
    JSON_EACH (row, list)
        add_row(&g, row, p->wide);
    grid_print(&g, p, out);
    grid_clear(&g);
}
