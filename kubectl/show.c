#include "kubectl/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kube/object.h"
#include "kubectl/gather.h"
#include "kubectl/view/events.h"
#include "kubectl/view/explain.h"
#include "kubectl/view/nodes.h"
#include "kubectl/view/seen.h"
#include "kubectl/view/status.h"

enum { OUT_MAX = 256 << 20, WATCH_MS = 2000, WATCH_MAX_MS = 20000, WATCH_SHARE = 10, WIDTH = 120 };

/* A command: what it reads, and what it makes of that. */
struct shown {
    struct gathering gathering;
    /* NULL with an error where there is nothing to show. New reference. */
    json_t *(*view)(const json_t *seen, const struct gpu_options *o, struct err *e);
    void (*print)(const json_t *viewed, const struct paint *p, struct buf *out);
    /* With --watch only what is new is shown, instead of all of it anew: what `viewed` has that `before` has not. NULL: all. New
     * reference. */
    json_t *(*news)(const json_t *before, const json_t *viewed);
};

int64_t show_now_us(void)
{
    const struct clock clock = clock_system();
    return clock_wall_us(&clock);
}

struct paint show_paint(const struct gpu_options *o)
{
    struct winsize size = { 0 };
    bool terminal = isatty(STDOUT_FILENO);
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    if (terminal)
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return (struct paint){ .colours = terminal && !o->no_colour && !(none && *none) && !str_eq(term, "dumb"),
                           .wide = o->output == SHOW_WIDE, .whole = o->output == SHOW_WIDE || !terminal,
                           .width = size.ws_col >= 40 ? size.ws_col : WIDTH };
}

/* ---- once */

static void write_out(const struct shown *s, const struct gpu_options *o, const json_t *viewed)
{
    if (o->output == SHOW_JSON && o->watch) {
        CLEANUP_FREE char *line = terminal_json(viewed, true);
        printf("%s\n", line);
    } else if (o->output == SHOW_JSON || o->output == SHOW_YAML) {
        CLEANUP_FREE char *text = term_of_json(viewed, o->output == SHOW_YAML);
        fputs(text, stdout);
    } else {
        struct buf out = BUF_INIT(OUT_MAX);
        struct paint p = show_paint(o);
        s->print(viewed, &p, &out);
        fputs(buf_text(&out), stdout);
        buf_clear(&out);
    }
}

/* A list has no place for what could not be read. */
static void say_missing(const json_t *seen)
{
    struct buf out = BUF_INIT(1 << 16);
    seen_print_missing(json_object_get(seen, "missing"), &(struct paint){ .colours = false }, &out);
    fputs(buf_text(&out), stderr);
    buf_clear(&out);
}

static json_t *look(struct ask *a, const struct gpu_options *o, const struct shown *s, bool first, struct err *e)
{
    CLEANUP_JSON json_t *seen = gather(a, o, &s->gathering, e);
    json_t *viewed = seen ? s->view(seen, o, e) : NULL;
    if (first && json_is_array(viewed))
        say_missing(seen);
    return viewed;
}

/* ---- again and again */

static void show_again(const struct shown *s, const struct gpu_options *o, const json_t *viewed, bool first)
{
    bool screen = isatty(STDOUT_FILENO) && !str_eq(getenv("TERM"), "dumb");
    bool text = o->output == SHOW_TEXT || o->output == SHOW_WIDE;
    if (text && !s->news && screen)
        fputs("\033[H\033[2J", stdout);
    else if (text && !s->news && !first)
        fputs("\n", stdout);
    write_out(s, o, viewed);
    fflush(stdout);
}

/* Looks take a tenth of the time: a large cluster is looked at less often. One that failed took long because nobody answered. */
static int64_t pause_ms(int64_t took_ms, bool failed)
{
    int64_t pause = failed ? 0 : took_ms * (WATCH_SHARE - 1);
    return pause < WATCH_MS ? WATCH_MS : pause > WATCH_MAX_MS ? WATCH_MAX_MS : pause;
}

/* While the API server is away that is said once, and it goes on. */
static void say_trouble(const struct err *e, bool *silent)
{
    CLEANUP_FREE char *clean = terminal_clean(err_msg(e));
    if (!*silent)
        fprintf(stderr, "kubectl gpu: %s; trying again\n", clean);
    *silent = true;
}

static int watch(struct ask *a, const struct gpu_options *o, const struct shown *s, struct err *e)
{
    const struct clock clock = clock_system();
    CLEANUP_JSON json_t *before = NULL;
    bool silent = false;
    if (ask_take_signals(a, e) < 0)
        return -1;
    for (;;) {
        int64_t began = clock_mono_ms(&clock);
        json_t *viewed = look(a, o, s, !before, e);
        if (ask_stopped(a) || (!viewed && !before))
            return json_decref(viewed), ask_stopped(a) ? 0 : -1;
        if (viewed) {
            CLEANUP_JSON json_t *news = s->news && before ? s->news(before, viewed) : json_incref(viewed);
            if (!s->news || json_array_size(news) || !before)
                show_again(s, o, news, !before);
            silent = false;
            json_decref(before);
            before = viewed;
        } else {
            say_trouble(e, &silent);
        }
        err_clear(e);
        if (!ask_wait(a, pause_ms(clock_mono_ms(&clock) - began, !viewed)))
            return 0;
    }
}

