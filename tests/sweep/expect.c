#include "tests/sweep/expect.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/actors/fit.h"
#include "sim/scenario/fields.h"
#include "tests/sweep/fact.h"

enum { SPOILT_BY = 1000000, TEXT_MAX = 64 * 1024, TOLD_MAX = 1024 };

/* One row as it stands in the file. */
struct expectation {
    int64_t at_ms;                /* 0: when all is quiet at the end */
    const char *about;            /* for people; may be NULL */
    const char *nodes;            /* kind nodes for short: a pattern of names */
    const char *kind, *ns, *name; /* as in a path; name: a pattern, NULL: any */
    const json_t *have;           /* facts (fact.h) and patterns of what they say */
    const char *most;             /* a figure of the journal */
    const char *times, *of;       /* a edit of the journal, and a pattern of whom it is done to */
    /* patterns of the first nodes that are claimed, one after another */
    const json_t *order;
    size_t low, high; /* of `count` */
    bool counted;
    const json_t *row;
};

#define ROW(key_, member, ...)                                                                     \
    {                                                                                              \
        .key = key_, .offset = offsetof(struct expectation, member), __VA_ARGS__                   \
    }

static const struct field fields[] = {
    ROW("at", at_ms, .type = FIELD_DURATION),
    ROW("about", about, .type = FIELD_TEXT),
    ROW("nodes", nodes, .type = FIELD_TEXT),
    ROW("kind", kind, .type = FIELD_TEXT),
    ROW("namespace", ns, .type = FIELD_TEXT),
    ROW("name", name, .type = FIELD_TEXT),
    ROW("have", have, .type = FIELD_OBJECT),
    ROW("most", most, .type = FIELD_TEXT),
    ROW("times", times, .type = FIELD_TEXT),
    ROW("of", of, .type = FIELD_TEXT),
    ROW("order", order, .type = FIELD_LIST),
    { .key = "count", .type = FIELD_IGNORED },
    { .key = NULL },
};

/* A row's time. */
struct look {
    struct sim_event event;
    struct expectations *of;
    size_t row;
};

struct expectations {
    struct expectation *rows;
    size_t count;
    struct look *looks;
    struct run *run;
    const struct journal *journal;
};

/* ---- reading */

/* A number, or a span of them: "1..3". */
static bool read_count(const json_t *value, struct expectation *x)
{
    int64_t low, high;
    const char *text = json_string_value(value), *dots = text ? strstr(text, "..") : NULL;
    CLEANUP_FREE char *first = dots ? xstrndup(text, (size_t) (dots - text)) : NULL;
    if (json_is_integer(value))
        low = high = json_integer_value(value);
    else if (!first || !str_parse_int(first, 0, SPOILT_BY, &low) ||
             !str_parse_int(dots + 2, low, SPOILT_BY, &high))
        return false;
    x->low = (size_t) low;
    x->high = (size_t) high;
    x->counted = true;
    return low >= 0;
}

static bool has_one_subject(const struct expectation *x)
{
    return (x->nodes != NULL) + (x->kind != NULL) + (x->most != NULL) + (x->times != NULL) +
               (x->order != NULL) ==
           1;
}

/* Whether `kind` is one, and the other names are in their tables. */
static const char *unknown_name(const struct expectation *x)
{
    bool is_kind = !x->kind;
    for (size_t i = 0; x->kind && i < kind_count(); i++)
        is_kind = is_kind || str_eq(kind_at(i)->plural, x->kind);
    return !is_kind                                       ? x->kind
           : x->most && journal_figure_named(x->most) < 0 ? x->most
           : x->times && journal_edit_named(x->times) < 0 ? x->times
                                                          : NULL;
}

/* A fact for which every text would do; NULL: there is none. */
static const char *idle_fact(const struct expectation *x)
{
    const char *key;
    json_t *wanted;
    json_object_foreach ((json_t *) x->have, key, wanted) {
        const char *text = json_string_value(wanted);
        if (text && text[strspn(text, "*")] == '\0')
            return key;
    }
    return NULL;
}

