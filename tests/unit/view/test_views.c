/* What each command shows of what was read, letter by letter: a case in tests/cases/kubectl has its
 * text in tests/golden/kubectl. `make golden` rewrites those (OSTLER_GOLDEN=write). No case shows a
 * control character, whatever was read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/view/edit.h"
#include "reconcilers/view/edit_health.h"
#include "reconcilers/view/events.h"
#include "reconcilers/view/explain.h"
#include "reconcilers/view/nodes.h"
#include "reconcilers/view/status.h"
#include "reconcilers/view/support.h"
#include "tests/unit/support/cases.h"

enum { TEXT_MAX = 1 << 20, NAMES_MAX = 8, STATUS_LINES = 24 };

/* One case, read. */
struct shown {
    const json_t *snapshot;
    struct paint paint;
    int64_t now_us;
    char *names[NAMES_MAX];
    size_t name_count;
    struct buf out;
};

static void show_status(struct shown *s)
{
    CLEANUP_JSON json_t *viewed = status_view(s->snapshot, s->now_us);
    status_print(viewed, &s->paint, &s->out);
    size_t lines = 0;
    for (const char *c = buf_text(&s->out); *c; c++)
        lines += *c == '\n';
    assert_in_range(lines, 1, STATUS_LINES);
}

static void show_nodes(struct shown *s)
{
    CLEANUP_JSON json_t *viewed = nodes_view(
        s->snapshot, &(struct nodes_wanted){ NULL, s->names, s->name_count }, s->now_us);
    nodes_print(viewed, &s->paint, &s->out);
}

static void show_explain(struct shown *s)
{
    CLEANUP_JSON json_t *viewed = explain_view(s->snapshot, s->names[0], s->now_us);
    explain_print(viewed, &s->paint, &s->out);
}

static void show_events(struct shown *s)
{
    CLEANUP_JSON json_t *viewed = events_view(
        s->snapshot, &(struct events_wanted){ 0, s->names, s->name_count });
    events_print(viewed, &s->paint, &s->out);
}

static void add_edit(struct shown *s, const struct edit *d)
{
    CLEANUP_FREE char *patch = d->patch ? json_compact(d->patch) : xstrdup("none");
    buf_printf(&s->out, "said: %s\nundo: %s\nwarning: %s\npatch: %s\n", d->said,
               d->undo ? d->undo : "-", d->warning ? d->warning : "-", patch);
}

static void show_edits_on_policy(struct shown *s)
{
    const json_t *policy = json_object_get(s->snapshot, "policy");
    struct edit d;
    CLEANUP_ERR struct err e = { 0 };
    edit_pause(policy, &d);
    add_edit(s, &d);
    edit_clear(&d);
    edit_resume(policy, &d);
    add_edit(s, &d);
    edit_clear(&d);
    if (edit_approve(policy, s->name_count ? s->names[0] : NULL, &d, &e) < 0)
        buf_printf(&s->out, "refused: %s\n", err_msg(&e));
    else
        add_edit(s, &d);
    edit_clear(&d);
}

static void show_edits_on_node(struct shown *s)
{
    struct edit d;
    edit_hold(json_object_get(s->snapshot, "nodes"), &d);
    add_edit(s, &d);
    edit_clear(&d);
    edit_release(json_object_get(s->snapshot, "nodes"), &d);
    add_edit(s, &d);
    edit_clear(&d);
}

static void show_support(struct shown *s)
{
    const json_t *report = json_object_get(s->snapshot, "reports");
    buf_printf(&s->out, "needed: %s\n", support_is_needed(report) ? "yes" : "no");
    support_print(s->snapshot, &s->paint, &s->out);
    support_print_commands(s->snapshot, &s->paint, &s->out);
}

typedef int edit_health_fn(const struct edit_health *h, struct edit *ret, struct err *e);

static void add_health_edit(struct shown *s, edit_health_fn *fn, const char *fault, bool undo)
{
    struct edit d;
    CLEANUP_ERR struct err e = { 0 };
    const struct edit_health h = { s->snapshot, fault, undo, s->now_us };
    if (fn(&h, &d, &e) < 0)
        buf_printf(&s->out, "refused: %s\n", err_msg(&e));
    else
        add_edit(s, &d);
    edit_clear(&d);
}

static void show_repair(struct shown *s)
{
    add_health_edit(s, edit_repair, NULL, false);
    add_health_edit(s, edit_repair, NULL, true);
}

/* `names`: the faults; without one, a command line that names none. */
static void show_ignore(struct shown *s)
{
    if (s->name_count == 0)
        add_health_edit(s, edit_ignore, NULL, false);
    for (size_t i = 0; i < s->name_count; i++) {
        buf_printf(&s->out, "--fault %s\n", s->names[i]);
        add_health_edit(s, edit_ignore, s->names[i], false);
        add_health_edit(s, edit_ignore, s->names[i], true);
    }
}

static const struct {
    const char *name;
    void (*show)(struct shown *s);
} views[] = {
    { "status", show_status },
    { "nodes", show_nodes },
    { "explain", show_explain },
    { "events", show_events },
    { "policy-edits", show_edits_on_policy },
    { "node-edits", show_edits_on_node },
    { "support", show_support },
    { "repair", show_repair },
    { "ignore", show_ignore },
};

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s is missing; `make golden` writes it", path);
    char *text = xcalloc(TEXT_MAX, 1);
    assert_true(fread(text, 1, TEXT_MAX - 1, f) < TEXT_MAX - 1);
    fclose(f);
    return text;
}

static void hold_against(const char *path, const char *got)
{
    if (str_eq(getenv("OSTLER_GOLDEN"), "write")) {
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(got, f);
        assert_int_equal(fclose(f), 0);
    }
    CLEANUP_FREE char *want = read_whole(path);
    assert_string_equal(got, want);
}

static void check_case(void **state)
{
    const char *path = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse_file(path, NULL, &e);
    if (!documents)
        fail_msg("%s", err_msg(&e));
    const json_t *c = json_array_get(documents, 0), *names = json_object_get(c, "names");
    struct shown s = { .snapshot = json_object_get(c, "seen"),
                       .now_us = clock_parse_rfc3339(json_str_or_empty(c, "now")),
                       .name_count = json_array_size(names),
                       .out = BUF_INIT(TEXT_MAX),
                       .paint = { .wide = json_bool(c, "wide", false),
                                  .whole = json_bool(c, "wide", false),
                                  .width = (int) json_int(c, "width", 120) } };
    for (size_t i = 0; i < s.name_count && i < NAMES_MAX; i++)
        s.names[i] = (char *) json_string_value(json_array_get(names, i));
    size_t view = 0;
    while (view < ARRAY_LEN(views) && !str_eq(views[view].name, json_str(c, "view")))
        view++;
    assert_in_range(view, 0, ARRAY_LEN(views) - 1);
    views[view].show(&s);
    const char *text = buf_text(&s.out);
    for (const unsigned char *at = (const unsigned char *) text; *at; at++)
        assert_true(*at >= ' ' || *at == '\n');
    assert_null(strstr(text, "\xc2\x9b"));
    const char *base = strrchr(path, '/') + 1;
    CLEANUP_FREE char *golden = xasprintf("tests/golden/kubectl/%.*s.txt",
                                          (int) (strlen(base) - strlen(".yaml")), base);
    hold_against(golden, text);
    buf_clear(&s.out);
}

int main(void)
{
    return cases_run("kubectl_views", "tests/cases/kubectl", check_case);
}
