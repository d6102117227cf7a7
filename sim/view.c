#include "sim/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "kube/condition.h"
#include "sim/node_state.h"

enum { NOTES = 12, NEWS_ROWS = 3, TEXT_MAX = 1 << 20, LABEL_WIDTH = 34 };

#define OPERAND_NAMESPACE "ostler-operands"

/* The operands on one node. */
struct floor {
    struct node_operands operands;
    char node[];
};

struct view {
    struct view_options o;
    struct map floors;  /* node name to struct floor; nodes that ever had an operand */
    json_t *said;       /* the last text about each object; only for lines */
    struct buf lines;   /* since the last call */
    char *notes[NOTES]; /* the newest events, oldest first */
    size_t note_count;
};

/* ---- lines */

static void view_time_text(int64_t ms, struct buf *out)
{
    buf_printf(out, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, ms / 3600000, ms / 60000 % 60,
               ms / 1000 % 60);
}

/* Adds a line with the label in its own column; NULL: without that column. */
static void add_line(struct view *v, const char *label, const char *text)
{
    if (v->lines.len > TEXT_MAX / 2)
        return; /* more would be unreadable */
    view_time_text(clock_mono_ms(v->o.clock), &v->lines);
    if (label)
        buf_printf(&v->lines, "  %-*s", LABEL_WIDTH, label);
    buf_printf(&v->lines, "%s%s\n", label ? " " : "  ", text);
}

/* Adds a line about an object unless the last one was the same. An empty text is stored but not
 * shown. */
static void view_print_now(struct view *v, const char *label, const char *text)
{
    if (str_eq(json_key(v->said, label), text))
        return;
    json_object_set_new(v->said, label, json_text(text));
    if (*text)
        add_line(v, label, text);
}

static void view_forget(struct view *v, const char *label)
{
    if (json_object_del(v->said, label) == 0)
        add_line(v, label, "is gone");
}

static const json_t *report_of(const struct view *v, const json_t *node)
{
    return api_get(v->o.api, kind_named("gpunodes"), "", json_str_or_empty(node, "metadata.name"));
}

static enum node_state view_state_of(const struct view *v, const json_t *node)
{
    const struct floor *f = map_get(&v->floors, json_str_or_empty(node, "metadata.name"));
    return node_state_of(node, report_of(v, node), f ? &f->operands : NULL);
}

/* ---- descriptions of objects */

static char *node_text(const struct view *v, const json_t *node)
{
    const json_t *taints = json_at(node, "spec.taints");
    const char *gpus = json_key(json_at(node, "status.allocatable"), "nvidia.com/gpu");
    struct buf out = BUF_INIT(TEXT_MAX);
    enum node_state state = view_state_of(v, node);
    const char *reason = json_str(report_of(v, node), "status.reason");
    /* Its report shows Ready slightly longer than its GPUs exist. */
    bool bare = state == NODE_READY && str_eq(gpus, "0");
    buf_str(&out, bare ? "kubelet ready" : node_state_looks[state].name);
    if (reason && state != NODE_READY && !str_eq(reason, node_state_looks[state].name))
        buf_printf(&out, " %s", reason);
    if (json_bool(node, "spec.unschedulable", false))
        buf_str(&out, ", cordoned");
    if (*json_str_or_empty(node, "status.nodeInfo.osImage"))
        buf_printf(&out, ", %s", json_str(node, "status.nodeInfo.osImage"));
    if (gpus)
        buf_printf(&out, ", %s GPUs", gpus);
    JSON_EACH_AT (i, taint, taints)
        buf_printf(&out, "%s%s:%s", i ? " " : ", taints ", json_str_or_empty(taint, "key"),
                   json_str_or_empty(taint, "effect"));
    return buf_take(&out);
}

static char *daemonset_text(const struct view *v, const json_t *d)
{
    (void) v;
    int64_t desired = json_int(d, "status.desiredNumberScheduled", 0);
    return desired ? xasprintf("%" PRId64 " of %" PRId64 " ready",
                               json_int(d, "status.numberReady", 0), desired)
                   : xstrdup("");
}

