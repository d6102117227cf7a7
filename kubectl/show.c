#include "kubectl/show.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "base/terminal.h"
#include "kube/object.h"
#include "kubectl/gather.h"
#include "reconcilers/view/events.h"
#include "reconcilers/view/explain.h"
#include "reconcilers/view/nodes.h"
#include "reconcilers/view/snapshot.h"
#include "reconcilers/view/status.h"

enum {
    OUT_MAX = 256 << 20,
    WATCH_MS = 2000,
    WATCH_MAX_MS = 20000,
    WATCH_SHARE = 10,
    WIDTH = 120,
    WIDTH_MIN = 40
};

/* A command: what it reads, its view and its output. */
struct shown {
    struct gathering gathering;
    /* NULL with an error if there is nothing to show. New reference. */
    json_t *(*view)(const json_t *snapshot, const struct gpu_options *o, int64_t now_us,
                    struct err *e);
    void (*print)(const json_t *viewed, const struct paint *p, struct buf *out);
    /* With --watch, shows only this: what `viewed` has and `before` lacks. NULL: everything each
     * time. New reference. */
    json_t *(*news)(const json_t *before, const json_t *viewed);
};

/* The terminal's rows and columns; 0: no terminal, or unknown. */
static struct winsize screen_size(void)
{
    struct winsize size = { 0 };
    if (isatty(STDOUT_FILENO))
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return size;
}

static struct paint paint_of(const struct gpu_options *o)
{
    struct winsize size = screen_size();
    bool terminal = isatty(STDOUT_FILENO);
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    int width = size.ws_col == 0 ? WIDTH : size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
    return (struct paint){ .colours = terminal && !o->no_colour && !(none && *none) &&
                                      !str_eq(term, "dumb"),
                           .wide = o->output == SHOW_WIDE,
                           .whole = o->output == SHOW_WIDE || !terminal,
                           .width = width };
}

/* ---- once */

/* Appends what `ostler demo` wants above the view, which may change from picture to picture. */
static void add_above(struct buf *out)
{
    const char *file = getenv("OSTLER_WATCH_ABOVE");
    CLEANUP_FD int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        (void) !file_read_all(fd, out);
}

/* Writes text for a screen with so many rows (0: no limit). A line wider than the screen takes
 * several rows. */
static void write_out(const struct shown *s, const struct gpu_options *o, const json_t *viewed,
                      size_t rows)
{
    if (o->output == SHOW_JSON && o->watch) {
        CLEANUP_FREE char *line = terminal_json(viewed, true);
        printf("%s\n", line);
    } else if (o->output == SHOW_JSON || o->output == SHOW_YAML) {
        CLEANUP_FREE char *text = term_of_json(viewed, o->output == SHOW_YAML);
        fputs(text, stdout);
    } else {
        CLEANUP_BUF struct buf out = BUF_INIT(OUT_MAX), screen = BUF_INIT(OUT_MAX);
        struct paint p = paint_of(o);
        size_t columns = screen_size().ws_col;
        if (o->watch)
            add_above(&out);
        s->print(viewed, &p, &out);
        term_fit(&screen, buf_text(&out), columns ? columns : (size_t) p.width, rows);
        fputs(buf_text(&screen), stdout);
    }
}

/* Prints what a list view cannot show: unreadable parts. */
static void print_missing(const json_t *missing)
{
    CLEANUP_BUF struct buf out = BUF_INIT(1 << 16);
    snapshot_print_missing(missing, &(struct paint){ .colours = false }, &out);
    fputs(buf_text(&out), stderr);
}

/* `ret_missing`: unreadable parts that the view cannot show; NULL: none. New references. */
static json_t *show_look(struct ask *a, const struct gpu_options *o, const struct shown *s,
                         json_t **ret_missing, struct err *e)
{
    CLEANUP_JSON json_t *snapshot = gather(a, o, &s->gathering, e);
    json_t *viewed = snapshot ? s->view(snapshot, o, ask_now_us(a), e) : NULL;
    *ret_missing = json_is_array(viewed) ? json_incref(json_object_get(snapshot, "missing")) : NULL;
    return viewed;
}

/* ---- watching */

struct watching {
    struct ask *a;
    const struct gpu_options *o;
    const struct shown *s;
    json_t *before;  /* last view; NULL: none yet */
    json_t *missing; /* unreadable parts at the time of `before` */
    json_t *said;    /* unreadable parts in the last look */
    bool silent;     /* the outage was reported */
};

static void show_again(const struct watching *w, const json_t *viewed)
{
    struct winsize size = { 0 };
    bool screen = isatty(STDOUT_FILENO) && !str_eq(getenv("TERM"), "dumb"), whole = !w->s->news;
    bool text = w->o->output == SHOW_TEXT || w->o->output == SHOW_WIDE;
    if (text && whole && screen) {
        size = screen_size();
        fputs("\033[H\033[2J", stdout);
    } else if (text && whole && w->before) {
        fputs("\n", stdout);
    }
    /* Two rows are for the time and the cursor. */
    write_out(w->s, w->o, viewed, size.ws_row > 4 ? size.ws_row - 2u : 0);
    if (text && whole) {
        char time[CLOCK_TEXT_MAX];
        clock_rfc3339(ask_now_us(w->a), time);
        printf("as of %.8sZ\n", time + strlen("2026-11-20T"));
    }
    fflush(stdout);
}