static int show(struct ask *a, const struct gpu_options *o, const struct shown *s, struct err *e)
{
    if (o->watch)
        return watch(a, o, s, e);
    CLEANUP_JSON json_t *viewed = look(a, o, s, true, e);
    if (!viewed)
        return -1;
    write_out(s, o, viewed);
    return 0;
}

/* ---- the commands */

static json_t *view_status(const json_t *seen, const struct gpu_options *o, struct err *e)
{
    (void) o, (void) e;
    return status_view(seen, show_now_us());
}

int show_status(struct ask *a, const struct gpu_options *o, struct err *e)
{
    const struct shown s = { { SEE_POLICY | SEE_REPORTS | SEE_LEASE, SEE_POLICY, NULL }, view_status, status_print, NULL };
    return show(a, o, &s, e);
}

int show_no_node(const json_t *reports, const char *name, struct err *e)
{
    CLEANUP_JSON json_t *names = json_array();
    size_t i;
    json_t *report;
    json_array_foreach (reports, i, report)
        json_array_append_new(names, json_text(object_name(report)));
    CLEANUP_JSON json_t *similar = seen_similar(names, name, 3);
    struct buf list = BUF_INIT(4096);
    for (i = 0; i < json_array_size(similar); i++)
        buf_printf(&list, "%s%.253s", i ? ", " : "; is it one of these: ", json_string_value(json_array_get(similar, i)));
    CLEANUP_FREE char *text = buf_take(&list);
    return err_set(e, ERR_NOT_FOUND, "there is no GPU node %s that Ostler knows%s%s", name, text,
                   *text ? "?" : "; kubectl gpu nodes lists them");
}

static json_t *view_nodes(const json_t *seen, const struct gpu_options *o, struct err *e)
{
    const json_t *reports = json_object_get(seen, "reports");
    for (size_t i = 0; i < o->name_count; i++)
        if (!seen_named(reports, o->names[i])) {
            show_no_node(reports, o->names[i], e);
            return NULL;
        }
    return nodes_view(seen, &(struct nodes_wanted){ o->state, o->names, o->name_count }, show_now_us());
}

static void print_nodes(const json_t *list, const struct paint *p, struct buf *out)
{
    if (json_array_size(list))
        nodes_print(list, p, out);
    else
        buf_str(out, "no GPU node is so\n");
}

int show_nodes(struct ask *a, const struct gpu_options *o, struct err *e)
{
    const struct shown s = { { SEE_POLICY | SEE_REPORTS | SEE_NODES, SEE_POLICY | SEE_REPORTS, NULL }, view_nodes, print_nodes,
                             NULL };
    return show(a, o, &s, e);
}

static json_t *view_explain(const json_t *seen, const struct gpu_options *o, struct err *e)
{
    const json_t *report = json_object_get(seen, "reports"), *node = json_object_get(seen, "nodes");
    if (!report && !node) {
        err_set(e, ERR_NOT_FOUND, "%s", "");
        return NULL;
    }
    return explain_view(seen, o->names[0], show_now_us());
}

static void print_explained(const json_t *explained, const struct paint *p, struct buf *out)
{
    explain_print(explained, show_now_us(), p, out);
}

/* Names of the fleet are read only when one is not there. */
static int say_similar(struct ask *a, const struct gpu_options *o, struct err *e)
{
    err_clear(e);
    CLEANUP_JSON json_t *seen = gather(a, o, &(struct gathering){ SEE_REPORTS, SEE_REPORTS, NULL }, e);
    return seen ? show_no_node(json_object_get(seen, "reports"), o->names[0], e) : -1;
}

int show_explain(struct ask *a, const struct gpu_options *o, struct err *e)
{
    if (!show_is_name(o->names[0]))
        return err_set(e, ERR_INVALID, "%s is no name of a node", o->names[0]);
    const struct shown s = { { SEE_ALL_OF_NODE, SEE_POLICY | SEE_REPORTS, o->names[0] }, view_explain, print_explained, NULL };
    int rc = show(a, o, &s, e);
    return rc < 0 && e->kind == ERR_NOT_FOUND && !*err_msg(e) ? say_similar(a, o, e) : rc;
}

static json_t *view_events(const json_t *seen, const struct gpu_options *o, struct err *e)
{
    (void) e;
    return events_view(seen, &(struct events_wanted){ .since_us = o->since_ms ? show_now_us() - o->since_ms * 1000 : 0,
                                                      .nodes = o->names, .node_count = o->name_count });
}

static void print_events(const json_t *list, const struct paint *p, struct buf *out)
{
    if (json_array_size(list))
        events_print(list, p, out);
    else
        buf_str(out, "no events; the API server keeps them for an hour\n");
}

int show_events(struct ask *a, const struct gpu_options *o, struct err *e)
{
    const struct shown s = { { SEE_POLICY | SEE_REPORTS | SEE_EVENTS | SEE_PODS, SEE_POLICY, NULL }, view_events, print_events,
                             events_news };
    return show(a, o, &s, e);
}

bool show_is_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= 253 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n;
}