static char *policy_text(const struct view *v, const json_t *policy)
{
    (void) v;
    const json_t *ready = condition_of(policy, "Ready");
    return ready ? xasprintf("Ready=%s %s, %s: %s", json_str_or_empty(ready, "status"),
                             json_str_or_empty(ready, "reason"),
                             json_str_or_empty(policy, "status.summary.rollout"),
                             json_str_or_empty(policy, "status.summary.message"))
                 : xstrdup("is new");
}

static const struct subject {
    const char *plural;
    const char *label;
    char *(*text)(const struct view *v, const json_t *object);
} subjects[] = {
    { "nodes", "node", node_text },
    { "daemonsets", "daemonset", daemonset_text },
    { "gpuclusterpolicies", "policy", policy_text },
};

/* The newest is last. */
static void add_note(struct view *v, const char *note)
{
    if (v->note_count == NOTES) {
        free(v->notes[0]);
        memmove(v->notes, v->notes + 1, (NOTES - 1) * sizeof *v->notes);
        v->note_count--;
    }
    struct buf text = BUF_INIT(TEXT_MAX);
    view_time_text(clock_mono_ms(v->o.clock), &text);
    buf_printf(&text, "  %s", note);
    v->notes[v->note_count++] = buf_take(&text);
}

static void take_event(struct view *v, const json_t *event)
{
    /* The store has events in the form of the core group. */
    CLEANUP_FREE char *note = xasprintf("%s %s/%s: %s", json_str_or_empty(event, "reason"),
                                        json_str_or_empty(event, "involvedObject.kind"),
                                        json_str_or_empty(event, "involvedObject.name"),
                                        json_str_or_empty(event, "message"));
    add_note(v, note);
    add_line(v, "event", note);
}

/* ---- operands on nodes */

/* The floor of an operand's pod; NULL: not an operand, or not bound. */
static struct floor *floor_of(struct view *v, const json_t *pod)
{
    bool ours = pod && str_eq(json_str(pod, "metadata.namespace"), OPERAND_NAMESPACE);
    const char *node = ours ? json_str(pod, "spec.nodeName") : NULL;
    return node ? MAP_MAKE(struct floor, node, &v->floors, node) : NULL;
}

static void print_node(struct view *v, const char *name)
{
    const json_t *node = api_get(v->o.api, kind_named("nodes"), "", name);
    if (!node)
        return;
    CLEANUP_FREE char *label = xasprintf("node %s", name), *text = node_text(v, node);
    view_print_now(v, label, text);
}

static void take_pod(struct view *v, const struct api_commit *c)
{
    struct floor *was = floor_of(v, c->before), *is = floor_of(v, c->after);
    if (was)
        node_operands_add(&was->operands, c->before, -1);
    if (is)
        node_operands_add(&is->operands, c->after, 1);
    const struct floor *f = is ? is : was;
    if (f)
        print_node(v, f->node);
}

static void view_on_commit(void *arg, const struct api_commit *c)
{
    struct view *v = arg;
    if (str_eq(c->kind->plural, "events")) {
        /* Events of the cluster's components have a source component; they are too many to show. */
        if (c->after && !json_str(c->after, "source.component"))
            take_event(v, c->after);
        return;
    }
    if (str_eq(c->kind->plural, "pods"))
        take_pod(v, c);
    if (str_eq(c->kind->plural, "gpunodes"))
        print_node(v, json_str_or_empty(c->after ? c->after : c->before, "metadata.name"));
    for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
        if (!str_eq(c->kind->plural, subjects[i].plural))
            continue;
        const json_t *object = c->after ? c->after : c->before;
        CLEANUP_FREE char *label = xasprintf("%s %s", subjects[i].label,
                                             json_str_or_empty(object, "metadata.name"));
        CLEANUP_FREE char *text = c->after ? subjects[i].text(v, c->after) : NULL;
        if (text)
            view_print_now(v, label, text);
        else
            view_forget(v, label);
    }
}