static int check_row(const struct expectation *x, size_t i, struct err *e)
{
    const char *unknown = unknown_name(x);
    if (!has_one_subject(x))
        return err_set(e, ERR_INVALID, "expect[%zu]: needs one of nodes, kind, most, times, order",
                       i);
    if (unknown)
        return err_set(e, ERR_INVALID, "expect[%zu]: there is no \"%s\"", i, unknown);
    if ((x->most || x->times) && !x->counted)
        return err_set(e, ERR_INVALID, "expect[%zu].count: is missing", i);
    if (x->times && !x->of)
        return err_set(e, ERR_INVALID, "expect[%zu].of: is missing", i);
    if (idle_fact(x))
        return err_set(e, ERR_INVALID, "expect[%zu].have: anything would do for \"%s\"", i,
                       idle_fact(x));
    if ((x->nodes || x->kind) && !x->have && !x->counted)
        return err_set(e, ERR_INVALID, "expect[%zu]: needs have or count", i);
    return 0;
}

static int read_row(const json_t *row, size_t i, struct expectation *x, struct err *e)
{
    const struct field_context none = { 0 };
    CLEANUP_FREE char *path = xasprintf("expect[%zu]", i);
    const json_t *count = json_object_get(row, "count");
    if (fields_read(fields, &none, row, path, x, e) < 0)
        return -1;
    x->row = row;
    if (count && !read_count(count, x))
        return err_set(e, ERR_INVALID, "%s.count: must be a number, or a span of them as \"1..3\"",
                       path);
    if (check_row(x, i, e) < 0)
        return -1;
    if (x->nodes) {
        x->kind = "nodes";
        x->name = x->nodes;
    }
    return 0;
}

struct expectations *expectations_new(const json_t *rows, struct err *e)
{
    struct expectations *x = xcalloc(1, sizeof *x);
    x->count = json_array_size(rows);
    x->rows = xcalloc(x->count + 1, sizeof *x->rows);
    x->looks = xcalloc(x->count + 1, sizeof *x->looks);
    for (size_t i = 0; i < x->count; i++) {
        if (read_row(json_array_get(rows, i), i, &x->rows[i], e) < 0) {
            expectations_free(x);
            return NULL;
        }
    }
    return x;
}

void expectations_free(struct expectations *x)
{
    if (!x)
        return;
    free(x->rows);
    free(x->looks);
    free(x);
}

size_t expectations_count(const struct expectations *x)
{
    return x->count;
}

int64_t expectations_until(const struct expectations *x)
{
    int64_t until = 0;
    for (size_t i = 0; i < x->count; i++)
        until = x->rows[i].at_ms > until ? x->rows[i].at_ms : until;
    return until;
}

/* ---- trying: what is said otherwise goes into `why` */

static bool is_within(const struct expectation *x, size_t n, bool spoilt)
{
    size_t by = spoilt ? SPOILT_BY : 0;
    return n >= x->low + by && n <= x->high + by;
}

static bool is_meant(const struct expectation *x, const json_t *object)
{
    return fit_pattern(x->name, object_name(object)) &&
           (!x->ns || str_eq(x->ns, object_namespace(object)));
}

/* Whether an object has all facts; otherwise the first that it has not is told. */
static bool has_facts(const struct run *r, const struct expectation *x, const json_t *object,
                      bool spoilt, struct buf *why)
{
    const char *key;
    json_t *wanted;
    json_object_foreach ((json_t *) x->have, key, wanted) {
        CLEANUP_FREE char *is = fact_of(r, object, key), *text = fact_text(wanted);
        CLEANUP_FREE char *pattern = xasprintf("%s%s", spoilt ? "spoilt " : "", text);
        if (fit_pattern(pattern, is))
            continue;
        if (why->len < TOLD_MAX)
            buf_printf(why, "; %s has %s \"%.1000s\"", object_name(object), key, is);
        return false;
    }
    return true;
}

