/* docs/policy.md and the field table side by side: every field has its row, with its default. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "reconcilers/model/policy.h"
#include "reconcilers/model/policy_fields.h"
#include "reconcilers/model/operand.h"
#include "tests/unit/support/suite.h"

#define DOCS "docs/policy.md"

static char *read_docs(void)
{
    FILE *f = fopen(DOCS, "r");
    char *text = NULL;
    size_t size = 0;
    if (!f)
        fail_msg("%s is missing", DOCS);
    assert_true(getdelim(&text, &size, '\0', f) > 0);
    fclose(f);
    return text;
}

/* The row of a table whose first cell is `path`; the caller frees it. NULL: there is none. */
static char *row_of(const char *docs, const char *path)
{
    CLEANUP_FREE char *start = xasprintf("\n| `%s` |", path);
    const char *row = strstr(docs, start);
    return row ? xstrndup(row + 1, strcspn(row + 1, "\n")) : NULL;
}

/* The cell of a row, from 1; the caller frees it. */
static char *cell(const char *row, int n)
{
    for (; n > 0 && row; n--)
        row = strstr(row, "| ") ? strstr(row, "| ") + 2 : NULL;
    const char *end = row ? strstr(row, " |") : NULL;
    return end ? xstrndup(row, (size_t) (end - row)) : xstrdup("");
}

/* Fields that every operand has stand in one table, under "*". */
static char *shared_path(const char *path)
{
    const char *dot = strchr(path, '.');
    return xasprintf("*%s", dot ? dot : "");
}

static void check_row(const char *row, const char *path, const struct policy_field *f, bool in_pool)
{
    CLEANUP_FREE char *type = cell(row, 2);
    CLEANUP_FREE char *got = cell(row, 3);
    CLEANUP_FREE char *want = xasprintf("`%s`", str_or_empty(f->fallback));
    if (in_pool && !str_has_prefix(got, "as in spec."))
        fail_msg("%s: the default is \"%s\"", path, got);
    if (!in_pool && f->fallback && !str_eq(got, want))
        fail_msg("%s: the default is \"%s\", not \"%s\"", path, got, want);
    if ((f->flags & FIELD_REQUIRED) && !str_eq(got, "required"))
        fail_msg("%s: is required", path);
    for (const char *const *v = f->values; v && *v; v++) {
        CLEANUP_FREE char *value = xasprintf("`%s`", *v);
        if (!strstr(type, value))
            fail_msg("%s: %s is not named", path, value);
    }
}

static void check_fields(const char *docs, const char *prefix, const struct policy_field *fields,
                         bool in_pool)
{
    for (const struct policy_field *f = fields; f->name; f++) {
        CLEANUP_FREE char *path = xasprintf("%s%s", prefix, f->name);
        CLEANUP_FREE char *shared = shared_path(path);
        /* What stands at the top has a section, not a row. */
        bool is_section = !strchr(path, '.');
        CLEANUP_FREE char *own = is_section ? NULL : row_of(docs, path);
        CLEANUP_FREE char *common = is_section ? NULL : row_of(docs, shared);
        const char *row = own ? own : common;
        if (!row && !is_section)
            fail_msg("%s has no row", path);
        if (row)
            check_row(row, path, f, in_pool && f->type != FIELD_OBJECT);
        if (f->children) {
            CLEANUP_FREE char *below = xasprintf("%s%s.", path, f->type == FIELD_LIST ? "[]" : "");
            check_fields(docs, below, f->children,
                         in_pool ? f->type == FIELD_OBJECT : f->flags & FIELD_OVERRIDES);
        }
    }
}

static void check_every_field(void **state)
{
    (void) state;
    CLEANUP_FREE char *docs = read_docs();
    check_fields(docs, "", policy_fields, false);
}

static void check_builtin(void **state)
{
    (void) state;
    CLEANUP_FREE char *docs = read_docs();
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        const struct operand_image *b = &o->image;
        CLEANUP_FREE char *row = xasprintf("| `%s` | `%s` | `%s` | `%s` |", o->section,
                                           str_or_empty(b->repository), str_or_empty(b->image),
                                           str_or_empty(b->version));
        if (b->image && !strstr(docs, row))
            fail_msg("the docs lack: %s", row);
    }
}

static void check_variables(void **state)
{
    (void) state;
    CLEANUP_FREE char *docs = read_docs();
    for (const struct operand_row *o = operand_rows; o->section; o++) {
        CLEANUP_BUF struct buf row = BUF_INIT(4096);
        if (!o->variables)
            continue;
        buf_printf(&row, "| `%s` | ", o->section);
        for (const char *const *v = o->variables; *v; v++)
            buf_printf(&row, "`%s`%s", *v, v[1] ? ", " : " |\n");
        if (!strstr(docs, buf_text(&row)))
            fail_msg("the docs lack: %s", buf_text(&row));
    }
}

static void check_prefixes(void **state)
{
    (void) state;
    CLEANUP_FREE char *docs = read_docs();
    CLEANUP_FREE char *prefixes = xstrdup(POLICY_IMAGE_PREFIXES "," POLICY_INSTALL_DIRS);
    char *rest = prefixes;
    for (char *prefix; (prefix = strsep(&rest, ","));) {
        CLEANUP_FREE char *text = xasprintf("`%s`", prefix);
        if (!strstr(docs, text))
            fail_msg("the docs lack %s, which is allowed by default", text);
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "every field has its row and default", check_every_field, NULL);
    suite_add(&s, "built-in images and versions", check_builtin, NULL);
    suite_add(&s, "variables that Ostler sets", check_variables, NULL);
    suite_add(&s, "allowed image prefixes and directories", check_prefixes, NULL);
    return suite_run(&s, "policy docs");
}