/* ---- the picture */

struct screen {
    struct buf *out;
    int columns, rows_left;
};

/* One row, cut to the screen; `colour` is an SGR number or NULL. */
static void row(struct screen *s, const char *colour, const char *text)
{
    if (s->rows_left <= 0)
        return;
    s->rows_left--;
    CLEANUP_FREE char *cut = xstrndup(text, str_utf8_cut(text, (size_t) s->columns));
    if (colour)
        buf_printf(s->out, "\033[%sm%s\033[0m\033[K\r\n", colour, cut);
    else
        buf_printf(s->out, "%s\033[K\r\n", cut);
}

/* Words that wrap to the next row. */
struct flow {
    struct screen *s;
    int column; /* of the next word, from 0 */
};

static void flow_end(struct flow *f)
{
    if (f->column > 0)
        buf_str(f->s->out, "\033[K\r\n");
    f->column = 0;
}

/* `width`: columns of the word including the gap after it. */
static void flow_add(struct flow *f, int width, const char *word)
{
    if (f->column + width > f->s->columns)
        flow_end(f);
    if (f->column == 0 && f->s->rows_left-- <= 0)
        return;
    buf_str(f->s->out, word);
    f->column += width;
}

static void draw_nodes(const struct view *v, struct screen *s)
{
    const struct kind *k = kind_named("nodes");
    size_t n = api_count(v->o.api, k), counts[NODE_STATE_COUNT] = { 0 };
    struct flow f = { .s = s };
    for (size_t i = 0; i < n; i++) {
        enum node_state state = view_state_of(v, api_at(v->o.api, k, i));
        counts[state]++;
        CLEANUP_FREE char *square = xasprintf("\033[%sm■\033[0m ", node_state_looks[state].colour);
        flow_add(&f, 2, square);
    }
    flow_end(&f);
    CLEANUP_FREE char *sum = xasprintf("%zu nodes: ", n);
    flow_add(&f, (int) strlen(sum), sum);
    for (size_t i = 0; i < NODE_STATE_COUNT; i++) {
        if (!counts[i])
            continue;
        CLEANUP_FREE char *text = xasprintf(" %zu %s  ", counts[i], node_state_looks[i].name);
        CLEANUP_FREE char *word = xasprintf("\033[%sm■\033[0m%s", node_state_looks[i].colour, text);
        flow_add(&f, 1 + (int) strlen(text), word);
    }
    flow_end(&f);
    row(s, NULL, "");
}

/* The number of nodes in each of the policy's states: "24 Ready, 1 Unsupported". */
static void add_states(const json_t *states, struct buf *out)
{
    JSON_EACH_AT (i, row, states)
        buf_printf(out, "%s%" PRId64 " %s", i ? ", " : "the policy counts ",
                   json_int(row, "count", 0), json_str_or_empty(row, "state"));
}

/* The columns of `kubectl get` that are not empty. */
static void add_summary(const json_t *summary, struct buf *out)
{
    static const struct {
        const char *key, *word;
    } columns[] = { { "nodes", "ready nodes" }, { "driver", "driver" }, { "rollout", "rollout" } };
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (*json_str_or_empty(summary, columns[i].key))
            buf_printf(out, "%s%s %s", out->len ? "   " : "", columns[i].word,
                       json_str(summary, columns[i].key));
}

static void draw_policy(const struct view *v, struct screen *s)
{
    const json_t *policy = api_get(v->o.api, kind_named("gpuclusterpolicies"), NULL, "default");
    if (!policy) {
        row(s, "1", "no GpuClusterPolicy: Ostler manages no nodes");
    } else {
        CLEANUP_FREE char *text = policy_text(v, policy);
        const json_t *ready = condition_of(policy, "Ready");
        CLEANUP_BUF struct buf summary = BUF_INIT(TEXT_MAX);
        add_summary(json_at(policy, "status.summary"), &summary);
        CLEANUP_FREE char *head = xasprintf("policy default  %s", text);
        row(s, ready && str_eq(json_str(ready, "status"), "True") ? "1;32" : "1;33", head);
        row(s, NULL, buf_text(&summary));
        CLEANUP_BUF struct buf counts = BUF_INIT(TEXT_MAX);
        add_states(json_at(policy, "status.nodes.states"), &counts);
        row(s, NULL, buf_text(&counts));
    }
    row(s, NULL, "");
}