/* A look takes a tenth of the time at most, so a large cluster is read less often. A failed look
 * was slow only because of a timeout. */
static int64_t pause_ms(int64_t took_ms, bool failed)
{
    int64_t pause = failed ? 0 : took_ms * (WATCH_SHARE - 1);
    return pause < WATCH_MS ? WATCH_MS : pause > WATCH_MAX_MS ? WATCH_MAX_MS : pause;
}

/* Reports an outage of the API server once and continues. */
static void print_trouble(struct watching *w, const struct err *e)
{
    CLEANUP_FREE char *clean = terminal_clean(err_msg(e));
    if (!w->silent)
        fprintf(stderr, "kubectl gpu: %s; trying again\n", clean);
    w->silent = true;
}

/* Whether a part is unreadable now that was readable then. */
static bool lacks_more(const json_t *missing, const json_t *then)
{
    JSON_EACH_MEMBER (part, why, missing)
        if (!json_object_get(then, part))
            return true;
    return false;
}

/* Takes both. If a part becomes unreadable, `before` keeps its rows, so that they are not news
 * when it is readable again. */
static void show_remember(struct watching *w, json_t *viewed_steal, const json_t *news,
                          json_t *missing_steal)
{
    if (lacks_more(missing_steal, w->said) || lacks_more(w->said, missing_steal))
        print_missing(missing_steal);
    if (w->said && !missing_steal)
        fputs("kubectl gpu: all objects can be read again\n", stderr);
    json_decref(w->said);
    w->said = json_incref(missing_steal);
    if (w->before && w->s->news && lacks_more(missing_steal, w->missing)) {
        json_array_extend(w->before, (json_t *) news);
        json_decref(viewed_steal);
        json_decref(missing_steal);
        return;
    }
    json_decref(w->before);
    json_decref(w->missing);
    w->before = viewed_steal;
    w->missing = missing_steal;
}

/* One look; -1: another one is pointless. */
static int watch_once(struct watching *w, bool *ret_failed, struct err *e)
{
    json_t *missing, *viewed = show_look(w->a, w->o, w->s, &missing, e);
    *ret_failed = !viewed;
    /* After a stop signal, responses are incomplete: show nothing. */
    if (ask_stopped(w->a)) {
        json_decref(viewed);
        json_decref(missing);
        return 0;
    }
    if (viewed) {
        CLEANUP_JSON json_t *news = w->s->news && w->before ? w->s->news(w->before, viewed)
                                                            : json_incref(viewed);
        if (!w->s->news || json_array_size(news) || !w->before)
            show_again(w, news);
        w->silent = false;
        show_remember(w, viewed, news, missing);
        return ferror(stdout) ? -1 : 0;
    }
    /* A deleted object or a missing permission does not return by waiting. */
    if (!w->before || e->kind == ERR_NOT_FOUND || e->kind == ERR_FORBIDDEN)
        return -1;
    print_trouble(w, e);
    err_clear(e);
    return 0;
}

static int watch(struct ask *a, const struct gpu_options *o, const struct shown *s, struct err *e)
{
    struct watching w = { .a = a, .o = o, .s = s };
    int rc = ask_take_signals(a, e);
    bool goes_on = rc == 0, failed = false;
    while (goes_on) {
        int64_t began = clock_now_ms();
        rc = watch_once(&w, &failed, e);
        goes_on = rc == 0 && !ask_stopped(a) &&
                  ask_wait(a, pause_ms(clock_now_ms() - began, failed));
    }
    json_decref(w.before);
    json_decref(w.missing);
    json_decref(w.said);
    return rc;
}

static int show(struct ask *a, const struct gpu_options *o, const struct shown *s, struct err *e)
{
    if (o->watch)
        return watch(a, o, s, e);
    CLEANUP_JSON json_t *missing = NULL, *viewed = show_look(a, o, s, &missing, e);
    if (!viewed)
        return -1;
    print_missing(missing);
    write_out(s, o, viewed, 0);
    return 0;
}

/* ---- commands */

static json_t *view_status(const json_t *snapshot, const struct gpu_options *o, int64_t now_us,
                           struct err *e)
{
    (void) o, (void) e;
    return status_view(snapshot, now_us);
}

/* Sets the error that a node does not exist, with similar names from `reports`; always -1. */
static int show_no_node(const json_t *reports, const char *name, struct err *e)
{
    CLEANUP_JSON json_t *names = json_array();
    JSON_EACH (report, reports)
        json_array_append_new(names, json_text(object_name(report)));
    CLEANUP_JSON json_t *similar = snapshot_similar_names(names, name, 3);
    CLEANUP_BUF struct buf list = BUF_INIT(4096);
    JSON_EACH_AT (i, known, similar)
        buf_printf(&list, "%s%.253s", i ? ", " : "; did you mean ", json_string_value(known));
    return err_set(e, ERR_NOT_FOUND, "Ostler knows no GPU node %s%s%s", name, buf_text(&list),
                   list.len ? "?" : "; kubectl gpu nodes lists them");
}

