/* What the fleet page gets, letter by letter: a case in tests/cases/fleet has its snapshot, the
 * rows of its nodes and each node in full in tests/golden/fleet, which the page's own tests read,
 * too. `make golden` rewrites those (OSTLER_GOLDEN=write). */
#include "reconcilers/fleet_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/cases.h"
#include "tests/unit/support/fleet_case.h"

enum { TEXT_MAX = 1 << 20 };

/* What was appended, parsed: it is one JSON value, in visible characters. Where a case says CANARY,
 * the page has no business: environments, annotations, labels that nothing shows. */
static json_t *value_of(const struct buf *text)
{
    CLEANUP_ERR struct err e = { 0 };
    for (size_t i = 0; i < text->len; i++)
        assert_true((unsigned char) text->data[i] >= ' ');
    assert_null(strstr(buf_text(text), "CANARY"));
    json_t *value = json_parse(buf_text(text), text->len, &e);
    if (!value)
        fail_msg("%s: %s", err_msg(&e), buf_text(text));
    return value;
}

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

static void hold_against(const char *base, const char *what, const json_t *got)
{
    CLEANUP_FREE char *path = xasprintf("tests/golden/fleet/%.*s.%s.json",
                                        (int) (strlen(base) - strlen(".yaml")), base, what);
    CLEANUP_FREE char *text = json_dumps(got, JSON_INDENT(1));
    if (str_eq(getenv("OSTLER_GOLDEN"), "write")) {
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fprintf(f, "%s\n", text);
        assert_int_equal(fclose(f), 0);
    }
    CLEANUP_FREE char *want = read_whole(path), *line = xasprintf("%s\n", text);
    assert_string_equal(line, want);
}

/* The value of a cell by its column: a text, a number, or null. Borrowed. */
static const json_t *cell_of(const json_t *snapshot, const char *column, size_t i)
{
    const json_t *cell = json_array_get(
        json_object_get(json_object_get(snapshot, "columns"), column), i);
    const json_t *texts = json_object_get(json_object_get(snapshot, "dictionary"),
                                          str_eq(column, "target") ? "driver" : column);
    if (!texts)
        return cell;
    assert_in_range(json_integer_value(cell) + 1, 0, json_array_size(texts));
    return json_array_get(texts, (size_t) json_integer_value(cell));
}

/* The page shows the same, whether it reads columns or a row. */
static void check_row(const json_t *snapshot, const json_t *row, size_t i)
{
    const json_t *columns = json_object_get(snapshot, "columns");
    size_t place = 0;
    JSON_EACH_MEMBER (name, column, columns) {
        const json_t *got = json_array_get(row, place++), *want = cell_of(snapshot, name, i);
        assert_int_equal(json_array_size(column),
                         json_array_size(json_object_get(columns, "name")));
        assert_true(want ? json_equal(got, want) : json_is_null(got));
    }
    assert_int_equal(place, json_array_size(row));
}

/* The counters stand beside the columns: both are of now, whatever the status said last. */
static void check_counts(const json_t *snapshot)
{
    JSON_EACH (row, json_at(snapshot, "policy.nodes.states")) {
        json_int_t n = 0;
        for (size_t i = 0; i < json_array_size(json_at(snapshot, "columns.state")); i++)
            n += json_equal(cell_of(snapshot, "state", i), json_object_get(row, "state"));
        assert_int_equal(json_int(row, "count", -1), n);
    }
}

static void check_case(void **state)
{
    const char *path = *state, *base = strrchr(path, '/') + 1;
    struct fleet_case f;
    fleet_case_open(&f, path);
    struct buf out = BUF_INIT(TEXT_MAX);
    fleet_snapshot(&f.source, "ostler-a-7", &out);
    CLEANUP_JSON json_t *snapshot = value_of(&out), *rows = json_array(), *nodes = json_object();
    size_t shown = 0;
    JSON_EACH (brief, json_object_get(json_array_get(f.documents, 0), "nodes")) {
        const char *name = json_str(brief, "name");
        buf_clear(&out);
        bool there = fleet_row(&f.source, name, &out);
        if (there)
            json_array_append_new(rows, value_of(&out));
        shown += there;
        buf_clear(&out);
        assert_int_equal(fleet_node(&f.source, name, &out), there);
        assert_in_range(out.len, 0, FLEET_NODE_MAX);
        if (there)
            json_object_set_new(nodes, name, value_of(&out));
    }
    assert_int_equal(shown, json_array_size(json_at(snapshot, "columns.name")));
    for (size_t i = 0; i < shown; i++) {
        buf_clear(&out);
        JSON_EACH (row, rows)
            if (json_equal(json_array_get(row, 0), cell_of(snapshot, "name", i)))
                check_row(snapshot, row, i);
    }
    check_counts(snapshot);
    hold_against(base, "fleet", snapshot);
    hold_against(base, "rows", rows);
    hold_against(base, "nodes", nodes);
    buf_clear(&out);
    fleet_case_close(&f);
}

int main(void)
{
    return cases_run("fleet_views", "tests/cases/fleet", check_case);
}