/* As many as leave some rows for the news. */
static void draw_daemonsets(const struct view *v, struct screen *s)
{
    const struct kind *k = kind_named("daemonsets");
    size_t count = api_count(v->o.api, k);
    for (size_t i = 0; i < count; i++) {
        const json_t *d = api_at(v->o.api, k, i);
        if (s->rows_left <= NEWS_ROWS + 2 && i + 1 < count) {
            CLEANUP_FREE char *rest = xasprintf("and %zu more DaemonSets", count - i);
            row(s, "90", rest);
            break;
        }
        int64_t ready = json_int(d, "status.numberReady", 0),
                desired = json_int(d, "status.desiredNumberScheduled", 0);
        const json_t *container = json_array_get(json_at(d, "spec.template.spec.containers"), 0);
        CLEANUP_FREE char *text = xasprintf("%-28s %4" PRId64 " of %-4" PRId64 " %s",
                                            json_str_or_empty(d, "metadata.name"), ready, desired,
                                            json_str_or_empty(container, "image"));
        row(s, desired == 0 ? "90" : ready == desired ? "32" : "33", text);
    }
    row(s, NULL, "");
}

/* The terminal wraps it, so that it is copied as one line. */
static void draw_door(const struct view *v, struct screen *s)
{
    buf_printf(s->out, "%s\033[K\r\n", v->o.door);
    s->rows_left -= ((int) strlen(v->o.door) + s->columns - 1) / s->columns;
}

static void draw(const struct view *v, int columns, int rows, struct buf *out)
{
    struct screen s = { .out = out, .columns = columns, .rows_left = rows - 1 };
    CLEANUP_BUF struct buf head = BUF_INIT(TEXT_MAX);
    view_time_text(clock_mono_ms(v->o.clock), &head);
    buf_printf(&head, "  %s", v->o.head);
    buf_str(out, "\033[H");
    row(&s, "1", buf_text(&head));
    draw_door(v, &s);
    row(&s, NULL, "");
    draw_policy(v, &s);
    draw_nodes(v, &s);
    draw_daemonsets(v, &s);
    size_t room = s.rows_left > 0 ? (size_t) s.rows_left : 0;
    for (size_t i = v->note_count > room ? v->note_count - room : 0; i < v->note_count; i++)
        row(&s, NULL, v->notes[i]); /* the newest that fit */
    buf_str(out, "\033[J");
}

/* ---- the view */

struct view *sim_view_new(const struct view_options *o)
{
    struct view *v = xcalloc(1, sizeof *v);
    v->o = *o;
    v->lines = (struct buf) BUF_INIT(TEXT_MAX);
    v->said = json_object();
    api_on_commit(o->api, view_on_commit, v);
    return v;
}

void sim_view_free(struct view *v)
{
    json_decref(v->said);
    map_clear_with(&v->floors, free);
    for (size_t i = 0; i < v->note_count; i++)
        free(v->notes[i]);
    buf_clear(&v->lines);
    free(v);
}

void sim_view_report(struct view *v, const char *text)
{
    add_note(v, text);
    add_line(v, NULL, text);
}

void sim_view_show(struct view *v, int columns, int rows, struct buf *out)
{
    if (v->o.picture)
        draw(v, columns, rows, out);
    else if (v->lines.len > 0 && !buf_add(out, v->lines.data, v->lines.len))
        buf_str(out, "(too many events at once to show)\n");
    buf_reset(&v->lines);
}