static bool try_objects(const struct expectations *all, const struct expectation *x, bool spoilt,
                        struct buf *why)
{
    const struct run *r = all->run;
    const struct kind *k = kind_named(x->kind);
    size_t meant = 0, good = 0;
    bool values = spoilt && !x->counted;
    for (size_t i = 0; i < api_count(r->api, k); i++) {
        const json_t *object = api_at(r->api, k, i);
        if (!is_meant(x, object))
            continue;
        meant++;
        good += has_facts(r, x, object, values, why);
    }
    buf_printf(why, "; %zu are there, %zu of them so", meant, good);
    if (x->counted)
        return is_within(x, good, spoilt) && (meant || !x->have);
    return meant && good == meant;
}

static bool try_times(const struct expectations *all, const struct expectation *x, bool spoilt,
                      struct buf *why)
{
    bool known;
    size_t n = journal_times(all->journal, (enum journal_edit) journal_edit_named(x->times), x->of,
                             &known);
    buf_printf(why, "; it was %zu times%s", n,
               known ? "" : ", and no object of such a name was there");
    return known && is_within(x, n, spoilt);
}

static bool try_most(const struct expectations *all, const struct expectation *x, bool spoilt,
                     struct buf *why)
{
    size_t n = journal_most(all->journal, (enum journal_figure) journal_figure_named(x->most));
    buf_printf(why, "; it was %zu", n);
    return is_within(x, n, spoilt);
}

static bool try_order(const struct expectations *all, const struct expectation *x, bool spoilt,
                      struct buf *why)
{
    size_t i, n = journal_claim_count(all->journal);
    json_t *pattern;
    bool holds = json_array_size(x->order) <= n && json_array_size(x->order) > 0;
    json_array_foreach (x->order, i, pattern) {
        CLEANUP_FREE char *text = xasprintf("%s%s", spoilt ? "spoilt " : "",
                                            str_or_empty(json_string_value(pattern)));
        holds = holds && fit_pattern(text, journal_claim(all->journal, i));
    }
    buf_str(why, "; it was");
    for (size_t k = 0; k < n && why->len < TOLD_MAX; k++)
        buf_printf(why, " %s", journal_claim(all->journal, k));
    return holds;
}

static bool try_row(const struct expectations *all, const struct expectation *x, bool spoilt,
                    struct buf *why)
{
    return x->kind    ? try_objects(all, x, spoilt, why)
           : x->times ? try_times(all, x, spoilt, why)
           : x->most  ? try_most(all, x, spoilt, why)
                      : try_order(all, x, spoilt, why);
}

static void look_at(struct expectations *all, const struct expectation *x)
{
    CLEANUP_BUF struct buf why = BUF_INIT(TEXT_MAX), other = BUF_INIT(TEXT_MAX);
    CLEANUP_FREE char *row = json_compact(x->row);
    if (!try_row(all, x, false, &why))
        run_finding(all->run, "expected: %s%s", row, buf_text(&why));
    else if (try_row(all, x, true, &other))
        run_finding(all->run, "expected: %s; this cannot fail: it holds when it is spoilt, too",
                    row);
}

static void on_look(void *arg)
{
    const struct look *l = arg;
    look_at(l->of, &l->of->rows[l->row]);
}

void expectations_begin(struct expectations *x, struct run *r, const struct journal *j)
{
    x->run = r;
    x->journal = j;
    for (size_t i = 0; i < x->count; i++) {
        if (!x->rows[i].at_ms)
            continue;
        x->looks[i] = (struct look){ .event = { .fn = on_look, .arg = &x->looks[i] },
                                     .of = x,
                                     .row = i };
        sim_at(&r->sim, &x->looks[i].event, x->rows[i].at_ms);
    }
}

void expectations_end(struct expectations *x)
{
    for (size_t i = 0; i < x->count; i++)
        if (!x->rows[i].at_ms)
            look_at(x, &x->rows[i]);
}