static json_t *view_nodes(const json_t *snapshot, const struct gpu_options *o, int64_t now_us,
                          struct err *e)
{
    const json_t *reports = json_object_get(snapshot, "reports");
    for (size_t i = 0; i < o->name_count; i++)
        if (!snapshot_find(reports, o->names[i])) {
            show_no_node(reports, o->names[i], e);
            return NULL;
        }
    return nodes_view(snapshot, &(struct nodes_wanted){ o->state, o->names, o->name_count },
                      now_us);
}

static void show_print_nodes(const json_t *list, const struct paint *p, struct buf *out)
{
    if (json_array_size(list))
        nodes_print(list, p, out);
    else
        buf_str(out, "no GpuNode was found\n");
}

static json_t *view_explain(const json_t *snapshot, const struct gpu_options *o, int64_t now_us,
                            struct err *e)
{
    const json_t *report = json_object_get(snapshot, "reports"),
                 *node = json_object_get(snapshot, "nodes");
    if (!report && !node) {
        err_set(e, ERR_NOT_FOUND, "%s", "");
        return NULL;
    }
    return explain_view(snapshot, o->names[0], now_us);
}

int show_no_such_node(struct ask *a, const struct gpu_options *o, const char *name, struct err *e)
{
    CLEANUP_JSON json_t *fleet = gather(a, o, &(struct gathering){ SEE_REPORTS, SEE_REPORTS, NULL },
                                        e);
    return fleet ? show_no_node(json_object_get(fleet, "reports"), name, e) : -1;
}

/* Whether every node is known. A deleted node may still have Events; false with an error for a
 * node without any. */
static bool are_known(const json_t *snapshot, const struct gpu_options *o, struct err *e)
{
    const json_t *reports = json_object_get(snapshot, "reports");
    for (size_t i = 0; i < o->name_count && reports; i++) {
        if (snapshot_find(reports, o->names[i]))
            continue;
        CLEANUP_JSON json_t *events = events_view(snapshot,
                                                  &(struct events_wanted){ 0, o->names + i, 1 });
        if (json_array_size(events) == 0)
            return show_no_node(reports, o->names[i], e) == 0;
    }
    return true;
}

/* If no list of Events was readable, fail: an empty view would claim that nothing happened. */
static json_t *view_events(const json_t *snapshot, const struct gpu_options *o, int64_t now_us,
                           struct err *e)
{
    static const char *const lists[] = { "events", "operandEvents", "ownEvents", "policyEvents" };
    const char *why = NULL;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (json_object_get(snapshot, lists[i]))
            return !are_known(snapshot, o, e)
                       ? NULL
                       : events_view(snapshot,
                                     &(struct events_wanted){
                                         .since_us = o->since_ms ? now_us - o->since_ms * 1000 : 0,
                                         .nodes = o->names,
                                         .node_count = o->name_count });
        why = why ? why : json_str(json_object_get(snapshot, "missing"), lists[i]);
    }
    err_set(e, ERR_SERVER, "no event can be read: %s", str_or_empty(why));
    return NULL;
}

static void print_events(const json_t *list, const struct paint *p, struct buf *out)
{
    if (json_array_size(list))
        events_print(list, p, out);
    else
        buf_str(out, "no events; the API server keeps them for an hour\n");
}

static const struct shown commands[GPU_COMMAND_COUNT] = {
    [GPU_STATUS] = { { SEE_POLICY | SEE_REPORTS | SEE_LEASE, SEE_POLICY, NULL },
                     view_status,
                     status_print,
                     NULL },
    [GPU_NODES] = { { SEE_POLICY | SEE_REPORTS | SEE_NODES, SEE_POLICY | SEE_REPORTS, NULL },
                    view_nodes,
                    show_print_nodes,
                    NULL },
    [GPU_EXPLAIN] = { { SEE_ALL_OF_NODE, SEE_POLICY | SEE_REPORTS, NULL },
                      view_explain,
                      explain_print,
                      NULL },
    /* Reports say which nodes have GPUs. */
    [GPU_EVENTS] = { { SEE_POLICY | SEE_EVENTS | SEE_REPORTS, SEE_POLICY, NULL },
                     view_events,
                     print_events,
                     events_news },
};

int show_run(struct ask *a, const struct gpu_options *o, struct err *e)
{
    struct shown s = commands[o->command];
    if (o->command == GPU_EVENTS && o->name_count) /* to know which pods are on them */
        s.gathering.parts |= SEE_PLACES;
    if (o->command != GPU_EXPLAIN)
        return show(a, o, &s, e);
    s.gathering.node = o->names[0];
    if (!snapshot_is_name(o->names[0]))
        return err_set(e, ERR_INVALID, "%s is not a name of a node", o->names[0]);
    int rc = show(a, o, &s, e);
    if (rc == 0 || e->kind != ERR_NOT_FOUND || *err_msg(e))
        return rc;
    err_clear(e);
    return show_no_such_node(a, o, o->names[0], e);
}
